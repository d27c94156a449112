# SPDX-License-Identifier: Apache-2.0
"""One frame and one force field in the files of each program that molecular_speed.py times: places are numbers that single precision
holds, inside the box, so that all programs have the same ones."""
import gzip
import math
import pathlib

import numpy as np

KCAL = 4.184
AMBER_CHARGE = 18.2223
AMBER_TIME_PS = 1 / 20.455  # of velocities in a restart

SPCE = {"sigma": 0.316557, "epsilon": 0.650194, "q": 0.4238, "oh": 0.1, "hh": 0.163299}


def read_restart(path):
    """(x [n, 3] nm, v [n, 3] nm/ps, edges [3] nm) of an AMBER restart with velocities and a rectangular box."""
    lines = pathlib.Path(path).read_text().splitlines()
    n = int(lines[1].split()[0])
    numbers = np.array([float(line[k:k + 12]) for line in lines[2:] for k in range(0, len(line.rstrip()), 12)])
    x, v, box = numbers[:3 * n], numbers[3 * n:6 * n], numbers[6 * n:6 * n + 3]
    return 0.1 * x.reshape(n, 3), 0.1 / AMBER_TIME_PS * v.reshape(n, 3), 0.1 * box


def inside(x, edges):
    """The same places in [0, edge), rounded to single precision."""
    x = (x - np.floor(x / edges) * edges).astype(np.float32).astype(np.float64)
    return np.where(x >= edges, 0.0, x)


def write_gro(path, names, residues, x, v, edges):
    """`residues`: (number, name) of each atom. Nine decimals: single precision comes back as it was."""
    lines = ["speed", str(len(names))]
    for i, (name, (number, residue)) in enumerate(zip(names, residues)):
        lines.append(f"{number % 100000:5d}{residue:<5.5s}{name:>5.5s}{(i + 1) % 100000:5d}" + "".join(f"{c:14.9f}" for c in x[i]) + "".join(f"{c:14.9f}" for c in v[i]))
    lines.append(" ".join(f"{c:.9f}" for c in edges))
    pathlib.Path(path).write_text("\n".join(lines) + "\n")


def read_gro(path):
    lines = pathlib.Path(path).read_text().splitlines()
    n = int(lines[1])
    numbers = np.array([[float(line[20 + 14 * k:34 + 14 * k]) for k in range(6)] for line in lines[2:2 + n]])
    return numbers[:, :3], numbers[:, 3:], np.array([float(c) for c in lines[2 + n].split()[:3]])


def settled_water(name, o_type, h_type, q_o, q_h, mass_o, mass_h, oh, hh, names=("OW", "HW1", "HW2")):
    """A moleculetype of rigid water."""
    atoms = [(o_type, names[0], q_o, mass_o), (h_type, names[1], q_h, mass_h), (h_type, names[2], q_h, mass_h)]
    lines = ["[ moleculetype ]", f"{name} 2", "[ atoms ]"]
    lines += [f"{k} {t} 1 {name} {atom} 1 {q:.10f} {m}" for k, (t, atom, q, m) in enumerate(atoms, 1)]
    return lines + ["[ settles ]", f"1 1 {oh:.9f} {hh:.9f}", "[ exclusions ]", "1 2 3", "2 1 3", "3 1 2"]


def write_water_top(path, molecules):
    s = SPCE
    lines = ["[ defaults ]", "1 2 no 1.0 1.0", "[ atomtypes ]", f"OW 8 15.9994 0 A {s['sigma']} {s['epsilon']}", "HW 1 1.008 0 A 0 0"]
    lines += settled_water("SOL", "OW", "HW", -2 * s["q"], s["q"], 15.9994, 1.008, s["oh"], s["hh"])
    lines += ["[ system ]", "SPC/E", "[ molecules ]", f"SOL {molecules}"]
    pathlib.Path(path).write_text("\n".join(lines) + "\n")


def write_melt_top(path, atoms):
    """sigma, epsilon and mass of one."""
    pathlib.Path(path).write_text(f"[ defaults ]\n1 2 no 1.0 1.0\n[ atomtypes ]\nLJ 18 1.0 0 A 1.0 1.0\n[ moleculetype ]\nLJ 1\n[ atoms ]\n1 LJ 1 LJ AR 1 0.0 1.0\n[ system ]\nmelt\n[ molecules ]\nLJ {atoms}\n")


class Prmtop:
    """The sections of an AMBER topology as lists."""

    def __init__(self, path):
        opened = gzip.open(path, "rt") if str(path).endswith(".gz") else open(path)
        self.sections, name, form = {}, None, None
        with opened as file:
            for line in file:
                if line.startswith("%FLAG"):
                    name, form = line.split()[1], None
                    self.sections[name] = []
                elif line.startswith("%FORMAT"):
                    form = line[line.index("(") + 1:line.index(")")].lower()
                elif form:
                    kind = next(c for c in form if c in "aie")
                    width = int(form.split(kind)[1].split(".")[0])
                    line = line.rstrip("\n")
                    fields = [line[k:k + width] for k in range(0, len(line), width)]
                    self.sections[name] += [f.strip() if kind == "a" else int(f) if kind == "i" else float(f) for f in fields if f.strip() or kind == "a"]

    def __getitem__(self, name):
        return self.sections[name]


def write_amber_top(path, prmtop):
    """The force field of a prmtop as a .top: waters by SETTLE, all else one molecule. Returns names and residues of the atoms."""
    p = Prmtop(prmtop)
    n, n_types = p["POINTERS"][0], p["POINTERS"][1]
    names, kinds = p["ATOM_NAME"][:n], p["ATOM_TYPE_INDEX"]
    charges = [q / AMBER_CHARGE for q in p["CHARGE"]]
    firsts = [k - 1 for k in p["RESIDUE_POINTER"]] + [n]
    residues = [(r + 1, label) for r, label in enumerate(p["RESIDUE_LABEL"][:len(firsts) - 1]) for _ in range(firsts[r], firsts[r + 1])]
    dry = firsts[p["RESIDUE_LABEL"].index("WAT")]

    def lj(a, b):
        k = p["NONBONDED_PARM_INDEX"][n_types * (a - 1) + b - 1] - 1
        return p["LENNARD_JONES_ACOEF"][k] * KCAL * 1e-12, p["LENNARD_JONES_BCOEF"][k] * KCAL * 1e-6

    def well(a, b):
        c12, c6 = lj(a, b)
        return ((c12 / c6) ** (1 / 6), c6 * c6 / (4 * c12)) if c12 > 0 and c6 > 0 else (0.0, 0.0)

    wells = {t: well(t, t) for t in range(1, n_types + 1)}
    for a in wells:  # the rule that the file's [ defaults ] names
        for b in wells:
            sigma, epsilon = 0.5 * (wells[a][0] + wells[b][0]), math.sqrt(wells[a][1] * wells[b][1])
            c12, c6 = lj(a, b)
            if abs(4 * epsilon * sigma ** 12 - c12) > 1e-6 * c12 or abs(4 * epsilon * sigma ** 6 - c6) > 1e-6 * c6:
                raise ValueError(f"{prmtop}: types {a} and {b} do not follow Lorentz and Berthelot")

    def terms(name, atoms):
        for part in ("_INC_HYDROGEN", "_WITHOUT_HYDROGEN"):
            v = p[name + part]
            for k in range(0, len(v), atoms + 1):
                yield v[k:k + atoms], v[k + atoms] - 1

    number = lambda k: abs(k) // 3 + 1
    lines = ["[ defaults ]", f"1 2 no 1.0 {1 / 1.2:.12f}", "[ atomtypes ]"]
    lines += [f"T{t} 0 1.0 0 A {s:.12e} {e:.12e}" for t, (s, e) in wells.items()]
    lines += ["[ moleculetype ]", "SOLUTE 0", "[ atoms ]"]
    lines += [f"{i + 1} T{kinds[i]} {residues[i][0]} {residues[i][1]} {names[i]} {i + 1} {charges[i]:.10f} {p['MASS'][i]}" for i in range(dry)]
    lines.append("[ bonds ]")
    water = {}
    for (i, j), t in terms("BONDS", 2):
        if number(i) <= dry:
            lines.append(f"{number(i)} {number(j)} 1 {0.1 * p['BOND_EQUIL_VALUE'][t]:.10f} {200 * KCAL * p['BOND_FORCE_CONSTANT'][t]:.8f}")
        else:
            water[names[number(i) - 1][0] + names[number(j) - 1][0]] = 0.1 * p["BOND_EQUIL_VALUE"][t]
    lines.append("[ angles ]")
    for (i, j, k), t in terms("ANGLES", 3):
        lines.append(f"{number(i)} {number(j)} {number(k)} 1 {math.degrees(p['ANGLE_EQUIL_VALUE'][t]):.10f} {2 * KCAL * p['ANGLE_FORCE_CONSTANT'][t]:.8f}")
    dihedrals, pairs = [], []
    for (i, j, k, l), t in terms("DIHEDRALS", 4):
        dihedrals.append(f"{number(i)} {number(j)} {number(k)} {number(l)} {4 if l < 0 else 9} {math.degrees(p['DIHEDRAL_PHASE'][t]):.8f} {KCAL * p['DIHEDRAL_FORCE_CONSTANT'][t]:.10f} {round(abs(p['DIHEDRAL_PERIODICITY'][t]))}")
        if k >= 0 and l >= 0:
            (s1, e1), (s2, e2) = wells[kinds[number(i) - 1]], wells[kinds[number(l) - 1]]
            pairs.append(f"{number(i)} {number(l)} 1 {0.5 * (s1 + s2):.12e} {0.5 * math.sqrt(e1 * e2):.12e}")
    lines += ["[ pairs ]", *pairs, "[ dihedrals ]", *dihedrals, "[ exclusions ]"]
    at = 0
    for i in range(dry):
        partners = [k for k in p["EXCLUDED_ATOMS_LIST"][at:at + p["NUMBER_EXCLUDED_ATOMS"][i]] if k > 0]
        at += p["NUMBER_EXCLUDED_ATOMS"][i]
        if partners:
            lines.append(" ".join(map(str, [i + 1, *partners])))
    o, h = dry, dry + 1
    lines += settled_water("WAT", f"T{kinds[o]}", f"T{kinds[h]}", charges[o], charges[h], p["MASS"][o], p["MASS"][h], water.get("OH") or water["HO"], water["HH"], names[dry:dry + 3])
    lines += ["[ system ]", "JAC", "[ molecules ]", "SOLUTE 1", f"WAT {(n - dry) // 3}"]
    pathlib.Path(path).write_text("\n".join(lines) + "\n")
    return names, residues


def write_mdp(path, forces=False):
    settings = {"integrator": "md", "dt": 0.002, "nsteps": 0, "coulombtype": "PME", "rcoulomb": 0.9, "rvdw": 0.9, "constraints": "h-bonds", "continuation": "yes", "gen-vel": "no",
                "nstcalcenergy": 100, "nstenergy": 1000, "nstlog": 0, "nstfout": 1 if forces else 0}
    pathlib.Path(path).write_text("".join(f"{key} = {value}\n" for key, value in settings.items()))


def write_lammps(folder, x, v, edge):
    """The input of a Lennard-Jones melt as LAMMPS's users run it: 2.5 sigma, a skin of 0.3, lists anew every 20 steps."""
    n = len(x)
    lines = ["melt", "", f"{n} atoms", "1 atom types", ""] + [f"0.0 {edge!r} {a}lo {a}hi" for a in "xyz"] + ["", "Masses", "", "1 1.0", "", "Atoms # atomic", ""]
    lines += [f"{i + 1} 1 " + " ".join(f"{c:.9f}" for c in x[i]) for i in range(n)]
    lines += ["", "Velocities", ""] + [f"{i + 1} " + " ".join(f"{c:.9f}" for c in v[i]) for i in range(n)]
    (folder / "melt.data").write_text("\n".join(lines) + "\n")
    (folder / "in.melt").write_text("\n".join([
        "units lj", "atom_style atomic", "read_data melt.data", "pair_style lj/cut 2.5", "pair_coeff 1 1 1.0 1.0 2.5", "neighbor 0.3 bin",
        "neigh_modify delay 0 every 20 check no", "timestep 0.005", "fix 1 all nve", "thermo 0", "run ${warm}", "run ${steps}"]) + "\n")


def read_trr_forces(path):
    """Forces of the last frame of a .trr in single precision [n, 3]."""
    data, at, forces = pathlib.Path(path).read_bytes(), 0, None
    while at < len(data):
        length = int.from_bytes(data[at + 8:at + 12], "big")  # of the version's text, after the magic number and its own length + 1
        at += 12 + (length + 3) // 4 * 4
        sizes = np.frombuffer(data, ">i4", 13, at)
        at += 13 * 4 + 8  # then time and lambda
        ir, e, box, vir, pres, top, sym, xs, vs, fs, n = (int(s) for s in sizes[:11])
        at += ir + e + box + vir + pres + top + sym + xs + vs
        if fs:
            forces = np.frombuffer(data, ">f4", 3 * n, at).reshape(n, 3).astype(float)
        at += fs
    return forces
