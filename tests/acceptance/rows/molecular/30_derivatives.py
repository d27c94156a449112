# SPDX-License-Identifier: Apache-2.0
WHAT = "alanine dipeptide: Hessian; gradients with respect to every table entry, charges, positions and box, with PME and a smooth cut-off; second derivatives of all of these"
BAR = "1e-7 (second order) and 1e-9 (first order) relative to the largest entry of each array, against engine operations and extrapolated differences; in mixed precision 1e-5"


def measure(work):
    return work.gtest_row("molecular_tests", "AlanineDipeptide.*:NistDerivatives*:*/NistDerivatives.*:PotentialEnergy.*:*PairDerivatives*", minimum=16)
