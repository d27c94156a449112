# SPDX-License-Identifier: Apache-2.0
WHAT = "layered1d.csv as a section, columns alike on a tensor grid, beside the same column by linear elements and beside the table"
BAR = "1e-10, tipper too; the table to 0.3 %, 0.1 deg"


def measure(work):
    work.test_data("mt", "reference", "layered1d.csv")
    return work.gtest_row("inversion_tests", "Forward2d.ColumnsAlikeAreTheirColumnToRounding", minimum=1)
