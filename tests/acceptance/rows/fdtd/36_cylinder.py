# SPDX-License-Identifier: Apache-2.0
import math

import fdtd

WHAT = ("scattering width of a dielectric cylinder, both polarizations, x = 0.5 to 6, 40 cells per wavelength in the medium "
        "(apps/examples/electromagnetics/cylinder.toml, waves at their exact speed at 0.87 of the highest frequency)")
BAR = "1 %"
CELL = 2 * math.pi / 6 / 2 / 40  # um: the shortest wavelength in the medium over 40


def measure(work):
    exact, lines, holds = fdtd.references(work, "D2c_cylinder_n2"), [fdtd.where(work)], True
    size = round(4.4 / CELL) * CELL
    for name, direction in (("Ez", [0, 0, 1]), ("Hz", [0, 1, 0])):
        run = fdtd.run(work, fdtd.example(work, "cylinder.toml"), f"cylinder_{name}", {
            "grid.cell": f"{CELL!r} um", "grid.size": [f"{size!r} um", f"{size!r} um", "0 um"], "grid.polarization": name,
            "source[0].polarization": direction}, threads=2)
        errors = [fdtd.relative(s / (2 * fdtd.UM), q) for s, q in zip(run.table("cylinder")["total"], exact[f"Qsca_{name}"], strict=True)]
        holds = holds and max(errors) <= 0.01
        lines.append(f"{name}: at most {100 * max(errors):.2f} %, RMS {100 * fdtd.rms(errors):.2f} %")
    return holds, "\n".join(lines)
