# SPDX-License-Identifier: Apache-2.0
"""Minimax polynomials of autodiff/src/kernels/vmath_*.h (weighted Remez exchange in 60 digits).

    python3 make_vmath_polynomials.py [name ...]     prints C++ coefficient lists, lowest order first

The error printed is the largest weighted one after the coefficients were rounded to the type, that is,
what the polynomial itself adds to the rounding errors of the evaluation.
"""
import sys

from mpmath import (asin, atan, cbrt, cos, digamma, erf, erfc, erfinv, euler, exp, expm1, findroot, log, loggamma,
                    lu_solve, matrix, mp, mpf, pi, sin, sqrt)

mp.dps = 60


def remez(f, weight, a, b, degree, points=None, rounds=12):
    """Coefficients p_0..p_degree that minimise max |weight (p - f)| on [a, b]."""
    n = degree + 2
    grid = [(a + b) / 2 - (b - a) / 2 * cos(pi * (i + mpf(1) / 2) / (60 * n)) for i in range(60 * n)]
    values = [(x, f(x), weight(x)) for x in grid]
    nodes = [values[60 * i + 30] for i in range(n)]
    coefficients = None
    for _ in range(rounds):
        system = matrix(n, n)
        rhs = matrix(n, 1)
        for i, (x, y, w) in enumerate(nodes):
            for j in range(degree + 1):
                system[i, j] = x**j
            system[i, degree + 1] = (-1) ** i / w
            rhs[i] = y
        solution = lu_solve(system, rhs)
        coefficients = [solution[j] for j in range(degree + 1)]
        errors = [w * (evaluate(coefficients, x) - y) for x, y, w in values]
        # one extremum for each run of equal sign; keep the n largest neighbours
        extrema = []
        for i, e in enumerate(errors):
            if extrema and (errors[extrema[-1]] > 0) == (e > 0):
                if abs(e) > abs(errors[extrema[-1]]):
                    extrema[-1] = i
            else:
                extrema.append(i)
        while len(extrema) > n:
            extrema.pop(0 if abs(errors[extrema[0]]) < abs(errors[extrema[-1]]) else -1)
        if len(extrema) < n:
            break
        nodes = [values[i] for i in extrema]
    return coefficients, values


def evaluate(coefficients, x):
    y = mpf(0)
    for c in reversed(coefficients):
        y = y * x + c
    return y


def rounded(value, bits):
    with_bits = mp.workprec(bits)
    with with_bits:
        return +value


def double_literal(value, bits):
    import struct
    v = float(value)
    if bits == 24:
        v = struct.unpack("f", struct.pack("f", v))[0]
        return v.hex().replace("0000000p", "p") + "f"
    return v.hex()


def show(name, f, weight, a, b, degree, bits):
    coefficients, values = remez(f, weight, mpf(a), mpf(b), degree)
    exact = [mpf(float.fromhex(double_literal(c, bits).rstrip("f"))) for c in coefficients]
    worst = max(abs(w * (evaluate(exact, x) - y)) for x, y, w in values)
    print(f"// {name}: degree {degree} on [{float(a):.6g}, {float(b):.6g}], error 2^{float(log(worst, 2)):.1f}")
    print("  " + ", ".join(double_literal(c, bits) for c in coefficients) + "\n")


def exp_rest(x):  # (exp(x) - 1 - x) / x^2
    if abs(x) < mpf(10) ** -8:
        return mpf(1) / 2 + x / 6 + x * x / 24
    return (expm1(x) - x) / (x * x)


def log_rest(z):  # log((1+s)/(1-s)) = 2 s + s R(s^2); z = s^2
    if z < mpf(10) ** -16:
        return mpf(2) / 3 + 2 * z / 5
    s = sqrt(z)
    return (log((1 + s) / (1 - s)) - 2 * s) / (s * z)


def sin_rest(z):  # (sin(x) - x) / x^3; z = x^2
    if z < mpf(10) ** -16:
        return -mpf(1) / 6 + z / 120
    x = sqrt(z)
    return (sin(x) - x) / (x * z)


def cos_rest(z):  # (cos(x) - 1 + x^2/2) / x^4; z = x^2
    if z < mpf(10) ** -16:
        return mpf(1) / 24 - z / 720
    x = sqrt(z)
    return (cos(x) - 1 + z / 2) / (z * z)


def odd_rest(function, third):
    """(function(x) - x) / x^3 in z = x^2; `third` is the value at 0."""
    def rest(z):
        if z < mpf(10) ** -16:
            return third
        x = sqrt(z)
        return (function(x) - x) / (x * z)
    return rest


def log_second_rest(z):  # (R(z) - 2/3) / z with R of log_rest
    return mpf(2) / 5 if z < mpf(10) ** -12 else (log_rest(z) - mpf(2) / 3) / z


def erf_over_x(z):  # erf(x) / x - 1
    if z < mpf(10) ** -16:
        return 2 / sqrt(pi) * (1 - z / 3) - 1
    x = sqrt(z)
    return erf(x) / x - 1


def scaled_erfc(t):  # (1 + 2 x) exp(x^2) erfc(x) - 1 in t = (x - 4) / (x + 4)
    x = 4 * (1 + t) / (1 - t)
    return (1 + 2 * x) * exp(x * x) * erfc(x) - 1


def erfinv_center(v):  # erfinv(y) / y in v = w - 2.5, w = -log(1 - y^2)
    w = v + mpf(5) / 2
    y = sqrt(-expm1(-w))
    return erfinv(y) / y if w > mpf(10) ** -20 else sqrt(pi) / 2


def erfinv_tail(v):  # erfinv(y) in v = sqrt(w) - 4
    w = (v + 4) ** 2
    return erfinv(sqrt(-expm1(-w)))


def loggamma_below(z):  # lgamma(1 - z) / z for z = 1 - x in [0, 0.5]
    return euler + z * pi * pi / 12 if z < mpf(10) ** -15 else loggamma(1 - z) / z


def loggamma_unit(v):  # lgamma(x) / ((x - 1)(x - 2)), v = x - 1.5
    x = v + mpf(3) / 2
    d = mpf(10) ** -25
    if abs(x - 1) < d or abs(x - 2) < d:
        x += 3 * d
    return loggamma(x) / ((x - 1) * (x - 2))


def loggamma_above(v):  # lgamma(x) / (x - 2), v = x - 2.5
    x = v + mpf(5) / 2
    if abs(x - 2) < mpf(10) ** -25:
        x += 3 * mpf(10) ** -25
    return loggamma(x) / (x - 2)


digamma_root = findroot(digamma, mpf("1.4616321449683623"))


def digamma_unit(v):  # psi(x) / (x - root), v = x - 1.5
    x = v + mpf(3) / 2
    if abs(x - digamma_root) < mpf(10) ** -25:
        x += 3 * mpf(10) ** -25
    return digamma(x) / (x - digamma_root)


tiny = mpf(10) ** -30
half_ln2 = log(mpf(2)) / 2 * mpf("1.0005")
log_z = ((sqrt(mpf(2)) - 1) / (sqrt(mpf(2)) + 1)) ** 2 * mpf("1.0005")
quarter_pi2 = (pi / 4) ** 2 * mpf("1.0005")
quarter_pi2_wide = (pi / 4) ** 2 * mpf("1.02")
tan2_eighth = (sqrt(mpf(2)) - 1) ** 2 * mpf("1.0005")
root_half = sqrt(mpf(1) / 2)
# What matters is the error relative to the function itself: weight = |factor of p in f| / |f|.
TABLE = {
    "exp_rest f64": (exp_rest, lambda x: abs(x) + tiny, -half_ln2, half_ln2, 10, 53),
    "exp_rest f32": (exp_rest, lambda x: abs(x) + tiny, -half_ln2, half_ln2, 5, 24),
    "log_rest f64": (log_rest, lambda z: z / 2 + tiny, 0, log_z, 6, 53),
    "log_rest f32": (log_rest, lambda z: z / 2 + tiny, 0, log_z, 3, 24),
    "log_second_rest": (log_second_rest, lambda z: z * z / 2 + tiny, 0, log_z, 7, 53),
    "sin_rest f64": (sin_rest, lambda z: z + tiny, 0, quarter_pi2, 5, 53),
    "cos_rest f64": (cos_rest, lambda z: z * z + tiny, 0, quarter_pi2, 5, 53),
    "sin_rest f32": (sin_rest, lambda z: z + tiny, 0, quarter_pi2_wide, 3, 24),
    "cos_rest f32": (cos_rest, lambda z: z * z + tiny, 0, quarter_pi2_wide, 2, 24),
    "atan_rest": (odd_rest(atan, -mpf(1) / 3), lambda z: z + tiny, 0, tan2_eighth, 10, 53),
    "asin_rest": (odd_rest(asin, mpf(1) / 6), lambda z: z + tiny, 0, mpf(1) / 4, 11, 53),
    "inverse_cbrt": (lambda m: 1 / cbrt(m), lambda m: cbrt(m), root_half, 1 / root_half, 5, 53),
    "erf_small": (erf_over_x, lambda z: 1, 0, mpf("0.65") ** 2, 10, 53),
    "erfc_scaled": (scaled_erfc, lambda t: 1 / (1 + scaled_erfc(t)), -mpf("0.75"), mpf("0.75"), 22, 53),
    "erfinv_center": (erfinv_center, lambda v: 1, -mpf(5) / 2, mpf(5) / 2, 9, 53),
    "erfinv_tail": (erfinv_tail, lambda v: 1 / erfinv_tail(v), sqrt(mpf(5)) - 4, mpf("6.1") - 4, 8, 53),
    "lgamma_below": (loggamma_below, lambda z: 1 / loggamma_below(z), 0, mpf(1) / 2, 22, 53),
    "lgamma_unit": (loggamma_unit, lambda v: 1 / loggamma_unit(v), -mpf(1) / 2, mpf(1) / 2, 21, 53),
    "lgamma_above": (loggamma_above, lambda v: 1 / loggamma_above(v), -mpf(1) / 2, mpf(1) / 2, 16, 53),
    "digamma_unit": (digamma_unit, lambda v: 1 / digamma_unit(v), -mpf(1) / 2, mpf(1) / 2, 21, 53),
}

if __name__ == "__main__":
    for key in sys.argv[1:] or TABLE:
        show(key, *TABLE[key])
