# SPDX-License-Identifier: Apache-2.0
import math

import md

WHAT = "NIST's SPC/E configurations 1 and 4 (100 and 750 molecules; the first in a box of exactly two cut-offs): dispersion, tail, direct, reciprocal with self and intramolecular parts, as a GROMACS topology"
BAR = "1e-6 relative, CODATA 2010 constants; the reciprocal part relative to the self energy that it nearly cancels"

# E/k_B in K: dispersion, tail, real, fourier + self + intra, of a double precision computation
TABLE = {1: (99538.73621, -823.7149949, -558888.9197, 6270.093784 - 2844691.574 + 2809992.2, 20), 4: (448592.5312, -13728.58325, -3572260.544, 7587.85241 - 14223457.87 + 14148311.39, 30)}


def coulomb_constant():
    """e^2 N_A/(4 pi eps0) in kJ/mol nm by CODATA 2010, and k_B N_A of the same."""
    e, eps0, avogadro, k_b = 1.602176565e-19, 8.854187817620e-12, 6.02214129e23, 1.3806488e-23
    return e * e * avogadro / (4 * math.pi * eps0) * 1e6, k_b * avogadro * 1e-3


def inputs(work, number, gas):
    edges, rows = md.nist(work, f"spce_sample_config_periodic{number}.txt")
    n = len(rows) // 3
    gro = [f"SPC/E {number}", f"{3 * n:5d}"]
    for k, row in enumerate(rows):
        name = ("OW", "HW1", "HW2")[k % 3]
        gro.append(f"{k // 3 % 100000 + 1:5d}SOL  {name:>5}{(k + 1) % 100000:5d}" + "".join(f"{float(x) / 10:20.15f}" for x in row[1:4]))
    gro.append("".join(f"{float(edge) / 10:20.15f}" for edge in edges))
    structure = md.folder(work, f"spce{number}.gro")
    structure.write_text("\n".join(gro) + "\n")
    sigma, epsilon = 0.316555789, 78.19743111 * gas
    topology = md.folder(work, f"spce{number}.top")
    topology.write_text(f"""[ defaults ]
1 2 no 1.0 1.0
[ atomtypes ]
OW 8 15.9994 0.0 A {sigma!r} {epsilon!r}
HW 1 1.008 0.0 A 0.0 0.0
[ moleculetype ]
SOL 2
[ atoms ]
1 OW 1 SOL OW 1 -0.8476 15.9994
2 HW 1 SOL HW1 1 0.4238 1.008
3 HW 1 SOL HW2 1 0.4238 1.008
[ settles ]
1 1 0.1 0.163299
[ exclusions ]
1 2 3
2 1 3
3 1 2
[ system ]
SPC/E
[ molecules ]
SOL {n}
""")
    return structure, topology


def measure(work):
    k_e, gas = coulomb_constant()
    lines, worst = [md.where(work)], 0.0
    for number, (dispersion, tail, real, rest, edge) in TABLE.items():
        structure, topology = inputs(work, number, gas)
        beta = 5.6 / (edge / 10)
        # k integer with n^2 < 27; cut-off between 26 and 27
        kmax = 2 * math.pi / (edge / 10) * math.sqrt(26.5)
        settings = {"topology": str(topology), "structure": str(structure), "coulomb_constant": repr(k_e), "coulombtype": "ewald", "ewald_beta": f"{beta!r} 1/nm", "ewald_kmax": f"{kmax!r} 1/nm",
                    "rcoulomb": "1 nm", "rvdw": "1 nm", "coulomb_modifier": "none", "vdw_modifier": "none", "DispCorr": "AllEnerPres", "DispCorr_pairs": "all", "precision": "f64", "nsteps": 0, "gen_vel": False}
        e = {name: values[0] / gas for name, values in md.run(work, md.case(work, f"spce{number}", settings), f"spce{number}").energies().items()}
        found = (e["lj"], e["lj_tail"], e["coulomb_short"], e["coulomb_reciprocal"])
        differences = [md.relative(a, b) for a, b in zip(found, (dispersion, tail, real, rest))]
        # the reciprocal part is a small difference of large sums: its digits are those of the sums
        differences[3] = abs(found[3] - rest) / (2844691.574 if number == 1 else 14223457.87)
        worst = max(worst, *differences)
        lines.append(f"configuration {number}: " + ", ".join(f"{name} {d:.0e}" for name, d in zip(("dispersion", "tail", "direct", "reciprocal + self + intra"), differences)))
    return worst <= 1e-6, "\n".join(lines)
