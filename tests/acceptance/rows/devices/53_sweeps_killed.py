# SPDX-License-Identifier: Apache-2.0
import csv
import math

import fdtd
import kills

WHAT = ("a sweep of 12 thicknesses of a slab in WR-90 (apps/examples/electromagnetics/waveguide_slab.toml), killed 5 times; each point's reflected power over "
        "8.2 to 12.4 GHz against that of two lines")
BAR = "same bits; 0.01"

EPS, WIDTH_M = 2.56, 22.86e-3


def reflected(frequency_hz, thickness_m):
    """|r (1 - p^2)/(1 - r^2 p^2)|^2 of a slab between two lengths of the guide, TE10."""
    k0 = 2 * math.pi * frequency_hz / fdtd.C0
    outside, inside = (math.sqrt(eps * k0**2 - (math.pi / WIDTH_M) ** 2) for eps in (1, EPS))
    r = (outside - inside) / (outside + inside)
    p2 = complex(math.cos(2 * inside * thickness_m), -math.sin(2 * inside * thickness_m))
    return abs(r * (1 - p2) / (1 - r**2 * p2)) ** 2


def measure(work):
    case = fdtd.example(work, "waveguide_slab.toml")
    place = fdtd.folder(work, "x").parent / "sweeps_killed"
    wrong, _, text = kills.killed_and_resumed(work, place, "slab", case, ["--set", "expect=[]"], 5, verb="sweep")
    with open(place / "slab_whole" / "points.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    off = 0.0
    for row in rows:
        table = fdtd.Run(place / "slab_whole" / "points" / f"{int(row['point']):02}", None).table("before")
        off = max(off, *(abs(found - reflected(f, float(row["thickness_m"]))) for f, found in zip(table["frequency_Hz"], table["backward_ratio"])))
    return not wrong and len(rows) == 12 and off < 0.01, "; ".join([f"{len(rows)} points, off by {off:.4f}", text, *wrong])
