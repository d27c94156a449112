# SPDX-License-Identifier: Apache-2.0
import fdtd
import kills

WHAT = ("runs killed (kill -9) at moments uniform in their work and resumed, on 1 and on 2 threads: the ring (2-D, f32, 20 cells per unit), and a metal "
        "sphere in a plane wave (3-D, f64, everything.toml)")
BAR = "10 of 10 of each with every result file the same in all bytes; those of 2 threads as well"
MOMENTS = 10


def measure(work):
    ring = ("ring", fdtd.example(work, "ring.toml"), {"grid.cell": "50 nm", "boundary.pml.cells": 40, "run.stop.after_sources": "2.4 ps"})
    sphere = ("sphere", work.root / "tests" / "acceptance" / "rows" / "fdtd" / "everything.toml", {})
    wrong, texts = [], [fdtd.where(work)]
    for name, case, settings in (ring, sphere):
        found, _, text = kills.killed_and_resumed(work, fdtd.folder(work, "x").parent, name, case, fdtd.set_options(settings), MOMENTS)
        wrong += found
        texts.append(text)
    return not wrong, "\n".join([*texts, *wrong])
