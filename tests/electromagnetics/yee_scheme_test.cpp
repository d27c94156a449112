// SPDX-License-Identifier: Apache-2.0
//
// The Yee step against a naive loop, its transpose by the adjoint identity, and the order of steps by the bits.
#include "yee_everything.h"

#include "tessera/electromagnetics/yee_scheme.h"

#include "tessera/autodiff/forall.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace tessera::electromagnetics {
namespace {

TEST(YeeScheme, TransposeIsTheAdjoint) {
  const std::array<Faces, 3> sets[] = {{pml, pml, pml}, {pec, pmc, pml}, {pml, joined, joined}, {joined, pml, pec}, {Faces{Boundary::pmc, Boundary::pml}, pml, Faces{Boundary::pec, Boundary::pml}}};
  for (const double phase : {0.0, 0.7})
  for (const auto& faces : sets)
    for (const std::int64_t steps : {std::int64_t{1}, std::int64_t{2}, std::int64_t{25}}) {
      YeeModel m = model_with_everything(faces);
      m.bloch_phase = {phase, 1.5 * phase, -phase};
      const YeeScheme s(m);
      const std::size_t ni = s.parts() * s.n_injected() * steps, nr = s.parts() * s.n_recorded() * steps, nt = s.parts() * s.n_traced() * steps;
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
