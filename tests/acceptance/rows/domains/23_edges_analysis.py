# SPDX-License-Identifier: Apache-2.0
import pairs

WHAT = "molecular.analysis: one frame and two, groups of nothing and of one atom, ranges and times without a length; with sanitizers, too"
BAR = "right or refused by name; no internal fault, no finding"


def measure(work):
    return pairs.row(work, "molecular.analysis", "--edges")
