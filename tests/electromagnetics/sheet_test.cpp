// SPDX-License-Identifier: Apache-2.0
//
// Sheets on edges: against the averages of a body as thin, shares by hand, energy that falls,
// sheets that cannot be.
#include "tessera/electromagnetics/sheet.h"

#include "guides.h"
#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/medium_stability.h"
#include "tessera/electromagnetics/time_domain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

namespace tessera::electromagnetics {
namespace {

using namespace guides;

constexpr double kSheetCell = 1e-3;

YeeGrid sheet_grid(int x, int y, int z) {
  return {.lines = {even(x, kSheetCell), even(y, kSheetCell), even(z, kSheetCell)}};
}

MaterialRow sheet_row(const YeeModel& m, int c, int j, int k) {
  const auto n = static_cast<std::size_t>(m.grid.cells(0)) + 1;
  MaterialRow row{std::vector<double>(n, 1.0), std::vector<double>(n, 0.0), {}, {}};
  m.material(c, j, k, row);
  return row;
}

/// The susceptibility of an edge at s: what its poles and its conductivity add to its permittivity.
std::complex<double> permittivity_seen(const MaterialRow& row, int i, double dt, double f) {
  const std::complex<double> z = std::polar(1.0, 2 * std::numbers::pi * f * dt);
  const auto q = static_cast<std::size_t>(i);
  // E' + E and E' - E of e^{i w t}: the loss acts on the mean.
  std::complex<double> eps = 1 / row.inverse[q] + row.loss[q] * (z + 1.0) / (z - 1.0);
  for (const DispersiveRun& run : row.dispersive) {
    if (i < run.first || i >= run.first + static_cast<int>(run.weight.size())) continue;
    const double w = run.weight[q - static_cast<std::size_t>(run.first)];
    for (std::size_t p = 0; p < run.alpha.size(); ++p) {
      const double shear = run.shear.empty() ? 0 : run.shear[p];
      if (shear != 0) {  // x' = a x + shear y + ..., y' = a y + ...
        const std::complex<double> y = run.beta[p].imag() * (z + 1.0) / (z - run.alpha[p]);
        eps += w * (shear * y + run.beta[p].real() * (z + 1.0)) / (z - run.alpha[p]);
      } else {
        const std::complex<double> chi = run.beta[p] * (z + 1.0) / (z - run.alpha[p]),
                                   image = std::conj(run.beta[p]) * (z + 1.0) /
                                           (z - std::conj(run.alpha[p]));
        eps += w * (run.counts_once(p) ? chi : chi + image);
      }
    }
  }
  return eps;
}

std::vector<Medium> sheet_films() {
  Medium dense{.name = "dense", .eps = {50, 50, 50}}, lossy{.name = "lossy", .eps = {3, 3, 3}},
      metal{.name = "metal", .poles = drude(3e12, 1e11)},
      plasma{.name = "plasma", .poles = drude(3e12, 0)},
      resonant{.name = "resonant", .eps = {2, 2, 2}, .poles = lorentz(4e10, 1e9, 3)};
  lossy.sigma.fill(5);
  return {dense, lossy, metal, plasma, resonant};
}

/// A film on a line is what a body of the same thickness is to the averages of edges (averaging.h),
/// which know films on lines exactly; in a medium with losses and poles, too.
TEST(Sheet, OnALineIsTheAverageOfABodyAsThin) {
  const YeeGrid grid = sheet_grid(6, 5, 7);
  const std::array<Faces, 3> faces{period, walls, mirrors};
  const double dt = 0.5e-12, t = kSheetCell / 20;
  Medium glass{.name = "glass", .eps = {2.25, 2.25, 2.25}, .poles = lorentz(9e10, 5e9, 0.7)};
  glass.sigma.fill(0.2);
  for (const Medium& host : {Medium{.name = "vacuum"}, glass})
    for (const Medium& film : sheet_films())
      for (int axis = 0; axis < 3; ++axis) {
        const auto u = static_cast<std::size_t>(axis);
        Point low, high;
        low.fill(-1), high.fill(1);
        low[u] = 3 * kSheetCell - t / 2, high[u] = 3 * kSheetCell + t / 2;
        const std::vector<Medium> media{host, film};
        const Scene with{.structures = {{.shape = box(low, high), .medium = 1}}}, without{};
        const YeeModel body = yee_model(grid, faces, {}, dt, Dtype::f64, with, media);
        YeeModel sheet = yee_model(grid, faces, {}, dt, Dtype::f64, without, media);
        add_media(
            sheet,
            sheet_edges(
                {{.axis = axis, .position = 3 * kSheetCell, .thickness_m = t, .medium = film}},
                grid, faces, SceneOrder(without), media, Averaging::kottke));
        for (int c = 0; c < 3; ++c)
          for (int k = 0; k < (at_middle(c, 2) ? 7 : 8); ++k)
            for (int j = 0; j < (at_middle(c, 1) ? 5 : 6); ++j) {
              const MaterialRow a = sheet_row(body, c, j, k), b = sheet_row(sheet, c, j, k);
              for (int i = 0; i < 6; ++i)
                for (const double f : {1e10, 4.1e10, 2e11}) {
                  const auto x = permittivity_seen(a, i, dt, f), y = permittivity_seen(b, i, dt, f);
                  ASSERT_LT(std::abs(x - y), 1e-9 * std::abs(x))
                      << host.name << " " << film.name << " axis " << axis << " component " << c
                      << " at " << i << " " << j << " " << k << " f " << f << ": " << x << " " << y;
                }
            }
      }
}

TEST(Sheet, BetweenTwoLinesIsSharedByTheDistances) {
  const YeeGrid grid{
      .lines = {even(4, kSheetCell), even(4, kSheetCell), {0, 1e-3, 3e-3, 4e-3, 5e-3}}};
  const std::array<Faces, 3> faces{period, period, walls};
  const SceneOrder scene{Scene{}};
  const AddedMedia e = sheet_edges({{.axis = 2, .position = 1.6e-3, .resistance_ohm = 100}}, grid,
                                   faces, scene, {Medium{}}, Averaging::kottke);
  double sums[2][2]{};  // [Ex, Ey][line 1, line 2] of conductance, S
  for (const AddedMedia::Part& p : e.parts) {
    ASSERT_TRUE(p.edge.component < 2 && (p.edge.k == 1 || p.edge.k == 2));
    EXPECT_EQ(p.replaced, 0);
    const double dual = grid.dual_length(2, p.edge.k, false);
    sums[p.edge.component][p.edge.k - 1] =
        p.share * dual * e.media[static_cast<std::size_t>(p.medium)].sigma[0];
  }
  for (const auto& of : sums) {
    EXPECT_NEAR(of[0], 0.7e-2, 1e-15);
    EXPECT_NEAR(of[1], 0.3e-2, 1e-15);
  }
}

TEST(Sheet, AnOutlineCountsByTheShareOfEachEdge) {
  const YeeGrid grid = sheet_grid(8, 8, 4);
  const std::array<Faces, 3> faces{walls, walls, walls};
  const double inf = INFINITY;
  const Shape square = box({1.3e-3, 2e-3, -inf}, {5.3e-3, 5.25e-3, inf}),
              disc = cylinder({4e-3, 4e-3, 0}, 2.6e-3, inf);
  for (const auto& [shape, area] :
       {std::pair(square, 4.0 * 3.25), std::pair(disc, std::numbers::pi * 2.6 * 2.6)}) {
    const AddedMedia e =
        sheet_edges({{.axis = 2,
                      .position = 2e-3,
                      .thickness_m = 1e-4,
                      .medium = sheet_films()[0],
                      .outline = shape}},
                    grid, faces, SceneOrder(Scene{}), {Medium{}}, Averaging::kottke);
    double covered[2]{}, across = 0;
    for (const AddedMedia::Part& p : e.parts)
      if (p.edge.component < 2) {
        covered[p.edge.component] += p.share / 0.1;  // of cells
      } else {
        const double eps = e.media[static_cast<std::size_t>(p.medium)].eps[2];
        across += (1 - 1 / eps) / (1 - 1 / 50.0) / 0.05;
      }
    EXPECT_NEAR(covered[0], area, 2e-3 * area);
    EXPECT_NEAR(covered[1], area, 2e-3 * area);
    EXPECT_NEAR(across, 2 * area, 1e-2 * area);  // half of it in the cells on both sides
  }
}

/// Of a symmetry; on a wall all of it is, on the half of a cell that the line stands for there.
TEST(Sheet, OnAMirrorOfASymmetryIsHalfInside) {
  const YeeGrid grid = sheet_grid(4, 4, 4);
  const std::array<Faces, 3> faces{Faces{Boundary::pmc, Boundary::pmc}, period, period};
  const Medium dense{.name = "dense", .eps = {50, 50, 50}};
  const double t = kSheetCell / 20;
  for (const bool high : {false, true})
    for (const bool symmetry : {false, true}) {
      const double position = high ? 4 * kSheetCell : 0, part = symmetry ? 0.5 : 1;
      SymmetryFaces mirrors{};
      mirrors[0][high] = symmetry;
      const auto edges = [&](const Sheet& s) {
        return sheet_edges({s}, grid, faces, SceneOrder(Scene{}), {Medium{}}, Averaging::kottke, {},
                           mirrors);
      };
      const AddedMedia e = edges({.axis = 0, .position = position, .resistance_ohm = 50});
      ASSERT_FALSE(e.parts.empty());
      for (const AddedMedia::Part& p : e.parts) EXPECT_NEAR(p.share, part / (kSheetCell / 2), 1e-9);
      const AddedMedia film =
          edges({.axis = 0, .position = position, .thickness_m = t, .medium = dense});
      std::size_t across = 0;
      for (const AddedMedia::Part& p : film.parts)
        if (p.edge.component == Ex) {
          ++across;
          const double eps = film.media[static_cast<std::size_t>(p.medium)].eps[0];
          EXPECT_NEAR(1 / eps, 1 - part * t / kSheetCell * (1 - 1 / 50.0), 1e-9);
        } else {
          EXPECT_NEAR(p.share, part * t / (kSheetCell / 2), 1e-9);
        }
      EXPECT_EQ(across, 25U);
    }
}

/// Films of all kinds that end within the grid and cross each other, at the longest time step: once
/// the pulse is over, energy stays or falls.
TEST(Sheet, MakesNoEnergy) {
  const YeeGrid grid{.lines = {even(9, kSheetCell),
                               even(8, kSheetCell),
                               {0, 1e-3, 2e-3, 2.6e-3, 4e-3, 5e-3, 6e-3, 7e-3, 8e-3}}};
  const std::array<Faces, 3> faces{period, walls, mirrors};
  const std::vector<Medium> media{Medium{}};
  const double inf = INFINITY;
  std::vector<Sheet> sheets{{.axis = 2,
                             .position = 3.1e-3,
                             .resistance_ohm = 20,
                             .outline = cylinder({4e-3, 4e-3, 0}, 2.7e-3, inf)}};
  std::vector<Medium> all = sheet_films();
  for (std::size_t q = 0; q < all.size(); ++q)
    sheets.push_back({.axis = static_cast<int>(q % 3),
                      .position = 4.0e-3 + 0.3e-3 * static_cast<double>(q),
                      .thickness_m = 1e-4,
                      .medium = all[q],
                      .outline = box({1.2e-3, 1.2e-3, 1.2e-3}, {6.4e-3, 7e-3, 6.7e-3})});
  for (Sheet& s : sheets)
    if (!s.resistance_ohm) {
      Point low{1.2e-3, 1.2e-3, 1.2e-3}, high{6.4e-3, 7e-3, 6.7e-3};
      low[static_cast<std::size_t>(s.axis)] = -inf, high[static_cast<std::size_t>(s.axis)] = inf;
      s.outline = box(low, high);
    }
  all.push_back(media[0]);
  const double dt = max_stable_dt(all, curl_curl_bound(grid));
  for (const Dtype dtype : {Dtype::f64, Dtype::f32}) {
    YeeModel m = yee_model(grid, faces, {}, dt, dtype, Scene{}, media);
    add_media(m, sheet_edges(sheets, grid, faces, SceneOrder(Scene{}), media, Averaging::kottke));
    const Point at{2.5e-3, 3e-3, 2e-3};
    TimeDomain run(std::move(m),
                   {current_source(grid, faces, dt, Ez, at, at, 1, gaussian_pulse(4e10, 6e10))},
                   {});
    run.advance(static_cast<std::int64_t>(run.sources_end_s() / dt) + 2);
    double most = 0, last = 0;
    for (int n = 0; n < 60; ++n) run.advance(5), most = std::max(most, run.stored_energy_j());
    run.advance(20000);
    for (int n = 0; n < 60; ++n) run.advance(5), last = std::max(last, run.stored_energy_j());
    EXPECT_GT(last, 0);
    EXPECT_LT(last, most);
  }
}

TEST(Sheet, WhatCannotBeIsRefused) {
  const YeeGrid grid = sheet_grid(4, 4, 4),
                line{.lines = {even(4, kSheetCell), {0, 1e-3}, {0, 1e-3}}};
  const std::array<Faces, 3> faces{walls, walls, walls};
  const auto refuse = [&](const std::vector<Sheet>& sheets, const std::string& words,
                          const YeeGrid& on, const std::vector<Medium>& media) {
    try {
      sheet_edges(sheets, on, faces, SceneOrder(Scene{}), media, Averaging::kottke);
      ADD_FAILURE() << words;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
    }
  };
  const auto refused = [&](const Sheet& s, const std::string& words, const YeeGrid& on,
                           const std::vector<Medium>& media = {Medium{}}) {
    refuse({s}, words, on, media);
  };
  Medium pec{.name = "metal", .pec = true}, kerr{.name = "kerr", .chi3 = 1e-18},
      magnet{.name = "ferrite", .mu = {2, 2, 2}};
  const double t = 1e-4, at = 2e-3;
  refused({.axis = 1, .position = at, .resistance_ohm = 5}, "resolved", line);
  refused({.position = 9e-3, .resistance_ohm = 5}, "outside", grid);
  refused({.position = NAN, .resistance_ohm = 5}, "outside", grid);
  refused({.position = at, .resistance_ohm = 0}, "positive resistance", grid);
  refused({.position = at, .medium = sheet_films()[0]}, "positive thickness", grid);
  refused({.position = at, .thickness_m = t, .medium = pec}, "conductor", grid);
  refused({.position = at, .thickness_m = t, .medium = kerr}, "nonlinear", grid);
  refused({.position = at, .thickness_m = t, .medium = magnet}, "magnetic", grid);
  refused({.position = at, .thickness_m = 3e-3, .medium = sheet_films()[0]}, "fill", grid);
  refused({.position = at, .thickness_m = t, .medium = sheet_films()[0]}, "lies in 'kerr'", grid,
          {kerr});
  // Two films of 0.9 of a cell at one place are 1.8 of it, of a half each they are all of it.
  const auto film = [&](double share) {
    return Sheet{.position = at, .thickness_m = share * kSheetCell, .medium = sheet_films()[0]};
  };
  refuse({film(0.9), film(0.9)}, "fill 1.8 times", grid, {Medium{}});
  EXPECT_NO_THROW(sheet_edges({film(0.5), film(0.5)}, grid, faces, SceneOrder(Scene{}), {Medium{}},
                              Averaging::kottke));
}

}  // namespace
}  // namespace tessera::electromagnetics
