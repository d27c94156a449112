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
    "asin": (m.asin, lambda x: abs(x) <= 1, [uniform(-1, 1), UNIT], []),
    "acos": (m.acos, lambda x: abs(x) <= 1, [uniform(-1, 1), UNIT], []),
    "atan": (m.atan, lambda x: True, [uniform(-1, 1), uniform(-4, 4), ANY], [2.41421, 2.41422, 0.41421, 0.41422]),
    "asinh": (m.asinh, lambda x: True, [uniform(-1, 1), uniform(-1000, 1000), ANY], [2.0**100, 2.0**101]),
    "acosh": (m.acosh, lambda x: x >= 1, [uniform(1, 1.01), uniform(1, 1000), POSITIVE], [2.0**100, 2.0**101]),
    "atanh": (m.atanh, lambda x: abs(x) < 1, [uniform(-1, 1), UNIT], []),
    "cbrt": (lambda x: m.sign(x) * m.cbrt(abs(x)), lambda x: True, [uniform(-4, 4), ANY], [27.0, -64.0, 1e300]),
    "rsqrt": (lambda x: 1 / m.sqrt(x), lambda x: x > 0, [uniform(0, 4), POSITIVE], []),
    "erf": (m.erf, lambda x: True, [uniform(-1, 1), uniform(-6, 6), UNIT], [0.649, 0.651, 5.9]),
    "erfc": (m.erfc, lambda x: x < 27.3, [uniform(-1, 1), uniform(-6, 6), uniform(2, 27)], [0.649, 0.651, 26.5, 27.2]),
    "erfinv": (lambda x: plain_erfinv(x), lambda x: abs(x) < 1, [uniform(-1, 1), uniform(0.999, 1), UNIT], [0.4999, 0.99326, 0.9933]),
    "lgamma": (m.loggamma, lambda x: x > 0, [uniform(0, 3), uniform(3, 12), POSITIVE], [2.5e305, 3.0, 1.9999, 2.0001]),
    "digamma": (m.digamma, lambda x: x > 0, [uniform(0, 3), uniform(1.4, 1.5), uniform(3, 12), POSITIVE],
                [1.4616321449683623, 10.0]),
    "trigamma": (lambda x: m.polygamma(1, x), lambda x: x > mpf(2) ** -500 and x < mpf(2) ** 60,
                 [uniform(0, 3), uniform(3, 30), logarithmic(1e-30, 1e15)], []),
}


def plain_erfinv(y):
    """Newton's method on erf: mpmath's own loses digits next to 1."""
    with m.workdps(80):
        x = m.erfinv(mpf(float(y))) if abs(y) < 0.9 else m.sign(y) * m.sqrt(-m.log(1 - abs(y)))
        for _ in range(60):
            step = (m.erf(x) - y) * m.sqrt(m.pi) / 2 * m.exp(x * x)
            step /= 1 + x * step
            x -= step
            if abs(step) < abs(x) * mpf(10) ** -50:
                break
        return x


def pow_arguments():
    pairs = [(2.0, 0.5), (2.0, -1073.5), (0.999, 1e5), (1 + 2.0**-52, 2.0**52), (1 - 2.0**-53, 2.0**55), (10.0, 308.0),
             (-3.0, 3.0), (-2.5, 4.0), (1e-300, 1.05), (5e-324, 0.25), (1e300, -1.06), (-1.5, 2.0**31 + 1)]
    pairs += [(random.uniform(0, 3), random.uniform(-40, 40)) for _ in range(20)]
    pairs += [(random.uniform(0.9, 1.1), random.uniform(-6000, 6000)) for _ in range(20)]
    pairs += [(POSITIVE(64), random.uniform(-1, 1)) for _ in range(20)]
    return pairs


def atan2_arguments():
    values = [2.0**-1074, 1e-300, 1e-8, 0.4, 0.42, 1.0, 2.4, 2.5, 1e8, 1e300, 1.7e308]
    pairs = [(y * s, x * t) for y in values for x in values for s, t in ((1, 1), (-1, -1))]
    return pairs + [(random.uniform(-3, 3), random.uniform(-3, 3)) for _ in range(30)]


def polygamma_arguments():
    return [(float(n), x) for n in (1, 2, 3, 5, 10, 40) for x in
            [1e-6, 0.3, 1.0, 2.5, 9.9, 10.1, 47.0, 1000.0, -0.3, -1.7, -20.25, random.uniform(0, 5)]]


BINARY = {
    "pow": (lambda x, y: m.re(m.power(x, y)), pow_arguments),
    "atan2": (m.atan2, atan2_arguments),
    "polygamma": (lambda n, x: m.re(m.polygamma(int(n), x)), polygamma_arguments),
}


def representable(y, bits):
    """Finite, and rounded to a finite value of the format."""
    largest = mpf(2) ** (1024 if bits == 64 else 128)
    return m.isfinite(y) and abs(y) < largest * (1 - mpf(2) ** (-54 if bits == 64 else -25))


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
        if not representable(y, bits):
            continue
        yield f"{name},{bits},{short_hex(x)},{m.nstr(y, 20, strip_zeros=True)}"


def main():
    print("# function,bits,argument,value -- written by make_vmath_reference.py")
    for name, (function, domain, generators, extra) in UNARY.items():
        for bits, count in ((64, 11), (32, 6)):
            for row in rows(name, bits, function, domain, generators, extra, count):
                print(row)
    for name, (function, arguments) in BINARY.items():
        for x, y in arguments():
            for bits in (64, 32):
                a, b = (x, y) if bits == 64 else (as_float(x), as_float(y))
                if a is None or b is None or not m.isfinite(a * b) or a == 0 or b == 0:
                    continue
                value = function(mpf(a), mpf(b))
                if representable(value, bits):
                    print(f"{name},{bits},{short_hex(a)},{short_hex(b)},{m.nstr(value, 20)}")


if __name__ == "__main__":
    main()
