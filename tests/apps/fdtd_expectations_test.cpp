// SPDX-License-Identifier: Apache-2.0
// What [[expect]] of electromagnetics.fdtd may ask for, told before the first step.
#include "fdtd_case.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

using namespace tessera::testing;

namespace {

class FdtdExpectations : public Fdtd {};

/// A guide of 20 mm with a port at each end, 36 mm apart.
const char* const kGuide = R"(app = "electromagnetics.fdtd"
[grid]
size = ["80 mm", "20 mm", "0 mm"]
cell = "1 mm"
polarization = "Ez"
[run]
stop.decay_db = 40
[boundary]
y = "pec"
[[port]]
kind = "mode"
name = "left"
position = ["-20 mm", "0 mm", "0 mm"]
direction = [1, 0, 0]
[[port]]
kind = "mode"
name = "right"
position = ["16 mm", "0 mm", "0 mm"]
direction = [-1, 0, 0]
[s_parameters]
frequencies = ["11 GHz", "13 GHz"]
[[s_parameters.array]]
name = "both"
ports = ["left", "right"]
[[monitor]]
kind = "flux"
name = "power"
position = ["0 mm", "0 mm", "0 mm"]
size = ["0 mm", "20 mm", "0 mm"]
frequencies = ["12 GHz"]
)";

TEST_F(FdtdExpectations, AnExpectationIsAboutAResultThatThereWillBe) {
  const auto check = [&](const std::string& monitor, const std::string& frequency,
                         const std::string& excite = "all") {
    write("case.toml", std::string(kGuide) + "[[expect]]\nmonitor = \"" + monitor +
                           "\"\nfrequency = \"" + frequency + "\"\nvalue = 1\ntolerance = 1e300\n");
    return tessera({"check", "case.toml", "--set", "run.excite=" + excite, "--set",
                    excite == "all" ? "title=all" : "s_parameters.array=[]"});
  };
  for (const char* name : {"s_parameters", "left", "both"}) {
    EXPECT_EQ(check(name, "12 GHz").code, 0) << name;
    const Outcome off = check(name, "60 GHz");
    EXPECT_EQ(off.code, 5) << name;
    EXPECT_TRUE(holds(
        off.err, "is outside of the band of '" + std::string(name) + "', 1.1e+10 to 1.3e+10 Hz"))
        << off.err;
  }
  EXPECT_EQ(check("power.left", "12 GHz").code, 0);
  EXPECT_TRUE(holds(check("power.left", "11 GHz").err, "is outside of the band of 'power.left'"));
  // What monitors of its kind do not tell, nor ports, nor S of these.
  EXPECT_TRUE(
      holds(check("power.left\"\nquantity = \"fluxx", "12 GHz").err, "did you mean 'flux'?"));
  const Outcome ratio = check("power.left\"\nquantity = \"ratio", "12 GHz");
  EXPECT_TRUE(holds(ratio.err, "error E0625: there is no result 'ratio'")) << ratio.err;
  EXPECT_EQ(check("power.left\"\nquantity = \"sums", "12 GHz").code, 0);
  EXPECT_EQ(check("left\"\nquantity = \"vswr", "12 GHz").code, 0);
  EXPECT_TRUE(holds(check("left\"\nquantity = \"vswrr", "12 GHz").err, "did you mean 'vswr'?"));
  EXPECT_EQ(check("s_parameters\"\nquantity = \"S_right_left", "12 GHz").code, 0);
  EXPECT_EQ(check("s_parameters\"\nquantity = \"group_delay", "12 GHz").code, 0);
  EXPECT_TRUE(holds(check("s_parameters\"\nquantity = \"S_right_left_re", "12 GHz").err,
                    "did you mean 'S_right_left'?"));
  // Of two runs there is none without a port's name, of one none with it; no pair, no join.
  EXPECT_EQ(check("power", "12 GHz", "left").code, 0);
  for (const auto& [name, excite] : {std::pair{"power", "all"},
                                     {"power.left", "left"},
                                     {"power.both", "all"},
                                     {"s_mixed", "all"},
                                     {"s_joined", "all"}}) {
    const Outcome none = check(name, "12 GHz", excite);
    EXPECT_EQ(none.code, 5) << name;
    EXPECT_TRUE(holds(none.err, "E0625: there is no monitor '" + std::string(name) + "'"))
        << none.err;
  }
}

// beta of TE10 rises by 104 rad/m from 11 to 15 GHz: 214 degrees over the guide, which are -146.
TEST_F(FdtdExpectations, DelaysOfCoarseFrequenciesAreDoubted) {
  write("case.toml", kGuide);
  const auto told = [&](const char* upper) {
    const Outcome o =
        tessera({"run", "case.toml", "--output", "run", "--force", "--set",
                 std::string("s_parameters.frequencies=[\"11 GHz\", \"") + upper + "\"]"});
    EXPECT_EQ(o.code, 0) << o.err;
    return holds(read("run/log.txt"), "group_delay may lack whole turns");
  };
  EXPECT_TRUE(told("15 GHz"));
  EXPECT_FALSE(told("11.5 GHz"));
}

/// Where a source drives the case, ports tell their waves, and there is no S.
TEST_F(FdtdExpectations, WavesOfPortsThatASourceDrivesMayBeExpected) {
  const std::string array =
                        "[[s_parameters.array]]\nname = \"both\"\nports = [\"left\", \"right\"]\n",
                    source = R"([[source]]
kind = "mode"
position = ["-10 mm", "0 mm", "0 mm"]
direction = [1, 0, 0]
waveform = {frequency = "12 GHz", bandwidth = "4 GHz"}
)";
  const auto check = [&](const std::string& quantity, bool by_source) {
    write("case.toml", changed(kGuide, array, by_source ? source : "") +
                           "[[expect]]\nmonitor = \"right\"\nquantity = \"" + quantity +
                           "\"\nvalue = 0\ntolerance = 1\n");
    return tessera({"check", "case.toml"});
  };
  for (const bool by_source : {true, false})
    for (const auto& [quantity, is_of_source] : {std::pair{"in", true},
                                                 {"out", true},
                                                 {"vswr", false},
                                                 {"input_impedance", false},
                                                 {"reference", false}}) {
      const Outcome o = check(quantity, by_source);
      EXPECT_EQ(o.code, by_source == is_of_source ? 0 : 5) << quantity << o.err;
      if (o.code != 0) {
        EXPECT_TRUE(holds(o.err, "E0625: there is no result")) << o.err;
      }
    }
}

}  // namespace
