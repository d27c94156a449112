# SPDX-License-Identifier: Apache-2.0
import pairs

WHAT = "molecular.dynamics: no step and one, one atom, one molecule, everything frozen, groups that overlap or are empty; with sanitizers, too"
BAR = "right or refused by name; no internal fault, no finding"


def measure(work):
    return pairs.row(work, "molecular.dynamics", "--edges")
