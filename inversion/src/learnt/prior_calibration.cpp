// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/prior_calibration.h"

#include "base/sparse_factor.h"
#include "tessera/autodiff/error.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tessera::inversion {

double error_length_of(double part) {
  const auto part_at = [](double length) {
    double sum = 0;  // over pairs of 16 cells, by how far these are apart
    for (int i = -3; i <= 3; ++i)
      for (int j = -3; j <= 3; ++j) {
        const double d = std::hypot(i, j) / length;
        sum += (4 - std::abs(i)) * (4 - std::abs(j)) * (d == 0 ? 1 : d * std::cyl_bessel_k(1.0, d));
      }
    return sum / 256;
  };
  double low = 0.1, high = 10;
  for (int k = 0; k < 60; ++k) {
    const double middle = std::sqrt(low * high);
    (part_at(middle) < part ? low : high) = middle;
  }
  return std::sqrt(low * high);
}

GaussianPrior with_standard_deviations(GaussianPrior prior, const std::vector<double>& wanted) {
  const std::size_t n = prior.size();
  if (wanted.size() != n) throw Error("[with_standard_deviations] one number of each parameter");
  for (const double s : wanted)
    if (!(s > 0)) throw Error("[with_standard_deviations] standard deviations are above 0");
  const SparseFactor factor(prior.precision, {}, "with_standard_deviations");
  std::vector<double> scale(n);  // of the precision's rows: what they have over what is wanted
  constexpr std::size_t at_once = 256;
  for (std::size_t first = 0; first < n; first += at_once) {
    const std::size_t count = std::min(at_once, n - first);
    Eigen::MatrixXd unit =
        Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(count));
    for (std::size_t k = 0; k < count; ++k)
      unit(static_cast<Eigen::Index>(first + k), static_cast<Eigen::Index>(k)) = 1;
    const Eigen::MatrixXd column = factor.solve(unit);
    for (std::size_t k = 0; k < count; ++k)
      scale[first + k] =
          std::sqrt(column(static_cast<Eigen::Index>(first + k), static_cast<Eigen::Index>(k))) /
          wanted[first + k];
  }
  SparseMatrix& q = prior.precision;
  for (std::size_t i = 0; i < n; ++i)
    for (auto k = static_cast<std::size_t>(q.offsets[i]);
         k < static_cast<std::size_t>(q.offsets[i + 1]); ++k)
      q.values[k] *= scale[i] * scale[static_cast<std::size_t>(q.columns[k])];
  return prior;
}

}  // namespace tessera::inversion
