# SPDX-License-Identifier: Apache-2.0
import cmath
import math

import fdtd

WHAT = ("a parallel-plate line ended by R, L, C, series and parallel R L C ([[load]]), 20 cells a wavelength: complex reflection of its wave, told by a mode monitor three wavelengths in "
        "front, at 0.8 and 1 of that frequency")
BAR = "the circuit's formula within 0.01"

F0 = 1e9
CELL = fdtd.C0 / F0 / 20
HEIGHT = 4 * CELL
ETA = 376.730313412
CASE = f"""app = "electromagnetics.fdtd"
[grid]  # the line ends at a magnetic wall, where it is open
size = ["{120 * CELL} m", "{HEIGHT} m", "0 m"]
cell = "{CELL} m"
polarization = "Hz"
[run]
precision = "f64"
stop.decay_db = 120
[boundary]
x_low = "pml"
x_high = "pmc"
y = "pec"
pml.cells = 20
[[source]]
kind = "mode"
position = ["{-20 * CELL} m", "0 m", "0 m"]
size = ["0 m", "{HEIGHT} m", "0 m"]
direction = [1, 0, 0]
waveform = {{kind = "gaussian", frequency = "1 GHz", bandwidth = "1 GHz"}}
[[monitor]]
kind = "mode"
name = "waves"
position = ["0 m", "0 m", "0 m"]
size = ["0 m", "{HEIGHT} m", "0 m"]
frequencies = ["0.8 GHz", "1 GHz"]
[[load]]
position = ["{60 * CELL} m", "0 m", "0 m"]
size = ["0 m", "{HEIGHT} m", "0 m"]
axis = "y"
"""
UNITS = {"resistance": "ohm", "inductance": "H", "capacitance": "F"}


def admittance(values, parallel, w):
    z = [{"resistance": v, "inductance": 1j * w * v, "capacitance": 1 / (1j * w * v)}[key] for key, v in values.items()]
    return sum(1 / x for x in z) if parallel else 1 / sum(z)


def measure(work):
    z0, w0 = ETA * HEIGHT, 2 * math.pi * F0  # ohm m: of a width of 1 m
    l, c = z0 / w0, 1 / (z0 * w0)
    circuits = {"R": ({"resistance": z0 / 3}, False), "L": ({"inductance": l}, False), "C": ({"capacitance": c}, False),
                "series": ({"resistance": z0 / 2, "inductance": 2 * l, "capacitance": c}, False),
                "parallel": ({"resistance": 2 * z0, "inductance": l, "capacitance": c / 2}, True)}
    worst = {}
    for name, (values, parallel) in circuits.items():
        case = fdtd.folder(work, f"terminations_{name}.toml")
        case.write_text(CASE + "".join(f'{key} = "{v!r} {UNITS[key]}"\n' for key, v in values.items()) + ('circuit = "parallel"\n' if parallel else ""))
        table = fdtd.run(work, case, f"terminations_{name}", threads=2).table("waves")
        for k, f in enumerate(table["frequency_Hz"]):
            back, on = (complex(table[f"{way}_re"][k], table[f"{way}_im"][k]) for way in ("backward", "forward"))
            found = back / on * cmath.exp(2j * table["beta_re"][k] * 60 * CELL)
            y = admittance(values, parallel, 2 * math.pi * f) * z0
            worst[name] = max(worst.get(name, 0), abs(found - (1 - y) / (1 + y)))
    return max(worst.values()) <= 0.01, ", ".join(f"{name} {x:.4f}" for name, x in worst.items()) + f"; {fdtd.where(work)}"
