# SPDX-License-Identifier: Apache-2.0
import pathlib
import re
import shlex

BARS = {"operation": 5, "bonded-force": 3, "medium": 4, "app": 3}
WHAT = ("worked examples of docs/how-to/add-*.md, kept as patches: " + ", ".join(BARS) + "; each applied to a fresh clone, built, its tests run, "
        "with them those of pages and layout")
BAR = "each applies, builds and passes; files touched, tests and pages among them: " + ", ".join(f"{n}: {files}" for n, files in BARS.items())


def head(patch):
    """What a patch says before its first difference: files, targets to build, tests to run (one or more lines)."""
    before = patch.read_text().split("\ndiff --git ")[0]
    said = re.findall(r"^(files|build|test): (.+)$", before, re.M)
    return {"files": int(dict(said)["files"]), "build": dict(said)["build"].split(), "tests": [v for k, v in said if k == "test"]}


def touched(work, patch, clone):
    done = work.run(["git", "apply", "--numstat", patch], cwd=clone).must_succeed(f"{patch.name}: git apply --numstat")
    return [line.split("\t")[2] for line in done.out.splitlines()]


def passed(done):
    """Tests that a GoogleTest program ran and passed."""
    count = re.search(r"\[  PASSED  \] (\d+) tests?", done.out)
    return int(count[1]) if count else 0


def try_patch(work, name, clone, binaries):
    patch = clone / "docs" / "how-to" / "patches" / f"{name}.patch"
    if not patch.exists():
        return False, f"{name}: there is no {patch.relative_to(clone)}"
    said = head(patch)
    files = touched(work, patch, clone)
    work.run(["git", "apply", "--index", patch], cwd=clone).must_succeed(f"{name}: git apply")
    try:
        there = work.run(["cmake", "--build", "--preset", "release", "--target", "help"], cwd=clone).out
        wanted = [t for t in said["build"] if re.search(rf"^{t}: ", there, re.M)]  # device_tests are there where nvcc is
        built = work.run(["cmake", "--build", "--preset", "release", "--target", *wanted, "docs_tests", "layers_tests", "tessera"], cwd=clone)
        if built.code != 0:
            return False, f"{name}: does not build\n" + "\n".join(built.out.splitlines()[-15:])
        runs = []
        for line in said["tests"]:
            program, *arguments = shlex.split(line)
            if program in wanted:
                runs.append((program, work.run([binaries / program, *arguments], cwd=clone, env={"TESSERA_TEST_DATA": str(work.data)})))
        # That the patches apply is asked of the sources as they are, not of these.
        runs += [(p, work.run([binaries / p, "--gtest_filter=-*WorkedExamples*"], cwd=clone)) for p in ("docs_tests", "layers_tests")]
        layout = work.run(["ctest", "--test-dir", "build/release", "-R", "^format\\."], cwd=clone)
    finally:
        work.run(["git", "reset", "-q", "--hard"], cwd=clone)
        work.run(["git", "clean", "-fdq"], cwd=clone)
    bad = [program for program, done in runs if done.code != 0 or passed(done) == 0] + ["format"] * (layout.code != 0)
    good = not bad and len(runs) > 2 and len(files) == BARS[name] == said["files"]
    text = [f"{name}: {len(files)} files ({', '.join(files)}); " + ", ".join(f"{passed(done)} of {program}" for program, done in runs) + " passed"]
    for program, done in runs:
        if program in bad:
            text += [f"{program} ended with {done.code}", *(line for line in done.out.splitlines() if "FAILED" in line or "Failure" in line)][:20]
    if layout.code != 0:
        text += layout.out.splitlines()[-12:]
    return good, "\n".join(text)


def measure(work):
    with work.temp() as folder:
        clone = pathlib.Path(folder) / "tessera"
        work.clean_clone(clone)
        work.run(["cmake", "--preset", "release"], cwd=clone).must_succeed("configure")
        results = [try_patch(work, name, clone, clone / "build" / "release" / "bin") for name in BARS]
    return all(good for good, _ in results), "\n".join(text for _, text in results)
