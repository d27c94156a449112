// SPDX-License-Identifier: Apache-2.0
// From data values to the unit interval, and the limits that make the data fit.
#pragma once
#include "tessera/data/plot.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace tessera::data::plot {

/// An axis with settled limits: finite, lo < hi, positive where logarithmic.
struct Scale {
  double lo = 0, hi = 1;
  bool log = false, reversed = false;

  bool usable(double v) const { return std::isfinite(v) && (!log || v > 0); }

  /// 0 at the left or lower end, 1 at the other; values that are infinite or, on a logarithmic
  /// axis, not positive go to the end they point to. Bounded, so that later arithmetic cannot
  /// overflow; so far out that a line from within the panel keeps its direction.
  double fraction(double v) const {
    constexpr double kFar = 1e7;
    double t;
    if (log)
      t = v > 0 ? (std::log10(v) - std::log10(lo)) / (std::log10(hi) - std::log10(lo)) : -kFar;
    else
      t = (v / 2 - lo / 2) / (hi / 2 - lo / 2);
    t = std::clamp(t, -kFar, kFar);
    return reversed ? 1 - t : t;
  }
};

/// The values seen on one axis.
struct Extent {
  double lo = std::numeric_limits<double>::infinity(), hi = -lo;
  bool tight = false;  ///< a map's edges want no room beyond them
  bool empty() const { return lo > hi; }
  void add(double v, bool log) {
    if (!std::isfinite(v) || (log && v <= 0)) return;
    lo = std::min(lo, v);
    hi = std::max(hi, v);
  }
  void add(const Extent& e) {
    lo = std::min(lo, e.lo);
    hi = std::max(hi, e.hi);
    tight = tight || e.tight;
  }
};

/// Limits for an axis: as given, else the extent with 5 % of room, widened where it has no length.
/// `where` names the axis in the error for limits that cannot be used.
Scale make_scale(const Axis& axis, Extent extent, const std::string& where);

}  // namespace tessera::data::plot
