# SPDX-License-Identifier: Apache-2.0
import cmath
import math
import runpy

import fdtd

WHAT = ("d S / d length, the length a parameter, against runs with it a little longer and shorter: a block with losses (eps 2.2, 0.1 S/m) and a dispersive one (Lorentz, with losses) in a parallel-plate guide, 9.5 to "
        "13.1 GHz, and the dispersive one narrower, with E across its ends; a patch of 16.6 x 18.6 mm on a lossy board in its length, a thin iris in WR-90 in its width, a metal block between plates in its "
        "height, without losses and of 1000 S/m, each ending between lines of the grid; a notch in a silicon rib of 500 x 250 nm on 100 nm in oxide, 185 to 202 THz, that ends 0.1 of a cell behind a line of the grid; d reflection / d R, L and C of the "
        "series and the parallel R L C that end the plates of row `terminations`, by `derivatives` of the mode monitor in front")
BAR = "central differences 1e-3; of circuits also their formula, times the value, within 0.02"

RIB = """app = "electromagnetics.fdtd"
[parameters]
l = "410 nm"
[grid]
size = ["3.4 um", "3.6 um", "1.9 um"]
cell = "50 nm"
background = "oxide"
[run]
precision = "f64"
stop.decay_db = 60
[boundary.pml]
cells = 10
[[material]]
name = "oxide"
eps = 2.0736
[[material]]
name = "silicon"
eps = 12.1104
[[structure]]
shape = "box"
material = "silicon"
low = ["-inf", "-inf", "-0.15 um"]
high = ["inf", "inf", "-0.05 um"]
[[structure]]
shape = "box"
material = "silicon"
low = ["-inf", "-0.25 um", "-0.15 um"]
high = ["-l/2", "0.25 um", "0.1 um"]
[[structure]]
shape = "box"
material = "silicon"
low = ["l/2", "-0.25 um", "-0.15 um"]
high = ["inf", "0.25 um", "0.1 um"]
[[port]]
kind = "mode"
name = "in"
position = ["-0.9 um", "0 um", "0 um"]
size = ["0 um", "2.6 um", "0.9 um"]
direction = [1, 0, 0]
[[port]]
kind = "mode"
name = "out"
position = ["0.9 um", "0 um", "0 um"]
size = ["0 um", "2.6 um", "0.9 um"]
direction = [-1, 0, 0]
same_as = "in"
[s_parameters]
frequency_min = "185 THz"
frequency_max = "202 THz"
frequency_points = 5
derivatives = ["l"]
"""


PATCH = """app = "electromagnetics.fdtd"
[parameters]
l = "16.6 mm"
[grid]
size = ["40 mm", "36 mm", "13.5 mm"]
centre = ["0 mm", "0 mm", "6.75 mm"]
cell = ["1 mm", "1 mm", "0.75 mm"]
[run]
precision = "f64"
stop.decay_db = 80
[boundary]
z_low = "pec"
pml.cells = 7
[[material]]
name = "board"
eps = 2.2
sigma = "2e-3 S/m"
[[structure]]
shape = "box"
material = "board"
low = ["-inf", "-inf", "0 mm"]
high = ["inf", "inf", "1.5 mm"]
[[structure]]
shape = "box"
material = "pec"
low = ["-l/2", "-9.3 mm", "1.5 mm"]
high = ["l/2", "9.3 mm", "1.5 mm"]
[[port]]
kind = "lumped"
name = "feed"
position = ["-3 mm", "0 mm", "0.75 mm"]
size = ["0 mm", "0 mm", "1.5 mm"]
direction = [0, 0, 1]
resistance = "50 ohm"
[s_parameters]
frequency_min = "5 GHz"
frequency_max = "6.2 GHz"
frequency_points = 7
derivatives = ["l"]
"""
GUIDE = """app = "electromagnetics.fdtd"
[parameters]
l = "LENGTH mm"
[grid]
SIZE
[run]
precision = "f64"
stop.decay_db = 80
[boundary]
y = "pec"
WALLS
pml.cells = 12
BODIES
[[port]]
kind = "mode"
name = "left"
position = ["-14 mm", "0 mm", "0 mm"]
direction = [1, 0, 0]
[[port]]
kind = "mode"
name = "right"
position = ["14 mm", "0 mm", "0 mm"]
direction = [-1, 0, 0]
[s_parameters]
BAND
frequency_points = 7
derivatives = ["l"]
"""
METAL = """[[structure]]
shape = "box"
material = "pec"
"""


def guide(length, size, walls, bodies, band):
    text = GUIDE
    for word, by in (("LENGTH", str(length)), ("SIZE", size), ("WALLS", walls), ("BODIES", "".join(METAL + body for body in bodies)),
                     ("BAND", 'frequency_min = "{} GHz"\nfrequency_max = "{} GHz"'.format(*band))):
        text = text.replace(word, by, 1)
    return text


IRIS = guide(10.7, 'size = ["60 mm", "22.86 mm", "10.16 mm"]\ncell = ["1 mm", "1.143 mm", "2.032 mm"]', 'z = "pec"',
             ('low = ["0 mm", "-inf", "-inf"]\nhigh = ["0 mm", "-l/2", "inf"]\n', 'low = ["0 mm", "l/2", "-inf"]\nhigh = ["0 mm", "inf", "inf"]\n'), (8.5, 12))
STEP = guide(6.6, 'size = ["60 mm", "12 mm", "0 mm"]\ncell = "1 mm"\npolarization = "Hz"', "", ('low = ["0.3 mm", "-inf", "-inf"]\nhigh = ["4.3 mm", "-6 mm + l", "inf"]\n',), (4, 9))

LOSSY_STEP = STEP.replace('material = "pec"', 'material = "metal"').replace("[[structure]]", """[[material]]
name = "metal"
sigma = "1000 S/m"
surface_impedance = true
[[structure]]""", 1)


def lossy_block(work):
    text = (work.root / "tests" / "apps" / "fdtd_ports_test.cpp").read_text()
    text = text[text.index("std::string lossy_block() {"):]
    return text[text.index('R"(') + 3:text.index(')";')]


def worst(work, name, text, length, by_nm, elements):
    """The largest difference of each element over frequency, as a share of its largest derivative."""
    case = fdtd.folder(work, f"{name}.toml")
    case.write_text(text)
    own = fdtd.run(work, case, name).table("s_parameters")
    moved = [fdtd.run(work, case, f"{name}_{to}", {"parameters.l": f"{length} {sign} {by_nm} nm", "s_parameters.derivatives": []}).table("s_parameters")
             for to, sign in (("shorter", "-"), ("longer", "+"))]

    def values(table, column):
        return [complex(a, b) for a, b in zip(table[column + "_re"], table[column + "_im"])]

    out = {}
    for element in elements:
        found = values(own, element + "_by_l")
        wanted = [(a - b) / (2e-9 * by_nm) for a, b in zip(values(moved[1], element), values(moved[0], element))]
        out[element] = max(abs(a - b) for a, b in zip(found, wanted)) / max(abs(x) for x in wanted)
    return out


def ended_plates(work):
    """Of both circuits the largest difference of d reflection / d value, times the value, from differences and from the formula."""
    row = runpy.run_path(str(work.root / "tests" / "acceptance" / "rows" / "devices" / "50_terminations.py"))
    z0, w0 = row["ETA"] * row["HEIGHT"], 2 * math.pi * row["F0"]
    l, c = z0 / w0, 1 / (z0 * w0)
    names = {"r": "resistance", "l": "inductance", "c": "capacitance"}
    out = {}
    for kind, values in (("series", {"r": z0 / 2, "l": 2 * l, "c": c}), ("parallel", {"r": 2 * z0, "l": l, "c": c / 2})):
        units = {name: row["UNITS"][names[name]] for name in values}
        text = row["CASE"].replace("[grid]", "[parameters]\n" + "".join(f'{name} = "{v!r} {units[name]}"\n' for name, v in values.items()) + "[grid]", 1)
        text = text.replace('frequencies = ["0.8 GHz", "1 GHz"]\n', 'frequencies = ["0.8 GHz", "1 GHz"]\nderivatives = ["r", "l", "c"]\n', 1)
        text += "".join(f'{names[name]} = "{name}"\n' for name in values) + f'circuit = "{kind}"\n'
        case = fdtd.folder(work, f"ended_{kind}.toml")
        case.write_text(text)

        def waves(name, settings):
            table = fdtd.run(work, case, name, settings).table("waves")
            return lambda column: [complex(a, b) for a, b in zip(table[column + "_re"], table[column + "_im"])], table["frequency_Hz"]

        own, frequencies = waves(f"ended_{kind}", {})
        turn = [cmath.exp(2j * beta * 60 * row["CELL"]) for beta in own("beta")]
        off = {"differences": 0, "formula": 0}
        for name, value in values.items():
            found = [value * (db * a - b * da) / a**2 for a, b, da, db in zip(*(own(x) for x in ("forward", "backward", f"forward_by_{name}", f"backward_by_{name}")))]
            moved = []
            for way, by in (("less", 1 - 5e-3), ("more", 1 + 5e-3)):
                there, _ = waves(f"ended_{kind}_{name}_{way}", {f"parameters.{name}": f"{value * by!r} {units[name]}", "monitor[0].derivatives": []})
                moved.append([b / a for a, b in zip(there("forward"), there("backward"))])
            most = max(abs(x) for x in found)
            off["differences"] = max([off["differences"]] + [abs(x - (b - a) / 1e-2) / most for x, a, b in zip(found, *moved)])
            for x, f, by in zip(found, frequencies, turn):
                def reflection(share):
                    y = row["admittance"]({names[k]: v * (share if k == name else 1) for k, v in values.items()}, kind == "parallel", 2 * math.pi * f) * z0
                    return (1 - y) / (1 + y)
                off["formula"] = max(off["formula"], abs(x * by - (reflection(1 + 1e-5) - reflection(1 - 1e-5)) / 2e-5))
        out[kind] = off
    return out


def measure(work):
    dispersive = lossy_block(work).replace('eps = 2.2\nsigma = "0.1 S/m"', 'eps = 1.8\nsigma = "0.02 S/m"\npoles = [{kind = "lorentz", frequency = "16 GHz", damping = "2 GHz", delta_eps = 0.6}]')
    across = dispersive
    for what, by in (('"Ez"', '"Hz"'), ('["0.3 mm", "-inf"', '["0.3 mm", "-4 mm"'), ('l", "inf"', 'l", "4 mm"'), ("9.5 GHz", "4 GHz"), ("13.1 GHz", "6.5 GHz")):
        across = across.replace(what, by, 1)
    found = {
        "patch": worst(work, "patch_length", PATCH, "16.6 mm", 5000, ("S_feed_feed",)),
        "iris": worst(work, "iris_width", IRIS, "10.7 mm", 10000, ("S_left_left", "S_right_left")),
        "metal block": worst(work, "metal_step", STEP, "6.6 mm", 10000, ("S_left_left", "S_right_left", "S_right_right")),
        "block of lossy metal": worst(work, "lossy_metal_step", LOSSY_STEP, "6.6 mm", 10000, ("S_left_left", "S_right_left", "S_right_right")),
        "dispersive block, E across": worst(work, "dispersive_across", across, "13 mm", 62500, ("S_left_left", "S_right_left", "S_right_right")),
        "dispersive block": worst(work, "dispersive_block", dispersive, "13 mm", 62500, ("S_left_left", "S_right_left", "S_left_right", "S_right_right")),
        "block": worst(work, "lossy_block", lossy_block(work), "13 mm", 62500, ("S_left_left", "S_right_left", "S_left_right", "S_right_right")),
        "rib": worst(work, "notched_rib", RIB, "410 nm", 1.5625, ("S_in_in", "S_out_in")),
    }
    ended = ended_plates(work)
    good = all(x <= 1e-3 for by in found.values() for x in by.values()) and all(x["differences"] <= 1e-3 and x["formula"] <= 0.02 for x in ended.values())
    circuits = "; ".join(f"plates ended by {kind} R L C: differences {x['differences']:.1e}, formula {x['formula']:.4f}" for kind, x in ended.items())
    return good, circuits + "; " + "; ".join(f"{name}: " + ", ".join(f"{element} {x:.1e}" for element, x in by.items()) for name, by in found.items()) + f"; {fdtd.where(work)}"
