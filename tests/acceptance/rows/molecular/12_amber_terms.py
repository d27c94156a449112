# SPDX-License-Identifier: Apache-2.0
import md

WHAT = "energies by term of AMBER topologies: alanine dipeptide in vacuum and in TIP3P, tri-alanine in TIP3P, JAC (23,558 atoms, charge -11)"
BAR = "bonded terms, 1-4 and Lennard-Jones 1e-10 relative; tail 1e-10; Coulomb 1e-8 with a converged sum, 1e-4 by PME with rtol 1e-5"

TABLE = (  # files, cut-off (A), kcal/mol: bond, angle, dihedral, LJ 1-4, Coulomb 1-4, LJ, Coulomb, tail
    ("amber/ala2_vac.prmtop", "amber/ala2_vac.rst7", None, (0.0205983150048, 0.361950366109, 1.925510375, 5.01569168647, 48.9354638123, 2.81198590139, -80.1237986438, 0)),
    ("amber/ala2_tip3p.prmtop", "amber/ala2_tip3p.rst7", 9, (0.0567377129892, 0.361949801486, 1.92551026065, 5.01569157604, 48.9354644423, 746.077811828, -6667.01248419, -28.8026215747)),
    ("amber/water_ala3.parm7", "amber/water_ala3.rst7", 10, (0.0374151958434, 0.90040461498, 14.9090271484, 9.07222779371, 194.477231523, 765.398109368, -6732.52159583, -20.5366111874)),
    ("dhfr/JAC.prmtop.gz", "dhfr/JAC.rst7.gz", 9, (458.731926897, 1240.841483364, 1009.520186404, 551.7170803492, 6697.690998041, 9072.668866978, -91601.41672637, -530.7461430625)),
)
NAMES = ("bond", "angle", "dihedral", "LJ 1-4", "Coulomb 1-4", "LJ", "Coulomb", "tail")


def found_terms(run):
    e = {name: values[0] / md.KCAL for name, values in run.energies().items()}
    total = lambda *names: sum(e.get(name, 0.0) for name in names)
    return (total("bonds"), total("angles"), total("dihedrals", "impropers"), total("pairs_lj"), total("pairs_coulomb"), total("lj"), total("coulomb_short", "coulomb_reciprocal"), total("lj_tail"))


def measure(work):
    lines, holds = [md.where(work)], True
    for topology, structure, cut, wanted in TABLE:
        name = topology.split("/")[1].split(".")[0]
        settings = {"topology": str(work.test_data("md", *topology.split("/"))), "structure": str(work.test_data("md", *structure.split("/"))), "nsteps": 0, "gen_vel": False,
                    "coulomb_constant": "amber", "vdw_modifier": "none", "coulomb_modifier": "none", "precision": "f64"}
        if cut is None:
            settings |= {"coulombtype": "cut-off", "rcoulomb": "inf", "rvdw": "inf"}
        else:  # a sum by splines of order 8 on a fine grid, erfc(beta rc) of 1e-12: as good as converged
            settings |= {"rcoulomb": f"{cut / 10} nm", "rvdw": f"{cut / 10} nm", "DispCorr": "EnerPres", "ewald_rtol": 1e-12, "pme_order": 8, "fourierspacing": "0.03 nm"}
        path = md.case(work, name, settings)
        found = found_terms(md.run(work, path, name))
        differences = [md.relative(a, b) for a, b in zip(found, wanted)]
        ok = all(d <= (1e-8 if what == "Coulomb" else 1e-10) for what, d in zip(NAMES, differences))
        text = f"{name}: " + ", ".join(f"{what} {d:.0e}" for what, d in zip(NAMES, differences))
        if cut is not None:
            pme = found_terms(md.run(work, path, name + "_pme", {"ewald_rtol": 1e-5, "pme_order": 5, "fourierspacing": "0.1 nm"}))
            d = md.relative(pme[6], wanted[6])
            ok = ok and d <= 1e-4
            text += f", by PME {d:.0e}"
        holds = holds and ok
        lines.append(text + ("" if ok else "  <- too far"))
    return holds, "\n".join(lines)
