// SPDX-License-Identifier: Apache-2.0
//
// Networks as plain functions over trees of parameters. A layer is a struct of tensors and a
// function of it and its input; a maker draws its first values from a key. Nothing else: all
// transforms, loops, solves and optimizers take a network as they take any function of a tree.
//
//   auto net = nn::mlp(random_key(1), {3, 32, 32, 1}, {.activation = nn::Activation::tanh});
//   auto loss = [&](const nn::Mlp& m) { return nn::mean_square(m(x), y); };
//   auto [l, g] = value_and_grad(loss)(net);      // g is an Mlp, too
//
// Inputs are [B..., features]: any leading axes are a batch, channels come last.
#pragma once
#include "tessera/autodiff/nn/activations.h"   // IWYU pragma: export
#include "tessera/autodiff/nn/attention.h"     // IWYU pragma: export
#include "tessera/autodiff/nn/convolution.h"   // IWYU pragma: export
#include "tessera/autodiff/nn/initializers.h"  // IWYU pragma: export
#include "tessera/autodiff/nn/layers.h"        // IWYU pragma: export
#include "tessera/autodiff/nn/losses.h"        // IWYU pragma: export
#include "tessera/autodiff/nn/models.h"        // IWYU pragma: export
#include "tessera/autodiff/nn/recurrent.h"     // IWYU pragma: export
#include "tessera/autodiff/nn/sequential.h"    // IWYU pragma: export
