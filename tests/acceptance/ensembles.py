# SPDX-License-Identifier: Apache-2.0
"""Tests of ensembles for the acceptance rows (Shirts, J. Chem. Theory Comput. 9 (2013) 909; Merz & Shirts, PLoS ONE 13 (2018) e0202764).

Kinetic energies against their gamma distribution by Kolmogorov and Smirnov; pairs of runs by the slope of ln P_b(x)/P_a(x), by
maximum likelihood. Both on samples thinned by the statistical inefficiency."""
import math

R = 0.00831446261815324  # kJ/mol/K
BAR = 1 / 16.6053906717385  # kJ/mol/nm^3


def inefficiency(series):
    """1 + 2 sum_t (1 - t/n) C(t) up to the first C below zero."""
    n = len(series)
    mean = sum(series) / n
    d = [x - mean for x in series]
    variance = sum(x * x for x in d)
    if variance <= 1e-28 * n * mean * mean:
        return 1.0
    g = 1.0
    for t in range(1, n - 1):
        c = sum(map(float.__mul__, d[:-t], d[t:])) * n / ((n - t) * variance)
        if c <= 0:
            break
        g += 2 * (1 - t / n) * c
    return max(g, 1.0)


def mean(series):
    """Mean and its standard error by the statistical inefficiency."""
    m = sum(series) / len(series)
    variance = sum((x - m) ** 2 for x in series) / (len(series) - 1)
    return m, math.sqrt(variance * inefficiency(series) / len(series))


def independent(series, other=None):
    """Every g-th sample, g the larger inefficiency of the series (and of another that goes with it)."""
    g = max(inefficiency(series), inefficiency(other) if other else 1)
    return series[::math.ceil(g)]


def gamma_cdf(a, x):
    if x <= 0:
        return 0.0
    front = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x < a + 1:
        term = total = 1 / a
        k = 0
        while term > 1e-17 * total:
            k += 1
            term *= x / (a + k)
            total += term
        return front * total
    b, c, d = x + 1 - a, 1e300, 1 / (x + 1 - a)
    h = d
    for k in range(1, 100000):
        an = -k * (k - a)
        b += 2
        d = 1 / (an * d + b)
        c = b + an / c
        h *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return 1 - front * h


def kinetic_p(temperature, freedom, bath):
    """p of instantaneous temperatures (of kinetic energies with Maxwell's distribution) at a bath's temperature."""
    k = sorted(0.5 * freedom * t / bath for t in temperature)
    n, far = len(k), 0.0
    for i, x in enumerate(k):
        p = gamma_cdf(0.5 * freedom, x)
        far = max(far, p - i / n, (i + 1) / n - p)
    s = (math.sqrt(n) + 0.12 + 0.11 / math.sqrt(n)) * far
    return 1.0 if s < 0.2 else min(1.0, max(0.0, sum((2 if j % 2 else -2) * math.exp(-2 * j * j * s * s) for j in range(1, 101))))


def slope(a, b):
    """(slope, standard error) of ln P_b(x)/P_a(x): logistic regression by Newton's method."""
    both = [(x, 0) for x in a] + [(x, 1) for x in b]
    mean = sum(x for x, _ in both) / len(both)
    width = math.sqrt(sum((x - mean) ** 2 for x, _ in both) / len(both))
    c, s = math.log(len(b) / len(a)), 0.0
    for _ in range(100):
        g0 = g1 = h00 = h01 = h11 = 0.0
        for x, is_b in both:
            u = (x - mean) / width
            p = 1 / (1 + math.exp(-(c + s * u)))
            w = p * (1 - p)
            g0, g1 = g0 + is_b - p, g1 + (is_b - p) * u
            h00, h01, h11 = h00 + w, h01 + w * u, h11 + w * u * u
        det = h00 * h11 - h01 * h01
        dc, ds = (h11 * g0 - h01 * g1) / det, (h00 * g1 - h01 * g0) / det
        c, s = c + dc, s + ds
        if abs(dc) + abs(ds) < 1e-12 * (1 + abs(s)):
            break
    return s / width, math.sqrt(h00 / det) / width


def pair(a, b, expected):
    """(text, deviations) of a pair of runs."""
    found, error = slope(a, b)
    off = (found - expected) / error
    return f"slope {found:.4g} +- {error:.2g}, expected {expected:.4g} ({off:+.1f} errors, {len(a)} and {len(b)} samples)", off


def between_temperatures(low, high):
    return 1 / (R * low) - 1 / (R * high)


def between_pressures(low, high, temperature):
    return (low - high) * BAR / (R * temperature)
