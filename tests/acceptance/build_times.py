# SPDX-License-Identifier: Apache-2.0
"""Processor seconds of compiling per 1,000 lines, target by target, from what timed_compile.py wrote down.

Machines differ, and one and the same by a fifth from hour to hour. So a yardstick, a text that does not change, is compiled in the
same minutes, and times are compared as multiples of its time.
"""
import json
import os
import pathlib
import re

STORED = pathlib.Path(__file__).parent / "references" / "build_times.json"
MOST_RISE = 1.10
ENOUGH_LINES = 1000  # smaller targets are counted together: theirs is mostly the price of headers
YARDSTICK = """#include <algorithm>
#include <functional>
#include <map>
#include <regex>
#include <string>
#include <vector>
std::map<std::string, std::vector<double>> read(const std::string& text) {
  std::map<std::string, std::vector<double>> out;
  const std::regex word("([a-z]+)=([0-9.]+)");
  for (std::sregex_iterator at(text.begin(), text.end(), word), end; at != end; ++at)
    out[(*at)[1]].push_back(std::stod((*at)[2]));
  for (auto& [name, values] : out) std::sort(values.begin(), values.end(), std::greater<>());
  return out;
}
"""


def yardstick(work, folder):
    """Processor seconds of g++ -O2 for the yardstick: the least of five."""
    import rowkit
    source = pathlib.Path(folder) / "yardstick.cpp"
    source.write_text(YARDSTICK)
    times = []
    for _ in range(5):
        code, seconds = rowkit.cpu_of(["g++", "-std=c++20", "-O2", "-c", source, "-o", source.with_suffix(".o")], folder, source.with_suffix(".log"))
        if code != 0:
            raise rowkit.Failed("the yardstick does not compile: " + source.with_suffix(".log").read_text()[-300:])
        times.append(seconds)
    return min(times)


def lines_of(source):
    """Lines of a source, of a group those of the sources that it joins."""
    text = pathlib.Path(source).read_text(errors="replace")
    joined = re.findall(r'^#include "(/[^"]+\.(?:cpp|cu))"', text, re.M) if "/Unity/" in source else []
    return sum(lines_of(s) for s in joined) if joined else text.count("\n")


def by_target(log):
    """target -> (seconds, lines); what is small is one target, "small programs"; precompiled headers have no lines of their own."""
    sums = {}
    for line in pathlib.Path(log).read_text().splitlines():
        seconds, obj, source = line.split("\t")
        if "/CMakeFiles/CMakeScratch/" in source:  # what configuring tries, and removes
            continue
        target = re.search(r"CMakeFiles/([^/]+)\.dir/", obj)
        name = target[1] if target else "others"
        lines = 0 if "cmake_pch" in source else lines_of(source)
        t = sums.setdefault(name, [0.0, 0])
        t[0] += float(seconds)
        t[1] += lines
    out, rest = {}, [0.0, 0]
    for name, (seconds, lines) in sums.items():
        if lines >= ENOUGH_LINES:
            out[name] = (seconds, lines)
        else:
            rest[0] += seconds
            rest[1] += lines
    out["small programs"] = tuple(rest)
    return out


def compared(log, unit):
    """(holds, lines of text): seconds per 1,000 lines of each target beside those of the stored table, in which one unit was as long
    as the yardstick is now. With TESSERA_RENEW_BUILD_TIMES set the table is written anew."""
    now = {name: 1000 * seconds / lines for name, (seconds, lines) in by_target(log).items() if lines}
    if os.environ.get("TESSERA_RENEW_BUILD_TIMES"):
        STORED.write_text(json.dumps({"yardstick_s": round(unit, 3), "seconds_per_1000_lines": {n: round(v, 2) for n, v in sorted(now.items())}}, indent=1) + "\n")
    if not STORED.exists():
        return False, ["there is no stored table: TESSERA_RENEW_BUILD_TIMES=1 writes one"]
    stored = json.loads(STORED.read_text())
    pace = unit / stored["yardstick_s"]
    holds, text = True, [f"yardstick {unit:.2f} s, {stored['yardstick_s']:.2f} s when the table was made"]
    for name, value in sorted(now.items(), key=lambda item: -item[1]):
        before = stored["seconds_per_1000_lines"].get(name)
        if before is None:
            holds = False
            text.append(f"{name}: {value:.1f} s, not in the table")
            continue
        rise = value / (before * pace)
        holds = holds and rise <= MOST_RISE
        text.append(f"{name}: {value:.1f} s, {100 * (rise - 1):+.0f} %{'' if rise <= MOST_RISE else ': TOO MUCH'}")
    gone = sorted(set(stored["seconds_per_1000_lines"]) - set(now))
    if gone:
        holds = False
        text.append("in the table, but not built: " + ", ".join(gone))
    return holds, text
