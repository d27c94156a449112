# SPDX-License-Identifier: Apache-2.0
import pathlib

import mt1d

WHAT = "results file opened by VTK's own reader; install tree that was moved"
BAR = "arrays equal; an outside project builds and runs"


def measure(work):
    mt1d.need_app(work)
    with work.temp() as folder:
        case = work.run([work.tessera(), "new", mt1d.APP, pathlib.Path(folder) / "case"]).must_succeed("new").out.strip()
        run = pathlib.Path(folder) / "RUN"
        work.run([work.tessera(), "run", case, "--output", run]).must_succeed("run")
        results = work.gtest_row("vtk_tests", "*", environment={"TESSERA_RUN": str(run)})
    done = work.run(["ctest", "--test-dir", work.build, "-R", "^install\\.", "--output-on-failure"])
    moved = "an outside project built against the moved tree and ran" if done.code == 0 else done.out[-2000:]
    return results[0] and done.code == 0, f"VTK: {results[1]}\ninstall: {moved}"
