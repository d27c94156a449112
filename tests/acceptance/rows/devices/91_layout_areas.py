# SPDX-License-Identifier: Apache-2.0
import json
import pathlib
import re

import fdtd

WHAT = "GDSII layouts that gdstk (PyPI) writes: 2,000 random polygons, crossing ones, arrays turned, mirrored and magnified, paths of types 0, 2 and 4, holes on cut lines; areas of unions by layer, by `tessera info` beside gdstk's boolean or"
BAR = "1e-9"

SCRIPT = r'''
import json, math, random, sys
import gdstk
out = {}
def layout(name, fill):
    lib = gdstk.Library(unit=1e-6, precision=1e-9)
    top = fill(lib)
    lib.write_gds(sys.argv[1] + "/" + name + ".gds")
    again = gdstk.read_gds(sys.argv[1] + "/" + name + ".gds")
    cell = {c.name: c for c in again.cells}[top.name]
    for layer, kind in {(p.layer, p.datatype) for p in cell.get_polygons()}:
        polygons = cell.get_polygons(layer=layer, datatype=kind)
        # Each by itself first: what one that crosses itself goes round clockwise is no hole in others.
        polygons = [q for p in polygons for q in gdstk.boolean([p], [], "or", precision=1e-9)]
        united = gdstk.boolean(polygons, [], "or", precision=1e-9)
        out[name + ".gds layer " + str(layer) + "/" + str(kind)] = [sum(p.area() for p in united) * 1e-12, len(cell.get_polygons(layer=layer, datatype=kind))]
def crowd(lib):
    r = random.Random(5)
    top = lib.new_cell("CROWD")
    for n in range(2000):
        x, y, k = r.uniform(0, 200), r.uniform(0, 200), r.randint(3, 9)
        angles = sorted(r.uniform(0, 2 * math.pi) for _ in range(k))
        top.add(gdstk.Polygon([(round(x + r.uniform(1, 5) * math.cos(a), 3), round(y + r.uniform(1, 5) * math.sin(a), 3)) for a in angles], layer=n % 3, datatype=n % 2))
    return top
def arrays(lib):
    unit = lib.new_cell("UNIT")
    unit.add(gdstk.rectangle((0, 0), (3, 1), layer=4), gdstk.Polygon([(0, 0), (2, 2), (0, 3)], layer=4))
    row = lib.new_cell("ROW")
    row.add(gdstk.Reference(unit, (1, 2), rotation=math.pi / 2, magnification=2, columns=7, rows=3, spacing=(4, 5)))
    top = lib.new_cell("ARRAYS")
    top.add(gdstk.Reference(row, (0, 0)), gdstk.Reference(row, (30, -7), rotation=math.pi, x_reflection=True),
            gdstk.Reference(row, (5, 60), magnification=0.5, columns=2, rows=4, spacing=(11, 13)))
    return top
def paths(lib):
    top = lib.new_cell("PATHS")
    for n, ends in enumerate(("flush", "extended", (0.3, -0.2))):
        top.add(gdstk.FlexPath([(0, 6 * n), (10, 6 * n), (14, 6 * n + 3), (25, 6 * n + 3), (25, 6 * n + 1)], 0.8, ends=ends, simple_path=True, layer=5, datatype=n))
    return top
def holes(lib):
    top = lib.new_cell("HOLES")
    ring = gdstk.boolean([gdstk.rectangle((0, 0), (20, 20))], [gdstk.rectangle((3, 3), (8, 8)), gdstk.regular_polygon((14, 13), 2.5, 7)], "not", precision=1e-3, layer=6)
    top.add(*ring)
    top.add(gdstk.ellipse((30, 10), 8, inner_radius=5, tolerance=1e-3, layer=6))
    return top
for name, fill in (("crowd", crowd), ("arrays", arrays), ("paths", paths), ("holes", holes)):
    layout(name, fill)
print(json.dumps(out))
'''


def measure(work):
    python = work.venv("gdstk", "gdstk")
    folder = fdtd.folder(work, "layouts", "x").parent
    script = folder / "layouts.py"
    script.write_text(SCRIPT)
    done = work.run([python, script, folder])
    done.must_succeed("gdstk")
    wanted = json.loads(done.out)
    worst, told = (0.0, ""), 0
    for name in sorted({key.split(" ")[0] for key in wanted}):
        done = work.run([work.tessera(), "info", pathlib.Path(folder) / name])
        done.must_succeed("tessera info " + name)
        found = areas(done.out)
        for key, (area, _) in wanted.items():
            if not key.startswith(name + " "):
                continue
            told += 1
            worst = max(worst, (abs(found.get(key.split(" ", 1)[1], 0.0) / area - 1), key))
    return worst[0] <= 1e-9 and told == len(wanted) and told >= 10, f"{told} layers of 4 layouts, the furthest off by {worst[0]:.1e} ({worst[1]}); {fdtd.where(work)}"


def areas(text):
    """Of layers by their names, as `tessera info` tells them."""
    return {layer: float(area) for layer, area in re.findall(r"^\s*(layer \d+/\d+)\n(?:\s+polygons: \d+\n)\s+area in m\^2: (\S+)", text, re.M)}
