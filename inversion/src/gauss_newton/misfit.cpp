// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/misfit.h"

#include "tessera/autodiff/error.h"

#include <cmath>
#include <numbers>

namespace tessera::inversion {

double Loss::value(double r) const {
  const double a = std::abs(r);
  return kind == Kind::l2 || a <= corner ? r * r : corner * (2 * a - corner);
}

// E[r^2; |r| < c] = erf(c/sqrt 2) - 2 c phi(c),  E[|r|; |r| > c] = 2 phi(c).
double Loss::expected() const {
  if (kind == Kind::l2) return 1;
  const double c = corner, phi = std::exp(-c * c / 2) / std::sqrt(2 * std::numbers::pi);
  return std::erf(c / std::numbers::sqrt2) + 2 * c * phi -
         c * c * std::erfc(c / std::numbers::sqrt2);
}

double Loss::weight(double r) const {
  const double a = std::abs(r);
  return kind == Kind::l2 || a <= corner ? 1.0 : corner / a;
}

double Loss::newton_weight(double r) const {
  return kind == Kind::l2 || std::abs(r) <= corner ? 1.0 : 0.0;
}

std::vector<double> normalised_residual(const std::vector<double>& data,
                                        const std::vector<double>& predicted,
                                        const std::vector<double>& sigma) {
  if (data.size() != predicted.size() || data.size() != sigma.size())
    throw Error("[normalised_residual] data, prediction and sigma differ in length");
  std::vector<double> r(data.size());
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = (data[i] - predicted[i]) / sigma[i];
  return r;
}

double misfit(const Loss& loss, const std::vector<double>& residual) {
  double sum = 0;
  for (double r : residual) sum += loss.value(r);
  return sum;
}

double rms(const Loss& loss, const std::vector<double>& residual) {
  return std::sqrt(misfit(loss, residual) / static_cast<double>(residual.size()));
}

}  // namespace tessera::inversion
