# SPDX-License-Identifier: Apache-2.0
"""electromagnetics.fdtd: two dimensions, 40 by 32 cells of 50 nm, a body of each medium and shape, a source and a monitor of each kind."""
import json
import re

from case import expect, expect_same_files

CELL_UM = 0.05
SHIFT = (3, -2)  # cells


def prepare(place, tessera, data):
    (place / "index.csv").write_text("wavelength_um,n,k\n1.0,1.5,0\n1.5,1.49,0\n2.0,1.48,0\n3.0,1.46,0\n")


def um(*values):
    return [v if isinstance(v, str) else f"{v} um" for v in values]


PULSE = {"kind": "gaussian", "frequency": "150 THz", "bandwidth": "120 THz"}


def point(component="Ez", waveform=None, **more):
    return [{"kind": "point", "name": "s", "component": component, "position": um(-0.4, 0.1, 0), "waveform": waveform or PULSE, **more}]


def wave(kind="plane_wave", direction=(1, 0, 0), polarization=(0, 0, 1), **more):
    return [{"kind": kind, "name": "s", "position": um(0, 0, 0), "size": um(1.1, 0.7, 0), "direction": list(direction), "polarization": list(polarization), "waveform": PULSE, **more}]


def medium(**keys):
    return [{"name": "m", **keys}]


def pole(**keys):
    return medium(eps=2, poles=[keys])


def body(shape, **keys):
    return [{"shape": shape, "material": "m", **keys}]


BAND = ["120 THz", "150 THz"]
BOX = {"position": um(0, 0, 0), "size": um(1.2, 0.8, 0)}


def watch(kind, **keys):
    return [{"kind": kind, "name": "w", **keys}]


BASE = {"grid.size": um(2, 1.6, 0), "run.stop.steps": 240}
FIXED = {
    "schema": "one version", "title": "on pictures alone", "grid.cells_per_wavelength": "instead of cell", "grid.frequency_max": "goes with it", "grid.x": "lines instead of cell: refine is varied",
    "grid.z": "the axis is not resolved", "run.dt": "instead of courant", "run.stop.time": "instead of steps", "run.stop.after_sources": "the end of the run, its own tests", "run.stop.decay_db": "likewise",
    "run.stop.dft_tolerance": "likewise", "run.stop.check_every": "likewise", "boundary.z": "the axis is not resolved", "boundary.z_low": "likewise", "boundary.z_high": "likewise",
    "boundary.y_low": "as x_low", "boundary.y_high": "as x_high", "boundary.bloch_k": "instead of bloch_phase", "boundary.symmetry": "what counts an image of the domain: its own tests", "expect": "promises; their own tests",
    "material.library": "all media of the library have their own test", "material.fit": "of files", "material.poles.kind": "residue: as critical_point", "structure.axis": "across the plane", "source.component": "six components: two here", "monitor.mirrors": "its own tests",
    "monitor.subtract": "a run before: its own tests", "monitor.derivatives": "its own tests", "source.waveform.kind": "the file is its own test", "structure.shape": "solids of three dimensions: their own tests", "source.kind": "sheets of currents: as line",
}
LEVELS = {
    "grid.centre": [um(0, 0, 0)],
    "grid.cell": ["50 nm"],
    "grid.max_ratio": [1.3, 1.1],
    "grid.y": [None, {"refine": [{"from": "-0.2 um", "to": "0.2 um", "cell": "25 nm"}]}],
    "grid.background": [None, "m"],
    "grid.exact_speed_at": [None, "150 THz"],
    "run.courant": [0.95, 0.5],
    "boundary.x_low": [None, "pec", "pmc"],
    "boundary.x_high": [None, "pec", "pmc"],
    "boundary.pml.cells": [6, 8],
    "boundary.pml.order": [3.5, 3],
    "boundary.pml.sigma_factor": [1.0, 0.8],
    "boundary.pml.kappa_max": [5, 1],
    "boundary.pml.alpha_factor": [0.1, 0],
    "boundary.pml.index": [None, 1.2],
    "boundary.absorber.cells": [8, 10],
    "boundary.absorber.order": [3, 2],
    "boundary.absorber.reflection": [1e-4, 1e-3],
    "boundary.bloch_phase": [None, ["30 deg", "0 deg", "0 deg"], ["0 deg", "20 deg", "0 deg"]],
    "material": [medium(eps=2.25), medium(index=1.5, sigma="300 S/m"), medium(pec=True), medium(index_file="index.csv"), medium(eps=2, mu=[1.5, 1, 1], sigma_m="10 ohm/m"), medium(eps=2, chi3="1e-20 m^2/V^2"),
                 medium(eps=[2, 3, 2.5]), pole(kind="lorentz", frequency="400 THz", damping="20 THz", delta_eps=1), pole(kind="drude", frequency="100 THz", damping="10 THz"), pole(kind="debye", frequency="100 THz", delta_eps=1),
                 pole(kind="critical_point", frequency="400 THz", damping="40 THz", amplitude=0.3, phase="-10 deg")],
    "structure": [None, body("box", size=um(0.5, 0.4, "inf")), body("cylinder", radius="0.24 um", height="inf", centre=um(0.1, 0, 0)), body("half_space", point=um(0.2, 0, 0), outward=[-1, 0, 0]),
                  body("prism", corners=[["-0.2 um", "-0.2 um"], ["0.3 um", "-0.2 um"], ["0 um", "0.25 um"]], height="inf"),
                  body("box", size=um(0.3, 0.1, "inf"), rotate={"angle": "30 deg"}, repeat={"count": [2, 1, 1], "step": um(0.4, 0, 0)})],
    "source": [point(), point("Hz"), point(waveform={"kind": "ricker", "frequency": "120 THz"}), point(waveform={"kind": "continuous", "frequency": "150 THz", "ramp": "10 fs"}), point("Ez", {"kind": "baseband", "width": "4 fs"}),
               [{"kind": "line", "name": "s", "component": "Ez", "position": um(-0.4, 0, 0), "size": um(0, 0.5, 0), "waveform": PULSE}], wave(), wave(direction=(0.8, 0.6, 0)), wave("beam", waist="0.4 um", size=um(0, 0.7, 0), position=um(-0.5, 0, 0))],
    "monitor": [watch("flux", frequencies=BAND, **BOX), watch("flux", frequencies=BAND, position=um(0.4, 0, 0), size=um(0, 0.6, 0), reverse=True), watch("probe", position=um(0.3, 0.15, 0), components=["Ez", "Hx"]),
                watch("dft", frequencies=BAND, **BOX), watch("energy", frequencies=BAND, **BOX), watch("far_field", frequencies=BAND, phi=["0 deg", "90 deg"], theta=["90 deg"], **BOX), watch("rcs", frequencies=BAND, phi=["0 deg", "90 deg"], theta=["90 deg"], **BOX),
                watch("ldos", frequencies=BAND, source="s"), watch("orders", frequencies=BAND, position=um(0.4, 0, 0), size=um(0, 1.6, 0)), watch("resonances", position=um(0.3, 0.1, 0), components=["Ez"], frequency_min="100 THz", frequency_max="200 THz"),
                watch("snapshot", components=["Ez"], every="8 fs", **BOX)],
}
REFUSED = []
VERBS = ()


def laws(run):
    for name in run.files(".csv"):
        if name.startswith("tables/"):
            for column, values in run.table(name).items():
                bad = [v for v in values if isinstance(v, float) and abs(v) == float("inf")]
                expect("no number of a table is infinite", not bad, lambda: f"{name}: {column}")
    energy = run.table("metrics.csv").get("energy_j", [])
    expect("energies are numbers that are not negative", all(e == e and e >= 0 for e in energy), lambda: energy)


def moved(value, key=None):
    """A case in which every place lies SHIFT cells further; a body of which no centre is told has it at the origin."""
    if isinstance(value, dict):
        told = {"centre": um(0, 0, 0), **value} if value.get("shape") in ("box", "cylinder") else value
        return {k: moved(v, k) for k, v in told.items()}
    places = ("position", "centre", "low", "high", "point", "about", "grid.centre")
    if isinstance(value, list) and key in places:
        return [shifted(v, a) for a, v in enumerate(value)]
    if key == "corners":
        return [[shifted(v, a) for a, v in enumerate(corner)] for corner in value]
    if key in ("from", "to"):
        return shifted(value, 1)
    return [moved(v) for v in value] if isinstance(value, list) else value


def shifted(text, axis):
    number = re.fullmatch(r"(-?[0-9.]+) um", text)
    return text if not number or axis > 1 else f"{round(float(number[1]) + SHIFT[axis] * CELL_UM, 6)} um"


def with_keys(run, **other):
    return {**run.keys, **{k.replace("__", "."): v for k, v in other.items()}}


def same(law, a, b):
    of, to = ({n: v for n, v in x.files(".csv", ".h5").items() if "plots" not in n} for x in (a, b))
    expect_same_files(law, of, to)


def near(law, a, b):
    """To single precision of the largest number of a column; places move along. Phases are counted from the origin: of amplitudes
    the magnitude is compared."""
    nothing = 1e-50  # squares of rounding: where fields cancel, 25 orders below the others
    bound = 2e-3 if a["run.precision"] == "f32" else 1e-6
    for name in (n for n in a.files(".csv") if n.startswith("tables/w")):
        x, y = (with_magnitudes(run.table(name)) for run in (a, b))
        for column in x:
            if re.fullmatch(r"[xyz]_m|q|quality|error|phase.*|.*_deg", column) or a["monitor"][0]["kind"] == "resonances":
                continue
            most = max((abs(v) for v in x[column] if isinstance(v, float) and v == v), default=0)
            for p, q in zip(x[column], y[column]):
                if isinstance(p, float) and p == p:
                    expect(law, abs(p - q) <= bound * most + nothing, lambda: f"{name}, {column}: {q} in place of {p}")


def with_magnitudes(table):
    """Instead of the columns NAME_re and NAME_im one of the magnitude."""
    out = {}
    for column, values in table.items():
        if column.endswith("_re"):
            out[column[:-3]] = [abs(complex(p, q)) for p, q in zip(values, table[column[:-3] + "_im"])]
        elif not column.endswith("_im"):
            out[column] = values
    return out


def beside(run):
    return with_keys(run, monitor=[*run["monitor"], {"kind": "probe", "name": "beside", "position": um(-0.2, 0.2, 0), "components": []}]), {}


CHANGES = [
    ("threads do not matter", lambda run: (run.keys, {"options": ("--threads", "2")}), same),
    ("order of keys and tables does not matter", lambda run: (run.keys, {"reverse": True}), same),
    ("output does not matter", lambda run: (with_keys(run, output__vtk=run["output.vtk"] is False, output__pictures=run["output.pictures"] is False, output__scene=run["output.scene"] is False), {}), same),
    ("beside it another monitor does not matter", beside, near),  # what is recorded cuts rows of cells into pieces: single precision rounds otherwise
    ("moved by whole cells it is the same", lambda run: (json.loads(json.dumps({k: moved(v, k) for k, v in run.keys.items()})), {}), near),
]

EDGES = [
    ("one step", {"run.stop.steps": 1}, None),
    ("no step", {"run.stop.steps": 0}, "steps"),
    ("no source", {"source": []}, "source"),
    ("no monitor", {"monitor": []}, None),
    ("a source on the face", {"source": [{**point()[0], "position": um(-1, 0, 0)}]}, ("position", "outer conductor")),
    ("a source on a magnetic face", {"boundary.x_low": "pmc", "source": [{**point()[0], "position": um(-1, 0, 0)}]}, None),
    ("a flux out of the domain", {"boundary.x": "pec", "boundary.y": "pmc", "monitor": watch("flux", frequencies=BAND, position=um(0, 0, 0), size=um(2, 1.6, 0))}, "as large as the domain"),
    ("a conductor without a hollow", {"grid.background": "pec"}, "background"),
    ("a sheet of a conductor", {"material": medium(pec=True), "structure": body("box", size=um(0, 0.4, "inf"))}, None),
    ("a source outside", {"source": [{**point()[0], "position": um(-1.1, 0, 0)}]}, "leaves the domain"),
    ("two sources in one place", {"source": [point()[0], {**point()[0], "name": "t"}]}, None),
    ("a monitor of no size", {"monitor": watch("flux", frequencies=BAND, position=um(0, 0, 0), size=um(0, 0, 0))}, "size"),
    ("a monitor without frequencies", {"monitor": watch("flux", **BOX)}, "frequenc"),
    ("one frequency", {"monitor": watch("flux", frequencies=["150 THz"], **BOX)}, None),
    ("two monitors in one place", {"monitor": watch("probe", position=um(0, 0, 0), components=["Ez"]) + [{"kind": "probe", "name": "v", "position": um(0, 0, 0), "components": ["Ez"]}]}, None),
    ("two monitors of one name", {"monitor": 2 * watch("probe", position=um(0, 0, 0), components=["Ez"])}, "w"),
    ("a body of no thickness", {"structure": body("box", size=um(0, 0.4, "inf"))}, "size"),
    ("a body without a radius", {"structure": body("cylinder", radius="0 um", height="inf")}, "radius"),
    ("two bodies in one place", {"structure": body("box", size=um(0.4, 0.4, "inf")) + body("box", size=um(0.4, 0.4, "inf"))}, None),
    ("a body over all", {"structure": body("box", size=um("inf", "inf", "inf"))}, None),
    ("one cell along y", {"grid.size": um(2, 0.05, 0), "boundary.y": "periodic", "monitor": watch("probe", position=um(0.3, 0, 0), components=["Ez"]), "source": [{**point()[0], "position": um(-0.4, 0, 0)}]}, None),
    ("one cell in all", {"grid.size": um(0.05, 0.05, 0), "boundary.x": "periodic", "boundary.y": "periodic", "monitor": watch("probe", position=um(0, 0, 0), components=["Ez"]), "source": [{**point()[0], "position": um(0, 0, 0)}]}, None),
    ("layers thicker than the domain", {"boundary.pml.cells": 20}, "pml"),
    ("layers of no cells", {"boundary.pml.cells": 0}, "cells"),
    ("no cells", {"grid.cell": "0 nm"}, "cell"),
]
