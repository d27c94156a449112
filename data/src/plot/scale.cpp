// SPDX-License-Identifier: Apache-2.0
#include "plot/scale.h"

#include "tessera/autodiff/error.h"

namespace tessera::data::plot {
namespace {

constexpr double kTiny = 1e-290,
                 kHuge = 1e307;  // beyond them steps and decades are no longer normal numbers

void widen_linear(Scale& s, bool fixed_lo, bool fixed_hi) {
  const double size = std::max(std::abs(s.lo), std::abs(s.hi));
  const double least = std::max(size * 1e-11, kTiny);
  if (s.hi / 2 - s.lo / 2 >= least / 2) return;
  const double by = s.lo == s.hi ? (size > kTiny ? 0.1 * size : 1.0) : 5 * least;
  if (!fixed_lo) s.lo -= by;
  if (!fixed_hi) s.hi += by;
}

void widen_log(Scale& s, bool fixed_lo, bool fixed_hi) {
  if (s.hi / s.lo >= 1 + 1e-9) return;
  if (!fixed_lo) s.lo /= 3;
  if (!fixed_hi) s.hi *= 3;
}

}  // namespace

Scale make_scale(const Axis& axis, Extent e, const std::string& where) {
  const auto refuse = [&](double v, const char* expected) {
    throw Error("[plot] " + where + ": limit " + std::to_string(v) + " cannot be used: expected " +
                expected);
  };
  for (const auto& limit : {axis.min, axis.max}) {
    if (limit && !std::isfinite(*limit)) refuse(*limit, "a finite number");
    if (limit && axis.log && *limit <= 0) refuse(*limit, "a positive number on a logarithmic axis");
  }
  if (axis.min && axis.max && !(*axis.min < *axis.max))
    refuse(*axis.max, "more than the lower limit (use reversed)");

  if (e.empty()) e.lo = axis.log ? 1 : 0, e.hi = axis.log ? 10 : 1;
  Scale s{axis.min.value_or(e.lo), axis.max.value_or(e.hi), axis.log, axis.reversed};
  // One given limit may lie beyond all data.
  if (axis.min && s.hi < s.lo) s.hi = s.lo;
  if (axis.max && s.lo > s.hi) s.lo = s.hi;
  if (axis.log) {
    widen_log(s, axis.min.has_value(), axis.max.has_value());
    if (!(axis.tight || e.tight)) {
      const double room = 0.05 * (std::log10(s.hi) - std::log10(s.lo));
      if (!axis.min) s.lo = std::pow(10, std::log10(s.lo) - room);
      if (!axis.max) s.hi = std::pow(10, std::log10(s.hi) + room);
    }
    s.lo = std::clamp(s.lo, 1 / kHuge, kHuge / 10);
    s.hi = std::clamp(s.hi, s.lo * 1.001, kHuge);
  } else {
    widen_linear(s, axis.min.has_value(), axis.max.has_value());
    if (!(axis.tight || e.tight)) {
      const double room = 0.1 * (s.hi / 2 - s.lo / 2);
      if (!axis.min) s.lo -= room;
      if (!axis.max) s.hi += room;
    }
    s.lo = std::clamp(s.lo, -kHuge, kHuge);
    s.hi = std::clamp(s.hi, -kHuge, kHuge);
    if (!(s.lo < s.hi)) s.lo < 0 ? s.hi = s.lo / 2 : s.lo = s.hi / 2;
  }
  return s;
}

}  // namespace tessera::data::plot
