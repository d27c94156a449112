# SPDX-License-Identifier: Apache-2.0
import functools

import md

WHAT = "drift of the energy of 884 SPC/E waters: PME, potential-shift, SETTLE, velocity Verlet of 2 fs, 0.5 ns; least-squares slope of the conserved energy"
BAR = "f64: at most max(1e-6, 3 errors) kJ/mol/ps/atom with an error of at most 5e-7; mixed: 1e-4"
SLOW = True

ATOMS, BLOCKS = 3 * 884, 20
WATER = {"rcoulomb": "0.9 nm", "rvdw": "0.9 nm", "constraints": "h-bonds", "dt": "2 fs", "nstxout": 0, "ref_t": "298.15 K", "seed": 5}
BUILD = '[build]\nkind = "water"\nmodel = "spce"\nmolecules = 884\n[[stage]]\ntype = "minimize"\nemtol = "200 kJ/mol/nm"\nnsteps = 200\n'
STAGES = ('[[stage]]\nname = "begin"\ntcoupl = "v-rescale"\ntau_t = "0.2 ps"\nduration = "20 ps"\nnstenergy = 0\n'
          '[[stage]]\nname = "constant_energy"\nintegrator = "md-vv"\nduration = "500 ps"\nnstenergy = 50\n')


def slope(t, y):
    mt, my = sum(t) / len(t), sum(y) / len(y)
    return sum((a - mt) * (b - my) for a, b in zip(t, y)) / sum((a - mt) ** 2 for a in t)


def series(work, precision):
    run = md.run(work, md.case(work, f"nve_{precision}", {**WATER, "precision": precision}, BUILD + STAGES), f"nve_{precision}", timeout=20000)
    return md.table(next(p for p in run.path.iterdir() if p.name.endswith("constant_energy")) / "energies.csv")


def measure(work):
    lines, holds, both = [md.where(work)], True, ("mixed", "f64")
    for precision, e in zip(both, md.side_by_side([functools.partial(series, work, precision) for precision in both])):
        t, y = e["time_ps"], [x / ATOMS for x in e["conserved"]]
        drift = slope(t, y)
        # Its error by blocks, since rows are correlated: means of blocks about the line, as independent.
        n = len(t) // BLOCKS
        tb = [sum(t[k * n:(k + 1) * n]) / n for k in range(BLOCKS)]
        yb = [sum(y[k * n:(k + 1) * n]) / n for k in range(BLOCKS)]
        mt, my = sum(tb) / BLOCKS, sum(yb) / BLOCKS
        rest = [b - my - drift * (a - mt) for a, b in zip(tb, yb)]
        error = (sum(r * r for r in rest) / (BLOCKS - 2) / sum((a - mt) ** 2 for a in tb)) ** 0.5
        holds = holds and (abs(drift) <= 1e-4 if precision == "mixed" else abs(drift) <= max(1e-6, 3 * error) and error <= 5e-7)
        lines.append(f"{precision}: {drift:.2e} +- {error:.1e} kJ/mol/ps/atom")
    return holds, "\n".join(lines)
