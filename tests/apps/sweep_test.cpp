// SPDX-License-Identifier: Apache-2.0
// `tessera sweep`: a run folder for each point, one table, and a kill that does no harm.
#include "app_test.h"
#include "tessera/data/hdf5.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <signal.h>

#include <chrono>
#include <thread>

using namespace tessera::testing;
namespace fs = std::filesystem;

namespace {

class SweepCommand : public AppTest {
 protected:
  static std::vector<std::string> program(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), TESSERA_SAMPLE_PROGRAM);
    return arguments;
  }
  Outcome tessera(std::vector<std::string> arguments) const {
    return RunningProgram(program(std::move(arguments)), here()).wait();
  }
  /// A case whose sum has `n` terms of a length, swept as `over` says.
  void write_case(const std::string& over, const std::string& more = "") const {
    write("case.toml", "app = \"demo.sample\"\n" + more +
                           "[parameters]\nn = 10\nscale = \"2 m\"\n"
                           "[sum]\nterms = \"n\"\nscale = \"scale\"\npause = \"1 ms\"\n"
                           "[sweep.over]\n" +
                           over);
  }
  bool exists(const fs::path& name) const { return fs::exists(here() / name); }
};

double sum_of(int n, double scale) {
  double sum = 0;
  for (int k = 1; k <= n; ++k) sum += scale / (static_cast<double>(k) * k);
  return sum;
}

TEST_F(SweepCommand, EachPointIsARunAndOneTableHasThemAll) {
  write_case("n = [1, 10, 100]\nscale = [\"1 m\", \"50 cm\"]\n");
  const Outcome o = tessera({"sweep", "case.toml"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out, "case.sweep\n");
  EXPECT_TRUE(holds(o.err, "point 6 of 6, n = 100, scale = 500 mm: finished")) << o.err;
  EXPECT_TRUE(holds(o.err, " left")) << o.err;
  for (int i = 1; i <= 6; ++i)
    EXPECT_TRUE(exists("case.sweep/points/" + std::to_string(i) + "/manifest.json")) << i;
  EXPECT_FALSE(exists("case.sweep/points/7"));
  for (const char* file : {"points.csv", "results.h5", "plots/metrics.png", "plots/metrics.svg",
                           "input.toml", "resolved.toml", "manifest.json"})
    EXPECT_TRUE(exists("case.sweep" / fs::path(file))) << file;

  std::istringstream table(read("case.sweep/points.csv"));
  std::string line;
  std::getline(table, line);
  EXPECT_EQ(line, "point,n,scale_m,sum,exit_code,reason");
  std::getline(table, line);
  EXPECT_EQ(line, "1,1,1,1,0,finished");

  auto h5 = tessera::data::read_h5(here() / "case.sweep/results.h5");
  const auto sums = std::get<std::vector<double>>(h5.at("/metrics/sum").data),
             n = std::get<std::vector<double>>(h5.at("/parameters/n").data),
             scale = std::get<std::vector<double>>(h5.at("/parameters/scale").data);
  ASSERT_EQ(sums.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i)
    EXPECT_EQ(sums[i], sum_of(static_cast<int>(n[i]), scale[i])) << i;
}

// A point is what `tessera run` makes of the case with its values; its folder is a run folder.
TEST_F(SweepCommand, APointIsThatOfTheCaseWithItsValues) {
  write_case("n = [7, 9]\n");
  ASSERT_EQ(tessera({"sweep", "case.toml", "-o", "S"}).code, 0);
  ASSERT_EQ(tessera({"run", "case.toml", "--set", "parameters.n=9", "-o", "R"}).code, 0);
  EXPECT_EQ(read("S/points/2/sum.txt"), read("R/sum.txt"));
  EXPECT_EQ(read("S/points/2/resolved.toml"), read("R/resolved.toml"));
  EXPECT_FALSE(holds(read("R/resolved.toml"), "sweep"));
  EXPECT_EQ(tessera({"info", "S/points/2"}).code, 0);
  EXPECT_EQ(tessera({"info", "S"}).code, 0);
  EXPECT_EQ(tessera({"plot", "S/points/2"}).code, 0);
  const Outcome plot = tessera({"plot", "S"});
  EXPECT_EQ(plot.code, 0) << plot.err;
  EXPECT_TRUE(holds(plot.out, "S/plots/metrics.png")) << plot.out;
  const Outcome again = tessera({"resume", "S"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_TRUE(holds(again.err, "nothing is left to do")) << again.err;
  const Outcome unused = tessera({"sweep", "case.toml", "-o", "U", "--set", "parameters.n=8"});
  EXPECT_EQ(unused.code, 0) << unused.err;
  EXPECT_TRUE(holds(unused.err,
                    "--set parameters.n=8: warning E0225: parameter 'n' has the values of "
                    "[sweep.over], this one is not used"))
      << unused.err;
  EXPECT_EQ(read("U/points.csv"), read("S/points.csv"));
  const Outcome table =
      tessera({"sweep", "case.toml", "-o", "T", "--set", "parameters={n=8, scale=\"2 m\"}"});
  EXPECT_TRUE(holds(table.err, "parameter 'n' has the values of [sweep.over]")) << table.err;
}

TEST_F(SweepCommand, CheckAndEstimateKnowOfIt) {
  write_case("n = {from = 1, to = 5, count = 5}\n");
  const Outcome check = tessera({"check", "case.toml"});
  EXPECT_EQ(check.code, 0) << check.err;
  EXPECT_TRUE(holds(check.out, "5 points, from n = 1 to n = 5")) << check.out;
  const Outcome other =
      tessera({"check", "case.toml", "--set", "sweep.over.n={from=2, to=6, step=2}"});
  EXPECT_TRUE(holds(other.out, "3 points, from n = 2 to n = 6")) << other.out << other.err;
  EXPECT_TRUE(holds(tessera({"estimate", "case.toml"}).out, "a sweep of it has 5 such runs"));
  write_case("m = [1]\n");
  EXPECT_EQ(tessera({"check", "case.toml"}).code, 5);
}

// Killed anywhere, between two points or within one, also before a point's first checkpoint.
TEST_F(SweepCommand, AKillDoesNoHarm) {
  write_case("n = [60, 20, 90]\nscale = [\"1 m\", \"3 m\"]\n");
  ASSERT_EQ(tessera({"sweep", "case.toml", "-o", "whole"}).code, 0);
  for (int k = 0; k < 6; ++k) {
    const std::string to = "killed" + std::to_string(k);
    RunningProgram sweep(program({"sweep", "case.toml", "-o", to, "--checkpoint-every", "10 ms"}),
                         here());
    std::this_thread::sleep_for(std::chrono::milliseconds(30 + 70 * k));
    ::kill(sweep.pid(), SIGKILL);
    sweep.wait();
    if (!exists(to + "/manifest.json")) continue;  // nothing had begun
    const Outcome again = tessera({"resume", to});
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_EQ(read(to + "/points.csv"), read("whole/points.csv")) << k;
    EXPECT_EQ(read(to + "/results.h5"), read("whole/results.h5")) << k;
    EXPECT_EQ(read(to + "/plots/metrics.png"), read("whole/plots/metrics.png")) << k;
  }
}

// What is put side by side is of one state of the files that it was made of.
TEST_F(SweepCommand, APointOfOtherInputsThanThoseBeforeIsRefused) {
  write("in.txt", "one");
  write_case("n = [10, 20, 30]\n", "data.input = \"in.txt\"\n");
  ASSERT_EQ(tessera({"sweep", "case.toml", "-o", "S"}).code, 0);
  const std::string table = read("S/points.csv");
  fs::remove_all(here() / "S/points/2");
  write("in.txt", "two");
  const Outcome other = tessera({"resume", "S"});
  EXPECT_EQ(other.code, 4) << other.err;
  EXPECT_TRUE(
      holds(other.err, "in.txt: error E0418: has changed since points of the sweep were run"))
      << other.err;
  EXPECT_FALSE(exists("S/points/2"));
  write("in.txt", "one");
  const Outcome again = tessera({"resume", "S"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_TRUE(holds(again.err, "going on from point 2 of 3")) << again.err;
  EXPECT_EQ(read("S/points.csv"), table);
}

TEST_F(SweepCommand, ItStopsWithACheckpointWhenItIsAskedTo) {
  write_case("n = [20, 4000, 20]\n");
  const auto begun = [&](const std::string& to) {
    while (!exists(to + "/points/2/manifest.json"))
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  };
  {
    RunningProgram sweep(program({"sweep", "case.toml", "-o", "S"}), here());
    begun("S");
    EXPECT_EQ(tessera({"stop", "S"}).code, 0);
    const Outcome o = sweep.wait();
    EXPECT_EQ(o.code, 75) << o.err;
    EXPECT_TRUE(holds(o.err, "go on with: tessera resume S\n")) << o.err;
    EXPECT_FALSE(holds(o.err, "points/2\n")) << o.err;
    EXPECT_TRUE(holds(read("S/points.csv"), "\n3,20,,-1,")) << read("S/points.csv");
    EXPECT_EQ(tessera({"resume", "S"}).code, 0);
  }
  {
    RunningProgram sweep(program({"sweep", "case.toml", "-o", "T"}), here());
    begun("T");
    ::kill(sweep.pid(), SIGTERM);
    EXPECT_EQ(sweep.wait().code, 75);
    EXPECT_EQ(tessera({"resume", "T"}).code, 0);
  }
  EXPECT_EQ(tessera({"sweep", "case.toml", "-o", "U", "--max-time", "500 ms"}).code, 75);
  EXPECT_EQ(tessera({"resume", "U"}).code, 0);
  EXPECT_EQ(read("S/points.csv"), read("T/points.csv"));
  EXPECT_EQ(read("S/points.csv"), read("U/points.csv"));
}

TEST_F(SweepCommand, AllThatIsWrongIsToldBeforeTheFirstRun) {
  write_case("n = [10, 0, -1]\n");
  const Outcome o = tessera({"sweep", "case.toml"});
  EXPECT_EQ(o.code, 5) << o.err;  // as `check` of the point says
  EXPECT_TRUE(holds(o.err, "(at n = 0)")) << o.err;
  EXPECT_TRUE(holds(o.err, "(at n = -1)")) << o.err;
  EXPECT_TRUE(holds(o.err, "2 of 3 points cannot be run")) << o.err;
  EXPECT_FALSE(exists("case.sweep"));
  const Outcome without = tessera({"sweep", "case.toml", "--keep-going"});
  EXPECT_EQ(without.code, 5) << without.err;
  EXPECT_TRUE(holds(without.err, "1 of 3 points have results")) << without.err;
  EXPECT_TRUE(holds(read("case.sweep/points.csv"), "\n2,0,,5,")) << read("case.sweep/points.csv");
  EXPECT_TRUE(holds(read("case.sweep/points.csv"), "\n1,10,")) << read("case.sweep/points.csv");
  // Drawn anew it says the same of points that have no folder.
  const std::string before = read("case.sweep/points.csv");
  ASSERT_EQ(tessera({"plot", "case.sweep"}).code, 0);
  EXPECT_EQ(read("case.sweep/points.csv"), before);
}

TEST_F(SweepCommand, NoTwoColumnsHaveOneName) {
  write("case.toml",
        "app = \"demo.sample\"\n[parameters]\nsum = 3\n[sum]\nterms = \"sum\"\n"
        "[sweep.over]\nsum = [3, 4]\n");
  ASSERT_EQ(tessera({"sweep", "case.toml"}).code, 0);
  EXPECT_TRUE(
      read("case.sweep/points.csv").starts_with("point,sum,metric.sum,exit_code,reason\n1,3,"))
      << read("case.sweep/points.csv");
}

TEST_F(SweepCommand, PicturesAreLeftOutWhereTheCaseSaysSo) {
  write("waves.toml", R"(app = "electromagnetics.fdtd"
output = {vtk = false, scene = false}
parameters.e = 2
grid = {size = ["1 um", "0 um", "0 um"], cell = "50 nm"}
run.stop.steps = 40
boundary.pml.cells = 4
material = [{name = "m", eps = "e"}]
structure = [{shape = "box", material = "m", size = ["0.2 um", "0 um", "0 um"]}]
[[source]]
kind = "point"
component = "Ez"
position = ["-0.2 um", "0 um", "0 um"]
waveform = {kind = "gaussian", frequency = "150 THz", bandwidth = "120 THz"}
[[monitor]]
kind = "flux"
name = "out"
position = ["0.2 um", "0 um", "0 um"]
size = ["0 um", "0 um", "0 um"]
frequencies = ["120 THz", "150 THz"]
[sweep.over]
e = [2, 3]
)");
  for (const bool drawn : {true, false}) {
    const Outcome o = AppTest::tessera({"sweep", "waves.toml", "-o", drawn ? "D" : "N", "--set",
                                        drawn ? "title=\"with\"" : "output.pictures=false"});
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(fs::is_empty(here() / (drawn ? "D/plots" : "N/plots")), !drawn);
  }
}

TEST_F(SweepCommand, APointThatEndsBadlyDoesNotEndTheOthers) {
  write_case("n = [1, 2]\n", "ending = \"blow_up\"\n");
  const Outcome o = tessera({"sweep", "case.toml", "-o", "B"});
  EXPECT_EQ(o.code, 7) << o.err;
  EXPECT_TRUE(holds(read("B/points.csv"), "\n2,2,1.25,7,numerical blow-up") ||
              holds(read("B/points.csv"), "\n2,2,2.5,7,numerical blow-up"))
      << read("B/points.csv");
  write_case("n = [1, 2]\n", "ending = \"not_converged\"\n");
  EXPECT_EQ(tessera({"sweep", "case.toml", "-o", "C"}).code, 6);
  const Outcome again = tessera({"resume", "C"});
  EXPECT_EQ(again.code, 6) << again.err;
  EXPECT_FALSE(holds(again.err, "point 1 of 2")) << again.err;  // its results are kept
}

TEST_F(SweepCommand, APointThatFindsNoMemoryDoesNotEndTheOthers) {
  for (const std::string how : {"no_memory", "too_large"}) {
    write_case("n = [1, 2]\n", "ending = \"" + how + "\"\n");
    const Outcome o = tessera({"sweep", "case.toml", "-o", how});
    EXPECT_EQ(o.code, 3) << o.err;
    EXPECT_TRUE(holds(read(how + "/points.csv"), "\n2,2,3,")) << read(how + "/points.csv");
    EXPECT_TRUE(holds(read(how + "/manifest.json"), "\"exit_code\": 3"))
        << read(how + "/manifest.json");
  }
}

// The point itself no longer asks whether it has come.
TEST_F(SweepCommand, ASignalWhileAPointWritesItsResultsStopsTheSweep) {
  write_case("n = [1, 2, 3]\n", "ending = \"signal\"\n");
  const Outcome o = tessera({"sweep", "case.toml", "-o", "S"});
  EXPECT_EQ(o.code, 75) << o.err;
  EXPECT_TRUE(exists("S/points/1/sum.txt"));
  EXPECT_FALSE(exists("S/points/2"));
}

TEST_F(SweepCommand, PointsTellTheirOwnTimes) {
  write_case("n = [300, 1]\n");
  ASSERT_EQ(tessera({"sweep", "case.toml", "-o", "S"}).code, 0);
  const auto wall = [&](const std::string& of) {
    return nlohmann::json::parse(read(of + "/manifest.json"))["wall_s"].get<double>();
  };
  EXPECT_LT(wall("S/points/2"), wall("S/points/1"));
  EXPECT_GE(wall("S"), wall("S/points/1") + wall("S/points/2"));
}

TEST_F(SweepCommand, WhatIsNoSweepIsRefused) {
  write("plain.toml", "app = \"demo.sample\"\n");
  const Outcome none = tessera({"sweep", "plain.toml"});
  EXPECT_EQ(none.code, 2);
  EXPECT_TRUE(holds(none.err, "has no [sweep]")) << none.err;
  write_case("n = [1, 2]\n");
  ASSERT_EQ(tessera({"sweep", "case.toml"}).code, 0);
  EXPECT_EQ(tessera({"sweep", "case.toml"}).code, 2);  // it is there
  EXPECT_EQ(tessera({"resume", "case.sweep", "--set", "ending=blow_up"}).code, 2);
  std::filesystem::create_directory_symlink(here() / "case.sweep/points/1", here() / "link");
  for (const char* point : {"case.sweep/points/1", "case.sweep/points/1/", "case.sweep/points/1/.",
                            "case.sweep/points/../points/1", "link"}) {
    const Outcome o = tessera({"resume", point, "--set", "sum.terms=3"});
    EXPECT_EQ(o.code, 2) << point;
    EXPECT_TRUE(holds(o.err, "is a point of a sweep")) << o.err;
  }
  EXPECT_EQ(tessera({"resume", "case.sweep/points/1"}).code, 0);
  EXPECT_EQ(tessera({"sweep", "case.toml", "--ranks", "threads:2"}).code, 2);
  write("case.sweep/resolved.toml", read("case.sweep/resolved.toml") + "# more\n");
  const Outcome edited = tessera({"resume", "case.sweep"});
  EXPECT_EQ(edited.code, 5);
  EXPECT_TRUE(holds(edited.err, "E0417")) << edited.err;
}

// Points of an older sweep are not taken for those of the new one.
TEST_F(SweepCommand, ForceBeginsAnew) {
  write_case("n = [1, 2, 3]\n");
  ASSERT_EQ(tessera({"sweep", "case.toml"}).code, 0);
  write_case("n = [4]\n");
  ASSERT_EQ(tessera({"sweep", "case.toml", "--force"}).code, 0);
  EXPECT_FALSE(exists("case.sweep/points/2"));
  EXPECT_TRUE(holds(read("case.sweep/points.csv"), "\n1,4,"));
}

}  // namespace
