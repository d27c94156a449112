// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/inversion/matrix.h"

#include <cstddef>
#include <functional>
#include <vector>

namespace tessera::inversion {

/// A differentiable map from a model m [n_parameters] to data d = F(m) [n_data]. The algorithms of
/// this folder know nothing else of the physics. All functions may be called from several threads.
struct ForwardMap {
  std::size_t n_parameters = 0;
  std::size_t n_data = 0;
  std::function<std::vector<double>(const std::vector<double>& m)> predict;
  /// dF_i / dm_j, [n_data, n_parameters].
  std::function<Matrix(const std::vector<double>& m)> jacobian;
  /// The Hessian of y . F: sum_i y_i d2F_i / dm_j dm_k, [n_parameters, n_parameters], symmetric.
  std::function<Matrix(const std::vector<double>& m, const std::vector<double>& y)> hessian;
};

/// The same physics seen through m_j = lower + (upper - lower) / (1 + exp(-x_j)) for the parameters
/// j < n_bounded: every x gives a model inside the bounds (a band-pass map). Needs lower < upper.
ForwardMap with_bounds(ForwardMap forward, double lower, double upper, std::size_t n_bounded);
/// m from x and x from m of that map; m is first moved inside by a millionth of the width.
std::vector<double> bounded_to_model(const std::vector<double>& x, double lower, double upper,
                                     std::size_t n_bounded);
std::vector<double> model_to_bounded(const std::vector<double>& m, double lower, double upper,
                                     std::size_t n_bounded);

/// The same physics with one more parameter g at the end, d = exp(g) F(m): a real factor on the
/// impedance, the static shift of a sounding, in ln of the impedance (ln rho_a shifts by 2 g).
ForwardMap with_static_shift(ForwardMap forward);

}  // namespace tessera::inversion
