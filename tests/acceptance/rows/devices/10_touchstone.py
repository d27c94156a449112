# SPDX-License-Identifier: Apache-2.0
import rowkit

BOUND = 1e-9
WHAT = ("Touchstone files of 1 to 5 ports, S, Y, Z, H, G, versions 1 and 2, three forms of numbers, beside scikit-rf both ways; the standard's own "
        "examples; S at complex references by three kinds of waves to Z, Y, ABCD and other references, chains, loops, mixed modes, delay, beside scikit-rf")
BAR = f"{BOUND:g} of the largest element; the standard's examples as numbers"


def measure(work):
    bench = work.program("networks_bench")
    python, peer = work.venv("scikit-rf", "scikit-rf"), work.root / "tests" / "acceptance" / "peers" / "networks_skrf.py"
    with work.temp() as folder:
        work.run([python, peer, "inputs", folder]).must_succeed("scikit-rf")
        for what in ("write", "read", "algebra"):
            work.run([bench, what, folder]).must_succeed(f"networks_bench {what}")
        done = work.run([python, peer, "compare", folder]).must_succeed("scikit-rf")
    out = rowkit.read_numbers(done.out)
    differences = rowkit.need(out, "written_difference", "read_difference", "algebra_difference")
    counts = rowkit.need(out, "written_compared", "read_compared", "algebra_compared")
    examples = work.gtest("data_tests", "Touchstone.ReadsTheStandards*")
    holds = max(differences) <= BOUND and min(counts) >= 40 and not examples["failed"]
    apart = [line for line in done.out.splitlines() if line.startswith("apart")]
    text = [f"{what}: {d:.1e} in {n:.0f}" for what, d, n in zip(("files of ours", "files of scikit-rf", "networks"), differences, counts)]
    return holds, "\n".join(["; ".join(text), f"the standard's examples: {examples['passed']} passed, {len(examples['failed'])} failed", *apart[:10]])
