# SPDX-License-Identifier: Apache-2.0
import pairs

WHAT = "inversion.mt1d: every two levels of every two keys in short runs; what is fitted and predicted against a recursion of the test's own, RMS, D+, bounds, bands; threads, order of keys, pictures and company without effect; gradients against differences"
BAR = "every pair covered and its laws hold, or check names both keys"


def measure(work):
    return pairs.row(work, "inversion.mt1d")
