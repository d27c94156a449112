// SPDX-License-Identifier: Apache-2.0
//
// Edges and faces whose media and open shares are arguments of a run: values against a model that
// has them in its rows and in its list of shares, the transpose by the adjoint identity,
// derivatives by differences.
#include "tessera/autodiff/check.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/yee_primitive.h"
#include "yee_everything.h"

#include <gtest/gtest.h>

namespace tessera::electromagnetics {
namespace {

const DispersiveRun poles_of_mixed{.alpha = {{0.9, 0.2}, {0.7, 0}},
                                   .beta = {{0.02, -0.01}, {0.03, 0}}};

/// By component, k, j, i: two runs of edges, and faces beside them and in the layers.
std::vector<Edge> mixed_edges() {
  std::vector<Edge> out;
  for (const std::uint8_t c : {Ex, Ez, Hx, Hy, Hz})
    for (const auto& [k, j] : {std::pair(4, 5), std::pair(5, 6)})
      for (const int i : {1, 6, 7, 8}) out.push_back({c, i, j, k});
  return out;
}

struct MixedCase {
  YeeModel model;
  explicit MixedCase(std::array<Faces, 3> faces, double bloch_phase = 0) {
    model = model_with_everything(faces);
    model.bloch_phase = {0, bloch_phase, 0};
    model.traced.clear();
    model.mixed = {mixed_edges(), {poles_of_mixed}};
    for (const Edge& e : model.mixed.edges) model.open.fractions.push_back({e, 0.8, 0.7});
  }
};

/// [eps or mu, loss, weight] of each.
std::vector<double> media_of(std::size_t n, unsigned seed) {
  std::vector<double> x = noise(static_cast<std::int64_t>(3 * n), seed), out;
  for (std::size_t q = 0; q < n; ++q) {
    out.push_back(2 + 0.3 * std::tanh(x[3 * q]));
    out.push_back(0.05 + 0.04 * std::tanh(x[3 * q + 1]));
    out.push_back(0.5 + 0.2 * std::tanh(x[3 * q + 2]));
  }
  return out;
}

class MixedFaces : public ::testing::Test {
 protected:
  void SetUp() override { set_num_threads(1); }
  void TearDown() override { set_num_threads(before_); }

 private:
  int before_ = num_threads();
};

TEST_F(MixedFaces, AgreeWithRowsAndSharesOfTheSame) {
  const MixedCase c({pml, pec, joined});
  const std::vector<Edge>& edges = c.model.mixed.edges;
  const std::vector<double> media = media_of(edges.size(), 3);
  YeeModel plain = c.model;
  plain.mixed = {};
  std::vector<double> theta;
  for (std::size_t q = 0; q < edges.size(); ++q) {
    CutCellFraction& open = plain.open.fractions[q];
    const double before = open.share;
    open.share = 0.4 + 0.01 * static_cast<double>(q);
    const bool electric = is_electric(edges[q].component);
    const double by = electric ? before / open.share : open.share / before;
    for (const std::size_t k : {0, 1, 2}) theta.push_back(by * media[3 * q + k]);
  }
  plain.uncoupled = edges;
  plain.material = [&](int component, int j, int k, MaterialRow& row) {
    c.model.material(component, j, k, row);
    for (std::size_t q = 0; q < edges.size(); ++q) {
      const Edge& e = edges[q];
      if (e.component != component || e.j != j || e.k != k) continue;
      const auto i = static_cast<std::size_t>(e.i);
      row.inverse[i] = 1 / media[3 * q];
      row.loss[i] = media[3 * q + 1];
      for (DispersiveRun& run : row.dispersive)
        if (e.i >= run.first && e.i < run.first + static_cast<int>(run.weight.size()))
          run.weight[static_cast<std::size_t>(e.i - run.first)] = 0;
      DispersiveRun own = poles_of_mixed;
      own.first = e.i, own.weight = {media[3 * q + 2]};
      row.dispersive.push_back(own);
    }
  };
  const YeeOpPtr op = yee_op(c.model), by_rows = yee_op(plain);
  const Tensor w = noise_like({200, static_cast<Index>(c.model.injected.size())}, 5),
               got = simulate(op, tensor(theta), w),
               want = simulate(by_rows, coefficients(by_rows), w);
  EXPECT_LT(std::sqrt(inner(got - want, got - want) / inner(want, want)), 1e-12);
}

TEST_F(MixedFaces, TransposeIsTheAdjointAlongWholeRuns) {
  for (const double phase : {0.0, 1.3}) {
    const MixedCase c({pml, joined, pec}, phase);
    const YeeOpPtr op = yee_op(c.model);
    const Tensor theta = tensor(media_of(c.model.mixed.edges.size(), 1));
    for (const Index steps : {Index{1}, Index{2}, Index{300}}) {
      const auto driven = static_cast<Index>(c.model.injected.size());
      const Tensor x = tensor(unknowns(op->scheme, 1)),
                   w = noise_like(phase == 0 ? tessera::Shape{steps, driven}
                                             : tessera::Shape{2, steps, driven},
                                  2);
      const auto [y, pull] = vjp(
          [&](Tensor state, Tensor currents) {
            const YeeResult r = advance(op, state, theta, currents);
            return std::tuple(r.state, r.records, r.traces);
          },
          x, w);
      const auto& [state, records, traces] = y;
      const Tensor ls = tensor(unknowns(op->scheme, 3)), lr = noise_like(records.shape(), 4),
                   lu = noise_like(traces.shape(), 5);
      const auto [lx, lw] = pull(std::tuple(ls, lr, lu));
      const double left = inner(state, ls) + inner(records, lr) + inner(traces, lu),
                   right = inner(x, lx) + inner(w, lw);
      const double scale =
          std::sqrt((inner(state, state) + inner(records, records) + inner(traces, traces)) *
                    (inner(ls, ls) + inner(lr, lr) + inner(lu, lu)));
      EXPECT_LE(std::abs(left - right), 1e-11 * scale) << steps << " " << phase;
      EXPECT_GT(std::abs(left), 1e-7 * scale);
    }
  }
}

TEST_F(MixedFaces, DerivativesAgreeWithDifferences) {
  for (const double phase : {0.0, 1.3}) {
    const MixedCase c({pml, joined, pec}, phase);
    const YeeOpPtr op = yee_op(c.model);
    const auto driven = static_cast<Index>(c.model.injected.size());
    const Tensor x = tensor(unknowns(op->scheme, 6)),
                 w = noise_like(
                     phase == 0 ? tessera::Shape{6, driven} : tessera::Shape{2, 6, driven}, 7),
                 weights = noise_like({2, op->scheme.state_size()}, 8);
    const auto f = [&](Tensor state, Tensor theta, Tensor currents) {
      const YeeResult r = advance(op, state, theta, currents);
      return std::tuple(matmul(weights, r.state), r.records, r.traces);
    };
    const auto args = std::tuple(x, tensor(media_of(c.model.mixed.edges.size(), 2)), w);
    for (const CheckReport& r : {gradcheck(f, args, {.order = 2, .directions = 1}),
                                 transpose_check(f, args, {.order = 2, .directions = 1})})
      EXPECT_TRUE(r) << to_string(r);
  }
}

}  // namespace
}  // namespace tessera::electromagnetics
