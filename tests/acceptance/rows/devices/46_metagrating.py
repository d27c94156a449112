# SPDX-License-Identifier: Apache-2.0
import fdtd

WHAT = ("D15, a metagrating of the photonics testbed as pixels of its CSV file, silicon 325 nm high on silica, 1050 nm from the substrate, E along the period of 1370.6 nm: "
        "power in the order +1 at 50 degrees over what comes in, which the reference without pattern and air tells; cells of 15.2 x 15 x 12.5 nm and, coarser than the pixels, "
        "of 22.8 x 21.9 x 18.1 nm. A resonance some nanometres below makes the figure one of the grid: docs/decisions/0200 tells others, that of the pixels' own cells among them")
BAR = "95.7 % (RCWA) within 1.5 points on the finer grid"

CASE = """app = "electromagnetics.fdtd"
[grid]
size = ["PERIOD um", "0.525 um", "LENGTH um"]
cell = ["CELL_X um", "CELL_Y um", "CELL_Z um"]
background = "silica"
[run]
stop = {time = "TIME fs", decay_db = 100}
[boundary]
x = "periodic"
y = "periodic"
pml.cells = LAYER
[[material]]
name = "silica"
index = 1.45
[[material]]
name = "silicon"
index = 3.45
[[structure]]
name = "air"
shape = "half_space"
material = "vacuum"
point = ["0 um", "0 um", "0 um"]
outward = [0, 0, -1]
[[structure]]
name = "pattern"
shape = "pixels"
file = "FILE"
axes = ["x", "y"]
material = "silicon"
empty = "vacuum"
priority = 1
low = ["-HALF um", "-0.2625 um", "0 um"]
high = ["HALF um", "0.2625 um", "0.325 um"]
[reference]
without = ["air", "pattern"]
[[source]]
kind = "plane"
component = "Ex"
position = ["0 um", "0 um", "-0.6 um"]
size = ["PERIOD um", "0.525 um", "0 um"]
waveform = {kind = "gaussian", frequency = "1.05 um", bandwidth = "60 THz"}
[[monitor]]
kind = "flux"
name = "sent"
position = ["0 um", "0 um", "0.6 um"]
size = ["PERIOD um", "0.525 um", "0 um"]
frequencies = ["1.05 um"]
[[monitor]]
kind = "orders"
name = "orders"
position = ["0 um", "0 um", "0.9 um"]
size = ["PERIOD um", "0.525 um", "0 um"]
frequencies = ["1.05 um"]
relative_to = "sent.reference"
orders = [[1, 0], [-1, 0], [0, 0]]
[output]
vtk = false
"""


def efficiency(work, cells, layer):
    period = 1.05 / 0.766044443119
    thickness = 0.325 / cells[2]  # lines at both faces of the pattern
    length = 2 * round(1.5 / thickness) * thickness
    text = CASE.replace("FILE", str(work.test_data("em", "metagrating_device1.csv"))).replace("LENGTH", repr(length)).replace("LAYER", str(layer))
    text = text.replace("CELL_X", repr(period / cells[0])).replace("CELL_Y", repr(0.525 / cells[1])).replace("CELL_Z", repr(thickness))
    text = text.replace("TIME", repr(240e-6 / 299792458 * 1e15)).replace("PERIOD", repr(period)).replace("HALF", repr(period / 2))
    path = fdtd.folder(work, f"metagrating_{cells[0]}.toml")
    path.write_text(text)
    done = fdtd.run(work, path, f"metagrating_{cells[0]}", threads=2)
    orders = done.table("orders")
    found = [orders[name][0] for name in orders if name.startswith("efficiency")]
    return found, done.done.seconds


def measure(work):
    coarse, quick = efficiency(work, (60, 24, 18), 16)
    fine, slow = efficiency(work, (90, 35, 26), 24)
    best = max(fine[:2])  # the one to which the pattern, not the sign of x, leads
    told = "; ".join(f"{name} {100 * e[0]:.2f} %, -1 {100 * e[1]:.2f} %, 0 {100 * e[2]:.2f} %, {s:.0f} s" for name, e, s in (("coarse +1", coarse, quick), ("fine +1", fine, slow)))
    return abs(best - 0.957) <= 0.015, f"{told}; {fdtd.where(work)}"
