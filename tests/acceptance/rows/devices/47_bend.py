# SPDX-License-Identifier: Apache-2.0
import fdtd
import kills

WHAT = ("D5, a waveguide bend against the straight guide, 10 cells a um, 20 frequencies, by the reference of its case (apps/examples/electromagnetics/bend.toml); the same at 20 cells killed "
        "(kill -9) at moments uniform in its work and resumed on 2 threads")
BAR = "T and R within 0.01 of the ratios of Meep; 5 of 5 with every result file the same in all bytes"


def measure(work):
    wanted, case = fdtd.references(work, "D5_waveguide_bend_meep_res10"), fdtd.example(work, "bend.toml")
    done = fdtd.run(work, case, "bend", threads=2)
    through, back = (done.table(name)["ratio"] for name in ("through", "back"))
    off = [max(abs(a - b) for a, b in zip(found, wanted[name], strict=True)) for found, name in ((through, "T"), (back, "R"))]
    wrong, _, text = kills.killed_and_resumed(work, fdtd.folder(work, "x").parent, "bend_finer", case, fdtd.set_options({"grid.cell": "0.05 um", "boundary.pml.cells": 20, "expect": []}), 5)
    return max(off) <= 0.01 and not wrong, "\n".join([f"T off by {off[0]:.4f}, R by {off[1]:.4f} at most, {done.done.seconds:.0f} s; {fdtd.where(work)}", text, *wrong])
