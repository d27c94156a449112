# SPDX-License-Identifier: Apache-2.0
import pairs

WHAT = "electromagnetics.fdtd: one step, one cell, no source and no monitor, sources on faces and in one place, bodies and monitors of no size; with sanitizers, too"
BAR = "right or refused by name; no internal fault, no finding"


def measure(work):
    return pairs.row(work, "electromagnetics.fdtd", "--edges")
