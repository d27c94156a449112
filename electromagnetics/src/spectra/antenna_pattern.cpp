// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/antenna_pattern.h"

#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/constants.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

namespace tessera::electromagnetics {
namespace {

using std::numbers::pi;
using Axis = std::array<double, 3>;

double power(const FarVector& f) { return std::norm(f.theta) + std::norm(f.phi); }

Axis radial(const Direction& d) {
  return {std::sin(d.theta) * std::cos(d.phi), std::sin(d.theta) * std::sin(d.phi),
          std::cos(d.theta)};
}
Axis theta_hat(const Direction& d) {
  return {std::cos(d.theta) * std::cos(d.phi), std::cos(d.theta) * std::sin(d.phi),
          -std::sin(d.theta)};
}
Axis phi_hat(const Direction& d) { return {-std::sin(d.phi), std::cos(d.phi), 0}; }
Direction direction_of(const Axis& r) {
  return {std::atan2(std::hypot(r[0], r[1]), r[2]), std::atan2(r[1], r[0])};
}
Axis combined(double a, const Axis& x, double b, const Axis& y) {
  return {a * x[0] + b * y[0], a * x[1] + b * y[1], a * x[2] + b * y[2]};
}

/// The great circle from `start` towards `towards`, at its angle t.
struct GreatCircle {
  Axis start, towards;
  Direction at(double t) const {
    return direction_of(combined(std::cos(t), start, std::sin(t), towards));
  }
};

struct Seen {
  Direction at;
  FarVector field;
};
Seen brightest(const FarFieldAt& far, const std::vector<Direction>& among) {
  const std::vector<FarVector> fields = far(among);
  std::optional<Seen> best;
  for (std::size_t k = 0; k < among.size(); ++k)
    if (std::isfinite(power(fields[k])) && (!best || power(fields[k]) > power(best->field)))
      best = Seen{among[k], fields[k]};
  if (!best) throw Error("[main_beam] the far field is not finite in any direction");
  return *best;
}

Seen brightest_of_all(const FarFieldAt& far, double step) {
  std::vector<Direction> all;
  const int rings = static_cast<int>(std::ceil(pi / step));
  for (int i = 0; i <= rings; ++i) {
    const double theta = pi * i / rings;
    const int around = std::max(1, static_cast<int>(std::ceil(2 * pi * std::sin(theta) / step)));
    for (int j = 0; j < around; ++j) all.push_back({theta, 2 * pi * j / around});
  }
  Seen best = brightest(far, all);
  for (double reach = step; reach > 1e-5; reach /= 2) {
    const Axis r = radial(best.at), u = theta_hat(best.at), v = phi_hat(best.at);
    std::vector<Direction> near{best.at};
    for (int a = -2; a <= 2; ++a)
      for (int b = -2; b <= 2; ++b)
        if (a != 0 || b != 0)
          near.push_back(
              direction_of(combined(1, combined(1, r, a * reach / 2, u), b * reach / 2, v)));
    const Seen closer = brightest(far, near);
    if (power(closer.field) > power(best.field)) best = closer;
  }
  return best;
}

/// Of one side of a circle of even steps, from the beam on.
struct Side {
  double half = std::numeric_limits<double>::infinity();  ///< where it has fallen to a half
  double lobe = 0;                                        ///< the largest beyond the first minimum
};
Side side_of(const std::vector<double>& powers, double step) {
  Side out;
  const std::size_t n = powers.size();
  for (std::size_t k = 1; k < n; ++k)
    if (powers[k] <= powers[0] / 2) {
      const double part = (powers[k - 1] - powers[0] / 2) / (powers[k - 1] - powers[k]);
      out.half = (static_cast<double>(k - 1) + part) * step;
      break;
    }
  std::size_t minimum = 1;
  while (minimum + 1 < n && powers[minimum + 1] <= powers[minimum]) ++minimum;
  for (std::size_t k = minimum + 1; k < n; ++k) out.lobe = std::max(out.lobe, powers[k]);
  return out;
}

}  // namespace

CircularParts circular_parts(const FarVector& f) {
  const std::complex<double> i(0, 1);
  return {(f.theta + i * f.phi) / std::numbers::sqrt2, (f.theta - i * f.phi) / std::numbers::sqrt2};
}

double axial_ratio(const FarVector& f) {
  const CircularParts c = circular_parts(f);
  const double right = std::abs(c.right), left = std::abs(c.left),
               ratio = (right + left) / std::abs(right - left);
  // Of a linear field the sense is that of rounding.
  if (!(ratio < 1e12)) return std::numeric_limits<double>::infinity();
  return right >= left ? ratio : -ratio;
}

double tilt(const FarVector& f) {
  return 0.5 *
         std::atan2(2 * (f.theta * std::conj(f.phi)).real(), std::norm(f.theta) - std::norm(f.phi));
}

LinearParts ludwig3(const FarVector& f, double phi, double reference) {
  const double c = std::cos(phi - reference), s = std::sin(phi - reference);
  return {f.theta * c - f.phi * s, f.theta * s + f.phi * c};
}

MainBeam main_beam(const FarFieldAt& far, double step) {
  if (!(step > 0 && step < pi / 4))
    throw Error("[main_beam] the step should lie between 0 and pi/4, got " + std::to_string(step));
  const Seen best = brightest_of_all(far, step);
  MainBeam out;
  out.at = best.at;
  out.intensity = power(best.field);
  out.axial_ratio = axial_ratio(best.field);
  const double angle = tilt(best.field);
  const Axis r = radial(best.at), u = theta_hat(best.at), v = phi_hat(best.at);
  const GreatCircle planes[2] = {{r, combined(std::cos(angle), u, std::sin(angle), v)},
                                 {r, combined(-std::sin(angle), u, std::cos(angle), v)}};
  // A fifth of the step: halves between are as far off as a parabola is from its chord, 1e-3 of a
  // width of five steps.
  const int half_way = static_cast<int>(std::ceil(5 * pi / step));
  const double fine = pi / half_way;
  for (const int plane : {0, 1}) {
    double width = 0;
    for (const double way : {1.0, -1.0}) {
      std::vector<Direction> along;
      for (int k = 0; k <= half_way; ++k) along.push_back(planes[plane].at(way * k * fine));
      std::vector<double> powers;
      for (const FarVector& f : far(along)) powers.push_back(power(f));
      powers[0] = out.intensity;
      const Side side = side_of(powers, fine);
      width += side.half;
      out.side_lobe = std::max(out.side_lobe, side.lobe / out.intensity);
      if (plane == 0 && way > 0) out.front_to_back = out.intensity / powers.back();
    }
    (plane == 0 ? out.e_plane_width : out.h_plane_width) = std::min(width, 2 * pi);
  }
  return out;
}

double beam_step(const Bounds& box, const Exterior& around, double frequency_hz) {
  double radius =
      std::hypot(box.high[0] - box.low[0], box.high[1] - box.low[1], box.high[2] - box.low[2]) / 2;
  for (const Mirror& m : around.mirrors) {
    const auto d = static_cast<std::size_t>(m.axis);
    radius += std::abs((box.low[d] + box.high[d]) / 2 - m.position);
  }
  const double k =
      2 * std::numbers::pi * frequency_hz * std::sqrt(around.eps * around.mu) / speed_of_light;
  return std::min(0.1, 0.7 / std::max(k * radius, 1.0));
}

}  // namespace tessera::electromagnetics
