# SPDX-License-Identifier: Apache-2.0
import md

WHAT = "NIST's Lennard-Jones configurations 1 and 4: energy, virial, tail and linear force shift at cut-offs 3 and 4 (box of exactly two cut-offs among them)"
BAR = "1e-12 relative in f64, 1e-5 in mixed"

TABLE = (  # configuration, cut-off, U, W (sum of r.f), tail, U and W shifted
    (1, 3, -4351.5401945439, -568.66546531818, -198.48888374416, -3870.924885784, 317.53834601244),
    (1, 4, -4467.495724948, -1263.8833718721, -83.768986403337, None, None),
    (4, 3, -16.790321304626, -46.249196746309, -0.54516600149457, -15.001402286915, -43.096005539178),
    (4, 4, -17.060453220271, -47.868828191072, -0.23007839283143, None, None),
)


def configuration(work, number):
    """As XYZ: reduced lengths stand for nm, the file counts angstrom; digits are moved, not rounded."""
    edges, rows = md.nist(work, f"lj_sample_config_periodic{number}.txt")
    path = md.folder(work, f"lj{number}.xyz")
    lattice = f"{edges[0]} 0 0 0 {edges[1]} 0 0 0 {edges[2]}"
    shift = lambda text: f"{text.split('E')[0]}E{int(text.split('E')[1]) + 1}"
    lattice = " ".join(shift(w) if "E" in w else w for w in lattice.split())
    path.write_text(f"{len(rows)}\nLattice=\"{lattice}\"\n" + "".join(f"Ar {' '.join(shift(w) for w in row[1:4])}\n" for row in rows))
    return path


def measure(work):
    worst = {"f64": 0.0, "mixed": 0.0}
    tables = '[lennard_jones]\nsigma = "1 nm"\nepsilon = "1 kJ/mol"\nmass = "1 amu"\n'
    for number, cut, u, w, tail, u_shifted, w_shifted in TABLE:
        base = {"structure": str(configuration(work, number)), "coulombtype": "none", "rvdw": f"{cut} nm", "vdw_modifier": "none", "DispCorr": "AllEnerPres", "gen_vel": False, "nsteps": 0}
        path = md.case(work, f"lj{number}_{cut}", base, tables)
        for precision in worst:
            e = md.run(work, path, f"lj{number}_{cut}_{precision}", {"precision": precision}).energies()
            found = [md.relative(e["lj"][0], u), md.relative(e["lj_tail"][0], tail)]
            bare = md.run(work, path, f"lj{number}_{cut}_{precision}_bare", {"precision": precision, "DispCorr": "no"}).energies()
            virial = 3 * bare["pressure_bar"][0] * bare["volume_nm3"][0] / md.BAR_PER_UNIT
            found.append(md.relative(virial, w))
            if u_shifted is not None:
                s = md.run(work, path, f"lj{number}_{cut}_{precision}_shifted", {"precision": precision, "DispCorr": "no", "vdw_modifier": "force-shift"}).energies()
                found += [md.relative(s["lj"][0], u_shifted), md.relative(3 * s["pressure_bar"][0] * s["volume_nm3"][0] / md.BAR_PER_UNIT, w_shifted)]
            worst[precision] = max(worst[precision], *found)
    return worst["f64"] <= 1e-12 and worst["mixed"] <= 1e-5, f"largest relative difference {worst['f64']:.1e} in f64, {worst['mixed']:.1e} in mixed; {md.where(work)}"
