# SPDX-License-Identifier: Apache-2.0
WHAT = "10 cells of absorbing layer, 2-D line source 30 cells from the face, wavelengths from 20 cells, against an enlarged domain"
BAR = "-80 dB straight on and at 60 degrees"


def measure(work):
    return work.gtest_row("electromagnetics_tests", "PmlTest.*", minimum=3)
