// SPDX-License-Identifier: Apache-2.0
//
// `tessera launch`: ranks that die, and the run that goes on.
#include "mpi_ranks.h"

#include <gtest/gtest.h>

#include <cstdlib>

using namespace tessera::testing;
namespace fs = std::filesystem;

namespace {

class Launch : public MpiRanks {
 protected:
  /// `launch` with two ranks, and more options of mpirun.
  std::vector<std::string> launched(const std::vector<std::string>& options,
                                    const std::vector<std::string>& of_mpirun = {}) {
    std::istringstream words(TESSERA_MPIRUN);
    std::vector<std::string> all(std::istream_iterator<std::string>(words), {});
    const std::string mpirun = all.front();
    all.erase(all.begin());
    all.pop_back();  // -n
    std::vector<std::string> command{TESSERA_PROGRAM, "launch", "-n", "2", "--mpirun", mpirun};
    command.insert(command.end(), options.begin(), options.end());
    command.push_back("--");
    command.insert(command.end(), all.begin(), all.end());
    command.insert(command.end(), of_mpirun.begin(), of_mpirun.end());
    return command;
  }
  Outcome launch(const std::vector<std::string>& options,
                 const std::vector<std::string>& of_mpirun = {}) {
    return RunningProgram(launched(options, of_mpirun), here()).wait();
  }
  /// A program between mpirun and a rank: rank 1 dies `times` times, each when the run in R has a
  /// checkpoint that is newer than its start.
  std::vector<std::string> dying(int times) {
    write("dies.sh",
          "if [ \"$OMPI_COMM_WORLD_RANK\" = 1 ] && [ $(ls | grep -c '^died') -lt " +
              std::to_string(times) +
              " ]; then\n"
              "  mine=died.$$; touch $mine\n"
              "  (while [ ! R/ckpt/LATEST -nt $mine ]; do sleep 0.1; done; kill -9 $$) &\n"
              "fi\n"
              "exec \"$@\"\n");
    return {"/bin/sh", (here() / "dies.sh").string()};
  }
};

/// A cavity that rings for as long as it is asked to.
const std::string cavity = R"(app = "electromagnetics.fdtd"
[grid]
size = ["1.2 um", "1 um", "0.9 um"]
cell = "50 nm"
[boundary]
x = "pec"
y = "pec"
z = "pec"
[[source]]
kind = "point"
name = "dipole"
component = "Ex"
position = ["0.1 um", "0 um", "0.15 um"]
waveform = {kind = "gaussian", frequency = "400 THz", bandwidth = "200 THz"}
[[monitor]]
kind = "probe"
name = "point"
position = ["0.1 um", "0.1 um", "0 um"]
[run]
precision = "f64"
stop.steps = 600
)";

const std::vector<std::string> longer{"--set", "run.stop.steps=60000", "--checkpoint-every",
                                      "0.1s"};
std::vector<std::string> with_longer(std::vector<std::string> options) {
  options.insert(options.end(), longer.begin(), longer.end());
  return options;
}

TEST_F(Launch, GoesOnAfterADeathToTheSameFiles) {
  write("case.toml", cavity);
  ASSERT_EQ(tessera(with_longer({"run", "case.toml", "--output", "whole", "--threads", "1"})).code,
            0);
  const Outcome o = launch(with_longer({"case.toml", "--output", "R"}), dying(2));
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(count(o.err, "launch: a rank was ended by signal 9 (Killed); restart 1 of 3"), 1)
      << o.err;
  EXPECT_EQ(count(o.err, "restart 2 of 3"), 1) << o.err;
  EXPECT_EQ(count(o.err, "going on from"), 2) << o.err;
  EXPECT_NE(read("R/log.txt").find("launch: a rank was ended by signal 9 (Killed); restart 2 of 3"),
            std::string::npos);
  EXPECT_NE(read("R/manifest.json").find("\"resumed\": 2"), std::string::npos);
  expect_same_results("R", "whole");
}

TEST_F(Launch, EndsWhenNoRestartIsLeft) {
  write("case.toml", cavity);
  const Outcome o = launch({"case.toml", "--output", "R", "--max-restarts", "1", "--set",
                            "run.stop.steps=9000000", "--checkpoint-every", "0.1s"},
                           dying(2));
  EXPECT_EQ(o.code, 137) << o.err;
  EXPECT_EQ(count(o.err, "restart 1 of 1"), 1) << o.err;
  EXPECT_EQ(count(o.err, "no restart is left of 1"), 1) << o.err;
}

TEST_F(Launch, WhatTheRunSaysItselfIsItsExitCode) {
  make_case("flies = 1\n");
  const Outcome bad = launch({"case.toml"});
  EXPECT_EQ(bad.code, 5) << bad.err;
  EXPECT_EQ(count(bad.err, "restart"), 0) << bad.err;
  EXPECT_FALSE(fs::exists(here() / "case.run"));
  EXPECT_EQ(launch({"nowhere.toml"}).code, tessera({"run", "nowhere.toml"}).code);
  write("case.toml", "app = \"inversion.mt1d\"\n[data]\nfiles = \"site/soundings\"\n");
  const Outcome good = launch({"case.toml", "--quiet"});
  EXPECT_EQ(good.code, 0) << good.err;
  EXPECT_EQ(good.out, "case.run\n");
  EXPECT_EQ(launch({"case.toml"}).code, 2);  // the folder is there
}

TEST_F(Launch, ASignalWritesACheckpointAndAFolderGoesOn) {
  write("case.toml", cavity);
  for (const int signal : {SIGTERM, SIGINT}) {
    fs::remove_all(here() / "R");
    RunningProgram running(
        launched({"case.toml", "--output", "R", "--set", "run.stop.steps=9000000"}), here());
    for (int k = 0; k < 600 && !fs::exists(here() / "R/heartbeat.json"); ++k)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ASSERT_EQ(::kill(running.pid(), signal), 0);
    const Outcome o = running.wait();
    EXPECT_EQ(o.code, 75) << o.err;
    EXPECT_EQ(count(o.err, "go on with: tessera resume R"), 1) << o.err;
    EXPECT_TRUE(fs::exists(here() / "R/ckpt/LATEST"));
  }
  const Outcome on = launch({"R", "--max-time", "0.3s"});
  EXPECT_EQ(on.code, 75) << on.err;
  EXPECT_EQ(count(on.err, "going on from"), 1) << on.err;
  EXPECT_EQ(launch({"R", "--output", "elsewhere"}).code, 2);
}

TEST_F(Launch, WhatCannotBeLaunchedIsRefused) {
  const Outcome o = RunningProgram({TESSERA_PROGRAM, "launch", "-n", "2", "--mpirun",
                                    "no_such_program", "case.toml"},
                                   here())
                        .wait();
  EXPECT_EQ(o.code, 2) << o.err;
  EXPECT_NE(o.err.find("'no_such_program' cannot be started"), std::string::npos) << o.err;
  EXPECT_EQ(tessera({"launch", "case.toml"}).code, 2);
  EXPECT_EQ(tessera({"launch", "-n", "0", "case.toml"}).code, 2);
  const Outcome twice = on_ranks(2, {"launch", "-n", "2", "case.toml"});
  EXPECT_EQ(twice.code, 2) << twice.err;
  EXPECT_EQ(count(twice.err, "has been started by one"), 1) << twice.err;
}

}  // namespace
