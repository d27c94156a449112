# SPDX-License-Identifier: Apache-2.0
import rowkit

WHAT = "JAC with PME and a smooth cut-off, lists at hand, one thread, beside an evaluation of forces in double precision: energy, forces, box and all parameter gradients; one product with the Hessian"
BAR = "at most 2x; 3x"


def measure(work):
    found = work.numbers("molecular_slopes_bench")
    gradients, product, whole, mixed, forces = rowkit.need(found, "gradients_ratio_f64", "hessian_next_ratio_f64", "hessian_ratio_f64", "gradients_ratio_mixed", "forces_f64")
    return gradients <= 2 and product <= 3, (
        f"{gradients:.2f}x; a product at a linearized gradient {product:.2f}x, with the gradient before it {whole:.2f}x; forces take {forces:.1f} ms in double precision; "
        f"beside forces in mixed precision the gradients take {mixed:.2f}x")
