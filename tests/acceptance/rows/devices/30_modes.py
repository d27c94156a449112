# SPDX-License-Identifier: Apache-2.0
import math
import re
import shutil

import fdtd
import rowkit

WHAT = ("modes, as monitors say them: rectangular guide, lowest three, against the discrete formula; slab of 220 nm, n 3.48 in 1.44, TE and TM, faces on lines, at 20, 10, 5 nm; "
        "strip of 450 x 220 nm, 3.48 on 1.44 under air, at 10 nm beside mpb at 100 points/um")
BAR = "beta 1e-9; order at least 1.9; n_eff of 2 modes 0.5 %, in 20 s"

GUIDE = """app = "electromagnetics.fdtd"
[grid]
size = ["20 mm", "22.86 mm", "10.16 mm"]
cell = ["1 mm", "1.27 mm", "1.016 mm"]
[run]
precision = "f64"
dt = "1.5 ps"
stop.steps = 2
[boundary]
x = "pec"
y = "pec"
z = "pec"
[[source]]
kind = "point"
component = "Ez"
position = ["0 mm", "0 mm", "0 mm"]
waveform = {kind = "gaussian", frequency = "18 GHz", bandwidth = "10 GHz"}
[[monitor]]
kind = "mode"
name = "guide"
position = ["5 mm", "0 mm", "0 mm"]
size = ["0 mm", "22.86 mm", "10.16 mm"]
frequencies = ["17 GHz", "19 GHz"]
modes = 3
"""

SLAB = """app = "electromagnetics.fdtd"
[grid]
size = ["CELLS nm", "3.22 um", "0 um"]
cell = "CELL nm"
background = "oxide"
polarization = "POLARIZATION"
[run]
precision = "f64"
stop.steps = 2
[boundary]
x = "pec"
y = "pec"
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
kind = "point"
component = "POLARIZATION"
position = ["0 um", "0 um", "0 um"]
waveform = {kind = "gaussian", frequency = "193.414 THz", bandwidth = "60 THz"}
[[monitor]]
kind = "mode"
name = "slab"
position = ["0 um", "0 um", "0 um"]
size = ["0 um", "3.22 um", "0 um"]
frequencies = ["FREQUENCY THz"]
"""


STRIP = """app = "electromagnetics.fdtd"
[grid]
size = ["40 nm", "2.4 um", "2.6 um"]
cell = "10 nm"
[run]
precision = "f64"
stop.steps = 2
[boundary]
x = "periodic"
y = "pec"
z = "pec"
[[material]]
name = "oxide"
eps = 2.0736
[[material]]
name = "silicon"
eps = 12.1104
[[structure]]
shape = "box"
material = "oxide"
low = ["-inf", "-inf", "-inf"]
high = ["inf", "inf", "0.19 um"]
[[structure]]
shape = "box"
material = "silicon"
low = ["-inf", "-225 nm", "0.19 um"]
high = ["inf", "225 nm", "0.41 um"]
[[source]]
kind = "point"
component = "Ey"
position = ["0 um", "0 um", "0.3 um"]
waveform = {kind = "gaussian", frequency = "193.4 THz", bandwidth = "60 THz"}
[[monitor]]
kind = "mode"
name = "strip"
position = ["0 um", "0 um", "0 um"]
size = ["0 um", "2.4 um", "2.6 um"]
frequencies = ["FREQUENCY THz"]
modes = 2
"""

# Of the same strip, in a period of the same size; it gives k in units of 2 pi/um at f = 1/1.55 um.
MPB = """(set! geometry-lattice (make lattice (size no-size 2.4 2.6)))
(set! geometry (list
  (make block (center 0 0 -0.555) (size infinity infinity 1.49) (material (make dielectric (index 1.44))))
  (make block (center 0 0 0.3) (size infinity 0.45 0.22) (material (make dielectric (index 3.48))))))
(set! resolution 100)
(set! num-bands 2)
(set! tolerance 1e-7)
(find-k NO-PARITY (/ 1 1.55) 1 2 (vector3 1 0 0) 1e-5 1.2 0.6 3.0)
"""


def case(work, name, text):
    path = fdtd.folder(work, name + ".toml")
    path.write_text(text)
    return path


def of_guide(work):
    table = fdtd.run(work, case(work, "mode_guide", GUIDE), "mode_guide").table("guide")
    dt, dx, dy, dz = 1.5e-12, 1e-3, 1.27e-3, 1.016e-3
    worst = 0.0
    for k, f in enumerate(table["frequency_Hz"]):
        w = (math.sin(math.pi * f * dt) / (fdtd.C0 * dt)) ** 2

        def beta(m, n):
            left = w - (math.sin(math.pi * m / 36) / dy) ** 2 - (math.sin(math.pi * n / 20) / dz) ** 2
            return 2 / dx * math.asin(dx * math.sqrt(left))

        wanted = sorted((beta(1, 0), beta(2, 0), beta(0, 1)), reverse=True)
        worst = max(worst, *(fdtd.relative(table[f"beta_{m}_re"][k], wanted[m]) for m in range(3)))
    return worst


def slab_index(te, wavelength=1.55e-6, width=220e-9, core=3.48, clad=1.44):
    """tan(kx w/2) = q/kx, for TM times the ratio of permittivities, by halving."""
    low, high, k0 = clad, core, 2 * math.pi / wavelength
    for _ in range(200):
        n = (low + high) / 2
        kx, q = k0 * math.sqrt(core**2 - n**2), k0 * math.sqrt(n**2 - clad**2)
        ratio = 1 if te else core**2 / clad**2
        if kx * width / 2 >= math.pi / 2 or math.tan(kx * width / 2) > ratio * q / kx:
            low = n
        else:
            high = n
    return low


def of_slab(work, polarization):
    frequency = fdtd.C0 / 1.55e-6 / 1e12
    errors = []
    for cell in (20, 10, 5):
        text = (SLAB.replace("CELLS", str(12 * cell)).replace("CELL", str(cell)).replace("POLARIZATION", polarization).replace("FREQUENCY", repr(frequency)))
        table = fdtd.run(work, case(work, f"mode_slab_{polarization}_{cell}", text), f"mode_slab_{polarization}_{cell}").table("slab")
        errors.append(abs(table["index_re"][0] - slab_index(polarization == "Ez")))
    return errors


def of_strip(work):
    """Our indices and mpb's, and the seconds of our run."""
    mpb = shutil.which("mpb")
    if not mpb:
        raise rowkit.NotMeasured("mpb is not installed (Debian package mpb; './bootstrap.sh bench' installs it)")
    ours = fdtd.run(work, case(work, "mode_strip", STRIP.replace("FREQUENCY", repr(fdtd.C0 / 1.55e-6 / 1e12))), "mode_strip", threads=2)
    table = ours.table("strip")
    control = fdtd.folder(work, "mode_strip.ctl")
    control.write_text(MPB)
    peer = work.run([mpb, control], cwd=control.parent).must_succeed("mpb")
    k = re.search(r"^kvals:,(.*)$", peer.out, re.M).group(1).split(",")[-2:]
    return [table["index_0_re"][0], table["index_1_re"][0]], [float(x) * 1.55 for x in k], ours.done.seconds


def measure(work):
    guide = of_guide(work)
    ours, mpb, seconds = of_strip(work)
    strip = max(fdtd.relative(a, b) for a, b in zip(ours, mpb, strict=True))
    te, tm = of_slab(work, "Ez"), of_slab(work, "Hz")
    orders = fdtd.order(te) + fdtd.order(tm)
    text = (f"guide {guide:.1e}; slab TE off by {te[0]:.1e}, {te[1]:.1e}, {te[2]:.1e}, TM by {tm[0]:.1e}, {tm[1]:.1e}, {tm[2]:.1e}: orders "
            f"{', '.join(f'{o:.2f}' for o in orders)}; strip {ours[0]:.4f}, {ours[1]:.4f} beside mpb's {mpb[0]:.4f}, {mpb[1]:.4f}: {strip:.2%}, in {seconds:.1f} s; {fdtd.where(work)}")
    return guide <= 1e-9 and min(orders) >= 1.9 and strip <= 0.005 and seconds <= 20, text
