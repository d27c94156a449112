# SPDX-License-Identifier: Apache-2.0
import fdtd

WHAT = "modes of a ring of n = 3.4, 1 < r < 2, against the exact ones (apps/examples/electromagnetics/ring.toml), and d f/d r_outer by the adjoint"
BAR = "10 cells per unit: f 0.4 % for m = 3..5, 0.6 % for m = 6; 40 cells: f 0.05 % and Q 3 % for m = 3..5, derivative 2 %"


def measure(work):
    modes, case = fdtd.references(work, "D4_ring_n3p4_r1_w1_Ez"), fdtd.example(work, "ring.toml")
    lines, holds = [fdtd.where(work)], True
    for resolution, f_bars, q_bar in ((10, (4e-3, 4e-3, 4e-3, 6e-3), None), (40, (5e-4, 5e-4, 5e-4), 0.03)):
        settings = {"grid.cell": f"{1e3 / resolution!r} nm", "boundary.pml.cells": 2 * resolution}
        found = fdtd.run(work, case, f"ring_{resolution}", settings).table("modes")
        f_errors, q_errors, derivative_errors = [], [], []
        for mode in modes:
            exact = mode["f_re"] * fdtd.C0 / fdtd.UM
            k = min(range(len(found["frequency"])), key=lambda i: abs(found["frequency"][i] - exact))
            f_errors.append(fdtd.relative(found["frequency"][k], exact))
            q_errors.append(fdtd.relative(found["quality"][k], mode["Q"]))
            derivative_errors.append(fdtd.relative(found["frequency_by_ring.radius"][k], mode["dfre_db"] * fdtd.C0 / fdtd.UM**2))
        holds = holds and all(e <= bar for e, bar in zip(f_errors, f_bars)) and (q_bar is None or max(q_errors[:3]) <= q_bar and max(derivative_errors) <= 0.02)
        lines.append(f"{resolution} cells per unit, m = 3..6: f off by " + ", ".join(f"{100 * e:.3f} %" for e in f_errors) +
                     "; Q off by " + ", ".join(f"{100 * e:.1f} %" for e in q_errors) +
                     "; d f/d r_outer off by " + ", ".join(f"{100 * e:.3f} %" for e in derivative_errors))
    return holds, "\n".join(lines)
