// SPDX-License-Identifier: Apache-2.0
//
// F(x) = |r(x)|^2 / 2. A step p minimises |J p + r|^2 + damping |D p|^2, D the largest column norms
// of J met so far (in the matrix-free form |J u| / |u| along the first gradient u). The damping
// follows the gain, the change of F over the change that the linear model foretold (Nielsen). Gauss
// & Newton's form keeps the damping at rounding and shortens the step instead.
#include "objective.h"
#include "tessera/autodiff/exponents.h"
#include "tessera/autodiff/ops.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::detail {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// What rounding may make of the value, as a change that a step was to bring, where columns of J
/// are `scale` long. Leaves of single precision are rounded before r sees them, which moves r by J
/// x epsilon; r itself is rounded as much.
double drowned(const Residual& f, const Vector& x, const Vector& scale, double value) {
  const double usual = 1e-10 * value;
  if (!f.single()) return usual;
  double size = 0;
  for (std::size_t k = 0; k < x.size(); ++k) size += scale[k] * std::abs(x[k]);
  const double moved = 4 * std::numeric_limits<float>::epsilon() * (size + std::sqrt(2 * value));
  return std::max(usual, moved * (std::sqrt(2 * value) + moved));
}

/// min |J p + r|^2 + |sqrt(damping) D p|^2 by QR of the stacked matrix, which does not square J's
/// condition.
Vector dense_step(const Tensor& j, const Vector& r, const Vector& scale, double damping) {
  const auto n = static_cast<Index>(scale.size());
  Vector d = scale;
  for (double& v : d) v *= std::sqrt(damping);
  const Tensor a = concatenate({j, diag(tensor(d))});
  Vector b(r.size() + scale.size(), 0.0);
  for (std::size_t i = 0; i < r.size(); ++i) b[i] = -r[i];
  return reshape(lstsq(a, tensor(b, {static_cast<Index>(b.size()), 1})), {n}).to_vector();
}

/// |J u| / |u| along the gradient u: the size of J where its columns are not known.
double size_of_jacobian(Residual& f, const Vector& x, const Vector& gradient) {
  const double largest = norm_inf(gradient);
  if (!std::isfinite(largest) || largest == 0) return 1;
  Vector u = gradient;
  detail::shift_exponents(-detail::largest_exponent(gradient), u);
  const double size = norm2(f.times(x, u)) / norm2(u);
  return std::isfinite(size) && size > 0 ? size : 1;
}

/// The same by conjugate gradients on (J^T J + damping) p = -J^T r.
Vector free_step(Residual& f, const Vector& x, const Vector& gradient, double damping) {
  const int exponent = detail::largest_exponent(gradient);
  Vector p(x.size(), 0.0), residual = gradient;
  detail::shift_exponents(-exponent, residual);
  for (double& v : residual) v = -v;
  Vector d = residual;
  double rr = dot(residual, residual);
  const double enough = 1e-20 * rr;
  for (std::size_t k = 0; k < 2 * x.size() + 10 && rr > enough; ++k) {
    Vector ad = f.transpose_times(x, f.times(x, d));
    axpy(damping, d, ad);
    const double a = rr / dot(d, ad);
    if (!std::isfinite(a)) break;
    axpy(a, d, p);
    axpy(-a, ad, residual);
    const double next = dot(residual, residual);
    for (std::size_t i = 0; i < d.size(); ++i) d[i] = residual[i] + next / rr * d[i];
    rr = next;
  }
  detail::shift_exponents(exponent, p);
  return p;
}

}  // namespace

FlatResult least_squares_flat(const FlatFunction& function, const std::vector<Tensor>& x0,
                              const LeastSquaresOptions& o) {
  using Kind = LeastSquaresOptions::Kind;
  Residual f(function, x0, o.jit);
  Vector x = f.start(), r = f(x);
  double value = 0.5 * dot(r, r);
  FlatResult out;
  const bool newton = o.kind == Kind::gauss_newton;
  double damping = newton ? kEpsilon : o.first_damping, growth = 2;
  Vector scale(x.size(), 0.0), gradient;
  bool refused = false;  // a step from here that the model would not have missed
  Tensor j;
  const auto at_new_point = [&] {
    if (o.matrix_free) {
      gradient = f.transpose_times(x, r);
      if (scale[0] == 0) scale.assign(x.size(), size_of_jacobian(f, x, gradient));
      return;
    }
    j = f.jacobian(x);
    const auto v = j.data<double>();
    gradient.assign(x.size(), 0.0);
    Vector columns(x.size(), 0.0);
    for (std::size_t i = 0; i < r.size(); ++i)
      for (std::size_t k = 0; k < x.size(); ++k) {
        gradient[k] += v[i * x.size() + k] * r[i];
        columns[k] += v[i * x.size() + k] * v[i * x.size() + k];
      }
    for (std::size_t k = 0; k < x.size(); ++k) {
      scale[k] = std::max(scale[k], std::sqrt(columns[k]));
      if (scale[k] == 0) scale[k] = 1;
    }
  };
  const auto stop = [&](StopReason reason) { out.reason = reason; };
  at_new_point();
  for (;;) {
    if (!std::isfinite(value) || !std::isfinite(norm_inf(gradient))) {
      stop(StopReason::not_finite);
      break;
    }
    if (norm_inf(gradient) <= o.gradient_tolerance) {
      stop(StopReason::gradient_small);
      break;
    }
    if (out.iterations >= o.max_iterations) break;
    ++out.iterations;
    Vector p = o.matrix_free ? free_step(f, x, gradient, damping * scale[0] * scale[0])
                             : dense_step(j, r, scale, damping);
    double damped = 0;
    for (std::size_t k = 0; k < p.size(); ++k) damped += scale[k] * scale[k] * p[k] * p[k];
    // F(x) - |J p + r|^2 / 2 where (J^T J + damping D^2) p = -gradient.
    double foretold = -0.5 * (dot(gradient, p) - damping * damped);
    double share = 1;
    Vector x_new, r_new;
    double value_new = 0;
    for (int halving = 0; halving < (newton ? 60 : 1); ++halving) {
      share = std::ldexp(1.0, -halving);
      x_new = x;
      axpy(share, p, x_new);
      r_new = f(x_new);
      value_new = 0.5 * dot(r_new, r_new);
      if (value_new <= value + 1e-4 * share * dot(gradient, p)) break;
    }
    const double length = share * norm2(p), change = value - value_new;
    const bool lower = std::isfinite(value_new) && change > 0;
    const bool settled = foretold <= o.value_tolerance * value &&
                         std::abs(change) <= o.value_tolerance * value + 4 * kEpsilon * value;
    const bool tiny = length <= o.step_tolerance * (norm2(x) + o.step_tolerance);
    if (lower) {
      const double gain = change / foretold;
      x = std::move(x_new), r = std::move(r_new), value = value_new;
      at_new_point();
      if (!newton) damping *= std::max(1.0 / 3, 1 - std::pow(2 * gain - 1, 3)), growth = 2;
      refused = false;
    } else if (!newton) {
      // A step so short follows the model, unless its gradient is wrong.
      refused = refused || (foretold > drowned(f, x, scale, value) && foretold < 1e-4 * value);
      damping *= growth;
      growth *= 2;
    }
    out.history.push_back({value, norm_inf(gradient), lower ? length : 0});
    if (settled || tiny) {
      stop(refused   ? StopReason::no_descent
           : settled ? StopReason::value_settled
           : lower   ? StopReason::step_small
                     : StopReason::at_rounding);
      break;
    }
    if (!lower && (newton || damping > 1e30)) {
      // Where residuals stay large, the linear model promises more than is there.
      stop(foretold <= drowned(f, x, scale, value) ? StopReason::at_rounding
                                                   : StopReason::no_descent);
      break;
    }
  }
  out.x = f.leaves(x);
  out.value = value;
  out.gradient_norm = norm_inf(gradient);
  out.evaluations = f.evaluations;
  out.products = f.products;
  return out;
}

}  // namespace tessera::detail
