# SPDX-License-Identifier: Apache-2.0
import math
import random
import struct

import fdtd
import step_files

WHAT = ("sphere and turned torus of glass and of metal as binary STL of 20,000 triangles beside the primitives: scattering cross-section at 15 frequencies, 12 cells in a radius of the sphere; "
        "the same as STEP, and as STL without 1 % of the triangles")
BAR = "0.5 % at each frequency; torn 1 %, with a warning that tells where the largest hole is"

CASE = """app = "electromagnetics.fdtd"
[grid]
size = ["3.4 um", "3.4 um", "3.4 um"]
cell = "85 nm"
[run]
precision = "f32"
stop.after_sources = "120 fs"
[boundary.pml]
cells = 10
[[material]]
name = "glass"
index = 1.5
[[structure]]
material = "MATERIAL"
SHAPE
[[source]]
kind = "plane_wave"
name = "wave"
direction = [1, 0, 0]
polarization = [0, 0, 1]
position = ["0 um", "0 um", "0 um"]
size = ["2.5 um", "2.5 um", "2.5 um"]
waveform = {kind = "gaussian", frequency_min = "70 THz", frequency_max = "220 THz"}
[[monitor]]
kind = "rcs"
name = "body"
position = ["0 um", "0 um", "0 um"]
size = ["2.9 um", "2.9 um", "2.9 um"]
frequency_min = "80 THz"
frequency_max = "200 THz"
frequency_points = 15
phi = ["0 deg"]
angle_points = [37, 1]
"""
TURN = 'rotate = {axis = [1, 2, 0], angle = "37 deg", about = ["13 nm", "-21 nm", "34 nm"]}'
PLAIN = {"sphere": 'shape = "sphere"\nradius = "1 um"\ncentre = ["13 nm", "-21 nm", "34 nm"]',
         "torus": f'shape = "torus"\nradius = "0.75 um"\ntube_radius = "0.35 um"\ncentre = ["13 nm", "-21 nm", "34 nm"]\n{TURN}'}


def sphere():
    """20,022 triangles between 72 parallels; corners on the sphere, in um about the origin."""
    n, m = 72, 141
    at = [[(math.sin(math.pi * i / n) * math.cos(2 * math.pi * j / m), math.sin(math.pi * i / n) * math.sin(2 * math.pi * j / m), math.cos(math.pi * i / n)) for j in range(m)] for i in range(n + 1)]
    at[0], at[n] = [(0.0, 0.0, 1.0)] * m, [(0.0, 0.0, -1.0)] * m
    out = []
    for i in range(n):
        for j in range(m):
            a, b, c, d = at[i][j], at[i + 1][j], at[i + 1][(j + 1) % m], at[i][(j + 1) % m]
            out += ([(a, b, d)] if i > 0 else []) + ([(b, c, d)] if i + 1 < n else [])
    return out


def torus(ring=0.75, tube=0.35):
    n, m = 125, 80
    def at(i, j):
        f, t = 2 * math.pi * (i % n) / n, 2 * math.pi * (j % m) / m
        return ((ring + tube * math.cos(t)) * math.cos(f), (ring + tube * math.cos(t)) * math.sin(f), tube * math.sin(t))
    return [t for i in range(n) for j in range(m) for t in ((at(i, j), at(i + 1, j), at(i + 1, j + 1)), (at(i, j), at(i + 1, j + 1), at(i, j + 1)))]


def write_stl(path, triangles):
    """Binary, in the file's units of 1 um, with a header that begins as a text does."""
    body = b"".join(struct.pack("<12fH", 0, 0, 0, *(x for p in t for x in p), 0) for t in triangles)
    path.write_bytes(b"solid of the acceptance row".ljust(80) + struct.pack("<I", len(triangles)) + body)


def cross_sections(work, name, material, shape):
    case = fdtd.folder(work, name + ".toml")
    case.write_text(CASE.replace("MATERIAL", material).replace("SHAPE", shape))
    run = fdtd.run(work, case, name, threads=2)
    return run.table("body")["total"], run.done.out + run.done.err


def measure(work):
    said, holds = [], True
    for body, make in (("sphere", sphere), ("torus", torus)):
        triangles = make()
        torn = list(triangles)
        random.Random(7).shuffle(torn)
        torn = torn[len(torn) // 100:]
        files = {}
        for kind, list_of in (("stl", triangles), ("torn", torn)):
            files[kind] = fdtd.folder(work, f"solid_{body}_{kind}.stl")
            write_stl(files[kind], list_of)
        files["step"] = fdtd.folder(work, f"solid_{body}.step")
        files["step"].write_text(step_files.sphere(1) if body == "sphere" else step_files.torus(0.75, 0.35))
        for material in ("glass", "pec"):
            plain, _ = cross_sections(work, f"solid_{body}_{material}_plain", material, PLAIN[body])
            off = {}
            for kind, file in files.items():
                read = 'shape = "step"' if kind == "step" else 'shape = "mesh"\nunit = "1 um"'
                shape = f'{read}\nfile = "{file.name}"\norigin = ["13 nm", "-21 nm", "34 nm"]' + ("\n" + TURN if body == "torus" else "")
                found, text = cross_sections(work, f"solid_{body}_{material}_{kind}", material, shape)
                off[kind] = max(abs(a / b - 1) for a, b in zip(found, plain, strict=True))
                warned = "open edges in" in text and "near (" in text
                holds = holds and warned == (kind == "torn")
            holds = holds and off["stl"] <= 0.005 and off["step"] <= 0.005 and off["torn"] <= 0.01
            said.append(f"{material} {body} {off['stl']:.2%}, STEP {off['step']:.2%}, torn {off['torn']:.2%}")
    return holds, f"{len(sphere()):,} and {len(torus()):,} triangles; {'; '.join(said)}; {fdtd.where(work)}"
