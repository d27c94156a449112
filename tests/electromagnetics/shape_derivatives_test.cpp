// SPDX-License-Identifier: Apache-2.0
//
// Derivatives in shapes: of the averaging by closed forms, of runs by differences of whole runs, of
// resonances in every way there is.
#include "tessera/electromagnetics/shape_derivatives.h"

#include "tensor_measures.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/harmonic_inversion.h"
#include "test_constants.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>

namespace tessera::electromagnetics {
namespace {

using testing::largest;
constexpr double pitch = 0.1 * um, far = 1.0;
constexpr std::array<bool, 6> of_ez{false, false, true, true, true, false},
    of_hz{true, true, false, false, false, true}, all{true, true, true, true, true, true};

Medium dielectric(double eps) { return {.name = "", .eps = {eps, eps, eps}}; }

/// A case by its parameters.
struct Setting {
  YeeGrid grid;
  std::array<Faces, 3> faces{};
  std::array<bool, 6> active = all;
  std::function<Scene(const std::vector<double>&)> scene;
  std::vector<Medium> media = {dielectric(1), dielectric(9)};
  Dtype dtype = Dtype::f64;
  double dt = 0.9 * stable_time_step(grid);

  YeeModel operator()(const std::vector<double>& p) const {
    YeeModel m = yee_model(grid, faces, {.cells = 5}, dt, dtype, scene(p), media);
    m.active = active;
    return m;
  }
  ShapeDerivatives derivatives(const std::vector<double>& at) const {
    return shape_derivatives(*this, at, std::vector<double>(at.size(), 1e-5 * pitch));
  }
  std::vector<Injection> sources(std::uint8_t component, const Point& at) const {
    const Waveform pulse = gaussian_pulse(60e12, 60e12);
    return {current_source(grid, faces, dt, component, at, at, 1, pulse)};
  }
  /// Records [step] of the only sample.
  Tensor signal(const std::vector<double>& p, const std::vector<Injection>& sources,
                const SampleList& samples, std::int64_t n_steps) const {
    TimeDomain run((*this)(p), sources, samples.edges());
    std::vector<double> out;
    run.advance(n_steps, [&](const Records& r) {
      for (std::int64_t n = 0; n < r.n_steps; ++n)
        out.push_back(samples.value(0, r.step(n).data()));
    });
    return tensor(out);
  }
  SampleList samples(int component, const Point& at) const {
    SampleList s(grid, faces, active);
    s.add(component, at);
    return s;
  }
};

Setting disc(std::array<bool, 6> active) {
  Setting s{.grid = uniform_grid({4 * um, 4 * um, 0}, pitch), .active = active};
  s.scene = [](const std::vector<double>& p) {
    return Scene{{{cylinder({p[1], 0.03 * um, 0}, p[0], INFINITY), 1, 0, "disc"}}, 0};
  };
  return s;
}

/// Fourth-order differences of whole runs in parameter `which`, of step h.
Tensor differences(const std::function<Tensor(const std::vector<double>&)>& f,
                   const std::vector<double>& at, std::size_t which, double h) {
  const auto value = [&](double shift) {
    std::vector<double> p = at;
    p[which] += shift * h;
    return f(p);
  };
  return (8.0 * (value(1) - value(-1)) - (value(2) - value(-2))) / (12 * h);
}

class ShapeDerivativesTest : public ::testing::Test {
 protected:
  void SetUp() override { set_num_threads(1); }
  void TearDown() override { set_num_threads(before_); }

 private:
  int before_ = num_threads();
};

// A wall whose face lies at x in the middle half of a cell's box: E along it sees d eps = (9 - 1)
// dx / pitch, E across it d(1/eps) = (1/9 - 1) dx / pitch, at one column of edges each.
TEST_F(ShapeDerivativesTest, AWallMovesOneColumnOfEdges) {
  Setting s{.grid = uniform_grid({2 * um, 1 * um, 0}, pitch),
            .faces = {Faces{}, {Boundary::periodic, Boundary::periodic}, {}}};
  s.scene = [](const std::vector<double>& p) {
    return Scene{{{box({-far, -far, -far}, {p[0], far, far}), 1, 0, "wall"}}, 0};
  };
  const double x =
      0.03 *
      um;  // edges along the wall: about line 0, a share of 0.8; across it: cell 0, a share of 0.3
  const ShapeDerivatives m = s.derivatives({x});
  ASSERT_EQ(m.parameters.size(), 1u);
  EXPECT_TRUE(m.diagonal());
  EXPECT_EQ(m.edges.size(), 3u * 10);
  const YeeScheme scheme(s({x}));
  for (const ShapeDerivatives::Entry& e : m.parameters[0]) {
    const Edge& edge = m.edges[static_cast<std::size_t>(e.to)];
    EXPECT_EQ(edge.i, 10);
    const double relative = e.value / scheme.coefficient(edge);  // d ln (1/eps)
    const double mean = 0.8 * 9 + 0.2, mean_inverse = 0.3 / 9 + 0.7;
    const double want =
        edge.component == Ex ? (1.0 / 9 - 1) / mean_inverse / pitch : -(9.0 - 1) / mean / pitch;
    EXPECT_NEAR(relative / want, 1, 1e-8) << name_of(edge.component);
  }
}

// On a line between two cells the share of either box of E across the face has a derivative to one
// side alone: half of it is given to each.
TEST_F(ShapeDerivativesTest, OnASideOfABoxTheMeanOfBothDerivativesIsGiven) {
  Setting s{.grid = uniform_grid({2 * um, 0, 0}, pitch)};
  s.active = {false, true, false, false, false, true};
  s.scene = [](const std::vector<double>& p) {
    return Scene{{{box({-far, -far, -far}, {p[0], far, far}), 1, 0, "wall"}}, 0};
  };
  const ShapeDerivatives m =
      s.derivatives({0.05 * um});  // the side between the boxes about lines 10 and 11
  ASSERT_EQ(m.edges.size(), 2u);
  const YeeScheme scheme(s({0.05 * um}));
  EXPECT_NEAR(m.parameters[0][0].value / scheme.coefficient(m.edges[0]) * pitch, -8.0 / 9 / 2,
              1e-3);
  EXPECT_NEAR(m.parameters[0][1].value / scheme.coefficient(m.edges[1]) * pitch, -8.0 / 2, 1e-3);
}

// The area of a disc grows by its circumference: sum of d eps over the edges is 2 pi r (9 - 1) /
// pitch^2 as far as tangents tell the circle.
// The end of a block with a corner comes to the middle of a cell, where what the means of both
// faces give jumps: the slope is not that jump over the step.
TEST_F(ShapeDerivativesTest, WhereAMeanJumpsTheMeanOfBothSidesIsGiven) {
  Setting s{.grid = uniform_grid({2 * um, 2 * um, 0}, pitch), .active = of_hz};
  s.scene = [](const std::vector<double>& p) {
    return Scene{{{box({-far, -far, -far}, {p[0], 0.3 * pitch, far}), 1, 0, "block"}}, 0};
  };
  const auto slopes_at = [&](double end) {
    const ShapeDerivatives d = s.derivatives({end * pitch});
    std::map<std::array<int, 8>, double> out;
    for (const auto& entry : d.parameters[0]) {
      const Edge &to = d.edges[static_cast<std::size_t>(entry.to)],
                 &from = d.edges[static_cast<std::size_t>(entry.from)];
      out[{to.component, to.i, to.j, to.k, from.component, from.i, from.j, from.k}] =
          entry.value * pitch;
    }
    return out;
  };
  auto below = slopes_at(3.5 - 1e-3), above = slopes_at(3.5 + 1e-3);
  double greatest = 0;
  for (const auto* side : {&below, &above})
    for (const auto& [edges, slope] : *side) greatest = std::max(greatest, std::abs(slope));
  for (const auto& [edges, slope] : slopes_at(3.5))
    EXPECT_NEAR(slope, 0.5 * (below[edges] + above[edges]), 0.02 * greatest);
}

TEST_F(ShapeDerivativesTest, ADiscGrowsByItsCircumference) {
  const Setting s = disc(of_ez);
  const std::vector<double> at{1.013 * um, 0.01 * um};
  const ShapeDerivatives m = s.derivatives(at);
  EXPECT_TRUE(m.diagonal());
  const YeeScheme scheme(s(at)), vacuum([&] {
    YeeModel empty = s(at);
    empty.material = nullptr;
    return empty;
  }());
  double grown = 0, moved = 0;
  for (int q = 0; q < 2; ++q)
    for (const ShapeDerivatives::Entry& e : m.parameters[static_cast<std::size_t>(q)]) {
      const Edge& edge = m.edges[static_cast<std::size_t>(e.to)];
      const double inverse = scheme.coefficient(edge) / vacuum.coefficient(edge);
      (q == 0 ? grown : moved) -=
          e.value / vacuum.coefficient(edge) / (inverse * inverse) * pitch * pitch;
    }
  EXPECT_NEAR(grown / (2 * std::numbers::pi * at[0] * 8), 1, 1e-3);
  EXPECT_NEAR(moved / (2 * std::numbers::pi * at[0] * 8), 0,
              1e-3);  // as much is lost on one side as won on the other
}

// Runs of 300 steps with tensors (a disc in Hz, a sphere in three dimensions) and without:
// differences of whole runs carry rounding of 1e-15 over 1e-4 of a cell.
TEST_F(ShapeDerivativesTest, DerivativesOfRunsAreTheirDifferences) {
  Setting sphere_case{.grid = uniform_grid({2.2 * um, 1.5 * um, 2.1 * um}, pitch)};
  sphere_case.faces = {Faces{}, {Boundary::pec, Boundary::pmc}, {}};
  sphere_case.scene = [](const std::vector<double>& p) {
    return Scene{{{sphere({p[1], 0.02 * um, 0.01 * um}, p[0]), 1, 0, "ball"}}, 0};
  };
  struct Case {
    const char* name;
    Setting setting;
    std::vector<double> at;
    std::uint8_t component;
    Point source, sample;
    bool tensors;
  };
  const Point in{-0.72 * um, 0.31 * um, 0}, out{0.55 * um, -0.23 * um, 0};
  const Case cases[] = {{"disc, Ez", disc(of_ez), {1.013 * um, 0.01 * um}, Ez, in, out, false},
                        {"disc, Hz", disc(of_hz), {1.013 * um, 0.01 * um}, Hz, in, out, true},
                        {"sphere",
                         sphere_case,
                         {0.363 * um, 0.011 * um},
                         Ex,
                         {0.02 * um, 0.03 * um, 0.01 * um},
                         {-0.45 * um, 0.1 * um, 0.2 * um},
                         true}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const std::int64_t steps = 300;
    const auto sources = c.setting.sources(c.component, c.source);
    const SampleList samples = c.setting.samples(c.component, c.sample);
    const ShapeDerivatives m = c.setting.derivatives(c.at);
    EXPECT_EQ(m.diagonal(), !c.tensors);
    const Tensor got = sample_derivatives(c.setting(c.at), m, sources, samples, steps);
    ASSERT_EQ(got.type(), (Type{Dtype::f64, {2, 1, steps}}));
    for (std::size_t p = 0; p < 2; ++p) {
      const Tensor want = differences(
          [&](const std::vector<double>& at) {
            return c.setting.signal(at, sources, samples, steps);
          },
          c.at, p, 1e-4 * pitch);
      const Tensor mine = reshape(
          slice(slice(got, 0, static_cast<Index>(p), static_cast<Index>(p) + 1), 1, 0, 1), {steps});
      EXPECT_GT(largest(want), 0);
      EXPECT_LE(largest(mine - want), 1e-7 * largest(want)) << "parameter " << p;
    }
  }
}

TEST_F(ShapeDerivativesTest, PortionsMakeNoDifferenceAndOneMayStop) {
  const Setting s = disc(of_hz);
  const std::vector<double> at{1.013 * um, 0.01 * um};
  const auto sources = s.sources(Hz, {-0.72 * um, 0.31 * um, 0});
  const SampleList samples = s.samples(Hz, {0.55 * um, -0.23 * um, 0});
  const ShapeDerivatives m = s.derivatives(at);
  const Tensor whole = sample_derivatives(s(at), m, sources, samples, 100);
  std::vector<double> shares;
  const auto note = [&](double share) {
    shares.push_back(share);
    return true;
  };
  const Tensor parts = sample_derivatives(s(at), m, sources, samples, 100,
                                          {.most_bytes = 2 * 8 * 100 * 40, .go_on = note});
  EXPECT_LE(largest(parts - whole), 1e-12 * largest(whole));
  EXPECT_GT(shares.size(), 8u);
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  EXPECT_NEAR(shares.back(), 1, 1e-12);
  EXPECT_FALSE(sample_derivatives(s(at), m, sources, samples, 100,
                                  {.go_on = [](double share) { return share < 0.5; }})
                   .defined());
}

// The chain in full: shape -> coefficients -> run -> resonance, in reverse through checkpoints,
// forward, by the run's derivatives, and by differences.
TEST_F(ShapeDerivativesTest, ResonancesDifferentiateInShapes) {
  Setting s{.grid = uniform_grid({1.6 * um, 1.4 * um, 0}, pitch),
            .faces = {Faces{Boundary::pec, Boundary::pec}, {Boundary::pec, Boundary::pml}, {}},
            .active = of_ez};
  s.scene = [](const std::vector<double>& p) {
    return Scene{{{cylinder({p[1], -0.21 * um, 0}, p[0], INFINITY), 1, 0, "rod"}}, 0};
  };
  const std::vector<double> at{0.23 * um, 0.05 * um};
  const std::int64_t steps = 3000, start = 1000;
  const auto sources = s.sources(Ez, {-0.3 * um, -0.2 * um, 0});
  ASSERT_LT(sources[0].end_s, static_cast<double>(start) * s.dt);
  const SampleList samples = s.samples(Ez, {0.41 * um, -0.33 * um, 0});
  const ShapeDerivatives m = s.derivatives(at);
  const auto modes = [&](const Tensor& signal) {
    return resonances(slice(signal, 0, start, steps), s.dt, 60e12, 100e12);
  };

  YeeModel model = s(at);
  model.injected = sources[0].edges;
  model.traced = m.edges;
  model.recorded = samples.edges();
  const YeeOpPtr op = yee_op(model);
  std::vector<double> w(static_cast<std::size_t>(steps) * sources[0].edges.size());
  sources[0].fill(0, steps, w.data());
  const Tensor currents = tensor(w, {steps, static_cast<Index>(sources[0].edges.size())});
  const Tensor weights = tensor(samples.weights());
  ASSERT_EQ(samples.edges().size(), samples.weights().size());
  const auto chain = [&](const Tensor& p) {
    return modes(matmul(simulate(op, coefficients(op, m, p), currents,
                                 {.block = 250, .checkpoint = Checkpoint::revolve(3)}),
                        weights));
  };
  const Resonances base = chain(zeros({2}));
  const auto frequency = [&](const Tensor& p) { return slice(chain(p).frequency_hz, 0, 0, 1); };
  const auto decay = [&](const Tensor& p) { return slice(chain(p).decay, 0, 0, 1); };
  const Tensor reverse = concatenate({jacrev(frequency)(zeros({2})), jacrev(decay)(zeros({2}))});
  EXPECT_LE(last_reverse_sweep().snapshots, 3);

  const Tensor signals = sample_derivatives(s(at), m, sources, samples, steps);
  const Tensor signal = s.signal(at, sources, samples, steps);
  for (Index p = 0; p < 2; ++p) {
    const auto [value, derivative] =
        jvp(modes, signal, reshape(slice(signals, 0, p, p + 1), {steps}));
    EXPECT_NEAR(value.frequency_hz.to_vector()[0] / base.frequency_hz.to_vector()[0], 1, 1e-13);
    const Tensor by_differences = differences(
        [&](const std::vector<double>& q) {
          const Resonances r = modes(s.signal(q, sources, samples, steps));
          return concatenate({slice(r.frequency_hz, 0, 0, 1), slice(r.decay, 0, 0, 1)});
        },
        at, static_cast<std::size_t>(p), 1e-3 * pitch);
    const double df = derivative.frequency_hz.to_vector()[0], dg = derivative.decay.to_vector()[0];
    EXPECT_NEAR(reverse.to_vector()[static_cast<std::size_t>(p)] / df, 1, 1e-8);
    EXPECT_NEAR(reverse.to_vector()[static_cast<std::size_t>(2 + p)] / dg, 1, 1e-6);
    EXPECT_NEAR(by_differences.to_vector()[0] / df, 1, 1e-5);
    EXPECT_NEAR(by_differences.to_vector()[1] / dg, 1, 1e-4);
  }
}

TEST_F(ShapeDerivativesTest, SinglePrecisionFollowsDouble) {
  Setting s = disc(of_ez), t = s;
  t.dtype = Dtype::f32;
  const std::vector<double> at{1.013 * um, 0.01 * um};
  const auto sources = s.sources(Ez, {-0.72 * um, 0.31 * um, 0});
  const SampleList samples = s.samples(Ez, {0.55 * um, -0.23 * um, 0});
  const ShapeDerivatives m = s.derivatives(at);
  const Tensor want = sample_derivatives(s(at), m, sources, samples, 400),
               got = sample_derivatives(t(at), m, sources, samples, 400);
  EXPECT_LE(largest(got - want), 2e-5 * largest(want));  // 800 steps of rounding at 6e-8 each, at
                                                         // random, times the weights of the bracket
}

// Shares at slanted faces of media with poles are rounded to 64ths, which a step of 1e-5 of a cell
// does not change: by it alone only the other face of a slab of glass before such a medium moves.
// Faces at 45 degrees, 0.1 of a cell off the nodes: no share is near a half of a 64th.
TEST_F(ShapeDerivativesTest, RoundedSharesDoNotHideAMediumThatMoves) {
  Setting s{.grid = uniform_grid({4 * um, 4 * um, 0}, pitch), .active = of_hz};
  const auto below = [](double x_plus_y) {
    return half_space({x_plus_y / 2, x_plus_y / 2, 0}, {1, 1, 0});
  };
  const auto slab = [&](bool with_its_back) {
    s.scene = [=](const std::vector<double>& p) {
      return Scene{{{below(0.51 * um + p[0]), 1, 0, "glass"},
                    {below(-0.49 * um + (with_its_back ? p[0] : 0)), 2, 0, "back"}},
                   0};
    };
  };
  s.media.push_back({.poles = lorentz(1e14, 1e12, 2)});
  slab(true);
  EXPECT_THROW(s.derivatives({0}), Error);
  slab(false);
  EXPECT_FALSE(s.derivatives({0}).edges.empty());
  s.media[2] = dielectric(4);
  slab(true);
  EXPECT_FALSE(s.derivatives({0}).edges.empty());
}

TEST_F(ShapeDerivativesTest, RefusesWhatItCannotMove) {
  const std::vector<double> at{1.013 * um, 0.01 * um};
  Setting s = disc(of_ez);
  const auto refused = [&](const Medium& m) {
    s.media[1] = m;
    EXPECT_THROW(s.derivatives(at), Error);
  };
  refused({.sigma = {100, 100, 100}});
  refused({.poles = lorentz(1e14, 1e12, 2)});
  refused({.mu = {2, 2, 2}});
  refused({.chi3 = 1e-20});
  refused({.pec = true});
  s.media[1] = dielectric(9);
  EXPECT_THROW(shape_derivatives(s, at, {1e-5 * pitch}), Error);
  EXPECT_THROW(shape_derivatives(s, at, {1e-5 * pitch, 0}), Error);
  const auto other_step = [&](const std::vector<double>& p) {
    YeeModel m = s(p);
    m.dt_s *= 1 - 1e-3 * p[0] / um;
    return m;
  };
  EXPECT_THROW(shape_derivatives(other_step, at, {1e-5 * pitch, 1e-5 * pitch}), Error);
  // A source on the face, where tensors move.
  s = disc(of_hz);
  const SampleList samples = s.samples(Hz, {0.55 * um, -0.23 * um, 0});
  EXPECT_THROW(
      sample_derivatives(s(at), s.derivatives(at), s.sources(Ex, {0, 1.05 * um, 0}), samples, 10),
      Error);
  YeeModel joined = s(at);
  joined.bloch_phase = {0.1, 0, 0};
  EXPECT_THROW(sample_derivatives(joined, s.derivatives(at), s.sources(Hz, {0, 0, 0}), samples, 10),
               Error);
  // Tensors are no arguments of an op.
  YeeModel model = s(at);
  const ShapeDerivatives m = s.derivatives(at);
  model.traced = m.edges;
  EXPECT_THROW(coefficients(yee_op(model), m, zeros({2})), Error);
}

}  // namespace
}  // namespace tessera::electromagnetics
