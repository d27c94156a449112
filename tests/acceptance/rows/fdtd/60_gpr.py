# SPDX-License-Identifier: Apache-2.0
import math
import pathlib
import struct

import fdtd

WHAT = "30 A-scans of a metal pipe in the ground, Ez, Hx and Hy, against those of gprMax 3.1.5 (apps/examples/electromagnetics/gpr.toml)"
BAR = "relative L2 of every trace 1 % without a free factor (3 % with one is what is asked)"
CELL, RADIUS = 0.002, 0.010


def read_npy(path):
    """Rows of a two-dimensional array of floats."""
    raw = pathlib.Path(path).read_bytes()
    size = struct.unpack("<H", raw[8:10])[0]
    header = raw[10:10 + size].decode()
    n, m = (int(v) for v in header.split("(")[1].split(")")[0].split(","))
    values = struct.unpack_from(f"<{n * m}{'f' if '<f4' in header else 'd'}", raw, 10 + size)
    return [values[i * m:(i + 1) * m] for i in range(n)]


def outline(x, y):
    """Corners round all cells whose middles lie in the circle: up the right ends of the rows, down their left ends."""
    rows = []
    for j in range(math.floor((y - RADIUS) / CELL), math.ceil((y + RADIUS) / CELL)):
        inside = [i for i in range(math.floor((x - RADIUS) / CELL) - 1, math.ceil((x + RADIUS) / CELL) + 1)
                  if math.hypot((i + 0.5) * CELL - x, (j + 0.5) * CELL - y) <= RADIUS]
        if inside:
            rows.append((j * CELL, (j + 1) * CELL, inside[0] * CELL, (inside[-1] + 1) * CELL))
    corners = []
    for low, high, _, right in rows:
        corners += [(right, low), (right, high)]
    for low, high, left, _ in reversed(rows):
        corners += [(left, high), (left, low)]
    return corners


def distinct(corners):
    """Without points that repeat or lie amid a straight edge."""
    kept = [c for k, c in enumerate(corners) if math.dist(c, corners[k - 1]) > 1e-9]
    return [c for k, c in enumerate(kept)
            if abs((c[0] - kept[k - 1][0]) * (kept[(k + 1) % len(kept)][1] - c[1]) - (c[1] - kept[k - 1][1]) * (kept[(k + 1) % len(kept)][0] - c[0])) > 1e-12]


def measure(work):
    case = fdtd.example(work, "gpr.toml")
    labels = read_npy(work.test_data("em", "gpr_dev_label_xy_m.npy"))
    traces = {c: read_npy(work.test_data("em", f"gpr_dev_{c}.npy")) for c in ("Ez", "Hx", "Hy")}
    worst, free = {c: 0.0 for c in traces}, {c: 0.0 for c in traces}
    factors = []
    for k, (x, y) in enumerate(labels):
        corners = [[f"{u:.3f} m", f"{v:.3f} m"] for u, v in distinct(outline(x, y))]
        run = fdtd.run(work, case, f"gpr_{k:02}", {"structure[1].corners": corners, "output.vtk": False, "output.pictures": False})
        for component, all_traces in traces.items():
            wanted = all_traces[k]
            found = [0.0] + run.table(component.lower())[component]  # the first sample there is before the first step
            size = math.sqrt(sum(w * w for w in wanted))
            worst[component] = max(worst[component], math.sqrt(sum((f - w) ** 2 for f, w in zip(found, wanted, strict=True))) / size)
            factor = sum(f * w for f, w in zip(found, wanted)) / sum(f * f for f in found)
            factors.append(factor)
            free[component] = max(free[component], math.sqrt(sum((factor * f - w) ** 2 for f, w in zip(found, wanted))) / size)
    text = "; ".join(f"{c} {100 * worst[c]:.3f} % ({100 * free[c]:.3f} % with a factor)" for c in traces)
    return max(worst.values()) <= 0.01 and len(labels) == 30, f"largest of {len(labels)} traces: {text}; factors {min(factors):.5f} to {max(factors):.5f}; {fdtd.where(work)}"
