# SPDX-License-Identifier: Apache-2.0
import importlib.util
import os
import pathlib
from concurrent.futures import ThreadPoolExecutor

import rowkit

spec = importlib.util.spec_from_file_location("nesting_row", pathlib.Path(__file__).with_name("30_nesting.py"))
row = importlib.util.module_from_spec(spec)
spec.loader.exec_module(row)

PROGRAMS, SANITIZED = 50000, 2000
WHAT = f"the same with {PROGRAMS} programs, and {SANITIZED} with the address and undefined-behaviour sanitizers"
BAR = "as nesting"
SLOW = True


def run_all(work, program, programs, environment):
    """In as many parts as there are processors."""
    parts = os.cpu_count() or 1
    each = -(-programs // parts)
    def part(k):
        n = min(each, programs - k * each)
        return row.judged(work, work.run([program, "--first", str(1 + k * each), "--programs", str(n)], timeout=24 * 3600, env=environment), n)
    with ThreadPoolExecutor(parts) as pool:
        results = list(pool.map(part, range(parts)))
    return all(holds for holds, _ in results), "\n".join(text for _, text in results)


def measure(work):
    for command in (["cmake", "--preset", "asan"], ["cmake", "--build", "--preset", "asan", "--target", "nesting"]):
        work.run(command, cwd=work.root, timeout=4 * 3600).must_succeed("the build with the sanitizer")
    plain = run_all(work, work.program("nesting"), PROGRAMS, {})
    sanitized = run_all(work, work.root / "build" / "asan" / "bin" / "nesting", SANITIZED, {"ASAN_OPTIONS": "strict_string_checks=1:detect_leaks=0"})
    return plain[0] and sanitized[0], f"{plain[1]}\nwith the sanitizer: {sanitized[1]}"
