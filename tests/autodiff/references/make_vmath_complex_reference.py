# SPDX-License-Identifier: Apache-2.0
"""Writes vmath_complex_reference.csv: arguments and 20-digit values of the complex functions of vmath_complex.h.

    python3 make_vmath_complex_reference.py > vmath_complex_reference.csv        (mpmath; fixed seed)

Columns: function, re z, im z (hexadecimal floating point, exact), re f(z), im f(z).
"""
import random

import mpmath as m
from make_vmath_reference import representable, short_hex
from mpmath import mpc

m.mp.dps = 400  # cancellation at tiny arguments
random.seed(20240612)


def part():
    kind = random.randrange(6)
    t = random.uniform(-1, 1)
    if kind == 0:
        return t * 2.0 ** -random.randrange(60)
    if kind == 1:
        return 1 + t * 2.0 ** -random.randrange(50)
    return 4 * t


def anywhere():
    return random.uniform(-1, 1) * 2.0 ** random.randrange(-900, 900)


EVERYWHERE = [(1.0, 1e-200), (1.0, 1e-30), (-1.0, 1e-30), (1e-300, 1e-300), (1e-310, 3e-310), (1e300, -1e300),
              (1.7e308, 1.7e308), (1e-200, 1.0), (0.6, 0.8), (-1e-300, 1e300), (1e300, 1e-300)]
MODERATE = [(709.5, 1.0), (-709.5, 1.0), (710.5, 0.1), (1.0, 1e5), (1e-300, 2.0), (20.5, 1.0), (19.5, 1.0),
            (0.1, 300.0), (-300.0, 1.5)]
TURNED = [(y, x) for x, y in MODERATE]
FUNCTIONS = {
    "sqrt": (m.sqrt, EVERYWHERE, True), "log": (m.log, EVERYWHERE, True),
    "exp": (m.exp, MODERATE, False), "sinh": (m.sinh, MODERATE, False), "cosh": (m.cosh, MODERATE, False),
    "tanh": (m.tanh, MODERATE, False), "sin": (m.sin, TURNED, False), "cos": (m.cos, TURNED, False),
    "tan": (m.tan, TURNED, False), "asin": (m.asin, EVERYWHERE, True), "acos": (m.acos, EVERYWHERE, True),
    "atan": (m.atan, EVERYWHERE, True), "asinh": (m.asinh, EVERYWHERE, True), "acosh": (m.acosh, EVERYWHERE, True),
    "atanh": (m.atanh, EVERYWHERE, True),
}


def main():
    print("# function,re,im,value re,value im -- written by make_vmath_complex_reference.py")
    for name, (function, extra, wild) in FUNCTIONS.items():
        points = list(extra) + [(part(), part()) for _ in range(30)]
        if wild:
            points += [(anywhere(), anywhere()) for _ in range(8)]
        for x, y in points:
            value = function(mpc(x, y))
            if representable(value.real, 64) and representable(value.imag, 64):
                print(f"{name},{short_hex(x)},{short_hex(y)},{m.nstr(value.real, 20)},{m.nstr(value.imag, 20)}")


if __name__ == "__main__":
    main()
