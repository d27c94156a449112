# SPDX-License-Identifier: Apache-2.0
WHAT = "layered1d.csv on triangles P1 and P2 refined from the coarsest to goal 0.3 %, and on bent quadrilaterals Q1 and Q2"
BAR = "rho_a 0.3 %, phase 0.1 deg, tipper 3e-3"


def measure(work):
    work.test_data("mt", "reference", "layered1d.csv")
    return work.gtest_row("inversion_tests", "GoalMesh2d.LayersOnEachKindOfMesh:Forward2d.LayersOnBentQuadrilaterals", minimum=2)
