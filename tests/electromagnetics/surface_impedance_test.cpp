// SPDX-License-Identifier: Apache-2.0
//
// Surfaces of good conductors: the fit and its passivity; what flat walls, bodies and surfaces
// across the grid reflect; walls that only absorb.
#include "tessera/electromagnetics/surface_impedance.h"

#include "guides.h"
#include "tessera/autodiff/check.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/grid_modes.h"
#include "tessera/electromagnetics/medium_stability.h"
#include "tessera/electromagnetics/time_domain.h"
#include "tessera/electromagnetics/yee_primitive.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <map>
#include <numbers>
#include <string>
#include <tuple>
#include <vector>

namespace tessera::electromagnetics {
namespace {

using namespace guides;
using std::numbers::pi;

TEST(SurfaceImpedance, IsMetInItsBandByPositiveTerms) {
  for (const auto& [low, high, most] : {std::tuple(1e9, 1e9, 2), std::tuple(8e9, 12e9, 3),
                                        std::tuple(1e9, 1e10, 6), std::tuple(1e6, 1e10, 12)}) {
    const SurfaceImpedance z = fit_surface_impedance(5.8e7, 1.5, low, high, 1e-3);
    EXPECT_LE(z.error, 1e-3);
    EXPECT_LE(static_cast<int>(z.branches.size()), most) << low << " " << high;
    EXPECT_GE(z.resistance_ohm, 0);
    EXPECT_GE(z.inductance_h, 0);
    for (const SurfaceImpedance::Branch& b : z.branches) {
      EXPECT_GT(b.rate, 0);
      EXPECT_GT(b.resistance_ohm, 0);
    }
    for (int i = 0; i <= 100; ++i) {
      const double f = low * std::pow(high / low, i / 100.0);
      const auto exact = conductor_impedance(5.8e7, 1.5, f);
      EXPECT_LT(std::abs(impedance(z, {0, 2 * pi * f}) - exact), 1.2e-3 * std::abs(exact)) << f;
    }
    // Far from its band it absorbs, too.
    for (double f = 1; f < 1e16; f *= 3) EXPECT_GE(impedance(z, {0, 2 * pi * f}).real(), 0) << f;
  }
  // Copper at 10 GHz: 26.1 mohm, as handbooks have it.
  EXPECT_NEAR(conductor_impedance(5.8e7, 1, 1e10).real(), 26.09e-3, 1e-5);
}

TEST(SurfaceImpedance, OfARoughSurfaceLosesByTheFormulaAndIsPassive) {
  // Copper at 5 GHz has a skin depth of 0.935 um; of that roughness it loses 1.605 times as much.
  EXPECT_NEAR(roughness_factor(5.8e7, 1, 0.9346e-6, 5e9), 1 + 2 / pi * std::atan(1.4), 1e-4);
  for (const double roughness : {0.2e-6, 1e-6, 5e-6})
    for (const auto& [low, high] : {std::pair(3e9, 5e9), std::pair(1e9, 1e10)}) {
      const SurfaceImpedance z = fit_surface_impedance(5.8e7, 1, low, high, 1e-3, roughness);
      EXPECT_LE(z.error, 1e-3);
      EXPECT_GE(z.resistance_ohm, 0);
      EXPECT_GE(z.inductance_h, 0);
      for (const SurfaceImpedance::Branch& b : z.branches) EXPECT_GT(b.resistance_ohm, 0);
      for (int i = 0; i <= 100; ++i) {
        const double f = low * std::pow(high / low, i / 100.0);
        const double wanted =
            conductor_impedance(5.8e7, 1, f).real() * roughness_factor(5.8e7, 1, roughness, f);
        EXPECT_NEAR(impedance(z, {0, 2 * pi * f}).real(), wanted, 2e-3 * wanted) << f;
      }
    }
  // Much rougher than the skin is deep: twice the smooth surface, phase and all.
  const SurfaceImpedance z = fit_surface_impedance(5.8e7, 1, 1e9, 1e10, 1e-3, 1e-3);
  const auto smooth = conductor_impedance(5.8e7, 1, 3e9);
  EXPECT_LT(std::abs(impedance(z, {0, 2 * pi * 3e9}) - 2.0 * smooth), 3e-3 * std::abs(smooth));
  EXPECT_THROW(fit_surface_impedance(5.8e7, 1, 1e9, 1e10, 1e-3, -1e-6), Error);
}

TEST(SurfaceImpedance, WantsAConductorAndABand) {
  for (const auto& [sigma, mu, low, high] :
       {std::tuple(0.0, 1.0, 1e9, 2e9), std::tuple(-1.0, 1.0, 1e9, 2e9),
        std::tuple(1.0, 0.0, 1e9, 2e9), std::tuple(1.0, 1.0, 0.0, 2e9),
        std::tuple(1.0, 1.0, 3e9, 2e9), std::tuple(std::nan(""), 1.0, 1e9, 2e9)})
    EXPECT_THROW(fit_surface_impedance(sigma, mu, low, high), Error);
}

/// A line along x of 60 cells a wavelength of 1 GHz, that ends in a conductor of 8 S/m (its surface
/// 0.083 (1 + i) of the wave's impedance): reflection, from E at two points.
struct EndOfLine {
  double cell = speed_of_light / 1e9 / 60;
  int cells = 240;
  double beyond = 0;  ///< of a cell: a body from so far before the last line on; 0: the outer wall

  std::vector<std::complex<double>> reflections(const std::vector<double>& f, bool across_y) const {
    YeeGrid grid{.lines = {even(cells, cell), {0, cell}, {0, cell}}};
    const std::array<Faces, 3> faces{Faces{Boundary::pml, Boundary::pec}, period, period};
    const double dt = 0.9 * cell / speed_of_light;
    const double wall = (cells - 1 - beyond) * cell;
    Scene scene;
    std::vector<Medium> media{Medium{}, Medium{.name = "metal", .pec = true}};
    if (beyond > 0)
      scene.structures.push_back({.shape = half_space({wall, 0, 0}, {-1, 0, 0}), .medium = 1});
    const CutCellFractions open = cut_cell_fractions(SceneOrder(scene), media, grid, faces, dt);
    YeeModel m = yee_model(grid, faces, {}, dt, Dtype::f64, scene, media, Averaging::kottke, open);
    m.active = {false, true, true, false, true, true};
    const SurfaceImpedance z = fit_surface_impedance(8, 1, 0.3e9, 2e9);
    LossyConductors conductors{.media = {{}, z}};
    if (beyond == 0) conductors.walls[0][1] = z;
    add_media(m, surface_losses(m, scene, media, conductors));
    const int component = across_y ? Ey : Ez;
    const std::vector<Edge> looked{{static_cast<std::uint8_t>(component), 100, 0, 0},
                                   {static_cast<std::uint8_t>(component), 105, 0, 0}};
    const Point low{50 * cell, 0, 0}, high{50 * cell, cell, cell};
    TimeDomain run(
        std::move(m),
        {current_source(grid, faces, dt, component, low, high, 1, gaussian_pulse(1e9, 1e9))},
        looked);
    RunningDft dft(f, dt, looked);
    run.advance(8000, [&](const Records& r) { dft.add(r); });
    std::vector<std::complex<double>> out;
    const double end = beyond > 0 ? wall : cells * cell;
    for (std::size_t q = 0; q < f.size(); ++q) {
      const double k =
          2 / cell * std::asin(cell / (speed_of_light * dt) * std::sin(pi * f[q] * dt));
      const auto e = dft.at(q);
      const double x0 = 100 * cell - end, x1 = 105 * cell - end;
      // e = a e^{-ikx} + b e^{ikx}
      const std::complex<double> i(0, 1), p0 = std::exp(-i * k * x0), p1 = std::exp(-i * k * x1);
      out.push_back((e[1] * p0 - e[0] * p1) / (e[0] / p1 - e[1] / p0));
    }
    return out;
  }
};

TEST(SurfaceImpedance, ReflectsAsItsFormulaOnLinesAndBetween) {
  const std::vector<double> f{0.5e9, 1e9, 1.5e9};
  for (const double beyond : {0.0, 1.0, 0.7, 0.4})
    for (const bool across_y : {false, true}) {
      const auto r = EndOfLine{.beyond = beyond}.reflections(f, across_y);
      for (std::size_t q = 0; q < f.size(); ++q) {
        const auto z = conductor_impedance(8, 1, f[q]) / vacuum_impedance,
                   exact = (z - 1.0) / (z + 1.0);
        // The face has H half a cell in front of the wall, where it is 1 + i k d z / 2 times that
        // at the wall; between lines, the wall stands where the time step keeps it.
        const double near = 1e-3 + 2 * pi * f[q] / speed_of_light * EndOfLine{}.cell * std::norm(z);
        EXPECT_NEAR(std::abs(r[q]), std::abs(exact), near) << beyond << " " << f[q];
        EXPECT_LT(std::abs(r[q] - exact), beyond == 0 || beyond == 1 ? near : 0.06)
            << beyond << " " << f[q];
      }
    }
}

// A round guide is the same all along, with the losses of its wall too.
TEST(SurfaceImpedance, GuidesGoOnAsTheyAre) {
  const double h = 1e-3;
  const std::vector<Medium> media{Medium{}, Medium{.name = "metal", .pec = true}};
  for (const int axis : {0, 1, 2})
    for (const double radius : {6.0, 6.3}) {
      std::array<double, 3> size{16 * h, 16 * h, 16 * h};
      size[axis] = 18 * h;
      const YeeGrid grid = uniform_grid(size, h);
      std::array<Faces, 3> faces{walls, walls, walls};
      faces[axis] = layers;
      Point along{};
      along[axis] = 1;
      Scene scene;
      scene.structures = {
          {.shape = complement(cylinder({0, 0, 0}, radius * h, INFINITY, along)), .medium = 1}};
      const double dt = 0.5 * stable_time_step(grid);
      const CutCellFractions open = cut_cell_fractions(SceneOrder(scene), media, grid, faces, dt);
      YeeModel m = yee_model(grid, faces, {.cells = 5}, dt, Dtype::f64, scene, media,
                             Averaging::kottke, open);
      const LossyConductors conductors{.media = {{}, fit_surface_impedance(5.8e3, 1, 20e9, 22e9)}};
      add_media(m, surface_losses(m, scene, media, conductors));
      EXPECT_EQ(even_cells(m, {axis, 7}, 1, 8), 8) << axis << " " << radius;
    }
}

/// A body that an outer face cuts off the lines ends there as in the whole, and a wall of its own
/// metal has what the body leaves of it.
TEST(SurfaceImpedance, ABodyThatAWallCutsHasItsOwnSurface) {
  const double h = 1e-3;
  const int half = 8;
  const YeeGrid whole = uniform_grid({2 * half * h, 2 * half * h, 0}, h);
  YeeGrid part = whole;
  part.lines[0].erase(part.lines[0].begin(), part.lines[0].begin() + half);
  const std::vector<Medium> media{Medium{}, Medium{.name = "metal", .pec = true}};
  for (const Boundary mirror : {Boundary::pec, Boundary::pmc})
    for (const double radius : {3.4, 2.7, 4.15}) {
      Scene scene;
      scene.structures.push_back(
          {.shape = cylinder({0, 0, 0}, radius * h, INFINITY, {0, 0, 1}), .medium = 1});
      const double dt = 0.9 * stable_time_step(whole);
      const SurfaceImpedance z = fit_surface_impedance(1e4, 1, 1e9, 1e11);
      using Parts = std::map<std::tuple<int, int, int>, std::array<double, 2>>;
      const auto losses = [&](const YeeGrid& grid, const Faces& x, bool lossy_wall) {
        const std::array<Faces, 3> faces{x, layers, period};
        const CutCellFractions open = cut_cell_fractions(SceneOrder(scene), media, grid, faces, dt);
        const YeeModel m =
            yee_model(grid, faces, {}, dt, Dtype::f64, scene, media, Averaging::kottke, open);
        LossyConductors conductors{.media = {{}, z}};
        if (lossy_wall) conductors.walls[0][0] = z;
        Parts out;
        for (const AddedMedia::Part& p : surface_losses(m, scene, media, conductors).parts)
          if (p.edge.component == Hz)
            out[{grid.cells(0) - p.edge.i, p.edge.j, p.edge.k}][p.medium] +=
                p.share * open.share(p.edge) * h;
        return out;
      };
      const Parts all = losses(whole, layers, false),
                  cut = losses(part, {mirror, Boundary::pml}, false),
                  in_metal = losses(part, {mirror, Boundary::pml}, true);
      std::size_t seen = 0;
      for (const auto& [at, length] : all) {
        if (std::get<0>(at) > half) continue;
        ++seen;
        ASSERT_TRUE(cut.contains(at));
        EXPECT_NEAR(cut.at(at)[0], length[0], 1e-9) << std::get<1>(at);
      }
      EXPECT_EQ(cut.size(), seen);
      if (mirror != Boundary::pec) continue;
      double of_body = 0, of_wall = 0;
      for (const auto& [at, length] : in_metal) of_body += length[0], of_wall += length[1];
      for (const auto& [at, length] : cut) of_body -= length[0];
      EXPECT_NEAR(of_body, 0, 1e-9);
      EXPECT_NEAR(of_wall, 2 * half - 2 * radius, 1e-5);  // cells; fractions are rounded to 1e-6
    }
}

/// A box with lossy walls and a lossy ball and rod in it, in noise of a pulse, at the longest time
/// step: its energy falls.
TEST(SurfaceImpedance, OnlyAbsorbs) {
  const YeeGrid grid{.lines = {even(11, 1e-3),
                               even(10, 1e-3),
                               {0, 1e-3, 2e-3, 2.6e-3, 4e-3, 5e-3, 6e-3, 7e-3, 8e-3}}};
  const std::array<Faces, 3> faces{walls, Faces{Boundary::pmc, Boundary::pec}, walls};
  const std::vector<Medium> media{Medium{}, Medium{.name = "metal", .pec = true}};
  Scene scene;
  scene.structures.push_back({.shape = sphere({4.1e-3, 4.3e-3, 4.2e-3}, 2.3e-3), .medium = 1});
  scene.structures.push_back({.shape = rotate(box({7.2e-3, 1.3e-3, -1}, {9.1e-3, 4.4e-3, 1}),
                                              rotation_about({0, 0, 1}, 0.3), {8e-3, 3e-3, 0}),
                              .medium = 1});
  const double dt = max_stable_dt(media[0], curl_curl_bound(grid));
  const CutCellFractions open = cut_cell_fractions(SceneOrder(scene), media, grid, faces, dt);
  const SurfaceImpedance z = fit_surface_impedance(1e4, 1, 1e9, 1e11);
  LossyConductors conductors{.media = {{}, z}};
  for (auto& of : conductors.walls) of = {z, z};
  for (const Dtype dtype : {Dtype::f64, Dtype::f32}) {
    YeeModel m = yee_model(grid, faces, {}, dt, dtype, scene, media, Averaging::kottke, open);
    const AddedMedia losses = surface_losses(m, scene, media, conductors);
    EXPECT_GT(losses.parts.size(), 500U);
    add_media(m, losses);
    const Point at{9e-3, 8e-3, 6e-3};
    TimeDomain run(
        std::move(m),
        {current_source(grid, faces, dt, Ez, at, at, 1, gaussian_pulse(3e10, 5e10), {}, open)}, {});
    run.advance(static_cast<std::int64_t>(run.sources_end_s() / dt) + 2);
    const double first = run.energy_j();
    double before = first;
    for (int n = 0; n < 10; ++n) {
      run.advance(2000);
      const double now = run.energy_j();
      EXPECT_LT(now, std::max(before, 1e-9 * first)) << n;
      before = now;
    }
  }
}

/// Steps with poles of faces have a transpose, too: gradients in currents, inside and on lossy
/// metal, are those of differences.
TEST(SurfaceImpedance, StepsDifferentiate) {
  const YeeGrid grid{.lines = {even(6, 1e-3), even(5, 1e-3), even(5, 1e-3)}};
  const std::array<Faces, 3> faces{walls, walls, walls};
  const std::vector<Medium> media{Medium{}, Medium{.name = "metal", .pec = true}};
  Scene scene;
  scene.structures.push_back({.shape = sphere({2.1e-3, 2.3e-3, 2.2e-3}, 1.3e-3), .medium = 1});
  const double dt = 0.95 * max_stable_dt(media[0], curl_curl_bound(grid));
  YeeModel m = yee_model(grid, faces, {}, dt, Dtype::f64, scene, media, Averaging::kottke,
                         cut_cell_fractions(SceneOrder(scene), media, grid, faces, dt));
  const SurfaceImpedance z = fit_surface_impedance(50, 1, 1e9, 1e11);
  LossyConductors conductors{.media = {{}, z}};
  for (auto& of : conductors.walls) of = {z, z};
  add_media(m, surface_losses(m, scene, media, conductors));
  m.injected = {{Ez, 4, 4, 2}, {Hx, 4, 1, 1}}, m.recorded = {{Ex, 4, 3, 4}, {Hy, 1, 4, 3}};
  const YeeOpPtr op = yee_op(m);
  std::vector<double> pulse;
  for (int n = 0; n < 24; ++n) pulse.push_back(std::sin(0.7 * n) + 0.2);
  const auto value = [&](Tensor x) { return sum(square(simulate(op, coefficients(op), x))); };
  const CheckReport r = gradcheck(value, std::tuple(tensor(pulse, {12, 2})));
  EXPECT_TRUE(r) << to_string(r);
  // In portions, from one to the next of which cotangents of faces and of their poles go, too.
  const auto in_portions = [&](Tensor x) {
    return sum(square(simulate(op, coefficients(op), x, {.block = 3})));
  };
  const Tensor x = tensor(pulse, {12, 2}), whole = grad(value)(x), parts = grad(in_portions)(x);
  EXPECT_LT(sum(square(whole - parts)).item(), 1e-24 * sum(square(whole)).item());
}

}  // namespace
}  // namespace tessera::electromagnetics
