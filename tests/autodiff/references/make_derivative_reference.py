# SPDX-License-Identifier: Apache-2.0
"""Writes derivative_reference.csv: values and first three derivatives of the element-wise primitives.

    python3 make_derivative_reference.py > derivative_reference.csv        (mpmath 1.2 or later; half an hour,
nearly all of it for Bessel functions)

Columns: function, r or c (real or complex), parameter (0 where there is none), re x, im x (hexadecimal floating point,
exact), then for k = 0 ... 3 the k-th derivative's re, im and the condition |x g'/g| of g = the k-th derivative.

Derivatives are central differences with a step h = 1e-30 min(|x|, 1) in enough digits: error O(h^2).
"""
import mpmath as m


def differences(f, x, step, digits):
    with m.workdps(digits):
        a, b, c, d, e = (f(x + k * step) for k in (-2, -1, 0, 1, 2))
        return [c, (d - b) / (2 * step), (d - 2 * c + b) / step**2, (e - 2 * d + 2 * b - a) / (2 * step**3),
                (e - 4 * d + 6 * c - 4 * b + a) / step**4]


def derivatives(f, x):
    """Digits are doubled until nothing changes: a saturated function (tanh 300) has its slope in the last ones."""
    size = abs(x)
    step = m.mpf(10) ** -30 * (min(size, 1) if size else 1)
    digits = 80 + int(5 * -m.log10(step)) + int(max(0, m.log10(size) if size else 0))
    before = differences(f, x, step, digits)
    while digits < 20000:
        digits *= 2
        now = differences(f, x, step, digits)
        with m.workdps(40):
            if all(abs(a - b) <= m.mpf(10) ** -22 * abs(b) or abs(b) < m.mpf(10) ** -400 for a, b in zip(before, now)):
                return now
        before = now
    raise ArithmeticError("no convergence at %s" % x)


def number(v):
    v = m.mpf(v)
    if v == 0 or abs(v) < m.mpf(2) ** -1080:
        return "0"
    return m.nstr(v, 19) if abs(v) < m.mpf(2) ** 1024 else "inf" if v > 0 else "-inf"


def row(name, kind, parameter, f, x):
    g = derivatives(f, x)
    cells = [name, kind, "%.17g" % parameter, float(m.re(x)).hex(), float(m.im(x)).hex()]
    for k in range(4):
        with m.workdps(40):
            size = abs(g[k])
            cond = abs(x * g[k + 1] / g[k]) if size > m.mpf(10) ** -1200 else m.mpf(0)
            cells += [number(m.re(g[k])), number(m.im(g[k])), m.nstr(cond, 3)]
    print(",".join(cells))


def real(name, f, points, parameters=(0,)):
    for p in parameters:
        for x in points:
            row(name, "r", p, (lambda t: f(m.mpf(p), t)) if len(parameters) > 1 or p else f, m.mpf(float(x)))


def complex_(name, f, points, parameters=(0,)):
    for p in parameters:
        for x in points:
            row(name, "c", p, (lambda t: f(m.mpf(p), t)) if len(parameters) > 1 or p else f, m.mpc(complex(x)))


TINY = [1e-100, -1e-100, 1e-20, -1e-9, 1e-5]
MIDDLE = [0.1, -0.3, 0.7, -1.0, 1.5, -2.5, 4.0]
POSITIVE = [1e-100, 1e-20, 1e-5, 0.3, 0.99, 1.0, 1.7, 10.0, 1e5, 1e20, 1e100]
UNIT = TINY + [0.1, -0.3, 0.5, -0.7, 0.9, -0.99, 0.999999, 1 - 2.0**-30, -1 + 2.0**-53]
BROAD = TINY + MIDDLE + [8.0, -15.0, 19.0, -22.0, 40.0, -100.0, 300.0]


def logistic(x):
    return 1 / (1 + m.exp(-x))


def polygamma(n, x):
    return m.polygamma(int(n), x)


def log_gamma(x):
    return m.re(m.loggamma(x))


real("sqrt", m.sqrt, POSITIVE)
real("rsqrt", lambda x: 1 / m.sqrt(x), POSITIVE)
real("cbrt", lambda x: m.sign(x) * m.cbrt(abs(x)), POSITIVE + [-2.0, -1e-20, -1e20])
real("exp", m.exp, BROAD + [700.0, -700.0, -740.0])
real("expm1", m.expm1, BROAD + [700.0, -700.0])
real("log", m.log, POSITIVE)
real("log1p", m.log1p, TINY + [0.1, -0.3, 0.7, -0.9, 1.5, 10.0, 1e5, 1e20, 1e100, -0.999999, -1 + 2.0**-53])
real("sin", m.sin, BROAD + [1e5, 1e22, 3.141592653589793])
real("cos", m.cos, BROAD + [1e5, 1e22, 1.5707963267948966])
real("tan", m.tan, TINY + MIDDLE + [1.5707, 3.1416, 1e5])
real("asin", m.asin, UNIT)
real("acos", m.acos, UNIT)
real("atan", m.atan, BROAD + [1e5, -1e20, 1e100])
real("sinh", m.sinh, BROAD + [700.0, -700.0])
real("cosh", m.cosh, BROAD + [700.0, -700.0])
real("tanh", m.tanh, BROAD + [350.0, -360.0])
real("sech2", lambda x: m.sech(x) ** 2, BROAD + [350.0, -360.0])
real("asinh", m.asinh, BROAD + [1e5, -1e20, 1e100])
real("acosh", m.acosh, [1 + 2.0**-52, 1 + 2.0**-30, 1.000001, 1.01, 1.2, 1.5, 2.0, 10.0, 1e5, 1e20, 1e100])
real("atanh", m.atanh, UNIT)
real("logistic", logistic, BROAD + [700.0, -700.0, 36.0, -36.0])
real("softplus", lambda x: m.log1p(m.exp(x)), BROAD + [700.0, -700.0, 36.0, -36.0])
real("erf", m.erf, TINY + MIDDLE + [6.0, -10.0, 20.0, -26.0])
real("erfc", m.erfc, TINY + MIDDLE + [6.0, -10.0, 20.0, 26.0])
real("erfinv", m.erfinv, TINY + [0.1, -0.3, 0.5, -0.7, 0.9, -0.99, 0.999999, 1 - 2.0**-30])
real("lgamma", log_gamma, [1e-100, 1e-20, 1e-5, 0.1, 0.5, 0.99, 1.3, 1.9, 2.1, 3.7, 10.0, 30.0, 1e5, 1e20, 1e100, -0.3, -1.5, -7.2])
real("digamma", m.digamma, [1e-50, 1e-5, 0.1, 0.5, 1.3, 1.9, 3.7, 10.0, 30.0, 1e5, 1e20, 1e70, -0.3, -1.4, -7.2])
real("polygamma", polygamma, [1e-40, 1e-5, 0.1, 0.5, 1.3, 3.7, 10.0, 30.0, 1e5, 1e20, -0.3, -1.4, -7.2], (1, 2, 5))
real("abs", abs, [1e-100, -0.3, 5.0, -1e100])
real("neg", lambda x: -x, [1e-100, -0.3])
real("pow_int", lambda n, x: x ** int(n), [1e-60, -1e-5, 0.3, -1.7, 10.0, 1e60], (-2, 1, 3, 5))
real("pow_of_x", lambda y, x: x**y, [1e-60, 1e-5, 0.3, 0.99, 1.7, 10.0, 1e60], (-1.5, 0.3, 2, 3.7))
real("pow_of_y", lambda x, y: x**y, [1e-20, -0.3, 1.0, 2.7, 30.0, -60.0], (1e-5, 0.3, 0.99, 1.7, 1e5))
real("atan2_of_y", lambda x, y: m.atan2(y, x), [1e-100, -1e-5, 0.3, -1.7, 1e5, 1e100], (1e-50, 0.5, -2, 1e50))
real("atan2_of_x", lambda y, x: m.atan2(y, x), [1e-100, -1e-5, 0.3, -1.7, 1e5, 1e100], (1e-50, 0.5, -2, 1e50))
real("hypot", lambda y, x: m.hypot(x, y), [1e-100, -1e-5, 0.3, -1.7, 1e5, 1e100], (1e-50, 0.5, -2, 1e50))
real("div_of_x", lambda y, x: x / y, [1e-100, -0.3, 1e100], (3, 1e-50))
real("div_of_y", lambda x, y: x / y, [1e-50, -0.3, 1e50], (3, 1e-50))

ROUND = [0.3 + 0.4j, -0.8 + 0.1j, -1.3 - 0.7j, 2.0 - 1.5j, 1e-5 + 1e-5j, 1e-30 - 2e-30j, 5.0 + 3.0j, -4.0 + 6.0j]
FAR = [1e5 + 2e5j, -3e10 + 1e10j, 1e-3 - 1e8j]
for name, f, points in [
        ("sqrt", m.sqrt, ROUND + FAR), ("rsqrt", lambda z: 1 / m.sqrt(z), ROUND + FAR), ("log", m.log, ROUND + FAR),
        ("exp", m.exp, ROUND + [300 + 1j, -300 - 2j]), ("expm1", m.expm1, ROUND + [300 + 1j, -300 - 2j]),
        ("log1p", lambda z: m.log(1 + z), ROUND + FAR), ("sin", m.sin, ROUND + [1 + 300j]),
        ("cos", m.cos, ROUND + [1 + 300j]), ("tan", m.tan, ROUND + [1 + 15j, -2 - 300j]), ("asin", m.asin, ROUND + FAR),
        ("acos", m.acos, ROUND + FAR), ("atan", m.atan, ROUND + FAR), ("sinh", m.sinh, ROUND + [300 + 1j]),
        ("cosh", m.cosh, ROUND + [300 + 1j]), ("tanh", m.tanh, ROUND + [15 + 1j, -300 - 2j]), ("asinh", m.asinh, ROUND + FAR),
        ("acosh", m.acosh, ROUND + FAR), ("atanh", m.atanh, ROUND + FAR),
        ("sech2", lambda z: m.sech(z) ** 2, ROUND + [15 + 1j, -300 - 2j]),
        ("logistic", logistic, ROUND + [40 + 1j, -40 + 1j, -700 - 1j])]:
    complex_(name, f, points)
complex_("pow_of_x", lambda y, x: x**y, ROUND, (-1.5, 0.3, 2.7))
complex_("pow_of_y", lambda x, y: x**y, ROUND, (0.3, 2.7))
complex_("pow_int", lambda n, x: x ** int(n), ROUND, (-2, 3))

ORDERS = (0, 0.5, 1, 2.3, 10, -1.5)


def hankel(sign):  # through K in the half plane where J + i Y cancels
    def f(v, z):
        if (m.im(z) >= 0) == (sign > 0):
            return sign * 2 / (m.pi * 1j) * m.expjpi(-sign * v / 2) * m.besselk(v, -sign * 1j * z)
        return m.besselj(v, z) + sign * 1j * m.bessely(v, z)
    return f


def wide(f):  # mpmath's real Bessel functions lose digits where the value is small
    return lambda v, x: m.re(f(v, m.mpc(x)))


AXIS = [1e-6, 0.1, 1.0, 1.9, 2.1, 7.5, 24.0, 26.0, 300.0]
PLANE = [0.1 + 0.2j, -0.7 + 1.0j, 1.9 - 0.5j, 3.0 + 4.0j, -8.0 - 6.0j, 0.01 + 20j, 30.0 - 20.0j, -40.0 + 2.0j]
for name, f in [("bessel_j", m.besselj), ("bessel_y", m.bessely), ("bessel_i", m.besseli), ("bessel_k", m.besselk)]:
    real(name, wide(f), AXIS, ORDERS)
    complex_(name, f, PLANE, ORDERS)
complex_("hankel1", hankel(1), PLANE, ORDERS)
complex_("hankel2", hankel(-1), PLANE, ORDERS)
