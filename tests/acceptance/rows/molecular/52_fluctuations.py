# SPDX-License-Identifier: Apache-2.0
import statistics

import md

WHAT = "fluctuation of the conserved energy of 864 argon atoms for six step sizes, 4 fs to 0.125 fs, velocity Verlet; LJ force to zero from 0.6 to 0.8 nm (force-switch)"
BAR = "the ratio of standard deviations at dt and dt/2 is 4.0 within 0.25 (published regression: largest deviation 0.0315 of the ratio over 4)"

ARGON = {"coulombtype": "none", "rvdw": "0.8 nm", "rvdw_switch": "0.6 nm", "vdw_modifier": "force-switch", "integrator": "md-vv", "ref_t": "95 K", "nstxout": 0, "precision": "f64"}
TABLES = '[lennard_jones]\nsigma = "0.3405 nm"\nepsilon = "0.996 kJ/mol"\nmass = "39.948 amu"\n[build]\nlattice = "fcc"\ncells = 6\nedge = "0.574 nm"\n'
MELT_PS, PS = 4, 2


def measure(work):
    lines, deviations = [md.where(work)], []
    for k in range(6):
        dt = 4 / 2**k
        tables = TABLES + (f'[[stage]]\nname = "melt"\ntcoupl = "v-rescale"\ndt = "2 fs"\nduration = "{MELT_PS} ps"\nnstenergy = 0\n'
                           f'[[stage]]\nname = "constant_energy"\ndt = "{dt} fs"\nduration = "{PS} ps"\nnstenergy = {2**k}\n')
        run = md.run(work, md.case(work, f"fluctuations_{k}", {**ARGON, "seed": 17}, tables), f"fluctuations_{k}")
        stage = next(p for p in run.path.iterdir() if p.name.endswith("constant_energy"))
        deviations.append(statistics.pstdev(md.table(stage / "energies.csv")["conserved"]))
    ratios = [a / b for a, b in zip(deviations, deviations[1:])]
    lines.append("deviations [kJ/mol] " + ", ".join(f"{d:.4g}" for d in deviations) + "; ratios " + ", ".join(f"{r:.3f}" for r in ratios))
    return all(abs(r - 4) <= 0.25 for r in ratios), "\n".join(lines)
