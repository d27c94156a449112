# SPDX-License-Identifier: Apache-2.0
WHAT = "convolution: the bits of a naive loop in its stated order, f32, f64, c64, c128, plain, 256 and 512 bits, 1 and 3 threads; its part of the op table; PyTorch's numbers"
BAR = "same bits; adjoint identity 1e-12"


def measure(work):
    return work.gtest_row("autodiff_tests", "Convolution*:OpTable*onvolution*", minimum=14)
