# SPDX-License-Identifier: Apache-2.0
WHAT = "one section by model space, data space, conjugate gradients on products alone, and L-BFGS; steps on 1, 2 and 4 threads"
BAR = "one minimum to 1e-6 in ln rho; the same bits"


def measure(work):
    return work.gtest_row("inversion_tests", "SectionEquations.*", minimum=2)
