# SPDX-License-Identifier: Apache-2.0
import fdtd

WHAT = "modes of a metal box of 5 x 2 x 6 cm below 10 GHz on 25 x 10 x 31 cells, by ring-down (apps/examples/electromagnetics/cavity.toml)"
BAR = "14 modes; against those of the scheme 1e-7 in f64, 1e-5 in f32; against the exact ones 0.4 %; order of convergence at least 1.9; no energy lost or gained, 1e-9 in f64"


def errors(run, modes, key):
    """Largest relative error of the modes, and of what was found that is none of them."""
    found = run.table("modes")["frequency"]
    wanted = [m[key] for m in modes]
    return [fdtd.relative(fdtd.nearest(found, f), f) for f in wanted], max(fdtd.relative(fdtd.nearest(wanted, f), f) for f in found)


def measure(work):
    reference = fdtd.references(work, "D1_pec_cavity")
    modes, case = reference["modes"], fdtd.example(work, "cavity.toml")
    exact_cells = [f"{1e3 * length / n!r} mm" for length, n in zip(reference["L_m"], reference["N_cells"])]
    lines, holds = [f"{len(modes)} modes; {fdtd.where(work)}"], len(modes) == 14
    for precision, bar in (("f64", 1e-7), ("f32", 1e-5)):
        run = fdtd.run(work, case, f"cavity_{precision}", {"run.precision": precision, "run.dt": f"{reference['dt_s']!r} s", "grid.cell": exact_cells})
        of_scheme, spurious = errors(run, modes, "f_yee_Hz")
        exact, _ = errors(run, modes, "f_exact_Hz")
        holds = holds and max(of_scheme) <= bar and spurious <= bar and max(exact) <= 4e-3
        lines.append(f"{precision}: against the scheme {max(of_scheme):.1e} (nothing else found: {spurious:.1e}), against the exact ones {100 * max(exact):.3f} %")
        if precision == "f64":
            coarse = exact
            drift = 2 * max(abs(rate) for rate in run.table("modes")["decay"]) * 60e-9  # of the energy over the run of 60 ns
            holds = holds and drift <= 1e-9
            lines.append(f"f64: energy of a mode over the run: {drift:.1e}")
    finer = {"grid.cell": [f"{1e3 * length / (2 * n)!r} mm" for length, n in zip(reference["L_m"], reference["N_cells"])],
             "run.dt": f"{reference['dt_s'] / 2!r} s", "run.stop.after_sources": "30 ns"}
    fine, _ = errors(fdtd.run(work, case, "cavity_fine", finer), modes, "f_exact_Hz")
    orders = [fdtd.order(pair)[0] for pair in zip(coarse, fine)]
    lines.append(f"half the cell length: {100 * max(fine):.4f} %, order {min(orders):.3f} to {max(orders):.3f}")
    return holds and min(orders) >= 1.9, "\n".join(lines)
