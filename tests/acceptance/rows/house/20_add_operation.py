# SPDX-License-Identifier: Apache-2.0
import pathlib

WHAT = ("the worked example of an operation with a new body (docs/how-to/add-an-operation.patch) applied to a clone: files touched; the clone builds; the op "
        "table checks the operation; the device half, where nvcc is, has it; pages and formatting hold")
BAR = "5 files, all pass"


def measure(work):
    wrong = []
    with work.temp() as folder:
        clone = pathlib.Path(folder) / "tessera"
        work.clean_clone(clone)
        work.run(["git", "apply", "docs/how-to/add-an-operation.patch"], cwd=clone).must_succeed("git apply")
        touched = work.run(["git", "status", "--porcelain"], cwd=clone).must_succeed("git status").out.splitlines()
        work.run(["cmake", "--preset", "release"], cwd=clone).must_succeed("configure")
        targets = ["autodiff_tests", "docs_tests"]
        if "device_tests" in work.run(["cmake", "--build", "--preset", "release", "--target", "help"], cwd=clone).out:
            targets.append("device_tests")  # where nvcc is
        built = work.run(["cmake", "--build", "--preset", "release", "--target", *targets], cwd=clone).must_succeed("build")
        passed = 0
        for program, pattern in (("autodiff_tests", "OpTable.*:*Elementwise*"), ("docs_tests", "*"), ("device_tests", "*")):
            if program not in targets:
                continue
            ran = work.run([clone / "build/release/bin" / program, f"--gtest_filter={pattern}"], cwd=clone)
            passed += ran.out.count("[       OK ]")
            wrong += [f"{program}: {line}" for line in ran.out.splitlines() if line.startswith("[  FAILED  ]") and "ms)" in line]
            if ran.code != 0 and not wrong:
                wrong.append(f"{program} ends with {ran.code}: {ran.err[-300:]}")
        layout = work.run(["git", "diff", "--name-only"], cwd=clone).out.split()
        for name in (n for n in layout if n.endswith((".cpp", ".h"))):
            if work.run(["clang-format", "--dry-run", "-Werror", name], cwd=clone).code != 0:
                wrong.append(f"{name} is not as clang-format writes it")
    text = f"{len(touched)} files touched, {passed} tests of {', '.join(targets)} pass, built in {built.seconds:.0f} s"
    return len(touched) == 5 and not wrong, "\n".join([text, *wrong])
