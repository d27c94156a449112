# SPDX-License-Identifier: Apache-2.0
import cmath
import math

import fdtd

WHAT = "absorption and scattering of a metal sphere with losses, radius 60 nm, at 125, 250 and 500 cells in a um, cells of its surface not averaged"
BAR = "RMS over 9 frequencies of the errors of Q_abs and Q_sca below 8 % at 500, falling at first order or faster"

RADIUS = 0.06  # um
FREQUENCIES = (1, 1.25, 1.5, 1.7, 1.9, 2.05, 2.2, 2.35, 2.5)  # c/um


def permittivity(f):
    """eps 5 with a Drude term at 7.2 c/um (damping 0.06) and a Lorentz term of strength 1 at 2.2 (0.5); e^{+i w t}."""
    return 5 - 7.2**2 / (f * f - 0.06j * f) + 2.2**2 / (2.2**2 - f * f + 0.5j * f)


def mie(f):
    """Q_sca and Q_abs: C. F. Bohren, D. R. Huffman, Absorption and Scattering of Light by Small Particles, section 4.8."""
    m, x = cmath.sqrt(permittivity(f)).conjugate(), 2 * math.pi * f * RADIUS  # e^{-i w t} there
    if m.imag < 0:
        m = -m
    last = int(x + 4 * x ** (1 / 3) + 10)
    down = [0j] * (int(abs(m * x)) + last + 17)
    for n in range(len(down) - 1, 0, -1):
        down[n - 1] = n / (m * x) - 1 / (down[n] + n / (m * x))
    before, now = (math.cos(x), -math.sin(x)), (math.sin(x), math.cos(x))  # psi, chi
    scattered = lost = 0
    for n in range(1, last + 1):
        psi, chi = ((2 * n - 1) * now[k] / x - before[k] for k in range(2))
        xi, xi_now = psi - 1j * chi, now[0] - 1j * now[1]
        electric, magnetic = down[n] / m + n / x, down[n] * m + n / x
        a = (electric * psi - now[0]) / (electric * xi - xi_now)
        b = (magnetic * psi - now[0]) / (magnetic * xi - xi_now)
        scattered += (2 * n + 1) * (abs(a) ** 2 + abs(b) ** 2)
        lost += (2 * n + 1) * (a + b).real
        before, now = now, (psi, chi)
    return 2 / x**2 * scattered, 2 / x**2 * (lost - scattered)


def case(cells):
    h = 1000 / cells  # nm
    layer, inner, wave, outer = 12 * h, 96, 128, 160
    size = outer + 64 + layer
    size = math.ceil(size / h) * h
    thz = ", ".join(f'"{f * fdtd.C0 * 1e-6} THz"' for f in FREQUENCIES)

    def box(half):
        return f'position = ["0 nm", "{half / 2} nm", "{half / 2} nm"]\nsize = ["{2 * half} nm", "{half} nm", "{half} nm"]'

    return f"""app = "electromagnetics.fdtd"
grid = {{centre = ["0 nm", "{size / 2} nm", "{size / 2} nm"], size = ["{2 * size} nm", "{size} nm", "{size} nm"], cell = "{h} nm", averaging = "none"}}
run.stop = {{decay_db = 60, time = "200 fs"}}
boundary = {{y_low = "pmc", z_low = "pec", symmetry = ["y_low", "z_low"], pml.cells = 12}}
output = {{pictures = false, scene = false}}
[[material]]
name = "metal"
eps = 5
poles = [{{kind = "drude", frequency = "2158.5056976 THz", damping = "17.98754748 THz"}}, {{kind = "lorentz", frequency = "659.5434076 THz", damping = "149.896229 THz", delta_eps = 1.0}}]
[[structure]]
shape = "sphere"
radius = "60 nm"
material = "metal"
[[source]]
kind = "plane_wave"
direction = [1, 0, 0]
polarization = [0, 0, 1]
{box(wave)}
waveform = {{kind = "gaussian", frequency_min = "210 THz", frequency_max = "780 THz"}}
[[monitor]]
kind = "flux"
name = "absorbed"
{box(inner)}
frequencies = [{thz}]
[[monitor]]
kind = "flux"
name = "scattered"
{box(outer)}
frequencies = [{thz}]
[[monitor]]
kind = "rcs"
name = "echo"
{box(outer)}
frequencies = [{thz}]
theta = ["90 deg"]
phi = ["180 deg"]
"""


def measure(work):
    area = math.pi * (RADIUS * fdtd.UM) ** 2
    absorbed, scattered = [], []
    for cells in (125, 250, 500):
        path = fdtd.folder(work, f"lossy_sphere_{cells}.toml")
        path.write_text(case(cells))
        run = fdtd.run(work, path, f"lossy_sphere_{cells}", threads=2)
        total, out, into = run.table("echo")["total"], run.table("scattered")["flux"], run.table("absorbed")["flux"]
        errors = []
        for f, t, o, i in zip(FREQUENCIES, total, out, into, strict=True):
            q_sca, q_abs = mie(f)
            errors.append((t / area / q_sca - 1, -i / o * t / area / q_abs - 1))
        scattered.append(fdtd.rms([e[0] for e in errors]))
        absorbed.append(fdtd.rms([e[1] for e in errors]))
    orders = fdtd.order(absorbed) + fdtd.order(scattered)
    told = "; ".join(f"{name} {', '.join(f'{100 * e:.1f}' for e in errors)} %" for name, errors in (("Q_abs", absorbed), ("Q_sca", scattered)))
    kept = absorbed[2] <= 0.08 and scattered[2] <= 0.08 and min(orders) >= 1
    return kept, f"{told}; orders {', '.join(f'{o:.2f}' for o in orders)}\n{fdtd.where(work)}"
