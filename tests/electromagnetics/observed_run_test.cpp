// SPDX-License-Identifier: Apache-2.0
//
// Runs whose results differentiate: values against a run that steps without them and keeps its
// records itself, derivatives against differences.
#include "tessera/electromagnetics/observed_run.h"

#include "tessera/autodiff/check.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/monitors.h"
#include "yee_everything.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace tessera::electromagnetics {
namespace {

using Tensors = std::vector<Tensor>;
constexpr double joined_phase = 1.3;
const std::vector<double> some_hz{5e9, 20e9};

/// Design edges of all components, clear of losses, poles and the conductor.
YeeModel scene(double phase) {
  YeeModel m = model_with_everything({joined, pec, Faces{}});
  m.bloch_phase = {phase, 0, 0};
  m.traced.clear();
  for (const std::uint8_t c : {Ex, Ey, Ez})
    for (int i = 5; i < 8; ++i) m.traced.push_back({c, i, 3, 4});
  return m;
}

/// Two sources: one that rings on all the time, and one that ends within a block of steps and that,
/// between faces with a phase, has one of its own.
std::vector<Injection> sources(const YeeModel& m, double phase) {
  const auto fill = [](std::size_t n_edges, double rate) {
    return [n_edges, rate](std::int64_t first, std::int64_t n, double* w) {
      for (std::int64_t s = 0; s < n; ++s)
        for (std::size_t e = 0; e < n_edges; ++e)
          w[static_cast<std::size_t>(s) * n_edges + e] =
              std::sin(rate * static_cast<double>(first + s) + static_cast<double>(e));
    };
  };
  Injection rings{{{Ez, 6, 5, 6}, {Hx, 7, 6, 6}}, fill(2, 0.31), INFINITY};
  Injection ends{{{Ex, 8, 3, 7}}, fill(1, 0.57), 41 * m.dt_s};
  if (phase != 0) ends.phase = {0.7};
  return {rings, ends};
}

Observation transforms(const YeeModel& m) {
  Observation o{.edges = m.recorded, .frequencies_hz = some_hz, .every = 3};
  o.start = noise(2 * some_hz.size() * o.edges.size(), 5);
  return o;
}
Observation few(const YeeModel& m) {
  return {.edges = {m.recorded.begin(), m.recorded.begin() + 5}, .kept = {0, 17, 31, 32, 97}};
}
/// More than are picked by sums.
Observation many(const YeeModel& m) {
  Observation o{.edges = {m.recorded.begin() + 3, m.recorded.end()}};
  o.kept.resize(80);
  std::iota(o.kept.begin(), o.kept.end(), 15);
  return o;
}

/// Steps of the run that take no part in blocks of 32 are left at its end.
constexpr std::int64_t n_steps = 103;

class ObservedRuns : public ::testing::Test {
 protected:
  void SetUp() override { set_num_threads(1); }  // the grid is small
  void TearDown() override { set_num_threads(before_); }

 private:
  int before_ = num_threads();
};

/// What TimeDomain leaves at `edges`: [step, edge] of either part.
struct Kept {
  std::vector<double> real, imaginary;
};
Kept stepped(const YeeModel& m, double phase, const std::vector<Edge>& edges, RunningDft* dft) {
  TimeDomain run(m, sources(m, phase), edges);
  Kept out;
  run.advance(n_steps, [&](const Records& r) {
    if (dft) dft->add(r);
    for (std::int64_t n = 0; n < r.n_steps; ++n) {
      out.real.insert(out.real.end(), r.step(n).begin(), r.step(n).end());
      if (const double* y = r.imaginary_step(n))
        out.imaginary.insert(out.imaginary.end(), y, y + r.n_columns);
    }
  });
  return out;
}

/// Sums of another order: 1e-12 of the largest.
void expect_records(const Tensor& got, const Kept& all, const Observation& o, int parts) {
  const std::size_t columns = o.edges.size(), rows = o.kept.size();
  const std::vector<double> v = got.to_vector<double>();
  ASSERT_EQ(v.size(), static_cast<std::size_t>(parts) * rows * columns);
  for (std::size_t part = 0; part < static_cast<std::size_t>(parts); ++part) {
    const std::vector<double>& want = part == 0 ? all.real : all.imaginary;
    double largest = 0;
    for (const double x : want) largest = std::max(largest, std::abs(x));
    ASSERT_GT(largest, 1e-3);
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t e = 0; e < columns; ++e)
        ASSERT_NEAR(v[(part * rows + r) * columns + e],
                    want[static_cast<std::size_t>(o.kept[r]) * columns + e], 1e-12 * largest)
            << part << " " << r << " " << e;
  }
}

TEST_F(ObservedRuns, KeepWhatAnOrdinaryRunKeeps) {
  for (const double phase : {0.0, joined_phase}) {
    const YeeModel m = scene(phase);
    const Observation t = transforms(m), f = few(m), g = many(m);
    const ObservedRun run(m, sources(m, phase), {f, t, g}, n_steps);
    const int parts = phase == 0 ? 1 : 2;
    const Tensors got = run.values({}, {});
    ASSERT_EQ(got.size(), 3u);
    expect_records(got[0], stepped(m, phase, f.edges, nullptr), f, parts);
    expect_records(got[2], stepped(m, phase, g.edges, nullptr), g, parts);
    RunningDft dft(some_hz, m.dt_s, t.edges, t.every);
    dft.restore(t.start);
    stepped(m, phase, t.edges, &dft);
    const std::vector<c128> x = got[1].to_vector<c128>();
    for (std::size_t k = 0; k < some_hz.size(); ++k) {
      const std::vector<c128> want = dft.at(k);
      double largest = 0;
      for (const c128& w : want) largest = std::max(largest, std::abs(w));
      for (std::size_t e = 0; e < want.size(); ++e)
        ASSERT_LE(std::abs(x[k * want.size() + e] - want[e]), 1e-12 * largest) << k << " " << e;
    }
  }
}

TEST_F(ObservedRuns, AreLinearInTheStrengthsAndKnowThePermittivitiesOfTheirModel) {
  const YeeModel m = scene(0);
  const std::vector<Injection> both = sources(m, 0);
  const ObservedRun run(m, both, {few(m)}, n_steps), second(m, {both[1]}, {few(m)}, n_steps);
  const Tensor want = second.values({}, tensor({-2.5}))[0];
  const Tensor found = run.values({}, tensor({0.0, -2.5}))[0];
  EXPECT_LE(max(abs(found - want)).item(), 1e-13 * max(abs(want)).item());
  const YeeOpPtr op = run.op();
  std::vector<double> inverse;
  for (std::size_t e = 0; e < op->design.size(); ++e)
    inverse.push_back(op->coefficient[e] / op->unit[e]);
  const Tensor as_model = run.values({}, {})[0], as_said = run.values(tensor(inverse), {})[0];
  EXPECT_LE(max(abs(as_model - as_said)).item(), 1e-13 * max(abs(as_model)).item());
}

TEST_F(ObservedRuns, DifferentiateInPermittivitiesAndStrengths) {
  for (const double phase : {0.0, joined_phase}) {
    const YeeModel m = scene(phase);
    const ObservedRun run(m, sources(m, phase), {few(m), transforms(m), many(m)}, n_steps);
    const auto objective = [&](Tensor inverse_eps, Tensor strengths) {
      const Tensors v = run.values(inverse_eps, strengths);
      const Tensor x = v[1] * 1e11;
      return 1e4 * (sum(square(v[0])) + 0.1 * sum(square(v[2]))) +
             sum(log(1.0 + real(x * conj(x))));
    };
    const Tensor inverse = tensor({0.5, 0.6, 0.7, 0.5, 0.4, 0.6, 0.3, 0.5, 0.8});
    const CheckReport r =
        gradcheck(objective, std::tuple(inverse, tensor({1.0, -0.7})), {.directions = 2});
    EXPECT_TRUE(r.passed) << to_string(r);
  }
}

TEST_F(ObservedRuns, SamplesOfRecordsAreTheirRealPart) {
  SampleList samples(scene(0).grid, {joined, pec, pec}, {true, true, true, true, true, true},
                     nullptr, {joined_phase, 0, 0});
  samples.add(Ez, {1.2e-4, 3.1e-3, 4.4e-3});  // beside a joined face
  samples.add(Hx, {6.2e-3, 3.3e-3, 5e-3});
  const auto n = static_cast<Index>(samples.edges().size());
  const Tensor two = noise_like({2, 3, n}, 3), one = select(two, 0, 0);
  const std::vector<double> both = real_sample_values(samples, two).to_vector<double>(),
                            x = two.to_vector<double>();
  SampleList plain(scene(0).grid, {joined, pec, pec});
  plain.add(Hx, {6.2e-3, 3.3e-3, 5e-3});
  const auto edges = static_cast<Index>(plain.edges().size());
  const Tensor y = noise_like({3, edges}, 4);
  const std::vector<double> single = real_sample_values(plain, y).to_vector<double>(),
                            v = y.to_vector<double>();
  for (Index step = 0; step < 3; ++step) {
    for (Index row = 0; row < 2; ++row)
      EXPECT_NEAR(both[static_cast<std::size_t>(2 * step + row)],
                  samples.value(row, x.data() + step * n, x.data() + (3 + step) * n), 1e-9);
    EXPECT_NEAR(single[static_cast<std::size_t>(step)], plain.value(0, v.data() + step * edges),
                1e-9);
  }
}

TEST_F(ObservedRuns, RefuseWhatTheyCannotKeep) {
  const YeeModel m = scene(0);
  const auto make = [&](Observation o, std::int64_t steps = n_steps) {
    return ObservedRun(m, sources(m, 0), {std::move(o)}, steps);
  };
  EXPECT_THROW(make({.edges = m.recorded}), Error);
  EXPECT_THROW(make({.edges = m.recorded, .kept = {5, 4}}), Error);
  EXPECT_THROW(make({.edges = m.recorded, .kept = {n_steps}}), Error);
  EXPECT_THROW(make({.edges = m.recorded, .kept = {0}}, 0), Error);
  Observation t = transforms(m);
  t.start.pop_back();
  EXPECT_THROW(make(t), Error);
  try {  // 3 edges in 4 blocks of 32 steps
    ObservedRun(m, sources(m, 0), {few(m)}, n_steps, {.most_bytes = 3000});
    FAIL();
  } catch (const CurrentsTooLarge& e) {
    EXPECT_EQ(e.edges, 3);
    EXPECT_EQ(e.steps, 128);
    EXPECT_EQ(e.bytes, 3 * 128 * 8);
  }
}

/// In the third of four blocks; the next call is whole.
TEST_F(ObservedRuns, EndWhereWhatComesBeforeABlockThrows) {
  struct Ended {};
  const YeeModel m = scene(0);
  const auto derivative = [&](const ObservedRun& run) {
    return jvp([&](const Tensor& strength) { return run.values({}, strength)[0]; }, full({2}, 1.0),
               full({2}, 1.0));
  };
  int blocks = 0;
  const ObservedRun run(m, sources(m, 0), {transforms(m)}, n_steps, {.before_block = [&] {
                          if (++blocks == 3) throw Ended();
                        }});
  EXPECT_THROW(run.values({}, {}), Ended);
  EXPECT_EQ(blocks, 3);
  blocks = 0;
  EXPECT_THROW(derivative(run), Ended);
  const auto [value, slope] = derivative(run);
  const auto [plain, plain_slope] =
      derivative(ObservedRun(m, sources(m, 0), {transforms(m)}, n_steps));
  EXPECT_EQ(value.to_vector<c128>(), plain.to_vector<c128>());
  EXPECT_EQ(slope.to_vector<c128>(), plain_slope.to_vector<c128>());
}

}  // namespace
}  // namespace tessera::electromagnetics
