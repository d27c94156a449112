# SPDX-License-Identifier: Apache-2.0
import fdtd

WHAT = "reflection and transmission of a Lorentz slab and a Drude film, 101 frequencies, 1-D (apps/examples/electromagnetics/lorentz_slab.toml, drude_film.toml)"
BAR = "largest error of R and T 0.005 at 200 cells per unit; order of the RMS from 200 to 400 at least 1.8"
CASES = (("lorentz_slab", "D3b_lorentz_slab"), ("drude_film", "D3c_drude_film"))


def spectra(work, name, resolution):
    """R and T: the film's run less the empty one's in front, over what the empty one sends."""
    case, cell = fdtd.example(work, f"{name}.toml"), {"grid.cell": f"{1e3 / resolution!r} nm", "boundary.pml.cells": resolution // 5}
    empty = fdtd.run(work, case, f"{name}_empty_{resolution}", {**cell, "structure[0].material": "vacuum"})
    film = fdtd.run(work, case, f"{name}_{resolution}", {**cell, "monitor[2].subtract": str(empty.path)})
    sent = empty.table("before")["flux"]
    reflected = [a / b for a, b in zip(film.table("reflected")["flux"], sent)]
    passed = [a / b for a, b in zip(film.table("behind")["flux"], empty.table("behind")["flux"])]
    return reflected, passed


def measure(work):
    lines, holds = [fdtd.where(work)], True
    for name, key in CASES:
        reference = fdtd.references(work, key)
        most, root = [], []
        for resolution in (200, 400):
            r, t = spectra(work, name, resolution)
            errors = [abs(a - b) for a, b in zip(r + t, reference["R"] + reference["T"], strict=True)]
            most.append(max(errors))
            root.append(fdtd.rms(errors))
        order = fdtd.order(root)[0]
        holds = holds and most[0] <= 0.005 and order >= 1.8
        lines.append(f"{name}: largest error {most[0]:.1e} at 200, {most[1]:.1e} at 400; RMS {root[0]:.1e}, {root[1]:.1e}, order {order:.2f}")
    return holds, "\n".join(lines)
