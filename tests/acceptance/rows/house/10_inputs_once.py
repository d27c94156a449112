# SPDX-License-Identifier: Apache-2.0
import hashlib
import json
import math
import pathlib
import re
import shutil

import rowkit

WHAT = ("how often a run of a small case of each application opens each of its input files by its name (strace of all threads and children): tables of n "
        "and k, a waveform, fields of a former run and of receivers, a force field, a structure, a topology with includes for two stages, a restart, XTC and "
        "H5MD trajectories (HDF5's library opens their descriptors again, /proc/self/fd), a file that is topology and trajectory at once, EDI soundings; new runs and one that goes on")
BAR = "once each, none left out of the manifest, and its SHA-256 that of the file"

OPENED = re.compile(r'\bopen(?:at)?\((?:AT_FDCWD|\d+)?(?:, )?"((?:[^"\\]|\\.)*)", ([A-Z_|]+)[^=]*= \d')

FDTD = """app = "electromagnetics.fdtd"
grid = {size = ["2 um", "2 um", "0 um"], cell = "100 nm", polarization = "Ez"}
run = {stop.steps = 400}
boundary = {pml.cells = 5}
output = {vtk = false}
material = [{name = "one", index_file = "nk.csv"}, {name = "two", index_file = "nk.csv"}]
structure = [{shape = "sphere", radius = "0.2 um", centre = ["0.4 um", "0 um", "0 um"], material = "one"}, {shape = "sphere", radius = "0.2 um", centre = ["0 um", "0.4 um", "0 um"], material = "two"}]
source = [{kind = "point", component = "Ez", position = ["-0.4 um", "0 um", "0 um"], waveform = {kind = "file", file = "wave.txt"}}]
monitor = [{kind = "dft", name = "field", position = ["0.2 um", "0.1 um", "0 um"], size = ["0.3 um", "0.3 um", "0 um"], frequencies = ["190 THz"]}]
"""
INVERSE = """app = "electromagnetics.inverse_scattering"
grid = {size = ["0.4 m", "0.4 m", "0 m"], cell = "2 cm", polarization = "Ez"}
run = {precision = "f64", stop.time = "3 ns"}
boundary = {pml.cells = 4}
receivers = {positions = [["-0.08 m", "-0.06 m", "0 m"], ["0.08 m", "0.06 m", "0 m"]]}
region = {low = ["-4 cm", "-4 cm", "0 m"], high = ["4 cm", "4 cm", "0 m"], start = 1.5, least = 1}
optimize = {iterations = 1}
output = {vtk = false, pictures = false}
material = [{name = "stone", index_file = "nk_m.csv"}]
structure = [{shape = "sphere", radius = "2 cm", centre = ["0 m", "0.12 m", "0 m"], material = "stone"}]
truth = [{shape = "sphere", radius = "2 cm", material = "stone"}]
source = [{kind = "point", component = "Ez", position = ["-0.1 m", "0 m", "0 m"], amplitude = 1e-4, waveform = {kind = "baseband", width = "0.2 ns"}}]
"""
PEPTIDE = """app = "molecular.dynamics"
forcefield = ["peptides.xml"]
structure = "alanine.pdb"
add_hydrogens = true
rcoulomb = "inf"
rvdw = "inf"
coulombtype = "cut-off"
vdw_modifier = "none"
constraints = "h-bonds"
dt = "1 fs"
nsteps = 20
nstxout = 10
output.trajectory = ["xtc", "h5md"]
"""
WATER = """app = "molecular.dynamics"
topology = "w.top"
structure = "w.gro"
rcoulomb = "0.9 nm"
rvdw = "0.9 nm"
constraints = "h-bonds"
dt = "1 fs"
gen_temp = "100 K"
nsteps = 10
stage = [{name = "free"}, {name = "held", define = ["POSRES"]}]
"""
GRO = """Water
    3
    1SOL     OW    1   0.500   0.500   0.500
    1SOL    HW1    2   0.600   0.500   0.500
    1SOL    HW2    3   0.467   0.594   0.500
   2.00000   2.00000   2.00000
"""
TOP = """#include "field.itp"
[ moleculetype ]
SOL 2
[ atoms ]
1 O 1 SOL OW 1 -0.8476
2 H 1 SOL HW1 1 0.4238
3 H 1 SOL HW2 1 0.4238
[ settles ]
1 1 0.1 0.16330
#ifdef POSRES
#include "held.itp"
#endif
[ system ]
Water
[ molecules ]
SOL 1
"""
BOTH = """app = "molecular.analysis"
topology = "argon.pdb"
trajectory = ["argon.pdb", "argon.xtc"]
group = [{name = "half", select = "x < 1.5"}]
analysis = [{type = "rdf", group = "half", r_max = "1 nm"}]
"""
SOUNDINGS = 'app = "inversion.mt1d"\n[data]\nfiles = "site/soundings"\n[model]\nlayers = 12\n[posterior]\nmethod = "none"\n'


def write_inputs(work, place):
    """The cases and what they read."""
    files = {
        "nk.csv": "wl,n\n0.8,1.5\n1.2,1.49\n1.6,1.48\n2.0,1.47\n",
        "wave.txt": "".join(f"{n}e-15 {math.exp(-0.01 * (n - 40) ** 2) * math.sin(0.3 * n)!r}\n" for n in range(101)),
        "nk_m.csv": "wl_m,n\n0.1,1.2\n0.2,1.21\n0.5,1.22\n1,1.2201\n",
        "field.itp": "[ defaults ]\n1 2 yes 0.5 0.8333\n[ atomtypes ]\nO 8 15.9994 0.0 A 0.3166 0.65\nH 1 1.008 0.0 A 0 0\n",
        "held.itp": "[ position_restraints ]\n1 1 1000 1000 1000\n",
        "w.top": TOP, "w.gro": GRO,
        "fdtd.toml": FDTD, "inverse.toml": INVERSE, "peptide.toml": PEPTIDE, "water.toml": WATER, "both.toml": BOTH, "soundings.toml": SOUNDINGS,
    }
    for name, text in files.items():
        (place / name).write_text(text)
    for name in ("peptides.xml", "alanine.pdb"):
        shutil.copy(work.root / "apps" / "examples" / "molecular" / name, place)
    for command in (["new", "molecular.analysis", place / "trajectory"], ["new", "inversion.mt1d", place / "site"]):
        work.run([work.tessera(), *command]).must_succeed(command[1])
    for name in ("argon.pdb", "argon.xtc"):
        shutil.copy(place / "trajectory" / name, place)
    for sounding in sorted((place / "site" / "soundings").iterdir())[3:]:
        sounding.unlink()


def opened(trace, place):
    """How often each file was opened for reading, by the name that it was opened by."""
    count = {}
    for line in trace.read_text(errors="replace").splitlines():
        found = OPENED.search(line)
        if found and "O_DIRECTORY" not in found[2] and "O_WRONLY" not in found[2]:
            path = (place / found[1]).resolve()
            count[path] = count.get(path, 0) + 1
    return count


def measure(work):
    strace = shutil.which("strace")
    if not strace:
        raise rowkit.NotMeasured("strace is not installed (Debian package strace)")
    wrong, files, runs = [], 0, 0
    with work.temp() as folder:
        place = pathlib.Path(folder).resolve()
        write_inputs(work, place)

        def attempt(run, inputs, *arguments):
            nonlocal files, runs
            runs += 1
            trace = place / "trace"
            done = work.run([strace, "-f", "-qq", "-e", "trace=open,openat", "-o", trace, work.tessera(), *arguments, "--progress", "none"], cwd=place)
            if done.code != 0 and "ptrace" in done.err:
                raise rowkit.NotMeasured("strace may not trace here: " + done.err.strip()[:200])
            what = f"{arguments[0]} of {run}"
            if done.code != 0:
                wrong.append(f"{what}: exit {done.code}, {done.err.strip()[-300:]}")
                return
            count = opened(trace, place)
            named = {pathlib.Path(f["path"]).resolve(): f["sha256"] for f in json.loads((place / run / "manifest.json").read_text())["inputs"]}
            for name in inputs:
                path, files = place / name, files + 1
                if count.get(path, 0) != 1:
                    wrong.append(f"{what}: {name} is opened {count.get(path, 0)} times")
                if named.get(path) != hashlib.sha256(path.read_bytes()).hexdigest():
                    wrong.append(f"{what}: {name} is {named.get(path, 'not')} in the manifest")
            if extra := sorted(str(p) for p in set(named) - {place / name for name in inputs}):
                wrong.append(f"{what}: {' '.join(extra)} are in the manifest")

        attempt("waves", ["nk.csv", "wave.txt"], "run", "fdtd.toml", "--output", "waves")
        attempt("less", ["nk.csv", "wave.txt", "waves/results.h5"], "run", "fdtd.toml", "--output", "less", "--set", 'monitor[0].subtract="waves"')
        work.run([work.tessera(), "run", "inverse.toml", "--output", "made", "--progress", "none"], cwd=place).must_succeed("the data of inverse scattering")
        for name in ("made/tables/measured.csv", "made/results.h5"):
            run = f"inverse_{pathlib.Path(name).suffix[1:]}"
            attempt(run, ["nk_m.csv", name], "run", "inverse.toml", "--output", run, "--set", f'data.file="{name}"')
        peptide = ["peptides.xml", "alanine.pdb"]
        attempt("peptide", peptide, "run", "peptide.toml", "--output", "peptide")
        attempt("peptide", peptide, "resume", "peptide", "--set", "nsteps=40")
        for ending in ("xtc", "h5md"):
            frames = next((place / "peptide").glob(f"*/*.{ending}")).relative_to(place)
            attempt(f"again_{ending}", [*peptide, str(frames)], "rerun", "peptide.toml", frames, "--output", f"again_{ending}")
        water = ["w.top", "w.gro", "field.itp", "held.itp"]
        attempt("water", water, "run", "water.toml", "--output", "water")
        attempt("on", [*water, "water/2_held/final.rst7"], "run", "water.toml", "--output", "on", "--set", 'velocities="water/2_held/final.rst7"')
        attempt("frames", ["argon.pdb", "argon.xtc"], "run", "both.toml", "--output", "frames")
        h5md = str(next((place / "peptide").glob("*/*.h5md")).relative_to(place))
        (place / "h5md.toml").write_text(f'app = "molecular.analysis"\ntopology = "{h5md}"\ntrajectory = ["{h5md}"]\nanalysis = [{{type = "gyration"}}]\n')
        attempt("h5md", [h5md], "run", "h5md.toml", "--output", "h5md")
        attempt("profile", [f"site/soundings/syn0{k}.edi" for k in (1, 2, 3)], "run", "soundings.toml", "--output", "profile")
    return not wrong, "\n".join([f"{files} input files of {runs} runs: " + (f"{len(wrong)} faults" if wrong else "once each, and as the manifest names them"), *wrong])
