# SPDX-License-Identifier: Apache-2.0
import pairs

WHAT = "molecular.dynamics: every two levels of every two keys in short runs; terms add up, what is conserved stays, boxes, rigid bonds; threads, order of keys, intervals and kinds of output without effect"
BAR = "every pair covered and its laws hold, or check names both keys"


def measure(work):
    return pairs.row(work, "molecular.dynamics")
