# SPDX-License-Identifier: Apache-2.0
import statistics

import md

WHAT = "LJ melt of 32,000 atoms on their lattice, as bench/in.lj of LAMMPS: energy and pressure of step 0, and what 100 steps of 0.005 come to"
BAR = "U/N and the virial of step 0 1e-11 relative in f64, 1e-5 in mixed; after 100 steps T, U/N, E/N within 1 % of LAMMPS's log for each of 4 seeds, the mean of P within 1 % or 3 standard errors"

N, L = 32000, 33.59192382765015
U0, W0 = -6.773368053252956, -22.15819925403549


def reduced(e, k):
    """T, U/N, E/N with N - 1 atoms' kinetic energy as LAMMPS counts it, P, of a row."""
    temperature = e["temperature_k"][k] * 0.00831446261815324
    return temperature, e["potential"][k] / N, e["total"][k] / N, e["pressure_bar"][k] / md.BAR_PER_UNIT


def measure(work):
    tables = f'[lennard_jones]\nsigma = "1 nm"\nepsilon = "1 kJ/mol"\nmass = "1 amu"\n[build]\nlattice = "fcc"\ncells = 20\nedge = "{L / 20!r} nm"\n'
    common = {"coulombtype": "none", "rvdw": "2.5 nm", "vdw_modifier": "none", "dt": "5 fs", "nstxout": 0, "nstenergy": 10}
    lines, holds = [md.where(work)], True
    path = md.case(work, "melt0", {**common, "nsteps": 0, "gen_vel": False}, tables)
    for precision, bar in (("f64", 1e-11), ("mixed", 1e-5)):
        e = md.run(work, path, f"melt0_{precision}", {"precision": precision}).energies()
        u = md.relative(e["lj"][0] / N, U0)
        w = md.relative(3 * e["pressure_bar"][0] * e["volume_nm3"][0] / md.BAR_PER_UNIT / N, W0)
        holds = holds and u <= bar and w <= bar
        lines.append(f"step 0 in {precision}: U {u:.1e}, W {w:.1e}")
    path = md.case(work, "melt", {**common, "integrator": "md-vv", "nsteps": 100, "gen_temp": f"{1.44 / 0.00831446261815324!r} K", "dt": "5 fs"}, tables)
    wanted, seen = (0.7574531, -5.7585055, -4.6223613, 0.20726105), []
    for seed in range(1, 5):
        seen.append(reduced(md.run(work, path, f"melt_{seed}", {"precision": "mixed", "seed": seed}).energies(), -1))
        holds = holds and all(md.relative(a, b) <= 0.01 for a, b in zip(seen[-1][:3], wanted))
    means = [statistics.fmean(values) for values in zip(*seen)]
    error = statistics.stdev(values[3] for values in seen) / len(seen) ** 0.5
    holds = holds and abs(means[3] - wanted[3]) <= max(0.01 * wanted[3], 3 * error)
    lines.append("after 100 steps, mean of 4 seeds: " + ", ".join(f"{name} {a:.5f} ({100 * md.relative(a, b):.2f} %)" for name, a, b in zip(("T", "U/N", "E/N", "P"), means, wanted)) + f", standard error of P {error:.5f}")
    return holds, "\n".join(lines)
