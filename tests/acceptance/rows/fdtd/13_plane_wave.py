# SPDX-License-Identifier: Apache-2.0
WHAT = "leakage of an empty total-field box: 1-D, 2-D at four angles in both polarizations, 3-D in three oblique directions, open and mirrored sides"
BAR = "at most -60 dB at 3 oblique angles"


def measure(work):
    return work.gtest_row("electromagnetics_tests", "PlaneWaveTest.*", minimum=6)
