# SPDX-License-Identifier: Apache-2.0
import pathlib
import re

import build_times

WHAT = (".ci/run in a fresh clone; rebuild after one operation, and one source of each application, were touched; unit tests; processor time of "
        "compiling per 1,000 lines of each target, in yardsticks (tests/acceptance/yardstick.cpp)")
BAR = ("passes, under 20 min; 20 s, 15 s; 60 s (no compiler cache; packages installed before); none rose by more than 10 % over "
       "references/build_times.json")


def touched(work, clone, source, environment):
    """Seconds of a rebuild after a source was changed."""
    source.write_text(source.read_text() + "\n// touched\n")
    return work.run(["cmake", "--build", "--preset", "release"], cwd=clone, env=environment).must_succeed(f"rebuild after {source.name}").seconds


def app_sources(clone):
    """The longest source of each application."""
    folders = {p.parent for p in (clone / "apps").glob("*/*/*.cpp") if p.parts[-3] != "examples"}
    return [max(folder.glob("*.cpp"), key=lambda p: p.stat().st_size) for folder in sorted(folders)]


def measure(work):
    with work.temp() as folder:
        clone, log = pathlib.Path(folder) / "tessera", pathlib.Path(folder) / "compile_times"
        launcher = str(work.root / "tests" / "acceptance" / "timed_compile.py")
        cold = {"CCACHE_DISABLE": "1", "CI": "true", "TESSERA_TEST_DATA": str(work.data), "CMAKE_CXX_COMPILER_LAUNCHER": launcher,
                "CMAKE_CUDA_COMPILER_LAUNCHER": launcher, "TESSERA_COMPILE_TIMES": str(log)}
        work.clean_clone(clone)
        done = work.run([clone / ".ci" / "run"], env=cold, timeout=7200).must_succeed(".ci/run")
        pace_holds, pace = build_times.compared(log)
        steps = "; ".join(f"{at} {what}" for at, what in re.findall(r"^==> \[([\d:]+)\] (.{0,40})", done.err, re.M))
        summary = re.search(r"tests passed.*", done.out)
        del cold["TESSERA_COMPILE_TIMES"]  # no yardsticks between what is timed below
        op = sorted((clone / "autodiff" / "src" / "ops").glob("*.cpp"))[0]
        op_seconds = touched(work, clone, op, cold)
        apps = {source.relative_to(clone / "apps"): touched(work, clone, source, cold) for source in app_sources(clone)}
        tests = work.run(["ctest", "--preset", "unit", "-j2"], cwd=clone, env=cold).must_succeed("unit tests")
        count = re.search(r"out of (\d+)", tests.out)
    text = [f".ci/run {done.seconds / 60:.1f} min ({steps}; {summary[0]}); {op.name} touched {op_seconds:.0f} s",
            *(f"{name} touched {seconds:.0f} s" for name, seconds in apps.items()), f"{count[1]} unit tests {tests.seconds:.0f} s", *pace]
    return done.seconds < 1200 and op_seconds < 20 and max(apps.values()) < 15 and tests.seconds < 60 and pace_holds, "\n".join(text)
