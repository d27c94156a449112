# SPDX-License-Identifier: Apache-2.0
import rowkit

WHAT = ("torch's database of operations with its samples (f64, c128, f32, i64, bool; strided and empty ones too): value, vjp, jvp, second "
        "derivative by forward over reverse, reverse over reverse and jet, vmap, vmap of the gradient, jit to the bit")
BAR = "at least 5,000 cases of 250 operations; none fails but for one of at most 20 reasons (tests/oracles/op_samples/deviations.toml), none crashes"


def measure(work):
    ran = work.run([work.peer_python(), work.root / "tests" / "oracles" / "op_samples" / "run.py", work.program("op_samples")], timeout=1500)
    if ran.code == 3:
        raise rowkit.NotMeasured(ran.out.strip())
    if ran.code not in (0, 1):
        raise rowkit.Failed("\n".join((ran.out + ran.err).strip().splitlines()[-15:]))
    numbers = rowkit.read_numbers(ran.out)
    cases, operations, failing, crashing, reasons = rowkit.need(
        numbers, "op_samples_cases", "op_samples_operations", "op_samples_failing", "op_samples_crashing", "op_samples_reasons")
    holds = ran.code == 0 and cases >= 5000 and operations >= 250 and failing == 0 and crashing == 0 and reasons <= 20
    return holds, "\n".join(line for line in ran.out.strip().splitlines() if not line.startswith("op_samples_"))
