# SPDX-License-Identifier: Apache-2.0
import json
import re

WHAT = "tests whose ranks are threads (messages, exchanges, batches, slabs, molecules) under the address, undefined-behaviour and thread sanitizers"
BAR = "clean"
SLOW = True
SUITES = {"parallel_tests": "*", "electromagnetics_tests": "Slabs.*", "molecular_tests": "DividedDynamics.*"}


def surroundings(work, preset):
    """The variables of a preset's tests."""
    presets = {p["name"]: p for p in json.loads((work.root / "CMakePresets.json").read_text())["testPresets"]}
    found = {**presets["base"]["environment"], **presets[preset].get("environment", {})}
    return {key: value.replace("${sourceDir}", str(work.root)) for key, value in found.items()} | {"TESSERA_TEST_DATA": str(work.data)}


def measure(work):
    clean, texts = True, []
    for preset in ("asan", "tsan"):
        work.run(["cmake", "--preset", preset], cwd=work.root).must_succeed(f"cmake --preset {preset}")
        work.run(["cmake", "--build", "--preset", preset, "--target", *SUITES], cwd=work.root, timeout=4 * 3600).must_succeed(f"the build of {preset}")
        for program, tests in SUITES.items():
            path = next((work.root / "build" / preset).rglob(program))
            done = work.run([path, f"--gtest_filter={tests}:-*Peer*"], env=surroundings(work, preset), timeout=2 * 3600)
            passed = re.search(r"\[  PASSED  \] (\d+) test", done.out)
            finding = re.search(r"(?:ERROR: AddressSanitizer|WARNING: ThreadSanitizer|runtime error|ERROR: LeakSanitizer).*", done.out + done.err)
            clean = clean and done.code == 0 and bool(passed)
            texts.append(f"{preset} {program}: {passed[1] if passed else 0} tests passed, exit {done.code}, {done.seconds / 60:.1f} min{' ' + finding[0] if finding else ''}")
    return clean, "\n".join(texts)
