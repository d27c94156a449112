# SPDX-License-Identifier: Apache-2.0
import pairs

WHAT = "electromagnetics.inverse_scattering: every two levels of every two keys in short runs; a line search never goes up, data do not depend on how they are inverted; threads, order of keys, output without effect; gradients against differences"
BAR = "every pair covered and its laws hold, or check names both keys"


def measure(work):
    return pairs.row(work, "electromagnetics.inverse_scattering")
