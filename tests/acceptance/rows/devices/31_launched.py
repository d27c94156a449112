# SPDX-License-Identifier: Apache-2.0
import math

import fdtd

WHAT = "a mode launched into its straight guide, power backwards in the plane behind the source: WR-90 without its slab, a silicon slab of 220 nm in oxide, TE and TM, a microstrip of w = h on eps 2.2, 8 cells in h"
BAR = "-60 dB at the centre, -40 dB over 20 % of band"

SLAB = """app = "electromagnetics.fdtd"
[grid]
size = ["4 um", "5.02 um", "0 um"]
cell = "20 nm"
background = "oxide"
polarization = "POLARIZATION"
[run]
precision = "f64"
stop.decay_db = 80
[boundary.pml]
cells = 30
[[material]]
name = "oxide"
eps = 2.0736
[[material]]
name = "silicon"
eps = 12.1104
[[structure]]
shape = "box"
material = "silicon"
low = ["-inf", "-0.11 um", "-inf"]
high = ["inf", "0.11 um", "inf"]
[[source]]
kind = "mode"
position = ["0 um", "0 um", "0 um"]
direction = [1, 0, 0]
waveform = {kind = "gaussian", frequency = "193.4 THz", bandwidth = "60 THz"}
[[monitor]]
kind = "mode"
name = "before"
position = ["-0.6 um", "0 um", "0 um"]
size = ["0 um", "5.02 um", "0 um"]
frequency_min = "174.06 THz"
frequency_max = "212.74 THz"
frequency_points = 9
relative_to = "behind"
[[monitor]]
kind = "mode"
name = "behind"
position = ["0.6 um", "0 um", "0 um"]
size = ["0 um", "5.02 um", "0 um"]
frequency_min = "174.06 THz"
frequency_max = "212.74 THz"
frequency_points = 9
"""


MICROSTRIP = """app = "electromagnetics.fdtd"
[grid]
size = ["14 mm", "8 mm", "5 mm"]
cell = "0.1 mm"
[run]
precision = "f64"
stop.decay_db = 80
[boundary]
x = "pml"
y = "pec"
z = "pec"
[boundary.pml]
cells = 16
[[material]]
name = "substrate"
eps = 2.2
[[structure]]
shape = "box"
material = "substrate"
low = ["-inf", "-inf", "-inf"]
high = ["inf", "inf", "-1.7 mm"]
[[structure]]
shape = "box"
material = "pec"
low = ["-inf", "-0.4 mm", "-1.7 mm"]
high = ["inf", "0.4 mm", "-1.7 mm"]
[[source]]
kind = "mode"
position = ["0 mm", "0 mm", "0 mm"]
direction = [1, 0, 0]
waveform = {kind = "gaussian", frequency = "10 GHz", bandwidth = "4 GHz"}
[[monitor]]
kind = "mode"
name = "before"
position = ["-2 mm", "0 mm", "0 mm"]
size = ["0 mm", "8 mm", "5 mm"]
frequency_min = "9 GHz"
frequency_max = "11 GHz"
frequency_points = 9
relative_to = "behind"
[[monitor]]
kind = "mode"
name = "behind"
position = ["2 mm", "0 mm", "0 mm"]
size = ["0 mm", "8 mm", "5 mm"]
frequency_min = "9 GHz"
frequency_max = "11 GHz"
frequency_points = 9
"""


def decibels(table):
    back = [10 * math.log10(max(x, 1e-30)) for x in table["backward_ratio"]]
    return back[len(back) // 2], max(back)


def measure(work):
    found = {}
    guide = fdtd.run(work, fdtd.example(work, "waveguide_slab.toml"), "launched_wr90", {
        "structure[0].material": "vacuum", "run.precision": "f64", "run.stop.decay_db": 80, "monitor[0].position": ["-45 mm", "0 mm", "0 mm"],
        "monitor[0].relative_to": "behind", "monitor[0].frequency_min": "9.27 GHz", "monitor[0].frequency_max": "11.33 GHz", "monitor[0].frequency_points": 9,
        "monitor[1].relative_to": "behind", "monitor[1].frequency_min": "9.27 GHz", "monitor[1].frequency_max": "11.33 GHz", "monitor[1].frequency_points": 9}, threads=2)
    found["WR-90"] = decibels(guide.table("before"))
    for name, polarization in (("slab TE", "Ez"), ("slab TM", "Hz")):
        path = fdtd.folder(work, f"launched_{polarization}.toml")
        path.write_text(SLAB.replace("POLARIZATION", polarization))
        found[name] = decibels(fdtd.run(work, path, f"launched_{polarization}", threads=2).table("before"))
    path = fdtd.folder(work, "launched_microstrip.toml")
    path.write_text(MICROSTRIP)
    found["microstrip"] = decibels(fdtd.run(work, path, "launched_microstrip", threads=2).table("before"))
    holds = all(centre <= -60 and worst <= -40 for centre, worst in found.values())
    return holds, "; ".join(f"{name} {centre:.1f} dB at the centre, {worst:.1f} dB at most" for name, (centre, worst) in found.items()) + f"; {fdtd.where(work)}"
