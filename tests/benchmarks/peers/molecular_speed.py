# SPDX-License-Identifier: Apache-2.0
"""Molecular dynamics beside its peers on the same input, in turn:

    python molecular_speed.py --build BUILD --data DATA [--case water|jac|melt]... [--threads N]... [--ranks N]... [--rounds 5] [--forces] [--folder F]

water: 7754 rigid SPC/E, jac: the joint AMBER-CHARMM benchmark (23,558 atoms), both PME and 0.9 nm, 2 fs, beside GROMACS and OpenMM;
melt: 32,000 Lennard-Jones atoms beside LAMMPS. Ours is `tessera run` on an input file, in mixed precision as it is shipped, with pme_order 4 and
ewald_rtol 5e-5 (peers: their defaults; the grid is that of GROMACS); every program
tells its own rate, without start-up and after steps that do not count. Constant energy; energies every 100 steps (OpenMM and LAMMPS: never).
--ranks takes as many ranks in place of threads (ours, LAMMPS: mpirun; GROMACS: -ntmpi), and leaves OpenMM out; figures are then named case_2r_...
--forces compares forces of the first frame with a converged Ewald sum (splines of order 8 on a fine grid, double precision).

The Python that runs it needs numpy, and OpenMM for that peer. Prints figures 'name value unit' (tests/benchmarks/README.md)."""
import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

import numpy as np

import molecular_inputs

HERE = pathlib.Path(__file__).resolve().parent
STEPS = {  # timed steps of a round by program, for one thread; as many again for each further one
    "water": {"ours": 250, "gmx": 120, "openmm": 40}, "jac": {"ours": 250, "gmx": 120, "openmm": 40}, "melt": {"ours": 500, "lmp": 150}}
WARM = 50
PME_CASE = {"rcoulomb": "0.9 nm", "rvdw": "0.9 nm", "constraints": "h-bonds", "dt": "2 fs"}
TUNED = {"pme_order": 4, "ewald_rtol": 5e-5}  # with the grid that GROMACS takes: a smaller error than that of the peers' defaults
MELT_CASE = {"coulombtype": "none", "rvdw": "2.5 nm", "vdw_modifier": "none", "dt": "5 fs"}
LJ = '[lennard_jones]\nsigma = "1 nm"\nepsilon = "1 kJ/mol"\nmass = "1 amu"\n'
EXACT = {"precision": "f64", "ewald_rtol": 1e-12, "pme_order": 8, "fourierspacing": "0.03 nm"}


def call(command, cwd, threads=1):
    done = subprocess.run([str(c) for c in command], cwd=cwd, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          env={**os.environ, "GMX_MAXBACKUP": "-1", "OMP_NUM_THREADS": str(threads), "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}:\n" + "\n".join((done.stdout + done.stderr).splitlines()[-15:]))
    return done.stdout + done.stderr


class Ours:
    name = "ours"

    def __init__(self, tessera, case, folder, begin):
        self.tessera, self.case, self.folder = tessera, case, folder
        self.begin = begin  # topology and structure, or tables of the melt

    def write(self, name, settings, tables=""):
        lines = ['app = "molecular.dynamics"'] + [f"{key} = {json.dumps(value)}" for key, value in {**self.begin, **settings}.items()]
        (self.folder / f"{name}.toml").write_text("\n".join(lines) + "\n" + tables)

    def run(self, name, threads, ranks=0):
        before = ["mpirun", "--oversubscribe", "-n", ranks] if ranks else []
        call([*before, self.tessera, "run", f"{name}.toml", "--output", name, "--force", "--threads", threads, "--progress", "none"], self.folder)
        return self.folder / name

    def rate(self, steps, threads, ranks):
        """ns/day"""
        common = {**PME_CASE, **TUNED} if self.case != "melt" else MELT_CASE
        stages = f'[[stage]]\nname = "warm"\nnsteps = {WARM}\n[[stage]]\nname = "timed"\nnsteps = {steps}\n'
        integrator = {"integrator": "md-vv"} if self.case == "melt" else {}
        self.write("ours", {**common, **integrator, "nstenergy": 100, "nstlog": 0, "nstxout": 0}, "[output]\npictures = false\n" + stages)
        manifest = json.loads((self.run("ours", threads, ranks) / "manifest.json").read_text())
        return find_metric(manifest, "timed.ns_per_day")

    def forces(self, name, settings):
        self.write(name, {**PME_CASE, **TUNED, **settings, "nsteps": 0}, "[output]\nforces = true\npictures = false\n")
        return np.loadtxt(next(self.run(name, 2).glob("*/forces.csv")), delimiter=",", skiprows=1)[:, 1:]


def find_metric(tree, name):
    if isinstance(tree, dict):
        if name in tree:
            return float(tree[name])
        tree = tree.values()
    elif not isinstance(tree, list):
        return None
    return next((v for v in (find_metric(t, name) for t in tree) if v is not None), None)


class Gromacs:
    name = "gmx"

    def __init__(self, folder):
        self.folder, self.tpr = folder, folder / "speed.tpr"
        self.make("speed", False)
        said = call(["gmx", "--version"], folder)
        version, simd = (re.search(name + r": *(\S+)", said)[1] for name in ("GROMACS version", "SIMD instructions"))
        self.version = f"gmx {version}, SIMD {simd}"

    def make(self, name, forces):
        molecular_inputs.write_mdp(self.folder / f"{name}.mdp", forces)
        call(["gmx", "grompp", "-f", f"{name}.mdp", "-c", "begin.gro", "-p", "system.top", "-o", f"{name}.tpr", "-po", f"{name}_out.mdp", "-maxwarn", 5], self.folder)

    def rate(self, steps, threads, ranks):
        parts = ["-nt", max(ranks, 1) * threads, "-ntmpi", max(ranks, 1), "-ntomp", threads]
        call(["gmx", "mdrun", "-s", "speed.tpr", "-deffnm", "gmx_speed", "-nsteps", WARM + steps, "-resetstep", WARM, *parts, "-pin", "on"], self.folder, threads)
        log = (self.folder / "gmx_speed.log").read_text()
        return float(re.search(r"^Performance: +(\S+)", log, re.M)[1])

    def forces(self):
        self.make("forces", True)
        call(["gmx", "mdrun", "-s", "forces.tpr", "-deffnm", "gmx_forces", "-nsteps", 0, "-nt", 1], self.folder)
        return molecular_inputs.read_trr_forces(self.folder / "gmx_forces.trr")


class OpenMM:
    name = "openmm"

    def __init__(self, case, folder, threads):
        command = [sys.executable, str(HERE / "openmm_speed.py"), case, str(folder), str(threads)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "OPENMM_CPU_THREADS": str(threads)})
        said = self.process.stdout.readline().split()
        self.version = f"OpenMM {said[1]} {said[2]}" if said else None

    def ask(self, line):
        print(line, file=self.process.stdin, flush=True)
        return self.process.stdout.readline().strip()

    def rate(self, steps, threads, ranks):
        return 86.4 * 0.002 * steps / float(self.ask(f"run {steps}"))

    def forces(self, path):
        self.ask(f"forces {path}")
        return np.load(path)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Lammps:
    name = "lmp"

    def __init__(self, folder):
        self.folder = folder
        self.version = "lmp " + re.search(r"Simulator - (.*)", call(["lmp", "-h"], folder))[1] + ", -sf opt"

    def rate(self, steps, threads, ranks):
        cores = max(threads, ranks)
        before = ["mpirun", "-n", cores, "--bind-to", "core"] if cores > 1 else []
        said = call([*before, "lmp", "-sf", "opt", "-in", "in.melt", "-var", "warm", WARM, "-var", "steps", steps, "-log", "none"], self.folder, 1)
        seconds = float(re.findall(r"Loop time of (\S+) on", said)[-1])
        return 86.4 * 0.005 * steps / seconds


def prepare(case, tessera, data, folder):
    """Writes begin.gro, whole.npy and what belongs to them; a frame at about 300 K (the melt: T = 0.7 or so) from a run of ours."""
    if (folder / "ready").exists():
        return
    if case == "melt":
        ours = Ours(tessera, case, folder, {})
        ours.write("prepare", {**MELT_CASE, "gen_temp": f"{1.44 / 0.00831446261815324!r} K", "nsteps": 500, "nstxout": 0}, LJ + f'[build]\nlattice = "fcc"\ncells = 20\nedge = "{33.59192382765015 / 20!r} nm"\n')
    elif case == "water":
        ours = Ours(tessera, case, folder, {**PME_CASE, "tcoupl": "v-rescale", "tau_t": "0.1 ps", "nstxout": 0})
        ours.write("prepare", {}, '[build]\nkind = "water"\nmodel = "spce"\nmolecules = 7754\n[[stage]]\ntype = "minimize"\nnsteps = 60\n[[stage]]\nnsteps = 1500\n')
    else:
        ours = Ours(tessera, case, folder, {**PME_CASE, "topology": str(data / "md/dhfr/JAC.prmtop.gz"), "structure": str(data / "md/dhfr/JAC.rst7.gz"), "nstxout": 0})
        ours.write("prepare", {"nsteps": 200})
    x, v, edges = molecular_inputs.read_restart(max(ours.run("prepare", 2).glob("*/final.rst7")))
    whole, x = x, molecular_inputs.inside(x, edges)
    np.save(folder / "whole.npy", x + np.round((whole - x) / edges) * edges)  # OpenMM's constraints know no images
    names, residues = ["AR"] * len(x), [(1, "LJ")] * len(x)
    if case == "water":
        molecular_inputs.write_water_top(folder / "system.top", len(x) // 3)
        names, residues = ["OW", "HW1", "HW2"] * (len(x) // 3), [(k // 3 + 1, "SOL") for k in range(len(x))]
    elif case == "jac":
        names, residues = molecular_inputs.write_amber_top(folder / "system.top", data / "md/dhfr/JAC.prmtop.gz")
        (folder / "JAC.prmtop").write_bytes(molecular_inputs.gzip.open(data / "md/dhfr/JAC.prmtop.gz").read())
    else:
        molecular_inputs.write_melt_top(folder / "system.top", len(x))
        molecular_inputs.write_lammps(folder, x, v, float(edges[0]))
    molecular_inputs.write_gro(folder / "begin.gro", names, residues, x, v, edges)
    (folder / "ready").touch()


def figure(name, value, unit):
    print(f"{name} {value:.6g} {unit}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path(os.environ.get("TESSERA_TEST_DATA", "shared/data")))
    parser.add_argument("--case", action="append", choices=list(STEPS))
    parser.add_argument("--threads", action="append", type=int)
    parser.add_argument("--ranks", action="append", type=int, default=[])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--forces", action="store_true")
    parser.add_argument("--without", action="append", default=[], choices=["gmx", "openmm", "lmp"])
    parser.add_argument("--folder", type=pathlib.Path)
    o = parser.parse_args()
    place = o.folder or pathlib.Path(tempfile.mkdtemp(prefix="tessera_speed_"))
    tessera = o.build.resolve() / "bin" / "tessera"
    for case in o.case or list(STEPS):
        folder = place.resolve() / case
        folder.mkdir(parents=True, exist_ok=True)
        prepare(case, tessera, o.data.resolve(), folder)
        ours = Ours(tessera, case, folder, {"topology": "system.top", "structure": "begin.gro"})
        for threads, ranks in [(n, 0) for n in o.threads or ([] if o.ranks else [1, 2])] + [(1, n) for n in o.ranks]:
            peers = []
            if case == "melt":
                peers += [Lammps(folder)] if shutil.which("lmp") and "lmp" not in o.without else []
            else:
                peers += [Gromacs(folder)] if shutil.which("gmx") and "gmx" not in o.without else []
                peers += [OpenMM(case, folder, threads)] if not ranks and "openmm" not in o.without else []
                peers = [p for p in peers if p.version]
            cores = max(threads, ranks)
            print(f"# {case}, {cores} {'rank' if ranks else 'thread'}{'s' if cores > 1 else ''}, beside " + ", ".join(p.version for p in peers), flush=True)
            what = f"{case}_{cores}{'r' if ranks else ''}"
            rates = {p.name: [] for p in [ours, *peers]}
            for r in range(o.rounds):
                for p in [ours, *peers]:
                    rates[p.name].append(p.rate(cores * STEPS[case][p.name], threads, ranks))
            for name, of in rates.items():
                figure(f"{what}_{name}", statistics.median(of), "ns/day")
            for p in peers:
                ratios = [a / b for a, b in zip(rates["ours"], rates[p.name])]
                for kind, value in (("ratio", statistics.median(ratios)), ("ratio_low", min(ratios)), ("ratio_high", max(ratios))):
                    figure(f"{what}_{p.name}_{kind}", value, "x")
            if o.forces and case != "melt" and threads == (o.threads or [1])[0]:
                exact = ours.forces("exact", EXACT)
                scale = np.sqrt(np.mean(exact ** 2))
                found = {"ours": ours.forces("mixed", {})}
                for p in peers:
                    found[p.name] = p.forces() if p.name == "gmx" else p.forces(folder / "openmm_forces.npy")
                for name, f in found.items():
                    figure(f"{case}_{name}_force_error", np.sqrt(np.mean((f - exact) ** 2)) / scale, "1")
            for p in peers:
                if p.name == "openmm":
                    p.close()
    if not o.folder:
        shutil.rmtree(place)


main()
