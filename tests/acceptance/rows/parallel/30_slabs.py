# SPDX-License-Identifier: Apache-2.0
WHAT = ("Yee grids with everything cut into slabs of any size along y and z, 2 to 8 thread ranks, with delays by chance: fields, records, energies, peak; gone "
        "on with on other cuts")
BAR = "0 bits differ"


def measure(work):
    return work.gtest_row("electromagnetics_tests", "Slabs.*", minimum=9)
