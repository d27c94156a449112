# SPDX-License-Identifier: Apache-2.0
WHAT = "results file opened by VTK's own reader; install tree that was moved"
BAR = "arrays equal; an outside project builds and runs"


def measure(work):
    results = work.gtest_row("data_tests", "*VtkReadsBack*")
    done = work.run(["ctest", "--test-dir", work.build, "-R", "^install\\.", "--output-on-failure"])
    moved = "an outside project built against the moved tree and ran" if done.code == 0 else done.out[-2000:]
    return results[0] and done.code == 0, f"VTK: {results[1]}\ninstall: {moved}"
