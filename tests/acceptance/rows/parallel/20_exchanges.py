# SPDX-License-Identifier: Apache-2.0
WHAT = ("exchanges on 1 to 8 thread ranks with random index sets: <y, A x> = <A' y, x> in whole numbers, third order, vmap, jet, planned; communicators; sums "
        "over parts")
BAR = "exact"


def measure(work):
    return work.gtest_row("parallel_tests", "*", minimum=40)
