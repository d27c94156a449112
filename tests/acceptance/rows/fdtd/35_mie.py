# SPDX-License-Identifier: Apache-2.0
import math

import fdtd

WHAT = "scattering cross-section of a sphere of n = 2 at 100 size parameters from 2 to 10 (apps/examples/electromagnetics/sphere.toml)"
BAR = "x = 2..5: RMS relative error 3 % at 25 cells per unit, 1 % at 50; x = 5..10 (resonances): median 7 %, 2 %"

WIDE = {"source[0].waveform.frequency_max": "500 THz", "monitor[0].frequency_max": "477.1345159236 THz", "monitor[0].frequency_points": 100}


def measure(work):
    exact, case = fdtd.references(work, "D2_mie_n2"), fdtd.example(work, "sphere.toml")
    lines, holds = [fdtd.where(work)], True
    for resolution, rms_bar, median_bar in ((25, 0.03, 0.07), (50, 0.01, 0.02)):
        run = fdtd.run(work, case, f"mie_{resolution}", {"grid.cell": f"{1e3 / resolution!r} nm", **WIDE}, threads=2)
        found = [s / (math.pi * fdtd.UM**2) for s in run.table("sphere")["total"]]
        errors = [(2 * math.pi * f, fdtd.relative(q, want)) for f, q, want in zip(exact["freq"], found, exact["Qsca"])]
        low = fdtd.rms([e for x, e in errors if x <= 5])
        high = sorted(e for x, e in errors if x > 5)
        median = high[len(high) // 2]
        holds = holds and low <= rms_bar and median <= median_bar
        lines.append(f"{resolution} cells per unit: RMS {100 * low:.2f} % for x = 2..5, median {100 * median:.2f} % for x = 5..10")
    return holds, "\n".join(lines)
