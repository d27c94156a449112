# SPDX-License-Identifier: Apache-2.0
import gzip
import math

import md

WHAT = "protein 6MRR in water (15,954 atoms) from PDB and OpenMM's XML: energies by term and all forces against OpenMM's Reference platform"
BAR = "terms 1e-9 relative, Lennard-Jones with the tail as OpenMM counts it, forces 1e-7 kJ/mol/nm each (largest; Molly.jl's tolerance for cut-off), in f64"

WANTED = {"bonds": 164735.9680319716, "angles": 2839.822589076193, "dihedrals": 2892.478996097175, "impropers": 128.24252705183537}
LJ, COULOMB = -5151.620119781372, -123681.04625199942


def measure(work):
    settings = {"structure": str(md.unpacked(work, "p6mrr", "6mrr_equil.pdb.gz")), "forcefield": [str(work.test_data("md", "p6mrr", name)) for name in ("ff99SBildn.xml", "tip3p_standard.xml")],
                "coulombtype": "reaction-field", "epsilon_rf": 78.3, "rcoulomb": "1 nm", "rvdw": "1 nm", "coulomb_modifier": "none", "vdw_modifier": "none", "DispCorr": "AllEnerPres",
                "reaction_field_of_excluded": False, "precision": "f64", "nsteps": 0, "gen_vel": False, "output.forces": True}
    run = md.run(work, md.case(work, "6mrr", settings), "6mrr")
    e = {name: values[0] for name, values in run.energies().items()}
    differences = {name: md.relative(e[name], wanted) for name, wanted in WANTED.items()}
    differences["LJ"] = md.relative(e["lj"] + e["lj_tail"] + e["pairs_lj"], LJ)
    differences["Coulomb"] = md.relative(e["coulomb_short"] + e["pairs_coulomb"], COULOMB)
    with gzip.open(work.test_data("md", "p6mrr", "forces_all_cut.txt.gz"), "rt") as file:
        wanted = [tuple(map(float, line.split())) for line in file if line.strip()]
    found = run.forces()
    if len(found) != len(wanted):
        return False, f"{len(found)} forces, {len(wanted)} expected"
    largest = max(math.dist(a, b) for a, b in zip(found, wanted))
    text = ", ".join(f"{name} {d:.0e}" for name, d in differences.items()) + f"; largest difference of a force {largest:.1e} kJ/mol/nm of {md.rms([math.hypot(*f) for f in wanted]):.0f}"
    return max(differences.values()) <= 1e-9 and largest <= 1e-7, text + f"\n{md.where(work)}"
