# SPDX-License-Identifier: Apache-2.0
import fdtd

WHAT = "d S / d length of a block with losses (eps 2.2, 0.1 S/m) in a parallel-plate guide, the length a parameter, 9.5 to 13.1 GHz, against runs with blocks 1/16 of a cell longer and shorter"
BAR = "central differences 1e-3"


def measure(work):
    text = (work.root / "tests" / "apps" / "fdtd_ports_test.cpp").read_text()
    text = text[text.index("std::string lossy_block() {"):]
    case = fdtd.folder(work, "lossy_block.toml")
    case.write_text(text[text.index('R"(') + 3:text.index(')";')])
    own = fdtd.run(work, case, "lossy_block").table("s_parameters")
    moved = [fdtd.run(work, case, f"lossy_block_{name}", {"parameters.l": f"13 mm {sign} 0.0625 mm", "s_parameters.derivatives": []}).table("s_parameters")
             for name, sign in (("shorter", "-"), ("longer", "+"))]
    worst = {}
    for element in ("S_left_left", "S_right_left", "S_left_right", "S_right_right"):
        def values(table, name):
            return [complex(a, b) for a, b in zip(table[name + "_re"], table[name + "_im"])]
        found = values(own, element + "_by_l")
        wanted = [(a - b) / 0.125e-3 for a, b in zip(values(moved[1], element), values(moved[0], element))]
        worst[element] = max(abs(a - b) for a, b in zip(found, wanted)) / max(abs(x) for x in wanted)
    return max(worst.values()) <= 1e-3, ", ".join(f"{name} {x:.1e}" for name, x in worst.items()) + f"; {fdtd.where(work)}"
