# SPDX-License-Identifier: Apache-2.0
WHAT = "quarterspace_tm_exact.csv, 1 km and more from the contact, at most 30,000 nodes"
BAR = "0.1 %, 0.05 deg"


def measure(work):
    work.test_data("mt", "reference", "quarterspace_tm_exact.csv")
    return work.gtest_row("inversion_tests", "Forward2d.VerticalContactInTm", minimum=1)
