# SPDX-License-Identifier: Apache-2.0
"""What the rows of pairs and edges share: tests/oracles/pairs on one app."""
import sys

SANITIZED = {"ASAN_OPTIONS": "detect_leaks=0:abort_on_error=0", "UBSAN_OPTIONS": "print_stacktrace=1"}


def row(work, app, *options):
    """(holds, text); edges also with a program that sanitizers watch."""
    programs = [work.tessera()]
    sanitized = str(work.root / "build" / "asan" / "bin" / "tessera")
    if "--edges" in options:
        for command in (["cmake", "--preset", "asan"], ["cmake", "--build", "--preset", "asan", "--target", "tessera"]):
            work.run(command, cwd=work.root).must_succeed("the build with sanitizers")
        programs.append(sanitized)
    holds, text = True, []
    for program in programs:
        done = work.run([sys.executable, work.root / "tests" / "oracles" / "pairs" / "run.py", app, "--tessera", program, "--data", work.data, *options],
                        timeout=3600, env={"PYTHONDONTWRITEBYTECODE": "1", **SANITIZED})
        holds = holds and done.code == 0
        text.append((done.out + done.err[-2000:]).strip() + (" (sanitizers)" if program == sanitized else ""))
    return holds, "\n".join(text)
