# SPDX-License-Identifier: Apache-2.0
import fdtd

WHAT = ("d S / d length, the length a parameter, against runs with it a little longer and shorter: a block with losses (eps 2.2, 0.1 S/m) and a dispersive one (Lorentz, with losses) in a parallel-plate guide, 9.5 to "
        "13.1 GHz; a notch in a silicon rib of 500 x 250 nm on 100 nm in oxide, 185 to 202 THz, that ends 0.1 of a cell behind a line of the grid")
BAR = "central differences 1e-3"

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


def measure(work):
    dispersive = lossy_block(work).replace('eps = 2.2\nsigma = "0.1 S/m"', 'eps = 1.8\nsigma = "0.02 S/m"\npoles = [{kind = "lorentz", frequency = "16 GHz", damping = "2 GHz", delta_eps = 0.6}]')
    found = {
        "dispersive block": worst(work, "dispersive_block", dispersive, "13 mm", 62500, ("S_left_left", "S_right_left", "S_left_right", "S_right_right")),
        "block": worst(work, "lossy_block", lossy_block(work), "13 mm", 62500, ("S_left_left", "S_right_left", "S_left_right", "S_right_right")),
        "rib": worst(work, "notched_rib", RIB, "410 nm", 1.5625, ("S_in_in", "S_out_in")),
    }
    good = all(x <= 1e-3 for by in found.values() for x in by.values())
    return good, "; ".join(f"{name}: " + ", ".join(f"{element} {x:.1e}" for element, x in by.items()) for name, by in found.items()) + f"; {fdtd.where(work)}"
