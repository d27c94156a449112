# SPDX-License-Identifier: Apache-2.0
import math

import fdtd

WHAT = "monostatic radar cross-section of a metal sphere, 50 MHz to 1 GHz, 20 cells in the shortest wavelength (apps/examples/electromagnetics/metal_sphere.toml)"
BAR = "0.5 dB below ka = 3, 1 dB above"


def measure(work):
    exact = fdtd.references(work, "D2b_pec_sphere_rcs")
    found = fdtd.run(work, fdtd.example(work, "metal_sphere.toml"), "metal_sphere", threads=2).table("echo")["rcs"]
    radius = exact["radius_m"]
    errors = [(2 * math.pi * f / fdtd.C0 * radius, abs(10 * math.log10(s / (math.pi * radius**2) / want)))
              for f, s, want in zip(exact["freq_Hz"], found, exact["sigma_back_over_pi_r2"], strict=True)]
    below, above = max(e for ka, e in errors if ka < 3), max(e for ka, e in errors if ka >= 3)
    return below <= 0.5 and above <= 1, f"at most {below:.2f} dB below ka = 3, {above:.2f} dB above\n{fdtd.where(work)}"
