// SPDX-License-Identifier: Apache-2.0
//
// Derivatives of runs over slabs have the bits of the whole grid's, in every mode, on every rank.
#include "slab_cuts.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/free_edges.h"
#include "tessera/electromagnetics/observed_run.h"
#include "tessera/electromagnetics/response.h"
#include "tessera/electromagnetics/shape_derivatives.h"
#include "tessera/electromagnetics/yee_primitive.h"
#include "tessera/parallel/communicator.h"
#include "tessera/parallel/exchanges.h"
#include "yee_everything.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <random>

namespace tessera::electromagnetics {
namespace {

using Tensors = std::vector<Tensor>;

bool equal_bits(const Tensor& a, const Tensor& b) {
  if (a.type() != b.type()) return false;
  const std::vector<double> x = cast(a, Dtype::f64).to_vector(),
                            y = cast(b, Dtype::f64).to_vector();
  return x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(double)) == 0;
}

/// Design edges of lossless dielectrics.
YeeModel model_of_design(std::array<Faces, 3> faces, Dtype dtype = Dtype::f64) {
  YeeModel m = model_with_everything(faces, dtype);
  m.traced.clear();
  for (int k = 2; k < 9; ++k)
    for (int i = 9; i < 12; ++i)
      for (const Component c : {Ex, Ey, Ez}) m.traced.push_back({c, i, 3, k});
  return m;
}

/// What `look` makes of the op on one process, and whether all ranks of any cut make the same.
void expect_same_on_ranks(const YeeModel& model, const std::vector<int>& ranks,
                          std::mt19937& random, const std::string& what,
                          const std::function<Tensors(const YeeOpPtr&)>& look) {
  const Tensors whole = look(yee_op(model));
  for (const Tensor& t : whole) EXPECT_GT(sum(square(cast(t, Dtype::f64))).item(), 0) << what;
  for (const int axis : {1, 2})
    for (const int n : ranks) {
      const std::vector<int> begin = random_cut(model.grid.cells(axis), n, random);
      parallel::run_ranks(n, [&](parallel::Communicator& c) {
        const Tensors own = look(yee_op(model, {&c, axis, begin}));
        ASSERT_EQ(own.size(), whole.size());
        for (std::size_t q = 0; q < own.size(); ++q)
          EXPECT_TRUE(equal_bits(own[q], whole[q])) << what << ", result " << q << " on rank "
                                                    << c.rank() << " of " << n << ", axis " << axis;
      });
    }
}

/// A loss of records, and its derivatives of first and second order in coefficients and currents.
Tensors derivatives_of(const std::function<Tensor(const Tensor&, const Tensor&)>& loss,
                       const Tensor& c, const Tensor& w, const Tensor& dc) {
  const auto of_c = [&](const Tensor& x) { return loss(x, w); };
  const auto [value, slope] = value_and_grad(of_c)(c);
  const auto [same, along] = jvp(of_c, c, dc);
  const Tensor curvature = jvp(grad(of_c), c, dc).second;
  const Tensor of_currents = grad([&](const Tensor& x) { return loss(c, x); })(w);
  return {value, slope, along, curvature, of_currents};
}

std::vector<Index> shape_of_currents(const YeeOpPtr& op, Index steps) {
  const auto driven = static_cast<Index>(op->driven.size());
  return op->scheme.parts() == 1 ? std::vector<Index>{steps, driven}
                                 : std::vector<Index>{2, steps, driven};
}
Tensor noise_of(const std::vector<Index>& shape, unsigned seed) {
  tessera::Shape s;
  for (const Index n : shape) s.push_back(n);
  return noise_like(s, seed);
}

Tensors in_time(const YeeOpPtr& op) {
  const Tensor w = noise_of(shape_of_currents(op, 13), 1), c = coefficients(op),
               dc = 0.1 * noise_like(c.shape(), 2);
  return derivatives_of(
      [&](const Tensor& x, const Tensor& currents) {
        const Tensor r =
            simulate(op, x, currents, {.block = 4, .checkpoint = Checkpoint::revolve(2)});
        return sum(square(cast(r, Dtype::f64)));
      },
      c, w, dc);
}

TEST(SlabDerivatives, InTimeHaveTheBitsOfOneProcess) {
  std::mt19937 random(21);
  for (const auto& faces : face_sets)
    expect_same_on_ranks(model_of_design(faces), {2, 5}, random, "in time", in_time);
  expect_same_on_ranks(model_of_design(face_sets[0], Dtype::f32), {3}, random, "f32", in_time);
}

TEST(SlabDerivatives, HaveThemBetweenFacesJoinedWithAPhase) {
  std::mt19937 random(22);
  for (const auto& faces : {face_sets[2], face_sets[3]}) {
    YeeModel model = model_of_design(faces);
    model.bloch_phase = {faces[0].low == Boundary::periodic ? 0.7 : 0, 1.05,
                         faces[2].low == Boundary::periodic ? -0.7 : 0};
    expect_same_on_ranks(model, {2, 3}, random, "with a phase", in_time);
  }
}

TEST(SlabDerivatives, HaveThemOfMixtures) {
  std::mt19937 random(23);
  for (const auto& faces : {face_sets[0], face_sets[3]}) {
    YeeModel model = model_of_design(faces);
    model.mixed.edges = std::exchange(model.traced, {});
    for (int i = 3; i < 7; ++i)  // among tensors
      for (int k = 4; k < 7; ++k) model.mixed.edges.push_back({Ez, i, 6, k});
    model.mixed.poles = {
        {.first = 0, .weight = {}, .alpha = {{0.9, 0.2}}, .beta = {{0.02, -0.01}}}};
    const auto media = model.material;
    model.material = [media](int c, int j, int k, MaterialRow& row) {
      media(c, j, k, row);
      if (j == 3 || j == 6) row.dispersive.clear();
    };
    expect_same_on_ranks(model, {2, 3}, random, "of mixtures", [](const YeeOpPtr& op) {
      std::vector<double> theta;
      for (std::size_t q = 0; q < op->design.size(); ++q)
        for (const double x : {2.0 + 0.1 * static_cast<double>(q % 5), 0.02, 0.3})
          theta.push_back(x);
      const Tensor w = noise_of(shape_of_currents(op, 9), 1), c = tensor(theta),
                   dc = 0.01 * noise_like(c.shape(), 2);
      return derivatives_of(
          [&](const Tensor& x, const Tensor& currents) {
            return sum(square(simulate(op, x, currents)));
          },
          c, w, dc);
    });
  }
}

TEST(SlabDerivatives, OfSpectraHaveThem) {
  std::mt19937 random(24);
  for (const double phase : {0.0, 0.6}) {
    YeeModel model = model_of_design(face_sets[2]);
    model.bloch_phase = {0, phase, 0};
    expect_same_on_ranks(model, {2, 3}, random, "of spectra", [](const YeeOpPtr& op) {
      const double f = 0.02 / op->dt_s;
      const ResponsePtr r =
          response(op, {.frequencies_hz = {f, 1.7 * f}, .n_steps = 300, .pulse_steps = 180});
      const auto driven = static_cast<Index>(op->driven.size());
      const Tensor w = noise_like({2, driven}, 1), c = coefficients(op),
                   dc = 0.1 * noise_like(c.shape(), 2);
      Tensors all = derivatives_of(
          [&](const Tensor& x, const Tensor& currents) {
            return sum(square(abs(spectra(r, x, cast(currents, Dtype::c128)))));
          },
          c, w, dc);
      all.push_back(full({}, left_over(r, c, w)));
      return all;
    });
  }
}

TEST(SlabDerivatives, OfObservedRunsHaveThem) {
  std::mt19937 random(25);
  const YeeModel model = model_of_design(face_sets[0]);
  Injection source;
  source.edges = model.injected;
  source.end_s = 1;
  source.fill = [n = model.injected.size()](std::int64_t first, std::int64_t steps, double* to) {
    for (std::int64_t q = 0; q < steps; ++q)
      for (std::size_t i = 0; i < n; ++i)
        *to++ = std::sin(0.3 * static_cast<double>(first + q) + static_cast<double>(i));
  };
  const double f = 0.03 / model.dt_s;
  const std::vector<Observation> seen{
      {.edges = model.recorded, .frequencies_hz = {f, 2 * f}},
      {.edges = {model.recorded[1], model.recorded[5]}, .kept = {3, 17, 30}}};
  const auto look = [&](const ObservedRun& run) {
    const Tensor eps = full({static_cast<Index>(model.traced.size())}, 0.5), one = full({1}, 1.0);
    const auto power = [&](const Tensor& x, const Tensor& strength) {
      const Tensors v = run.values(x, strength);
      return sum(square(abs(v[0]))) * 1e20 + sum(square(v[1]));
    };
    return derivatives_of(power, eps, one, 0.1 * noise_like(eps.shape(), 2));
  };
  const Tensors whole = look(ObservedRun(model, {source}, seen, 40));
  for (const int n : {2, 3})
    parallel::run_ranks(n, [&](parallel::Communicator& c) {
      ObservedRunOptions o;
      o.cut = {&c, 2, n == 2 ? std::vector<int>{0, 5, 12} : std::vector<int>{0, 3, 4, 12}};
      const Tensors own = look(ObservedRun(model, {source}, seen, 40, o));
      for (std::size_t q = 0; q < own.size(); ++q)
        EXPECT_TRUE(equal_bits(own[q], whole[q])) << "result " << q << " of " << n << " ranks";
    });
}

TEST(SlabDerivatives, HaveThemUnderVmapAndJit) {
  std::mt19937 random(26);
  expect_same_on_ranks(
      model_of_design(face_sets[0]), {3}, random, "vmap and jit", [](const YeeOpPtr& op) {
        const Tensor w = noise_of(shape_of_currents(op, 13), 1), c = coefficients(op);
        const auto loss = [&](const Tensor& x) { return sum(square(simulate(op, x, w))); };
        const auto slope = [&](const Tensor& x) { return grad(loss)(x); };
        const Tensor several = stack({c, 1.1 * c, 0.9 * c});
        return Tensors{vmap(slope)(several), jit(slope)(c), jit(slope)(1.1 * c)};
      });
}

/// <x', P x> + .. = <P^T x', x> + .., states being sums over ranks.
TEST(SlabDerivatives, HoldTheAdjointIdentityWithStatesOfRanks) {
  YeeModel model = model_of_design(face_sets[4]);
  parallel::run_ranks(3, [&](parallel::Communicator& c) {
    const YeeOpPtr op = yee_op(model, {&c, 2, {0, 4, 6, 12}});
    const auto own = static_cast<unsigned>(c.rank());
    std::vector<double> mask(op->unknown.begin(), op->unknown.end());
    const Tensor unknown = tensor(mask), x = unknown * noise_like(unknown.shape(), 10 + own),
                 lx = unknown * noise_like(unknown.shape(), 20 + own),
                 w = noise_of(shape_of_currents(op, 8), 3), cb = coefficients(op);
    const auto run = [&](const Tensor& state, const Tensor& currents) {
      const YeeResult r = advance(op, state, cb, currents);
      return parallel::sum_over_ranks(c, sum(r.state * lx)) + sum(r.records * r.records);
    };
    const Tensor dx = unknown * noise_like(unknown.shape(), 30 + own),
                 dw = noise_like(w.shape(), 4);
    const double forward = jvp([&](const Tensor& t) { return run(x + t * dx, w + t * dw); },
                               full({}, 0.0), full({}, 1.0))
                               .second.item();
    const Tensor of_state = grad([&](const Tensor&s) { return run(s, w); })(x),
                 of_currents = grad([&](const Tensor&s) { return run(x, s); })(w);
    const double reverse =
        parallel::sum_over_ranks(c, sum(of_state * dx)).item() + inner(of_currents, dw);
    EXPECT_NEAR(forward, reverse, 1e-12 * std::abs(forward));
    EXPECT_GT(std::abs(forward), 1);
  });
}

/// Against differences: an independent look at the numbers themselves.
TEST(SlabDerivatives, AgreeWithDifferences) {
  const YeeModel model = model_of_design(face_sets[1]);
  parallel::run_ranks(2, [&](parallel::Communicator& c) {
    const YeeOpPtr op = yee_op(model, {&c, 1, {0, 3, 11}});
    const Tensor w = noise_of(shape_of_currents(op, 12), 1), at = coefficients(op),
                 along = at * noise_like(at.shape(), 5);
    const auto loss = [&](const Tensor& x) { return sum(square(simulate(op, x, w))); };
    const double h = 1e-4,
                 difference = (loss(at + h * along).item() - loss(at - h * along).item()) / (2 * h),
                 derivative = inner(grad(loss)(at), along);
    EXPECT_NEAR(derivative, difference, 1e-6 * std::abs(derivative));
    EXPECT_GT(std::abs(derivative), 1e-6 * loss(at).item());
  });
}

/// A ball in a small grid, by its radius and height.
struct Ball {
  std::array<Faces, 3> faces;
  Averaging averaging = Averaging::kottke;
  double pitch = 1e-7, permittivity = 4;
  YeeGrid grid = uniform_grid({14 * pitch, 12 * pitch, 40 * pitch}, pitch);
  double dt = 0.5 * stable_time_step(grid);
  std::vector<double> at{3.1e-7, 1.5e-8}, steps{1e-12, 1e-12};

  YeeModel model(const std::vector<double>& p, const Slab& slab, Dtype dtype = Dtype::f64) const {
    const Medium air{}, glass{.eps = {permittivity, permittivity, permittivity}};
    const Scene scene{
        {{sphere({0, 0, p[1]}, p[0]), 1}, {sphere({0, 0, 19 * pitch + p[1]}, p[0]), 1}}, 0};
    return yee_model(grid, faces, {.cells = 3}, dt, dtype, scene, {air, glass}, averaging, {},
                     slab);
  }
  ShapeDerivatives derivatives() const {
    return shape_derivatives([&](const std::vector<double>& p) { return model(p, {}); }, at, steps);
  }
};

bool equal(const ShapeDerivatives& a, const ShapeDerivatives& b) {
  const auto same_entries = [](const auto& x, const auto& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const auto& p, const auto& q) {
      return p.to == q.to && p.from == q.from && p.value == q.value;
    });
  };
  return a.edges == b.edges && std::equal(a.parameters.begin(), a.parameters.end(),
                                          b.parameters.begin(), b.parameters.end(), same_entries);
}

TEST(SlabDerivatives, OfShapesAreFoundPieceByPiece) {
  for (const auto& faces : {face_sets[0], face_sets[2], face_sets[3], face_sets[4]})
    for (const Averaging averaging : {Averaging::kottke, Averaging::corners}) {
      const Ball ball{faces, averaging};
      const ShapeDerivatives whole = ball.derivatives();
      EXPECT_FALSE(whole.diagonal());
      int pieces = 0;
      const ShapeDerivatives parts = shape_derivatives(
          ball.grid, faces,
          [&](const std::vector<double>& p, const Slab& slab) {
            EXPECT_NE(slab.ranks, nullptr);
            pieces += p == ball.at;
            return ball.model(p, slab);
          },
          ball.at, ball.steps, 14 * 12 * 16);
      EXPECT_EQ(pieces, 2);
      EXPECT_TRUE(equal(parts, whole)) << static_cast<int>(faces[2].low);
    }
}

TEST(SlabDerivatives, FreeEdgesAreFoundPieceByPiece) {
  for (const auto& faces : {face_sets[0], face_sets[2], face_sets[4]})
    for (const bool body : {true, false}) {
      Ball ball{faces};
      ball.permittivity = body ? 4 : 1;
      const Medium air{};
      const FreeEdges whole = free_edges(ball.model(ball.at, {}), air),
                      parts = free_edges(
                          ball.grid, faces,
                          [&](const Slab&slab) { return ball.model(ball.at, slab); }, air,
                          14 * 12 * 16);
      EXPECT_GT(whole.edges.size(), 100U);
      EXPECT_EQ(parts.edges, whole.edges);
      EXPECT_EQ(parts.eps, whole.eps);
      EXPECT_EQ(whole.of_background, !body);
      EXPECT_EQ(parts.of_background, !body);
    }
}

TEST(SlabDerivatives, OfSamplesInShapesHaveThem) {
  for (const Dtype dtype : {Dtype::f64, Dtype::f32}) {
    const std::array<Faces, 3>& faces = face_sets[dtype == Dtype::f64 ? 0 : 3];
    const Ball ball{faces};
    const ShapeDerivatives moves = ball.derivatives();
    SampleList samples(ball.grid, faces, {true, true, true, true, true, true});
    samples.add(Ex, {1e-7, 0.5e-7, 8e-7});
    samples.add(Hy, {-2e-7, 0, 1e-7});
    const std::vector<Injection> sources{
        current_source(ball.grid, faces, ball.dt, Ex, {0, 0, -6e-7}, {0, 0, -6e-7}, 1,
                       gaussian_pulse(200e12, 200e12)),
        current_source(ball.grid, faces, ball.dt, Ey, {0, 0, 9e-7}, {0, 0, 9e-7}, 1,
                       gaussian_pulse(300e12, 100e12))};
    const auto look = [&](const GridCut& cut, std::int64_t most) {
      return sample_derivatives(ball.model(ball.at, slab_of(faces, cut), dtype), moves, sources,
                                samples, 60, {.most_bytes = most, .cut = cut});
    };
    for (const std::int64_t most : {std::int64_t{1} << 30, std::int64_t{1000000}}) {
      const Tensor whole = look({}, most);
      EXPECT_GT(sum(square(whole)).item(), 0);
      for (const auto& begin : {std::vector<int>{0, 17, 40}, std::vector<int>{0, 13, 20, 21, 40}})
        parallel::run_ranks(static_cast<int>(begin.size()) - 1, [&](parallel::Communicator& c) {
          EXPECT_TRUE(equal_bits(look({&c, 2, begin}, most), whole)) << "rank " << c.rank();
        });
    }
  }
}

TEST(SlabDerivatives, OfSamplesEndWhereOneRankWantsTo) {
  const Ball ball{face_sets[0]};
  const ShapeDerivatives moves = ball.derivatives();
  SampleList samples(ball.grid, ball.faces, {true, true, true, true, true, true});
  samples.add(Ex, {1e-7, 0.5e-7, 8e-7});
  parallel::run_ranks(3, [&](parallel::Communicator& c) {
    const GridCut cut{&c, 2, {0, 10, 20, 40}};
    double seen = 0;
    const Tensor none = sample_derivatives(
        ball.model(ball.at, slab_of(ball.faces, cut)), moves, {}, samples, 400,
        {.go_on = [&](double share) { return seen = share, c.rank() != 2 || share < 0.2; },
         .cut = cut});
    EXPECT_FALSE(none.defined());
    EXPECT_LT(seen, 0.5);
  });
}

TEST(SlabDerivatives, OfWhatHasNoneAreRefusedOnAllRanks) {
  YeeModel model = model_of_design(face_sets[0]);
  model.traced.push_back({Ex, 2, 3, 4});  // lossy, in one slab
  EXPECT_THROW(parallel::run_ranks(2,
                                   [&](parallel::Communicator& c) {
                                     yee_op(model, {&c, 2, {0, 6, 12}});
                                   }),
               Error);
}

}  // namespace
}  // namespace tessera::electromagnetics
