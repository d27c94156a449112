// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/diffraction.h"

#include "analytic_sources.h"
#include "tessera/autodiff/check.h"
#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/flux.h"
#include "test_constants.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace tessera::electromagnetics {
namespace {

using namespace analytic;

Vec cross(const Vec& a, const Vec& b) {
  Vec c;
  for (int k = 0; k < 3; ++k)
    c[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
  return c;
}

/// One plane wave by vector algebra: E = E_s s^ + E_p s^ x k/|k|, H = k x E/(w mu), all times e^{-i
/// k_t.r_t}.
struct Wave {
  Order order;
  int direction = 1;  ///< along the normal or against it
  Complex s, p;
};

EH field_of(const Wave& wave, const PeriodicPlane& plane, double f, const Pos& r) {
  const Patch& patch = plane.patch;
  const double k0 = 2 * pi * f / speed_of_light * std::sqrt(plane.eps * plane.mu);
  double a_lo = 0, a_hi = 0;
  for (double w : patch.weight_lo) a_lo += w;
  for (double w : patch.weight_hi) a_hi += w;
  const double k_lo = plane.bloch[0] + 2 * pi * wave.order.m / a_lo,
               k_hi = plane.bloch[1] + 2 * pi * wave.order.n / a_hi;
  Complex k_n = std::sqrt(Complex(k0 * k0 - k_lo * k_lo - k_hi * k_hi));
  if (k_n.imag() > 0) k_n = -k_n;
  Vec k{}, t{}, n{};
  n[patch.axis] = patch.outward;
  k[patch.lo_axis()] = k_lo;
  k[patch.hi_axis()] = k_hi;
  const double length = std::hypot(k_lo, k_hi);
  t[patch.lo_axis()] = length > 0 ? k_lo / length : 1;
  t[patch.hi_axis()] = length > 0 ? k_hi / length : 0;
  for (int c = 0; c < 3; ++c) k[c] += double(wave.direction) * k_n * n[c];
  const Vec s = cross(n, t), p = cross(s, k);
  const Complex phase = std::exp(-i * (k_lo * r[patch.lo_axis()] + k_hi * r[patch.hi_axis()]));
  EH out;
  for (int c = 0; c < 3; ++c) out.e[c] = (wave.s * s[c] + wave.p * p[c] / k0) * phase;
  const Vec h = cross(k, out.e);
  for (int c = 0; c < 3; ++c) out.h[c] = h[c] / (2 * pi * f * plane.mu * vacuum_permeability);
  return out;
}

SurfaceFields fields_of(const std::vector<Wave>& waves, const PeriodicPlane& plane,
                        const std::vector<double>& frequencies) {
  return on_patches({plane.patch}, frequencies, [&](double f, const Pos& r) {
    EH sum;
    for (const Wave& w : waves) {
      const EH v = field_of(w, plane, f, r);
      for (int c = 0; c < 3; ++c) {
        sum.e[c] += v.e[c];
        sum.h[c] += v.h[c];
      }
    }
    return sum;
  })[0];
}

const std::vector<double> kOpticalHz{200e12, 330e12};

PeriodicPlane plane_across(int axis, int outward, std::array<double, 2> bloch) {
  return {.patch = patch_of(axis, outward, 0.7 * um, {-0.3 * um, 0.1 * um}, {1.2 * um, 1.0 * um},
                            0.09 * um),
          .bloch = bloch,
          .eps = 2.25,
          .mu = 1.1};
}

/// Cells of 1, 1, 2, 2 and 6 m from the origin on, with middles at 0.5, 1.5, 3, 5 and 9 m.
TEST(Diffraction, CellsAreAsUnevenAsTheirMiddlesInThePlaneSay) {
  const YeeGrid grid{{{{0, 1, 2, 4, 6, 12}, {0, 1}, {-1, 2}}}};
  EXPECT_EQ(unevenness(grid, 0, 1, 2), 1);
  EXPECT_EQ(unevenness(grid, 0, 2, 2), 2);
  EXPECT_EQ(unevenness(grid, 0, 6, 12), 6);
  EXPECT_EQ(unevenness(grid, 0, 7, 1), 1);  // none
  EXPECT_EQ(unevenness(grid, 0, 3, 0), 1);  // across it
  EXPECT_EQ(unevenness(grid, 1, 0.5, 1), 1);
}

TEST(Diffraction, WavesAreFoundAsTheyWerePutIn) {
  std::mt19937_64 random(2);
  std::normal_distribution<double> g;
  for (const int axis : {0, 1, 2})
    for (const int outward : {-1, 1})
      for (const auto& bloch : {std::array{0.0, 0.0}, std::array{1.3e6, -0.6e6}}) {
        const PeriodicPlane plane = plane_across(axis, outward, bloch);
        std::vector<Order> orders;
        std::vector<Wave> waves;
        for (int m = -3; m <= 3; ++m)
          for (int n = -2; n <= 2; ++n) {
            orders.push_back({m, n});
            for (int direction : {1, -1}) {
              const double a = g(random), b = g(random), c = g(random), d = g(random);
              waves.push_back({{m, n}, direction, {a, b}, {c, d}});
            }
          }
        const auto got =
            diffraction_orders(plane, fields_of(waves, plane, kOpticalHz), kOpticalHz, orders);
        const auto s = got.s.to_vector<Complex>(), p = got.p.to_vector<Complex>(),
                   sb = got.s_back.to_vector<Complex>(), pb = got.p_back.to_vector<Complex>();
        for (std::size_t f = 0; f < 2; ++f)
          for (std::size_t o = 0; o < orders.size(); ++o) {
            const std::size_t at = f * orders.size() + o;
            EXPECT_LT(std::abs(s[at] - waves[2 * o].s) + std::abs(p[at] - waves[2 * o].p), 1e-11);
            EXPECT_LT(std::abs(sb[at] - waves[2 * o + 1].s) + std::abs(pb[at] - waves[2 * o + 1].p),
                      1e-11);
          }
      }
}

/// One plane for each frequency: what each alone gives; and orders that propagate in one of them.
TEST(Diffraction, InAMediumThatDiffersFromFrequencyToFrequency) {
  Medium glass{.name = "glass"};
  glass.eps = {2, 2, 2};
  EXPECT_EQ(planes_in(glass, plane_across(0, 1, {0, 0}), kOpticalHz).size(), 1U);
  glass.poles = lorentz(3e15, 0, 0.3);
  const auto planes = planes_in(glass, plane_across(0, 1, {1.3e6, 0}), kOpticalHz);
  ASSERT_EQ(planes.size(), 2U);
  EXPECT_DOUBLE_EQ(planes[1].eps, permittivity(glass, 0, kOpticalHz[1]).real());
  EXPECT_EQ(planes[1].mu, 1);
  const std::vector<Order> orders{{-1, 0}, {0, 0}, {0, 1}};
  const auto fields =
      fields_of({{{0, 0}, 1, 1.0, 0.5}, {{-1, 0}, -1, 0.3, 0.2}}, planes[0], kOpticalHz);
  const auto got = diffraction_orders(planes, fields, kOpticalHz, orders);
  const auto power = got.power.to_vector();
  const auto p = got.p_back.to_vector<Complex>();
  for (std::size_t k = 0; k < 2; ++k) {
    const auto alone = diffraction_orders(planes[k], fields, kOpticalHz, orders);
    const auto power_k = alone.power.to_vector();
    const auto p_k = alone.p_back.to_vector<Complex>();
    for (std::size_t n = 3 * k; n < 3 * k + 3; ++n) {
      EXPECT_NEAR(power[n], power_k[n], 1e-12 * std::abs(power_k[n]));
      EXPECT_LT(std::abs(p[n] - p_k[n]), 1e-12);
    }
  }
  const std::vector<double> first{kOpticalHz[0]}, second{kOpticalHz[1]};
  const auto both = propagating_orders(planes, kOpticalHz);
  for (std::size_t k = 0; k < 2; ++k)
    for (const Order& o : propagating_orders(planes[k], k == 0 ? first : second))
      EXPECT_NE(std::find(both.begin(), both.end(), o), both.end());
  EXPECT_THROW(propagating_orders(std::vector<PeriodicPlane>(3, planes[0]), kOpticalHz), Error);
}

TEST(Diffraction, PowersOfTheOrdersAddUpToTheFlux) {
  const PeriodicPlane plane = plane_across(1, -1, {1.3e6, -0.6e6});
  const auto orders = propagating_orders(plane, std::vector<double>{kOpticalHz[0]});
  ASSERT_GT(orders.size(), 3u);
  std::vector<Wave> waves;
  for (const Order& o : orders) {
    waves.push_back({o, 1, {1.0, 0.2}, {-0.3, 0.5}});
    waves.push_back({o, -1, {0.1, -0.6}, 0.4});
  }
  waves.push_back({{3, 0}, 1, 1.0, 2.0});  // evanescent, outward alone: carries nothing
  const std::vector<double> one{kOpticalHz[0]};
  const SurfaceFields fields = fields_of(waves, plane, one);
  const auto got = diffraction_orders(plane, fields, one, orders);
  const double total = sum(got.power).item() - sum(got.power_back).item(),
               want = flux(plane.patch, fields).item();
  EXPECT_NEAR(total / want, 1, 1e-12);
  EXPECT_GT(min(got.power).item(), 0);
  const std::vector<Order> with{{3, 0}};
  EXPECT_EQ(diffraction_orders(plane, fields, one, with).power.item(), 0);
  EXPECT_NEAR(std::abs(diffraction_orders(plane, fields, one, with).s.item<Complex>() - 1.0), 0,
              1e-12);
}

TEST(Diffraction, OrdersPropagateWhereTheGratingEquationSaysSo) {
  // Period 1.5 um in glass: sin(angle) = sin(angle of incidence) + m wavelength/(n period).
  PeriodicPlane plane{.patch = patch_of(1, 1, 0, {0, 0}, {1.5 * um, 0}, 0.05 * um), .eps = 2.25};
  const double f = 200e12, k = 2 * pi * f * 1.5 / speed_of_light;
  plane.bloch = {k * std::sin(0.2), 0};
  const std::vector<double> one{f};
  const auto orders = propagating_orders(plane, one);
  const double step = speed_of_light / f / 1.5 / (1.5 * um);
  std::vector<Order> want;
  for (int m = -9; m <= 9; ++m)
    if (std::abs(std::sin(0.2) + m * step) < 1) want.push_back({m, 0});
  EXPECT_EQ(orders, want);
  const auto waves = order_waves(plane, one, orders)[0];
  for (const OrderWave& w : waves)
    EXPECT_NEAR(std::sin(w.angle_rad), std::abs(std::sin(0.2) + w.order.m * step), 1e-12);
  const std::vector<Order> far{{7, 0}};
  const OrderWave beyond = order_waves(plane, one, far)[0][0];
  EXPECT_TRUE(beyond.evanescent);
  EXPECT_LT(beyond.k_normal.imag(), 0);
  EXPECT_EQ(beyond.k_normal.real(), 0);
}

// Incidence on a half-space: orders on both sides of it hold Fresnel's coefficients, and no power
// is lost.
TEST(Diffraction, FresnelAtAnInterface) {
  const double f = 200e12, k1 = 2 * pi * f / speed_of_light, n2 = 3.5, sine = std::sin(0.7);
  const std::vector<double> one{f};
  const std::vector<Order> zero{{0, 0}};
  PeriodicPlane above{.patch = patch_of(2, 1, 0, {0, 0}, {um, um}, 0.1 * um),
                      .bloch = {k1 * sine * 0.6, k1 * sine * 0.8}};
  PeriodicPlane below = above;
  below.eps = n2 * n2;
  const double c1 = std::cos(0.7), c2 = std::sqrt(1 - sine * sine / (n2 * n2));
  // From below (-z) upwards would be "outward"; the wave comes down, against the normal. Tangential
  // fields are the same on both sides.
  const double ts = 2 * c1 / (c1 + n2 * c2), tp = 2 * c1 / (n2 * c1 + c2);
  const SurfaceFields fields = fields_of({{{0, 0}, -1, ts, tp}}, below, one);
  const auto transmitted = diffraction_orders(below, fields, one, zero),
             rest = diffraction_orders(above, fields, one, zero);
  EXPECT_NEAR(std::abs(rest.s_back.item<Complex>()), 1, 1e-12);
  EXPECT_NEAR(std::abs(rest.p_back.item<Complex>()), 1, 1e-12);
  EXPECT_NEAR(std::abs(rest.s.item<Complex>()), std::abs((c1 - n2 * c2) / (c1 + n2 * c2)), 1e-12);
  EXPECT_NEAR(std::abs(rest.p.item<Complex>()), std::abs((n2 * c1 - c2) / (n2 * c1 + c2)), 1e-12);
  EXPECT_NEAR((rest.power.item() + transmitted.power_back.item()) / rest.power_back.item(), 1,
              1e-12);
}

/// As a grid has them at the middles of its cells: each a mean of two neighbours along one axis, E
/// across its own, H along it.
TEST(Diffraction, WavesAreFoundInMeansOfNeighbours) {
  const std::vector<double> one{330e12};
  for (const int axis : {0, 1, 2}) {
    PeriodicPlane plane = plane_across(axis, 1, {1.3e6, -0.6e6});
    plane.cell = {plane.patch.weight_lo.front(), plane.patch.weight_hi.front()};
    const std::vector<Wave> waves{{{1, -1}, 1, {0.3, 0.2}, 1.0}, {{1, -1}, -1, 0.7, {0.1, -0.4}}};
    const auto at = [&](const Pos& r) {
      EH sum;
      for (const Wave& w : waves) {
        const EH v = field_of(w, plane, one[0], r);
        for (int c = 0; c < 3; ++c) sum.e[c] += v.e[c], sum.h[c] += v.h[c];
      }
      return sum;
    };
    const int lo = plane.patch.lo_axis(), hi = plane.patch.hi_axis();
    const SurfaceFields fields = on_patches({plane.patch}, one, [&](double, const Pos& r) {
      EH out;
      for (const int along : {lo, hi})
        for (const int side : {-1, 1}) {
          Pos there = r;
          there[along] += side * plane.cell[along == lo ? 0 : 1] / 2;
          const EH v = at(there);
          const int across = along == lo ? hi : lo;
          out.e[across] += 0.5 * v.e[across], out.h[along] += 0.5 * v.h[along];
        }
      return out;
    })[0];
    const auto found = diffraction_orders(plane, fields, one, std::vector<Order>{{1, -1}});
    EXPECT_NEAR(std::abs(found.s.item<Complex>() - waves[0].s), 0, 1e-12);
    EXPECT_NEAR(std::abs(found.p.item<Complex>() - waves[0].p), 0, 1e-12);
    EXPECT_NEAR(std::abs(found.s_back.item<Complex>() - waves[1].s), 0, 1e-12);
    EXPECT_NEAR(std::abs(found.p_back.item<Complex>() - waves[1].p), 0, 1e-12);
  }
}

TEST(Diffraction, Differentiates) {
  const PeriodicPlane plane{.patch = patch_of(0, 1, 0, {0, 0}, {um, um}, 0.34 * um),
                            .bloch = {1e6, 2e6}};
  const std::vector<double> one{200e12};
  const std::vector<Order> orders{{0, 0}, {1, 0}};
  const SurfaceFields fields =
      fields_of({{{0, 0}, 1, 1.0, {0.0, 0.5}}, {{1, 0}, -1, 0.4, 0.3}}, plane, one);
  const auto amplitudes = [&](const SurfaceFields& x) {
    return diffraction_orders(plane, x, one, orders).s;
  };
  EXPECT_TRUE(transpose_check(amplitudes, fields))
      << to_string(transpose_check(amplitudes, fields));
  const auto efficiency =
      [&](const SurfaceFields& x) {  // of E and eta0 H, so that one step suits both
        const auto a = diffraction_orders(plane, {x.e, x.h / vacuum_impedance}, one, orders);
        return sum(a.power) / sum(a.power_back + a.power);
      };
  const SurfaceFields scaled{fields.e, fields.h * vacuum_impedance};
  EXPECT_TRUE(gradcheck(efficiency, scaled)) << to_string(gradcheck(efficiency, scaled));
}

TEST(Diffraction, RefusesWhatItCannotTell) {
  PeriodicPlane plane{.patch = patch_of(2, 1, 0, {0, 0}, {um, um}, 0.1 * um)};
  const std::vector<double> one{200e12};
  const SurfaceFields fields = fields_of({{{0, 0}, 1, 1.0, 0.0}}, plane, one);
  EXPECT_THROW(diffraction_orders(plane, fields, one, std::vector<Order>{{5, 0}}), Error);
  EXPECT_THROW(diffraction_orders(plane, fields, one, std::vector<Order>{}), Error);
  EXPECT_THROW(diffraction_orders(plane, fields, std::vector<double>{1e12, 2e12},
                                  std::vector<Order>{{0, 0}}),
               Error);
  plane.bloch[0] = 2 * pi * 200e12 / speed_of_light;
  EXPECT_THROW(diffraction_orders(plane, fields, one, std::vector<Order>{{0, 0}}), Error)
      << "grazing";
  plane.bloch[0] = pi / (0.1 * um);  // a mean of two neighbours is zero
  plane.eps = 100;
  EXPECT_NO_THROW(diffraction_orders(plane, fields, one, std::vector<Order>{{0, 0}}));
  plane.cell[0] = 0.1 * um;
  EXPECT_THROW(diffraction_orders(plane, fields, one, std::vector<Order>{{0, 0}}), Error);
  plane.patch.weight_lo[0] *= 2;
  EXPECT_THROW(propagating_orders(plane, one), Error);
}

}  // namespace
}  // namespace tessera::electromagnetics
