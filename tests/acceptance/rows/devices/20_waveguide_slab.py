# SPDX-License-Identifier: Apache-2.0
import cmath
import math

import fdtd

WHAT = ("D11, a slab of eps 2.56, 12 mm long, in a WR-90 guide, 8.2 to 12.4 GHz: complex S11, S21 at its faces, by mode sources and monitors at 20 cells a wavelength in the "
        "slab (apps/examples/electromagnetics/waveguide_slab.toml)")
BAR = "abs(S) 0.01, phase 2 deg where abs(S) is above 0.05; abs(S11)^2 + abs(S21)^2 = 1 within 1e-3"


def measure(work):
    reference = fdtd.references(work, "D11_wr90_slab")
    case = fdtd.example(work, "waveguide_slab.toml")
    done = fdtd.run(work, case, "waveguide_slab", {
        "grid.cell": ["0.75 mm", "0.762 mm", "0.7257142857142857 mm"], "monitor[0].position": ["-21 mm", "0 mm", "0 mm"],
        "monitor[1].position": ["33 mm", "0 mm", "0 mm"]}, threads=2)  # planes on lines of this grid
    before, behind = done.table("before"), done.table("behind")

    def amplitude(table, way, k):
        return complex(table[f"{way}_re"][k], table[f"{way}_im"][k])

    size = phase = power = 0.0
    for k, f in enumerate(before["frequency_Hz"]):
        at = min(range(len(reference["freq_Hz"])), key=lambda i: abs(reference["freq_Hz"][i] - f))
        assert abs(reference["freq_Hz"][at] - f) < 1e3
        beta, sent = before["beta_re"][k], amplitude(before, "forward", k)
        found = {"S11": amplitude(before, "backward", k) / sent * cmath.exp(2j * beta * 21e-3), "S21": amplitude(behind, "forward", k) / sent * cmath.exp(1j * beta * (21e-3 + 33e-3 - 12e-3))}
        for name, s in found.items():
            wanted = complex(reference[f"{name}_re"][at], -reference[f"{name}_im"][at])  # of e^{-i w t}
            size = max(size, abs(abs(s) - abs(wanted)))
            if abs(wanted) > 0.05:
                phase = max(phase, abs(math.degrees(cmath.phase(s / wanted))))
        power = max(power, abs(sum(abs(s) ** 2 for s in found.values()) - 1))
    holds = size <= 0.01 and phase <= 2 and power <= 1e-3
    return holds, f"off by {size:.4f}, {phase:.2f} deg, power by {power:.1e} at most over {len(before['frequency_Hz'])} frequencies, {done.done.seconds:.0f} s; {fdtd.where(work)}"
