# SPDX-License-Identifier: Apache-2.0
WHAT = "P1, P2, Q1, Q2, isotropic and by axis, land, slope and sea: Taylor slopes of each kind of datum in log resistivity; adjoint identity; the Jacobian by reciprocity beside the vmapped vjp"
BAR = "2.00 and 3.00 within 0.05; 1e-11; 1e-10"


def measure(work):
    return work.gtest_row("inversion_tests", "Elements/Forward2dDerivatives.*:Forward2dDerivative.*", minimum=14)
