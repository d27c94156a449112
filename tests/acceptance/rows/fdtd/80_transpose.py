# SPDX-License-Identifier: Apache-2.0
WHAT = "abs(<Lx, y> - <x, L*y>) / (abs(Lx) abs(y)) with every medium, face and monitor; derivatives of runs and spectra to second order"
BAR = "1e-12 for one step, 1e-10 over 1,000"


def measure(work):
    return work.gtest_row("electromagnetics_tests", "YeeScheme.*:YeePrimitive.*:YeeResponseTest.*", minimum=20)
