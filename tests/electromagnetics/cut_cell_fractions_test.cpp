// SPDX-License-Identifier: Apache-2.0
//
// Conformal conductors: lengths and areas against exact ones, the limit on the time step against
// the largest eigenvalue of the whole operator, and resonances of round and of turned cavities
// against theirs.
#include "tessera/electromagnetics/cut_cell_fractions.h"

#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/harmonic_inversion.h"
#include "tessera/electromagnetics/time_domain.h"
#include "test_constants.h"
#include "yee_everything.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace tessera::electromagnetics {
namespace {

using std::numbers::pi;
constexpr Faces walls{Boundary::pec, Boundary::pec};
const std::vector<Medium> vacuum_pec{Medium{.name = "vacuum"}, Medium{.name = "pec", .pec = true}};

YeeGrid box_of(std::array<int, 3> n, double h, const Point& low) {
  YeeGrid grid;
  for (std::size_t d = 0; d < 3; ++d)
    for (int i = 0; i <= n[d]; ++i) grid.lines[d].push_back(low[d] + i * h);
  return grid;
}

/// All space but `hole` is metal.
Scene hole_in_metal(const Shape& hole) {
  return {.structures = {{hole, 0, 0, "hole"}}, .background = 1};
}
Scene metal_body(const Shape& body) {
  return {.structures = {{body, 1, 0, "body"}}, .background = 0};
}

TEST(CutCellFractions, LengthsAndAreasOfABallAreThoseOfItsSections) {
  const double h = 0.1, r = 0.43;
  const Point at{0.013, -0.021, 0.034};
  const YeeGrid grid = box_of({12, 12, 12}, h, {-0.6, -0.6, -0.6});
  const double small_step = 0.05 * stable_time_step(grid);  // enlarges next to nothing
  const CutCellFractions open = cut_cell_fractions(
      SceneOrder(metal_body(sphere(at, r))), vacuum_pec, grid, {walls, walls, walls}, small_step);
  double area = 0, largest_off = 0;  // of metal in the plane k = 6 (z = 0)
  for (int j = 0; j < 12; ++j)
    for (int i = 0; i < 12; ++i) {
      const bool within = std::hypot(grid.middle(0, i) - at[0], grid.middle(1, j) - at[1], at[2]) <
                          r - 2 * h;  // not listed
      area += (within ? 1 : 1 - open.fraction({Hz, i, j, 6})) * h * h;
      if (j == 0 || within) continue;
      const double y = grid.lines[1][static_cast<std::size_t>(j)] - at[1], z = -at[2],
                   half = std::sqrt(std::max(0.0, r * r - y * y - z * z));
      const double x0 = grid.lines[0][static_cast<std::size_t>(i)] - at[0];
      const double metal = std::max(0.0, std::min(half, x0 + h) - std::max(-half, x0)) / h;
      largest_off = std::max(largest_off, std::abs(open.fraction({Ex, i, j, 6}) - (1 - metal)));
    }
  EXPECT_LT(largest_off,
            1.1e-5);  // fractions snap to 0 and 1 within 1e-5; the surface is known to 1e-6
  EXPECT_NEAR(area, pi * (r * r - at[2] * at[2]),
              2e-3 * pi * r * r);  // chords over h/4: h^2/(16 * 12 R) inwards
  EXPECT_GT(open.cut_faces, 100);
  EXPECT_EQ(open.thin, 0);
}

// A plane across the axis cuts the tube in a ring, between two circles.
TEST(CutCellFractions, LengthsOfATorusAreThoseOfItsRings) {
  const double h = 0.1, ring = 0.37, tube = 0.13;
  const Point at{0.013, -0.021, 0.034};
  const YeeGrid grid = box_of({12, 12, 12}, h, {-0.6, -0.6, -0.6});
  const CutCellFractions open =
      cut_cell_fractions(SceneOrder(metal_body(torus(at, ring, tube))), vacuum_pec, grid,
                         {walls, walls, walls}, 0.05 * stable_time_step(grid));
  double largest_off = 0, length = 0;
  for (int k = 4; k <= 8; ++k)
    for (int j = 1; j < 12; ++j)
      for (int i = 0; i < 12; ++i) {
        const auto line = [&](std::size_t d, int n) {
          return grid.lines[d][static_cast<std::size_t>(n)] - at[d];
        };
        const double x = line(0, i), y = line(1, j), z = line(2, k);
        const auto within = [&](double radius) {  // length in a circle
          const double half = std::sqrt(std::max(0.0, radius * radius - y * y));
          return radius > 0 ? std::max(0.0, std::min(half, x + h) - std::max(-half, x)) : 0;
        };
        const double wide = std::sqrt(std::max(0.0, tube * tube - z * z));
        const double metal = (within(ring + wide) - within(ring - wide)) / h;
        length += metal;
        largest_off = std::max(largest_off, std::abs(open.fraction({Ex, i, j, k}) - (1 - metal)));
      }
  EXPECT_GT(length, 20);
  EXPECT_LT(largest_off, 2e-5);  // shares below 1e-5 are none
}

TEST(CutCellFractions, AlignedBodiesStayWhatTheyAre) {
  const YeeGrid grid = box_of({10, 10, 10}, 0.1, {0, 0, 0});
  const double dt = 0.99 * stable_time_step(grid);
  for (const Shape& body : {box({0.2, 0.3, 0.2}, {0.6, 0.7, 0.5}),
                            unite({box({0.1, 0.1, 0.1}, {0.8, 0.8, 0.8}),
                                   box({0.1, 0.1, 0.1}, {0.9, 0.5, 0.5})})}) {  // inner corners
    const Scene scene = metal_body(body);
    const CutCellFractions open =
        cut_cell_fractions(SceneOrder(scene), vacuum_pec, grid, {walls, walls, walls}, dt);
    EXPECT_EQ(open.cut_faces, 0);
    const YeeScheme conformal(yee_model(grid, {walls, walls, walls}, {}, dt, Dtype::f64, scene,
                                        vacuum_pec, Averaging::kottke, open));
    const YeeScheme staircase(
        yee_model(grid, {walls, walls, walls}, {}, dt, Dtype::f64, scene, vacuum_pec));
    for (int c = 0; c < 6; ++c)
      for (int k = 1; k < 10; ++k)
        for (int j = 1; j < 10; ++j)
          for (int i = 1; i < 10; ++i) {
            const Edge e{static_cast<std::uint8_t>(c), i, j, k};
            ASSERT_EQ(conformal.coefficient(e), staircase.coefficient(e))
                << name_of(c) << " " << i << " " << j << " " << k;
          }
  }
}

/// (c dt)^2 times the largest eigenvalue of the curl curl, by the power method on pairs of steps:
/// leapfrog from h = 0 makes e' = e - K e and h' = -(..), so one step with h reset gives (1 - K) e.
double largest_eigenvalue(const YeeScheme& s, int iterations) {
  std::vector<double> x = unknowns(s, 5);
  std::vector<std::uint8_t> electric(x.size(), 0);
  const std::int64_t h0 =
      s.offset({Hx, 0, 0, 0}) - (s.offset({Ey, 0, 0, 0}) - s.offset({Ex, 0, 0, 0})) / 2;
  double value = 0;
  for (int n = 0; n < iterations; ++n) {
    for (std::size_t i = static_cast<std::size_t>(h0); i < x.size(); ++i) x[i] = 0;
    const double before = std::sqrt(dot(x, x));
    for (double& v : x) v /= before;
    std::vector<double> y = x;
    s.advance(y.data(), 1, nullptr, nullptr, nullptr, nullptr);
    for (std::size_t i = 0; i < static_cast<std::size_t>(h0); ++i) y[i] = x[i] - y[i];
    for (std::size_t i = static_cast<std::size_t>(h0); i < y.size(); ++i) y[i] = 0;
    value = std::sqrt(dot(y, y));
    x = std::move(y);
  }
  return value;
}

TEST(CutCellFractions, NoBodyNeedsAShorterTimeStep) {
  // Turned boxes and balls of all sizes, and sheets on and off the lines, turned and round, in a
  // closed cavity of uneven cells.
  YeeGrid grid;
  for (std::size_t d = 0; d < 3; ++d) {
    grid.lines[d] = {0};
    for (int i = 0; i < 11; ++i)
      grid.lines[d].push_back(grid.lines[d].back() +
                              0.1 * (1 + 0.2 * std::sin(1.3 * i + static_cast<double>(d))));
  }
  for (const double courant : {0.5, 0.95, 1.0})
    for (int n = 0; n < 12; ++n) {
      const Point at{0.55 + 0.03 * n, 0.52 - 0.02 * n, 0.57};
      const double level = n % 3 == 0 ? grid.lines[2][5] : at[2];
      const Shape sheet =
          n == 11
              ? cylinder({at[0], at[1], level}, 0.31, 1e-4)
              : rotate(box({at[0] - 0.27, at[1] - 0.2, level}, {at[0] + 0.25, at[1] + 0.2, level}),
                       rotation_about({0, 0, 1}, n < 9 ? 0.0 : 0.3 * n), {at[0], at[1], level});
      const Shape body = n >= 6  ? sheet
                         : n % 2 ? sphere(at, 0.2 + 0.03 * n)
                                 : rotate(box({at[0] - 0.25, at[1] - 0.2, at[2] - 0.17},
                                              {at[0] + 0.25, at[1] + 0.2, at[2] + 0.17}),
                                          rotation_about({1, 0.3 * n, 2}, 0.4 + n), at);
      const double dt = courant * stable_time_step(grid);
      const Scene scene = metal_body(body);
      const CutCellFractions open =
          cut_cell_fractions(SceneOrder(scene), vacuum_pec, grid, {walls, walls, walls}, dt);
      if (n < 6) {
        ASSERT_GT(open.cut_faces, 50);
        EXPECT_GT(open.enlarged, 0);
      }
      const YeeScheme s(yee_model(grid, {walls, walls, walls}, {}, dt, Dtype::f64, scene,
                                  vacuum_pec, Averaging::kottke, open));
      EXPECT_LT(largest_eigenvalue(s, 300), 4 * (1 + 1e-12))
          << "courant " << courant << ", body " << n;
      CutCellFractions natural = open;  // without the limit the test would see it
      for (CutCellFraction& p : natural.fractions)
        if (!is_electric(p.edge.component) && p.fraction > 0)
          p.share = std::min(p.share, open.least_area);
      if (courant == 0.95 && n == 0) {
        const YeeScheme bad(yee_model(grid, {walls, walls, walls}, {}, dt, Dtype::f64, scene,
                                      vacuum_pec, Averaging::kottke, natural));
        EXPECT_GT(largest_eigenvalue(bad, 300), 4);
      }
    }
}

TEST(CutCellFractions, AClosedCavityKeepsItsEnergy) {
  const YeeGrid grid = box_of({14, 13, 12}, 0.1, {0, 0, 0});
  const double dt = 0.95 * stable_time_step(grid);
  const Scene scene = metal_body(rotate(box({0.4, 0.4, 0.4}, {0.9, 0.8, 0.77}),
                                        rotation_about({1, 2, 3}, 0.6), {0.65, 0.6, 0.6}));
  const CutCellFractions open =
      cut_cell_fractions(SceneOrder(scene), vacuum_pec, grid, {walls, walls, walls}, dt);
  YeeScheme s(yee_model(grid, {walls, walls, walls}, {}, dt, Dtype::f64, scene, vacuum_pec,
                        Averaging::kottke, open));
  std::vector<double> x = unknowns(s, 1);
  // What leapfrog conserves: e . e/cb + h . h'/ch with h at both sides of e; the cheap energy
  // swings about it but cannot grow.
  const auto energy = [&] {
    double sum = 0;
    for (int k = 0; k <= 12; ++k)
      for (int j = 0; j <= 13; ++j) sum += s.row_energy(x.data(), j, k);
    return sum;
  };
  double early = 0, late = 0;
  for (int n = 0; n < 60; ++n) {
    s.advance(x.data(), 100, nullptr, nullptr, nullptr, nullptr);
    (n < 10 ? early : late) = std::max(n < 10 ? early : late, energy());
  }
  EXPECT_LT(late, 1.5 * early);
  EXPECT_GT(late, early / 1.5);
}

TEST(CutCellFractions, TransposeIsTheAdjoint) {
  YeeModel m = model_with_everything({pec, pmc, pml});
  m.open.conformal = true;
  for (int c = 0; c < 6; ++c)
    for (int k = 2; k < 9; ++k)
      for (int i = 2; i < 10; ++i)
        m.open.fractions.push_back(
            {{static_cast<std::uint8_t>(c), i, 5, k},
             is_electric(c) ? 0.1 * ((i + 3 * k + c) % 10) : 0.7 + 0.02 * i});
  const YeeScheme s(m);
  const std::int64_t steps = 25;
  const std::size_t ni = s.n_injected() * steps, nr = s.n_recorded() * steps,
                    nt = s.n_traced() * steps;
  const std::vector<double> x = unknowns(s, 1), w = noise(ni, 2), ly = unknowns(s, 3),
                            lr = noise(nr, 4), lu = noise(nt, 5);
  std::vector<double> y = x, r(nr), u(nt);
  s.advance(y.data(), steps, w.data(), r.data(), u.data(), nullptr);
  const std::vector<std::uint8_t> mask = s.unknowns();
  for (std::size_t i = 0; i < y.size(); ++i) y[i] *= mask[i];
  std::vector<double> lx = ly, lw(ni), g(nt);
  s.advance_transposed(lx.data(), steps, lr.data(), lu.data(), lw.data(), g.data(), nullptr);
  const double left = dot(y, ly) + dot(r, lr) + dot(u, lu), right = dot(x, lx) + dot(w, lw);
  const double scale =
      std::sqrt((dot(y, y) + dot(r, r) + dot(u, u)) * (dot(ly, ly) + dot(lr, lr) + dot(lu, lu)));
  EXPECT_LE(std::abs(left - right), 1e-13 * scale);
  EXPECT_GT(std::abs(left), 1e-6 * scale);
  EXPECT_EQ(s.coefficient({Ex, 4, 5, 2}), 0);  // fraction 0: 4 + 6 + 0
  EXPECT_NEAR(s.field_scale({Ey, 5, 5, 2}) * s.reference_length(), 0.2 * m.grid.length(1, 5),
              1e-18);
}

TEST(CutCellFractions, MetalThinnerThanACellIsPutOnTheNearestLine) {
  // A plate of 0.4 cells between the planes k = 5 and 6, nearer to 5, through the whole box: put
  // there, and nothing comes through it.
  const YeeGrid grid = box_of({8, 8, 12}, 0.1, {0, 0, 0});
  const double dt = 0.9 * stable_time_step(grid);
  const Scene scene = metal_body(box({-1, -1, 0.52}, {2, 2, 0.56}));
  const std::array<Faces, 3> faces{walls, walls, walls};
  const CutCellFractions open = cut_cell_fractions(SceneOrder(scene), vacuum_pec, grid, faces, dt);
  EXPECT_GT(open.thin, 0);
  EXPECT_EQ(open.fraction({Ex, 3, 3, 5}), 0);
  EXPECT_EQ(open.fraction({Ex, 3, 3, 6}), 1);
  EXPECT_EQ(open.fraction({Ez, 3, 3, 5}), 1);
  EXPECT_EQ(open.fraction({Hx, 3, 3, 5}), 1);
  ASSERT_EQ(open.thin_metal.size(), 1U);
  EXPECT_EQ(open.thin_metal[0].structure, 0U);
  EXPECT_NEAR(open.thin_metal[0].shift_m, 0.04, 1e-9);
  EXPECT_EQ(open.thin_metal[0].closed, 0);
  TimeDomain run(
      yee_model(grid, faces, {}, dt, Dtype::f64, scene, vacuum_pec, Averaging::kottke, open),
      {current_source(grid, faces, dt, Ez, {0.4, 0.4, 0.25}, {0.4, 0.4, 0.25}, 1,
                      gaussian_pulse(2e9, 2e9))},
      {});
  run.advance(400);
  EXPECT_NE(run.unknown({Ez, 4, 4, 3}), 0);
  EXPECT_EQ(run.unknown({Ez, 4, 4, 8}), 0);
}

TEST(CutCellFractions, ACoatIsAveragedOverTheOpenPart) {
  // A capacitor of 1-D: metal up to 0.37 cells above a line, a coat of eps 4 up to 0.77, vacuum
  // above. The edge across has the series of what is open, 1/eps = (0.4/4 + 0.23)/0.63, and the
  // length of 0.63 cells.
  const YeeGrid grid = box_of({6, 6, 6}, 0.1, {0, 0, 0});
  const double dt = 0.5 * stable_time_step(grid);
  std::vector<Medium> all = vacuum_pec;
  all.push_back({.name = "coat", .eps = {4, 4, 4}});
  const Scene scene{.structures = {{half_space({0, 0, 0.277}, {0, 0, 1}), 2, 0, "coat"},
                                   {half_space({0, 0, 0.237}, {0, 0, 1}), 1, 1, "metal"}},
                    .background = 0};
  const std::array<Faces, 3> faces{walls, walls, walls};
  const YeeScheme s(yee_model(grid, faces, {}, dt, Dtype::f64, scene, all, Averaging::kottke,
                              cut_cell_fractions(SceneOrder(scene), all, grid, faces, dt)));
  const double cdt = speed_of_light * dt / 0.1;
  EXPECT_NEAR(s.coefficient({Ez, 3, 3, 2}) / cdt, 0.63 * (0.4 / 4 + 0.23) / 0.63, 2e-6);
  EXPECT_NEAR(s.coefficient({Hx, 3, 3, 2}) / cdt, 1 / 0.63, 1e-5);
  EXPECT_EQ(s.coefficient({Ez, 3, 3, 1}), 0);
}

/// The resonance of a cavity that is nearest to `guess`, from its ringing at `at`.
double ring(const Scene& scene, const std::vector<Medium>& media, const YeeGrid& grid,
            const std::array<Faces, 3>& faces, double dt, int component, const Point& at,
            double guess, bool conformal) {
  const auto open = std::make_shared<CutCellFractions>(
      conformal ? cut_cell_fractions(SceneOrder(scene), media, grid, faces, dt)
                : CutCellFractions{});
  YeeModel model =
      yee_model(grid, faces, {}, dt, Dtype::f64, scene, media, Averaging::kottke, *open);
  const bool ez = component == Ez;
  if (!grid.resolved(2)) model.active = {!ez, !ez, ez, ez, ez, !ez};
  SampleList samples(grid, faces, model.active, open);
  samples.add(component, at);
  TimeDomain run(
      std::move(model),
      {current_source(grid, faces, dt, component, at, at, 1, gaussian_pulse(guess, 0.5 * guess))},
      samples.edges());
  run.advance(static_cast<std::int64_t>(run.sources_end_s() / dt) + 1);
  std::vector<double> signal;
  run.advance(static_cast<std::int64_t>(25 / guess / dt), [&](const Records& r) {
    for (std::int64_t s = 0; s < r.n_steps; ++s)
      signal.push_back(samples.value(0, r.step(s).data()));
  });
  double best = 0;
  for (const Mode& m :
       harmonic_inversion(std::span<const double>(signal), dt, 0.8 * guess, 1.2 * guess))
    if (std::abs(m.frequency_hz - guess) < std::abs(best - guess)) best = m.frequency_hz;
  return best;
}

TEST(CutCellFractions, RoundCavitiesConvergeAtSecondOrder) {
  // A circle of radius 1 m: TM01 (Ez) at j01 = 2.404825557695773, TE11 (Hz) at j'11
  // = 1.841183781340659 over 2 pi r/c.
  const std::array<Faces, 3> flat{walls, walls, joined};
  const auto rms = [](const std::vector<double>& v) {
    return std::sqrt(dot(v, v) / static_cast<double>(v.size()));
  };
  for (const auto& [component, zero] :
       {std::pair{Ez, 2.404825557695773}, std::pair{Hz, 1.841183781340659}}) {
    const double exact = zero * speed_of_light / (2 * pi);
    std::vector<double> rough, fine, stairs;
    for (const auto& [cells, errors] : {std::pair{12, &rough}, std::pair{36, &fine}})
      for (int shift = 0; shift < 3; ++shift) {  // of the circle in its cells
        const double h = 2.0 / cells;
        const Point at{(0.11 + 0.23 * shift) * h, (0.37 - 0.17 * shift) * h, 0};
        const YeeGrid grid = box_of({cells + 3, cells + 3, 1}, h, {-1 - h, -1 - h, 0});
        const double dt = 0.5 * stable_time_step(grid);
        const Scene scene = hole_in_metal(cylinder(at, 1, INFINITY));
        const Point probe{at[0] + 0.31, at[1] + 0.12, h / 2};
        errors->push_back(
            ring(scene, vacuum_pec, grid, flat, dt, component, probe, exact, true) / exact - 1);
        if (cells == 36)
          stairs.push_back(
              ring(scene, vacuum_pec, grid, flat, dt, component, probe, exact, false) / exact - 1);
      }
    const double order = std::log(rms(rough) / rms(fine)) / std::log(3);
    EXPECT_GT(order, 1.7);
    EXPECT_LT(rms(fine), rms(stairs) / 4);
  }
}

TEST(CutCellFractions, ATurnedBoxRingsAsAStraightOne) {
  // 1 x 0.8 m, turned by 27 degrees: Ez at (c/2) sqrt(1/a^2 + 1/b^2), Hz at c/(2a).
  const double h = 1.0 / 24, exact_e = speed_of_light / 2 * std::hypot(1, 1 / 0.8),
               exact_h = speed_of_light / 2;
  const YeeGrid grid = box_of({34, 32, 1}, h, {-17 * h, -16 * h, 0});
  const double dt = 0.5 * stable_time_step(grid);
  const Scene scene =
      hole_in_metal(rotate(box({-0.5, -0.4, -9}, {0.5, 0.4, 9}), rotation_about({0, 0, 1}, 0.47)));
  // Half of the error is the grid's own, (k h)^2/24.
  EXPECT_NEAR(ring(scene, vacuum_pec, grid, {walls, walls, joined}, dt, Ez, {0.11, 0.08, h / 2},
                   exact_e, true) /
                  exact_e,
              1, 2.5e-3);
  EXPECT_NEAR(ring(scene, vacuum_pec, grid, {walls, walls, joined}, dt, Hz, {0.21, 0.08, h / 2},
                   exact_h, true) /
                  exact_h,
              1, 2.5e-3);
}

TEST(CutCellFractions, AFilledCylinderRings) {
  // TE111 of a cylinder of radius 2.74 cm, twice as long, filled with eps 2.08: (c/(2 pi
  // sqrt(eps))) sqrt((1.841183781340659/a)^2 + (pi/d)^2) = 2.922197 GHz. A quarter of it, between
  // mirrors.
  const double a = 2.74e-2, h = a / 20;
  const double exact =
      speed_of_light / (2 * pi * std::sqrt(2.08)) * std::hypot(1.841183781340659 / a, pi / (2 * a));
  const YeeGrid grid = box_of({22, 22, 40}, h, {0, 0, 0});
  const std::array<Faces, 3> faces{Faces{Boundary::pmc, Boundary::pec}, walls, walls};
  std::vector<Medium> all = vacuum_pec;
  all.push_back({.name = "filling", .eps = {2.08, 2.08, 2.08}});
  const Scene scene{.structures = {{cylinder({0, 0, a}, a, INFINITY), 2, 0, "hole"}},
                    .background = 1};
  const double dt = 0.6 * stable_time_step(grid);  // media that the scene does not show count, too
  EXPECT_NEAR(exact, 2.922197e9, 1e3);
  EXPECT_NEAR(ring(scene, all, grid, faces, dt, Ey, {0, 2.5 * h, a}, exact, true) / exact, 1,
              1.5e-3);
}

/// What one polarization of a cell in the plane needs is not taken of the other: as a post grows,
/// no share jumps on its way between lines of the grid.
TEST(CutCellFractions, EnlargedFacesOfThePlaneDoNotJump) {
  const double h = 1e-3;
  const YeeGrid grid = uniform_grid({12 * h, 12 * h, 0}, h);
  const std::array<Faces, 3> faces{walls, walls, Faces{Boundary::periodic, Boundary::periodic}};
  const double dt = 0.95 * stable_time_step(grid);
  const auto grown = [&](double r) {
    return cut_cell_fractions(
        SceneOrder(metal_body(cylinder({0.13 * h, 0.21 * h, 0}, r * h, INFINITY))), vacuum_pec,
        grid, faces, dt);
  };
  CutCellFractions before = grown(2.69);
  for (int step = 1; step <= 20; ++step) {
    const CutCellFractions now = grown(2.69 + 1e-3 * step);
    for (const CutCellFraction& p : now.fractions)
      EXPECT_NEAR(p.share, before.share(p.edge), 1e-2)
          << step << " " << p.edge.i << " " << p.edge.j;
    before = now;
  }
}

/// Between joined faces fields at the two edges of one cell differ by a phase, whatever it is: its
/// faces keep the areas that they have with two cells, with which nothing grows.
TEST(CutCellFractions, OneCellBetweenJoinedFacesHasTheAreasOfTwo) {
  const double h = 1e-3;
  const Scene posts{.structures = {{cylinder({2.2 * h, -2.6 * h, 0}, 4.7 * h, INFINITY), 1},
                                   {cylinder({-6.3 * h, 4.6 * h, 0}, 3.47 * h, INFINITY), 1}}};
  const std::array<Faces, 3> faces{walls, walls, joined};
  const auto grid_of = [&](int cells) {
    YeeGrid grid = box_of({30, 30, cells}, h, {-15 * h, -15 * h, 0});
    grid.one_cell_period[2] = cells == 1;
    return grid;
  };
  const auto open_of = [&](int cells) {
    const YeeGrid grid = grid_of(cells);
    return cut_cell_fractions(SceneOrder(posts), vacuum_pec, grid, faces,
                              0.95 * stable_time_step(grid));
  };
  const CutCellFractions one = open_of(1), two = open_of(2);
  EXPECT_GT(one.enlarged, 0);
  for (const CutCellFraction& p : one.fractions) {
    ASSERT_EQ(p.edge.k, 0);
    EXPECT_NEAR(p.share, two.share(p.edge), 1e-9)  // the search for the limit ends at 1e-13
        << name_of(p.edge.component) << " " << p.edge.i << " " << p.edge.j;
  }
  const YeeGrid grid = grid_of(1);
  const double dt = 0.95 * stable_time_step(grid);
  YeeModel model =
      yee_model(grid, faces, {}, dt, Dtype::f64, posts, vacuum_pec, Averaging::kottke, one);
  model.bloch_phase = {0, 0, pi};
  SampleList samples(grid, faces);
  samples.add(Ex, {-6 * h, -6 * h, 0});
  TimeDomain run(std::move(model),
                 {current_source(grid, faces, dt, Ex, {-2.2 * h, -4 * h, 0}, {-2.2 * h, -4 * h, 0},
                                 1.0, gaussian_pulse(15e9, 14e9))},
                 samples.edges());
  double largest = 0, at_last = 0;
  run.advance(1000, [&](const Records& r) {
    for (std::int64_t s = 0; s < r.n_steps; ++s)
      largest = std::max(largest, std::abs(samples.value(0, r.step(s).data())));
  });
  run.advance(4000, [&](const Records& r) {
    for (std::int64_t s = 0; s < r.n_steps; ++s)
      at_last = std::max(at_last, std::abs(samples.value(0, r.step(s).data())));
  });
  EXPECT_GT(largest, 0);
  EXPECT_LT(at_last, 3 * largest);  // it rings on, without losses
}

/// A magnetic medium is in all of its faces that metal leaves open in part.
TEST(CutCellFractions, FacesOpenInPartHoldTheMagneticMedium) {
  std::vector<Medium> media = vacuum_pec;
  media[0].mu = {4, 4, 4};
  const YeeGrid grid = box_of({10, 10, 10}, 0.1, {-0.5, -0.5, -0.5});
  const SceneOrder scene(metal_body(sphere({0, 0, 0}, 0.26)));
  const CutCellFractions open =
      cut_cell_fractions(scene, media, grid, {}, 0.95 * stable_time_step(grid));
  for (const CutCellFraction& f : open.fractions)
    for (const Averaging averaging : {Averaging::none, Averaging::kottke})
      if (!is_electric(f.edge.component) && f.fraction > 0) {
        EXPECT_DOUBLE_EQ(face_material(scene, media, grid, f.edge, averaging).inverse_mu, 0.25);
      }
}

/// Where a sheet ends within an edge is known to the tolerance of surfaces.
TEST(CutCellFractions, EndsOfSheetsAreWhereTheyAre) {
  const double h = 1e-3;
  const YeeGrid grid = uniform_grid({10 * h, 8 * h, 8 * h}, h);
  for (const double end : {0.02, 0.3, 0.505, 0.731, 0.999}) {
    const Scene scene = metal_body(box({-INFINITY, -INFINITY, 0}, {end * h, INFINITY, 0}));
    const CutCellFractions open =
        cut_cell_fractions(SceneOrder(scene), vacuum_pec, grid, {}, 0.95 * stable_time_step(grid));
    EXPECT_NEAR(open.fraction({Ex, 5, 4, 4}), 1 - end, 2e-6) << end;
  }
}

}  // namespace
}  // namespace tessera::electromagnetics
