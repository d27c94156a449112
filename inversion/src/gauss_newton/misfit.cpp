// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/misfit.h"

#include "tessera/autodiff/error.h"

#include <cmath>

namespace tessera::inversion {

double Loss::value(double r) const {
  const double a = std::abs(r);
  return kind == Kind::l2 || a <= corner ? r * r : corner * (2 * a - corner);
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
