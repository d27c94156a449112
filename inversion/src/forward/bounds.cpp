// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/bounds.h"

#include "tessera/autodiff/ops.h"

#include <algorithm>
#include <cmath>

namespace tessera::inversion {

Tensor bounded(const Tensor& x, const Tensor& lower, const Tensor& upper) {
  return lower + (upper - lower) * logistic(x);
}

std::vector<double> bounded_to_model(std::vector<double> x, const Bounds& bounds,
                                     std::size_t n_bounded) {
  const auto middle = x.begin() + static_cast<std::ptrdiff_t>(n_bounded);
  const auto m = bounded(tensor(std::vector<double>(x.begin(), middle)), full({}, bounds.lower),
                         full({}, bounds.upper))
                     .to_vector();
  std::copy(m.begin(), m.end(), x.begin());
  return x;
}

std::vector<double> model_to_bounded(std::vector<double> m, const Bounds& bounds,
                                     std::size_t n_bounded) {
  const double width = bounds.upper - bounds.lower;
  for (std::size_t j = 0; j < n_bounded; ++j) {
    const double p = std::clamp((m[j] - bounds.lower) / width, 1e-6, 1 - 1e-6);
    m[j] = std::log(p / (1 - p));
  }
  return m;
}

}  // namespace tessera::inversion
