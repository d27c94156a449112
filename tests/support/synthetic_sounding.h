// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "layered_oracle.h"
#include "tessera/inversion/response.h"

#include <cmath>
#include <random>
#include <vector>

namespace tessera::oracle {

inline std::vector<double> log_frequencies(double lo, double hi, int n) {
  std::vector<double> f;
  for (int i = 0; i < n; ++i) f.push_back(hi * std::pow(lo / hi, i / (n - 1.0)));
  return f;
}

/// Response of layers with Gaussian noise of `error` times the modulus (times `noise`).
inline inversion::Response synthetic(const std::vector<double>& f, const std::vector<double>& rho,
                                     const std::vector<double>& h, double error, double noise,
                                     std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  inversion::Response r;
  r.frequency_hz = f;
  for (double x : f) {
    const auto z = layered_impedance(x, rho, h).z;
    const double s = error * std::abs(z), re = normal(random), im = normal(random);
    r.impedance_ohm.push_back(z + noise * s * Complex(re, im));
    r.sigma_ohm.push_back(s);
  }
  return r;
}

}  // namespace tessera::oracle
