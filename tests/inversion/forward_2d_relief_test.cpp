// SPDX-License-Identifier: Apache-2.0
#include "measured.h"
#include "rayleigh_series.h"
#include "tessera/autodiff/ops.h"
#include "tessera/inversion/forward_2d.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera::inversion {
namespace {

using Complex = std::complex<double>;

/// Half a wave between mirrors, the boundary's own depth followed by the cells.
Mesh2d wavy_mesh(const WavyBoundary& b, bool triangles) {
  const bool sea = b.depth > 0;
  std::vector<double> y;
  const int columns = sea ? 40 : 20;
  for (int k = 0; k <= columns; ++k) y.push_back(b.wave / 2 * k / columns);
  std::vector<double> through{-8000, 0};
  if (sea) through.push_back(b.depth);
  through.push_back(sea ? 2e5 : 4e4);
  const auto size = [&](double z) {
    const double near = std::min(std::abs(z - b.depth), sea ? std::abs(z) + 20 : 1e9);
    return std::max(sea ? 20.0 : 12.0, 0.2 * near);
  };
  const std::vector<double> z = graded_axis(through, size);
  Mesh2d m = tensor_mesh(y, z, std::vector{b.depth}, [&](double, double at) {
    if (at < 0) return air();
    return at < b.depth ? Medium2d{.ohm_m = b.above_ohm_m} : Medium2d{.parameter = 0};
  });
  const std::vector<Level2d> levels{{-8000},
                                    {sea ? 0.0 : -1000.0},
                                    {b.depth, [b](double at) { return b.at(at); }},
                                    {b.depth + 1000},
                                    {through.back()}};
  m = bent(m, levels);
  return triangles ? triangles_of(m) : m;
}

void expect_series(const WavyBoundary& b, const std::vector<double>& frequency, bool triangles,
                   bool along) {
  const Mesh2d mesh = wavy_mesh(b, triangles);
  // crest, flank, trough and between
  const std::vector<double> y{0, 225, 475, 775, 1000};
  Sensors2d sensors = sensors_on(mesh, 0, y);
  for (const double at : y) sensors.tilt.push_back(along ? b.slope(at) : 0);
  const Forward2d forward(mesh, sensors, frequency, {.order = 2, .sides = Sides2d::mirror});
  const Responses2d r = forward(tensor({std::log(b.below_ohm_m)}));
  const auto te = r.te.to_vector<c128>(), tm = r.tm.to_vector<c128>(),
             tipper = r.tipper.to_vector<c128>();
  double rho_a[2] = {0, 0}, phase[2] = {0, 0}, tip = 0, residual = 0;
  for (std::size_t f = 0; f < frequency.size(); ++f) {
    const RayleighSeries ste(true, b, frequency[f]), stm(false, b, frequency[f]);
    residual = std::max({residual, ste.residual, stm.residual});
    for (std::size_t s = 0; s < y.size(); ++s) {
      const double tilt = sensors.tilt[s];
      const Complex expected[2] = {ste.impedance(y[s], tilt), stm.impedance(y[s], tilt)},
                    got[2] = {te[f * 5 + s], tm[f * 5 + s]};
      for (int m = 0; m < 2; ++m) {
        rho_a[m] = std::max(rho_a[m], std::abs(std::norm(got[m]) / std::norm(expected[m]) - 1));
        phase[m] =
            std::max(phase[m], std::abs(std::arg(got[m] / expected[m])) * 180 / std::numbers::pi);
      }
      tip = std::max(tip, std::abs(Complex(tipper[f * 5 + s]) - ste.tipper(y[s], tilt)));
    }
  }
  const std::string name = std::string(b.depth > 0 ? "sea" : "ground") +
                           (triangles ? "_P2" : "_Q2") + (along ? "" : "_level");
  test::measured(name + "_te_rho_a", rho_a[0]);
  test::measured(name + "_te_phase", phase[0]);
  test::measured(name + "_tm_rho_a", rho_a[1]);
  test::measured(name + "_tm_phase", phase[1]);
  test::measured(name + "_tipper", tip);
  EXPECT_LE(residual, 1e-6) << "the series itself";
  for (int m = 0; m < 2; ++m) {
    EXPECT_LE(rho_a[m], 0.003) << name;
    EXPECT_LE(phase[m], 0.1) << name;
  }
  EXPECT_LE(tip, 3e-3) << name;
}

TEST(Forward2dRelief, CosineGround) {
  for (const bool triangles : {false, true}) expect_series({}, {1, 10, 100, 1000}, triangles, true);
}

TEST(Forward2dRelief, CosineSeaFloor) {
  for (const bool triangles : {false, true})
    for (const bool along : {true, false})
      expect_series({.depth = 1000}, {0.01, 0.1, 1}, triangles, along);
}

}  // namespace
}  // namespace tessera::inversion
