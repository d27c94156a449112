// SPDX-License-Identifier: Apache-2.0
//
// Voltage and current of a line through planes across it: their power is the same everywhere, and
// what a load takes.
#include "tessera/electromagnetics/line_reading.h"

#include "guides.h"
#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/constants.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <utility>
#include <vector>

namespace tessera::electromagnetics {
namespace {

using C = std::complex<double>;
using namespace guides;

/// A square coaxial line along y, closed at both ends: a rod of 2 x 2 cells in a hole of 8 x 6.
struct Coax {
  YeeGrid grid{.lines = {even(8, 1e-3), even(40, 2e-3), even(6, 1e-3)}};
  std::array<Faces, 3> faces{walls, walls, walls};
  double dt_s = 0.95 * stable_time_step(grid);
  bool metal(const Edge& e) const {
    const auto between = [](int i, int low, int high) { return i >= low && i <= high; };
    return is_electric(e.component) && between(e.i, 3, e.component == Ex ? 4 : 5) &&
           between(e.k, 2, e.component == Ez ? 3 : 4) &&
           between(e.j, 4, e.component == Ey ? 35 : 36);
  }
};

// Between a driven element and a load on a closed line without loss power is the same everywhere.
TEST(LineReading, TellsThePowerOfALine) {
  const Coax coax;
  const auto metal = [&](const Edge& e) { return coax.metal(e); };
  const auto across = [](double y, const Circuit& c) {
    return LumpedElement{c, 2, {3e-3, y, 4e-3}, {5e-3, y, 6e-3}};
  };
  const PlacedElement drive = place(across(8e-3, {.resistance_ohm = 50}), coax.grid, coax.faces, {},
                                    metal),
                      load = place(across(72e-3, {.resistance_ohm = 20, .inductance_h = 2e-10}),
                                   coax.grid, coax.faces, {}, metal);
  EXPECT_EQ(drive.edges.size(), 6u);
  const LineReading up = line_reading(across(36e-3, {}), 1, coax.grid, coax.faces, {}, metal);
  // The other way round, from the ceiling down: the same wave.
  const LumpedElement left{{}, 0, {0, 42e-3, 3e-3}, {3e-3, 42e-3, 3e-3}};
  const LineReading beside = line_reading(left, 1, coax.grid, coax.faces, {}, metal);
  YeeModel m{
      .grid = coax.grid, .faces = coax.faces, .pml = {}, .dt_s = coax.dt_s, .dtype = Dtype::f64};
  m.material = [&](int c, int j, int k, MaterialRow& row) {
    for (int i = 0; i < 9; ++i)
      if (coax.metal({static_cast<std::uint8_t>(c), i, j, k}))
        row.inverse[static_cast<std::size_t>(i)] = 0;
  };
  add_elements(m, {drive, load});
  std::vector<Edge> all = load.edges;
  for (const LineReading* r : {&up, &beside})
    all.insert(all.end(), r->edges.begin(), r->edges.end());
  TimeDomain run(std::move(m), {lumped_source(drive, gaussian_pulse(4e9, 6e9), coax.dt_s)}, all);
  const std::vector<double> f{2e9, 4e9, 6e9};
  RunningDft dft(f, coax.dt_s, all);
  run.advance(20000, [&](const Records& r) { dft.add(r); });
  for (std::size_t q = 0; q < f.size(); ++q) {
    const std::vector<C> x = dft.at(q);
    C v = 0;
    for (std::size_t k = 0; k < load.edges.size(); ++k) v += load.voltage[k] * x[k];
    const TerminalValues t = terminal_values(load, v, 0, f[q], coax.dt_s);
    const double taken = -std::real(t.v * std::conj(t.i));
    const auto power = [&](const LineReading& r, std::size_t first) {
      C volts = 0, amperes = 0;
      for (std::size_t k = 0; k < r.edges.size(); ++k)
        volts += r.voltage[k] * x[first + k], amperes += r.current[k] * x[first + k];
      return std::real(volts * std::conj(amperes));
    };
    // Voltages differ from edge to edge of the load; currents are means over a cell.
    const double here = power(up, load.edges.size()),
                 there = power(beside, load.edges.size() + up.edges.size());
    EXPECT_NEAR(here / taken, 1, 1e-2) << f[q];
    EXPECT_NEAR(there / here, 1, 1e-4) << f[q];
  }
  EXPECT_THROW(line_reading({{}, 2, {1e-3, 15e-3, 4e-3}, {1e-3, 15e-3, 6e-3}}, 1, coax.grid,
                            coax.faces, {}, metal),
               Error);
}

// Between unequal cells the current is that of the plane: of what changes evenly along the line the
// value there.
TEST(LineReading, TellsTheCurrentOfThePlaneBetweenUnequalCells) {
  Coax coax;
  const auto metal = [&](const Edge& e) { return coax.metal(e); };
  const LumpedElement across{{}, 2, {3e-3, 36e-3, 4e-3}, {5e-3, 36e-3, 6e-3}};
  const auto sums = [&] {  // of h = 1, and of h = y - 36 mm
    const LineReading r = line_reading(across, 1, coax.grid, coax.faces, {}, metal);
    std::pair<double, double> out;
    for (std::size_t k = 0; k < r.edges.size(); ++k) {
      if (is_electric(r.edges[k].component) || r.current[k] < 0) continue;
      out.first += r.current[k];
      out.second += r.current[k] * (coax.grid.middle(1, r.edges[k].j) - 36e-3);
    }
    return out;
  };
  const auto even_cells = sums();
  EXPECT_GT(even_cells.first, 0);
  EXPECT_NEAR(even_cells.second, 0, 1e-12 * even_cells.first);
  for (std::size_t j = 19; j <= 40; ++j)
    coax.grid.lines[1][j] = 36e-3 + 3e-3 * static_cast<double>(j - 18);
  const auto uneven = sums();
  // Of cells of 2 and 3 mm the mean would be a quarter of a millimetre off.
  EXPECT_NEAR(uneven.first, even_cells.first, 1e-12 * even_cells.first);
  EXPECT_NEAR(uneven.second, 0, 1e-12 * even_cells.first);
}

// In two dimensions a current is that of a width of 1 m, whatever the length of the one cell there:
// between a strip and the wall below it H of 1 A/m is 1 A.
TEST(LineReading, TellsTheCurrentOfAMetreInTwoDimensions) {
  for (const double depth : {1e-3, 1.0, 2.0}) {
    const YeeGrid grid{.lines = {even(20, 1e-3), even(12, 1e-3), {0, depth}}};
    const auto strip = [](const Edge& e) {
      return is_electric(e.component) && e.i >= 2 && e.i < 18 && e.j >= 4 &&
             e.j < (e.component == Ey ? 6 : 7);
    };
    const LineReading r = line_reading({{}, 1, {10e-3, 0, 0}, {10e-3, 4e-3, 0}}, 0, grid,
                                       {layers, walls, period}, {}, strip);
    double below = 0;
    for (std::size_t k = 0; k < r.edges.size(); ++k)
      if (r.edges[k].component == Hz && r.edges[k].j == 3) below += r.current[k];
    EXPECT_NEAR(std::abs(below) * depth * vacuum_impedance / reference_length(grid), 1, 1e-12)
        << depth;
  }
}

}  // namespace
}  // namespace tessera::electromagnetics
