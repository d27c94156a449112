# SPDX-License-Identifier: Apache-2.0
import fdtd

WHAT = ("closed lossless devices with mode ports, f64, fallen by 160 dB: a step between two unlike parallel-plate guides, and a coupler of four ports "
        "(apps/examples/electromagnetics/coupler.toml)")
BAR = "abs(S_ij - S_ji) 1e-6; sum of abs(S)^2 1 within 1e-4; shifted planes = moved ports 1e-4"

STEP = """app = "electromagnetics.fdtd"
[grid]
size = ["100 mm", "20 mm", "0 mm"]
cell = "1 mm"
polarization = "Ez"
[run]
precision = "f64"
stop.decay_db = 160
[boundary]
y = "pec"
pml.cells = 16
[[structure]]
shape = "box"
material = "pec"
low = ["0 mm", "6 mm", "-inf"]
high = ["inf", "inf", "inf"]
[[port]]
kind = "mode"
name = "wide"
position = ["-20 mm", "0 mm", "0 mm"]
direction = [1, 0, 0]
[[port]]
kind = "mode"
name = "narrow"
position = ["18 mm", "-2 mm", "0 mm"]
size = ["0 mm", "16 mm", "0 mm"]
direction = [-1, 0, 0]
[s_parameters]
frequency_min = "11.3 GHz"
frequency_max = "13.1 GHz"
frequency_points = 10
"""


def matrix(run, ports):
    """[frequency][row][column]"""
    table = run.table("s_parameters")
    return [[[complex(table[f"S_{i}_{j}_re"][k], table[f"S_{i}_{j}_im"][k]) for j in ports] for i in ports] for k in range(len(table["frequency_Hz"]))]


def measure(work):
    step = fdtd.folder(work, "ports_step.toml")
    step.write_text(STEP)
    fallen = {"run.precision": "f64", "run.stop.decay_db": 160}
    holds, texts = True, []
    for name, case, ports, places, shifts in (
            ("step", step, ("wide", "narrow"), ((-13, 0), (12, -2)), ("7 mm", "6 mm")),
            ("coupler", fdtd.example(work, "coupler.toml"), ("in", "through", "coupled", "isolated"), ((-30, 11), (28, 11), (36, -11), (-26, -11)), ("6 mm", "8 mm", "0 mm", "10 mm"))):
        s = matrix(fdtd.run(work, case, f"ports_{name}", fallen, threads=2), ports)
        moved = matrix(fdtd.run(work, case, f"ports_{name}_moved", {**fallen, **{f"port[{k}].position": [f"{x} mm", f"{y} mm", "0 mm"] for k, (x, y) in enumerate(places)}}, threads=2), ports)
        shifted = matrix(fdtd.run(work, case, f"ports_{name}_shifted", {**fallen, **{f"port[{k}].shift": x for k, x in enumerate(shifts)}}, threads=2), ports)
        n = range(len(ports))
        odd = max(abs(m[i][j] - m[j][i]) for m in s for i in n for j in n)
        power = max(abs(sum(abs(m[i][j]) ** 2 for i in n) - 1) for m in s for j in n)
        plane = max(abs(a[i][j] - b[i][j]) for a, b in zip(moved, shifted) for i in n for j in n)
        moves = max(abs(a[i][j] - b[i][j]) for a, b in zip(moved, s) for i in n for j in n)
        holds = holds and odd <= 1e-6 and power <= 1e-4 and plane <= 1e-4 and moves > 0.1
        texts.append(f"{name}: not reciprocal by {odd:.1e}, power off by {power:.1e}, planes by {plane:.1e}")
    return holds, "; ".join(texts) + f"; {fdtd.where(work)}"
