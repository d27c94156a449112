# SPDX-License-Identifier: Apache-2.0
WHAT = ("100 Adam steps of a perceptron (f32) and of a convolutional net (f64) over a batch in 8 parts, a curvature, both under vmap and jit, on 1, 2, 3, 5, 8 t; "
        "derivatives against those of the whole loss")
BAR = "0 bits differ"


def measure(work):
    return work.gtest_row("parallel_tests", "Batches.*", minimum=5)
