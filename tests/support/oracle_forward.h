// SPDX-License-Identifier: Apache-2.0
// The hand-written layered earth as a ForwardMap, so that the algorithms are tested without the
// engine.
#pragma once
#include "layered_oracle.h"
#include "tessera/inversion/forward_map.h"

namespace tessera::oracle {

/// m = ln rho [n] with fixed thicknesses, or m = (ln rho [n], ln h [n - 1]) when `free_thickness`.
inline inversion::ForwardMap layered_forward(std::vector<double> frequency,
                                             std::vector<double> thickness,
                                             bool free_thickness = false) {
  const std::size_t layers = thickness.size() + 1;
  const auto each = [=](const std::vector<double>& m, auto&& use) {
    std::vector<double> rho, h = thickness;
    for (std::size_t j = 0; j < layers; ++j) rho.push_back(std::exp(m[j]));
    for (std::size_t j = 0; free_thickness && j + 1 < layers; ++j) h[j] = std::exp(m[layers + j]);
    for (std::size_t i = 0; i < frequency.size(); ++i)
      use(i, layered_impedance(frequency[i], rho, h));
  };
  inversion::ForwardMap f;
  f.n_parameters = free_thickness ? 2 * layers - 1 : layers;
  f.n_data = 2 * frequency.size();
  const auto n_parameters = f.n_parameters, n_data = f.n_data;
  f.predict = [=](const std::vector<double>& m) {
    std::vector<double> d(n_data);
    each(m, [&](std::size_t i, const LayeredImpedance& z) {
      d[2 * i] = z.z.real();
      d[2 * i + 1] = z.z.imag();
    });
    return d;
  };
  f.jacobian = [=](const std::vector<double>& m) {
    inversion::Matrix out(n_data, n_parameters);
    each(m, [&](std::size_t i, const LayeredImpedance& z) {
      for (std::size_t j = 0; j < n_parameters; ++j) {
        const Complex d = j < layers ? z.d_ln_rho[j] : z.d_ln_h[j - layers];
        out(2 * i, j) = d.real();
        out(2 * i + 1, j) = d.imag();
      }
    });
    return out;
  };
  const auto jacobian = f.jacobian;
  f.hessian = [=](const std::vector<double>& m, const std::vector<double>& y) {
    inversion::Matrix h(n_parameters, n_parameters);
    const double step = 1e-5;  // central difference of J^T y: about 1e-10 relative
    for (std::size_t k = 0; k < n_parameters; ++k) {
      auto up = m, down = m;
      up[k] += step;
      down[k] -= step;
      const auto a = jacobian(up), b = jacobian(down);
      for (std::size_t j = 0; j < n_parameters; ++j)
        for (std::size_t i = 0; i < n_data; ++i) h(j, k) += y[i] * (a(i, j) - b(i, j)) / (2 * step);
    }
    return h;
  };
  return f;
}

}  // namespace tessera::oracle
