# SPDX-License-Identifier: Apache-2.0
import hashlib
import json
import pathlib
import re
import shutil

import rowkit

WHAT = ("how often a run of a small case of each application opens each of its input files by its name (strace of all threads and children): tables of n "
        "and k, a waveform, fields of a former run and of receivers, a force field, a structure, a topology with includes for two stages, a restart, XTC and "
        "H5MD trajectories (HDF5's library opens their descriptors again, /proc/self/fd), a file that is topology and trajectory at once, EDI soundings; new runs and one that goes on")
BAR = "once each, none left out of the manifest, and its SHA-256 that of the file"

OPENED = re.compile(r'\bopen(?:at)?\((?:AT_FDCWD|\d+)?(?:, )?"((?:[^"\\]|\\.)*)", ([A-Z_|]+)[^=]*= \d')

CASES = pathlib.Path("tests", "apps", "cases", "inputs_once")  # the same that tests/apps/inputs_once_test.cpp takes


def write_inputs(work, place):
    """The cases and what they read."""
    shutil.copytree(work.root / CASES, place, dirs_exist_ok=True)
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
