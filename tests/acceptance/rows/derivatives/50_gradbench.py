# SPDX-License-Identifier: Apache-2.0
import rowkit

WHAT = "GradBench's gmm, ba, lstm, ht, hello, kmeans, particle, saddle, ode, llsq, det as C++ examples"
BAR = "within its validators' tolerances; faster than ADOL-C, and than CppAD where its headers are found, on gmm, lstm, kmeans"
PROBLEMS = ("gmm", "lstm", "kmeans")


def measure(work):
    holds, text = work.ctest_row("examples.gradbench", minimum=11)
    peers = {"ADOL-C": "gradbench_adolc_bench"}
    if (work.build / "bin" / "gradbench_cppad_bench").exists():
        peers["CppAD"] = "gradbench_cppad_bench"
    else:
        text += "\nCppAD: its headers are not found"
    for peer, program in peers.items():
        ratios = rowkit.need(work.numbers(program), *(p + "_ratio" for p in PROBLEMS))
        holds = holds and min(ratios) > 1
        text += f"\n{peer}'s time over ours: " + ", ".join(f"{p} {r:.3g}" for p, r in zip(PROBLEMS, ratios))
    return holds, text
