# SPDX-License-Identifier: Apache-2.0
WHAT = "B1: Laplacian of a tanh network 50-768-768-512-512-1, f64, 256 points, and its gradient to the weights"
BAR = "at least 0.80 of the rate of a matrix product of that size, counting 52 and 156 forward passes"

FIGURES = (("laplacian_bench", "laplacian_fraction", 0.80), ("laplacian_bench", "laplacian_gradient_fraction", 0.80))


def measure(work):
    return work.figures(FIGURES)
