// SPDX-License-Identifier: Apache-2.0
//
// Modes of the grid against the grid's own formula for a rectangular guide, against steps in time
// from the mode's fields (a period of one cell, joined with the phase beta D), against the slab's
// transcendental equation, and by their laws.
#include "tessera/electromagnetics/grid_modes.h"

#include "guides.h"
#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/medium.h"
#include "tessera/electromagnetics/time_domain.h"
#include "tessera/solvers/eigenpairs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

namespace tessera::electromagnetics {
namespace {

using std::numbers::pi;
using C = std::complex<double>;
using namespace guides;

/// beta of a guide of even cells in vacuum with these transverse wavenumbers.
C beta_of_grid(const YeeModel& m, int axis, double f, double ku, double kv) {
  const auto part = [&](int d, double k) {
    const double cell = m.grid.length(d, 0), s = std::sin(k * cell / 2) / cell;
    return s * s;
  };
  const double w = std::sin(pi * f * m.dt_s) / (speed_of_light * m.dt_s),
               cell = m.grid.length(axis, 0),
               left = w * w - part((axis + 1) % 3, ku) - part((axis + 2) % 3, kv);
  C half = std::asin(std::sqrt(C(left)) * cell);
  if (half.imag() > 0) half = -half;
  return 2.0 * half / cell;
}

TEST(GridModes, OfARectangularGuideAreThoseOfTheGridsFormula) {
  const double a = 22.86e-3, b = 10.16e-3, f = 16e9;
  for (const int axis : {0, 1, 2})
    for (const int fine : {1, 3}) {  // dense; by SLEPc
      if (fine == 3 && !solvers::slepc_available()) continue;
      const int nu = 9 * fine, nv = 4 * fine;
      const YeeModel m = guide(axis, even(nu, a / nu), even(nv, b / nv), even(4, 1e-3));
      const GridModes found = grid_modes(m, {axis, 2}, {.frequency_hz = f, .count = 5});
      // TE10, TE20, TE01; TE11 and TM11, which are below their cut-off, have one beta.
      const C expected[] = {
          beta_of_grid(m, axis, f, pi / a, 0), beta_of_grid(m, axis, f, 0, pi / b),
          beta_of_grid(m, axis, f, 2 * pi / a, 0), beta_of_grid(m, axis, f, pi / a, pi / b),
          beta_of_grid(m, axis, f, pi / a, pi / b)};
      ASSERT_EQ(found.modes.size(), 5u);
      std::vector<double> squares, wanted;
      for (int k = 0; k < 5; ++k) {
        squares.push_back((found.modes[k].beta * found.modes[k].beta).real());
        wanted.push_back((expected[k] * expected[k]).real());
        EXPECT_LE(found.modes[k].residual, 1e-9);  // of s^2, which is small
      }
      std::sort(squares.begin(), squares.end()), std::sort(wanted.begin(), wanted.end());
      const double k0 = 2 * pi * f / speed_of_light;
      for (int k = 0; k < 5; ++k)
        EXPECT_NEAR(squares[k], wanted[k], 1e-9 * k0 * k0) << axis << " " << fine << " " << k;
    }
}

/// Something of everything that steps of a period of one cell keep: uneven lines, media along all
/// axes, a conductor, cut edges and faces, magnetic media, tensors.
YeeModel crowded(int axis, Faces at_u, Faces at_v) {
  std::vector<double> u{0}, v{0};
  for (int i = 0; i < 9; ++i) u.push_back(u.back() + 1e-3 * (1 + 0.2 * std::sin(i)));
  for (int i = 0; i < 7; ++i) v.push_back(v.back() + 1.1e-3 * (1 + 0.2 * std::cos(2 * i)));
  YeeModel m = guide(axis, u, v, {0, 1.2e-3}, at_u, at_v);
  m.grid.one_cell_period[axis] = true;
  m.dt_s = 0.7 * stable_time_step(m.grid);
  m.material = [axis](int c, int j, int k, MaterialRow& row) {
    for (int i = 0; i < static_cast<int>(row.inverse.size()); ++i) {
      const int at[3] = {i, j, k}, p = at[(axis + 1) % 3], q = at[(axis + 2) % 3];
      row.inverse[i] = is_electric(c) ? 1 / (2.0 + 0.3 * p - 0.1 * q + 0.2 * axis_of(c))
                                      : 1 / (1.2 + 0.05 * q * axis_of(c));
      if (is_electric(c) && p >= 3 && p <= 4 && q == 3 && axis_of(c) != (axis + 2) % 3)
        row.inverse[i] = 0;  // a strip along u and n; at one side its last edge alone
    }
  };
  m.open.conformal = true;
  for (int c = 0; c < 6; ++c) {  // a cut along u at the cells (6, 5)
    Edge e{static_cast<std::uint8_t>(c), 0, 0, 0};
    int* const at[3] = {&e.i, &e.j, &e.k};
    *at[(axis + 1) % 3] = 6, *at[(axis + 2) % 3] = 5;
    if (c == (axis + 1) % 3 || c == 3 + (axis + 2) % 3) m.open.fractions.push_back({e, 0.6});
  }
  std::sort(m.open.fractions.begin(), m.open.fractions.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.edge.component, a.edge.k, a.edge.j, a.edge.i) <
           std::tuple(b.edge.component, b.edge.k, b.edge.j, b.edge.i);
  });
  // Some beside the strip and the cut, and on walls.
  for (int q = 0; q < 7; ++q)
    for (int p = 1; p < 9; ++p) {
      if ((p + q) % 3 == 0) continue;
      NodeTensor t;
      int* const at[3] = {&t.i, &t.j, &t.k};
      *at[(axis + 1) % 3] = p, *at[(axis + 2) % 3] = q;
      double* const xi[3] = {&t.yz, &t.xz, &t.xy};
      *xi[axis] = 0.06 + 0.01 * p - 0.02 * q;
      t.pairs[static_cast<std::size_t>(2 - axis)] = {0.02, -0.01, 0, 0.01};
      m.tensors.push_back(t);
    }
  return m;
}

TEST(GridModes, StepsCarryThemOnAsTheyAre) {
  const double f = 14e9;
  int looked_at = 0;
  for (const int axis : {0, 1, 2})
    for (const auto& [at_u, at_v] : {std::pair{walls, walls}, std::pair{walls, mirrors},
                                     std::pair{Faces{Boundary::pmc, Boundary::pec}, period}}) {
      YeeModel m = crowded(axis, at_u, at_v);
      const GridModes found = grid_modes(m, {axis, 0}, {.frequency_hz = f, .count = 3});
      for (const GridMode& mode : found.modes) {
        if (std::abs(mode.beta.imag()) > 1e-6 * std::abs(mode.beta.real())) continue;
        m.bloch_phase = {};
        m.bloch_phase[axis] = mode.beta.real() * found.cell;
        const YeeScheme s(m);
        ASSERT_EQ(s.parts(), 2);
        // e of time t, h of half a step before.
        const double w = 2 * pi * f;
        const std::int64_t half = s.state_size() / 2;
        const auto fields = [&](double t) {
          std::vector<double> x(static_cast<std::size_t>(s.state_size()), 0.0);
          const auto put = [&](Edge e, C value) {  // and its copies behind joined faces
            const auto set = [&](const Edge& at, C v) {
              x[static_cast<std::size_t>(s.offset(at))] = v.real();
              x[static_cast<std::size_t>(s.offset(at) + half)] = v.imag();
            };
            set(e, value);
            for (int d = 0; d < 3; ++d) {
              if (m.faces[d].low != Boundary::periodic) continue;
              Edge copy = e;
              int& at = d == 0 ? copy.i : d == 1 ? copy.j : copy.k;
              const C on = std::polar(1.0, -m.bloch_phase[d]);
              if (is_electric(e.component) && !at_middle(e.component, d) && at == 0)
                at = m.grid.cells(d), set(copy, value * on);
              else if (!is_electric(e.component) && at_middle(e.component, d) &&
                       at == m.grid.cells(d) - 1)
                at = -1, set(copy, value / on);
            }
          };
          const C now = std::polar(1.0, w * t), before = std::polar(1.0, w * (t - m.dt_s / 2)),
                  on = std::polar(1.0, -mode.beta.real() * found.cell / 2);
          for (std::size_t k = 0; k < found.e.size(); ++k)
            put(found.e[k], mode.e[k] * now), put(found.h[k], mode.h[k] * before * on);
          for (std::size_t k = 0; k < found.e_n.size(); ++k)
            put(found.e_n[k], mode.e_n[k] * now * on);
          for (std::size_t k = 0; k < found.h_n.size(); ++k)
            put(found.h_n[k], mode.h_n[k] * before);
          return x;
        };
        std::vector<double> x = fields(0);
        constexpr int steps = 40;
        s.advance(x.data(), steps, nullptr, nullptr, nullptr, nullptr);
        const std::vector<double> y = fields(steps * m.dt_s);
        const std::vector<std::uint8_t> mask = s.unknowns();
        double off = 0, size = 0;
        for (std::size_t k = 0; k < x.size(); ++k)
          if (mask[k]) {
            off = std::max(off, std::abs(x[k] - y[k]));
            size = std::max(size, std::abs(y[k]));
          }
        EXPECT_LE(off, 1e-10 * size) << "axis " << axis;  // 40 steps and an eigenvalue to 1e-13
        ++looked_at;
      }
    }
  EXPECT_GE(looked_at, 9);
}

TEST(GridModes, OfATurnedCrystalRunAlongItsAxes) {
  // Waves along n in a crystal whose axes are turned by 25 degrees about n.
  const double f = 14e9, eps[2] = {2.2, 5.3}, turn = 25 * pi / 180, c = std::cos(turn),
               s = std::sin(turn);
  for (const int axis : {0, 1, 2}) {
    YeeModel m = guide(axis, even(3, 1e-3), even(3, 0.8e-3), even(4, 1e-3), period, period);
    m.dt_s = 0.7 * stable_time_step(m.grid);
    const int u = (axis + 1) % 3;
    m.material = [=](int component, int, int, MaterialRow& row) {
      if (!is_electric(component)) return;
      const int d = axis_of(component);
      std::fill(row.inverse.begin(), row.inverse.end(),
                d == axis ? 1 / 3.0
                : d == u  ? c * c / eps[0] + s * s / eps[1]
                          : s * s / eps[0] + c * c / eps[1]);
    };
    for (int k = 0; k < m.grid.cells(2); ++k)
      for (int j = 0; j < m.grid.cells(1); ++j)
        for (int i = 0; i < m.grid.cells(0); ++i) {
          NodeTensor t{i, j, k};
          (axis == 0 ? t.yz : axis == 1 ? t.xz : t.xy) = c * s * (1 / eps[0] - 1 / eps[1]);
          m.tensors.push_back(t);
        }
    const GridModes found = grid_modes(m, {axis, 2}, {.frequency_hz = f, .count = 2});
    for (const std::size_t k : {0u, 1u}) {
      const double cell = m.grid.length(axis, 0),
                   n = std::sqrt(eps[1 - k]),  // the slower one first
          wanted = 2 / cell *
                   std::asin(n * cell * std::sin(pi * f * m.dt_s) / (speed_of_light * m.dt_s));
      EXPECT_NEAR(found.modes[k].beta.real() / wanted, 1, 1e-9) << axis;
      // E along the crystal's axis: for D along (c, s), of eps[0], e_v over e_u is s / c.
      const std::size_t of_v = found.open / 2;
      const double eu = (found.modes[k].e[0] / found.e_scale[0]).real(),
                   ev = (found.modes[k].e[of_v] / found.e_scale[of_v]).real();
      EXPECT_NEAR(k == 1 ? ev * c - eu * s : ev * s + eu * c, 0, 1e-6 * std::hypot(eu, ev)) << axis;
    }
  }
}

/// A slab across u, with E along v (TE) or H along v (TM): index by its transcendental equation,
/// tan(kx w/2) = q / kx times the ratio of permittivities for TM.
double slab_index(double core, double clad, double width, double wavelength, bool te) {
  const double k0 = 2 * pi / wavelength;
  double low = clad, high = core;
  for (int k = 0; k < 200; ++k) {
    const double n = (low + high) / 2, kx = k0 * std::sqrt(core * core - n * n),
                 q = k0 * std::sqrt(n * n - clad * clad),
                 ratio = te ? 1 : core * core / (clad * clad);
    // Of the lowest mode kx w/2 is below pi/2, and the tangent rises with it.
    const double phase = kx * width / 2;
    (phase >= pi / 2 || std::tan(phase) > ratio * q / kx ? low : high) = n;
  }
  return low;
}
YeeModel slab(double cell, Faces at_u, double room, const std::vector<Medium>& media,
              const Pml& pml = {}) {
  const int out = static_cast<int>(std::lround(room / cell)),
            in = static_cast<int>(std::lround(0.22e-6 / cell));
  YeeGrid grid;  // faces on lines
  for (int i = -out; i <= in + out; ++i) grid.lines[0].push_back(-0.11e-6 + i * cell);
  grid.lines[1] = {-cell / 2, cell / 2};
  grid.lines[2] = even(4, cell);
  Scene scene;
  scene.structures = {{box({-0.11e-6, -INFINITY, -INFINITY}, {0.11e-6, INFINITY, INFINITY}), 1}};
  return yee_model(grid, {at_u, period, period}, pml, 0.95 * stable_time_step(grid), Dtype::f64,
                   scene, media);
}
const std::vector<Medium>& silicon_in_oxide() {
  static const std::vector<Medium> media = [] {
    std::vector<Medium> m(2);
    m[0].eps.fill(1.44 * 1.44), m[1].eps.fill(3.48 * 3.48);
    return m;
  }();
  return media;
}

TEST(GridModes, OfASlabConvergeWithTheSquareOfTheCell) {
  if (!solvers::slepc_available()) GTEST_SKIP() << "SLEPc is not there";
  const double wavelength = 1.55e-6;
  std::vector<double> off[2];
  for (const double cell : {20e-9, 10e-9, 5e-9}) {
    const YeeModel m = slab(cell, walls, 1.5e-6, silicon_in_oxide());
    const GridModes found =
        grid_modes(m, {2, 1}, {.frequency_hz = speed_of_light / wavelength, .count = 2});
    ASSERT_EQ(found.modes.size(), 2u);
    for (int k = 0; k < 2; ++k) {
      EXPECT_LE(std::abs(found.modes[k].beta.imag()), 1e-9 * found.modes[k].beta.real());
      off[k].push_back(std::abs(found.modes[k].index.real() -
                                slab_index(3.48, 1.44, 220e-9, wavelength, k == 0)));
    }
  }
  for (int k = 0; k < 2; ++k) {
    EXPECT_LE(off[k][2], 2e-3) << k;
    for (int i = 0; i < 2; ++i) EXPECT_GE(std::log2(off[k][i] / off[k][i + 1]), 1.9) << k;
  }
}

TEST(GridModes, LayersAtTheSidesLeaveWhatTheyHoldAlone) {
  if (!solvers::slepc_available()) GTEST_SKIP() << "SLEPc is not there";
  const double f = speed_of_light / 1.55e-6;
  const GridModes closed = grid_modes(slab(20e-9, walls, 1.5e-6, silicon_in_oxide()), {2, 1},
                                      {.frequency_hz = f}),
                  open =
                      grid_modes(slab(20e-9, layers, 1.5e-6, silicon_in_oxide(), {.index = 1.44}),
                                 {2, 1}, {.frequency_hz = f});
  // The mode has fallen to e^-2qd, q = 10/um, of the power where the layers begin, 1.3 um away.
  EXPECT_NEAR(open.modes[0].index.real(), closed.modes[0].index.real(), 1e-10);
  EXPECT_LE(open.modes[0].index.imag(), 1e-12);
  // A film that is denser outside than inside leaks: it decays, more so with less room.
  std::vector<Medium> leaky = silicon_in_oxide();
  leaky[0].eps.fill(3.6 * 3.6);
  const GridModes leaks = grid_modes(slab(20e-9, layers, 1.5e-6, leaky, {.index = 3.6}), {2, 1},
                                     {.frequency_hz = f, .index = 3.2});
  EXPECT_LT(leaks.modes[0].index.imag(), -1e-3);
}

TEST(GridModes, LossesAndPolesAreThoseOfTheSteps) {
  // Between plates the wave is that of the medium: n^2 = eps(w) up to the square of the step.
  const double f = 200e12;
  Medium medium;
  medium.eps.fill(2.2);
  medium.sigma.fill(3e3);
  medium.poles = lorentz(300e12, 20e12, 1.3);
  for (const PoleResidue& p : drude(150e12, 30e12)) medium.poles.push_back(p);
  std::vector<C> off;
  for (const double cell : {40e-9, 20e-9, 10e-9}) {
    YeeGrid grid;
    grid.lines = {even(3, cell), std::vector{0.0, cell}, even(4, cell)};
    const YeeModel m = yee_model(grid, {walls, period, period}, {}, 0.9 * stable_time_step(grid),
                                 Dtype::f64, {}, {medium});
    const GridModes found = grid_modes(m, {2, 1}, {.frequency_hz = f});
    const C exact = std::sqrt(permittivity(medium, 0, f));
    EXPECT_LT(exact.imag(), -0.01);
    off.push_back(found.modes[0].index - exact);
  }
  EXPECT_LE(std::abs(off[2]), 2e-3);
  for (int i = 0; i < 2; ++i) EXPECT_GE(std::log2(std::abs(off[i]) / std::abs(off[i + 1])), 1.9);
}

/// Eight cells in a wavelength, where cos(beta D/2) is 0.93. What a loss of Im eps/Re eps = t makes
/// of moduli is of the order of t^2, 2e-9 here.
TEST(GridModes, OfLossesThatVanishAreThoseWithout) {
  const double cell = 120e-9;
  YeeGrid grid;
  grid.lines = {even(3, cell), std::vector{0.0, cell}, even(4, cell)};
  std::vector<GridModes> found;
  for (const double sigma : {0.0, 1.0}) {
    Medium medium;
    medium.eps.fill(2.2);
    medium.sigma.fill(sigma);
    const YeeModel m = yee_model(grid, {walls, period, period}, {}, 0.9 * stable_time_step(grid),
                                 Dtype::f64, {}, {medium});
    found.push_back(grid_modes(m, {2, 1}, {.frequency_hz = 200e12}));
  }
  const GridMode &none = found[0].modes[0], &some = found[1].modes[0];
  EXPECT_LT(some.beta.imag(), -1e-6 * some.beta.real());
  EXPECT_LT(std::cos(some.beta * cell / 2.0).real(), 0.95);
  for (std::size_t k = 0; k < found[0].open; ++k) {
    EXPECT_NEAR(std::abs(some.e[k]), std::abs(none.e[k]), 1e-6 * std::abs(none.e[k]));
    EXPECT_NEAR(std::abs(some.h[k]), std::abs(none.h[k]), 1e-6 * std::abs(none.h[k]));
  }
}

TEST(GridModes, BetweenLinesAreThoseOfADomainThatEndsThere) {
  const double f = 14e9;
  for (const int axis : {0, 1, 2}) {
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    const YeeModel whole = crowded(axis, walls, period);
    YeeModel part = whole;  // cells 2 to 7 of u, 1 to 6 of v
    part.grid.lines[u] = {whole.grid.lines[u].begin() + 2, whole.grid.lines[u].begin() + 8};
    part.grid.lines[v] = {whole.grid.lines[v].begin() + 1, whole.grid.lines[v].begin() + 7};
    part.faces[v] = walls;
    std::array<int, 3> off{};
    off[u] = 2, off[v] = 1;
    const std::size_t cells = whole.grid.lines[0].size();
    part.material = [whole, off, cells](int c, int j, int k, MaterialRow& row) {
      MaterialRow all{std::vector<double>(cells, 1.0), std::vector<double>(cells, 0.0), {}, {}};
      whole.material(c, j + off[1], k + off[2], all);
      std::copy_n(all.inverse.begin() + off[0], row.inverse.size(), row.inverse.begin());
    };
    for (CutCellFraction& x : part.open.fractions)
      x.edge.i -= off[0], x.edge.j -= off[1], x.edge.k -= off[2];
    const GridModes a = grid_modes(whole, {axis, 0, {2, 1}, {7, 6}},
                                   {.frequency_hz = f, .count = 3}),
                    b = grid_modes(part, {axis, 0}, {.frequency_hz = f, .count = 3});
    // The reference length differs, and e with it; beta and the fields do not.
    for (int k = 0; k < 3; ++k)
      EXPECT_LE(std::abs(a.modes[k].beta - b.modes[k].beta), 1e-9 * std::abs(b.modes[k].beta));
    ASSERT_EQ(a.e.size(), b.e.size());
    for (std::size_t k = 0; k < a.e.size(); ++k)
      EXPECT_NEAR(std::abs(a.modes[0].e[k]) / a.e_scale[k],
                  std::abs(b.modes[0].e[k]) / b.e_scale[k],
                  1e-7 * std::abs(b.modes[0].e[0] / b.e_scale[0]) + 1e-4);
  }
}

TEST(GridModes, TellApartWhatRunsForwardAndBackward) {
  const YeeModel m = crowded(1, walls, mirrors);
  const GridModes g = grid_modes(m, {1, 0}, {.frequency_hz = 14e9, .count = 4});
  const auto size = [&](std::size_t k) {
    return std::abs(mode_product(g, g.modes[k].e, g.modes[k].h));
  };
  for (std::size_t a = 0; a < 4; ++a)
    for (std::size_t b = 0; b < 4; ++b)
      if (a != b) {
        EXPECT_LE(std::abs(mode_product(g, g.modes[a].e, g.modes[b].h)),
                  1e-9 * std::sqrt(size(a) * size(b)));
      }
  const C forward[] = {{0.3, 1.1}, {-2, 0.5}, {0.1, 0}, {0, 0.7}},
          backward[] = {{1, -0.4}, {0, 0}, {-0.6, 0.6}, {0.2, 0.1}};
  std::vector<C> e(g.e.size()), before(e), behind(e);
  for (std::size_t k = 0; k < 4; ++k) {
    const GridMode& mode = g.modes[k];
    const C half = std::exp(C(0, -1) * mode.beta * g.cell / 2.0);
    for (std::size_t i = 0; i < e.size(); ++i) {
      e[i] += (forward[k] + backward[k]) * mode.e[i];
      before[i] += (forward[k] / half - backward[k] * half) * mode.h[i];
      behind[i] += (forward[k] * half - backward[k] / half) * mode.h[i];
    }
  }
  for (std::size_t k = 0; k < 4; ++k) {
    const ModeAmplitudes a = mode_amplitudes(g, k, e, before, behind);
    EXPECT_LE(std::abs(a.forward - forward[k]), 1e-8);
    EXPECT_LE(std::abs(a.backward - backward[k]), 1e-8);
  }
}

TEST(GridModes, CarryOneWatt) {
  if (!solvers::slepc_available()) GTEST_SKIP() << "SLEPc is not there";
  // TE10: the largest E is sqrt(4 P Z / (a b)), Z the impedance of the mode.
  const double a = 22.86e-3, b = 10.16e-3, f = 10e9;
  const YeeModel m = guide(2, even(40, a / 40), even(18, b / 18), even(4, a / 40));
  const GridModes g = grid_modes(m, {2, 2}, {.frequency_hz = f});
  double largest = 0;
  for (std::size_t k = 0; k < g.e.size(); ++k)
    if (g.e[k].component == Ey) largest = std::max(largest, std::abs(g.modes[0].e[k]));
  const double l = std::min(b / 18, a / 40), field = largest * l / (b / 18);
  const double impedance = 2 * pi * f * 4e-7 * pi / g.modes[0].beta.real();
  EXPECT_NEAR(field, std::sqrt(4 * impedance / (a * b)), 2e-3 * field);  // of the order of (k d)^2
}

TEST(GridModes, SayWhatTheyCannotDo) {
  const auto says = [](const YeeModel& m, const ModePlane& p, const ModeOptions& o) -> std::string {
    try {
      (void)grid_modes(m, p, o);
    } catch (const Error& e) {
      return e.what();
    }
    return "nothing";
  };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos ? "" : text;
  };
  const ModeOptions at{.frequency_hz = 1e10};
  YeeModel m = guide(2, even(6, 1e-3), even(5, 1e-3), even(4, 1e-3));
  EXPECT_EQ(has(says(m, {2, 4}, at), "no cells at both sides"), "");
  m.faces[2] = walls;
  EXPECT_EQ(has(says(m, {2, 0}, at), "no cells at both sides"), "");
  EXPECT_EQ(has(says(m, {2, 2}, {}), "frequency above zero"), "");
  YeeModel uneven = m;
  uneven.grid.lines[2][3] += 1e-4;
  EXPECT_EQ(has(says(uneven, {2, 2}, at), "needs equal ones"), "");
  YeeModel tensors = m;
  tensors.tensors = {{.i = 2, .j = 2, .k = 2, .xz = 0.1}};
  EXPECT_EQ(has(says(tensors, {2, 2}, at), "tensors"), "");
  tensors.tensors = {{.i = 2, .j = 2, .k = 2, .xy = 0.1}};
  EXPECT_EQ(says(tensors, {2, 2}, at), "nothing");
  YeeModel layer = guide(2, even(6, 1e-3), even(5, 1e-3), even(12, 1e-3));
  layer.faces[2] = {Boundary::pml, Boundary::pml};
  layer.pml.cells = 3;
  EXPECT_EQ(has(says(layer, {2, 3}, at), "absorbing layer"), "");
  EXPECT_EQ(says(layer, {2, 6}, at), "nothing");
  YeeModel metal = m;
  metal.material = [](int c, int, int, MaterialRow& row) {
    if (is_electric(c)) std::fill(row.inverse.begin(), row.inverse.end(), 0.0);
  };
  EXPECT_EQ(has(says(metal, {2, 2}, at), "no edge that is not metal"), "");
  YeeModel flat = m;
  flat.grid.lines[2] = {0, 1e-3};
  flat.faces[2] = period;
  EXPECT_EQ(has(says(flat, {2, 0}, at), "is not resolved"), "");
  YeeModel kerr = m;
  kerr.material = [](int c, int, int, MaterialRow& row) {
    if (c == Ex) row.nonlinear.push_back({.first = 2, .chi2 = {0}, .chi3 = {1e-20}});
  };
  EXPECT_EQ(has(says(kerr, {2, 2}, at), "nonlinear"), "");
}

}  // namespace
}  // namespace tessera::electromagnetics
