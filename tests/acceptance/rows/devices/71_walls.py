# SPDX-License-Identifier: Apache-2.0
import math

import fdtd

WHAT = ("a copper box of 5 x 2 x 6 cm on 50 x 20 x 62 cells, its walls made of a [[material]] with surface_impedance: frequency and Q of its lowest five modes, smooth and of 1 um roughness; D1b, a cylinder of eps 2.08 and "
        "tan d 4e-4 in metal, radius 2.74 cm, as high as wide, 21 cells in the radius, its wall across the cells, at 0.8 of the longest time step: frequency and Q of TM010 and TE111; the same "
        "cylinder, empty, in copper")
BAR = "Q within 1 % of the wall formulas, rough over Hammerstad and Jensen's factor; D1b: frequency 0.15 %, Q 1 %"

SIGMA = 5.8e7
SIZE = (0.05, 0.02, 0.06)
CELLS = (50, 20, 62)
ROUGHNESS = 1e-6
MU0, ETA = 4e-7 * math.pi, 376.730313412
BOX = f"""app = "electromagnetics.fdtd"
[grid]
size = ["5 cm", "2 cm", "6 cm"]
cell = ["{SIZE[0] / CELLS[0]} m", "{SIZE[1] / CELLS[1]} m", "{SIZE[2] / CELLS[2]} m"]
[run]
precision = "f64"
stop.time = "25 ns"
[boundary]
x = "pec"
y = "pec"
z = "pec"
wall_material = "copper"
[[material]]
name = "copper"
surface_impedance = true
sigma = "{SIGMA} S/m"
[[source]]
kind = "point"
component = "Ey"
position = ["-1.1 cm", "0.3 cm", "-1.3 cm"]
waveform = {{kind = "gaussian", frequency_min = "3.5 GHz", frequency_max = "8 GHz"}}
[[source]]
kind = "point"
component = "Ex"
position = ["-1.1 cm", "0.3 cm", "-1.3 cm"]
waveform = {{kind = "gaussian", frequency_min = "3.5 GHz", frequency_max = "8 GHz"}}
[[monitor]]
kind = "resonances"
name = "modes"
position = ["0.9 cm", "0.35 cm", "1.7 cm"]
frequency_min = "3.5 GHz"
frequency_max = "8 GHz"
[output]
vtk = false
pictures = false
"""


def modes():
    """(frequency, Q) of the lowest five: omega W / P with P = Rs/2 of |H|^2 over the walls, of fields that are products of sines and cosines."""
    out = []
    for m in range(4):
        for n in range(3):
            for p in range(4):
                k = [math.pi * i / s for i, s in zip((m, n, p), SIZE)]
                kk = sum(x * x for x in k)
                zeros = (m, n, p).count(0)
                if zeros > 1:
                    continue
                # E = (A cos sin sin, B sin cos sin, C sin sin cos) with k.(A,B,C) = 0; one of the two polarizations where no index is 0, E along the axis of the 0 where one is.
                fields = [tuple(1.0 if i == (m, n, p).index(0) else 0.0 for i in range(3))] if zeros else [(k[1], -k[0], 0.0), (k[0] * k[2], k[1] * k[2], -(k[0]**2 + k[1]**2))]
                for e in fields:
                    h = (k[1] * e[2] - k[2] * e[1], k[2] * e[0] - k[0] * e[2], k[0] * e[1] - k[1] * e[0])  # times 1/(w mu): sin cos cos, ...
                    mean = lambda i, cosine: (1.0 if cosine else 0.0) if (m, n, p)[i] == 0 else 0.5
                    volume = SIZE[0] * SIZE[1] * SIZE[2]
                    stored = sum(h[c]**2 * math.prod(mean(i, i != c) for i in range(3)) for c in range(3)) * volume
                    lost = 0.0
                    for wall in range(3):
                        for c in range(3):
                            if c != wall:
                                lost += 2 * h[c]**2 * math.prod(mean(i, i != c) for i in range(3) if i != wall) * volume / SIZE[wall]
                    f = fdtd.C0 * math.sqrt(kk) / (2 * math.pi)
                    rs = math.sqrt(math.pi * f * MU0 / SIGMA)
                    out.append((f, 2 * math.pi * f * MU0 * stored / (rs * lost)))
    return sorted(out)[:5]


RADIUS = 2.74e-2


def cylinder(metal, eps, low, high):
    """As high as wide, 21 cells in its radius, in metal."""
    cell = RADIUS / 21
    return f"""app = "electromagnetics.fdtd"
[grid]
size = ["{46 * cell} m", "{46 * cell} m", "{46 * cell} m"]
cell = "{cell} m"
background = "{metal}"
[run]
precision = "f64"
courant = 0.8
stop.time = "25 ns"
[boundary]
x = "pec"
y = "pec"
z = "pec"
[[material]]
name = "copper"
surface_impedance = true
sigma = "{SIGMA} S/m"
[[material]]
name = "filling"
eps = {eps}
""" + ("loss_tangent = 4e-4\nloss_frequency = \"2.913 GHz\"\n" if eps > 1 else "") + f"""[[structure]]
shape = "cylinder"
material = "filling"
radius = "{RADIUS} m"
height = "{2 * RADIUS} m"
""" + "".join(f"""[[source]]
kind = "point"
component = "{c}"
position = ["0.8 cm", "0.5 cm", "0.9 cm"]
waveform = {{kind = "gaussian", frequency_min = "{0.85 * low} Hz", frequency_max = "{1.15 * high} Hz"}}
""" for c in ("Ez", "Ex")) + f"""[[monitor]]
kind = "resonances"
name = "modes"
position = ["-0.7 cm", "0.6 cm", "-1.1 cm"]
frequency_min = "{0.93 * low} Hz"
frequency_max = "{1.06 * high} Hz"
[output]
vtk = false
pictures = false
"""


def empty_cylinder():
    """(name, frequency, Q) of TM010 and TE111 in copper: D. M. Pozar, Microwave Engineering, section 6.4."""
    a, d, zero, bend = RADIUS, 2 * RADIUS, 2.404825557695773, 1.841183781340659
    out = []
    for name, k in (("TM010", zero / a), ("TE111", math.hypot(bend / a, math.pi / d))):
        f, beta = fdtd.C0 * k / (2 * math.pi), math.pi / d
        rs = math.sqrt(math.pi * f * MU0 / SIGMA)
        if name == "TM010":
            q = ETA * zero / (2 * rs * (1 + a / d))
        else:
            q = (k * a)**3 * ETA * a * d / (4 * bend**2 * rs) * (1 - 1 / bend**2) / (a * d / 2 * (1 + (beta * a / bend**2)**2) + (beta * a**2 / bend)**2 * (1 - 1 / bend**2))
        out.append((name, f, q))
    return out


def found(work, name, text):
    case = fdtd.folder(work, f"{name}.toml")
    case.write_text(text)
    table = fdtd.run(work, case, name, threads=2).table("modes")
    return sorted(zip(table["frequency"], table["quality"]))


def nearest(modes, f):
    return min(modes, key=lambda mode: abs(mode[0] - f))


def measure(work):
    texts, holds = [], True
    for roughness in (0, ROUGHNESS):
        text = BOX if roughness == 0 else BOX.replace("surface_impedance = true", f'surface_impedance = true\nroughness = "{roughness} m"')
        ringing = found(work, "copper_box_rough" if roughness else "copper_box", text)
        for f, smooth in modes():
            q = smooth / (1 + 2 / math.pi * math.atan(1.4 * roughness**2 * math.pi * f * MU0 * SIGMA))
            own = nearest(ringing, f)
            holds = holds and fdtd.relative(own[1], q) <= 0.01 and fdtd.relative(own[0], f) < 0.005
            texts.append(f"{f / 1e9:.4f} GHz{', rough' if roughness else ''}: Q {own[1]:.0f} against {q:.0f} ({own[1] / q - 1:+.2%})")
    filled = [(name, f, 2500) for name, f in (("TM010", 2.903636e9), ("TE111", 2.922197e9))]
    for what, metal, eps, wanted in (("D1b", "pec", 2.08, filled), ("copper", "copper", 1, empty_cylinder())):
        ringing = found(work, f"cylinder_{metal}", cylinder(metal, eps, wanted[0][1], wanted[1][1]))
        for name, f, q in wanted:
            own = nearest(ringing, f)
            holds = holds and fdtd.relative(own[0], f) <= 0.0015 and fdtd.relative(own[1], q) <= 0.01
            texts.append(f"{what} {name}: {own[0] / f - 1:+.3%}, Q {own[1]:.0f} against {q:.0f} ({own[1] / q - 1:+.2%})")
    return holds, "; ".join(texts) + f"; {fdtd.where(work)}"
