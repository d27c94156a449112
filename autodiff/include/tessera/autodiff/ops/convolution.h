// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/tensor.h"

// Convolutions over one to three axes, channels last:
//
//   y[..., o, g F + f] = sum over j, c of x[..., i, g C + c] w[j, c, g F + f],
//   input_dilation i = stride o + dilation j - low along each axis,
//
// which does not turn w around (a cross-correlation, as networks have it). Positions i outside of
// x, and those between that are no integers, do not take part.

namespace tessera {

/// One entry for each axis; empty ones mean stride 1, no border, no dilation.
struct Convolution {
  Shape stride = {};
  Shape low = {}, high = {};  ///< border before and after; a negative one cuts off
  Shape dilation = {};        ///< distance of neighbours of w
  Shape input_dilation =
      {};            ///< distance of neighbours of x: with stride 1 a transposed convolution
  Index groups = 1;  ///< of channels: C = in / groups, F = out / groups
};

/// x [B..., n_1, ..., n_d, in] and w [k_1, ..., k_d, in / groups, out] to [B..., m_1, ..., m_d,
/// out], f32, f64, c64 or c128, the wider of both types, with
///
///   m = (input_dilation (n - 1) + low + high - dilation (k - 1)) / stride + 1,
///
/// rounded down, 0 where the window does not fit (input_dilation (n - 1) is -1 where n = 0). The
/// number of axes d is that of w less two. The order of sums: docs/reference/bits.md.
Tensor convolution(Arg x, Arg w, const Convolution& c = {});

}  // namespace tessera
