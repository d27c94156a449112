// SPDX-License-Identifier: Apache-2.0
//
// The Yee step against a naive loop, its transpose by the adjoint identity, and the order of steps
// by the bits.
#include "tessera/electromagnetics/yee_scheme.h"

#include "tessera/autodiff/forall.h"
#include "tessera/electromagnetics/time_domain.h"
#include "yee_everything.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <random>

namespace tessera::electromagnetics {
namespace {

TEST(YeeScheme, TransposeIsTheAdjoint) {
  const std::array<Faces, 3> sets[] = {
      {pml, pml, pml},
      {pec, pmc, pml},
      {pml, joined, joined},
      {joined, pml, pec},
      {Faces{Boundary::pmc, Boundary::pml}, pml, Faces{Boundary::pec, Boundary::pml}}};
  for (const double phase : {0.0, 0.7})
    for (const auto& faces : sets)
      for (const std::int64_t steps : {std::int64_t{1}, std::int64_t{2}, std::int64_t{25}}) {
        YeeModel m = model_with_everything(faces);
        m.bloch_phase = {phase, 1.5 * phase, -phase};
        const YeeScheme s(m);
        const std::size_t ni = s.parts() * s.n_injected() * steps,
                          nr = s.parts() * s.n_recorded() * steps,
                          nt = s.parts() * s.n_traced() * steps;
        const std::vector<double> x = unknowns(s, 1), w = noise(ni, 2), ly = unknowns(s, 3),
                                  lr = noise(nr, 4), lu = noise(nt, 5);
        std::vector<double> y = x, r(nr), u(nt);
        s.advance(y.data(), steps, w.data(), r.data(), u.data(), nullptr);
        const std::vector<std::uint8_t> mask = s.unknowns();
        for (std::size_t i = 0; i < y.size(); ++i) y[i] *= mask[i];
        std::vector<double> lx = ly, lw(ni), g(nt);
        s.advance_transposed(lx.data(), steps, lr.data(), lu.data(), lw.data(), g.data(), nullptr);
        const double left = dot(y, ly) + dot(r, lr) + dot(u, lu), right = dot(x, lx) + dot(w, lw);
        const double scale = std::sqrt((dot(y, y) + dot(r, r) + dot(u, u)) *
                                       (dot(ly, ly) + dot(lr, lr) + dot(lu, lu)));
        EXPECT_LE(std::abs(left - right), 1e-13 * scale)
            << "faces " << static_cast<int>(faces[0].low) << static_cast<int>(faces[1].low)
            << static_cast<int>(faces[2].low) << ", steps " << steps;
        EXPECT_GT(std::abs(left), 1e-6 * scale);
      }
}

TEST(YeeScheme, TensorsOutsideOfTheGridAreRefused) {
  for (const auto& [i, j, k] : {std::array{14, 0, 0}, std::array{0, -1, 0}, std::array{0, 0, 13}}) {
    YeeModel m = model_with_everything({});
    m.tensors.push_back({i, j, k, 0.01, 0, 0});
    EXPECT_THROW(YeeScheme{m}, Error);
  }
}

TEST(YeeScheme, OrderAndThreadsChangeNoBit) {
  for (const bool transposed : {false, true})
    for (const Dtype dtype : {Dtype::f64, Dtype::f32}) {
      const YeeScheme s(model_with_everything({pml, pml, pml}, dtype));
      const std::int64_t steps = 13;
      const auto run = [&]<class T>(T, Blocking blocking, int threads) {
        std::vector<T> state(s.state_size()), in(std::max(s.n_injected(), s.n_recorded()) * steps),
            in_b(s.n_traced() * steps), out(in.size()), out_b(in_b.size());
        const std::vector<double> x = noise(state.size(), 1), w = noise(in.size(), 2);
        std::copy(x.begin(), x.end(), state.begin());
        std::copy(w.begin(), w.end(), in.begin());
        std::copy(w.begin(), w.begin() + static_cast<std::ptrdiff_t>(in_b.size()), in_b.begin());
        const int before = num_threads();
        set_num_threads(threads);
        if (transposed)
          s.advance_transposed(state.data(), steps, in.data(), in_b.data(), out.data(),
                               out_b.data(), nullptr, blocking);
        else
          s.advance(state.data(), steps, in.data(), out.data(), out_b.data(), nullptr, blocking);
        set_num_threads(before);
        state.insert(state.end(), out.begin(), out.end());
        state.insert(state.end(), out_b.begin(), out_b.end());
        return state;
      };
      const auto compare = [&](auto t) {
        const auto want = run(t, {1, 100}, 1);
        for (const Blocking b :
             {Blocking{1, 3}, Blocking{4, 2}, Blocking{5, 1}, Blocking{20, 4}, Blocking{}})
          for (const int threads : {1, 2, 3})
            EXPECT_EQ(run(t, b, threads), want)
                << b.steps << " steps, " << b.rows << " rows, " << threads << " threads";
      };
      if (dtype == Dtype::f64)
        compare(double{});
      else
        compare(float{});
    }
}

TEST(YeeScheme, JoinedFacesReachTheWallsBesideThem) {
  // A wave along `joined_axis`, even across `wall_axis`, is the same at each position across.

  for (int joined_axis = 0; joined_axis < 3; ++joined_axis)
    for (const int turn : {1, 2}) {
      const int wall_axis = (joined_axis + turn) % 3, along = 3 - joined_axis - wall_axis;
      YeeModel m;
      std::array<double, 3> size{4e-3, 4e-3, 4e-3};
      size[static_cast<std::size_t>(joined_axis)] = 12e-3;
      m.grid = uniform_grid(size, 1e-3);
      m.dtype = Dtype::f64;
      m.dt_s = 0.5 * stable_time_step(m.grid);
      m.faces = {joined, joined, joined};
      m.faces[static_cast<std::size_t>(wall_axis)] = pmc;
      const YeeScheme s(m);
      const auto at = [&](int a, int w, int b) {
        std::array<int, 3> i{};
        i[static_cast<std::size_t>(joined_axis)] = a, i[static_cast<std::size_t>(wall_axis)] = w,
        i[static_cast<std::size_t>(along)] = b;
        return s.offset({static_cast<std::uint8_t>(along), i[0], i[1], i[2]});
      };
      std::vector<double> e(static_cast<std::size_t>(s.state_size()));
      for (int a = 0; a < 12; ++a)
        for (int w = 0; w <= 4; ++w)
          for (int b = 0; b < 4; ++b)
            e[static_cast<std::size_t>(at(a, w, b))] = 0.3 + std::sin(2 * M_PI * a / 12.0);
      s.advance(e.data(), 100, nullptr, nullptr, nullptr, nullptr);
      for (int a = 0; a < 12; ++a)
        for (int w = 0; w <= 4; ++w)
          EXPECT_NEAR(e[static_cast<std::size_t>(at(a, w, 1))],
                      e[static_cast<std::size_t>(at(a, 2, 1))], 1e-12)
              << "axis " << joined_axis << ", wall across " << wall_axis << ", at " << a << ", "
              << w;
    }
}

TEST(YeeScheme, JoinedFacesMayLieAnywhere) {
  // Slabs across x/8 + y/7 + z/6 = whole numbers, with all couplings of averaged tensors, and the
  // same where the joined faces lie elsewhere: the fields are the same, those at edges that are
  // wrapped around by e^{i phase} for each period.
  const std::array<int, 3> n{8, 7, 6}, shift{5, -2, 3};
  const std::array<double, 3> phase{0.9, -1.4, 2.2};
  const double cell = 1e-3,
               distance = 1 / std::sqrt(1 / 64.0 + 1 / 49.0 + 1 / 36.0);  // of the slabs, in cells
  const Point normal{distance / 8, distance / 7, distance / 6};
  const YeeGrid grid = uniform_grid({n[0] * cell, n[1] * cell, n[2] * cell}, cell);
  const std::array<Faces, 3> faces{joined, joined, joined};
  const double dt = 0.9 * stable_time_step(grid);
  struct MovedEdge {
    Edge edge;
    double phase;
  };
  const auto moved = [&](Edge e, const std::array<int, 3>& by) {
    MovedEdge out{e, 0};
    int* at[3] = {&out.edge.i, &out.edge.j, &out.edge.k};
    for (int d = 0; d < 3; ++d) {
      const int to = *at[d] + by[static_cast<std::size_t>(d)],
                wraps = static_cast<int>(
                    std::floor(static_cast<double>(to) / n[static_cast<std::size_t>(d)]));
      *at[d] = to - wraps * n[static_cast<std::size_t>(d)];
      out.phase += wraps * phase[static_cast<std::size_t>(d)];
    }
    return out;
  };
  std::vector<Edge> edges;
  for (std::uint8_t c = 0; c < 6; ++c)
    for (int q = 0; q < 40; ++q)
      edges.push_back({c, (3 * q) % n[0], (5 * q) % n[1], (q + c) % n[2]});
  const int steps = 120;
  std::size_t couplings = 0;
  const auto run = [&](const std::array<int, 3>& by, Averaging averaging) {
    Scene scene;
    for (int period = -6; period <= 6; ++period) {
      const auto slab = rotate(box({-60 * cell, -60 * cell, -cell}, {60 * cell, 60 * cell, cell}),
                               rotation_about({-normal[1], normal[0], 0}, std::acos(normal[2])));
      Point at;
      for (std::size_t d = 0; d < 3; ++d)
        at[d] = (by[d] + (0.11 + period) * distance * normal[d]) * cell;
      scene.structures.push_back({translate(slab, at), 1});
    }
    YeeModel m = yee_model(grid, faces, {}, dt, Dtype::f64, scene, {Medium{}, {.eps = {6, 6, 6}}},
                           averaging);
    couplings = m.tensors.size();
    m.bloch_phase = phase;
    const MovedEdge source = moved({Ey, 4, 3, 2}, by);
    m.injected = {source.edge};
    for (const Edge& e : edges) m.recorded.push_back(moved(e, by).edge);
    const YeeScheme s(m);
    std::vector<double> state(static_cast<std::size_t>(s.state_size())), current(2 * steps),
        record(2 * steps * edges.size());
    for (int k = 0; k < 40; ++k) {
      const double w = std::sin(0.4 * k) * std::pow(std::sin(3.14159 * k / 40), 2);
      current[static_cast<std::size_t>(k)] = w * std::cos(source.phase);
      current[static_cast<std::size_t>(steps + k)] = w * std::sin(source.phase);
    }
    s.advance(state.data(), steps, current.data(), record.data(), nullptr, nullptr);
    std::vector<std::complex<double>> out;
    for (int k = 0; k < steps; ++k)
      for (std::size_t e = 0; e < edges.size(); ++e) {
        const std::size_t at = static_cast<std::size_t>(k) * edges.size() + e;
        out.push_back(
            std::complex(record[at], record[static_cast<std::size_t>(steps) * edges.size() + at]) *
            std::polar(1.0, -moved(edges[e], by).phase));
      }
    return out;
  };
  for (const Averaging averaging : {Averaging::kottke, Averaging::corners}) {
    const auto here = run({}, averaging), there = run(shift, averaging);
    EXPECT_GT(couplings, 20u);
    double largest = 0, off = 0;
    for (std::size_t q = 0; q < here.size(); ++q) {
      largest = std::max(largest, std::abs(here[q]));
      off = std::max(off, std::abs(here[q] - there[q]));
    }
    EXPECT_GT(largest, 0.05);
    EXPECT_LT(off, 1e-12 * largest);
  }
}

}  // namespace
}  // namespace tessera::electromagnetics
