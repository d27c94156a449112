// SPDX-License-Identifier: Apache-2.0
//
// The Yee steps as an operation: its transpose by the adjoint identity, its derivatives by
// differences and Taylor remainders, its batches by loops, f32 by f64, and checkpoints by the bits.
#include "tessera/electromagnetics/yee_primitive.h"

#include "tessera/autodiff/check.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/jet.h"
#include "tessera/autodiff/ops.h"
#include "yee_everything.h"

#include <gtest/gtest.h>

namespace tessera::electromagnetics {
namespace {

/// Edges of all components within, beside and outside of the coupled nodes and the layers, clear of
/// losses, poles and the conductor.
std::vector<Edge> design_of_everything() {
  std::vector<Edge> out;
  for (const std::uint8_t c : {Ex, Ey, Ez})
    for (int i = 5; i < 8; ++i) out.push_back({c, i, 3, 4});
  out.push_back({Ez, 11, 3, 4});
  out.push_back({Ex, 6, 9, 2});
  return out;
}
YeeOpPtr everything(std::array<Faces, 3> faces, Dtype dtype = Dtype::f64,
                    std::array<double, 3> bloch_phase = {}) {
  YeeModel m = model_with_everything(faces, dtype);
  m.bloch_phase = bloch_phase;
  m.traced = design_of_everything();
  return yee_op(std::move(m));
}
Tensor noisy_state(const YeeOpPtr& op, unsigned seed) { return tensor(unknowns(op->scheme, seed)); }
double norm2(const Tensor& a) { return inner(a, a); }

using Fields = std::tuple<Tensor, Tensor, Tensor>;

/// On grids this small threads would wait for each other most of the time.
class YeePrimitive : public ::testing::Test {
 protected:
  void SetUp() override { set_num_threads(1); }
  void TearDown() override { set_num_threads(before_); }

 private:
  int before_ = num_threads();
};

/// Currents of n steps at the driven edges, of all parts.
Tensor noisy_currents(const YeeOpPtr& op, Index steps, unsigned seed) {
  const auto driven = static_cast<Index>(op->driven.size());
  return noise_like(
      op->scheme.parts() == 1 ? tessera::Shape{steps, driven} : tessera::Shape{2, steps, driven},
      seed);
}

TEST_F(YeePrimitive, TransposeIsTheAdjointAlongWholeRuns) {
  struct {
    std::array<Faces, 3> faces;
    std::array<double, 3> phase;
  } sets[] = {{{pml, pml, pml}, {}},
              {{pec, pmc, pml}, {}},
              {{pml, joined, joined}, {}},
              {{joined, pml, pec}, {}},
              {{joined, pml, joined}, {0.7, 0, -1.9}},
              {{pml, joined, pmc}, {0, 2.5, 0}}};
  for (const auto& [faces, phase] : sets) {
    const YeeOpPtr op = everything(faces, Dtype::f64, phase);
    for (const Index steps : {Index{1}, Index{1000}}) {
      if (steps > 1 && faces[1].low == Boundary::periodic)
        continue;  // the same rows in another order
      const Tensor x = noisy_state(op, 1), w = noisy_currents(op, steps, 2), c = coefficients(op);
      const auto [y, pull] = vjp(
          [&](Tensor state, Tensor currents) {
            const YeeResult r = advance(op, state, c, currents);
            return Fields(r.state, r.records, r.traces);
          },
          x, w);
      const auto& [state, records, traces] = y;
      const Tensor ls = noisy_state(op, 3), lr = noise_like(records.shape(), 4),
                   lu = noise_like(traces.shape(), 5);
      const auto [lx, lw] = pull(Fields(ls, lr, lu));
      const double left = inner(state, ls) + inner(records, lr) + inner(traces, lu),
                   right = inner(x, lx) + inner(w, lw);
      const double scale = std::sqrt((norm2(state) + norm2(records) + norm2(traces)) *
                                     (norm2(ls) + norm2(lr) + norm2(lu)));
      EXPECT_TRUE(std::isfinite(scale));
      EXPECT_LE(std::abs(left - right), (steps == 1 ? 1e-12 : 1e-10) * scale) << steps << " steps";
      EXPECT_GT(std::abs(left), 1e-6 * scale);
    }
  }
}

TEST_F(YeePrimitive, TwoDimensionsWithAbsorbingFaces) {
  YeeModel m;
  m.grid = uniform_grid({24e-3, 20e-3, 0}, 1e-3);
  m.pml = {.cells = 5, .order = 4, .sigma_factor = 1.5, .kappa_max = 11};
  m.dt_s = 0.9 * stable_time_step(m.grid);
  m.dtype = Dtype::f64;
  m.active = {false, false, true, true, true, false};
  m.injected = {{Ez, 8, 9, 0}};
  m.recorded = {{Ez, 15, 12, 0}, {Hx, 10, 6, 0}};
  m.traced = {{Ez, 3, 4, 0}, {Ez, 12, 10, 0}, {Ez, 13, 10, 0}};
  const YeeOpPtr op = yee_op(std::move(m));
  const Tensor x = noisy_state(op, 1), w = noise_like({200, 1}, 2), c = coefficients(op),
               weights = noise_like({200, 2}, 3);
  const auto f = [&](Tensor state, Tensor cb, Tensor currents) {
    return sum(sin(advance(op, state, cb, currents).records * weights));
  };
  const CheckReport r = gradcheck(f, std::tuple(x, c, w), {.order = 2, .directions = 2});
  EXPECT_TRUE(r) << to_string(r);
}

/// What the derivative checks differentiate: records, traces and two sums over the state after six
/// steps, from all operands.
struct Sample {
  explicit Sample(std::array<double, 3> bloch_phase = {})
      : op(everything({pml, pec, joined}, Dtype::f64, bloch_phase)) {}
  YeeOpPtr op;
  Tensor x = noisy_state(op, 6), c = coefficients(op), w = noisy_currents(op, 6, 7);
  std::function<Fields(Tensor, Tensor, Tensor)> f = [op = op](Tensor state, Tensor cb,
                                                              Tensor currents) {
    const YeeResult r = advance(op, state, cb, currents);
    return Fields(matmul(noise_like({2, r.state.size()}, 12), r.state), r.records, r.traces);
  };
};

TEST_F(YeePrimitive, DerivativesAgreeWithDifferences) {
  for (const double phase : {0.0, 1.1}) {
    const Sample s({0, 0, phase});
    const auto args = std::tuple(s.x, s.c, s.w);
    for (const CheckReport& r : {gradcheck(s.f, args, {.order = 2, .directions = 1}),
                                 transpose_check(s.f, args, {.order = 2, .directions = 1})})
      EXPECT_TRUE(r) << to_string(r);
  }
}

TEST_F(YeePrimitive, BatchesAreLoops) {
  for (const double phase : {0.0, 1.1}) {
    const Sample s({0, 0, phase});
    const CheckReport r = vmap_check(s.f, std::tuple(s.x, s.c, s.w));
    EXPECT_TRUE(r) << to_string(r);
  }
}

TEST_F(YeePrimitive, TaylorModeFollows) {
  const Sample s;
  const auto f = [&](Tensor c) { return std::get<1>(s.f(s.x, c, s.w)); };
  const CheckReport r = jetcheck(f, s.c, s.c * noise_like(s.c.shape(), 8), 3);
  EXPECT_TRUE(r) << to_string(r);
}

/// Energy at the recorded edges of 90 steps that begin with a pulse.
struct Objective {
  YeeOpPtr op;
  Tensor currents, inverse_eps;
  SimulateOptions options{.block = 8};
  explicit Objective(Dtype dtype = Dtype::f64, double bloch_phase = 0)
      : op(everything({pml, bloch_phase == 0 ? pmc : joined, pml}, dtype, {0, bloch_phase, 0})) {
    std::vector<double> w;
    const Index parts = op->scheme.parts(), driven = static_cast<Index>(op->driven.size());
    for (Index part = 0; part < parts; ++part)
      for (int n = 0; n < 90; ++n)
        for (Index m = 0; m < driven; ++m)
          w.push_back((1.0 - 1.6 * static_cast<double>(part)) *
                      std::exp(-std::pow((n - 12.0 - 0.3 * static_cast<double>(m)) / 5, 2)));
    currents = tensor(w, parts == 1 ? tessera::Shape{90, driven} : tessera::Shape{2, 90, driven});
    std::vector<double> inverse;
    for (std::size_t q = 0; q < op->design.size(); ++q)
      inverse.push_back(op->coefficient[q] / op->unit[q]);
    inverse_eps = tensor(inverse);
  }
  Tensor operator()(const Tensor& inverse, const Tensor& amplitude) const {
    return sum(square(
        cast(simulate(op, coefficients(op, inverse), amplitude * currents, options), Dtype::f64)));
  }
  Tensor operator()(const Tensor& inverse) const { return (*this)(inverse, Tensor(1.0)); }
};

TEST_F(YeePrimitive, RemaindersOfWholeRunsFallAsTheyShould) {
  const Objective f;
  const TaylorReport r = taylor_check([&](Tensor q) { return f(q); }, f.inverse_eps,
                                      f.inverse_eps * noise_like(f.inverse_eps.shape(), 9));
  EXPECT_TRUE(r) << to_string(r);
  EXPECT_NEAR(r.first.slope, 2, 0.25);
  EXPECT_NEAR(r.second.slope, 3, 0.25);
}

TEST_F(YeePrimitive, SecondDerivativesAgreeInEveryOrderOfModes) {
  for (const double phase : {0.0, 1.1}) {
    const Objective f(Dtype::f64, phase);
    const auto value = [&](Tensor q) { return f(q); };
    const Tensor v = noise_like(f.inverse_eps.shape(), 10),
                 u = noise_like(f.inverse_eps.shape(), 11);
    const auto derivative = [&](Tensor q) { return jvp(value, q, v).second; };
    const double forward_forward = jvp(derivative, f.inverse_eps, u).second.item();
    const double forward_reverse = inner(hvp(value, f.inverse_eps, v), u);
    const double reverse_forward = inner(grad(derivative)(f.inverse_eps), u);
    const double reverse_reverse =
        inner(grad([&](Tensor q) { return sum(grad(value)(q) * v); })(f.inverse_eps), u);
    const double size = std::abs(forward_forward);
    for (const double other : {forward_reverse, reverse_forward, reverse_reverse})
      EXPECT_NEAR(other, forward_forward, 1e-11 * size);
    const double h = 1e-4;
    const auto derivative_at = [&](double s) { return derivative(f.inverse_eps + s * u).item(); };
    // Fourth-order differences: what remains is rounding over h.
    EXPECT_NEAR((8 * (derivative_at(h) - derivative_at(-h)) -
                 (derivative_at(2 * h) - derivative_at(-2 * h))) /
                    (12 * h),
                forward_forward, 1e-8 * size);
  }
}

TEST_F(YeePrimitive, SourcesDifferentiateToo) {
  const Objective f;
  const auto value = [&](Tensor a) { return f(f.inverse_eps, a); };
  EXPECT_NEAR(grad(value)(Tensor(1.5)).item(), 3 * value(Tensor(1.0)).item(),
              1e-12 * value(Tensor(1.0)).item());  // quadratic in the currents
}

/// As where monitors share edges: its cotangents add up, beside tensors as well.
TEST_F(YeePrimitive, AnEdgeMayBeRecordedSeveralTimes) {
  for (const double phase : {0.0, 1.3}) {
    YeeModel m = model_with_everything({joined, pec, Faces{}});
    m.bloch_phase = {phase, 0, 0};
    m.traced = design_of_everything();
    const YeeOpPtr once = yee_op(m);
    const std::vector<Edge> edges = m.recorded;
    for (int n = 0; n < 2; ++n) m.recorded.insert(m.recorded.end(), edges.begin(), edges.end());
    const YeeOpPtr thrice = yee_op(m);
    const Index driven = static_cast<Index>(m.injected.size()), steps = 20;
    const tessera::Shape table =
        phase == 0 ? tessera::Shape{steps, driven} : tessera::Shape{2, steps, driven};
    const Tensor w = noise_like(table, 3);
    const auto gradient = [&](const YeeOpPtr& op, const std::vector<double>& weights) {
      return grad([&](Tensor c) {
        const Tensor x = simulate(op, c, w);
        Tensor sum_of_copies;
        for (std::size_t q = 0; q < weights.size(); ++q) {
          const auto n = static_cast<Index>(edges.size()), first = static_cast<Index>(q) * n;
          const Tensor part = slice(x, x.ndim() - 1, first, first + n) * weights[q];
          sum_of_copies = sum_of_copies.defined() ? sum_of_copies + part : part;
        }
        return sum(square(sum_of_copies));
      })(coefficients(op));
    };
    const Tensor want = gradient(once, {2.0}), got = gradient(thrice, {0.5, 0.25, 1.25});
    EXPECT_LE(max(abs(got - want)).item(), 1e-12 * max(abs(want)).item()) << phase;
  }
}

TEST_F(YeePrimitive, CheckpointsChangeNoBit) {
  Objective f;
  std::vector<double> gradients[2];
  for (const bool revolve : {false, true}) {
    f.options.checkpoint = revolve ? Checkpoint::revolve(3) : Checkpoint::all();
    gradients[revolve] = grad([&](Tensor q) { return f(q); })(f.inverse_eps).to_vector();
  }
  EXPECT_GT(last_reverse_sweep().advanced, 0);
  EXPECT_EQ(gradients[0], gradients[1]);
}

TEST_F(YeePrimitive, SinglePrecisionFollowsDouble) {
  const Objective f, g(Dtype::f32);
  const Tensor want = grad([&](Tensor q) { return f(q); })(f.inverse_eps),
               got = grad([&](Tensor q) { return g(q); })(f.inverse_eps);
  EXPECT_EQ(got.dtype(), Dtype::f64);
  // 180 steps of rounding at 6e-8 each, at random, times the largest weights of the bracket.
  EXPECT_LE(std::sqrt(norm2(got - want) / norm2(want)), 2e-5);
}

TEST_F(YeePrimitive, RefusesEdgesWhoseCoefficientDoesNotTellTheMedium) {
  for (const Edge bad : {Edge{Ey, 2, 3, 4}, Edge{Ex, 6, 6, 5}, Edge{Ez, 8, 5, 6}}) {
    YeeModel m = model_with_everything({pml, pml, pml});
    m.traced = {bad};
    EXPECT_THROW(yee_op(std::move(m)), Error) << static_cast<int>(bad.component) << " at " << bad.i;
  }
}

}  // namespace
}  // namespace tessera::electromagnetics
