# SPDX-License-Identifier: Apache-2.0
import math

import fdtd

WHAT = ("D6, microstrip low-pass filter of 72 x 68 x 25 cells between lumped ports, both driven until fields have fallen by 80 dB (apps/examples/electromagnetics/microstrip_filter.toml), against digitised "
        "curves")
BAR = "-3 dB of S21 at 5.63, its nulls at 7.04 and 8.37, S11 minima at 4.98 and 11.08 GHz, each within 0.10 GHz; S21 within 1 dB RMS where the curve is above -30 dB"


def curve(work, name):
    with open(work.test_data("em", f"microstrip_filter_{name}_ref.txt")) as file:
        rows = sorted(tuple(float(x) for x in line.replace(",", " ").split()[:2]) for line in file if line.strip() and not line.startswith("#"))
    return [f for f, _ in rows], [v for _, v in rows]


def interpolated(x, y, at):
    k = min(max(sum(v <= at for v in x) - 1, 0), len(x) - 2)
    return y[k] + (y[k + 1] - y[k]) * (at - x[k]) / (x[k + 1] - x[k])


def minimum(f, values, low, high):
    """Where a curve is lowest in a band, by a parabola through the three points there."""
    k = min((k for k in range(1, len(f) - 1) if low <= f[k] <= high), key=lambda k: values[k])
    a, b, c = values[k - 1:k + 2]
    return f[k] + (f[k + 1] - f[k]) * 0.5 * (a - c) / (a - 2 * b + c)


def measure(work):
    run = fdtd.run(work, fdtd.example(work, "microstrip_filter.toml"), "microstrip_filter", threads=2)
    table = run.table("s_parameters")
    f = [x / 1e9 for x in table["frequency_Hz"]]
    s11, s21 = ([20 * math.log10(abs(complex(table[f"S_{to}_in_re"][k], table[f"S_{to}_in_im"][k]))) for k in range(len(f))] for to in ("in", "out"))
    edge = next(k for k in range(1, len(f)) if s21[k] < -3 and 4 < f[k] < 7)
    found = {"-3 dB": (f[edge - 1] + (f[edge] - f[edge - 1]) * (s21[edge - 1] + 3) / (s21[edge - 1] - s21[edge]), 5.63),
             "null": (minimum(f, s21, 6.6, 7.6), 7.04), "second null": (minimum(f, s21, 7.9, 8.9), 8.37),
             "S11": (minimum(f, s11, 4.3, 5.6), 4.98), "second S11": (minimum(f, s11, 10.3, 12), 11.08)}
    x, y = curve(work, "s21")
    off = [interpolated(f, s21, at) - v for at, v in zip(x, y) if v > -30 and f[0] <= at <= f[-1]]
    rms = math.sqrt(sum(v * v for v in off) / len(off))
    holds = rms <= 1 and all(abs(at - wanted) <= 0.1 for at, wanted in found.values())
    return holds, (", ".join(f"{name} {at:.3f} ({wanted}) GHz" for name, (at, wanted) in found.items()) +
                   f"; S21 {rms:.2f} dB RMS over {len(off)} points; {run.done.seconds:.0f} s for both runs; {fdtd.where(work)}")
