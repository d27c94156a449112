# SPDX-License-Identifier: Apache-2.0
"""A quarter of the atoms stays; every barostat finds the same volume, and keeps its books."""
import functools

import md

WHAT = "256 argon atoms at 100 K and 200 bar, every fourth of which stays: volumes of c-rescale, Parrinello-Rahman and Monte Carlo over 240 ps; conserved energy of c-rescale and Parrinello-Rahman"
BAR = "volumes equal within 3 errors of their differences; the conserved energy moves by at most 1 kJ/mol"

SETTINGS = {"dt": "2 fs", "coulombtype": "none", "rvdw": "0.9 nm", "vdw_modifier": "force-switch", "rvdw_switch": "0.7 nm", "ref_t": "100 K", "ref_p": "200 bar", "compressibility": "2e-4 1/bar",
            "tau_p": "2 ps", "tau_t": "0.5 ps", "freeze": "serial " + " ".join(str(k) for k in range(1, 257, 4)), "nstenergy": 50, "nstlog": 0, "nstxout": 0, "precision": "f64", "seed": 3}
TABLES = ('[lennard_jones]\n[build]\nlattice = "fcc"\ncells = 4\nedge = "0.574 nm"\n[output]\npictures = false\n[[stage]]\nname = "begin"\nduration = "40 ps"\n'
          '[[stage]]\nname = "measure"\nduration = "240 ps"\n')
BAROSTATS = {"c-rescale": "v-rescale", "parrinello-rahman": "nose-hoover", "monte-carlo": "v-rescale"}


def measure(work):
    def one(barostat):
        settings = {**SETTINGS, "pcoupl": barostat, "tcoupl": BAROSTATS[barostat]}
        run = md.run(work, md.case(work, f"frozen_{barostat}", settings, TABLES), f"frozen_{barostat}")
        rows = [line.split(",") for line in (run.path / "summary.csv").read_text().splitlines()]
        volume, error = next((float(r[3]), float(r[4])) for r in rows if r[:2] == ["measure", "volume_nm3"])
        conserved = run.energies("2_measure")["conserved"]
        return volume, error, conserved[-1] - conserved[0]

    found = dict(zip(BAROSTATS, md.side_by_side([functools.partial(one, b) for b in BAROSTATS])))
    names = list(found)
    same = all(abs(found[a][0] - found[b][0]) <= 3 * (found[a][1] ** 2 + found[b][1] ** 2) ** 0.5 for i, a in enumerate(names) for b in names[:i])
    kept = all(abs(found[b][2]) <= 1 for b in ("c-rescale", "parrinello-rahman"))
    return same and kept, "; ".join(f"{b}: {v:.3f} +- {e:.3f} nm3, conserved {c:+.2f} kJ/mol" for b, (v, e, c) in found.items())
