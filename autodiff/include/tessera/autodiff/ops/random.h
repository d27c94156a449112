// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/tensor.h"

#include <cstdint>

// Random numbers as functions of a key: the same key gives the same numbers on any machine and any
// number of threads. A key is a u32 tensor [2]; [B..., 2] is a stack of keys and gives B...
// independent draws. Use each key once and split it for more:
//
//   Tensor key = random_key(42);
//   Tensor keys = split_key(key, 2);
//   Tensor x = normal(select(keys, 0, 0), {1000}), y = uniform(select(keys, 0, 1), {10});

namespace tessera {

Tensor random_key(std::uint64_t seed);
/// n new keys: u32 [B..., n, 2].
Tensor split_key(Arg key, Index n);
/// Independent bits, u32 [B..., shape...].
Tensor random_bits(Arg key, const Shape& shape);
/// Uniform in [0, 1): multiples of 2^-53 (f64) or 2^-24 (f32).
Tensor uniform(Arg key, const Shape& shape, Dtype dtype = Dtype::f64);
/// Mean 0 and variance 1 (complex: of |z|^2), by the transform of Box & Muller.
Tensor normal(Arg key, const Shape& shape, Dtype dtype = Dtype::f64);

}  // namespace tessera
