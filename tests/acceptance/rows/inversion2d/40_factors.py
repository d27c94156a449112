# SPDX-License-Identifier: Apache-2.0
import rowkit

WHAT = ("factors of K + i w M and blocks of columns through vmap(linear_solve), solvers::ldlt, 2 threads: 110 x 110 nodes, 20 systems with 36 columns each, "
        "224 x 224 nodes, 32 systems with 25; factors and solves on one thread beside MUMPS called directly")
BAR = "0.5 s; 4.2 s; 1.5 of MUMPS's rate in each; one solution to 1e-11"

CASES = ((("--grid", "110x110", "--systems", "20", "--columns", "36"), 0.5),
         (("--grid", "224x224", "--systems", "32", "--columns", "25", "--rounds", "3"), 4.2))


def measure(work):
    holds, text = True, []
    for case, most in CASES:
        printed = work.numbers("ldlt_mumps_bench", *case)
        seconds, factor, solve, all_of_it, difference = rowkit.need(
            printed, "engine_s", "factor_mumps_ratio", "solve_mumps_ratio", "engine_mumps_ratio", "mumps_difference")
        holds = holds and seconds <= most and min(factor, solve) >= 1.5 and difference <= 1e-11
        text.append(f"{case[1]} nodes, {case[3]} systems, {case[5]} columns: {seconds:.2f} s; over MUMPS: factors {factor:.2g}, solves {solve:.2g}, "
                    f"all {all_of_it:.2g}; difference {difference:.0e}")
    return holds, "\n".join(text) + f"\n{rowkit.processor()}"
