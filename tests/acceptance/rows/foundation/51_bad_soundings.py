# SPDX-License-Identifier: Apache-2.0
import re

import rowkit

WHAT = "bad EDI, EMTF XML, J and Z files: one test per kind of fault, through the reader"
BAR = "each an error with number, file, line and column (exit code 4), or read with the fault said"


def measure(work):
    done = work.run([work.program("inversion_tests"), "--gtest_filter=BadSounding.*"])
    passed = re.search(r"\[  PASSED  \] (\d+) tests", done.out)
    failed = re.findall(r"(?m)^\[  FAILED  \] (BadSounding\.\S+)$", done.out)
    if not passed:
        raise rowkit.Failed(done.out + done.err)
    text = f"{passed[1]} tests passed" + (f", failed: {', '.join(failed)}" if failed else "")
    return done.code == 0 and int(passed[1]) >= 30, text
