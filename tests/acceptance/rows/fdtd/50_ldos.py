# SPDX-License-Identifier: Apache-2.0
import fdtd

WHAT = "Purcell factor of a dipole midway between metal plates, n = 2.4, two thicknesses, 3-D (apps/examples/electromagnetics/planar_cavity.toml)"
BAR = "2 % at 50 cells per wavelength, plates on cell faces (16 and 34 cells)"


def measure(work):
    reference = fdtd.references(work, "D9_ldos_planar_metal_cavity")
    lines, holds = [fdtd.where(work)], True
    for wavelengths, cells, wanted in zip(reference["cavity_thickness_in_wavelengths_of_medium"], (16, 34), reference["purcell_parallel_dipole_theory"], strict=True):
        thickness = wavelengths / reference["index"]  # um
        cell, wide = thickness / cells, 120
        size = [wide * cell, wide * cell, thickness / 2]
        run = fdtd.run(work, fdtd.example(work, "planar_cavity.toml"), f"ldos_{cells}", {
            "grid.cell": f"{cell!r} um", "grid.size": [f"{s!r} um" for s in size], "grid.centre": [f"{s / 2!r} um" for s in size],
            "run.stop.after_sources": "300 fs"}, threads=2)
        found = run.table("dipole")["purcell"][0]
        holds = holds and fdtd.relative(found, wanted) <= 0.02
        lines.append(f"thickness {wavelengths:g} wavelengths: {found:.4f}, exact {wanted:.4f}, off by {100 * fdtd.relative(found, wanted):.2f} %")
    return holds, "\n".join(lines)
