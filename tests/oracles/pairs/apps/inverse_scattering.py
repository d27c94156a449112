# SPDX-License-Identifier: Apache-2.0
"""electromagnetics.inverse_scattering: a square of sixteen unknown cells between two sources and three receivers, three iterations."""
import math

from case import expect, expect_same_files

PULSE = {"kind": "baseband", "width": "0.2 ns"}


def prepare(place, tessera, data):
    pass


def cm(*values):
    return [f"{v} cm" for v in values]


def currents(kind="point", component="Ez", waveform=None, size=None):
    sources = [{"kind": kind, "component": component, "position": p, "amplitude": 1e-4, "waveform": waveform or PULSE} for p in (cm(-6, 0, 0), cm(0, 6, 0))]
    return [{**s, "size": size} for s in sources] if size else sources


SOIL = {"name": "soil", "eps": 1.5}
TRUTH = {"material": "stone", "centre": cm(0.5, 0, 0)}
BASE = {
    "grid.size": cm(24, 22, 0), "receivers.positions": [cm(-5, -5, 0), cm(6, -4, 0), cm(5, 5, 0)],
    "region.low": cm(-2, -2, 0), "region.high": cm(2, 2, 0), "optimize.iterations": 3,
}
FIXED = {
    "schema": "one version", "grid.exact_speed_at": "is for media that are known: an edge", "title": "on pictures alone", "grid.centre": "moves everything", "grid.cells_per_wavelength": "instead of cell", "grid.frequency_max": "goes with it",
    "grid.x": "graded lines: of electromagnetics.fdtd", "grid.y": "likewise", "grid.z": "likewise", "run.dt": "instead of courant", "run.stop": "all data have one length: refused but for steps and time",
    "boundary.z": "the axis is not resolved", "boundary.z_low": "likewise", "boundary.z_high": "likewise", "boundary.x_high": "as x_low", "boundary.y_low": "as x_low", "boundary.y_high": "as x_low",
    "boundary.bloch_k": "Bloch faces are refused", "boundary.bloch_phase": "likewise", "material": "kinds of media: of electromagnetics.fdtd", "structure": "bodies: of electromagnetics.fdtd",
    "truth.shape": "all shapes: of electromagnetics.fdtd", "truth.axis": "likewise", "source": "kinds of sources: of electromagnetics.fdtd", "data.file": "its own test", "expect": "promises; their own tests",
    "receivers.component": "named by the level of source: one polarization", "boundary.symmetry": "counts images in monitors: of electromagnetics.fdtd",
    "boundary.absorber.cells": "how deep and how strong: of electromagnetics.fdtd", "boundary.absorber.order": "likewise", "boundary.absorber.reflection": "likewise",
}
LEVELS = {
    "grid.cell": ["1 cm", "0.5 cm"],
    "grid.max_ratio": [1.3, 1.1],
    "grid.background": ["soil", None],
    "grid.polarization": ["both", "Ez"],
    "run.courant": [0.95, 0.5],
    "run.stop.steps": [60, 90],
    "boundary.x": ["pml", "pec", "pmc", "periodic"],  # bloch: an edge
    "boundary.y": ["pml", "pec", "pmc", "periodic"],
    "boundary.x_low": [None, "pec", "pmc"],
    "boundary.pml.cells": [4, 6],
    "boundary.pml.order": [3.5, 3],
    "boundary.pml.sigma_factor": [1.0, 0.8],
    "boundary.pml.kappa_max": [5, 1],
    "boundary.pml.alpha_factor": [0.1, 0],
    "boundary.pml.index": [None, 1.2],
    "material": [[SOIL, {"name": "stone", "eps": 2.5}]],
    "structure": [None, [{"shape": "box", "centre": cm(-5, 5, 0), "size": cm(2, 2, 10), "material": "stone"}]],
    "truth": [[{"shape": "box", "size": cm(1.5, 2, 10), **TRUTH}], [{"shape": "cylinder", "radius": "1.2 cm", "height": "inf", **TRUTH}]],
    "source": [currents(), currents(waveform={"kind": "ricker", "frequency": "1.5 GHz"}), currents("line", size=cm(0, 2, 0))],
    "region.start": [1.5, 2.0],
    "region.least": [1.0, 1.4],
    "data.noise": [0, 0.05],
    "data.seed": [1, 4],
    "optimize.rate": [0.1, 0.02],
    "optimize.until": [0, 1e-3],
    "optimize.smoothness": [0, 0.01],
}
REFUSED = []
VERBS = ("gradcheck",)


def laws(run):
    rows = run.table("metrics.csv")
    expect("misfits and gradients are numbers", all(v == v and v < math.inf for c in ("misfit", "gradient") for v in rows[c]), lambda: rows)
    expect("iterations are counted from none", rows["iteration"] == list(range(len(rows["iteration"]))), lambda: rows["iteration"])
    if run["optimize.method"] == "lbfgs" and not run["optimize.smoothness"]:
        expect("a line search never goes up", all(b <= a for a, b in zip(rows["misfit"], rows["misfit"][1:])), lambda: rows["misfit"])
    expect("the descent ends where it is told to", len(rows["misfit"]) <= run["optimize.iterations"] + 1 and all(m > run["optimize.until"] for m in rows["misfit"][:-1]), lambda: rows["misfit"])
    data = columns(run.table("tables/measured.csv"))
    expect("there are data of every receiver and source", len(data) == len(run["source"]) * len(run["receivers.positions"]) and all(any(column) for column in data))
    expect("data have one length", all(len(column) == run["run.stop.steps"] for column in data))


def columns(table):
    return [values for name, values in table.items() if name != "time_s"]


def with_keys(run, **other):
    return {**run.keys, **{k.replace("__", "."): v for k, v in other.items()}}


def same(law, a, b):
    expect_same_files(law, {n: v for n, v in a.files(".csv", ".h5").items() if "plots" not in n}, {n: v for n, v in b.files(".csv", ".h5").items() if "plots" not in n})


def data_alone(law, a, b):
    expect_same_files(law, {"data": a.files(".csv")["tables/measured.csv"]}, {"data": b.files(".csv")["tables/measured.csv"]})


CHANGES = [
    ("threads do not matter", lambda run: (run.keys, {"options": ("--threads", "2")}), same),
    ("order of keys and tables does not matter", lambda run: (run.keys, {"reverse": True}), same),
    ("output does not matter", lambda run: (with_keys(run, output__vtk=run["output.vtk"] is False, output__pictures=run["output.pictures"] is False, output__scene=run["output.scene"] is False), {}), same),
    ("data do not depend on how they are inverted", lambda run: (with_keys(run, region__start=1.7, optimize__iterations=0, optimize__smoothness=0.5), {"any_code": True}), data_alone),
]

EDGES = [
    ("no iteration", {"optimize.iterations": 0}, None),
    ("one step in time", {"run.stop.steps": 1}, ["data"]),
    ("one receiver", {"receivers.positions": [cm(5, 0, 0)]}, None),
    ("no receiver", {"receivers.positions": []}, "positions"),
    ("one source", {"source": currents()[:1]}, None),
    ("no source", {"source": []}, "source"),
    ("a receiver on a source", {"receivers.positions": [cm(-6, 0, 0)]}, None),
    ("a receiver in the region", {"receivers.positions": [cm(0, 0, 0), cm(5, 5, 0)]}, None),
    ("a receiver outside", {"receivers.positions": [cm(50, 0, 0)]}, "leaves the domain"),
    ("two receivers in one place", {"receivers.positions": [cm(5, 0, 0), cm(5, 0, 0)]}, None),
    ("a region of one cell", {"region.low": cm(0, 0, 0), "region.high": cm(1, 1, 0)}, None),
    ("a region of nothing", {"region.low": cm(0, 0, 0), "region.high": cm(0, 1, 0)}, ["region.low", "region.high"]),
    ("a region upside down", {"region.low": cm(2, 2, 0), "region.high": cm(-2, -2, 0)}, ["low", "high"]),
    ("a region over all, layers too", {"region.low": cm(-12, -11, 0), "region.high": cm(12, 11, 0)}, None),
    ("a truth that is the start", {"truth": [{"shape": "box", "size": cm(1, 1, 10), "material": "soil"}]}, None),
    ("a truth outside of the region", {"truth": [{"shape": "box", "centre": cm(8, 8, 0), "size": cm(1, 1, 10), "material": "stone"}]}, None),
    ("a start at the least", {"region.start": 1.0, "region.least": 1.0}, None),
    ("a start below the least", {"region.start": 1.0, "region.least": 1.2}, ["start", "least"]),
    ("faces that join with a phase", {"boundary.x": "bloch", "boundary.bloch_phase": ["10 deg", "0 deg", "0 deg"]}, "Bloch"),
    ("exact speed of media that are sought", {"grid.exact_speed_at": "1 GHz"}, "exact_speed_at"),
    ("a permittivity below one", {"region.least": 0.9}, "least"),
    ("fields left out", {"grid.polarization": "Hz"}, ["polarization"]),
]
