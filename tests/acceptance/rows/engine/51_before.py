# SPDX-License-Identifier: Apache-2.0
"""The benchmarks of an earlier commit beside this one's, in turn."""
import pathlib
import statistics
import sys

import rowkit

COMMIT = "d5982eb73d3ca6ff13815bd3ed2e673c49b3dcab"
WHAT = ("speed beside the commit before branches guarded and operands were told apart, benchmarks in turn: three rounds, nine where three say worse, "
        "medians of all")
BAR = "no median of a ratio to a peer, or of a time, worse by more than 5 %"
SLOW = True  # builds that commit

ROUNDS, MORE_ROUNDS = 3, 6
WORST = 0.95
HIGHER, LOWER = 1, -1
FIGURES = (  # program, arguments, (figure, which way is better) ...
    ("engine_torch_bench", (), (("mlp_gradient_ratio", HIGHER), ("rosenbrock_hessian_ratio", HIGHER))),
    ("gemm_bench", (), tuple((f"ratio_gemm_to_openblas_{t}_{n}", HIGHER) for t in ("f64", "f32") for n in (1000, 2000))),
    ("muladd_bench", (), (("muladd_ratio", HIGHER),)),
    ("op_torch_bench", (), (("planned_op", LOWER), ("eager_op", LOWER), ("eager_recording_op", LOWER))),
    ("laplacian_bench", (), (("laplacian_fraction", HIGHER), ("laplacian_gradient_fraction", HIGHER), ("laplacian_value_ratio", HIGHER), ("laplacian_step_ratio", HIGHER))),
    ("biharmonic_bench", (), (("biharmonic_nested_peers_ratio", HIGHER), ("biharmonic_jet_peers_ratio", HIGHER))),
    ("ninth_derivative_bench", (), (("ninth_jet_ms", LOWER), ("ninth_mixed_ms", LOWER))),
    ("cavity_torch_bench", (), (("cavity_ratio", HIGHER), ("cavity_peers_torch_ratio", HIGHER))),
    ("scan_bench", (), (("scan_gradient_ms", LOWER),)),
    ("gradbench_adolc_bench", (), tuple((f"{p}_ratio", HIGHER) for p in ("gmm", "lstm", "kmeans"))),
    ("mt1d_gradient_bench", (), (("gradient_seconds", LOWER),)),
    ("fdtd_meep_bench", ("--case", "vacuum", "--threads", "1"), (("f64_ratio", HIGHER), ("f32_ratio", HIGHER))),
    ("fdtd_meep_bench", ("--case", "drude", "--threads", "2"), (("f64_ratio", HIGHER),)),
    ("fdtd_roofline_bench", (), (("roofline_share", HIGHER), ("blocked_roofline_share", HIGHER))),
    *(("molecular_speed_bench", ("--case", case), ((f"{case}_step_ms", LOWER),)) for case in ("water", "jac", "melt")),
)


def build_before(work, place):
    work.run(["git", "clone", "-q", work.root, place]).must_succeed("git clone")
    if work.run(["git", "-C", place, "checkout", "-q", COMMIT]).code != 0:
        raise rowkit.NotMeasured(f"the commit {COMMIT[:10]} is not in this checkout")
    work.run([place / "bootstrap.sh", "bench"], cwd=place).must_succeed("the build of the earlier commit")
    return rowkit.Work(place / "build" / "bench")


def gain_of(rounds, figure, better):
    """Medians before and now, and how much better now is: 1 is equal, 0.95 worse by 5 %."""
    old, new = (statistics.median(rowkit.need(n, figure)[0] for n in rounds[name]) for name in ("before", "now"))
    return old, new, new / old if better == HIGHER else old / new


def measure(work):
    holds, text = True, []
    with work.temp() as folder:
        before = build_before(work, pathlib.Path(folder) / "before")
        before.root, before.data = work.root, work.data  # peers and data are this checkout's
        for program, arguments, figures in FIGURES:
            rounds = {"before": [], "now": []}
            try:
                for more in (ROUNDS, MORE_ROUNDS):
                    for _ in range(more):
                        for name, which in (("before", before), ("now", work)):
                            rounds[name].append(which.numbers(program, *arguments))
                    compared = [(figure, *gain_of(rounds, figure, better)) for figure, better in figures]
                    if all(gain >= WORST for *_, gain in compared):
                        break
                for figure, old, new, gain in compared:
                    holds = holds and gain >= WORST
                    text.append(f"{' '.join((program, *arguments))} {figure}: {old:.4g} before, {new:.4g} now, {100 * (gain - 1):+.1f} % "
                                f"({len(rounds['now'])} rounds)")
                    print(text[-1], file=sys.stderr, flush=True)  # long before the row is done
            except (rowkit.NotMeasured, rowkit.Failed) as reason:  # the others are still worth their time
                holds = False
                text.append(f"{' '.join((program, *arguments))}: not measured, {reason}")
    return holds, "\n".join(text)
