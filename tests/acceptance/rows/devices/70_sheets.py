# SPDX-License-Identifier: Apache-2.0
import cmath
import math

import fdtd

WHAT = ("sheets thinner than a cell ([[sheet]]), 40 cells a wavelength: 100 ohm; 1/20 cell of eps 50; 1/20 cell of a Drude metal, fp = 10 f; at normal incidence and at 45 degrees, "
        "s and p: complex r and t, told by the amplitudes of the diffraction order 0 in front and behind, less those of the reference without the sheet and over what arrives there behind, against the transfer matrix of the film")
BAR = "0.002 on a plane of the grid, 0.005 at 0.3 of a cell between two"

WAVELENGTH = 10e-3
F0 = fdtd.C0 / WAVELENGTH
CELL = WAVELENGTH / 40
THICKNESS = CELL / 20
ETA = 376.730313412
FP = 10 * F0
PLANE = 20 * CELL  # of the monitors, in front and behind
CASE = f"""app = "electromagnetics.fdtd"
[grid]
size = ["{160 * CELL} m", "WIDTH m", "0 m"]
cell = "{CELL} m"
polarization = "POLARIZATION"
[run]
precision = "f64"
stop.decay_db = 120
[boundary]
x = "pml"
y = "bloch"
bloch_k = ["0 rad/m", "KY rad/m", "0 rad/m"]
pml.cells = 40
[[material]]
name = "dense"
eps = 50
[[material]]
name = "metal"
poles = [{{kind = "drude", frequency = "{FP} Hz", damping = "0 Hz"}}]
[reference]
without = ["film"]
[[sheet]]
name = "film"
normal = "x"
position = ["PLACE m", "0 m", "0 m"]
FILM
[[source]]
kind = "plane"
component = "COMPONENT"
position = ["{-35 * CELL} m", "0 m", "0 m"]
size = ["0 m", "{CELL} m", "0 m"]
waveform = {{kind = "gaussian", frequency = "{F0} Hz", bandwidth = "{0.2 * F0} Hz"}}
""" + "".join(f"""[[monitor]]
kind = "orders"
name = "{name}"
position = ["{x} m", "0 m", "0 m"]
size = ["0 m", "{CELL} m", "0 m"]
frequencies = ["{F0} Hz"]
orders = [[0, 0]]
subtract = "reference"
""" for name, x in (("front", -PLANE), ("behind", PLANE))) + """[output]
vtk = false
pictures = false
"""
FILMS = {"100 ohm": 'resistance = "100 ohm"', "eps 50": f'material = "dense"\nthickness = "{THICKNESS} m"', "Drude": f'material = "metal"\nthickness = "{THICKNESS} m"'}
WAVES = {"normal": ("s", 0), "45 s": ("s", math.pi / 4), "45 p": ("p", math.pi / 4)}


def exact(film, wave, angle):
    """r and t of E along the film, both at its middle."""
    if film == "100 ohm":
        y = ETA / 100 * (1 / math.cos(angle) if wave == "s" else math.cos(angle))
        return -y / (2 + y), 2 / (2 + y)
    eps = 50 if film == "eps 50" else 1 - (FP / F0)**2
    k = 2 * math.pi / WAVELENGTH
    outside, inside = k * math.cos(angle), cmath.sqrt(eps * k * k - (k * math.sin(angle))**2)
    z = (outside / inside if wave == "s" else inside / (eps * outside))  # impedance of the film, in units of that outside
    c, s, turn = cmath.cos(inside * THICKNESS), cmath.sin(inside * THICKNESS), cmath.exp(1j * outside * THICKNESS)
    below = 2 * c + 1j * (z + 1 / z) * s
    return 1j * (z - 1 / z) * s / below * turn, 2 / below * turn


def found(work, film, wave, angle, place):
    ky = 2 * math.pi / WAVELENGTH * math.sin(angle)
    text = CASE.replace("KY", repr(ky)).replace("WIDTH", repr(CELL)).replace("POLARIZATION", "Ez" if wave == "s" else "Hz")
    text = text.replace("COMPONENT", "Ez" if wave == "s" else "Ey").replace("PLACE", repr(place)).replace("FILM", FILMS[film])
    name = f"sheet_{film}_{wave}_{angle:.2f}_{place / CELL:.1f}".replace(" ", "_")
    case = fdtd.folder(work, f"{name}.toml")
    case.write_text(text)
    run = fdtd.run(work, case, name)

    def wave_of(monitor, way):
        table = run.table(monitor)
        column = next(c for c in table if c.startswith(wave + way + "_re") or c.startswith(f"{wave}{way}[") and "re" in c)
        return complex(table[column][0], table[column.replace("re", "im")][0])
    kx = math.sqrt((2 * math.pi / WAVELENGTH)**2 - ky**2)
    arrived = wave_of("behind.reference", "")
    # From the plane in front to 0 and back: as far as between the two planes, by the grid's own wave. p is E along the film for either way but its sign.
    r = wave_of("front", "_back") / arrived * cmath.exp(2j * kx * place) * (-1 if wave == "p" else 1)
    return r, 1 + wave_of("behind", "") / arrived


def measure(work):
    texts, holds = [], True
    for place, bar in ((0.0, 0.002), (0.3 * CELL, 0.005)):
        worst = {}
        for film in FILMS:
            for name, (wave, angle) in WAVES.items():
                r, t = found(work, film, wave, angle, place)
                wanted = exact(film, wave, angle)
                worst[f"{film}, {name}"] = max(abs(r - wanted[0]), abs(t - wanted[1]))
        holds = holds and max(worst.values()) <= bar
        texts.append(("on a plane: " if place == 0 else "between: ") + "; ".join(f"{name} {x:.4f}" for name, x in worst.items()))
    return holds, "\n".join(texts) + f"\n{fdtd.where(work)}"
