# SPDX-License-Identifier: Apache-2.0
import math

import fdtd

WHAT = "third harmonic of a pulse in a Kerr medium (apps/examples/electromagnetics/third_harmonic.toml) against Meep's own numbers"
BAR = "fluxes 221.895 and 1.75296, each within 3 %"


def measure(work):
    run = fdtd.run(work, fdtd.example(work, "third_harmonic.toml"), "third_harmonic")
    z0 = 376.730313668
    unit = 2 * z0 * (fdtd.C0 / fdtd.UM) ** 2 / (2 * math.pi)  # no 1/2, transforms with 1/sqrt(2 pi), time in um/c
    found = [f * unit for f in run.table("end")["flux"]]
    errors = [fdtd.relative(f, want) for f, want in zip(found, (221.895, 1.75296))]
    return max(errors) <= 0.03, f"{found[0]:.3f} and {found[1]:.5f}: off by {100 * errors[0]:.2f} % and {100 * errors[1]:.2f} %\n{fdtd.where(work)}"
