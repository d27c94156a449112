// SPDX-License-Identifier: Apache-2.0
// Beams found again in their own fields, in those of others at known overlaps, and in none.
#include "tessera/electromagnetics/beam_amplitudes.h"

#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/constants.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>

namespace tessera::electromagnetics {
namespace {

using Amplitude = std::complex<double>;
using std::numbers::pi;

constexpr double um = 1e-6, hz = 200e12;

/// Phasors of `a` times a beam of unit power, of `back` of what comes back on its path.
SurfaceFields fields_of(const Patch& patch, const GaussianBeam& b, double eps, Amplitude a,
                        Amplitude back = 0) {
  const double eta = vacuum_impedance / std::sqrt(eps),
               k = 2 * pi * hz * std::sqrt(eps) / speed_of_light,
               size = 1 / std::sqrt(b.power(eta));
  const Point &u = b.direction, &p = b.polarization;
  const Point s{u[1] * p[2] - u[2] * p[1], u[2] * p[0] - u[0] * p[2], u[0] * p[1] - u[1] * p[0]};
  std::vector<c128> e, h;
  for (const int axis : {patch.lo_axis(), patch.hi_axis()})
    for (const auto& r : points_of(patch)) {
      const auto v = b.at(r, k);
      const Amplitude x = size * v.amplitude * std::polar(1.0, -v.phase);
      e.push_back(p[std::size_t(axis)] * (a * x + back * std::conj(x)));
      h.push_back(s[std::size_t(axis)] / eta * (a * x - back * std::conj(x)));
    }
  const tessera::Shape shape{1, 2, patch.n_hi(), patch.n_lo()};
  return {tensor(e, shape), tensor(h, shape)};
}
std::vector<c128> found(const Patch& patch, const SurfaceFields& f, const GaussianBeam& b,
                        double eps = 1) {
  const std::vector<double> at{hz}, er{eps};
  return beam_amplitudes(patch, f, b, at, er).to_vector<c128>();
}
void expect_near(const c128& x, const Amplitude& y, double by) {
  EXPECT_LT(std::abs(x - y), by) << x << y;
}

GaussianBeam made(const Point& at, const Point& u, const Point& p, double waist, double focus = 0) {
  return gaussian_beam("test", at, u, p, waist, focus);
}

TEST(BeamAmplitudes, FindsBothWaysOfABeamThroughAnyPlane) {
  const Amplitude a{0.3, -1.2}, back{-0.7, 0.4};
  for (const int axis : {0, 1, 2})
    for (const int outward : {1, -1})
      for (const double way : {1.0, -1.0}) {
        const Patch patch =
            patch_of(axis, outward, 1 * um, {-12 * um, -12 * um}, {12 * um, 12 * um}, 0.1 * um);
        Point u{0.1, 0.15, -0.2};
        u[std::size_t(axis)] = way;
        const GaussianBeam b =
            made({0.3 * um, -0.2 * um, 0.1 * um}, u, {0.3, 0.5, 0.4}, 3 * um, 5 * um);
        const auto x = found(patch, fields_of(patch, b, 2.1, a, back), b, 2.1);
        // The formula is no solution of Maxwell's equations: tilted against the plane, E of the
        // one way has (lambda/w)^2 of what comes back.
        expect_near(x[0], a, 2e-3);
        expect_near(x[1], back, 2e-3);
      }
}

// Overlaps of beams of waists w1, w2, and of beams d apart.
TEST(BeamAmplitudes, OfAnotherBeamAreItsOverlap) {
  const Patch patch = patch_of(2, 1, 0, {-20 * um, -20 * um}, {20 * um, 20 * um}, 0.1 * um);
  const GaussianBeam a = made({}, {0, 0, 1}, {1, 0, 0}, 3 * um),
                     wide = made({}, {0, 0, 1}, {1, 0, 0}, 5 * um),
                     aside = made({2 * um, 0, 0}, {0, 0, 1}, {1, 0, 0}, 3 * um),
                     crossed = made({}, {0, 0, 1}, {0, 1, 0}, 3 * um);
  expect_near(found(patch, fields_of(patch, wide, 1, 1), a)[0], 2.0 * 3 * 5 / (9 + 25), 1e-9);
  expect_near(found(patch, fields_of(patch, aside, 1, 1), a)[0], std::exp(-4.0 / 18), 1e-9);
  expect_near(found(patch, fields_of(patch, crossed, 1, 1), a)[0], 0, 1e-12);
  expect_near(found(patch, fields_of(patch, wide, 1, 1), a)[1], 0, 1e-12);
}

TEST(BeamAmplitudes, InTwoDimensionsArePerMetre) {
  const Patch patch = patch_of(1, 1, 0, {-20 * um, 0}, {20 * um, 0}, 0.05 * um);
  const GaussianBeam b =
      gaussian_beam("test", {}, {0.2, 1, 0}, {0, 0, 1}, 3 * um, 4 * um, {true, true, false});
  const auto x = found(patch, fields_of(patch, b, 1, {1, 2}), b);
  expect_near(x[0], {1, 2}, 1e-2);
  expect_near(x[1], 0, 1e-2);
}

TEST(BeamAmplitudes, RefusesBeamsThatHaveNoSense) {
  const Patch patch = patch_of(2, 1, 0, {-um, -um}, {um, um}, 0.1 * um);
  const GaussianBeam along = made({}, {1, 0, 0}, {0, 1, 0}, um);
  EXPECT_THROW(found(patch, fields_of(patch, along, 1, 1), along), Error);
  EXPECT_THROW(made({}, {0, 0, 0}, {0, 1, 0}, um), Error);
  EXPECT_THROW(made({}, {0, 1, 0}, {0, 1, 0}, um), Error);
  EXPECT_THROW(made({}, {0, 1, 0}, {1, 0, 0}, 0), Error);
  EXPECT_THROW(gaussian_beam("test", {}, {0, 0, 1}, {1, 0, 0}, um, 0, {true, true, false}), Error);
  EXPECT_THROW(gaussian_beam("test", {}, {1, 0, 0}, {0, 1, 0}, um, 0, {true, false, false}), Error);
}

}  // namespace
}  // namespace tessera::electromagnetics
