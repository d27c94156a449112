// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/flux.h"

#include "analytic_sources.h"
#include "tessera/autodiff/check.h"
#include "tessera/autodiff/error.h"

#include <gtest/gtest.h>

namespace tessera::electromagnetics {
namespace {

using namespace analytic;

const std::vector<double> kFluxHz{1e9, 2.3e9};

TEST(Flux, OfAPlaneWaveIsHalfESquaredOverEta) {
  const auto wave = [](double f, const Pos& r) {  // along +y: E_x, H_z = -E_x/eta
    EH v;
    v.e[0] = 2.0 * std::exp(-i * (2 * pi * f / speed_of_light * r[1]));
    v.h[2] = -v.e[0] / vacuum_impedance;
    return v;
  };
  const Patch up = patch_of(1, 1, 0.3, {0, 0}, {0.2, 0.5}, 0.1),
              down = patch_of(1, -1, 0.3, {0, 0}, {0.2, 0.5}, 0.1);
  for (const double p : flux(up, on_patches({up}, kFluxHz, wave)[0]).to_vector())
    EXPECT_NEAR(p, 0.5 * 4 / vacuum_impedance * 0.1, 1e-15);
  for (const double p : flux(down, on_patches({down}, kFluxHz, wave)[0]).to_vector())
    EXPECT_NEAR(p, -0.5 * 4 / vacuum_impedance * 0.1, 1e-15);
  const auto box = box_patches({0, 0, 0}, {0.2, 0.3, 0.1}, 0.1);
  ASSERT_EQ(box.size(), 6u);
  for (const double p : flux(box, on_patches(box, kFluxHz, wave)).to_vector())
    EXPECT_NEAR(p, 0, 1e-15);
}

// The power through a closed box about a source is the power of its current, to second order of the
// spacing; without one inside, none.
TEST(Flux, ThroughABoxIsThePowerOfTheSourceInside) {
  const Vec il{0.3, 0.2, 1.0};
  const Pos at{0.01, -0.02, 0.015};
  const auto source = [&](double f, const Pos& r) { return dipole(f, at, il, r, 2.0, 1.5); };
  const Tensor moment = full({2}, std::sqrt(0.09 + 0.04 + 1.0), Dtype::c128);
  const auto want = homogeneous_power(PointSource::dipole, moment, kFluxHz, 2.0, 1.5).to_vector();
  const auto error = [&](double spacing) {
    const auto box = box_patches({-0.06, -0.06, -0.06}, {0.06, 0.06, 0.06}, spacing);
    const auto p = flux(box, on_patches(box, kFluxHz, source)).to_vector();
    return std::max(std::abs(p[0] / want[0] - 1), std::abs(p[1] / want[1] - 1));
  };
  const double coarse = error(0.01), fine = error(0.005);
  EXPECT_LT(fine, 0.02);
  EXPECT_NEAR(coarse / fine, 4, 0.5);
  const auto beside = box_patches({0.1, -0.06, -0.06}, {0.2, 0.06, 0.06}, 0.005);
  EXPECT_LT(std::abs(flux(beside, on_patches(beside, kFluxHz, source)).to_vector()[0]),
            1e-3 * want[0]);
}

TEST(Flux, OfLinesAndSheets) {
  const auto box = box_patches({-0.05, -0.05, 0}, {0.05, 0.05, 0}, 0.001);
  ASSERT_EQ(box.size(), 4u);
  const Tensor unit = full({2}, 1.0, Dtype::c128);
  const auto line_power = flux(box, on_patches(box, kFluxHz,
                                               [](double f, const Pos& r) {
                                                 return line(f, {0.01, 0, 0}, 1.0, r, 2, 1);
                                               }))
                              .to_vector();
  const auto line_want = homogeneous_power(PointSource::line, unit, kFluxHz, 2, 1).to_vector();
  // A unit current along x: A_x = mu g, g = H0/(4i), so H_z = -dg/dy and E = curl H / (i w eps).
  const auto across = [](double f, const Pos& r) {
    const double k = 2 * pi * f / speed_of_light, x = std::hypot(r[0], r[1]),
                 w_eps = 2 * pi * f * vacuum_permittivity;
    const double cx = r[0] / x, cy = r[1] / x;
    const Complex g1 = -k * hankel(1, k * x) / (4.0 * i),
                  g2 = -k * k * (hankel(0, k * x) - hankel(1, k * x) / (k * x)) / (4.0 * i);
    EH v;
    v.h[2] = -cy * g1;
    const Complex d_yy = cy * cy * g2 + cx * cx * g1 / x, d_xy = cx * cy * (g2 - g1 / x);
    v.e[0] = -d_yy / (i * w_eps);
    v.e[1] = d_xy / (i * w_eps);
    return v;
  };
  const auto dipole_power = flux(box, on_patches(box, kFluxHz, across)).to_vector();
  const auto dipole_want = homogeneous_power(PointSource::line_dipole, unit, kFluxHz).to_vector();
  for (int k = 0; k < 2; ++k) {
    EXPECT_NEAR(line_power[k] / line_want[k], 1, 1e-3);
    EXPECT_NEAR(dipole_power[k] / dipole_want[k], 1, 1e-3);
  }
  // A sheet sends eta J/2 to both sides.
  EXPECT_NEAR(homogeneous_power(PointSource::sheet, unit, kFluxHz, 4).to_vector()[0],
              2 * 0.5 * (vacuum_impedance / 2) / 4, 1e-12);
}

// A dipole at height d above a metal plane: the image's field at the dipole changes its power by
// 1 + sign (3/2) [...] (parallel: -, perpendicular: +); here the closed forms of L. Novotny & B.
// Hecht, section 10.
TEST(LocalDensityOfStates, AboveAMirror) {
  const double f = 1e9, d = 0.07, x = 2 * (2 * pi * f / speed_of_light) * d;
  const std::vector<double> one{f};
  const Pos image{0, 0, -d};
  const Tensor moment = full({1}, Complex(0.6, 0.8), Dtype::c128);
  for (const bool perpendicular : {false, true}) {
    const Vec at_image = perpendicular ? Vec{0, 0, {0.6, 0.8}} : Vec{Complex(-0.6, -0.8), 0, 0};
    const EH back = dipole(f, image, at_image, {0, 0, d});
    const Complex own = -homogeneous_power(PointSource::dipole, moment, one).item() * 2.0 /
                        std::conj(Complex(0.6, 0.8));  // -1/2 Re(E J*) = P0
    const Tensor e = full({1}, own + back.e[perpendicular ? 2 : 0], Dtype::c128);
    const double purcell = purcell_factor(PointSource::dipole, e, moment, one).item();
    const double want =
        perpendicular
            ? 1 + 3 * (std::sin(x) / (x * x * x) - std::cos(x) / (x * x))
            : 1 - 1.5 * (std::sin(x) / x + std::cos(x) / (x * x) - std::sin(x) / (x * x * x));
    EXPECT_NEAR(purcell, want, 1e-12);
    const double w = 2 * pi * f, c = speed_of_light;
    EXPECT_NEAR(local_density_of_states(PointSource::dipole, e, moment, one).item() /
                    (w * w / (pi * pi * c * c * c)),
                want, 1e-12);
    EXPECT_NEAR(12 * vacuum_permittivity * emitted_power(e, moment).item() / pi /
                    (w * w / (pi * pi * c * c * c)),
                want, 1e-12);
  }
}

TEST(EnergyDensity, OfAPlaneWaveIsSharedByBothFields) {
  const double eps = 3, mu = 2, e0 = 5;
  const Tensor e = tensor<Complex>({0.0, e0, 0.0}),
               h = tensor<Complex>({0.0, 0.0, e0 / vacuum_impedance * std::sqrt(eps / mu)});
  const double u = energy_density(e, h, eps, mu).item();
  EXPECT_NEAR(u / (0.5 * vacuum_permittivity * eps * e0 * e0), 1, 1e-14);
  // Energy flows with the speed of the wave.
  EXPECT_NEAR(0.5 * e0 * e0 / vacuum_impedance * std::sqrt(eps / mu) / u,
              speed_of_light / std::sqrt(eps * mu), 1e-6);
}

TEST(Flux, Differentiates) {
  const auto box = box_patches({-0.05, -0.05, -0.05}, {0.05, 0.05, 0.05}, 0.05);
  const auto fields = on_patches(box, kFluxHz, [](double f, const Pos& r) {
    return dipole(f, {0.01, 0, 0}, {0, 0, 1}, r);
  });
  const auto f = [&](const SurfaceFields& first) {
    auto all = fields;
    all[0] = first;
    return flux(box, all);
  };
  EXPECT_TRUE(gradcheck(f, fields[0])) << to_string(gradcheck(f, fields[0]));
}

TEST(Flux, RefusesWhatDoesNotFit) {
  const Patch p = patch_of(2, 1, 0, {0, 0}, {1, 1}, 0.5);
  const Tensor good = zeros({3, 2, 2, 2}, Dtype::c128);
  EXPECT_NO_THROW(flux(p, {good, good}));
  EXPECT_THROW(flux(p, {good, zeros({3, 2, 2, 3}, Dtype::c128)}), Error);
  EXPECT_THROW(flux(p, {good, zeros({3, 2, 2, 2})}), Error);
  EXPECT_THROW(flux(p, {good, Tensor()}), Error);
  EXPECT_THROW(flux(std::vector<Patch>{}, {}), Error);
  EXPECT_THROW(patch_of(3, 1, 0, {0, 0}, {1, 1}, 0.5), Error);
  EXPECT_THROW(patch_of(2, 0, 0, {0, 0}, {1, 1}, 0.5), Error);
  EXPECT_THROW(patch_of(2, 1, 0, {0, 0}, {1, 1}, 0), Error);
}

}  // namespace
}  // namespace tessera::electromagnetics
