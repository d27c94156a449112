# SPDX-License-Identifier: Apache-2.0
import statistics

import parallel
import rowkit

WHAT = "time of a step on 2 m over that on two threads of one process, in turn, medians: 7,754 SPC/E (23,262 atoms) and JAC with PME and 0.9 nm, a Lennard-Jones melt of 32,000"
BAR = "rates of 0.8"
ROUNDS = 5


def step(work, case, *, ranks):
    program = work.program("molecular_ranks_bench")
    command = [*parallel.mpirun(), "-n", "2", program, "--case", case] if ranks else [program, "--case", case, "--threads", "2"]
    return rowkit.need(rowkit.read_numbers(work.run(command).must_succeed("molecular_ranks_bench").out), "step_ms")[0]


def measure(work):
    holds, text = True, []
    for case in ("water", "jac", "melt"):
        both = [[step(work, case, ranks=r) for r in (False, True)] for _ in range(ROUNDS)]
        ratios = sorted(a / b for a, b in both)
        ratio = statistics.median(ratios)
        holds = holds and ratio >= 0.8
        text.append(f"{case}: {statistics.median(b for _, b in both):.3g} ms on 2 m, {statistics.median(a for a, _ in both):.3g} ms on two threads, rate {ratio:.3f} ({ratios[0]:.3f} to {ratios[-1]:.3f})")
    return holds, "\n".join(text)
