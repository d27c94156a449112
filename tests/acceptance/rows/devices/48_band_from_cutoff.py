# SPDX-License-Identifier: Apache-2.0
import cmath
import math

import fdtd

WHAT = ("ports whose mode begins in the band: a WR-90 guide, cut off at 6.557 GHz, from 5 to 12.4 GHz, f64, fallen by 120 dB: the slab of D11 between its faces against the formula, and against a run from 8.2 GHz on (fallen by 80 dB); "
        "the guide without it")
BAR = ("told from 2 % above the cut-off on, nan below, Touchstone files without it; slab: abs(S) 0.01, of the run in part of the band 1e-4; guide alone: abs(S11) and abs(S21 - exp(-i beta d)) 1e-4")

CASE = """app = "electromagnetics.fdtd"
[grid]
size = ["120 mm", "22.86 mm", "0 mm"]
cell = ["0.5 mm", "0.508 mm", "1 mm"]
polarization = "Ez"
[run]
precision = "f64"
stop.decay_db = 120
[boundary]
y = "pec"
pml.cells = 20
[[material]]
name = "slab"
eps = EPS
[[structure]]
shape = "box"
material = "slab"
low = ["-6 mm", "-inf", "-inf"]
high = ["6 mm", "inf", "inf"]
[[port]]
kind = "mode"
name = "left"
position = ["-15 mm", "0 mm", "0 mm"]
direction = [1, 0, 0]
shift = "9 mm"
[[port]]
kind = "mode"
name = "right"
position = ["15 mm", "0 mm", "0 mm"]
direction = [-1, 0, 0]
shift = "9 mm"
[s_parameters]
frequency_min = "5 GHz"
frequency_max = "12.4 GHz"
frequency_points = 75
"""
CUTOFF = fdtd.C0 / 2 / 22.86e-3


def slab(f, eps=2.56, d=12e-3):
    k, across = 2 * math.pi * f / fdtd.C0, math.pi / 22.86e-3
    outside, inside = math.sqrt(k**2 - across**2), math.sqrt(eps * k**2 - across**2)
    r, p = (outside - inside) / (outside + inside), cmath.exp(-1j * inside * d)
    return r * (1 - p * p) / (1 - r * r * p * p), (1 - r * r) * p / (1 - r * r * p * p)


def elements(run):
    table = run.table("s_parameters")
    return {f: [complex(table[f"S_{name}_re"][k], table[f"S_{name}_im"][k]) for name in ("left_left", "right_left", "left_right", "right_right")] for k, f in enumerate(table["frequency_Hz"])}


def measure(work):
    case = fdtd.folder(work, "band_from_cutoff.toml")
    case.write_text(CASE.replace("EPS", "2.56"))
    run = fdtd.run(work, case, "band_from_cutoff", threads=2)
    whole = elements(run)
    part = elements(fdtd.run(work, case, "band_from_cutoff_part", {"s_parameters.frequency_min": "8.2 GHz", "s_parameters.frequency_points": 43, "run.stop.decay_db": 80}, threads=2))
    case.write_text(CASE.replace("EPS", "1"))
    empty = fdtd.run(work, case, "band_from_cutoff_empty", threads=2)
    beta = dict(zip(empty.table("left")["frequency_Hz"], empty.table("left")["beta_re"], strict=True))
    told = [f for f, s in whole.items() if not any(cmath.isnan(x) for x in s)]
    right_ones = told == [f for f in whole if f > 1.02 * CUTOFF * 0.9995]  # the grid lowers it by 0.05 %
    lines = [line for line in next(run.path.glob("*.s2p")).read_text().splitlines() if line.strip() and line.strip()[0] not in "!#["]
    formula = max(abs(a - b) for f in told for a, b in zip(whole[f], slab(f) + slab(f)[::-1]))
    apart = max(min(abs(a - b) for f in whole if abs(f - at) < 1e3 for a, b in [(whole[f][n], x)]) for at, s in part.items() for n, x in enumerate(s))
    back = max(abs(s[0]) for f, s in elements(empty).items() if f in told)
    on = max(abs(s[1] - cmath.exp(-1j * beta[f] * 12e-3)) for f, s in elements(empty).items() if f in told)
    holds = right_ones and len(lines) == len(told) and formula <= 0.01 and apart <= 1e-4 and back <= 1e-4 and on <= 1e-4
    return holds, (f"told at {len(told)} of {len(whole)} frequencies, from {told[0] / 1e9:.2f} GHz on, in the file {len(lines)}; slab off by {formula:.4f} of the formula, by {apart:.1e} of the run in part of the band; "
                   f"guide alone: S11 {back:.1e}, S21 off by {on:.1e}; {fdtd.where(work)}")
