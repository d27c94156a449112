# SPDX-License-Identifier: Apache-2.0
import fdtd

WHAT = ("metal septum on the middle line of a 2-D box of 20 x 20 cells, half way across it, its end moved by tenths of a cell: lowest resonance, Hz and Ez, off the straight line between whole cells; "
        "and beside cells a quarter as long")
BAR = "at most 0.2 of a cell's change at the default step, 0.1 at half of it; 0.5 %"

BOX = """app = "electromagnetics.fdtd"
[grid]
size = ["200 mm", "200 mm", "0 mm"]
cell = "CELL mm"
polarization = "POLARIZATION"
[run]
precision = "f64"
courant = COURANT
stop.time = "150 ns"
[boundary]
x = "pec"
y = "pec"
[[structure]]
shape = "box"
material = "pec"
low = ["-inf", "0 mm", "-inf"]
high = ["END mm", "0 mm", "inf"]
[[source]]
kind = "point"
component = "POLARIZATION"
position = ["63 mm", "-42 mm", "0 mm"]
waveform = {kind = "gaussian", frequency = "MIDDLE GHz", bandwidth = "BAND GHz"}
[[monitor]]
kind = "resonances"
name = "modes"
components = ["POLARIZATION"]
position = ["34 mm", "55 mm", "0 mm"]
frequency_min = "LOW GHz"
frequency_max = "HIGH GHz"
"""
BANDS = {"Hz": (0.25, 0.85), "Ez": (1.0, 1.7)}  # GHz
DEFAULT, HALF = 0.95, 0.475


def lowest(work, polarization, end, cell=10.0, courant=DEFAULT):
    low, high = BANDS[polarization]
    text = BOX
    for word, value in (("CELL", cell), ("COURANT", courant), ("END", end), ("MIDDLE", (low + high) / 2), ("BAND", high - low), ("LOW", low), ("HIGH", high)):
        text = text.replace(word, repr(value))
    name = f"septum_{polarization}_{cell:g}_{courant:g}_{end:g}"
    path = fdtd.folder(work, name + ".toml")
    path.write_text(text.replace("POLARIZATION", polarization))
    table = fdtd.run(work, path, name).table("modes")
    return min(f for f, error in zip(table["frequency"], table["error"], strict=True) if error < 1e-4 * f)


def measure(work):
    off, fine, holds = [], [], True
    for polarization in BANDS:
        reference = lowest(work, polarization, 0.0, cell=2.5)
        for courant, bar in ((DEFAULT, 0.2), (HALF, 0.1)):
            f = [lowest(work, polarization, float(tenths), courant=courant) for tenths in range(11)]
            worst = max(abs((x - f[0]) / (f[-1] - f[0]) - k / 10) for k, x in enumerate(f))
            away = f[0] / reference - 1
            holds = holds and worst <= bar and abs(away) <= 0.005
            off.append(f"{polarization} at {courant:g} {worst:.3f}")
            fine.append(f"{away:+.2%}")
    return holds, f"off by {', '.join(off)} of a cell's change; beside fine cells {', '.join(fine)}; {fdtd.where(work)}"
