# SPDX-License-Identifier: Apache-2.0
"""Writes special_reference.csv: splines by SciPy, spherical harmonics by mpmath.

    python3 make_special_reference.py > special_reference.csv        (SciPy 1.11, mpmath 1.2 or later)

Lines are a name, integers, then numbers (hexadecimal floating point):
    knots,n,...        values,n,...        queries,n,...
    spline,ends,order,...       the derivative of that order at the queries (order -1: the integral from the first knot);
                                ends 0 not-a-knot, 1 natural, 2 clamped with slopes 0.3 and -0.7
    linear,0,0,...              linear interpolation, held outside
    harmonic,l,m,x,y,z,re,im    complex harmonics with the sign of Condon and Shortley
"""
import mpmath as mp
import numpy as np
from scipy.interpolate import CubicSpline

mp.mp.dps = 40


def line(name, *cells):
    print(",".join([name] + [str(c) if isinstance(c, int) else float(c).hex() for c in cells]))


rng = np.random.default_rng(5)
knots = np.cumsum(rng.uniform(0.2, 1.5, 9)) - 2
values = np.sin(2 * knots) + rng.uniform(-0.3, 0.3, 9)
queries = np.concatenate([rng.uniform(knots[0], knots[-1], 12), [knots[0] - 0.4, knots[-1] + 0.3]])
line("knots", len(knots), *knots)
line("values", len(values), *values)
line("queries", len(queries), *queries)
for number, ends in enumerate(["not-a-knot", "natural", ((1, 0.3), (1, -0.7))]):
    s = CubicSpline(knots, values, bc_type=ends)
    for order in (0, 1, 2, 3):
        line("spline", number, order, *s(queries, order))
    line("spline", number, -1, *[s.integrate(knots[0], q) for q in queries])
line("linear", 0, 0, *np.interp(queries, knots, values))


def harmonic(l, m, x, y, z):
    """From Rodrigues' formula in 40 digits: P_l^m / sin^m is the m-th derivative of P_l, by its sum over powers."""
    r = mp.sqrt(x * x + y * y + z * z)
    x, y, z = x / r, y / r, z / r
    k = abs(m)
    with mp.workdps(80):
        total = mp.mpf(0)
        for j in range((l - k) // 2 + 1):
            total += (-1) ** j * mp.binomial(l, j) * mp.binomial(2 * l - 2 * j, l) * mp.ff(l - 2 * j, k) * z ** (l - 2 * j - k)
        total /= mp.mpf(2) ** l
        norm = mp.sqrt(mp.mpf(2 * l + 1) / (4 * mp.pi) * mp.factorial(l - k) / mp.factorial(l + k))
        value = (-1) ** k * norm * total * (x + 1j * y) ** k
    return value if m >= 0 else (-1) ** k * mp.conj(value)


directions = [(0.0, 0.0, 1.0), (0.0, 0.0, -1.0), (1e-9, 0.0, 1.0), (0.3, -0.4, 1.2), (-2.0, 0.5, -0.1), (0.6, 0.8, 0.0), (1e-3, 2e-3, -1.0)]
for d in directions:
    for l, orders in [(0, [0]), (1, [-1, 0, 1]), (2, [-2, -1, 0, 1, 2]), (7, [-7, -3, 0, 4]), (20, [0, 1, -11, 20]), (50, [0, 1, 2, -25, 49, 50])]:
        for m in orders:
            v = harmonic(l, m, *[mp.mpf(c) for c in d])
            line("harmonic", l, m, *d, v.real, v.imag)
