# SPDX-License-Identifier: Apache-2.0
"""Processor time of compiling per 1,000 lines, target by target, from what timed_compile.py wrote down: as multiples of that of the
yardstick in the same minutes."""
import json
import os
import pathlib
import re
import statistics

STORED = pathlib.Path(__file__).parent / "references" / "build_times.json"
MOST_RISE = 1.10
CUDA = "CUDA sources"  # none where there is no nvcc
ENOUGH_LINES = 1000  # smaller targets are counted together and by the program: theirs is mostly the price of headers


def lines_of(source):
    """Lines of a source, of a group those of the sources that it joins."""
    text = pathlib.Path(source).read_text(errors="replace")
    joined = re.findall(r'^#include "(/[^"]+\.(?:cpp|cu))"', text, re.M) if "/Unity/" in source else []
    return sum(lines_of(s) for s in joined) if joined else text.count("\n")


def by_target(log):
    """(target -> (yardsticks, thousands of lines), seconds of a yardstick); what is small is one target, "small programs", with the
    number of these in place of lines; what nvcc compiles is counted alike, apart. Precompiled headers hold none of ours, and are left
    out."""
    calls = [(float(at), float(seconds), obj, source) for at, seconds, obj, source in
             (line.split("\t") for line in pathlib.Path(log).read_text().splitlines())]
    yardsticks = [(at, seconds) for at, seconds, obj, _ in calls if obj == "yardstick"]

    def yardstick(at):
        """Its time then: the median of the three nearest."""
        return statistics.median(s for _, s in sorted(yardsticks, key=lambda y: abs(y[0] - at))[:3])

    sums, by_nvcc = {}, set()
    for at, seconds, obj, source in calls:
        if obj == "yardstick" or "cmake_pch" in source or "/CMakeScratch/" in obj + source:  # what configuring tries, and removes
            continue
        target = re.search(r"CMakeFiles/([^/]+)\.dir/", obj)
        name = target[1] if target else "others"
        t = sums.setdefault(name, [0.0, 0])
        t[0] += seconds / yardstick(at)
        t[1] += lines_of(source)
        if source.endswith(".cu"):
            by_nvcc.add(name)
    out = {}
    for name, (time, lines) in sums.items():
        if lines >= ENOUGH_LINES:
            out[name] = (time, lines / 1000)
        else:
            kind = CUDA if name in by_nvcc else "small programs"
            before, count = out.get(kind, (0.0, 0))
            out[kind] = (before + time, count + (lines > 0))
    return out, statistics.median(s for _, s in yardsticks)


def compared(log):
    """(holds, lines of text): yardsticks per 1,000 lines of each target, or per small program, beside those of the stored table. With
    TESSERA_RENEW_BUILD_TIMES set the table is written anew."""
    times, unit = by_target(log)
    now = {name: time / size for name, (time, size) in times.items() if size}
    if os.environ.get("TESSERA_RENEW_BUILD_TIMES"):
        STORED.write_text(json.dumps({n: round(v, 3) for n, v in sorted(now.items())}, indent=1) + "\n")
    if not STORED.exists():
        return False, ["there is no stored table: TESSERA_RENEW_BUILD_TIMES=1 writes one"]
    stored = json.loads(STORED.read_text())
    holds, text = True, [f"yardstick {unit:.2f} s, the median of those between"]
    for name, value in sorted(now.items(), key=lambda item: -item[1]):
        before = stored.get(name)
        if before is None:
            holds = False
            text.append(f"{name}: {value:.2f} yardsticks, not in the table")
            continue
        rise = value / before
        holds = holds and rise <= MOST_RISE
        text.append(f"{name}: {value:.2f} yardsticks, {100 * (rise - 1):+.0f} %{'' if rise <= MOST_RISE else ': TOO MUCH'}")
    gone = sorted(set(stored) - set(now) - {CUDA})
    if gone:
        holds = False
        text.append("in the table, but not built: " + ", ".join(gone))
    return holds, text
