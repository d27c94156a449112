# SPDX-License-Identifier: Apache-2.0
import statistics

import parallel
import rowkit

WHAT = ("cells per second of a Yee grid of 200^3, vacuum and a dielectric sphere with layers' room, on 2 m over two threads of one process, in turn, medians; "
        "over Meep on 2 ranks")
BAR = "0.85 of two threads; f64 2.5x Meep, f32 4.5x"
LEAST = {"f64": 2.5, "f32": 4.5}
ROUNDS = 3


def rate(work, case, kind, *, ranks):
    program = work.program("fdtd_ranks_bench")
    options = ["--case", case, "--precision", kind]
    command = [*parallel.mpirun(), "-n", "2", program, *options] if ranks else [program, *options, "--threads", "2"]
    return rowkit.need(rowkit.read_numbers(work.run(command).must_succeed("fdtd_ranks_bench").out), "rate")[0]


def measure(work):
    holds, text = True, []
    for case in ("vacuum", "dielectric"):
        meep = work.numbers("fdtd_meep_bench", "--case", case, "--threads", 2).get("meep_rate")
        for kind, least in LEAST.items():
            both = [[rate(work, case, kind, ranks=r) for r in (False, True)] for _ in range(ROUNDS)]
            ratios = sorted(b / a for a, b in both)
            ratio, found = statistics.median(ratios), statistics.median(b for _, b in both)
            holds = holds and ratio >= 0.85 and meep is not None and found / meep >= least
            beside = f"{found / meep:.2f}x Meep ({meep:.0f})" if meep else "Meep does not run here"
            text.append(f"{case} {kind}: {found:.0f} Mcells/s on 2 m, {ratio:.3f} of two threads ({ratios[0]:.3f} to {ratios[-1]:.3f}), {beside}")
    return holds, "\n".join(text)
