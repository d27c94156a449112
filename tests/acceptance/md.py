# SPDX-License-Identifier: Apache-2.0
"""Cases of molecular.dynamics for the acceptance rows: input files run by `tessera run`, results read from their tables.

Input files and run folders stay in <build>/acceptance/molecular, with all that the runs wrote."""
import concurrent.futures
import csv
import gzip
import json
import math
import os
import shutil

import rowkit

BAR_PER_UNIT = 16.6053906717385  # kJ/mol/nm^3
KCAL = 4.184


def folder(work, *parts):
    place = work.build / "acceptance" / "molecular"
    place.joinpath(*parts).parent.mkdir(parents=True, exist_ok=True)
    return place.joinpath(*parts)


def toml(value):
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(toml(v) for v in value) + "]"
    return json.dumps(value)


def case(work, name, settings, tables=""):
    """Writes an input file; keys with dots stand for tables."""
    path = folder(work, f"{name}.toml")
    lines = ['app = "molecular.dynamics"'] + [f"{key} = {toml(value)}" for key, value in settings.items()]
    path.write_text("\n".join(lines) + "\n" + tables)
    return path


def unpacked(work, *parts):
    """A file of the test data, unpacked where it is packed."""
    source = work.test_data("md", *parts)
    if source.suffix != ".gz":
        return source
    target = folder(work, "input", source.stem)
    if not target.exists():
        with gzip.open(source) as packed, open(target, "wb") as file:
            shutil.copyfileobj(packed, file)
    return target


def table(path):
    """Columns by their names, as lists of floats."""
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    return {name: [float(row[i]) for row in rows[1:]] for i, name in enumerate(rows[0])}


class Run:
    """A finished run: its folder, its log, its tables."""

    def __init__(self, path, done):
        self.path, self.done = path, done

    def energies(self, stage="1_dynamics"):
        return table(self.path / stage / "energies.csv")

    def forces(self, stage="1_dynamics"):
        t = table(self.path / stage / "forces.csv")
        return list(zip(t["x_kj_mol_nm"], t["y_kj_mol_nm"], t["z_kj_mol_nm"]))


def run(work, path, name, settings=None, threads=1, timeout=3600, may_end_with=(0,)):
    """Runs a case, quietly, into its own folder of the acceptance runs."""
    out = folder(work, name)
    command = [work.tessera(), "run", path, "--output", out, "--force", "--threads", threads, "--progress", "none"]
    for key, value in (settings or {}).items():
        command += ["--set", f"{key}={toml(value)}"]
    done = work.run(command, timeout=timeout)
    if done.code not in may_end_with:
        done.must_succeed(f"tessera run {path.name}")
    return Run(out, done)


def run_or_resume(work, path, name, threads=1, timeout=36000):
    """A case that takes hours: a folder of the same case by the same commit goes on where it was stopped, and is taken as it is if it has ended."""
    out = folder(work, name)
    if (out / "manifest.json").exists() and (out / "input.toml").exists() and (out / "input.toml").read_text() == path.read_text():
        before = json.loads((out / "manifest.json").read_text())
        if before["git_hash"] and program_of(work).endswith(before["git_hash"]) and not before["git_dirty"]:
            done = work.run([work.tessera(), "resume", out, "--threads", threads, "--progress", "none"], timeout=timeout)
            return Run(out, done.must_succeed(f"tessera resume {out.name}"))
    return run(work, path, name, threads=threads, timeout=timeout)


def program_of(work):
    """"VERSION, COMMIT" (and more where the sources were changed since)"""
    return json.loads(work.run([work.tessera(), "doctor", "--json"]).must_succeed("tessera doctor").out)["tessera"]


def side_by_side(calls):
    """Results of calls without arguments, in their order; as many at once as there are processors."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return list(pool.map(lambda call: call(), calls))


def relative(found, wanted):
    return abs(found - wanted) / abs(wanted) if wanted else abs(found)


def rms(values):
    return math.sqrt(sum(v * v for v in values) / len(values))


def where(work):
    return f"runs in {folder(work, 'x').parent}"


def nist(work, name):
    """(edge, [(x, y, z)]) of a sample configuration, numbers as the file has them."""
    lines = work.test_data("md", "nist", name).read_text().splitlines()
    return lines[0].split(), [line.split() for line in lines[2:] if line.strip()]
