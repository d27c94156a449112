// SPDX-License-Identifier: Apache-2.0
//
// Derivatives in lengths on ranks: the bytes of one process, a stop while they are taken.
#include "mpi_ranks.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

using namespace tessera::testing;

namespace {

/// A leaning bar, whose tensors move, between walls of x and a wall and `above` of y; cells of 0.1
/// um.
std::string leaning_bar(const std::string& grid, const std::string& above,
                        const std::string& more) {
  return "app = \"electromagnetics.fdtd\"\n[grid]\ncell = \"0.1 um\"\n" + grid +
         "\n[boundary]\ny_high = \"" + above + "\"\n" +
         R"(x = "pec"
y_low = "pec"
z = "periodic"
pml.cells = 6
[[material]]
name = "glass"
eps = 12
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
const std::string plane = "size = [\"2.4 um\", \"2.4 um\", \"0 um\"]\npolarization = \"Hz\"";

TEST_F(AppTest, SlopesOnRanksAreThoseOfOneProcess) {
  write("plane.toml",
        leaning_bar(plane, "pml", "[run]\nprecision = \"f64\"\nstop.after_sources = \"0.1 ps\"\n"));
  write("space.toml", leaning_bar("size = [\"1.6 um\", \"1.5 um\", \"1.5 um\"]", "pec",
                                  "[run]\nprecision = \"f32\"\nstop.after_sources = \"60 fs\"\n"));
  for (const std::string name : {"plane", "space"}) {
    const Outcome alone = tessera({"run", name + ".toml", "--output", name + ".whole"});
    ASSERT_EQ(alone.code, 0) << alone.err;
    const std::string table = read(name + ".whole/tables/modes.csv");
    EXPECT_NE(table.find("frequency_by_bar.size[0]"), std::string::npos);
    EXPECT_NE(table.find("\n1,"), std::string::npos) << "no modes: " << table;
    int number = 0;
    for (const std::vector<std::string>& how :
         {std::vector<std::string>{"--ranks", "threads:3"},
          std::vector<std::string>{"--ranks", "threads:4", "--weights", "3,1,2,1"},
          std::vector<std::string>{"--ranks", "threads:40"}}) {
      const std::string run = name + std::to_string(number++);
      std::vector<std::string> arguments{"run", name + ".toml", "--output", run, "--threads", "1"};
      arguments.insert(arguments.end(), how.begin(), how.end());
      const Outcome o = tessera(arguments);
      EXPECT_EQ(o.code, 0) << o.err;
      expect_same_results(run, name + ".whole");
    }
  }
}

TEST_F(MpiRanks, SlopesAreThoseOfOneProcessAlsoWhereARankHasEndedThemOnce) {
  write("case.toml", leaning_bar(plane, "pml", "[run]\nstop.after_sources = \"0.4 ps\"\n"));
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

TEST_F(AppTest, GradcheckOnRanksPrintsWhatItPrintsOnOneProcess) {
  write("case.toml", leaning_bar(plane, "pml",
                                 "[[monitor]]\nkind = \"flux\"\nname = \"through\"\n"
                                 "position = [\"0 um\", \"0.6 um\", \"0 um\"]\n"
                                 "size = [\"2.4 um\", \"0 um\", \"0 um\"]\n"
                                 "frequencies = [\"60 THz\"]\n[run]\nstop.steps = 80\n"));
  const Outcome alone = tessera({"gradcheck", "case.toml", "--json"});
  ASSERT_EQ(alone.code, 0) << alone.err;
  const auto checks = [](const std::string& json) {
    return json.substr(json.find("\"checks\""), json.find("\"differentiated\""));
  };
  for (const std::string n : {"2", "5"}) {
    const Outcome o =
        tessera({"gradcheck", "case.toml", "--json", "--ranks", "threads:" + n, "--threads", "1"});
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(checks(o.out), checks(alone.out)) << n;
    EXPECT_NE(o.out.find(n + " ranks, "), std::string::npos) << o.out;
  }
  const Outcome weighted = tessera({"gradcheck", "case.toml", "--json", "--ranks", "threads:3",
                                    "--weights", "3,1,1", "--threads", "1"});
  EXPECT_EQ(checks(weighted.out), checks(alone.out));
  EXPECT_EQ(tessera({"gradcheck", "nowhere.toml", "--ranks", "threads:2"}).code,
            tessera({"gradcheck", "nowhere.toml"}).code);
}

TEST_F(AppTest, GradcheckOfOtherAppsIsRankZerosAlone) {
  ASSERT_EQ(tessera({"new", "molecular.dynamics", "argon"}).code, 0);
  std::string file;
  for (const auto& e : std::filesystem::directory_iterator(here() / "argon"))
    if (e.path().extension() == ".toml") file = "argon/" + e.path().filename().string();
  const Outcome alone = tessera({"gradcheck", file, "--json"}),
                o = tessera({"gradcheck", file, "--json", "--ranks", "threads:2"});
  EXPECT_EQ(o.code, alone.code) << o.err;
  EXPECT_EQ(o.out, alone.out);
  EXPECT_NE(o.err.find("rank 0 of 2 checks them alone"), std::string::npos) << o.err;
}

TEST_F(MpiRanks, GradcheckIsThatOfOneProcess) {
  write("case.toml", leaning_bar(plane, "pml", "[run]\nstop.steps = 100\n"));
  const Outcome alone = tessera({"gradcheck", "case.toml"}),
                o = on_ranks(3, {"gradcheck", "case.toml"});
  EXPECT_EQ(o.code, alone.code) << o.err;
  const auto table = [](const std::string& text) { return text.substr(text.find("\nresult")); };
  EXPECT_EQ(table(o.out), table(alone.out));
}

}  // namespace
