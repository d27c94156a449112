# SPDX-License-Identifier: Apache-2.0
import csv

import fdtd

WHAT = "a box of 48^3 cells with every medium as a slab through the absorbing layers (a nonlinear one, with a pole and conductivity, is linear inside them), f32 and f64, 100,000 steps (apps/examples/electromagnetics/every_medium.toml)"
BAR = "after the source, the energy of the last 10^4 steps never exceeds that of the first 10^4"
STEPS = 100_000


def measure(work):
    lines, holds = [fdtd.where(work)], True
    for precision in ("f32", "f64"):
        run = fdtd.run(work, fdtd.example(work, "every_medium.toml"), f"late_time_{precision}", {"run.precision": precision, "run.stop.steps": STEPS}, threads=2)
        with open(run.path / "metrics.csv", newline="") as file:
            rows = [(int(float(r["step"])), float(r["energy_j"])) for r in csv.DictReader(file)]
        peak = max(energy for _, energy in rows)
        end = next(step for step, energy in rows if energy == peak)  # the source ends soon after; the first steps are those from here on
        first = [e for s, e in rows if end <= s <= end + 10_000]
        last = [e for s, e in rows if s > STEPS - 10_000]
        holds = holds and len(last) > 10 and max(last) <= min(first)
        lines.append(f"{precision}: at most {max(last) / peak:.2g} of the peak in the last 10^4 steps, at least {min(first) / peak:.2g} in the first")
    return holds, "\n".join(lines)
