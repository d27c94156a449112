# SPDX-License-Identifier: Apache-2.0
"""Minimax polynomials of autodiff/src/kernels/vmath_*.h (weighted Remez exchange in 60 digits).

    python3 make_vmath_polynomials.py [name ...]     prints C++ coefficient lists, lowest order first

The error printed is the largest weighted one after the coefficients were rounded to the type, that is,
what the polynomial itself adds to the rounding errors of the evaluation.
"""
import sys

from mpmath import atan, asin, cos, exp, expm1, inf, log, log1p, lu_solve, matrix, mp, mpf, pi, sin, sqrt

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


def series_safe(f, limit, small):
    """f away from zero, its series value `small` near zero where f cancels."""
    return lambda x: small(x) if abs(x) < limit else f(x)


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


def atan_rest(z):  # (atan(x) - x) / x^3
    if z < mpf(10) ** -16:
        return -mpf(1) / 3 + z / 5
    x = sqrt(z)
    return (atan(x) - x) / (x * z)


def asin_rest(z):  # (asin(x) - x) / x^3
    if z < mpf(10) ** -16:
        return mpf(1) / 6 + 3 * z / 40
    x = sqrt(z)
    return (asin(x) - x) / (x * z)


half_ln2 = log(mpf(2)) / 2 * mpf("1.0005")
log_z = ((sqrt(mpf(2)) - 1) / (sqrt(mpf(2)) + 1)) ** 2 * mpf("1.0005")
quarter_pi2 = (pi / 4) ** 2 * mpf("1.0005")
# What matters is the error relative to the function itself: weight = |factor of p in f| / |f|.
TABLE = {
    "exp_f64": (exp_rest, lambda x: x * x / exp(x), -half_ln2, half_ln2, 9, 53),
    "expm1_f64": (exp_rest, lambda x: abs(x) + mpf(10) ** -30, -half_ln2, half_ln2, 10, 53),
    "exp_f32": (exp_rest, lambda x: x * x / exp(x), -half_ln2, half_ln2, 4, 24),
    "expm1_f32": (exp_rest, lambda x: abs(x) + mpf(10) ** -30, -half_ln2, half_ln2, 4, 24),
    "log_f64": (log_rest, lambda z: z / 2 + mpf(10) ** -30, 0, log_z, 6, 53),
    "log_f32": (log_rest, lambda z: z / 2 + mpf(10) ** -30, 0, log_z, 3, 24),
    "sin_f64": (sin_rest, lambda z: z + mpf(10) ** -30, 0, quarter_pi2, 5, 53),
    "cos_f64": (cos_rest, lambda z: z * z + mpf(10) ** -30, 0, quarter_pi2, 5, 53),
    "sin_f32": (sin_rest, lambda z: z + mpf(10) ** -30, 0, quarter_pi2, 2, 24),
    "cos_f32": (cos_rest, lambda z: z * z + mpf(10) ** -30, 0, quarter_pi2, 2, 24),
}

if __name__ == "__main__":
    for key in sys.argv[1:] or TABLE:
        show(key, *TABLE[key])
