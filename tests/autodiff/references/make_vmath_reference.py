# SPDX-License-Identifier: Apache-2.0
"""Writes vmath_reference.csv: arguments and 20-digit values of the functions of autodiff/src/kernels/vmath.h.

    python3 make_vmath_reference.py > vmath_reference.csv        (mpmath 1.2 or later; fixed seed)

Columns: function, bits of the format (64 or 32), arguments as hexadecimal floating point (exact), value. The
arguments of each function are extreme ones (next to 0, 1, the ends of the range) and random ones.
"""
import random
import struct

import mpmath as m
from mpmath import mpf

m.mp.dps = 60
random.seed(20240611)


def as_float(x):
    try:
        return struct.unpack("f", struct.pack("f", x))[0]
    except OverflowError:
        return None


def short_hex(x):
    mantissa, exponent = x.hex().split("p")
    return mantissa.rstrip("0").rstrip(".") + "p" + exponent if "." in mantissa else x.hex()


def uniform(a, b):
    return lambda bits: random.uniform(a, b)


def logarithmic(a, b, signed=False):
    """Random exponent between those of a and b (b limited by the format)."""
    def draw(bits):
        low, high = m.log(a), m.log(b)
        if bits == 32:
            low, high = max(low, m.log(mpf(2) ** -148)), min(high, m.log(mpf(2) ** 127))
        x = float(m.exp(low + (high - low) * random.random()))
        return -x if signed and random.random() < 0.5 else x
    return draw


ANY = logarithmic(mpf(2) ** -1073, mpf(2) ** 1023, True)
POSITIVE = logarithmic(mpf(2) ** -1073, mpf(2) ** 1023)
UNIT = logarithmic(mpf(2) ** -1073, 1, True)
EDGES = [2.0**-1074, 2.0**-1022, 2.0**-149, 2.0**-126, 2.0**-60, 2.0**-54, 2.0**-53, 2.0**-30, 2.0**-25,
         2.0**-12, 0.5, 1 - 2.0**-53, 1 - 2.0**-24, 1.0, 1 + 2.0**-52, 1 + 2.0**-23, 2.0]


def logistic(x):
    return 1 / (1 + m.exp(-x))


def softplus(x):
    return m.log1p(m.exp(x)) if x < 0 else x + m.log1p(m.exp(-x))


# name: (function, domain test, generators, extra arguments)
UNARY = {
    "exp": (m.exp, lambda x: abs(x) < 800, [uniform(-1, 1), uniform(-745, 709), uniform(-103, 88), ANY],
            [709.78, 88.72, -708.4, -745.1, -87.4, -103.2]),
    "exp2": (lambda x: mpf(2) ** x, lambda x: abs(x) < 1080,
             [uniform(-1, 1), uniform(-1074, 1023), uniform(-149, 127)], [1023.999, -1074.0, 127.99, -149.0, 10.0]),
    "expm1": (m.expm1, lambda x: abs(x) < 800, [uniform(-1, 1), uniform(-40, 709), uniform(-20, 88), ANY],
              [709.78, 88.72, -36.7, -37.5, -17.0]),
    "log": (m.log, lambda x: x > 0, [uniform(0, 3), uniform(0.7, 1.5), POSITIVE], []),
    "log1p": (m.log1p, lambda x: x > -1, [uniform(-1, 3), uniform(-0.01, 0.01), POSITIVE, UNIT],
              [-1 + 2.0**-53, -1 + 2.0**-24, -0.5]),
    "sin": (m.sin, lambda x: True, [uniform(-4, 4), uniform(-1e5, 1e5), ANY],
            [6381956970095103 * 2.0**797, 3.141592653589793, 1e22, 710, 2.0**30, 2.0**30 + 1, 65537.0]),
    "cos": (m.cos, lambda x: True, [uniform(-4, 4), uniform(-1e5, 1e5), ANY],
            [6381956970095103 * 2.0**797, 1.5707963267948966, 1e22, 710, 2.0**30, 2.0**30 + 1, 65537.0]),
    "tan": (m.tan, lambda x: True, [uniform(-4, 4), uniform(-1e5, 1e5), ANY],
            [6381956970095103 * 2.0**797, 1.5707963267948966, 1e22, 710, 2.0**30 + 1, 65537.0]),
    "tanh": (m.tanh, lambda x: True, [uniform(-1, 1), uniform(-20, 20), ANY], [19.0, 9.0, 0.34657, 0.34658]),
    "sinh": (m.sinh, lambda x: abs(x) < 711, [uniform(-1, 1), uniform(-710, 710), uniform(-89, 89), UNIT],
             [710.47, 89.41, 709.9]),
    "cosh": (m.cosh, lambda x: abs(x) < 711, [uniform(-1, 1), uniform(-710, 710), uniform(-89, 89)],
             [710.47, 89.41, 709.9]),
    "logistic": (logistic, lambda x: -746 < x, [uniform(-1, 1), uniform(-40, 40), uniform(-745, -88)],
                 [-708.5, -744.0, -103.0]),
    "softplus": (softplus, lambda x: -746 < x, [uniform(-1, 1), uniform(-40, 40), uniform(-745, -88)],
                 [-708.5, -744.0, -103.0, 1e300]),
}


def rows(name, bits, function, domain, generators, extra, count):
    values = [s * x for x in EDGES for s in (1, -1)] + list(extra) + [-x for x in extra]
    for generator in generators:
        values += [generator(bits) for _ in range(count)]
    seen = set()
    for x in values:
        x = float(x) if bits == 64 else as_float(x)
        if x is None or x == 0 or x in seen or not domain(mpf(x)):
            continue
        seen.add(x)
        y = function(mpf(x))
        largest = mpf(2) ** (1024 if bits == 64 else 128)
        if not m.isfinite(y) or abs(y) >= largest * (1 - mpf(2) ** (-54 if bits == 64 else -25)):
            continue
        yield f"{name},{bits},{short_hex(x)},{m.nstr(y, 20, strip_zeros=True)}"


def main():
    print("# function,bits,argument,value -- written by make_vmath_reference.py")
    for name, (function, domain, generators, extra) in UNARY.items():
        for bits, count in ((64, 14), (32, 8)):
            for row in rows(name, bits, function, domain, generators, extra, count):
                print(row)


if __name__ == "__main__":
    main()
