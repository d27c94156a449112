// SPDX-License-Identifier: Apache-2.0
// The layered-earth impedance once more, written independently of the product: scalar, in complex
// arithmetic, with derivatives by hand. Only the tests use it.
#pragma once
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

namespace tessera::oracle {

using Complex = std::complex<double>;

struct LayeredImpedance {
  Complex z;                      ///< surface impedance in ohm, exp(+i w t)
  std::vector<Complex> d_ln_rho;  ///< dZ / d ln rho_j, one per layer
  std::vector<Complex> d_ln_h;    ///< dZ / d ln h_j, one per layer but the last
};

/// Z_j = zeta_j (Z_{j+1} + zeta_j t_j) / (zeta_j + Z_{j+1} t_j), t_j = tanh(k_j h_j), from the
/// bottom.
inline LayeredImpedance layered_impedance(double frequency, const std::vector<double>& rho,
                                          const std::vector<double>& h) {
  const double w_mu = 2 * std::numbers::pi * frequency * 4e-7 * std::numbers::pi;
  const std::size_t n = rho.size();
  LayeredImpedance out;
  out.d_ln_rho.resize(n);
  out.d_ln_h.resize(n - 1);
  out.z = std::sqrt(Complex(0, w_mu * rho[n - 1]));
  out.d_ln_rho[n - 1] = 0.5 * out.z;
  for (std::size_t j = n - 1; j-- > 0;) {
    const Complex zeta = std::sqrt(Complex(0, w_mu * rho[j])),
                  k = std::sqrt(Complex(0, w_mu / rho[j]));
    const Complex e = std::exp(-2.0 * k * h[j]);
    const Complex t = (1.0 - e) / (1.0 + e), sech2 = 4.0 * e / ((1.0 + e) * (1.0 + e));
    const Complex below = out.z, top = below + zeta * t, bottom = zeta + below * t;
    const Complex by_below = zeta * zeta * sech2 / (bottom * bottom);
    const Complex by_zeta = top / bottom + zeta * (t * bottom - top) / (bottom * bottom);
    const Complex by_t = zeta * (zeta * zeta - below * below) / (bottom * bottom);
    for (std::size_t i = j + 1; i < n; ++i) out.d_ln_rho[i] *= by_below;
    for (std::size_t i = j + 1; i + 1 < n; ++i) out.d_ln_h[i] *= by_below;
    out.d_ln_rho[j] = by_zeta * 0.5 * zeta - by_t * sech2 * 0.5 * k * h[j];
    out.d_ln_h[j] = by_t * sech2 * k * h[j];
    out.z = zeta * top / bottom;
  }
  return out;
}

}  // namespace tessera::oracle
