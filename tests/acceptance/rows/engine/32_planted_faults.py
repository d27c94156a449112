# SPDX-License-Identifier: Apache-2.0
import importlib.util
import os
import pathlib
import re

import rowkit

PROGRAMS = 2000
WHAT = "six faults planted in the engine, one at a time, in a copy of what is committed"
BAR = f"each found by `nesting` within {PROGRAMS} programs"


def faults_of(root):
    spec = importlib.util.spec_from_file_location("nesting_faults", root / "tests" / "oracles" / "nesting" / "faults.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.FAULTS


def measure(work):
    found, text = 0, []
    faults = faults_of(work.root)
    with work.temp() as folder:
        place = pathlib.Path(folder) / "copy"
        work.clean_clone(place)
        work.run(["cmake", "--preset", "release"], cwd=place).must_succeed("configuring the copy")
        build = ["cmake", "--build", "--preset", "release", "--target", "nesting", "--parallel", str(os.cpu_count() or 1)]
        for what, file, right, wrong in faults:
            source = place / file
            before = source.read_text() if source.exists() else ""
            if before.count(right) != 1:
                text.append(f"{what}: NOT PLANTED, its place in {file} is there {before.count(right)} times")
                continue
            source.write_text(before.replace(right, wrong))
            work.run(build, cwd=place).must_succeed(f"building with {what}")
            run = work.run([place / "build" / "release" / "bin" / "nesting", "--programs", str(PROGRAMS), "--most", "1", "--shown", "0"])
            source.write_text(before)
            failure = re.search(r"FAILED program (\d+) under ([^\n]*)", run.out)
            found += failure is not None
            text.append(f"{what}: " + (f"found by program {failure[1]} under {failure[2]}" if failure else f"NOT FOUND, nesting ended with {run.code}"))
    return found == len(faults) >= 6, "\n".join(text)
