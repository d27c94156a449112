# SPDX-License-Identifier: Apache-2.0
import pathlib
import re

WHAT = "./bootstrap.sh test in a fresh clone; clean build; rebuild after touching one op file; unit tests"
BAR = "passes, under 20 min; 8 min; 20 s; 60 s (no compiler cache; packages installed before)"


def at_seconds(text, word):
    """When bootstrap said that this step began."""
    match = re.search(r"^==> \[(\d+):(\d+)\] " + word, text, re.M)
    return int(match[1]) * 60 + int(match[2]) if match else None


def measure(work):
    no_cache = {"CCACHE_DISABLE": "1", "CI": "true", "TESSERA_TEST_DATA": str(work.data)}
    with work.temp() as folder:
        clone = pathlib.Path(folder) / "tessera"
        work.clean_clone(clone)
        done = work.run([clone / "bootstrap.sh", "test"], env=no_cache).must_succeed("bootstrap.sh test")
        build = at_seconds(done.err, "tests") - at_seconds(done.err, "build")
        summary = re.search(r"tests passed.*", done.out)
        op = sorted((clone / "autodiff" / "src" / "ops").glob("*.cpp"))[0]
        op.write_text(op.read_text() + "\n// touched\n")
        again = work.run(["cmake", "--build", "--preset", "release"], cwd=clone, env=no_cache).must_succeed("rebuild")
        unit = work.run(["ctest", "--preset", "unit", "-j2"], cwd=clone, env=no_cache).must_succeed("unit tests")
        count = re.search(r"out of (\d+)", unit.out)
    text = (f"all {done.seconds / 60:.1f} min; clean build {build / 60:.1f} min; {op.name} touched {again.seconds:.0f} s; "
            f"{count[1]} unit tests {unit.seconds:.0f} s ({summary[0]})")
    return done.seconds < 1200 and build < 480 and again.seconds < 20 and unit.seconds < 60, text
