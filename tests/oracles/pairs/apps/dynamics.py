# SPDX-License-Identifier: Apache-2.0
"""molecular.dynamics: 64 waters in a periodic box, twenty steps."""
import math

from case import expect, expect_near, expect_same_files

N_STEPS = 20


def prepare(place, tessera, data):
    pass


BASE = {"build.kind": "water", "build.molecules": 64, "build.model": "tip3p", "nsteps": N_STEPS}
FIXED = {
    "schema": "one version", "title": "on pictures alone", "topology": "a built system stands for all", "structure": "likewise", "velocities": "of a structure of a file", "start_time": "the time is what laws look at; its own tests", "forcefield": "likewise",
    "add_hydrogens": "needs a force field of files", "include_folders": "of GROMACS topologies", "duration": "instead of nsteps", "define": "of GROMACS topologies",
    "stage": "the same settings as at the top, a stage at a time", "lennard_jones": "another system", "build": "how the system is made", "solvate": "how the system is made",
    "freeze_x": "rigid water cannot be held along one axis: an edge", "freeze_y": "likewise", "freeze_z": "likewise",
    "expect": "promises; their own tests", "output.select": "needs more than water",
}
LEVELS = {
    "coulomb_constant": ["file", "codata_2018"],
    "seed": [1, 5],
    "integrator": [None, "md", "md-vv", "sd", "steep", "l-bfgs", "fire"],  # newton-cg takes no rigid water: an edge
    "dt": ["1 fs", "2 fs"],
    "rcoulomb": ["0.6 nm", "0.55 nm"],
    "rvdw": ["0.6 nm", "0.55 nm"],
    "rvdw_switch": [None, "0.5 nm"],
    "epsilon_r": [1, 2],
    "epsilon_rf": [0, 78],
    "fourierspacing": ["0.12 nm", "0.08 nm"],
    "fourier_grid": [[0, 0, 0], [18, 18, 18]],
    "pme_order": [5, 4],
    "ewald_rtol": [1e-5, 1e-6],
    "ewald_beta": [None, "4 1/nm"],
    "ewald_kmax": [None, "25 1/nm"],
    "mts_level2_factor": [2, 4],
    "tau_t": ["0.5 ps", "0.05 ps"],
    "ref_t": [None, "200 K"],
    "heat_from": [None, "50 K"],
    "annealing_time": [None, ["0 ps", "0.01 ps"]],
    "annealing_temp": [None, ["300 K", "250 K"]],
    "tc_grps": [[], ["serial 1 to 96", "serial 97 to 192"]],
    "tc_ref_t": [[], ["300 K", "200 K"]],
    "tc_tau_t": [[], ["0.5 ps", "0.1 ps"]],
    "tau_p": ["5 ps", "1 ps"],
    "ref_p": ["1 bar", ["1 bar", "1 bar", "100 bar"]],
    "compressibility": ["4.5e-5 1/bar", ["4.5e-5 1/bar", "4.5e-5 1/bar", "0 1/bar"]],
    "nstpcouple": [4, 10],
    "hydrogen_mass": [None, "3 amu"],
    "nstcomm": [100, 5],
    "rigid_water": [None, False, True],
    "gen_vel": [None, False, True],
    "gen_temp": [None, "150 K"],
    "emtol": ["10 kJ/mol/nm", "1000 kJ/mol/nm"],
    "emstep": ["0.01 nm", "0.001 nm"],
    "posres": [None, "serial 1 to 30"],
    "posres_k": ["1000 kJ/mol/nm^2", "100 kJ/mol/nm^2"],
    "freeze": [None, "serial 4 to 6"],
    "nstlog": [0, 4],
    "nstenergy": [4, 0],
    "nstxout": [0, 4],
    "output.trajectory": [["xtc"], ["trr", "dcd"], ["nc", "h5md", "pvd"]],
    "output.final": [["rst7", "gro"], ["rst7", "gro", "pdb", "cif", "ncrst"]],
    "output.xtc_precision": ["1000 1/nm", "100 1/nm"],
}
REFUSED = [
    {"when": {"heat_from": "given", "annealing_time": "given"}},
    {"when": {"heat_from": "given", "annealing_temp": "given"}},
    {"when": {"annealing_time": "given", "annealing_temp": None}},
    {"when": {"annealing_time": None, "annealing_temp": "given"}},
    {"when": {"annealing_temp": "given", "tc_ref_t": ["300 K", "200 K"]}},
    {"when": {"comm_mode": "angular", "box": "input"}},
    {"when": {"box": "none", "coulombtype": ("pme", "ewald")}},
    {"when": {"box": "none", "pcoupl": ("c-rescale", "parrinello-rahman", "monte-carlo", "berendsen")}},
    {"when": {"mts": True, "coulombtype": ("reaction-field", "cut-off", "none")}},
    {"when": {"coulomb_modifier": "force-shift", "coulombtype": ("pme", "ewald", "reaction-field")}},
]
VERBS = ()
MINIMIZERS = ("steep", "l-bfgs", "fire", "newton-cg")


def folder(run):
    return next(p.name for p in run.folder.iterdir() if p.name.startswith("1_"))


def fs(text):
    return float(text.split()[0]) * 1e-3


def laws(run):
    at = folder(run)
    rows = run.table(f"{at}/energies.csv")
    down = run["integrator"] in MINIMIZERS
    n = len(rows["step"])
    finite = [c for c in rows if any(v != v or abs(v) == math.inf for v in rows[c] if isinstance(v, float))]
    expect("every number of energies.csv is one", not finite, lambda: finite)
    columns = list(rows)
    terms_of = columns[columns.index("time_ps") + 1:columns.index("potential")]
    for k in range(n):
        terms = [rows[t][k] for t in terms_of]
        expect_near("the potential is the sum of its terms", sum(terms), rows["potential"][k], relative=1e-9, absolute=1e-6)
    if down:
        expect("no minimizer ends above its start", rows["potential"][-1] <= rows["potential"][0] + 1e-6 * abs(rows["potential"][0]), lambda: rows["potential"])
        return
    expect("steps are those asked for", rows["step"][-1] == run["nsteps"] and rows["step"][0] == 0, lambda: rows["step"])
    for k in range(n):
        expect_near("the time is steps times dt", rows["time_ps"][k], rows["step"][k] * fs(run["dt"]), absolute=1e-12)
        expect_near("the total is potential and kinetic energy", rows["total"][k], rows["potential"][k] + rows["kinetic"][k], relative=1e-12, absolute=1e-9)
        cold = run["gen_vel"] is False or run["ref_t"] == "0 K"
        expect("temperatures are positive", rows["temperature_k"][k] > 0 or cold, lambda: rows["temperature_k"])
        # The kinetic energy is the mean of both half steps, the temperature that of one of them, with collisions that of the velocities
        # between: one number for md-vv alone, and far apart where atoms at rest begin to move.
        if rows["temperature_k"][k] > 0 and rows["temperature_k"][0] > 0 and not (cold and run["integrator"] != "md-vv"):
            per_kelvin = rows["kinetic"][k] / rows["temperature_k"][k]
            expect_near("kinetic energy is degrees of freedom times temperature", per_kelvin, rows["kinetic"][0] / rows["temperature_k"][0], relative=1e-9 if run["integrator"] == "md-vv" else 0.2 if run["dt"] == "2 fs" else 0.1)
        if run["box"] == "none":
            expect("without a box there is no volume", "volume_nm3" not in rows, lambda: list(rows))
            continue
        if (run["pcoupl"] or "no") == "no":
            expect("without a barostat the box stays", rows["volume_nm3"][k] == rows["volume_nm3"][0], lambda: rows["volume_nm3"])
        else:
            expect_near("the box keeps its size in twenty steps", rows["volume_nm3"][k], rows["volume_nm3"][0], relative=0.05)
        expect_near("density times volume is the mass", rows["density_kg_m3"][k] * rows["volume_nm3"][k], rows["density_kg_m3"][0] * rows["volume_nm3"][0], relative=1e-9)
    # Charges that are cut off with nothing shifted fall out of sight with their energy; so do those of a sum, by erfc(beta rcoulomb),
    # which is 0.002 with the beta of LEVELS: no shorter step mends it, a shift does.
    jumps = run["coulomb_modifier"] == "none" and (run["coulombtype"] == "cut-off" or run["ewald_beta"] is not None)
    # What a step of this length leaves of flexible and rigid bonds, and what single precision of forces adds: under 1.5 % of the
    # kinetic energy in twenty steps. Faults of a bath or a barostat show in its size.
    # Forces at several times the step (1 % of the kinetic energy at its largest with two, 2.2 % with four) fall with its square, too.
    scale = max(rows["kinetic"]) * run["mts_level2_factor"] / 2 if run["mts"] else max(abs(rows["kinetic"][0]), 400.0)
    expect("what is conserved stays", jumps or max(abs(v - rows["conserved"][0]) for v in rows["conserved"]) <= 0.015 * scale * (4 if run["dt"] == "2 fs" else 1),
           lambda: f"{rows['conserved']} of a kinetic energy of {scale:.0f}")
    places = positions(run.folder / at / "final.gro")
    if (run["constraints"] or "none") != "none" or run["rigid_water"]:
        for w in range(0, len(places), 3):
            for h in (1, 2):
                d = math.dist(places[w], places[w + h])
                expect_near("rigid bonds keep their length", d, 0.09572, absolute=1.5e-3)


def positions(path):
    lines = path.read_text().splitlines()
    return [tuple(float(v) for v in (line[20:28], line[28:36], line[36:44])) for line in lines[2:2 + int(lines[1])]]


def with_keys(run, **other):
    return {**run.keys, **{k.replace("__", "."): v for k, v in other.items()}}


def final(law, a, b):
    """The same end: places and velocities."""
    x, y = a.files(".rst7"), b.files(".rst7")
    expect_same_files(law, x, y)


def everything(law, a, b):
    expect_same_files(law, a.files(".csv", ".h5", ".rst7", ".gro", ".xtc", ".trr", ".dcd", ".nc"), b.files(".csv", ".h5", ".rst7", ".gro", ".xtc", ".trr", ".dcd", ".nc"))


def other_output(run):
    """Other intervals and files; multiples of all mts factors."""
    if (run["integrator"] or "md") in MINIMIZERS:
        return None
    return with_keys(run, nstlog=8 if run["nstlog"] == 4 else 4, nstxout=0 if run["nstxout"] else 4, nstenergy=20 if run["nstenergy"] == 4 else 4, output__trajectory=["xtc"],
                     output__pictures=run["output.pictures"] is False, output__velocities=not run["output.velocities"], output__forces=not run["output.forces"]), {}


def reordered(run):
    return run.keys, {"reverse": True}


CHANGES = [
    ("threads do not matter", lambda run: (run.keys, {"options": ("--threads", "2")}), everything),
    ("order of keys and tables does not matter", reordered, everything),
    ("intervals and kinds of output do not matter", other_output, final),
]

EDGES = [
    ("no steps", {"nsteps": 0}, None),
    ("one step", {"nsteps": 1}, None),
    ("one atom alone", {"build.kind": "lattice", "build.model": None, "build.molecules": None, "build.lattice": "simple", "build.cells": [1, 1, 1], "build.edge": "3 nm", "lennard_jones.mass": "40 amu", "coulombtype": "none"}, "degrees of freedom"),
    ("one atom that may drift", {"build.kind": "lattice", "build.model": None, "build.molecules": None, "build.lattice": "simple", "build.cells": [1, 1, 1], "build.edge": "3 nm", "lennard_jones.mass": "40 amu", "coulombtype": "none", "comm_mode": "none"}, None),
    ("a box below two cut-offs", {"rvdw": "5 nm", "rcoulomb": "5 nm"}, "rvdw"),
    ("a time step of nothing", {"dt": "0 fs"}, "dt"),
    ("a thermostat of no time", {"tcoupl": "v-rescale", "tau_t": "0 ps"}, "tau_t"),
    ("a thermostat at nothing", {"tcoupl": "v-rescale", "ref_t": "0 K"}, None),
    ("every atom frozen", {"freeze": "all"}, "freeze"),
    ("a group of no atom", {"tcoupl": "v-rescale", "tc_grps": ["serial 1 to 192", "resname NONE"]}, "tc_grps"),
    ("an atom in two groups", {"tcoupl": "v-rescale", "tc_grps": ["serial 1 to 100", "serial 100 to 192"]}, "tc_grps"),
    ("atoms in no group", {"tcoupl": "v-rescale", "tc_grps": ["serial 1 to 96"]}, "tc_grps"),
    ("one molecule", {"build.molecules": 1, "build.box": ["3 nm", "3 nm", "3 nm"]}, None),
    ("no molecule", {"build.molecules": 0}, "molecules"),
    ("a bath that heats over no step", {"nsteps": 0, "tcoupl": "v-rescale", "heat_from": "50 K"}, None),
    ("a rotation in a box", {"comm_mode": "angular"}, ["comm_mode", "periodic box", "box = \"none\""]),
    ("half of a rigid water frozen", {"freeze": "element O"}, ["freeze", "rigid_water"]),
    ("rigid water held along one axis", {"freeze_x": "serial 7 to 9"}, ["freeze_x", "rigid_water"]),
    ("Newton's method with rigid water", {"integrator": "newton-cg"}, ["integrator", "rigid_water"]),
    ("a switch at the cut-off", {"vdw_modifier": "force-switch", "rvdw_switch": "0.6 nm"}, "rvdw_switch"),
]
