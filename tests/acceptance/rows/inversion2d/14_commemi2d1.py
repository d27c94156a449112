# SPDX-License-Identifier: Apache-2.0
WHAT = "commemi2d1.csv, TE and TM"
BAR = "its tolerances (1 %, 2 % at 500 m), phase 1 deg"


def measure(work):
    work.test_data("mt", "reference", "commemi2d1.csv")
    return work.gtest_row("inversion_tests", "Forward2d.Commemi2d1", minimum=1)
