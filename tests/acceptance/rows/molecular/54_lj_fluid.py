# SPDX-License-Identifier: Apache-2.0
import ensembles
import md

WHAT = "LJ fluid of 500 atoms, cut-off 3 and tail corrections, 200 t* of 0.005 at constant temperature (v-rescale), against NIST's Monte Carlo"
BAR = "U/N and pressure within 3 standard errors (those of NIST are smaller than ours and left out)"

STATES = ((0.85, 0.776, -5.5121, 6.7714e-3), (0.85, 0.82, -5.7947, 0.55355), (0.85, 0.86, -6.0305, 1.2660), (0.90, 0.776, -5.4689, 0.24056))  # T, rho, U/N, P
N, BEGINNING, STEPS, EVERY = 500, 4000, 40000, 20


def measure(work):
    lines, holds = [md.where(work)], True
    for k, (temperature, density, energy, pressure) in enumerate(STATES):
        tables = f'[lennard_jones]\nsigma = "1 nm"\nepsilon = "1 kJ/mol"\nmass = "1 amu"\n[build]\nlattice = "fcc"\ncells = 5\nedge = "{(4 / density) ** (1 / 3)!r} nm"\n'
        settings = {"coulombtype": "none", "rvdw": "3 nm", "vdw_modifier": "none", "DispCorr": "AllEnerPres", "dt": "5 fs", "nsteps": BEGINNING + STEPS, "nstenergy": EVERY, "nstxout": 0,
                    "tcoupl": "v-rescale", "tau_t": "0.5 ps", "ref_t": f"{temperature / ensembles.R!r} K", "seed": 40 + k}
        e = md.run(work, md.case(work, f"lj_fluid_{k}", settings, tables), f"lj_fluid_{k}").energies()
        first = BEGINNING // EVERY
        u, du = ensembles.mean([x / N for x in e["potential"][first:]])
        p, dp = ensembles.mean([x * ensembles.BAR for x in e["pressure_bar"][first:]])
        off = (u - energy) / du, (p - pressure) / dp
        holds = holds and max(map(abs, off)) <= 3
        lines.append(f"T {temperature}, density {density}: U/N {u:.4f} +- {du:.4f} ({off[0]:+.1f} errors from {energy}), P {p:.4f} +- {dp:.4f} ({off[1]:+.1f} from {pressure})")
    return holds, "\n".join(lines)
