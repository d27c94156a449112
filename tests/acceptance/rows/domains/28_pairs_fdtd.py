# SPDX-License-Identifier: Apache-2.0
import pairs

WHAT = "electromagnetics.fdtd: every two levels of every two keys in short runs, media, bodies, sources and monitors of each kind; threads, order of keys, output, another monitor and a shift by whole cells without effect"
BAR = "every pair covered and its laws hold, or check names both keys"


def measure(work):
    return pairs.row(work, "electromagnetics.fdtd")
