# SPDX-License-Identifier: Apache-2.0
"""Cases of electromagnetics.fdtd for the acceptance rows: input files run by `tessera run`, results read from their tables.

Run folders stay in <build>/acceptance/fdtd, with all that the runs wrote."""
import csv
import json
import math
import pathlib

import rowkit

APP = "electromagnetics.fdtd"
C0 = 299792458.0
UM = 1e-6  # photonic references count lengths in units, which the cases take as micrometres: f in c/unit is f C0/UM in Hz


def references(work, name):
    return json.loads(work.test_data("em", "em_dev_refs.json").read_text())[name]


def example(work, name):
    path = work.root / "apps" / "examples" / "electromagnetics" / name
    if not path.exists():
        raise rowkit.NotMeasured(f"there is no {path.relative_to(work.root)}")
    return path


def folder(work, *parts):
    place = work.build / "acceptance" / "fdtd"
    place.joinpath(*parts).parent.mkdir(parents=True, exist_ok=True)
    return place.joinpath(*parts)


def set_options(settings):
    """Keys and values, values as TOML, as options of the command line."""
    return [word for key, value in settings.items() for word in ("--set", f"{key}={toml(value)}")]


def toml(value):
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(toml(v) for v in value) + "]"
    return json.dumps(value)


class Run:
    """A finished run: its folder, its log, its tables."""

    def __init__(self, path, done):
        self.path, self.done = path, done

    def table(self, monitor):
        """Columns by their names, as lists of floats."""
        with open(self.path / "tables" / f"{monitor}.csv", newline="") as file:
            rows = list(csv.reader(file))
        return {name: [float(row[i]) for row in rows[1:]] for i, name in enumerate(rows[0])}


def run(work, case, name, settings=None, threads=1, timeout=3600):
    """Runs a case, quietly, into its own folder of the acceptance runs. With other settings it makes no promises: they may be about a band
    that it no longer has."""
    path = folder(work, name)
    if settings and "[[expect]]" in pathlib.Path(case).read_text():
        settings = {"expect": [], **settings}
    command = [work.tessera(), "run", case, "--output", path, "--force", "--threads", threads, "--progress", "none", *set_options(settings or {})]
    done = work.run(command, timeout=timeout)
    if not (done.code == 6 and settings):
        done.must_succeed(f"tessera run {case.name}")
    return Run(path, done)


def where(work):
    return f"runs in {folder(work, 'x').parent}"


def nearest(values, wanted):
    return min(values, key=lambda v: abs(v - wanted)) if values else math.nan


def relative(found, exact):
    return abs(found - exact) / abs(exact)


def order(errors, ratio=2):
    """Orders of convergence between successive errors, the cells smaller by `ratio` each time."""
    return [math.log(a / b) / math.log(ratio) for a, b in zip(errors, errors[1:])]


def rms(values):
    return math.sqrt(sum(v * v for v in values) / len(values))
