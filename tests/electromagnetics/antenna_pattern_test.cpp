// SPDX-License-Identifier: Apache-2.0
//
// Patterns whose figures are known: short dipoles, a Huygens source, a turnstile, a row of sources,
// each turned to look anywhere.
#include "tessera/electromagnetics/antenna_pattern.h"

#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/constants.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>

namespace tessera::electromagnetics {
namespace {

using std::numbers::pi;
using Cartesian = std::array<std::complex<double>, 3>;

std::array<double, 3> out_along(const Direction& d) {
  return {std::sin(d.theta) * std::cos(d.phi), std::sin(d.theta) * std::sin(d.phi),
          std::cos(d.theta)};
}
/// Of a current moment p: the part of -p across r.
FarVector of_moment(const Cartesian& p, const Direction& d) {
  const double ct = std::cos(d.theta), st = std::sin(d.theta), cp = std::cos(d.phi),
               sp = std::sin(d.phi);
  return {-(p[0] * ct * cp + p[1] * ct * sp - p[2] * st), -(-p[0] * sp + p[1] * cp)};
}
FarFieldAt dipole(const Cartesian& p) {
  return [p](const std::vector<Direction>& directions) {
    std::vector<FarVector> out;
    for (const Direction& d : directions) out.push_back(of_moment(p, d));
    return out;
  };
}

TEST(AntennaPattern, OfAShortDipole) {
  for (const Cartesian& p : {Cartesian{0, 0, 1}, Cartesian{1, 0, 0}, Cartesian{0.6, -0.3, 0.74}}) {
    const MainBeam b = main_beam(dipole(p));
    const double size = std::norm(p[0]) + std::norm(p[1]) + std::norm(p[2]);
    EXPECT_NEAR(b.intensity, size, 1e-9 * size);
    const auto r = out_along(b.at);
    EXPECT_NEAR(std::abs(p[0] * r[0] + p[1] * r[1] + p[2] * r[2]), 0, 1e-4);
    EXPECT_NEAR(b.e_plane_width, pi / 2, 1e-3);
    EXPECT_EQ(b.h_plane_width, 2 * pi);  // all round
    EXPECT_NEAR(b.front_to_back, 1, 1e-6);
    EXPECT_NEAR(b.side_lobe, 1, 1e-6);  // the beam's other half
    EXPECT_EQ(b.axial_ratio, INFINITY);
  }
}

TEST(AntennaPattern, OfAHuygensSource) {
  // E along x at the angle tau, H across: (1 + cos theta)(cos(phi - tau), -sin(phi - tau)).
  const double tau = 0.4;
  const auto far = [&](const std::vector<Direction>& directions) {
    std::vector<FarVector> out;
    for (const Direction& d : directions) {
      const double s = 1 + std::cos(d.theta);
      out.push_back({s * std::cos(d.phi - tau), -s * std::sin(d.phi - tau)});
    }
    return out;
  };
  const MainBeam b = main_beam(far);
  EXPECT_NEAR(b.at.theta, 0, 1e-4);
  const double half = std::acos(std::sqrt(2.0) - 1);
  EXPECT_NEAR(b.e_plane_width, 2 * half, 1e-3);
  EXPECT_NEAR(b.h_plane_width, 2 * half, 1e-3);
  EXPECT_GT(b.front_to_back, 1e12);
  EXPECT_LT(b.side_lobe, 1e-12);
  for (const Direction& d : {Direction{0.3, 1.0}, Direction{1.2, -2.0}, Direction{2.5, 0.1}}) {
    const LinearParts parts = ludwig3(far({d})[0], d.phi, tau);
    EXPECT_NEAR(std::abs(parts.co), 1 + std::cos(d.theta), 1e-12);
    EXPECT_NEAR(std::abs(parts.cross), 0, 1e-12);
    EXPECT_NEAR(std::abs(ludwig3(far({d})[0], d.phi, tau + pi / 2).co), 0, 1e-12);
  }
}

TEST(AntennaPattern, OfATurnstile) {
  // Moments x and -i y: right-handed along +z, left-handed along -z, linear round the rim.
  const FarFieldAt far = dipole({1, {0, -1}, 0});
  const FarVector up = far({{0, 0}})[0], down = far({{pi, 0}})[0], rim = far({{pi / 2, 0.3}})[0];
  EXPECT_NEAR(axial_ratio(up), 1, 1e-12);
  EXPECT_NEAR(axial_ratio(down), -1, 1e-12);
  EXPECT_EQ(axial_ratio(rim), INFINITY);
  EXPECT_NEAR(std::abs(circular_parts(up).left), 0, 1e-12);
  EXPECT_NEAR(std::abs(circular_parts(down).right), 0, 1e-12);
  // At 60 degrees the minor axis is cos 60.
  const FarVector f = far({{pi / 3, 0.7}})[0];
  EXPECT_NEAR(axial_ratio(f), 2, 1e-12);
  EXPECT_NEAR(std::abs(tilt(f)), pi / 2, 1e-12);  // the major axis is along phi
  const CircularParts c = circular_parts(f);
  EXPECT_NEAR(std::norm(c.right) + std::norm(c.left), std::norm(f.theta) + std::norm(f.phi), 1e-12);
  EXPECT_NEAR(tilt({1, 1}), pi / 4, 1e-12);
  EXPECT_NEAR(tilt({1, -1}), -pi / 4, 1e-12);
}

TEST(AntennaPattern, SideLobesOfARowAreThoseOfItsFactor) {
  // Eight z dipoles half a wave apart along x, phased to look 20 degrees off the broadside.
  const int n = 8;
  const double off = pi / 9;
  const auto far = [&](const std::vector<Direction>& directions) {
    std::vector<FarVector> out;
    for (const Direction& d : directions) {
      std::complex<double> sum = 0;
      for (int k = 0; k < n; ++k)
        sum += std::polar(1.0, pi * k * (std::sin(d.theta) * std::cos(d.phi) - std::sin(off)));
      out.push_back({std::sin(d.theta) * sum, 0});
    }
    return out;
  };
  const MainBeam b = main_beam(far, 0.03);
  EXPECT_NEAR(b.intensity, n * n, 1e-6 * n * n);
  const auto r = out_along(b.at);
  EXPECT_NEAR(r[0], std::sin(off), 1e-4);
  EXPECT_NEAR(r[2], 0, 1e-4);
  // Across: |sin(n x/2) / (n sin(x/2))|^2 = 1/2 where x = pi (sin a - sin off).
  const auto factor = [&](double a) {
    const double x = pi * (std::sin(a) - std::sin(off));
    return std::pow(std::sin(n * x / 2) / (n * std::sin(x / 2)), 2);
  };
  double half[2];
  for (const int side : {0, 1}) {
    double in = 1e-6, out = 0.2;
    for (int k = 0; k < 60; ++k) {
      const double middle = (in + out) / 2;
      (factor(off + (side ? middle : -middle)) > 0.5 ? in : out) = middle;
    }
    half[side] = in;
  }
  EXPECT_NEAR(b.h_plane_width, half[0] + half[1], 2e-3 * b.h_plane_width);
  double lobe = 0;  // beyond the first zeros, and the beam's image behind the row
  for (double x = 2 * pi / n; x < pi; x += 1e-4)
    lobe = std::max(lobe, std::pow(std::sin(n * x / 2) / (n * std::sin(x / 2)), 2));
  EXPECT_GT(b.side_lobe, lobe);
  EXPECT_NEAR(b.side_lobe, 1, 1e-3);  // a row looks both ways
}

// Lobes are as narrow as what radiates is large, its images included; where it is does not matter.
TEST(AntennaPattern, StepsGoByTheSizeOfWhatRadiates) {
  const double f = speed_of_light;  // k = 2 pi
  Bounds box{{-3, -2, -6}, {3, 2, 6}};
  const double radius = 7;
  EXPECT_NEAR(beam_step(box, {}, f), 0.7 / (2 * pi * radius), 1e-15);
  EXPECT_NEAR(beam_step(box, {.eps = 4}, f), 0.7 / (4 * pi * radius), 1e-15);
  EXPECT_EQ(beam_step({{-1e-3, -1e-3, -1e-3}, {1e-3, 1e-3, 1e-3}}, {}, f), 0.1);
  for (const double x : {0.0, 1000.0, -5000.0}) {
    box.low[0] = x - 3, box.high[0] = x + 3;
    EXPECT_NEAR(beam_step(box, {}, f), 0.7 / (2 * pi * radius), 1e-12);
    const Exterior over{.mirrors = {{.axis = 0, .position = x - 4}}};
    EXPECT_NEAR(beam_step(box, over, f), 0.7 / (2 * pi * (radius + 4)), 1e-12);
  }
}

TEST(AntennaPattern, SaysWhatIsWrong) {
  EXPECT_THROW(main_beam(dipole({0, 0, 1}), 0), Error);
  EXPECT_THROW(main_beam(dipole({0, 0, 1}), 1), Error);
  EXPECT_THROW(main_beam(dipole({0, 0, NAN})), Error);
}

}  // namespace
}  // namespace tessera::electromagnetics
