# SPDX-License-Identifier: Apache-2.0
WHAT = "Taylor remainders of the forward response"
BAR = "slope 2.00 over 4 decades of step, 3.00 with the Hessian over the 3 decades above round-off, within 0.05"


def measure(work):
    return work.gtest_row("inversion_tests", "Forward1d.TaylorRemainders")
