# SPDX-License-Identifier: Apache-2.0
import ensembles
import md

WHAT = "ensembles of 300 rigid SPC/E waters, PME, 2 fs: v-rescale at two temperatures, v-rescale with C-rescale at two pressures"
BAR = "kinetic energies of half steps p > 0.01/4; slopes of log ratios within 4 standard errors"
SLOW = True

N = 300
FREEDOM = 6 * N - 3
T, DT, P, DP = 298.15, 8.5, 1.0, 325.0
WATER = {"rcoulomb": "0.9 nm", "rvdw": "0.9 nm", "DispCorr": "EnerPres", "constraints": "h-bonds", "dt": "2 fs", "nstxout": 0, "tcoupl": "v-rescale", "tau_t": "0.2 ps", "tau_p": "1 ps"}
BUILD = f'[build]\nkind = "water"\nmodel = "spce"\nmolecules = {N}\n[[stage]]\ntype = "minimize"\nemtol = "200 kJ/mol/nm"\nnsteps = 200\n'
BEGINNING_PS, PS = 15, 100


def series(work, name, temperature, pressure, seed):
    barostat = f'pcoupl = "c-rescale"\nref_p = "{pressure} bar"\n' if pressure is not None else ""
    # Where the volume stays it is that of 0.997 g/cm^3, which build makes.
    tables = BUILD + (f'[[stage]]\nname = "begin"\nduration = "{BEGINNING_PS} ps"\nnstenergy = 0\n{barostat}'
                      f'[[stage]]\nname = "sample"\nduration = "{PS} ps"\nnstenergy = 50\n{barostat}')
    run = md.run(work, md.case(work, "water_" + name, {**WATER, "ref_t": f"{temperature} K", "seed": seed}, tables), "water_" + name)
    return md.table(next(p for p in run.path.iterdir() if p.name.endswith("_sample")) / "energies.csv")


def measure(work):
    lines, holds = [md.where(work)], True
    hot = [series(work, f"t{i}", T + i * DT, None, 3000 + i) for i in (0, 1)]
    pressed = [series(work, f"p{i}", T, P + i * DP, 3010 + i) for i in (0, 1)]
    for name, runs, key, expected, baths in (("v-rescale", hot, "potential", ensembles.between_temperatures(T, T + DT), (T, T + DT)),
                                             ("v-rescale and C-rescale", pressed, "volume_nm3", ensembles.between_pressures(P, P + DP, T), (T, T))):
        p = [ensembles.kinetic_p(ensembles.independent(r["temperature_k"]), FREEDOM, bath) for r, bath in zip(runs, baths)]
        text, off = ensembles.pair(*(ensembles.independent(r[key]) for r in runs), expected)
        holds = holds and min(p) > 0.01 / 4 and abs(off) <= 4
        lines.append(f"{name}: kinetic p {p[0]:.2g}, {p[1]:.2g}; {key} {text}")
    return holds, "\n".join(lines)
