# SPDX-License-Identifier: Apache-2.0
import re

WHAT = "bad configurations: one file per fault of the rows 'all text' and 'TOML/JSON', through the command"
BAR = "each ends with code 5, its number, file, line and column, and nothing is written"


def measure(work):
    done = work.run([work.program("apps_tests"), "--gtest_filter=*BadConfiguration*"])
    passed = re.search(r"\[  PASSED  \] (\d+) tests", done.out)
    failed = re.findall(r"(?m)^\[  FAILED  \] (\S*BadConfiguration\S+)", done.out)
    text = f"{passed[1] if passed else 0} tests passed" + (f", failed: {', '.join(sorted(set(failed)))}" if failed else "")
    return bool(passed) and done.code == 0 and int(passed[1]) >= 50, text
