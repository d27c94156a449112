# SPDX-License-Identifier: Apache-2.0
WHAT = "forward response and derivatives against data/mt/reference/layered1d.csv"
BAR = "impedance 1e-10 relative; derivatives 1e-7 absolute (phase in degrees per ln rho)"


def measure(work):
    work.test_data("mt", "reference", "layered1d.csv")
    return work.gtest_row("inversion_tests", "Forward1d.Layered1dReferenceTable")
