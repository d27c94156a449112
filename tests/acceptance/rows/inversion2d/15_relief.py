# SPDX-License-Identifier: Apache-2.0
WHAT = "cosine ground (amplitude 100 m, wave 2 km, 100 ohm m, mirror, 1-1000 Hz) and sea floor (3 S/m, 1 km deep, 0.01-1 Hz) beside Rayleigh's series"
BAR = "crest, flank, trough: rho_a 0.3 %, phase 0.1 deg (tipper 3e-3)"


def measure(work):
    return work.gtest_row("inversion_tests", "Forward2dRelief.*", minimum=2)
