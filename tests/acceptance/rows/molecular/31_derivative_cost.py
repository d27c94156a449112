# SPDX-License-Identifier: Apache-2.0
import rowkit

WHAT = "JAC with PME and a smooth cut-off, lists at hand, one thread, beside an evaluation of forces of the same precision in the same run: energy, forces, box and all parameter gradients; one product with the Hessian at a linearized gradient; the same with that gradient"
BAR = "mixed beside mixed: at most 2x, 3x, 3x; double precision beside double precision: products at most 3x"


def measure(work):
    found = work.numbers("molecular_slopes_bench")
    names = [f"{what}_ratio_{kind}" for kind in ("mixed", "f64") for what in ("gradients", "hessian_next", "hessian")]
    gradients, product, whole, gradients64, product64, whole64 = rowkit.need(found, *names)
    mixed, double = rowkit.need(found, "forces_mixed", "forces_f64")
    return gradients <= 2 and max(product, whole, product64, whole64) <= 3, (
        f"mixed (forces take {mixed:.1f} ms): gradients {gradients:.2f}x, a product {product:.2f}x, with its gradient {whole:.2f}x; "
        f"double precision (forces {double:.1f} ms): {gradients64:.2f}x, {product64:.2f}x, {whole64:.2f}x")
