# SPDX-License-Identifier: Apache-2.0
import rowkit

WHAT = "JAC with PME and a smooth cut-off, lists at hand, one thread, beside an evaluation of forces of the same precision in the same run: energy, forces, box and all parameter gradients; one product with the Hessian at a linearized gradient; the same with that gradient"
BAR = "at most 2x; 3x, in double precision together with its gradient; mixed results within 1e-5 of the largest entry of each array"


def measure(work):
    found = work.numbers("molecular_derivatives_bench")
    names = [f"{what}_ratio_{kind}" for kind in ("mixed", "f64") for what in ("gradients", "hessian_next", "hessian")]
    gradients, product, whole, gradients64, product64, whole64 = rowkit.need(found, *names)
    mixed, double = rowkit.need(found, "forces_mixed", "forces_f64")
    errors = rowkit.need(found, "gradients_error_mixed", "hessian_error_mixed")
    return max(gradients, gradients64) <= 2 and max(product, product64, whole64) <= 3 and max(errors) <= 1e-5, (
        f"mixed (forces take {mixed:.1f} ms): gradients {gradients:.2f}x, a product {product:.2f}x, with its gradient {whole:.2f}x; "
        f"double precision (forces {double:.1f} ms): {gradients64:.2f}x, {product64:.2f}x, {whole64:.2f}x; "
        f"mixed beside double precision: gradients within {errors[0]:.1e}, products within {errors[1]:.1e}")
