# SPDX-License-Identifier: Apache-2.0
import re
import sys

import rowkit

WHAT = "impedances of every EDI, EMTF XML, J and Z file against independent readers"
BAR = "all 147 files read; largest relative difference 1e-6, also through the EDI that we write"


def measure(work):
    script = work.root / "tests" / "inversion" / "compare_readers.py"
    try:
        python = work.venv("mt_metadata", "mt_metadata")
    except rowkit.NotMeasured:
        python = sys.executable  # the plain readers need no package
    done = work.run([python, str(script), work.program("dump_sounding"), str(work.test_data("mt"))])
    found = re.findall(r"(\d+) files, largest relative difference to (.*): (\S+)", done.out)
    if not found:
        raise rowkit.Failed(done.out + done.err)
    package = "" if "mt_metadata is not installed" not in done.out else "; mt_metadata is not installed here"
    text = "; ".join(f"{n} files, {name}: {float(d):.1e}" for n, name, d in found) + package
    holds = done.code == 0 and all(int(n) == 147 and float(d) <= 1e-6 for n, _, d in found)
    return holds, text if holds else text + "\n" + done.out
