# SPDX-License-Identifier: Apache-2.0
"""molecular.analysis: nine waters and six argon atoms in twelve frames that this file makes, in a box without equal edges."""
import itertools
import math
import random

from case import expect, expect_near, expect_same_files

BOX = (2.0, 2.5, 2.2)  # nm; above twice the r_max of the levels
DT, N_FRAMES = 1.0, 12
MASS = {"O": 15.999, "H": 1.008, "AR": 39.95}
ATOMS = [name for _ in range(9) for name in ("O", "H1", "H2")] + ["AR"] * 6
MOLECULE = [i // 3 for i in range(27)] + list(range(9, 15))
FRAMES = []  # (time, places as they are in the file, velocities)


def element(name):
    return "AR" if name == "AR" else name[0]


def prepare(place, tessera, data):
    rng = random.Random(3)
    centres = [[rng.uniform(0, b) for b in BOX] for _ in range(15)]
    arms = [[rng.gauss(0, 1) for _ in range(3)] for _ in range(18)]
    for k in range(N_FRAMES):
        x = []
        for m, c in enumerate(centres):
            for d in range(3):
                c[d] += rng.gauss(0, 0.06)
            x.append(list(c))
            if m < 9:
                for arm in arms[2 * m:2 * m + 2]:
                    for d in range(3):
                        arm[d] += rng.gauss(0, 0.3)
                    length = math.sqrt(sum(a * a for a in arm))
                    x.append([c[d] + 0.1 * arm[d] / length for d in range(3)])
        # Each atom wrapped by itself, as some programs write them: molecules are cut by faces.
        x = [[round(v % b, 6) % b for v, b in zip(row, BOX)] for row in x]
        v = [[round(rng.gauss(0, 0.4), 6) for _ in range(3)] for _ in x]
        FRAMES.append((k * DT, x, v))
    (place / "system.pdb").write_text(pdb(FRAMES[0][1]))
    write(place / "all.gro", FRAMES)
    write(place / "first.gro", FRAMES[:7])
    write(place / "last.gro", FRAMES[7:])
    write(place / "one.gro", FRAMES[:1])
    write(place / "two.gro", FRAMES[:2])
    shift = (0.7, 1.9, -0.4)
    write(place / "shifted.gro", [(t, [[(a + s) % b for a, s, b in zip(row, shift, BOX)] for row in x], v) for t, x, v in FRAMES])


def pdb(x):
    lines = ["CRYST1%9.3f%9.3f%9.3f  90.00  90.00  90.00 P 1           1" % tuple(10 * b for b in BOX)]
    for i, (name, row) in enumerate(zip(ATOMS, x)):
        residue = "HOH" if i < 27 else "AR"
        lines.append("HETATM%5d %-4s %-3s A%4d    %8.3f%8.3f%8.3f  1.00  0.00          %2s" % (i + 1, name if len(name) > 3 else " " + name if residue == "HOH" else name, residue, MOLECULE[i] + 1, *(10 * v for v in row), element(name)))
    for m in range(9):
        lines.append("CONECT%5d%5d%5d" % (3 * m + 1, 3 * m + 2, 3 * m + 3))
    return "\n".join(lines + ["END", ""])


def write(path, frames):
    out = []
    for t, x, v in frames:
        out += [f"made for this t= {t:.5f}", str(len(x))]
        for i, (row, speed) in enumerate(zip(x, v)):
            out.append("%5d%-5s%5s%5d%11.6f%11.6f%11.6f%11.7f%11.7f%11.7f" % (MOLECULE[i] + 1, "HOH" if i < 27 else "AR", ATOMS[i], i + 1, *row, *speed))
        out.append("%10.5f%10.5f%10.5f" % BOX)
    path.write_text("\n".join(out) + "\n")


A = "analysis[0]."
BASE = {"topology": "system.pdb"}
FIXED = {"schema": "one version", "title": "on pictures alone", "include_folders": "of GROMACS topologies", "expect": "promises; their own tests",
         "analysis.name": "names files alone",
         "frames.spacing": "for frames without times; its own tests"}
GROUPS = [None,
          [{"name": "some", "residues": ["HOH"]}, {"name": "other", "elements": ["Ar"]}],
          [{"name": "some", "range": [1, 27]}, {"name": "other", "atoms": ["AR"]}],
          [{"name": "some", "select": "resname HOH"}, {"name": "other", "select": "serial 28 to 33"}]]
LEVELS = {
    "trajectory": [["all.gro"], ["first.gro", "last.gro"]],
    "frames.from": [None, "2 ps"],
    "frames.to": [None, "9 ps"],
    "frames.every": [1, 2],
    "group": GROUPS[1:],
    A + "type": ["rdf", "msd", "vacf", "density", "rmsd", "gyration", "hydrogen_bonds"],
    A + "group": [None, "some", "other"],
    A + "with": [None, "all", "other"],
    A + "r_max": [None, "0.9 nm"],
    A + "bin": [None, "0.03 nm"],
    A + "same_molecule": [None, False, True],
    A + "fit_from": [None, "0 ps"],
    A + "fit_to": [None, "4 ps"],
    A + "lag": [None, "4 ps"],
    A + "molecules": [None, False, True],
    A + "remove_drift": [None, False, True],
    A + "axis": [None, "a", "b", "c"],
    A + "slices": [None, 5, 0],
    A + "mass_weighted": [None, False, True],
    A + "distance": [None, "0.6 nm"],
    A + "angle": [None, "60 deg"],
}
REFUSED = []
VERBS = ()


def used(run):
    """(times, places, velocities) of the frames that count."""
    def ps(text):
        return float(text.split()[0])

    low = ps(run["frames.from"]) if run["frames.from"] else -math.inf
    high = ps(run["frames.to"]) if run["frames.to"] else math.inf
    given = [f for name in run["trajectory"] for f in {"all.gro": FRAMES, "first.gro": FRAMES[:7], "last.gro": FRAMES[7:], "one.gro": FRAMES[:1], "two.gro": FRAMES[:2]}[name]]
    return [f for f in given if low <= f[0] <= high][:: run["frames.every"] or 1]


def members(run, key):
    name = run[A + key] or (run[A + "group"] if key == "with" else None) or "all"
    own = {g["name"]: range(g["range"][0] - 1, g["range"][1]) for g in run["group"] if "range" in g}
    return {"all": range(33), "some": range(27), "other": range(27, 33), **own}[name]


def nearest(a, b):
    return [d - box * round(d / box) for d, box in zip((q - p for p, q in zip(a, b)), BOX)]


def size(d):
    return math.sqrt(sum(v * v for v in d))


def laws(run):
    kind = run[A + "type"]
    frames = used(run)
    group = list(members(run, "group"))
    name = kind + ("" if kind == "hydrogen_bonds" else "_" + (run[A + "group"] or "all"))
    if kind == "rdf" and run[A + "with"] and run[A + "with"] != (run[A + "group"] or "all"):
        name += "_" + run[A + "with"]
    averages = run.table("tables/averages.csv")
    mean = dict(zip(averages["quantity"], averages["mean"]))

    def curve(what):
        columns = list(run.table(f"tables/{name}_{what}.csv").values())
        return list(zip(columns[0], columns[1]))

    if kind == "rdf":
        other = set(members(run, "with"))
        for r, found in curve("coordination")[::5]:
            count = 0
            for _, x, _ in frames:
                for i in group:
                    for j in other:
                        if i != j and (run[A + "same_molecule"] or MOLECULE[i] != MOLECULE[j]):
                            count += size(nearest(x[i], x[j])) < r * (1 - 1e-12)
            expect_near("neighbours within a distance are those counted one by one", found, count / len(group) / len(frames), absolute=1e-6 + 1.01 / len(group) / len(frames))
    elif kind == "msd":
        follow = [[i] for i in group]
        if run[A + "molecules"]:
            follow = [[i for i in range(33) if MOLECULE[i] == m] for m in sorted({MOLECULE[i] for i in group})]
        paths = centres(frames, follow, run[A + "remove_drift"])
        for lag, found in curve("msd"):
            steps = round(lag / DT / (run["frames.every"] or 1))
            pairs = [(a, b) for a, b in zip(paths, paths[steps:])]
            wanted = sum(size([q - p for p, q in zip(u, w)]) ** 2 for a, b in pairs for u, w in zip(a, b)) / len(pairs) / len(follow)
            expect_near("the mean squared displacement is that of all origins", found, wanted, relative=1e-5, absolute=1e-9)
    elif kind == "vacf":
        for lag, found in curve("vacf"):
            steps = round(lag / DT / (run["frames.every"] or 1))
            pairs = list(zip(frames, frames[steps:]))
            wanted = sum(sum(p * q for p, q in zip(a[2][i], b[2][i])) for a, b in pairs for i in group) / len(pairs) / len(group)
            expect_near("velocities correlate as those of all origins", found, wanted, relative=1e-5, absolute=1e-6)
    elif kind == "density":
        mass = sum(MASS[element(ATOMS[i])] for i in group) * 1.66053906660
        whole = mass / (BOX[0] * BOX[1] * BOX[2])
        expect_near("the density is mass over volume", mean[name + ".density"], whole, relative=1e-3)
        if run[A + "slices"] != 0:
            slices = [v for _, v in curve("profile")]
            expect_near("slices add up to the whole", sum(slices) / len(slices), mean[name + ".density"], relative=1e-9)
            k = {"a": 0, "b": 1, "c": 2}[run[A + "axis"] or "c"]
            inside = sum(MASS[element(ATOMS[i])] for _, x, _ in frames for i in group if int(x[i][k] / BOX[k] * len(slices)) == 0) / len(frames)
            expect_near("a slice holds the atoms that lie in it", slices[0], inside * 1.66053906660 / (BOX[0] * BOX[1] * BOX[2]) * len(slices), relative=1e-3, absolute=1e-6)
    elif kind == "rmsd":
        expect_near("the first frame is its own reference", curve("rmsd")[0][1], 0, absolute=1e-5)
        expect("no RMSD is negative, and each is finite", all(0 <= v < 10 for _, v in curve("rmsd")), lambda: curve("rmsd"))
    elif kind == "gyration":
        expect("a radius of gyration fits into the box and its images", all(0 < v < 5 for _, v in curve("radius")), lambda: curve("radius"))
    else:
        distance = float((run[A + "distance"] or "0.35 nm").split()[0])
        angle = float((run[A + "angle"] or "30 deg").split()[0])
        for (t, x, _), (_, found) in zip(frames, curve("number")):
            count = 0
            for donor, h, acceptor in itertools.product(range(0, 27, 3), (1, 2), range(0, 27, 3)):
                d, a = nearest(x[donor], x[donor + h]), nearest(x[donor], x[acceptor])
                if donor != acceptor and size(a) <= distance and math.degrees(math.acos(max(-1, min(1, sum(p * q for p, q in zip(d, a)) / size(d) / size(a))))) <= angle:
                    count += 1
            expect("hydrogen bonds are those counted one by one", found == count, lambda: f"{found} in place of {count} at {t} ps")


def centres(frames, follow, remove_drift):
    """Places of what is followed in each frame, made whole and not wrapped any more."""
    out, last = [], None
    for _, x, _ in frames:
        whole = [list(row) for row in x]
        for i in range(27):
            if i % 3:
                whole[i] = [p + d for p, d in zip(whole[i - i % 3], nearest(whole[i - i % 3], whole[i]))]
        if last is None:
            now = whole
        else:
            now = [[p + d for p, d in zip(old, nearest(old, new))] for old, new in zip(last, whole)]
        last = now
        masses = [MASS[element(n)] for n in ATOMS]
        drift = [sum(m * row[d] for m, row in zip(masses, now)) / sum(masses) for d in range(3)] if remove_drift else [0, 0, 0]
        out.append([[sum(masses[i] * now[i][d] for i in one) / sum(masses[i] for i in one) - drift[d] for d in range(3)] for one in follow])
    return out


def with_keys(run, **other):
    return {**run.keys, **{k.replace("__", "."): v for k, v in other.items()}}


def near(law, a, b):
    """Every table, to what six decimals of a place leave."""
    for name in a.files(".csv"):
        if not name.startswith("tables/"):
            continue
        x, y = a.table(name), b.table(name)
        for column in x:
            if "error" in column or column in ("inefficiency", "plateau", "values"):
                continue
            for p, q in zip(x[column], y[column]):
                if isinstance(p, float) and (p == p or q == q):
                    expect(law, abs(p - q) <= 1e-4 * abs(p) + 2e-5, lambda: f"{name}, {column}: {q} in place of {p}")


def same(law, a, b):
    expect_same_files(law, a.files(".csv", ".h5"), b.files(".csv", ".h5"))


def tables(law, a, b):
    """The tables of the first analysis, whatever stands beside them."""
    of = {n: v for n, v in a.files(".csv").items() if n.startswith("tables/") and "averages" not in n}
    beside = b.files(".csv")
    expect_same_files(law, of, {n: beside[n] for n in of if n in beside})


def other_groups(run):
    at = GROUPS.index(run["group"])
    return with_keys(run, group=GROUPS[1 + at % 3]), {}


CHANGES = [
    ("threads do not matter", lambda run: (run.keys, {"options": ("--threads", "2")}), same),
    ("order of keys and tables does not matter", lambda run: (run.keys, {"reverse": True}), same),
    ("pictures do not matter", lambda run: (with_keys(run, output__pictures=run["output.pictures"] is False), {}), lambda law, a, b: expect_same_files(law, {n: v for n, v in a.files(".csv", ".h5").items() if "plots" not in n}, {n: v for n, v in b.files(".csv", ".h5").items() if "plots" not in n})),
    ("pieces of a trajectory are the whole", lambda run: (with_keys(run, trajectory=["all.gro"] if len(run["trajectory"]) == 2 else ["first.gro", "last.gro"]), {}), same),
    ("ways to name a group do not matter", other_groups, same),
    ("beside it another analysis does not matter", lambda run: ({**run.keys, "analysis[1].type": "density", "analysis[1].name": "beside"}, {}), tables),
    ("moved by a vector it is the same", lambda run: None if run[A + "type"] == "density" else (with_keys(run, trajectory=["shifted.gro"]), {}), near),
]

EDGES = [
    ("one frame: pairs", {A + "type": "rdf", "trajectory": ["one.gro"]}, None),
    ("one frame: density", {A + "type": "density", "trajectory": ["one.gro"]}, None),
    ("one frame: RMSD", {A + "type": "rmsd", A + "group": "some", "trajectory": ["one.gro"]}, None),
    ("one frame: gyration", {A + "type": "gyration", A + "group": "some", "trajectory": ["one.gro"]}, None),
    ("one frame: hydrogen bonds", {A + "type": "hydrogen_bonds", "trajectory": ["one.gro"]}, None),
    ("one frame: displacement", {A + "type": "msd", A + "fit_from": "0 ps", A + "fit_to": "4 ps", "trajectory": ["one.gro"]}, "analysis"),
    ("one frame: velocities", {A + "type": "vacf", A + "lag": "4 ps", "trajectory": ["one.gro"]}, "analysis"),
    ("two frames: a lag beyond them", {A + "type": "vacf", A + "lag": "4 ps", "trajectory": ["two.gro"]}, "lag"),
    ("no frame in the times", {"frames.from": "100 ps"}, "frames"),
    ("an end before the begin", {"frames.from": "5 ps", "frames.to": "4 ps"}, ["from", "to"]),
    ("more frames left out than there are", {"frames.every": 1000}, None),
    ("a group of nothing", {"group": [{"name": "none", "elements": ["Xe"]}], A + "group": "none"}, "none"),
    ("a group of one atom: pairs with itself", {"group": [{"name": "single", "range": [28, 28]}], A + "group": "single"}, "rdf"),
    ("a group of one atom: RMSD", {"group": [{"name": "single", "range": [28, 28]}], A + "group": "single", A + "type": "rmsd"}, None),
    ("a range backwards", {"group": [{"name": "back", "range": [9, 3]}], A + "group": "back"}, "range"),
    ("a range beyond the atoms", {"group": [{"name": "far", "range": [30, 99]}], A + "group": "far"}, "range"),
    ("a bin wider than the distance", {A + "bin": "5 nm"}, "bin"),
    ("a distance beyond half the box", {A + "r_max": "1.2 nm"}, "r_max"),
    ("one slice", {A + "type": "density", A + "slices": 1}, None),
    ("a fit of no length", {A + "type": "msd", A + "fit_from": "2 ps", A + "fit_to": "2 ps"}, ["fit_to", "fit_from"]),
    ("a fit between two frames", {A + "type": "msd", A + "fit_from": "2.1 ps", A + "fit_to": "2.4 ps"}, "fit"),
    ("a lag below one frame", {A + "type": "vacf", A + "lag": "0.1 ps"}, "lag"),
    ("the same analysis twice", {A + "type": "rdf", "analysis[1].type": "rdf"}, "name"),
    ("a box of no bonds to hydrogens", {A + "type": "hydrogen_bonds", A + "distance": "1e-9 nm"}, None),
]
