// SPDX-License-Identifier: Apache-2.0
// What is told of S beside its elements: pictures, files, references, networks joined and compared.
#include "fdtd_case.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

using namespace tessera::testing;

namespace {

/// A line of 20 mm between magnetic walls, a port at each end, with `first` and `second` in them.
std::string line_of_ports(const std::string& first = "", const std::string& second = "") {
  const auto port = [](const std::string& name, const std::string& x, const std::string& more) {
    return "[[port]]\nkind = \"lumped\"\nname = \"" + name + "\"\nposition = [\"" + x +
           "\", \"0 mm\", \"0 mm\"]\nsize = [\"0 mm\", \"2 mm\", \"2 mm\"]\n"
           "direction = [0, 1, 0]\nresistance = \"50 ohm\"\n" +
           more;
  };
  return R"(app = "electromagnetics.fdtd"
[grid]
size = ["20 mm", "2 mm", "2 mm"]
cell = "1 mm"
[run]
precision = "f64"
stop.decay_db = 100
[boundary]
x = "pmc"
y = "pec"
z = "pmc"
)" + port("out", "-10 mm", first) +
         port("in", "10 mm", second) +
         "[s_parameters]\nfrequencies = [\"1 GHz\", \"3 GHz\", \"6 GHz\"]\n";
}

// Of a file, which keeps arrays by their names.
TEST_F(Fdtd, PicturesOfSAreDrawnAgainAsTheyWere) {
  write("case.toml", line_of_ports() + R"(
[[s_parameters.pair]]
name = "both"
plus = "out"
minus = "in"
[[s_parameters.compare]]
name = "before"
file = "FIRST/s_parameters.s2p"
)");
  write("first.toml", line_of_ports());
  ASSERT_EQ(run_case("first.toml", "FIRST").code, 0);
  const Outcome run = run_case("case.toml", "RUN");
  ASSERT_EQ(run.code, 0) << run.err;
  std::map<std::string, std::string> drawn;
  for (const std::string& name : results("RUN"))
    if (name.starts_with("plots/") && name != "plots/scene.png" && name != "plots/scene.svg")
      drawn[name] = read("RUN/" + name);
  EXPECT_TRUE(drawn.count("plots/s_parameters.svg") && drawn.count("plots/s_mixed_smith.png"));
  for (const auto& [name, bytes] : drawn) write("RUN/" + name, "");
  const Outcome plot = tessera({"plot", "RUN"});
  ASSERT_EQ(plot.code, 0) << plot.err;
  for (const auto& [name, bytes] : drawn) EXPECT_TRUE(read("RUN/" + name) == bytes) << name;
}

}  // namespace
