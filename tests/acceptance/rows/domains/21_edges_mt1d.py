# SPDX-License-Identifier: Apache-2.0
import pairs

WHAT = "inversion.mt1d: none, one and two periods, one station, coincident stations, ranges and bounds of no width, chains of few steps; with sanitizers, too"
BAR = "right or refused by name; no internal fault, no finding"


def measure(work):
    return pairs.row(work, "inversion.mt1d", "--edges")
