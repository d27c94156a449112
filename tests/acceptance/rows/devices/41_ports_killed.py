# SPDX-License-Identifier: Apache-2.0
import fdtd
import kills

WHAT = "the S-matrix of four ports (apps/examples/electromagnetics/coupler.toml, f64, cells of a half), killed 5 times, in whichever of its runs"
BAR = "same bits"


def measure(work):
    case = fdtd.example(work, "coupler.toml")
    wrong, _, text = kills.killed_and_resumed(work, fdtd.folder(work, "x").parent / "ports_killed", "coupler", case, ["--set", "grid.cell=0.5 mm", "--set", "run.precision=f64", "--set", "expect=[]"], 5)
    return not wrong, "; ".join([text, *wrong])
