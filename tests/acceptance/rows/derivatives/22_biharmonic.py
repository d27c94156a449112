# SPDX-License-Identifier: Apache-2.0
import rowkit

WHAT = "B2: biharmonic of a tanh network 5-768-768-512-512-1, f64, beside nested and 4-jet in JAX jit and torch.func"
BAR = "faster than the best of them"


def measure(work):
    numbers = work.numbers("biharmonic_bench")
    fraction, nested, jets = rowkit.need(numbers, "biharmonic_fraction", "biharmonic_nested_peers_ratio", "biharmonic_jet_peers_ratio")
    text = f"{fraction:.2f} of the product's rate; {nested:.2f}x the faster nested peer, {jets:.2f}x the faster 4-jet"
    return min(nested, jets) > 1, text
