# SPDX-License-Identifier: Apache-2.0
import pairs

WHAT = "electromagnetics.inverse_scattering: no iteration, one step, receivers on sources and outside, regions of one cell and of nothing; with sanitizers, too"
BAR = "right or refused by name; no internal fault, no finding"


def measure(work):
    return pairs.row(work, "electromagnetics.inverse_scattering", "--edges")
