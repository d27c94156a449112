#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What gmx finds for the two boxes of water of waters.py: references/water_models_gmx.json.

    tests/acceptance/peers/water_models_gmx.py run FOLDER       the simulations (hours; goes on where it was stopped)
    tests/acceptance/peers/water_models_gmx.py collect FOLDER   the reference, from what the folder holds by then

Everything is gmx's own: gmx energy, gmx msd, gmx rdf. Errors are those of the mean of blocks of the trajectory."""
import argparse
import datetime
import json
import math
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.dont_write_bytecode = True
import ensembles  # noqa: E402
import waters  # noqa: E402

REFERENCE = HERE.parent / "references" / "water_models_gmx.json"
SEED = {("spce", "density"): 11, ("spce", "fluid"): 12, ("tip3p", "density"): 13, ("tip3p", "fluid"): 14}
BLOCKS = 10
FINE = 20  # bins of gmx rdf in one of ours


def gmx(folder, *args, words=""):
    done = subprocess.run(["gmx", "-nobackup", *map(str, args)], cwd=folder, input=words, text=True, capture_output=True, env={**os.environ, "GMX_MAXCONSTRWARN": "-1"})
    if done.returncode:
        sys.exit(f"gmx {args[0]} ended with {done.returncode}:\n" + done.stderr[-3000:])
    return done.stdout + done.stderr


def mdp(part, stage, seed):
    picoseconds = waters.PICOSECONDS[part][stage]
    told = {key: value[0] if isinstance(value, tuple) else value for key, value in {**waters.INTERACTIONS, **waters.STAGES[part][stage]}.items()}
    told["nstxout-compressed"] = told.pop("nstxout")
    told.update({"integrator": "md", "dt": waters.DT_PS, "nsteps": round(picoseconds / waters.DT_PS), "coulombtype": "PME", "tc-grps": "System", "compressed-x-precision": 10000,
                 "gen-vel": "yes" if stage == "begin" else "no", "continuation": "no" if stage == "begin" else "yes", "gen-temp": waters.T_K, "gen-seed": seed, "ld-seed": seed, "nstlog": 0,
                 "nstcalcenergy": 100, **dict.fromkeys(("fourier-nx", "fourier-ny", "fourier-nz"), waters.GRID)})
    return "".join(f"{key} = {value}\n" for key, value in told.items())


def prepare(folder, model, part):
    """Everything up to a file that mdrun can begin the sample with."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "topol.top").write_text(waters.topology(model))
    (folder / "start.gro").write_text(waters.structure(model, waters.EDGE_NM[model]))
    interactions = {key: value[0] if isinstance(value, tuple) else value for key, value in waters.INTERACTIONS.items()}
    (folder / "minimize.mdp").write_text("".join(f"{k} = {v}\n" for k, v in {**interactions, "coulombtype": "PME", "integrator": "steep", "nsteps": 500, "emtol": 200}.items()))
    for stage in ("begin", "sample"):
        (folder / f"{stage}.mdp").write_text(mdp(part, stage, SEED[model, part]))
    before = "start"
    for stage in ("minimize", "begin"):
        if not (folder / f"{stage}.gro").exists():
            gmx(folder, "grompp", "-f", f"{stage}.mdp", "-c", f"{before}.gro", "-p", "topol.top", "-o", f"{stage}.tpr", "-po", "out.mdp")
            mdrun(folder, stage)
        before = stage
    gmx(folder, "grompp", "-f", "sample.mdp", "-c", "begin.gro", "-t", "begin.cpt", "-p", "topol.top", "-o", "sample.tpr", "-po", "out.mdp")


def mdrun(folder, stage, minutes=0):
    limit = ["-maxh", minutes / 60] if minutes else []
    gmx(folder, "mdrun", "-deffnm", stage, "-nt", 1, "-ntomp", 1, "-pin", "off", "-cpi", f"{stage}.cpt", "-cpt", 5, *limit)


def run(folder, minutes):
    parts = [(folder / model / part, model, part) for part in waters.STAGES for model in waters.MODELS]
    while open_parts := [p for p in parts if not (p[0] / "sample.gro").exists()]:
        for place, model, part in open_parts:
            if not (place / "sample.tpr").exists():
                prepare(place, model, part)
            # in slices of time the parts grow together, each as its length is to that of the others
            mdrun(place, "sample", minutes * waters.PICOSECONDS[part]["sample"] / 1000)


def xvg(path):
    rows = [line.split() for line in path.read_text().splitlines() if line and line[0] not in "#@&"]
    return [[float(v) for v in column] for column in zip(*rows)]


def blocked(values):
    """Mean and its standard error, of independent values."""
    m = sum(values) / len(values)
    return m, math.sqrt(sum((v - m) ** 2 for v in values) / (len(values) - 1) / len(values))


def diffusion(folder, begin=None, end=None):
    """1e-5 cm^2/s, of oxygens."""
    times = [*(["-b", begin] if begin is not None else []), *(["-e", end] if end is not None else [])]
    # gmx msd of 2022 breaks down with frames less than 1 ps apart
    gmx(folder, "msd", "-f", "sample.xtc", "-s", "sample.tpr", "-sel", "name OW", "-dt", waters.FRAMES_PS, "-trestart", waters.FRAMES_PS, "-maxtau", waters.FIT_PS[1],
        "-beginfit", waters.FIT_PS[0], "-endfit", waters.FIT_PS[1], "-o", "msd.xvg", *times)
    found = re.search(r"D\[[^]]*\] = (\S+)", (folder / "msd.xvg").read_text())
    return float(found[1])


def distributions(folder, begin, end):
    """{pair: g} on bins of BIN_NM: gmx's bins are centred on multiples of their width, so narrow ones are summed (4 pi r^2 g by the trapezoidal rule)."""
    names = {"OW": "name OW", "HW": "name HW1 HW2"}
    out = {}
    for pair, (a, b) in waters.PAIRS.items():
        gmx(folder, "rdf", "-f", "sample.xtc", "-s", "sample.tpr", "-ref", names[a], "-sel", names[b], "-excl", "-bin", waters.BIN_NM / FINE, "-rmax", waters.R_MAX_NM + waters.BIN_NM,
            "-dt", waters.FRAMES_PS, "-b", begin, "-e", end, "-o", "rdf.xvg")
        r, g = xvg(folder / "rdf.xvg")[:2]
        width = waters.BIN_NM / FINE
        if max(abs(x - k * width) for k, x in enumerate(r)) > 0.000501:  # it prints three digits
            sys.exit("gmx rdf has other bins than expected")
        out[pair] = []
        for k in range(round(waters.R_MAX_NM / waters.BIN_NM)):
            inside = range(k * FINE, (k + 1) * FINE + 1)
            weight = [(0.5 if i in (inside[0], inside[-1]) else 1) * i * i for i in inside]
            out[pair].append(sum(w * g[i] for w, i in zip(weight, inside)) / sum(weight))
    return out


def density_reference(folder):
    gmx(folder, "energy", "-f", "sample.edr", "-o", "volume.xvg", "-dp", words="Volume\n0\n")
    times, volumes = xvg(folder / "volume.xvg")[:2]
    volume, error = ensembles.mean(volumes)
    density = waters.density_of(volume)
    return {"density_ps": round(times[-1] - times[0], 3), "density_kg_m3": round(density, 4), "density_error": round(density * error / volume, 4)}


def fluid_reference(folder):
    frames = re.search(r"Step\s+(\d+)\s+([\d.]+)", gmx(folder, "check", "-f", "sample.xtc"))
    picoseconds = (int(frames[1]) - 1) * float(frames[2])
    # A block is longer than the fit of D, and of what a trajectory of 2 ns has a tenth.
    n = min(BLOCKS, int(picoseconds // (1.25 * waters.FIT_PS[1])))
    blocks = [(picoseconds * k / n, picoseconds * (k + 1) / n) for k in range(n)]
    _, d_error = blocked([diffusion(folder, *block) for block in blocks])
    g = [distributions(folder, *block) for block in blocks]
    curves = {}
    for pair in waters.PAIRS:
        points = [blocked(values) for values in zip(*(block[pair] for block in g))]
        curves[pair] = {"g": [round(p[0], 5) for p in points], "error": [round(p[1], 5) for p in points]}
    return {"fluid_ps": round(picoseconds, 3), "blocks": n, "diffusion_1e-5_cm2_s": diffusion(folder), "diffusion_error": round(d_error, 5), "rdf": curves}


def collect(folder):
    models = {model: {"seeds": [SEED[model, part] for part in waters.STAGES], **density_reference(folder / model / "density"), **fluid_reference(folder / model / "fluid")} for model in waters.MODELS}
    write(models)


def write(models):
    version = re.search(r"GROMACS version:\s*(\S+)", subprocess.run(["gmx", "--version"], capture_output=True, text=True).stdout)[1]
    told = {"what": "884 rigid waters: density at 1 bar and 298.15 K, diffusion of oxygens, pair distributions (density of the box; bins from 0; pairs of a molecule left out), with standard errors",
            "script": f"tests/acceptance/peers/{pathlib.Path(__file__).name}", "program": f"gmx {version}, mixed precision, 1 thread", "date": datetime.date.today().isoformat(),
            "bin_nm": waters.BIN_NM, "fit_ps": waters.FIT_PS, "models": models}
    text = json.dumps(told, indent=1)
    text = re.sub(r"\[[^\[\]{}]*\]", lambda m: " ".join(m[0].split()), text)  # a list a line
    REFERENCE.parent.mkdir(exist_ok=True)
    REFERENCE.write_text(text + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("run", "collect"))
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--slice", type=float, default=0, metavar="MINUTES", help="run the parts in turns, this long for each nanosecond that is planned; a reference can be collected between")
    args = parser.parse_args()
    place = args.folder.resolve()
    run(place, args.slice) if args.what == "run" else collect(place)
