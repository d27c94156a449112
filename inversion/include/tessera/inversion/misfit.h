// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

namespace tessera::inversion {

/// What one normalised residual r = (d - F(m)) / sigma costs. A sum over the data is minus twice a
/// log-likelihood:
///   l2     r^2
///   huber  r^2 for |r| <= corner, 2 corner |r| - corner^2 beyond
///          (Huber 1964, Ann. Math. Stat. 35, 73)
struct Loss {
  enum class Kind { l2, huber };
  Kind kind = Kind::l2;
  double corner = 1.345;  ///< 95 % efficient for Gaussian errors

  double value(double r) const;
  double weight(double r) const;  ///< value'(r) / (2 r): the factor of reweighted least squares
  double expected() const;        ///< of a standard normal r: 1 for l2
  double newton_weight(double r) const;  ///< value''(r) / 2: the same of Newton's method
};

/// (d - F) / sigma, elementwise. All of one length.
std::vector<double> normalised_residual(const std::vector<double>& data,
                                        const std::vector<double>& predicted,
                                        const std::vector<double>& sigma);
/// Sum of the loss.
double misfit(const Loss& loss, const std::vector<double>& residual);
/// sqrt(sum of the loss / number of residuals); for l2 the usual RMS of a sounding.
double rms(const Loss& loss, const std::vector<double>& residual);

}  // namespace tessera::inversion
