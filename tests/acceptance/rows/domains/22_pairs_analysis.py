# SPDX-License-Identifier: Apache-2.0
import pairs

WHAT = "molecular.analysis: every two levels of every two keys in short runs; neighbours, displacements, correlations, slices and hydrogen bonds counted one by one; threads, order of keys, pictures, pieces of a trajectory, ways to name a group, company, a shift by a vector without effect"
BAR = "every pair covered and its laws hold, or check names both keys"


def measure(work):
    return pairs.row(work, "molecular.analysis")
