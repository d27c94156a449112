// SPDX-License-Identifier: Apache-2.0
// Whether a former run may be taken off another, and whether a run dies away or grows.
#include "tessera/electromagnetics/run_record.h"

#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/energy_watch.h"
#include "test_constants.h"

#include <gtest/gtest.h>

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

TEST(EnergyWatch, SeesAnActiveMediumGrow) {
  TimeDomain run = ringing(-0.02);
  EnergyWatch watch;
  bool grown = false;
  for (int k = 0; k < 100 && !grown; ++k) {
    run.advance(100);
    grown = watch.grows(run);
    if (run.time_s() < run.sources_end_s()) {
      EXPECT_FALSE(grown);
    }
  }
  EXPECT_TRUE(grown);
  EXPECT_GT(watch.stored_j, 10 * watch.least_stored_j);
}

}  // namespace
}  // namespace tessera::electromagnetics
