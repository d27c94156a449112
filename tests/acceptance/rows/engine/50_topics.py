# SPDX-License-Identifier: Apache-2.0
import sys

WHAT = "the topics foundation and derivatives"
BAR = "all their rows hold"
SLOW = True  # as long as they


def measure(work):
    holds, text = True, []
    for topic in ("foundation", "derivatives"):
        done = work.run([sys.executable, work.root / "tests/acceptance/run", topic, "--build", work.build], timeout=3 * 3600)
        holds = holds and done.code == 0
        text += [line for line in done.out.splitlines() if line.strip() == "DOES NOT HOLD" or "rows hold" in line]
    return holds, "\n".join(text)
