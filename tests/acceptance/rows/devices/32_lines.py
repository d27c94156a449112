# SPDX-License-Identifier: Apache-2.0
import math

import fdtd

WHAT = ("impedance of lines, as mode monitors say it: coaxial line, b/a = 2.3, 10 cells between, its axis 0.3 cells off the lines; microstrip, w/h = 0.5, 1, 3 on eps 2.2 and 9.8, 10 cells "
        "in h, walls 10 h away, at 0.002 c/h, against Hammerstad and Jensen (1980)")
BAR = "Z0 1 %; 2 %, eps_eff 1.5 %"

ETA0 = 376.730313668

LINE = """app = "electromagnetics.fdtd"
[grid]
size = SIZE
cell = "CELL mm"
[run]
precision = "f64"
stop.steps = 2
[boundary]
x = "periodic"
y = "pec"
z = "pec"
[[material]]
name = "dielectric"
eps = EPS
BODIES
[[source]]
kind = "point"
component = "Ez"
position = ["0 mm", "0 mm", "0 mm"]
waveform = {kind = "gaussian", frequency = "10 GHz", bandwidth = "5 GHz"}
[[monitor]]
kind = "mode"
name = "line"
position = ["0 mm", "0 mm", "0 mm"]
size = PLANE
frequencies = ["FREQUENCY GHz"]
"""


def body(material, shape):
    return f'[[structure]]\nmaterial = "{material}"\n{shape}\n'


def solved(work, name, size, cell, eps, bodies, frequency):
    def lengths(of):
        return fdtd.toml([f"{x!r} mm" for x in of])

    text = LINE.replace("SIZE", lengths(size)).replace("PLANE", lengths((0, *size[1:]))).replace("CELL", repr(cell)).replace("EPS", repr(eps))
    text = text.replace("BODIES", "".join(bodies)).replace("FREQUENCY", repr(frequency / 1e9))
    path = fdtd.folder(work, name + ".toml")
    path.write_text(text)
    table = fdtd.run(work, path, name, threads=2).table("line")
    return table["impedance_re"][0], table["index_re"][0] ** 2


def coax(work):
    """(Z0, eps_eff) over what they should be; lengths in mm."""
    a, b, eps = 1.0, 2.3, 2.1
    cell = (b - a) / 10
    side, off = round(2 * (2 * b / (2 * cell) + 3)) * cell, 0.3 * cell
    axis = f'centre = ["0 mm", "{off!r} mm", "{-off!r} mm"]\naxis = "x"\nheight = "inf"'
    bodies = [body("pec", 'shape = "box"\nlow = ["-inf", "-inf", "-inf"]\nhigh = ["inf", "inf", "inf"]'),
              body("dielectric", f'shape = "cylinder"\nradius = "{b!r} mm"\n{axis}'), body("pec", f'shape = "cylinder"\nradius = "{a!r} mm"\n{axis}')]
    z, index_squared = solved(work, "line_coax", (4 * cell, side, side), cell, eps, bodies, 1e9)
    return z / (ETA0 / (2 * math.pi * math.sqrt(eps)) * math.log(b / a)) - 1, index_squared / eps - 1


def hammerstad_jensen(u, eps):
    """Z0 and eps_eff of a microstrip without thickness, w/h = u."""
    f = 6 + (2 * math.pi - 6) * math.exp(-((30.666 / u) ** 0.7528))
    a = 1 + math.log((u**4 + (u / 52) ** 2) / (u**4 + 0.432)) / 49 + math.log(1 + (u / 18.1) ** 3) / 18.7
    b = 0.564 * ((eps - 0.9) / (eps + 3)) ** 0.053
    effective = (eps + 1) / 2 + (eps - 1) / 2 * (1 + 10 / u) ** (-a * b)
    return ETA0 / (2 * math.pi) * math.log(f / u + math.sqrt(1 + 4 / u**2)) / math.sqrt(effective), effective


def microstrip(work, u, eps):
    h, cell = 1.0, 0.1
    bodies = [body("dielectric", 'shape = "box"\nlow = ["-inf", "-inf", "-inf"]\nhigh = ["inf", "inf", "-4.5 mm"]'),
              body("pec", f'shape = "box"\nlow = ["-inf", "{-u * h / 2!r} mm", "-4.5 mm"]\nhigh = ["inf", "{u * h / 2!r} mm", "-4.5 mm"]')]
    z, index_squared = solved(work, f"line_microstrip_{u}_{eps}", (4 * cell, 20 * h + u * h, 11 * h), cell, eps, bodies, 0.002 * fdtd.C0 / (h * 1e-3))
    impedance, effective = hammerstad_jensen(u, eps)
    return z / impedance - 1, index_squared / effective - 1


def measure(work):
    round_line = coax(work)
    strips = {(u, eps): microstrip(work, u, eps) for eps in (2.2, 9.8) for u in (0.5, 1.0, 3.0)}
    holds = abs(round_line[0]) <= 0.01 and all(abs(z) <= 0.02 and abs(e) <= 0.015 for z, e in strips.values())
    text = "; ".join(f"w/h {u:g} on {eps:g}: {z:+.2%}, eps_eff {e:+.2%}" for (u, eps), (z, e) in strips.items())
    return holds, f"coaxial line {round_line[0]:+.2%}; microstrip {text}; {fdtd.where(work)}"
