// SPDX-License-Identifier: Apache-2.0
//
// Moré & Thuente's search. An interval [best, other] holds a point of the wanted kind: phi is least
// at `best` among the points met and falls from it towards `other`. Each trial is chosen by cubic
// and quadratic interpolation in four cases (section 4 of the paper), and replaces one end. Until a
// trial has met the decrease condition with a rising slope, the function psi(a) = phi(a) - phi(0) -
// decrease a phi'(0) is searched in place of phi, which makes the search finite.
#include "tessera/autodiff/optimize.h"

#include <algorithm>
#include <cmath>

namespace tessera {
namespace {

struct Point {
  double a, f, d;
};

/// Minimiser of the cubic through both points with their slopes (Nocedal & Wright, 3.59).
double cubic(const Point& p, const Point& q) {
  const double d1 = p.d + q.d - 3 * (p.f - q.f) / (p.a - q.a);
  const double d2 = std::copysign(std::sqrt(std::max(0.0, d1 * d1 - p.d * q.d)), q.a - p.a);
  return q.a - (q.a - p.a) * (q.d + d2 - d1) / (q.d - p.d + 2 * d2);
}
/// Minimiser of the parabola with the value and slope of p and the value of q.
double parabola(const Point& p, const Point& q) {
  return p.a + (q.a - p.a) * 0.5 * p.d / (p.d - (q.f - p.f) / (q.a - p.a));
}
double secant(const Point& p, const Point& q) { return q.a + (p.a - q.a) * q.d / (q.d - p.d); }

/// The next trial after t, within [low, high] while there is no bracket.
double next_trial(const Point& best, const Point& other, const Point& t, bool& bracketed,
                  double low, double high) {
  const double before = best.a;
  if (t.f > best.f) {  // a minimum lies between
    bracketed = true;
    const double c = cubic(best, t), q = parabola(best, t);
    return std::abs(c - before) < std::abs(q - before) ? c : 0.5 * (c + q);
  }
  if (t.d * best.d < 0) {  // lower, the slope has turned
    bracketed = true;
    const double c = cubic(best, t), s = secant(best, t);
    return std::abs(c - t.a) >= std::abs(s - t.a) ? c : s;
  }
  if (std::abs(t.d) <= std::abs(best.d)) {  // lower, still falling, less steeply
    double c = cubic(best, t);
    const double s = secant(best, t);
    const bool ahead = std::isfinite(c) &&
                       (c - t.a) * (t.a - best.a) > 0;  // else the cubic has no minimum that way
    if (bracketed) {
      if (!ahead) c = s;
      const double near = std::abs(c - t.a) < std::abs(s - t.a) ? c : s;
      const double limit = t.a + 0.66 * (other.a - t.a);
      return t.a > best.a ? std::min(limit, near) : std::max(limit, near);
    }
    if (!ahead) c = t.a > best.a ? high : low;
    return std::clamp(std::abs(c - t.a) > std::abs(s - t.a) ? c : s, low, high);
  }
  if (bracketed) return cubic(other, t);  // lower, falling more steeply
  return t.a > best.a ? high : low;
}

}  // namespace

LineSearchResult wolfe_search(const std::function<std::pair<double, double>(double)>& phi,
                              double value, double slope, double first_step,
                              const WolfeOptions& o) {
  if (!(slope < 0))
    fail("wolfe_search", "the slope at 0 must be negative, got " + std::to_string(slope));
  LineSearchResult r{0, value, slope, 0, false};
  Point best{0, value, slope}, other = best;
  bool bracketed = false, first_stage = true;
  double width = INFINITY, width_before = INFINITY, max_step = o.max_step;
  double a = std::min(first_step, max_step);
  const double test_slope = o.decrease * slope, rounding = 1e-14 * std::abs(value);
  while (r.evaluations < o.max_evaluations) {
    const auto [f, d] = phi(a);
    ++r.evaluations;
    if (!std::isfinite(f) || !std::isfinite(d)) {
      max_step = a;
      a = best.a + 0.1 * (a - best.a);
      continue;
    }
    const Point t{a, f, d};
    if (f < r.value || r.step == 0) r.step = a, r.value = f, r.slope = d;
    const bool wolfe = f <= value + a * test_slope && std::abs(d) <= o.curvature * std::abs(slope);
    // Near a minimum the differences of phi drown in rounding; its slope still tells (Hager &
    // Zhang).
    const bool approximate = f <= value + rounding && (2 * o.decrease - 1) * slope >= d &&
                             d >= o.curvature * slope &&
                             std::abs(a * slope) <= 1e3 * rounding + 1e-300;
    if (wolfe || approximate) return {a, f, d, r.evaluations, true};
    if (a >= max_step && f <= value + a * test_slope && d <= test_slope)
      break;  // falls beyond the limit
    if (first_stage && f <= value + a * test_slope && d >= 0) first_stage = false;

    const double low = a + 1.1 * (a - best.a), high = std::min(a + 4 * (a - best.a), max_step);
    const auto shifted = [&](const Point& p) {
      return Point{p.a, p.f - p.a * test_slope, p.d - test_slope};
    };
    const bool use_psi = first_stage && f <= best.f && f > value + a * test_slope;
    const Point b = use_psi ? shifted(best) : best, u = use_psi ? shifted(other) : other,
                m = use_psi ? shifted(t) : t;
    double next = next_trial(b, u, m, bracketed, std::min(low, high), high);
    if (m.f > b.f) {
      other = t;
    } else {
      if (m.d * b.d < 0) other = best;
      best = t;
    }
    if (bracketed) {
      if (std::abs(other.a - best.a) >= 0.66 * width_before)
        next = best.a + 0.5 * (other.a - best.a);
      width_before = width;
      width = std::abs(other.a - best.a);
      const auto [lo, hi] = std::minmax(best.a, other.a);
      if (!(next > lo && next < hi)) next = 0.5 * (lo + hi);
      if (hi - lo <= 1e-15 * hi) break;  // rounding leaves no point between
    }
    a = std::clamp(next, 0.0, max_step);
  }
  return r;
}

}  // namespace tessera
