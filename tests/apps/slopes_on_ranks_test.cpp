// SPDX-License-Identifier: Apache-2.0
//
// Derivatives in lengths on ranks: the bytes of one process, a stop while they are taken.
#include "mpi_ranks.h"

#include <gtest/gtest.h>

using namespace tessera::testing;

namespace {

/// A leaning bar, whose tensors move, in a box that is half open, in `size` cells of 0.1 um.
std::string leaning_bar(const std::string& size, const std::string& more) {
  return "app = \"electromagnetics.fdtd\"\n[grid]\ncell = \"0.1 um\"\nsize = " + size + "\n" +
         R"([boundary]
y_low = "pec"
y_high = "pml"
pml.cells = 6
x = "periodic"
[[material]]
name = "glass"
eps = 6
[[structure]]
shape = "box"
name = "bar"
centre = ["0.11 um", "-0.12 um", "0 um"]
size = ["0.57 um", "0.73 um", "0.6 um"]
rotate = {angle = "17 deg", about = ["0 um", "0 um", "0 um"]}
material = "glass"
[[source]]
kind = "point"
component = "Hz"
position = ["-0.6 um", "-0.5 um", "0 um"]
waveform = {kind = "gaussian", frequency_min = "40 THz", frequency_max = "100 THz"}
[[monitor]]
kind = "resonances"
name = "modes"
position = ["-0.5 um", "-0.3 um", "0 um"]
frequency_min = "40 THz"
frequency_max = "90 THz"
derivatives = ["bar.size[0]", "bar.centre[1]"]
)" + more;
}

TEST_F(AppTest, SlopesOnRanksAreThoseOfOneProcess) {
  write("plane.toml", leaning_bar("[\"1.6 um\", \"2.4 um\", \"0 um\"]\npolarization = \"Hz\"",
                                  "[run]\nprecision = \"f64\"\nstop.after_sources = \"60 fs\"\n"));
  write("space.toml", leaning_bar("[\"1.6 um\", \"1.5 um\", \"1.6 um\"]",
                                  "[run]\nprecision = \"f32\"\nstop.after_sources = \"20 fs\"\n"));
  for (const std::string name : {"plane", "space"}) {
    const Outcome alone = tessera({"run", name + ".toml", "--output", name + ".whole"});
    ASSERT_EQ(alone.code, 0) << alone.err;
    EXPECT_NE(read(name + ".whole/tables/modes.csv").find("frequency_by_bar.size[0]"),
              std::string::npos);
    int number = 0;
    for (const std::vector<std::string>& how :
         {std::vector<std::string>{"--ranks", "threads:3", "--threads", "1"},
          std::vector<std::string>{"--ranks", "threads:5", "--weights", "3,1,2,1,1"},
          std::vector<std::string>{"--ranks", "threads:40"}}) {
      const std::string run = name + std::to_string(number++);
      std::vector<std::string> arguments{"run", name + ".toml", "--output", run};
      arguments.insert(arguments.end(), how.begin(), how.end());
      const Outcome o = tessera(arguments);
      EXPECT_EQ(o.code, 0) << o.err;
      expect_same_results(run, name + ".whole");
    }
  }
}

TEST_F(MpiRanks, SlopesAreThoseOfOneProcessAlsoWhereARankHasEndedThemOnce) {
  write("case.toml", leaning_bar("[\"1.6 um\", \"2.4 um\", \"0 um\"]\npolarization = \"Hz\"",
                                 "[run]\nstop.after_sources = \"0.8 ps\"\n"));
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "whole"}).code, 0);
  const Outcome stopped = with_one(
      3, 1,
      "{ (until grep -q derivatives again/heartbeat.json 2>/dev/null; do sleep 0.01; done; kill "
      "-TERM $$) & }",
      {"run", "case.toml", "--output", "again"});
  ASSERT_EQ(stopped.code, 75) << stopped.err;
  const Outcome o = on_ranks(2, {"resume", "again"});
  EXPECT_EQ(o.code, 0) << o.err;
  expect_same_results("again", "whole");
}

}  // namespace
