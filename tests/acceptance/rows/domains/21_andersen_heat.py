# SPDX-License-Identifier: Apache-2.0
"""Andersen's thermostat with leap-frog and velocity Verlet: a peptide in rigid water."""
import functools

import md

WHAT = "alanine dipeptide in 749 rigid waters, Andersen's thermostat of 0.5 ps at 300 K, 2 fs: drift of the conserved energy and mean temperature of leap-frog and velocity Verlet"
BAR = "drift below 0.01 kJ/mol/ps/atom; mean temperature of 40 ps after 10 ps within 3 errors of 300 K"

SETTINGS = {"rcoulomb": "0.9 nm", "rvdw": "0.9 nm", "constraints": "h-bonds", "dt": "2 fs", "tcoupl": "andersen", "tau_t": "0.5 ps", "ref_t": "300 K", "nstenergy": 10, "nstlog": 0, "nstxout": 0, "seed": 7}
TABLES = ('[output]\npictures = false\n[[stage]]\nname = "down"\ntype = "minimize"\nnsteps = 200\n[[stage]]\nname = "begin"\ngen_temp = "300 K"\nduration = "10 ps"\n[[stage]]\nname = "measure"\nduration = "40 ps"\n')


def measure(work):
    files = {"topology": str(work.test_data("md", "amber", "ala2_tip3p.prmtop")), "structure": str(work.test_data("md", "amber", "ala2_tip3p.rst7"))}

    def one(integrator):
        run = md.run(work, md.case(work, f"andersen_{integrator}", {**files, **SETTINGS, "integrator": integrator}, TABLES), f"andersen_{integrator}")
        rows = {r[1]: r for r in (line.split(",") for line in (run.path / "summary.csv").read_text().splitlines()) if r[0] == "measure"}
        t = rows["temperature_k"]
        return float(t[3]), float(t[4]), float(rows["drift"][3])

    kinds = ("md", "md-vv")
    found = dict(zip(kinds, md.side_by_side([functools.partial(one, k) for k in kinds])))
    holds = all(abs(t - 300) <= 3 * e and abs(d) < 0.01 for t, e, d in found.values())
    return holds, "; ".join(f"{k}: {t:.2f} +- {e:.2f} K, drift {d:.2e} kJ/mol/ps/atom" for k, (t, e, d) in found.items())
