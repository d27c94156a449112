# SPDX-License-Identifier: Apache-2.0
import math

import fdtd

WHAT = ("D14, two mode converters of the photonics testbed as pixels of their CSV files, 10 nm cells: the worst of 1265, 1270, 1275, 1285, 1290, 1295 nm, "
        "fundamental in, second order out, by a mode source and mode monitors")
BAR = "transmission 0.1 dB, reflection 3 dB off the published (schubert_circle -0.19, -34.11; generator_circle_10 -0.12, -37.79 dB)"

PUBLISHED = {"converter_schubert_circle_x33491673_w307_s134.csv": (-0.19, -34.11), "converter_generator_circle_10_x47530832_w43_s590.csv": (-0.12, -37.79)}

CASE = """app = "electromagnetics.fdtd"
[grid]
size = ["4.4 um", "3.6 um", "0 um"]
cell = "10 nm"
background = "oxide"
polarization = "Ez"
[run]
stop.decay_db = 60
[boundary.pml]
cells = 40
[[material]]
name = "oxide"
eps = 2.25
[[material]]
name = "silicon"
eps = 12.25
[[structure]]
shape = "box"
material = "silicon"
low = ["-inf", "-0.2 um", "-inf"]
high = ["inf", "0.2 um", "inf"]
[[structure]]
shape = "pixels"
file = "FILE"
axes = ["x", "y"]
material = "silicon"
priority = 1
size = ["1.6 um", "1.6 um", "0 um"]
[[source]]
kind = "mode"
position = ["-1.5 um", "0 um", "0 um"]
size = ["0 um", "2.8 um", "0 um"]
direction = [1, 0, 0]
waveform = {kind = "gaussian", frequency_min = "214 THz", frequency_max = "254 THz"}
[[monitor]]
kind = "mode"
name = "before"
position = ["-1.2 um", "0 um", "0 um"]
size = ["0 um", "2.8 um", "0 um"]
frequencies = ["1265 nm", "1270 nm", "1275 nm", "1285 nm", "1290 nm", "1295 nm"]
relative_to = "before"
[[monitor]]
kind = "mode"
name = "behind"
modes = 2
position = ["1.2 um", "0 um", "0 um"]
size = ["0 um", "2.8 um", "0 um"]
frequencies = ["1265 nm", "1270 nm", "1275 nm", "1285 nm", "1290 nm", "1295 nm"]
relative_to = "before"
"""


def decibels(ratio):
    return 10 * math.log10(ratio)


def measure(work):
    lines, holds = [], True
    for file, (transmitted, reflected) in PUBLISHED.items():
        name = file.split("_x")[0]
        path = fdtd.folder(work, f"{name}.toml")
        path.write_text(CASE.replace("FILE", str(work.test_data("em", file))))
        done = fdtd.run(work, path, name, threads=2)
        out, back = decibels(min(done.table("behind")["forward_ratio_1"])), decibels(max(done.table("before")["backward_ratio"]))
        holds = holds and abs(out - transmitted) <= 0.1 and abs(back - reflected) <= 3
        lines.append(f"{name}: {out:.3f} dB (published {transmitted}), {back:.2f} dB back ({reflected}), {done.done.seconds:.0f} s")
    return holds, "; ".join(lines) + f"; {fdtd.where(work)}"
