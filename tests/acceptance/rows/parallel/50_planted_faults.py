# SPDX-License-Identifier: Apache-2.0
import importlib.util
import os
import pathlib

WHAT = "faults planted in what ranks send and add, one at a time, in a copy of what is committed"
BAR = "15 or more, each fails a test of the suite"
SLOW = True


def faults_of(root):
    spec = importlib.util.spec_from_file_location("parallel_faults", root / "tests" / "parallel" / "faults.py")
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
        for what, file, right, wrong, program, tests in faults:
            source = place / file
            before = source.read_text() if source.exists() else ""
            if before.count(right) != 1:
                text.append(f"{what}: NOT PLANTED, its place in {file} is there {before.count(right)} times")
                continue
            source.write_text(before.replace(right, wrong))
            work.run(["cmake", "--build", "--preset", "release", "--target", program, "--parallel", str(os.cpu_count() or 1)],
                     cwd=place).must_succeed(f"building with: {what}")
            run = work.run([place / "build" / "release" / "bin" / program, f"--gtest_filter={tests}", "--gtest_brief=1"], timeout=300)
            source.write_text(before)
            found += run.code != 0
            failures = [line.split("] ")[1].split(" (")[0] for line in run.out.splitlines() if line.startswith("[  FAILED  ]") and "." in line]
            ended = failures[0] if failures else f"the program ended with {run.code}"
            text.append(f"{what}: " + (f"found by {ended}" if run.code else "NOT FOUND"))
    return found == len(faults) >= 15, "\n".join(text)
