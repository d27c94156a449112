# SPDX-License-Identifier: Apache-2.0
WHAT = "layers, activations, losses and whole networks with PyTorch's weights, f64: value and gradients (tests/autodiff/references/make_nn_reference.py); second derivatives, batches"
BAR = "1e-12"


def measure(work):
    return work.gtest_row("autodiff_tests", "Nn.*:Activations.*:Initializers.*:Mlp.*:Dropout.*:Losses.*:Attention.*:Models.*:Gpt.*:UNet.*:ConvVae.*:EdgeNetwork.*:Gru.*", minimum=25)
