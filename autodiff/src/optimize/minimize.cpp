// SPDX-License-Identifier: Apache-2.0
#include "objective.h"
#include "tessera/autodiff/lbfgs.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>

namespace tessera::detail {
namespace {

constexpr double kRounding = 8 * std::numeric_limits<double>::epsilon();

/// The point an iteration is at, and the tests that all methods share.
struct Iterate {
  Objective f;
  const MinimizeOptions& o;
  FlatResult result;
  Vector x, g;
  double value;

  Iterate(const FlatFunction& function, const std::vector<Tensor>& x0,
          const MinimizeOptions& options)
      : f(function, x0, options.jit), o(options), x(f.start()) {
    value = f(x, g);
  }
  /// Whether to stop before another step.
  bool done() {
    const double size = norm_inf(g);
    if (!std::isfinite(value) || !std::isfinite(size)) return stop(StopReason::not_finite);
    if (size <= o.gradient_tolerance) return stop(StopReason::gradient_small);
    if (result.iterations >= o.max_iterations) return stop(StopReason::too_many_iterations);
    if (f.evaluations >= o.max_evaluations) return stop(StopReason::too_many_evaluations);
    return false;
  }
  /// Takes the step to `x_new`; whether to stop there. `foretold` is the change that the model or
  /// slope promised.
  bool accept(Vector x_new, double value_new, Vector g_new, double foretold) {
    double moved = 0;
    for (std::size_t i = 0; i < x.size(); ++i) moved += (x_new[i] - x[i]) * (x_new[i] - x[i]);
    moved = std::sqrt(moved);
    const double change = std::abs(value - value_new);
    x = std::move(x_new), g = std::move(g_new), value = value_new;
    ++result.iterations;
    result.history.push_back({value, norm_inf(g), moved});
    if (norm_inf(g) <= o.gradient_tolerance) return stop(StopReason::gradient_small);
    if (o.value_tolerance > 0 &&
        std::max(change, std::abs(foretold)) <= o.value_tolerance * std::abs(value))
      return stop(StopReason::value_settled);
    if (o.step_tolerance > 0 && moved <= o.step_tolerance * (norm2(x) + o.step_tolerance))
      return stop(StopReason::step_small);
    return false;
  }
  bool stop(StopReason r) {
    result.reason = r;
    return true;
  }
  FlatResult finish() {
    result.x = f.leaves(x);
    result.value = value;
    result.gradient_norm = norm_inf(g);
    result.evaluations = f.evaluations;
    result.products = f.products;
    return std::move(result);
  }
};

/// f(p) - f(0) less the mean of both slopes times the step: of third derivatives, and of rounding.
double disagreement(double change, double slope_before, double slope_after) {
  return std::abs(change - 0.5 * (slope_before + slope_after));
}
/// Whether values and gradients tell of one function. Where no step lowers the value, this tells
/// rounding from a wrong gradient; rounding of f may be many times that of its last operation.
bool consistent(double error, double slope_before, double value) {
  return error <= 0.25 * std::abs(slope_before) + 1e-9 * std::abs(value);
}
/// Whether single precision hides what f says of the step a d: it sees x rounded, and a step within
/// that tells nothing.
bool hidden(const Iterate& it, double a, const Vector& d, const Vector& g_there, double error) {
  if (!it.f.single()) return false;
  constexpr double kSingle = std::numeric_limits<float>::epsilon();
  double rounding = 64 * std::abs(it.value);
  bool moves = false;
  for (std::size_t i = 0; i < d.size(); ++i) {
    const double x = std::abs(it.x[i]);
    moves = moves || std::abs(a * d[i]) > 4 * kSingle * x;
    rounding += 4 * (std::abs(it.g[i]) + std::abs(g_there[i])) * x;
  }
  return !moves || error <= kSingle * rounding;
}

/// Steepest descent without a slope below 0: the square of the gradient vanishes in rounding.
void stop_without_slope(Iterate& it) { it.stop(StopReason::no_descent); }

enum class Search { moved, stopped, failed };

/// A Wolfe step along d; x, g and the value move to it. Where none lowers the value, it.result says
/// what that means.
Search search(Iterate& it, const Vector& d, double slope, double first, double curvature,
              LineSearchResult& found) {
  Vector x_trial, g_trial, x_best, g_best;
  double best = std::numeric_limits<double>::infinity(), widest = 0;
  bool agrees = false;
  const auto phi = [&](double a) {
    x_trial = it.x;
    axpy(a, d, x_trial);
    const double value = it.f(x_trial, g_trial);
    const double along = dot(g_trial, d);
    if (std::isfinite(value) && std::isfinite(along) && value < best)
      best = value, x_best = x_trial, g_best = g_trial;
    if (std::isfinite(value) && std::abs(along) <= 2 * std::abs(slope) && a > widest) {
      const double error = disagreement(value - it.value, a * slope, a * along);
      widest = a;
      agrees = consistent(error, a * slope, it.value) || hidden(it, a, d, g_trial, error);
    }
    return std::pair(value, along);
  };
  found = wolfe_search(phi, it.value, slope, first, {.curvature = curvature});
  if (!found.found) {  // the best point met will do if it is lower at all
    if (!(best < it.value)) {
      it.stop(agrees ? StopReason::at_rounding : StopReason::no_descent);
      return Search::failed;
    }
    x_trial = x_best, g_trial = g_best;
    found.value = best;
  }
  return it.accept(std::move(x_trial), found.value, std::move(g_trial), found.step * slope)
             ? Search::stopped
             : Search::moved;
}

// Nocedal & Wright, algorithms 7.4 and 7.5.
FlatResult lbfgs(Iterate it) {
  struct Pair {
    Vector s, y;
    double rho;
  };
  std::deque<Pair> memory;
  while (!it.done()) {
    Vector d = it.g;
    lbfgs_product<double>(
        d, memory.size(), [&](std::size_t k) -> const Pair& { return memory[k]; }, dot,
        [](Vector& to, double a, const Vector& x) { axpy(a, x, to); },
        [&](Vector& v) {
          if (memory.empty()) return;
          const double scale = 1 / (memory.back().rho * dot(memory.back().y, memory.back().y));
          for (double& e : v) e *= scale;
        });
    for (double& v : d) v = -v;
    double slope = dot(it.g, d);
    if (!(slope < 0)) {
      if (memory.empty()) {
        stop_without_slope(it);
        break;
      }
      memory.clear();
      continue;
    }
    const Vector x = it.x, g = it.g;
    LineSearchResult found;
    const Search s =
        search(it, d, slope, memory.empty() ? std::min(1.0, 1 / norm2(g)) : 1.0, 0.9, found);
    if (s == Search::failed && !memory.empty()) {  // once more from steepest descent
      memory.clear();
      continue;
    }
    if (s != Search::moved) break;
    Pair p{it.x, it.g, 0};
    axpy(-1, x, p.s), axpy(-1, g, p.y);
    const double sy = dot(p.s, p.y);
    if (sy <= std::numeric_limits<double>::epsilon() * norm2(p.s) * norm2(p.y)) continue;
    p.rho = 1 / sy;
    memory.push_back(std::move(p));
    if (memory.size() > static_cast<std::size_t>(std::max(1, it.o.memory))) memory.pop_front();
  }
  return it.finish();
}

// d <- -g + beta d with Hager & Zhang's beta, bounded below so that directions do not turn uphill.
FlatResult nonlinear_cg(Iterate it) {
  Vector d;
  double step = 0, slope_before = 0;
  while (!it.done()) {
    const bool fresh = d.empty();
    if (fresh) {
      d = it.g;
      for (double& v : d) v = -v;
    }
    const double slope = dot(it.g, d);
    if (!(slope < 0)) {
      if (fresh) {
        stop_without_slope(it);
        break;
      }
      d.clear();
      continue;
    }
    const Vector g = it.g;
    const double first =
        step > 0 && !fresh ? step * slope_before / slope : std::min(1.0, 1 / norm2(g));
    LineSearchResult found;
    const Search s = search(it, d, slope, first, 0.1, found);
    if (s == Search::failed && !fresh) {  // once more from steepest descent
      d.clear();
      continue;
    }
    if (s != Search::moved) break;
    step = found.step, slope_before = slope;
    Vector y = it.g;
    axpy(-1, g, y);
    const double dy = dot(d, y);
    if (!(dy > 0)) {
      d.clear();
      continue;
    }
    const double beta = (dot(y, it.g) - 2 * dot(y, y) * dot(d, it.g) / dy) / dy;
    const double eta = -1 / (norm2(d) * std::min(0.01, norm2(g)));
    Vector next = it.g;
    for (double& v : next) v = -v;
    axpy(std::max(beta, eta), d, next);
    d = std::move(next);
  }
  return it.finish();
}

/// Steihaug's step: conjugate gradients on H p = -g, stopped at the border |p| = radius, at
/// negative curvature, where H d is not finite, or when the residual is small. `model` is g.p +
/// p.Hp / 2.
Vector steihaug(Iterate& it, double radius, double& model) {
  Vector p(it.x.size(), 0.0), hp(it.x.size(), 0.0), r = it.g, d = it.g;
  for (double& v : d) v = -v;
  const double size = norm2(it.g), enough = std::min(0.5, std::sqrt(size)) * size;
  const auto to_border = [&](const Vector& hd) {
    const double a = dot(d, d), b = dot(p, d), c = dot(p, p) - radius * radius;
    const double root = std::sqrt(std::max(0.0, b * b - a * c));
    const double t = b > 0 ? -c / (b + root) : (root - b) / a;
    axpy(t, d, p);
    axpy(t, hd, hp);
  };
  double rr = dot(r, r);
  for (std::size_t k = 0; k < 2 * p.size() + 10; ++k) {
    const Vector hd = it.f.hessian_times(it.x, d);
    const double curvature = dot(d, hd);
    if (!std::isfinite(curvature)) {  // no second derivative here: the slope alone is the model
      if (k == 0) to_border(Vector(p.size(), 0.0));
      break;
    }
    if (!(curvature > 0)) {
      to_border(hd);
      break;
    }
    const double a = rr / curvature;
    Vector next = p;
    axpy(a, d, next);
    if (norm2(next) >= radius) {
      to_border(hd);
      break;
    }
    p = std::move(next);
    axpy(a, hd, hp);
    axpy(a, hd, r);
    const double rr_new = dot(r, r);
    if (std::sqrt(rr_new) <= enough) break;
    for (std::size_t i = 0; i < d.size(); ++i) d[i] = -r[i] + rr_new / rr * d[i];
    rr = rr_new;
  }
  model = dot(it.g, p) + 0.5 * dot(p, hp);
  return p;
}

// Trust region (Nocedal & Wright, algorithm 4.1).
FlatResult newton_cg(Iterate it) {
  double radius = it.o.first_radius;
  if (!(radius > 0))
    fail("minimize", "first_radius must be positive, got " + std::to_string(radius));
  bool agrees = true;  // as the last step said that stands out of rounding
  while (!it.done()) {
    double model = 0;
    const Vector p = steihaug(it, radius, model);
    const double length = norm2(p);
    Vector x = it.x, g;
    axpy(1, p, x);
    const double value = it.f(x, g);
    const double rounding =
        kRounding * std::max(std::abs(it.value), std::numeric_limits<double>::min());
    // Below the rounding of the value the gradient decides.
    const bool drowned = std::abs(model) <= rounding && std::abs(value - it.value) <= 4 * rounding;
    if (drowned && !(norm2(g) < norm2(it.g))) {
      it.stop(agrees ? StopReason::at_rounding : StopReason::no_descent);
      break;
    }
    const double slope = dot(it.g, p), slope_there = dot(g, p),
                 error = disagreement(value - it.value, slope, slope_there);
    const bool told =
        std::abs(model) > 1e-7 * std::abs(it.value) || !std::isfinite(value + slope_there);
    if (told && !hidden(it, 1, p, g, error)) agrees = consistent(error, slope, it.value);
    const double ratio = drowned ? 1 : (value - it.value) / model;
    if (!(ratio >= 0.25))
      radius = 0.25 * length;
    else if (ratio > 0.75 && length >= 0.99 * radius)
      radius *= 2;
    if (ratio > 1e-4 && std::isfinite(norm_inf(g))) {
      if (it.accept(std::move(x), value, std::move(g), model)) break;
    } else {
      ++it.result.iterations;
      it.result.history.push_back({it.value, norm_inf(it.g), 0});
      if (length <= 1e-16 * norm2(it.x) || std::abs(model) <= 1e-4 * rounding) {
        it.stop(agrees ? StopReason::at_rounding : StopReason::no_descent);
        break;
      }
    }
  }
  return it.finish();
}

}  // namespace

FlatResult minimize_flat(const FlatFunction& f, const std::vector<Tensor>& x0,
                         const MinimizeOptions& o) {
  Iterate it(f, x0, o);
  switch (o.method) {
    case Method::nonlinear_cg:
      return nonlinear_cg(std::move(it));
    case Method::newton_cg:
      return newton_cg(std::move(it));
    default:
      return lbfgs(std::move(it));
  }
}

}  // namespace tessera::detail
