// SPDX-License-Identifier: Apache-2.0
// The hand-written layered earth as a ForwardMap, so that the algorithms are tested without the
// engine; and what bounds and a static shift make of any, with their chain rules by hand.
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

/// Seen through m_j = lower + (upper - lower) / (1 + exp(-x_j)) for j < n_bounded.
inline inversion::ForwardMap with_bounds(inversion::ForwardMap forward, double lower, double upper,
                                         std::size_t n_bounded) {
  struct Bounded {
    double m, first, second;  // value, dm/dx, d2m/dx2
  };
  const auto band_pass = [=](double x) {
    const double p = x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
    const double q = x >= 0 ? std::exp(-x) / (1 + std::exp(-x)) : 1 / (1 + std::exp(x));
    const double width = upper - lower;
    return Bounded{lower + width * p, width * p * q, width * p * q * (q - p)};
  };
  const auto model = [=](std::vector<double> x) {
    for (std::size_t j = 0; j < n_bounded; ++j) x[j] = band_pass(x[j]).m;
    return x;
  };
  inversion::ForwardMap out = forward;
  out.predict = [=](const std::vector<double>& x) { return forward.predict(model(x)); };
  out.jacobian = [=](const std::vector<double>& x) {
    inversion::Matrix jacobian = forward.jacobian(model(x));
    for (std::size_t j = 0; j < n_bounded; ++j)
      for (std::size_t i = 0; i < jacobian.rows; ++i) jacobian(i, j) *= band_pass(x[j]).first;
    return jacobian;
  };
  out.hessian = [=](const std::vector<double>& x, const std::vector<double>& y) {
    const inversion::Matrix jacobian = forward.jacobian(model(x));
    inversion::Matrix h = forward.hessian(model(x), y);
    for (std::size_t j = 0; j < n_bounded; ++j) {
      const Bounded b = band_pass(x[j]);
      for (std::size_t k = 0; k < h.rows; ++k) {
        h(j, k) *= b.first;
        h(k, j) *= b.first;
      }
      for (std::size_t i = 0; i < y.size(); ++i) h(j, j) += y[i] * jacobian(i, j) * b.second;
    }
    return h;
  };
  return out;
}

/// One more parameter g at the end: d = exp(g) F(m).
inline inversion::ForwardMap with_static_shift(inversion::ForwardMap forward) {
  const auto split = [](std::vector<double> m) {
    const double gain = std::exp(m.back());
    m.pop_back();
    return std::pair(std::move(m), gain);
  };
  inversion::ForwardMap out = forward;
  out.n_parameters = forward.n_parameters + 1;
  out.predict = [=](const std::vector<double>& x) {
    const auto [m, gain] = split(x);
    auto d = forward.predict(m);
    for (double& v : d) v *= gain;
    return d;
  };
  out.jacobian = [=](const std::vector<double>& x) {
    const auto [m, gain] = split(x);
    const auto d = forward.predict(m);
    inversion::Matrix jacobian = forward.jacobian(m);
    jacobian.values.insert(jacobian.values.end(), d.begin(), d.end());
    ++jacobian.cols;
    for (double& v : jacobian.values) v *= gain;
    return jacobian;
  };
  out.hessian = [=](const std::vector<double>& x, const std::vector<double>& y) {
    const auto [m, gain] = split(x);
    const inversion::Matrix inner = forward.hessian(m, y), jacobian = forward.jacobian(m);
    const auto d = forward.predict(m);
    const std::size_t n = m.size();
    inversion::Matrix h(n + 1, n + 1);
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t j = 0; j < n; ++j) h(j, k) = gain * inner(j, k);
      double slope = 0;
      for (std::size_t i = 0; i < y.size(); ++i) slope += y[i] * jacobian(i, k);
      h(n, k) = h(k, n) = gain * slope;
    }
    for (std::size_t i = 0; i < y.size(); ++i) h(n, n) += gain * d[i] * y[i];
    return h;
  };
  return out;
}

}  // namespace tessera::oracle
