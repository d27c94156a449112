// SPDX-License-Identifier: Apache-2.0
//
// The band-pass map: a parameter between bounds as a function of one that is free,
//   m = lower + (upper - lower) / (1 + exp(-x)),
// so that whatever x an inversion comes to gives a model inside the bounds.
#pragma once
#include "tessera/autodiff/tensor.h"
#include "tessera/inversion/forward_map.h"

#include <cstddef>
#include <vector>

namespace tessera::inversion {

struct Bounds {
  double lower, upper;
};

/// m of x in engine operations, with its derivatives to any order, small as they are near a bound.
Tensor bounded(const Tensor& x, const Tensor& lower, const Tensor& upper);

/// The same of the first `n_bounded` numbers; the others stay as they are.
std::vector<double> bounded_to_model(std::vector<double> x, const Bounds& bounds,
                                     std::size_t n_bounded);
/// x of m; m is first moved inside by a millionth of the width.
std::vector<double> model_to_bounded(std::vector<double> m, const Bounds& bounds,
                                     std::size_t n_bounded);

/// The map of x, the first `n_bounded` of whose parameters stand for m of `forward` inside of the
/// bounds; first and second derivatives follow.
ForwardMap with_bounds(ForwardMap forward, const Bounds& bounds, std::size_t n_bounded);

}  // namespace tessera::inversion
