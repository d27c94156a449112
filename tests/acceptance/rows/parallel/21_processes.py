# SPDX-License-Identifier: Apache-2.0
WHAT = "the same exchanges on 1 to 4 processes; mismatched and missing calls told with both lines; an error of one rank ends all"
BAR = "all pass"


def measure(work):
    return work.ctest_row("^parallel[.]", minimum=7)
