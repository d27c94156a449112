# SPDX-License-Identifier: Apache-2.0
import os
import re

import rowkit

WHAT = "whole suites under the sanitizers: address, leak and undefined behaviour in one build; threads (with the std::thread launcher)"
BAR = "clean"
SLOW = True


def measure(work):
    words, clean = [], True
    for preset in ("asan", "tsan"):
        done = work.run(["cmake", "--workflow", "--preset", preset], cwd=work.root, timeout=4 * 3600,
                        env={"CTEST_PARALLEL_LEVEL": str(os.cpu_count())})
        summary = re.search(r"(\d+)% tests passed, (\d+) tests? failed out of (\d+)", done.out)
        if not summary:
            raise rowkit.Failed(f"{preset} did not reach its tests:\n" + "\n".join((done.out + done.err).splitlines()[-15:]))
        clean = clean and done.code == 0
        failed = re.findall(r"^\s*\d+ - (\S+) \((?!Skipped)\w+\)", done.out, re.M)
        words.append(f"{preset}: {summary[3]} tests, {summary[2]} failed {' '.join(failed)} in {done.seconds / 60:.1f} min")
    return clean, "\n".join(words)
