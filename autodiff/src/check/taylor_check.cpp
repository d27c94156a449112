// SPDX-License-Identifier: Apache-2.0
//
// Along x + h v the function phi(h) = Re<c, f(x + h v)> has the remainders
//   r_1(h) = |phi(h) - phi(0) - h phi'(0)| = O(h^2),
//   r_2(h) = |phi(h) - phi(0) - h phi'(0) - h^2/2 phi''(0)| = O(h^3).
// Four steps a decade; the slope is taken where neighbours keep it, between the steps at which
// higher terms enter and those at which rounding of phi does.
#include "comparison.h"
#include "tessera/autodiff/ops.h"

#include <algorithm>
#include <cmath>

namespace tessera::detail {
namespace {

constexpr int kPerDecade = 4, kDecades = 7;
constexpr double kSlack = 0.1;  ///< of a slope over half a decade

double fitted(const std::vector<double>& h, const std::vector<double>& r, std::size_t begin,
              std::size_t end) {
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  const double n = static_cast<double>(end - begin);
  for (std::size_t k = begin; k < end; ++k) {
    const double x = std::log10(h[k]), y = std::log10(r[k]);
    sx += x, sy += y, sxx += x * x, sxy += x * y;
  }
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

/// The longest range of steps over which the slope is at least `order` (less kSlack) from step to
/// step.
TaylorSlope longest(const std::vector<double>& h, const std::vector<double>& r, double order) {
  constexpr std::size_t half = kPerDecade / 2;
  std::size_t best_begin = 0, best_end = 0, begin = 0;
  for (std::size_t k = 0; k + half < h.size(); ++k) {
    const double slope = std::log10(r[k] / r[k + half]) / std::log10(h[k] / h[k + half]);
    if (!(slope >= order - kSlack && slope <= order + 1.5)) {
      begin = k + 1;
      continue;
    }
    if (k + half + 1 - begin > best_end - best_begin) best_begin = begin, best_end = k + half + 1;
  }
  if (best_end == 0)
    return {fitted(h, r, 0, 2 * kPerDecade), h[2 * kPerDecade],
            h[0]};  // what it is instead, at the longest steps
  return {fitted(h, r, best_begin, best_end), h[best_end - 1], h[best_begin]};
}

}  // namespace

TaylorReport taylor_check_flat(const FlatFunction& f, const Tensors& x, const Tensors& direction,
                               const CheckOptions& o) {
  const Smooth s = smooth("taylor_check", f, x);
  std::mt19937_64 rng(o.seed);
  Tensors v;
  if (direction.empty())
    v = random_like(s.x, rng);
  else
    for (std::size_t k : s.leaf) v.push_back(direction[k]);
  const Tensors y = s.f(s.x), c = random_like(y, rng);
  const FlatFunction slope_of = derivative_of(s.f, v);
  const double first = inner(c, slope_of(s.x)),
               second = o.order >= 2 ? inner(c, derivative_of(slope_of, v)(s.x)) : 0;
  const bool single = single_precision(s.x);
  const double largest_step = chosen(o.step, single ? 0.5 : 0.1);
  std::vector<double> h, r1, r2;
  double size = magnitude(c, y);
  for (int k = 0; k <= kPerDecade * kDecades; ++k) {
    const double t = largest_step * std::pow(10.0, -k / static_cast<double>(kPerDecade));
    const Tensors there = s.f(moved(s.x, v, t));
    Tensors change;
    for (std::size_t i = 0; i < y.size(); ++i) change.push_back(there[i] - y[i]);
    size = std::max(size, magnitude(c, there));
    const double d = inner(c, change);
    h.push_back(t);
    r1.push_back(std::abs(d - t * first));
    r2.push_back(std::abs(d - t * first - 0.5 * t * t * second));
  }
  TaylorReport out;
  out.check = "taylor_check";
  const double rounding = 16 * epsilon(s.x) * size;
  const auto judge = [&](const std::vector<double>& r, double order, TaylorSlope& into,
                         const char* what) {
    into = longest(h, r, order);
    // One decade less the half over which the first slope is taken.
    const bool range =
        into.largest_step >= 9.9 * into.smallest_step && into.slope >= order - kSlack;
    const bool zero = std::isfinite(rounding) && *std::max_element(r.begin(), r.end()) <= rounding;
    const bool fits = range || zero;
    ++out.comparisons;
    const std::string where =
        "steps " + std::to_string(into.smallest_step) + " ... " + std::to_string(into.largest_step);
    if (out.passed) {
      out.passed = fits;
      out.what = what, out.where = where;
      out.expected = order, out.got = into.slope;
      out.difference = std::abs(into.slope - order), out.tolerance = kSlack;
      if (zero) out.note = "the remainder is at the level of rounding for every step";
    }
  };
  judge(r1, 2, out.first, "slope of the remainder after the first derivative");
  if (o.order >= 2) judge(r2, 3, out.second, "slope of the remainder after the second derivative");
  return out;
}

}  // namespace tessera::detail
