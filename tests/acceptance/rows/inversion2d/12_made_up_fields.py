# SPDX-License-Identifier: Apache-2.0
WHAT = "made-up fields, P1, P2, Q1, Q2 on bent meshes"
BAR = "L2 order 2, 3, H1 order 1, 2, within 0.1"


def measure(work):
    return work.gtest_row("inversion_tests", "Elements2d.MadeUpFieldsConvergeAtTheirOrder", minimum=1)
