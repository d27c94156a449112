// SPDX-License-Identifier: Apache-2.0
//
// The Yee step against a naive loop, its transpose by the adjoint identity, and the order of steps by the bits.
#include "tessera/electromagnetics/yee_scheme.h"

#include "tessera/autodiff/forall.h"
#include "tessera/electromagnetics/constants.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace tessera::electromagnetics {
namespace {

/// A small grid of uneven cells with a bit of everything: lossy and dispersive parts, a conductor, magnetic material.
YeeModel model_with_everything(std::array<Faces, 3> faces, Dtype dtype = Dtype::f64, std::array<int, 3> n = {13, 11, 12}) {
  YeeModel m;
  for (int d = 0; d < 3; ++d) {
    m.grid.lines[d] = {0};
    for (int i = 0; i < n[d]; ++i) m.grid.lines[d].push_back(m.grid.lines[d].back() + 1e-3 * (1 + 0.3 * std::sin(1.7 * i + d)));
  }
  m.faces = faces;
  m.pml = {.cells = 3, .order = 3, .kappa_max = 4, .alpha_max = 0.05};
  m.dt_s = 0.9 * stable_time_step(m.grid);
  m.dtype = dtype;
  m.material = [n](int c, int j, int k, MaterialRow& row) {
    for (int i = 0; i < static_cast<int>(row.inverse.size()); ++i) {
      if (is_electric(c) && j > 4 && j < 8) row.inverse[i] = 1 / (2.0 + 0.1 * i + 0.2 * k);
      if (!is_electric(c) && k < 5) row.inverse[i] = 1 / 1.5;
      if (i < 4) row.loss[i] = 0.05;
      if (is_electric(c) && i == 8 && j == 5 && k == 6) row.inverse[i] = 0;
    }
    if (is_electric(c) && j >= 5 && k > 3)
      row.dispersive.push_back({.first = 5, .weight = {0.5, 1, 1}, .alpha = {{0.9, 0.2}, {0.7, 0}, {1, 0}}, .beta = {{0.02, -0.01}, {0.03, 0}, {0.01, 0}}});
  };
  for (int k = 1; k < 9; ++k)
    for (int j = 1; j < 9; ++j)
      for (int i = 3; i < 9; ++i) m.tensors.push_back({i, j, k, 0.03 * std::sin(i + 2 * j), 0.02 * std::cos(k - i), 0.03 * std::sin(1.5 * j * k)});
  std::mt19937 random(3);
  for (int q = 0; q < 40; ++q) {
    const auto at = [&](int d) { return 1 + static_cast<int>(random() % static_cast<unsigned>(std::max(n[d] - 1, 1))); };
    const Edge e{static_cast<std::uint8_t>(random() % 6), n[0] > 1 ? at(0) : 0, n[1] > 1 ? at(1) : 0, n[2] > 1 ? at(2) : 0};
    const auto fresh = [&](const std::vector<Edge>& list) { return std::find(list.begin(), list.end(), e) == list.end(); };
    if (q % 2 && fresh(m.injected)) m.injected.push_back(e);
    if (q % 2 == 0 && fresh(m.recorded)) m.recorded.push_back(e);
    if (is_electric(e.component) && q % 3 == 0 && fresh(m.traced)) m.traced.push_back(e);
  }
  for (int i = 5; i < 8; ++i)
    if (n[0] > 8) m.traced.push_back({Ey, i, n[1] > 7 ? 6 : 0, n[2] > 5 ? 5 : 0});
  std::sort(m.traced.begin(), m.traced.end(), [](const Edge& a, const Edge& b) {
    return std::tie(a.component, a.k, a.j, a.i) < std::tie(b.component, b.k, b.j, b.i);
  });
  m.traced.erase(std::unique(m.traced.begin(), m.traced.end()), m.traced.end());
  return m;
}

constexpr Faces pml{}, pec{Boundary::pec, Boundary::pec}, pmc{Boundary::pmc, Boundary::pmc}, joined{Boundary::periodic, Boundary::periodic};

struct Run {
  std::vector<double> state, currents, records, traces;
};
std::vector<double> noise(std::size_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> v(n);
  for (double& x : v) x = normal(random);
  return v;
}
double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double s = 0;
  for (std::size_t i = 0; i < a.size(); ++i) s += a[i] * b[i];
  return s;
}
std::vector<double> unknowns(const YeeScheme& s, unsigned seed) {
  const std::vector<std::uint8_t> mask = s.unknowns();
  std::vector<double> v = noise(mask.size(), seed);
  for (std::size_t i = 0; i < v.size(); ++i) v[i] *= mask[i];
  return v;
}

TEST(YeeScheme, TransposeIsTheAdjoint) {
  const std::array<Faces, 3> sets[] = {{pml, pml, pml}, {pec, pmc, pml}, {pml, joined, joined}, {joined, pml, pec}, {Faces{Boundary::pmc, Boundary::pml}, pml, Faces{Boundary::pec, Boundary::pml}}};
  for (const auto& faces : sets)
    for (const std::int64_t steps : {std::int64_t{1}, std::int64_t{2}, std::int64_t{25}}) {
      const YeeModel m = model_with_everything(faces);
      const YeeScheme s(m);
      const std::size_t ni = s.n_injected() * steps, nr = s.n_recorded() * steps, nt = s.n_traced() * steps;
      const std::vector<double> x = unknowns(s, 1), w = noise(ni, 2), ly = unknowns(s, 3), lr = noise(nr, 4), lu = noise(nt, 5);
      std::vector<double> y = x, r(nr), u(nt);
      s.advance(y.data(), steps, w.data(), r.data(), u.data(), nullptr);
      const std::vector<std::uint8_t> mask = s.unknowns();
      for (std::size_t i = 0; i < y.size(); ++i) y[i] *= mask[i];
      std::vector<double> lx = ly, lw(ni), g(nt);
      s.advance_transposed(lx.data(), steps, lr.data(), lu.data(), lw.data(), g.data(), nullptr);
      const double left = dot(y, ly) + dot(r, lr) + dot(u, lu), right = dot(x, lx) + dot(w, lw);
      const double scale = std::sqrt((dot(y, y) + dot(r, r) + dot(u, u)) * (dot(ly, ly) + dot(lr, lr) + dot(lu, lu)));
      EXPECT_LE(std::abs(left - right), 1e-13 * scale) << "faces " << static_cast<int>(faces[0].low) << static_cast<int>(faces[1].low) << static_cast<int>(faces[2].low) << ", steps " << steps;
      EXPECT_GT(std::abs(left), 1e-6 * scale);
    }
}

TEST(YeeScheme, OrderAndThreadsChangeNoBit) {
  for (const bool transposed : {false, true})
    for (const Dtype dtype : {Dtype::f64, Dtype::f32}) {
      const YeeScheme s(model_with_everything({pml, pml, pml}, dtype));
      const std::int64_t steps = 13;
      const auto run = [&]<class T>(T, Blocking blocking, int threads) {
        std::vector<T> state(s.state_size()), in(std::max(s.n_injected(), s.n_recorded()) * steps), in_b(s.n_traced() * steps), out(in.size()), out_b(in_b.size());
        const std::vector<double> x = noise(state.size(), 1), w = noise(in.size(), 2);
        std::copy(x.begin(), x.end(), state.begin());
        std::copy(w.begin(), w.end(), in.begin());
        std::copy(w.begin(), w.begin() + static_cast<std::ptrdiff_t>(in_b.size()), in_b.begin());
        const int before = num_threads();
        set_num_threads(threads);
        if (transposed) s.advance_transposed(state.data(), steps, in.data(), in_b.data(), out.data(), out_b.data(), nullptr, blocking);
        else s.advance(state.data(), steps, in.data(), out.data(), out_b.data(), nullptr, blocking);
        set_num_threads(before);
        state.insert(state.end(), out.begin(), out.end());
        state.insert(state.end(), out_b.begin(), out_b.end());
        return state;
      };
      const auto compare = [&](auto t) {
        const auto want = run(t, {1, 100}, 1);
        for (const Blocking b : {Blocking{1, 3}, Blocking{4, 2}, Blocking{5, 1}, Blocking{20, 4}, Blocking{}})
          for (const int threads : {1, 2, 3}) EXPECT_EQ(run(t, b, threads), want) << b.steps << " steps, " << b.rows << " rows, " << threads << " threads";
      };
      if (dtype == Dtype::f64) compare(double{});
      else compare(float{});
    }
}

}  // namespace
}  // namespace tessera::electromagnetics
