// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/forward_map.h"

#include "base/eigen_map.h"
#include "tessera/autodiff/error.h"

#include <algorithm>
#include <cmath>

namespace tessera::inversion {
namespace {

struct Bounded {
  double m;       ///< value
  double first;   ///< dm/dx
  double second;  ///< d2m/dx2
};

Bounded band_pass(double x, double lower, double upper) {
  const double p = x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
  const double q = x >= 0 ? std::exp(-x) / (1 + std::exp(-x)) : 1 / (1 + std::exp(x));
  const double width = upper - lower;
  return {lower + width * p, width * p * q, width * p * q * (q - p)};
}

}  // namespace

std::vector<double> bounded_to_model(const std::vector<double>& x, double lower, double upper,
                                     std::size_t n_bounded) {
  std::vector<double> m = x;
  for (std::size_t j = 0; j < n_bounded; ++j) m[j] = band_pass(x[j], lower, upper).m;
  return m;
}

std::vector<double> model_to_bounded(const std::vector<double>& m, double lower, double upper,
                                     std::size_t n_bounded) {
  std::vector<double> x = m;
  const double width = upper - lower;
  for (std::size_t j = 0; j < n_bounded; ++j) {
    const double p = std::clamp((m[j] - lower) / width, 1e-6, 1 - 1e-6);
    x[j] = std::log(p / (1 - p));
  }
  return x;
}

ForwardMap with_bounds(ForwardMap forward, double lower, double upper, std::size_t n_bounded) {
  if (!(lower < upper) || n_bounded > forward.n_parameters)
    throw Error(
        "[with_bounds] needs lower < upper and at most as many bounded parameters as there are");
  const auto model = [=](const std::vector<double>& x) {
    return bounded_to_model(x, lower, upper, n_bounded);
  };
  ForwardMap out;
  out.n_parameters = forward.n_parameters;
  out.n_data = forward.n_data;
  out.predict = [=](const std::vector<double>& x) { return forward.predict(model(x)); };
  out.jacobian = [=](const std::vector<double>& x) {
    Matrix jacobian = forward.jacobian(model(x));
    for (std::size_t j = 0; j < n_bounded; ++j) {
      const double first = band_pass(x[j], lower, upper).first;
      for (std::size_t i = 0; i < jacobian.rows; ++i) jacobian(i, j) *= first;
    }
    return jacobian;
  };
  out.hessian = [=](const std::vector<double>& x, const std::vector<double>& y) {
    const auto m = model(x);
    Matrix h = forward.hessian(m, y);
    const Eigen::VectorXd gradient = view(forward.jacobian(m)).transpose() * view(y);
    for (std::size_t j = 0; j < n_bounded; ++j) {
      const Bounded b = band_pass(x[j], lower, upper);
      for (std::size_t k = 0; k < h.rows; ++k) {
        h(j, k) *= b.first;
        h(k, j) *= b.first;
      }
      h(j, j) += gradient[static_cast<Eigen::Index>(j)] * b.second;
    }
    return h;
  };
  return out;
}

ForwardMap with_static_shift(ForwardMap forward) {
  const auto split = [](std::vector<double> m) {
    const double gain = std::exp(m.back());
    m.pop_back();
    return std::pair(std::move(m), gain);
  };
  ForwardMap out;
  out.n_parameters = forward.n_parameters + 1;
  out.n_data = forward.n_data;
  out.predict = [=](const std::vector<double>& x) {
    const auto [m, gain] = split(x);
    auto d = forward.predict(m);
    for (double& v : d) v *= gain;
    return d;
  };
  out.jacobian = [=](const std::vector<double>& x) {
    const auto [m, gain] = split(x);
    const auto d = forward.predict(m);
    Matrix jacobian = forward.jacobian(m);
    jacobian.values.insert(jacobian.values.end(), d.begin(), d.end());
    ++jacobian.cols;
    for (double& v : jacobian.values) v *= gain;
    return jacobian;
  };
  out.hessian = [=](const std::vector<double>& x, const std::vector<double>& y) {
    const auto [m, gain] = split(x);
    const Matrix inner = forward.hessian(m, y);
    const Eigen::VectorXd gradient = view(forward.jacobian(m)).transpose() * view(y);
    const auto d = forward.predict(m);
    const std::size_t n = m.size();
    Matrix h(n + 1, n + 1);
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t j = 0; j < n; ++j) h(j, k) = gain * inner(j, k);
      h(n, k) = h(k, n) = gain * gradient[static_cast<Eigen::Index>(k)];
    }
    h(n, n) = gain * view(d).dot(view(y));
    return h;
  };
  return out;
}

}  // namespace tessera::inversion
