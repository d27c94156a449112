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

}  // namespace tessera::inversion
