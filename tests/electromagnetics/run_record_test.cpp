// SPDX-License-Identifier: Apache-2.0
// Whether a former run may be taken off another, and whether a run dies away or grows.
#include "tessera/electromagnetics/run_record.h"

#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/energy_watch.h"
#include "test_constants.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace tessera::electromagnetics {
namespace {

SourceRecord dipole() {
  return {.name = "source[0]",
          .kind = 1,
          .component = Ez,
          .position = {1, 2, 3},
          .extent = {0, 0, 1},
          .direction = {1, 0, 0},
          .polarization = {0, 0, 1},
          .waist = 0.1,
          .focus = 0.2,
          .amplitude = 5,
          .end_s = 7,
          .mode = 2,
          .index = 1.5,
          .bloch_k = {0, 3, 0},
          .waveform = waveform_samples({.at = [](double t) { return t * t; }, .end_s = 7}, 7)};
}

TEST(RunRecord, SourcesComeBackFromTheirTables) {
  const std::vector<SourceRecord> sources{dipole(), dipole()};
  const std::vector<double> table = source_table(sources), waves = waveform_table(sources);
  ASSERT_EQ(table.size(), 2 * source_columns);
  ASSERT_EQ(waves.size(), 2 * waveform_points);
  EXPECT_EQ(std::vector<double>(table.begin() + 2, table.begin() + 5),
            (std::vector<double>{1, 2, 3}));
  const std::vector<SourceRecord> again = source_records(table, waves);
  EXPECT_FALSE(difference(again, sources, 1));
  EXPECT_EQ(source_table(again), table);
  EXPECT_EQ(waveform_table(again), waves);
  EXPECT_THROW(source_records(table, {}), Error);
  EXPECT_THROW(source_records(std::vector<double>(source_columns, NAN),
                              std::vector<double>(waveform_points)),
               Error);
}

TEST(RunRecord, TellsTheFirstDifferenceOfSources) {
  const std::vector<SourceRecord> own{dipole()};
  const auto what = [&](const std::vector<SourceRecord>& former) {
    const auto found = difference(former, own, 10);
    return found ? found->what : "";
  };
  EXPECT_EQ(what(own), "");
  EXPECT_EQ(what({}), "has 0 sources, this one 1");
  std::vector<SourceRecord> former = own;
  former[0].position[0] += 1e-9;  // within 1e-9 of the domain
  EXPECT_EQ(what(former), "");
  former[0].position[0] += 1e-7;
  EXPECT_EQ(what(former), "has another position along x of source[0]: 1.0000001 there, 1 here");
  former = own;
  former[0].kind = 2;
  EXPECT_EQ(what(former), "has another kind of source[0]");
  former = own;
  former[0].mode = 1;
  EXPECT_EQ(what(former), "has another mode of source[0]: 1 there, 2 here");
  former = own;
  former[0].bloch_k[1] = 2;
  EXPECT_EQ(what(former), "has another Bloch vector along y of source[0]: 2 there, 3 here");
  former = own;
  former[0].waveform[3] += 1;
  EXPECT_EQ(what(former), "has another waveform of source[0]");
}

TEST(RunRecord, TellsTheFirstDifferenceOfTransforms) {
  const YeeGrid grid = uniform_grid({8 * cell, 8 * cell, 0}, cell);
  SampleList samples(grid, {pec, pec, joined});
  samples.add(Ez, cells(1, 1, 0));
  const TransformRecord own{{1e9, 2e9}, 1e-12, 4, sampled_positions(samples)};
  // One unknown, Ez, with one x, one y and one z; nothing of the others.
  EXPECT_EQ(own.positions.size(), 6 * 4 + 3U);
  const auto in = [&](const TransformRecord& former) {
    const auto found = difference(former, own, "m", 8 * cell);
    return found ? static_cast<int>(found->in) : -1;
  };
  using In = RunDifference::In;
  TransformRecord former = own;
  former.every = 1;  // how often it looked may differ
  EXPECT_EQ(in(former), -1);
  former.frequencies_hz = {1e9};
  EXPECT_EQ(in(former), static_cast<int>(In::frequencies));
  former.frequencies_hz = {1e9, 2.1e9};
  EXPECT_EQ(in(former), static_cast<int>(In::frequencies));
  former = own;
  former.dt_s *= 1 + 1e-8;
  EXPECT_EQ(in(former), static_cast<int>(In::time_step));
  former = own;
  former.positions.back() += cell;
  EXPECT_EQ(in(former), static_cast<int>(In::positions));
}

/// A line of cells between conductors, filled by a medium of `sigma`.
TimeDomain ringing(double sigma) {
  const YeeGrid grid = uniform_grid({40 * cell, 0, 0}, cell);
  const std::array<Faces, 3> faces{pec, joined, joined};
  const double dt = 0.9 * stable_time_step(grid);
  Medium m{.name = "m"};
  m.sigma = {sigma, sigma, sigma};
  YeeModel model = yee_model(grid, faces, {}, dt, Dtype::f64, {}, {m});
  model.active = {false, true, true, false, true, true};
  return TimeDomain(
      std::move(model),
      {current_source(grid, faces, dt, Ez, {0, 0, 0}, {0, 0, 0}, 1, gaussian_pulse(5e9, 4e9))}, {});
}

TEST(EnergyWatch, SeesARunDieAway) {
  TimeDomain run = ringing(0.05);
  EnergyWatch watch;
  bool fallen = false;
  for (int k = 0; k < 100 && !fallen; ++k) {
    run.advance(100);
    ASSERT_FALSE(watch.grows(run)) << run.step();
    fallen = run.time_s() > run.sources_end_s() && watch.has_fallen(60);
  }
  EXPECT_TRUE(fallen);
  EXPECT_GE(watch.fallen_db(), 60);
  EXPECT_GT(watch.least_stored_j, 0);
}

/// A line of `n` cells between absorbing layers, a source in its middle.
TimeDomain passing(int n, const Waveform& w, std::vector<Injection>& sources) {
  const YeeGrid grid = uniform_grid({(n + 20) * cell, 0, 0}, cell);
  const std::array<Faces, 3> faces{pml, joined, joined};
  const double dt = 0.9 * stable_time_step(grid);
  YeeModel model = yee_model(grid, faces, {.cells = 10}, dt, Dtype::f64, {}, {Medium{.name = "m"}});
  model.active = {false, true, true, false, true, true};
  sources = {current_source(grid, faces, dt, Ez, {0, 0, 0}, {0, 0, 0}, 1, w)};
  return {std::move(model), sources, {}};
}

/// Between checks ten periods apart the pulse has come and gone; with looks the peak is that of a
/// look after each step, in domains shorter than the pulse and longer ones.
TEST(EnergyWatch, KnowsThePeakOfAPulseThatPassesBetweenChecks) {
  for (const int n : {2, 10, 60})
    for (const Waveform& w : {gaussian_pulse(2.75e9, 4.5e9), gaussian_pulse(4.75e9, 0.5e9),
                              gaussian_derivative(1, 0.1e-9, 0.45e-9)}) {
      std::vector<Injection> sources;
      TimeDomain each = passing(n, w, sources), some = passing(n, w, sources);
      const double period = 1 / 5e9 / each.dt_s();
      const auto check = std::llround(10 * period), last = 3 * std::llround(w.end_s / each.dt_s());
      const std::vector<std::int64_t> at =
          loud_steps(sources, each.dt_s(), std::llround(0.25 * period));
      ASSERT_FALSE(at.empty());
      EXPECT_LE(at.size(), 16U);
      EXPECT_TRUE(std::is_sorted(at.begin(), at.end()));
      EnergyWatch true_one, watch;
      while (each.step() < last) each.advance(1), true_one.look(each);
      auto next = at.begin();
      while (some.step() < last) {
        const std::int64_t to_check = (some.step() / check + 1) * check;
        const bool looks = next != at.end() && *next < to_check;
        some.advance((looks ? *next++ : to_check) - some.step());
        if (looks) {
          watch.look(some);
        } else {
          EXPECT_FALSE(watch.grows(some)) << n << ' ' << some.step();
        }
      }
      EXPECT_LT(10 * std::log10(true_one.peak_j / watch.peak_j), 1) << n << ' ' << w.end_s;
      EXPECT_GE(true_one.peak_j, watch.peak_j);
    }
}

TEST(EnergyWatch, LooksWhereASourceIsLoud) {
  const auto of = [](double end_s, std::function<double(double)> at) {
    Injection out;
    out.edges = {{Ez, 1, 0, 0}};
    out.end_s = end_s;
    out.fill = [at = std::move(at)](std::int64_t first, std::int64_t n, double* to) {
      for (std::int64_t q = 0; q < n; ++q) to[q] = at(static_cast<double>(first + q));
    };
    return out;
  };
  EXPECT_TRUE(loud_steps({}, 1, 4).empty());
  // Never ends; is silent; has ended before it begins.
  const std::vector<Injection> none{of(INFINITY, [](double) { return 1; }),
                                    of(400, [](double) { return 0; }),
                                    of(0, [](double) { return 1; })};
  EXPECT_TRUE(loud_steps(none, 1, 4).empty());
  // A burst at 200: two samples on each side, every second one.
  const auto burst = of(400, [](double n) { return n == 200 ? -3.0 : 0.1; });
  EXPECT_EQ(loud_steps(std::vector{burst}, 1, 4), (std::vector<std::int64_t>{196, 204, 212}));
  // The weaker one is listened to as well, and both at once are looked at once.
  const auto weaker = of(400, [](double n) { return n == 80 || n == 200 ? 1e-6 : 0.0; });
  EXPECT_EQ(loud_steps(std::vector{burst, weaker}, 1, 4),
            (std::vector<std::int64_t>{76, 84, 92, 196, 204, 212}));
  EXPECT_EQ(loud_steps(std::vector{weaker}, 1, 4, 100), (std::vector<std::int64_t>{76, 84, 92}));
  // Loud all the time.
  const auto steady = of(4e5, [](double) { return 1; });
  const std::vector<std::int64_t> at = loud_steps(std::vector{steady}, 1, 4);
  EXPECT_GE(at.size(), 12U);
  EXPECT_LE(at.size(), 13U);
  EXPECT_GT(at.back(), 360000);
}

/// After how many checks an energy that goes like `at` is told to stay, in spans of 20; 0: never.
int told_after(const std::function<double(int)>& at) {
  EnergyWatch watch;
  for (int k = 1; k <= 400; ++k) {
    watch.energy_j = at(k);
    if (watch.stays(100 * k, 2000)) return k;
  }
  return 0;
}

TEST(EnergyWatch, TellsAnEnergyThatDoesNotFall) {
  const auto db = [](double x) { return std::pow(10, -x / 10); };
  EXPECT_EQ(told_after([](int) { return 1e-12; }), 41);
  EXPECT_EQ(told_after([&](int k) { return db(0.004 * k); }), 41);  // 0.08 dB in a span
  EXPECT_EQ(told_after([&](int k) { return db(0.0055 * k); }), 0);  // 0.11 dB
  EXPECT_EQ(told_after([&](int k) { return db(-0.01 * k); }), 41);  // growth that is no blow-up
  EXPECT_EQ(told_after([](int) { return 0.0; }), 0);
  // It swings by 10 dB and falls, or does not.
  const auto swing = [](int k) { return 1.1 + std::cos(1.3 * k); };
  EXPECT_EQ(told_after([&](int k) { return swing(k) * db(0.05 * k); }), 0);
  EXPECT_EQ(told_after(swing), 41);
  // Falls to a floor.
  EXPECT_NEAR(told_after([&](int k) { return db(k) + db(52); }), 101, 20);
}

TEST(EnergyWatch, SeesAnActiveMediumGrow) {
  TimeDomain run = ringing(-0.02);
  EnergyWatch watch;
  bool grown = false;
  for (int k = 0; k < 100 && !grown; ++k) {
    run.advance(100);
    grown = watch.grows(run);
  }
  EXPECT_TRUE(grown);
  EXPECT_GT(watch.stored_j, 10 * watch.explained_j);
  EXPECT_GT(watch.explained_j, 0);
}

}  // namespace
}  // namespace tessera::electromagnetics
