// SPDX-License-Identifier: Apache-2.0
//
// Where thin metal ends: strips anywhere between lines, down to one cell wide, against the exact
// impedance of the strip between two grounds (conformal mapping); a septum's resonance against that
// of a fine grid, as its end moves; a square plate that is turned within its plane.
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/cut_cell_fractions.h"
#include "tessera/electromagnetics/harmonic_inversion.h"
#include "tessera/electromagnetics/line_impedance.h"
#include "tessera/electromagnetics/medium.h"
#include "tessera/electromagnetics/time_domain.h"
#include "tessera/solvers/eigenpairs.h"
#include "yee_everything.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

namespace tessera::electromagnetics {
namespace {

using std::numbers::pi;
constexpr Faces shut{Boundary::pec, Boundary::pec},
    repeated{Boundary::periodic, Boundary::periodic};

std::vector<Medium> dielectric_and_metal(double eps) {
  std::vector<Medium> m(2);
  m[0].eps.fill(eps), m[1].pec = true;
  return m;
}

/// Of a strip of width w midway between grounds at distance b: 30 pi K(k)/K(k') / sqrt(eps), k =
/// sech(pi w / 2b) (S. B. Cohn, IRE Trans. Microw. Theory Tech. 2 (1954) 52).
double stripline(double w, double b, double eps) {
  const double k = 1 / std::cosh(pi * w / (2 * b));
  return vacuum_impedance / 4 / std::sqrt(eps) * std::comp_ellint_1(k) /
         std::comp_ellint_1(std::sqrt(1 - k * k));
}

TEST(Rims, StripsAnywhereBetweenLinesHaveTheirImpedance) {
  if (!solvers::slepc_available()) GTEST_SKIP() << "SLEPc is not there";
  const double b = 2e-3, eps = 2.2;
  for (const int cells : {1, 2, 3, 5})
    for (const double off : {0.0, 0.3, 0.5, 0.9})  // of the strip from the lines, in cells
      for (const double level : {0.0, 0.2}) {      // of the strip from its line: it is moved there
        const double w = 0.6e-3, cell = w / cells;
        const int half = static_cast<int>(std::lround(b / 2 / 0.1e-3)),
                  wide = static_cast<int>(std::ceil((w / 2 + 1.5 * b) / cell));
        YeeGrid grid;
        for (int i = -wide; i <= wide; ++i)
          grid.lines[0].push_back((i + (cells % 2) * 0.5 + off) * cell);
        for (int i = -half; i <= half; ++i) grid.lines[1].push_back(i * b / 2 / half);
        for (int i = 0; i <= 4; ++i) grid.lines[2].push_back(i * cell);
        Scene scene;
        const double at = level * b / 2 / half;
        scene.structures = {{box({-w / 2, at, -INFINITY}, {w / 2, at, INFINITY}), 1}};
        const std::array<Faces, 3> faces{shut, shut, repeated};
        const double dt = 0.95 * stable_time_step(grid);
        const auto media = dielectric_and_metal(eps);
        const YeeModel m =
            yee_model(grid, faces, {}, dt, Dtype::f64, scene, media, Averaging::kottke,
                      cut_cell_fractions(SceneOrder(scene), media, grid, faces, dt));
        const ModePlane plane{2, 2};
        const GridModes modes = grid_modes(m, plane, {.frequency_hz = 1e9});
        const auto conductors = guide_conductors(m, plane, modes);
        ASSERT_EQ(conductors.size(), 1u);
        const double z = line_impedance(modes, modes.modes[0], conductors).real(),
                     wanted = stripline(w, b, eps);
        EXPECT_NEAR(z / wanted, 1, cells == 1 ? 0.025 : 0.006)
            << cells << " cells, off by " << off << ", level " << level;
        EXPECT_NEAR(modes.modes[0].index.real() / std::sqrt(eps), 1, 0.003)
            << cells << " cells, off by " << off << ", level " << level;
      }
}

/// Hz of the lowest resonance above `low`, of a closed domain with metal in it.
double lowest(const YeeGrid& grid, const Shape& metal, int component, const Point& from,
              const Point& to, double low, double high, double courant) {
  const bool flat = !grid.resolved(2);
  const std::array<Faces, 3> faces{shut, shut, flat ? repeated : shut};
  const double dt = courant * stable_time_step(grid);
  const auto media = dielectric_and_metal(1);
  const Scene scene{.structures = {{metal, 1, 0, "metal"}}};
  YeeModel m = yee_model(grid, faces, {}, dt, Dtype::f64, scene, media, Averaging::kottke,
                         cut_cell_fractions(SceneOrder(scene), media, grid, faces, dt));
  if (flat)
    m.active = component == Ez ? std::array{false, false, true, true, true, false}
                               : std::array{true, true, false, false, false, true};
  const auto close_to = [&](const Point& p) {
    Edge e{static_cast<std::uint8_t>(component), 0, 0, 0};
    int* const at[3] = {&e.i, &e.j, &e.k};
    for (int d = 0; d < 3; ++d)
      while (grid.resolved(d) && *at[d] + 1 < grid.cells(d) &&
             grid.lines[static_cast<std::size_t>(d)][static_cast<std::size_t>(*at[d] + 1)] <=
                 p[static_cast<std::size_t>(d)])
        ++*at[d];
    return e;
  };
  const double middle = (low + high) / 2;
  TimeDomain run(std::move(m),
                 {current_source(grid, faces, dt, component, from, from, 1,
                                 gaussian_pulse(middle, high - low))},
                 {close_to(to)});
  std::vector<double> signal;
  const auto quiet = static_cast<std::int64_t>(run.sources_end_s() / dt) + 1,
             steps = quiet + static_cast<std::int64_t>(40 / middle / dt);
  run.advance(steps, [&](const Records& r) {
    for (std::int64_t n = 0; n < r.n_steps; ++n) signal.push_back(r.step(n)[0]);
  });
  signal.erase(signal.begin(), signal.begin() + quiet);
  double found = INFINITY;
  for (const Mode& x : harmonic_inversion(signal, dt, low, high))
    if (x.error_hz < 1e-4 * x.frequency_hz) found = std::min(found, x.frequency_hz);
  return found;
}

YeeGrid square_grid(int cells, double size) {
  YeeGrid grid;
  for (int i = 0; i <= cells; ++i) {
    grid.lines[0].push_back((i - cells / 2) * size / cells);
    grid.lines[1].push_back((i - cells / 2) * size / cells);
  }
  grid.lines[2] = {-0.5 * size, 0.5 * size};
  return grid;
}

TEST(Rims, ASeptumsEndMovesItsResonanceEvenly) {
  // Half way across a box of 0.2 m; lowest resonance against one of cells a quarter as long.
  const double size = 0.2, cell = 0.01;
  for (const auto& [component, low, high] :
       {std::tuple(Hz, 0.25e9, 0.85e9), std::tuple(Ez, 1.0e9, 1.7e9)})
    for (const double courant : {0.95, 0.475}) {
      const auto with_end_at = [&](int cells, double x) {
        return lowest(square_grid(cells, size), box({-1, 0, -1}, {x, 0, 1}), component,
                      {0.063, -0.042, 0}, {0.034, 0.055, 0}, low, high, courant);
      };
      const double first = with_end_at(20, 0), last = with_end_at(20, cell);
      EXPECT_NEAR(first / with_end_at(80, 0), 1, 2e-3) << name_of(component) << " " << courant;
      for (const double part : {0.2, 0.5, 0.7, 0.9, 0.99})
        EXPECT_NEAR((with_end_at(20, part * cell) - first) / (last - first), part,
                    courant < 0.5 ? 0.03 : 0.2)
            << name_of(component) << " " << courant << " " << part;
    }
}

TEST(Rims, ATurnedPlateRingsAsAFineGridSays) {
  // A square plate of 10 cells, at half the height of a box of 20 x 20 x 10 cells, turned about its
  // centre, which lies off the lines; beside cells a third as long.
  const Shape plate = box({-0.05, -0.05, 0}, {0.05, 0.05, 0});
  for (const double angle : {0.0, pi / 12, pi / 6, pi / 4}) {
    const auto ring = [&](int cells) {
      YeeGrid grid = square_grid(cells, 0.2);
      grid.lines[2].clear();
      for (int i = 0; i <= cells / 2; ++i) grid.lines[2].push_back((i - cells / 4) * 0.2 / cells);
      const Shape turned =
          translate(rotate(plate, rotation_about({0, 0, 1}, angle)), {0.0037, -0.0021, 0});
      return lowest(grid, turned, Ez, {0.034, 0.012, 0.021}, {-0.041, -0.023, 0.021}, 0.4e9, 1.9e9,
                    0.95);
    };
    // Straight rims are exact for the field that rises there; where they run across the grid the
    // cells that they cut are known by parts of edges alone.
    EXPECT_NEAR(ring(20) / ring(60), 1, angle == 0 ? 0.003 : 0.023) << angle;
  }
}

/// Half of a symmetric scene has the shares of the whole: rims near a mirror are near to their
/// images.
TEST(Rims, AMirrorHasTheirImages) {
  constexpr int half = 8;
  constexpr double inf = INFINITY;
  const std::vector<std::pair<const char*, std::vector<Shape>>> scenes{
      {"slot of two cells", {box({-6, 0, -inf}, {-1, 0, inf}), box({1, 0, -inf}, {6, 0, inf})}},
      {"slot off the lines",
       {box({-6, 0, -inf}, {-1.4, 0, inf}), box({1.4, 0, -inf}, {6, 0, inf})}},
      {"two sheets along it", {box({-1, -4, -inf}, {-1, 4, inf}), box({1, -4, -inf}, {1, 4, inf})}},
      {"strip within two cells", {box({-0.6, 0, -inf}, {0.6, 0, inf})}},
      {"sheet across it", {box({-3, 0, -inf}, {3, 0, inf})}},
      {"plate across it", {box({-3, 0, -2.3}, {3, 0, 1.7})}},
      {"two plates", {box({-5, 0, -2}, {-1, 0, 2}), box({1, 0, -2}, {5, 0, 2})}},
      {"sheet in it", {box({0, -3, -inf}, {0, 3, inf})}}};
  for (const auto& [name, sheets] : scenes)
    for (const Boundary mirror : {Boundary::pmc, Boundary::pec})
      for (const bool low : {true, false}) {
        // In a conducting mirror a sheet is a part of it.
        if (mirror == Boundary::pec && std::string(name) == "sheet in it") continue;
        Scene scene;
        for (const Shape& s : sheets) scene.structures.push_back({s, 1});
        const bool flat = sheets[0].bounds().high[2] == inf;
        const YeeGrid whole = uniform_grid({2 * half, 12, flat ? 0.0 : 10.0}, 1);
        YeeGrid part = whole;
        std::vector<double>& x = part.lines[0];
        x = low ? std::vector(x.begin() + half, x.end()) : std::vector(x.begin(), x.end() - half);
        const double dt = 0.9 * stable_time_step(whole);
        const auto media = dielectric_and_metal(1);
        const auto open_of = [&](const YeeGrid& grid, const Faces& of_x,
                                 const SymmetryFaces& symmetry) {
          const Faces open{Boundary::pml, Boundary::pml};
          return cut_cell_fractions(SceneOrder(scene), media, grid,
                                    {of_x, open, flat ? repeated : open}, dt,
                                    {.symmetry = symmetry});
        };
        const CutCellFractions all = open_of(whole, {Boundary::pml, Boundary::pml}, {}),
                               cut = open_of(part,
                                             low ? Faces{mirror, Boundary::pml}
                                                 : Faces{Boundary::pml, mirror},
                                             {{{low, !low}, {}, {}}});
        double largest = 0;
        for (int c = 0; c < 6; ++c)
          for (int k = 0; k < whole.cells(2); ++k)
            for (int j = 0; j < 12; ++j)
              for (int i = 0; i <= half - int{at_middle(c, 0)}; ++i) {
                if (mirror == Boundary::pec && !at_middle(c, 0) && i == (low ? 0 : half)) continue;
                const Edge here{static_cast<std::uint8_t>(c), i, j, k},
                    there{static_cast<std::uint8_t>(c), low ? i + half : i, j, k};
                ASSERT_EQ(cut.fraction(here), all.fraction(there)) << name;
                ASSERT_NEAR(cut.share(here), all.share(there), 1e-12)
                    << name << (mirror == Boundary::pec ? ", pec, " : ", pmc, ") << name_of(c)
                    << " " << i << " " << j << " " << k << (low ? "" : " of the low half");
                largest = std::max(largest, std::abs(all.share(there) - all.fraction(there)));
              }
        EXPECT_GT(largest, 0.01) << name;
      }
}

}  // namespace
}  // namespace tessera::electromagnetics
