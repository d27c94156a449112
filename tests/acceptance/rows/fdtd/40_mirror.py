# SPDX-License-Identifier: Apache-2.0
import math

import fdtd

WHAT = "far-field power of a line current over a metal plane, 50 angles (apps/examples/electromagnetics/line_over_mirror.toml)"
BAR = "0.02 of its largest value at every angle, 100 cells per unit"


def measure(work):
    reference = fdtd.references(work, "D7_line_source_over_pec")
    angles = [f"{90 - math.degrees(t)!r} deg" for t in reference["theta_rad"]]
    table = fdtd.run(work, fdtd.example(work, "line_over_mirror.toml"), "mirror", {"monitor[0].phi": angles}).table("pattern")
    power = [table[f"intensity_{k}"][0] for k in range(len(angles))]
    errors = [abs(p / max(power) - wanted) for p, wanted in zip(power, reference["P_norm"], strict=True)]
    return max(errors) <= 0.02, f"largest error {max(errors):.4f}, RMS {fdtd.rms(errors):.4f}; {fdtd.where(work)}"
