# SPDX-License-Identifier: Apache-2.0
import functools

import ensembles
import md

WHAT = "ensembles of 500 argon atoms, 4 fs: every thermostat at two temperatures, every barostat at two pressures; weak coupling as the control"
BAR = "kinetic energies (those with Maxwell's distribution) p > 0.01/number of tests; slopes of log ratios within 4 standard errors; both kinds of weak coupling must fail"
SLOW = True

N, FREEDOM = 500, 3 * 500 - 3
T, DT, P, DP = 95.0, 6.0, 200.0, 75.0
# The LJ force goes to zero between 0.6 and 0.8 nm (force-switch).
ARGON = {"coulombtype": "none", "rvdw": "0.8 nm", "rvdw_switch": "0.6 nm", "vdw_modifier": "force-switch", "dt": "4 fs", "nstenergy": 50, "nstxout": 0, "tau_t": "0.2 ps",
         "tau_p": "0.5 ps", "compressibility": "2e-4 1/bar"}
TABLES = '[lennard_jones]\nsigma = "0.3405 nm"\nepsilon = "0.996 kJ/mol"\nmass = "39.948 amu"\n[build]\nlattice = "fcc"\ncells = 5\nedge = "0.574 nm"\n'
STEPS, BEGINNING = 60000, 5000
BAROSTAT_STEPS = 240000  # volumes are slow: 60,000 steps leave weak coupling only 2.7 errors off

THERMOSTATS = (  # name, settings, whether momentum is held, canonical
    ("leap-frog v-rescale", {"integrator": "md", "tcoupl": "v-rescale"}, True, True),
    ("velocity-Verlet v-rescale", {"integrator": "md-vv", "tcoupl": "v-rescale"}, True, True),
    ("leap-frog Nose-Hoover", {"integrator": "md", "tcoupl": "nose-hoover"}, True, True),
    ("velocity-Verlet Nose-Hoover", {"integrator": "md-vv", "tcoupl": "nose-hoover"}, True, True),
    ("Andersen", {"integrator": "md-vv", "tcoupl": "andersen", "tau_t": "1 ps"}, False, True),
    ("Langevin", {"integrator": "sd", "tau_t": "0.5 ps"}, False, True),
    ("Berendsen (must fail)", {"integrator": "md", "tcoupl": "berendsen"}, True, False),
)
BAROSTATS = (
    ("C-rescale", {"tcoupl": "v-rescale", "pcoupl": "c-rescale"}, True),
    ("Parrinello-Rahman", {"tcoupl": "nose-hoover", "pcoupl": "parrinello-rahman", "tau_p": "1 ps"}, True),
    ("Monte Carlo", {"tcoupl": "v-rescale", "pcoupl": "monte-carlo", "nstpcouple": 10}, True),
    ("Berendsen (must fail)", {"tcoupl": "v-rescale", "pcoupl": "berendsen", "tau_p": "0.2 ps"}, False),  # the tighter, the narrower
)


def series(work, name, settings, seed, steps=STEPS):
    path = md.case(work, "argon_" + name, {**ARGON, **settings, "nsteps": steps + BEGINNING, "seed": seed}, TABLES)
    e = md.run(work, path, "argon_" + name).energies()
    first = BEGINNING // ARGON["nstenergy"]
    return {key: e[key][first:] for key in ("potential", "temperature_k", "volume_nm3")}


def measure(work):
    lines, holds, bar = [md.where(work)], True, 0.01 / (2 * (len(THERMOSTATS) + len(BAROSTATS)) - 2)
    # Seeds were fixed beforehand, each by its row of the tables above.
    heated = [functools.partial(series, work, f"t{k}_{i}", {**settings, "ref_t": f"{T + i * DT} K"}, 1000 + 10 * k + i) for k, (_, settings, _, _) in enumerate(THERMOSTATS) for i in (0, 1)]
    pressed = [functools.partial(series, work, f"p{k}_{i}", {**settings, "integrator": "md", "ref_t": f"{T} K", "ref_p": f"{P + i * DP} bar"}, 2000 + 10 * k + i, BAROSTAT_STEPS)
               for k, (_, settings, _) in enumerate(BAROSTATS) for i in (0, 1)]
    found = iter(md.side_by_side(heated + pressed))
    for name, _, held, canonical in THERMOSTATS:
        runs = [next(found), next(found)]
        freedom = FREEDOM if held else 3 * N
        p = [ensembles.kinetic_p(ensembles.independent(r["temperature_k"]), freedom, T + i * DT) for i, r in enumerate(runs)]
        text, off = ensembles.pair(*(ensembles.independent(r["potential"]) for r in runs), ensembles.between_temperatures(T, T + DT))
        good = min(p) > bar and abs(off) <= 4
        holds = holds and good == canonical
        lines.append(f"{name}: kinetic p {p[0]:.2g}, {p[1]:.2g}; {text}")
    for name, _, isobaric in BAROSTATS:
        runs = [next(found), next(found)]
        p = [ensembles.kinetic_p(ensembles.independent(r["temperature_k"]), FREEDOM, T) for r in runs]
        text, off = ensembles.pair(*(ensembles.independent(r["volume_nm3"]) for r in runs), ensembles.between_pressures(P, P + DP, T))
        good = abs(off) <= 4
        holds = holds and min(p) > bar and good == isobaric
        lines.append(f"{name}: kinetic p {p[0]:.2g}, {p[1]:.2g}; volumes {text}")
    return holds, "\n".join(lines)
