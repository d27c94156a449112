# SPDX-License-Identifier: Apache-2.0
import math
import shutil

import fdtd
import rowkit

WHAT = ("wires of 0.1 cell ([[wire]]) beside nec2c, both run here: a half-wave dipole of 40 cells, also turned by 30 degrees in a plane of the grid and anyhow between lines, a square loop, a Yagi of "
        "three elements, a dipole with bars at its ends, also turned: resonance, its resistance, gain; a short dipole; power radiated over power accepted")
BAR = "resonance 1.5 % (turned 2.5 %), resistance there 4 % (8 %), gain 0.2 dB; short dipole 1.76, half-wave 2.15 +- 0.05 dBi; 1 +- 0.01"

CELL, RADIUS, PML, MARGIN = 0.01, 0.001, 8, 20  # m; cells between wires and the end of the domain
HEAD = """app = "electromagnetics.fdtd"
[grid]
size = SIZE
centre = CENTRE
cell = "10 mm"
[run]
stop.decay_db = 60
[boundary]
pml.cells = 8
[output]
pictures = false
vtk = false
[s_parameters]
frequency_min = "LOW MHz"
frequency_max = "HIGH MHz"
frequency_points = 21
[[port]]
kind = "lumped"
name = "feed"
position = PORT
size = GAP
direction = ALONG
resistance = "75 ohm"
[[monitor]]
kind = "far_field"
name = "pattern"
beam = true
angle_points = [19, 36]
position = CENTRE
size = BOX
frequencies = ["MIDDLE MHz"]
"""


def point(p):
    return "[" + ", ".join(f'"{x:.9g} m"' for x in p) + "]"


class Antenna:
    """Wires as lists of points, in m, fed in the middle of a straight piece: `feed` is (wire, piece). nec2c has `finer` segments to a cell: at junctions those of a cell are 1 % off."""

    def __init__(self, wires, feed, band, turned=False, finer=1):
        self.wires, self.feed, self.band, self.turned, self.finer = wires, feed, band, turned, finer  # band in MHz
        a, b = wires[feed[0]][feed[1]:feed[1] + 2]
        self.axis = max(range(3), key=lambda d: abs(a[d] - b[d]))
        self.port = tuple((x + y) / 2 for x, y in zip(a, b))

    def case(self):
        low, high = [[pick(p[d] for w in self.wires for p in w) for d in range(3)] for pick in (min, max)]
        first, last = [], []
        for d in range(3):  # lines through the wires; the port's middle is the middle of a cell
            offset = CELL / 2 if d == self.axis else 0
            first.append(math.floor((low[d] - self.port[d] - offset) / CELL + 1e-6) * CELL + offset + self.port[d] - MARGIN * CELL)
            last.append(math.ceil((high[d] - self.port[d] - offset) / CELL - 1e-6) * CELL + offset + self.port[d] + MARGIN * CELL)
        text = HEAD
        gap, along = [0.0] * 3, [0] * 3
        gap[self.axis], along[self.axis] = CELL, 1
        for word, value in (("SIZE", point([b - a for a, b in zip(first, last)])), ("CENTRE", point([(a + b) / 2 for a, b in zip(first, last)])),
                            ("BOX", point([b - a - 2 * (PML + 4) * CELL for a, b in zip(first, last)])), ("PORT", point(self.port)), ("GAP", point(gap)), ("ALONG", str(along)),
                            ("LOW", f"{self.band[0]:g}"), ("HIGH", f"{self.band[1]:g}"), ("MIDDLE", f"{sum(self.band) / 2:g}")):
            text = text.replace(word, value)
        return text + "".join(f'[[wire]]\npoints = [{", ".join(point(p) for p in w)}]\nradius = "{RADIUS} m"\n' for w in self.wires)

    def deck(self):
        """For nec2c, with segments of a cell, an odd number where it is fed."""
        text, number, fed = "CM\nCE\n", 0, None
        for w, wire in enumerate(self.wires):
            for k in range(len(wire) - 1):
                number += 1
                segments = max(3, round(math.dist(wire[k], wire[k + 1]) / CELL * self.finer))
                if (w, k) == self.feed:
                    segments += 1 - segments % 2
                    fed = (number, (segments + 1) // 2)
                text += f"GW {number} {segments} " + " ".join(f"{x:.6f}" for x in (*wire[k], *wire[k + 1], RADIUS)) + "\n"
        step = (self.band[1] - self.band[0]) / 20
        return text + f"GE 0\nEX 0 {fed[0]} {fed[1]} 0 1 0\nFR 0 21 0 0 {self.band[0]} {step}\nRP 0 37 72 1000 0 0 5 5\nEN\n"


def nec(work, antenna, name):
    """Frequencies in Hz, impedances, the largest gain in dBi of each."""
    deck, out = fdtd.folder(work, name + ".nec"), fdtd.folder(work, name + ".out")
    deck.write_text(antenna.deck())
    work.run(["nec2c", "-i", deck.name, "-o", out.name], cwd=deck.parent).must_succeed("nec2c")
    impedance, gain, lines = [], [], out.read_text().splitlines()
    for i, line in enumerate(lines):
        if "ANTENNA INPUT PARAMETERS" in line:
            words = lines[i + 3].split()
            impedance.append(complex(float(words[6]), float(words[7])))
        if "RADIATION PATTERNS" in line:
            rows = (row.split() for row in lines[i + 5:i + 5 + 37 * 72])
            gain.append(max(float(r[4]) for r in rows))
    if len(impedance) != 21 or len(gain) != 21:
        raise rowkit.NotMeasured(f"{out} has {len(impedance)} impedances and {len(gain)} patterns")
    low, high = (f * 1e6 for f in antenna.band)
    return [low + (high - low) * k / 20 for k in range(21)], impedance, gain


def ours(work, antenna, name):
    path = fdtd.folder(work, name + ".toml")
    path.write_text(antenna.case())
    run = fdtd.run(work, path, name, threads=2)
    feed, far = run.table("feed"), run.table("pattern")
    return feed["frequency_Hz"], [complex(*z) for z in zip(feed["input_impedance_re"], feed["input_impedance_im"])], {k: v[0] for k, v in far.items()}


def resonance(f, z):
    """Where the reactance first rises through 0, and the resistance there."""
    for k in range(1, len(f)):
        if z[k - 1].imag < 0 <= z[k].imag:
            s = -z[k - 1].imag / (z[k].imag - z[k - 1].imag)
            return f[k - 1] + s * (f[k] - f[k - 1]), (z[k - 1] + s * (z[k] - z[k - 1])).real
    return math.nan, math.nan


def upright(length, y=0.0):
    return [(0.0, y, -length / 2), (0.0, y, length / 2)]


def turned(wires, theta, phi, shift=(0.0, 0.0, 0.0)):
    """Upright ones leaned by theta towards x, turned by phi about z and shifted."""
    c, s, cp, sp = math.cos(math.radians(theta)), math.sin(math.radians(theta)), math.cos(math.radians(phi)), math.sin(math.radians(phi))

    def point_of(p):
        x, y, z = p[0] * c + p[2] * s, p[1], p[2] * c - p[0] * s
        return (x * cp - y * sp + shift[0], x * sp + y * cp + shift[1], z + shift[2])
    return [[point_of(p) for p in w] for w in wires]


BARS = [[(0.0, 0.0, -0.105), (0.0, 0.0, 0.105)]] + [[(-0.05, 0.0, z), (0.0, 0.0, z), (0.05, 0.0, z)] for z in (-0.105, 0.105)]
ANTENNAS = {
    "dipole": Antenna([upright(0.4)], (0, 0), (320, 400)),
    "dipole at 30 degrees": Antenna(turned([upright(0.4)], 30, 0), (0, 0), (320, 400), turned=True),
    "dipole at 55 and 20 degrees, shifted": Antenna(turned([upright(0.4)], 55, 20, (0.003, 0.001, 0.004)), (0, 0), (320, 400), turned=True),
    "dipole with bars": Antenna(BARS, (0, 0), (360, 440), finer=4),
    "the same at 25 and 20 degrees": Antenna(turned(BARS, 25, 20), (0, 0), (360, 440), turned=True, finer=4),
    "loop": Antenna([[(-0.12, -0.125, 0.0), (0.13, -0.125, 0.0), (0.13, 0.125, 0.0), (-0.12, 0.125, 0.0), (-0.12, -0.125, 0.0)]], (0, 0), (280, 380)),
    "Yagi": Antenna([upright(0.5, -0.2), upright(0.46), upright(0.44, 0.18)], (1, 0), (270, 330)),
}


def measure(work):
    if not shutil.which("nec2c"):
        raise rowkit.NotMeasured("nec2c is not there: ./bootstrap.sh bench installs it")
    texts, holds = [], True
    for name, antenna in ANTENNAS.items():
        f, z, gain = nec(work, antenna, "wires_" + name.replace(" ", "_").replace(",", ""))
        g, y, far = ours(work, antenna, "wires_" + name.replace(" ", "_").replace(",", ""))
        (f0, r0), (g0, q0) = resonance(f, z), resonance(g, y)
        apart = (abs(g0 / f0 - 1), abs(q0 / r0 - 1), abs(10 * math.log10(far["beam_gain"]) - gain[10]), abs(far["radiation_efficiency"] - 1))
        holds &= apart[0] <= (0.025 if antenna.turned else 0.015) and apart[1] <= (0.08 if antenna.turned else 0.04) and apart[2] <= 0.2 and apart[3] <= 0.01
        texts.append(f"{name}: {g0 / 1e6:.2f} MHz (nec2c {f0 / 1e6:.2f}), {q0:.1f} ohm ({r0:.1f}), {10 * math.log10(far['beam_gain']):.2f} dBi ({gain[10]:.2f}), "
                     f"radiated over accepted {far['radiation_efficiency']:.4f}")
    for name, length, middle, wanted in (("short dipole", 0.09, 300, 1.76), ("half-wave dipole", 0.4, 1e-6 * fdtd.C0 / 0.8, 2.15)):
        _, _, far = ours(work, Antenna([upright(length)], (0, 0), (middle * 0.95, middle * 1.05)), "wires_" + name.replace(" ", "_"))
        found = 10 * math.log10(far["beam_gain"])
        holds &= abs(found - wanted) <= 0.05 and abs(far["radiation_efficiency"] - 1) <= 0.01
        texts.append(f"{name}: {found:.3f} dBi, radiated over accepted {far['radiation_efficiency']:.4f}")
    return holds, "; ".join(texts) + f"; {fdtd.where(work)}"
