// SPDX-License-Identifier: Apache-2.0
//
// `mpirun` before the command: one folder, one exit code, the bytes of one process.
#include "app_test.h"
#include "fdtd_case.h"

#include <gtest/gtest.h>

#include <iterator>
#include <sstream>

using namespace tessera::testing;
namespace fs = std::filesystem;

namespace {

class MpiRanks : public AppTest {
 protected:
  void SetUp() override {
    if (std::string(TESSERA_MPIRUN).empty()) GTEST_SKIP() << "needs MPI with its mpiexec";
  }
  Outcome on_ranks(int n, std::vector<std::string> arguments,
                   const std::string& program = TESSERA_PROGRAM) {
    std::istringstream words(TESSERA_MPIRUN);
    std::vector<std::string> all(std::istream_iterator<std::string>(words), {});
    all.push_back(std::to_string(n));
    all.push_back(program);
    all.insert(all.end(), arguments.begin(), arguments.end());
    return RunningProgram(all, here()).wait();
  }
  /// Of n ranks the one does `before`, a line of sh, first.
  Outcome with_one(int n, int rank, const std::string& before,
                   const std::vector<std::string>& arguments) {
    std::vector<std::string> all{"-c",
                                 "if [ \"$OMPI_COMM_WORLD_RANK\" = " + std::to_string(rank) +
                                     " ]; then " + before + "; fi; exec \"$0\" \"$@\"",
                                 TESSERA_PROGRAM};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return on_ranks(n, all, "/bin/sh");
  }
  static long count(const std::string& text, const std::string& word) {
    long n = 0;
    for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += word.size())
      ++n;
    return n;
  }
  void make_case(const std::string& more = "") {
    ASSERT_EQ(tessera({"new", "inversion.mt1d", "site"}).code, 0);
    write("case.toml", "app = \"inversion.mt1d\"\n[data]\nfiles = \"site/soundings\"\n" + more);
  }
};

const std::string chains =
    "[posterior]\nmethod = \"mcmc\"\nsamples = 3000\nburn_in = 500\nkeep_every = 10\n";

TEST_F(MpiRanks, SoundingsAreThoseOfOneProcess) {
  make_case(chains);
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "whole", "--threads", "1"}).code, 0);
  for (const int n : {1, 2, 3}) {
    const std::string run = "of" + std::to_string(n);
    const Outcome o = on_ranks(n, {"run", "case.toml", "--output", run});
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(o.out, run + "\n");
    EXPECT_EQ(count(o.err, " periods  RMS "), 12) << o.err;
    EXPECT_EQ(count(o.err, std::to_string(n) + " ranks"), n > 1) << o.err;
    expect_same_results(run, "whole");
  }
}

TEST_F(MpiRanks, StopAndGoOnOnOthers) {
  make_case(chains);
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "whole", "--threads", "1"}).code, 0);
  const Outcome stopped =
      on_ranks(3, {"run", "case.toml", "--output", "again", "--max-time", "0.2s"});
  EXPECT_EQ(stopped.code, 75) << stopped.err;
  EXPECT_FALSE(fs::exists(here() / "again/results.h5"));
  const Outcome o = on_ranks(2, {"resume", "again"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(count(o.err, "going on from"), 1) << o.err;
  expect_same_results("again", "whole");
}

/// What may meet in one case: layers, walls, joined faces, a dispersive and a lossy medium across
/// the grid, several monitors.
const std::string waves = R"(app = "electromagnetics.fdtd"
[grid]
size = ["1.2 um", "1 um", "0.9 um"]
cell = "50 nm"
[boundary]
x = "periodic"
y = "pec"
z = "pml"
pml.cells = 4
[[material]]
name = "glass"
index = 1.5
[[material]]
name = "metal"
poles = [{kind = "drude", frequency = "500 THz", damping = "20 THz"}]
[[structure]]
shape = "sphere"
centre = ["0 um", "0 um", "0 um"]
radius = "0.23 um"
material = "glass"
[[structure]]
shape = "box"
low = ["-0.3 um", "-0.1 um", "-0.2 um"]
high = ["0.1 um", "0.3 um", "-0.05 um"]
material = "metal"
[[source]]
kind = "point"
name = "dipole"
component = "Ex"
position = ["0.1 um", "0 um", "0.15 um"]
waveform = {kind = "gaussian", frequency = "400 THz", bandwidth = "200 THz"}
[[monitor]]
kind = "flux"
name = "below"
position = ["0 um", "0 um", "-0.15 um"]
size = ["1.2 um", "1 um", "0 um"]
frequencies = ["350 THz", "400 THz"]
[[monitor]]
kind = "probe"
name = "point"
position = ["0.1 um", "0.1 um", "0 um"]
[run]
precision = "f64"
stop.steps = 600
)";

TEST_F(MpiRanks, WavesAreThoseOfOneProcess) {
  write("space.toml", waves);
  write("plane.toml", fdtd_case());
  for (const std::string name : {"space", "plane"}) {
    const Outcome alone =
        tessera({"run", name + ".toml", "--output", name + ".whole", "--threads", "1"});
    ASSERT_EQ(alone.code, 0) << alone.err;
    for (const int n : {2, 3}) {
      const std::string run = name + std::to_string(n);
      const Outcome o = on_ranks(n, {"run", name + ".toml", "--output", run});
      EXPECT_EQ(o.code, 0) << o.err;
      EXPECT_EQ(o.out, run + "\n");
      EXPECT_EQ(count(o.err, std::to_string(n) + " ranks"), 1) << o.err;
      expect_same_results(run, name + ".whole");
    }
  }
}

TEST_F(MpiRanks, WavesGoOnOnOtherRanks) {
  write("case.toml", waves);
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "whole", "--threads", "1"}).code, 0);
  const Outcome stopped =
      on_ranks(3, {"run", "case.toml", "--output", "again", "--max-time", "0.05s"});
  EXPECT_EQ(stopped.code, 75) << stopped.err;
  const Outcome o = on_ranks(2, {"resume", "again"});
  EXPECT_EQ(o.code, 0) << o.err;
  expect_same_results("again", "whole");
}

TEST_F(MpiRanks, ASignalToOneOfThemStopsAll) {
  write("case.toml", waves);
  const Outcome o =
      with_one(3, 1, "{ (sleep 1; kill -TERM $$) & }",
               {"run", "case.toml", "--output", "R", "--set", "run.stop.steps=9000000"});
  EXPECT_EQ(o.code, 75) << o.err;
  EXPECT_EQ(count(o.err, "go on with: tessera resume R"), 1) << o.err;
  EXPECT_NE(read("R/manifest.json").find("SIGTERM"), std::string::npos);
  EXPECT_TRUE(fs::exists(here() / "R/ckpt/LATEST"));
}

TEST_F(MpiRanks, WhatOneOfThemCannotDoIsToldOnce) {
  make_case();
  // A folder that it does not see.
  const Outcome o = with_one(3, 2, "cd /", {"run", "case.toml", "--output", "R"});
  EXPECT_EQ(o.code, tessera({"run", "nowhere.toml"}).code) << o.err;
  EXPECT_EQ(count(o.err, "tessera: error: rank 2: "), 1) << o.err;
  EXPECT_NE(read("R/manifest.json").find("rank 2: "), std::string::npos);
}

TEST_F(AppTest, RanksMayBeThreads) {
  write("case.toml", waves);
  ASSERT_EQ(tessera({"new", "inversion.mt1d", "site"}).code, 0);
  write("soundings.toml",
        "app = \"inversion.mt1d\"\n[data]\nfiles = \"site/soundings\"\n" + chains);
  for (const std::string name : {"case", "soundings"}) {
    ASSERT_EQ(tessera({"run", name + ".toml", "--output", name + ".whole", "--threads", "1"}).code,
              0);
    const Outcome o = tessera({"run", name + ".toml", "--output", name + ".of5", "--ranks",
                               "threads:5", "--weights", "1,2,1,3,1"});
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_NE(o.err.find("5 ranks"), std::string::npos) << o.err;
    expect_same_results(name + ".of5", name + ".whole");
  }
  const Outcome stopped = tessera(
      {"run", "case.toml", "--output", "again", "--ranks", "threads:3", "--max-time", "0.05s"});
  EXPECT_EQ(stopped.code, 75) << stopped.err;
  EXPECT_EQ(tessera({"resume", "again", "--ranks", "threads:2"}).code, 0);
  expect_same_results("again", "case.whole");
}

TEST_F(AppTest, RanksThatCannotBeAreRefused) {
  write("case.toml", waves);
  for (const char* ranks : {"4", "threads:0", "threads:", "threads:2x", "threads:-1", "mpi:2"}) {
    const Outcome o = tessera({"run", "case.toml", "--ranks", ranks});
    EXPECT_EQ(o.code, 2) << ranks;
    EXPECT_NE(o.err.find("threads:N"), std::string::npos) << o.err;
  }
  const Outcome weights = tessera({"run", "case.toml", "--ranks", "threads:3", "--weights", "1,2"});
  EXPECT_EQ(weights.code, 2) << weights.err;
  EXPECT_NE(weights.err.find("--weights: 2 for 3 ranks"), std::string::npos) << weights.err;
  EXPECT_EQ(tessera({"run", "case.toml", "--ranks", "threads:2", "--weights", "1,-2"}).code, 2);
  EXPECT_FALSE(fs::exists(here() / "case.run"));
  // More ranks than cells: one does it, and says so.
  const Outcome many = tessera({"run", "case.toml", "--ranks", "threads:30", "--threads", "1"});
  EXPECT_EQ(many.code, 0) << many.err;
  EXPECT_NE(many.err.find("rank 0 runs it alone"), std::string::npos) << many.err;
}

TEST_F(MpiRanks, EveryVerbPrintsOnce) {
  make_case();
  const Outcome checked = on_ranks(3, {"check", "case.toml"});
  EXPECT_EQ(checked.code, 0) << checked.err;
  EXPECT_EQ(checked.out, tessera({"check", "case.toml"}).out);
  const Outcome help = on_ranks(2, {"--help"});
  EXPECT_EQ(help.out, tessera({"--help"}).out);
}

TEST_F(MpiRanks, BadInputIsOneMessageAndItsExitCode) {
  write("case.toml", "app = \"inversion.mt1d\"\n[data]\nfiles = \"site/soundings\"\nflies = 1\n");
  const Outcome o = on_ranks(3, {"run", "case.toml"});
  EXPECT_EQ(o.code, 5) << o.err;
  EXPECT_EQ(count(o.err, "did you mean"), 1) << o.err;
  EXPECT_FALSE(fs::exists(here() / "case.run"));
  EXPECT_EQ(on_ranks(2, {"run", "nowhere.toml"}).code, tessera({"run", "nowhere.toml"}).code);
}

TEST_F(MpiRanks, WhatIsNotCutRunsOnOneRankAndSaysSo) {
  const Outcome made =
      RunningProgram({TESSERA_SAMPLE_PROGRAM, "new", "demo.sample", "s"}, here()).wait();
  ASSERT_EQ(made.code, 0) << made.err;
  const Outcome o = on_ranks(2, {"run", made.out.substr(0, made.out.find('\n')), "--output", "R"},
                             TESSERA_SAMPLE_PROGRAM);
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out, "R\n");
  EXPECT_EQ(count(o.err, "is not cut over ranks: rank 0 of 2 runs it alone"), 1) << o.err;
}

TEST_F(AppTest, RanksThatOurMpiDoesNotKnowAreRefused) {
  ASSERT_EQ(tessera({"new", "inversion.mt1d", "site"}).code, 0);
  for (const char* variable : {"SLURM_STEP_NUM_TASKS=4", "PMI_SIZE=4"}) {
    const Outcome o = RunningProgram(program({"run", "site/mt1d.toml"}), here(), {variable}).wait();
    EXPECT_EQ(o.code, 2) << o.err;
    EXPECT_NE(o.err.find("has started 4 processes"), std::string::npos) << o.err;
    EXPECT_FALSE(fs::exists(here() / "mt1d.run"));
  }
}

}  // namespace
