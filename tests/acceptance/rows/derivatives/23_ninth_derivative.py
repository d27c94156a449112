# SPDX-License-Identifier: Apache-2.0
import rowkit

WHAT = "B3: the 9-jet of a network 1-50-50-50-1 with a custom activation at 1,000 points; d^9 u / dx_0 ... dx_8 of one 9-32-32-1"
BAR = "5 ms each; equal to nested first derivatives to 1e-10 relative"


def measure(work):
    jet, mixed, jet_error, mixed_error = rowkit.need(work.numbers("ninth_derivative_bench"), "ninth_jet_ms", "ninth_mixed_ms",
                                                     "ninth_jet_difference", "ninth_mixed_difference")
    text = f"jet {jet:.2f} ms, to {jet_error:.0e}; mixed {mixed:.2f} ms, to {mixed_error:.0e}; {rowkit.processor()}"
    return max(jet, mixed) <= 5 and max(jet_error, mixed_error) <= 1e-10, text
