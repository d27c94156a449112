# SPDX-License-Identifier: Apache-2.0
WHAT = "synthetic_10km_1km, noisy: 1,344 data of 21 stations, TE and TM, cells and mesh as they come, from a half-space"
BAR = "RMS 1.00 within 0.05 in at most 8 steps"


def measure(work):
    work.test_data("mt", "synthetic_10km_1km", "modelA_data.csv")
    return work.gtest_row("inversion_tests", "SectionData.DISABLED_SmoothSectionOfTheSyntheticLine", minimum=1,
                          environment={"GTEST_ALSO_RUN_DISABLED_TESTS": "1"})
