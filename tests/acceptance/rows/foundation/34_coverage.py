# SPDX-License-Identifier: Apache-2.0
import rowkit

WHAT = "coverage of the posterior's 50 % and 90 % bands over 200 synthetic draws"
BAR = "within 5 points"


def measure(work):
    half, most = rowkit.need(work.numbers("mt1d_coverage_bench"), "coverage_50", "coverage_90")
    return abs(half - 50) <= 5 and abs(most - 90) <= 5, f"{half:.1f} % and {most:.1f} %"
