# SPDX-License-Identifier: Apache-2.0
WHAT = "values and three derivatives beside tables made with mpmath, at extreme arguments"
BAR = "error at most c max(1, cond) ulp, c = 4 value, 8 first, 32 second and third derivative; exceptions listed with the reason"


def measure(work):
    return work.gtest_row("autodiff_tests", "DerivativeReference.*")
