# SPDX-License-Identifier: Apache-2.0
import rowkit

WHAT = "100 x 64 cells with padding and air (11,100 nodes), 20 frequencies, TE, 36 stations: forward, forward with Jacobian, product with the exact Hessian given factors and fields, peak memory"
BAR = "0.5 s; 1.2 s; 0.3 of a forward; 1 GiB"


def measure(work):
    forward, jacobian, ratio, each, peak = rowkit.need(work.numbers("sections_bench"), "forward", "forward_and_jacobian", "hessian_product_of_forward",
                                                       "hessian_product_of_forward_in_blocks", "peak")
    holds = forward <= 0.5 and jacobian <= 1.2 and ratio <= 0.3 and peak <= 1024
    return holds, (f"forward {forward:.3f} s, with Jacobian {jacobian:.3f} s, Hessian product {ratio:.2f} of a forward ({ratio * forward:.3f} s), {each:.2f} each of eight together, "
                   f"peak {peak:.0f} MiB; {rowkit.processor()}")
