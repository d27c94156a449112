// SPDX-License-Identifier: Apache-2.0
// Runs that are stopped while they differentiate: what has ended is kept, and resumed they leave
// the bytes of one that ran on.
#include "fdtd_case.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

using namespace tessera::testing;

namespace {

/// A line of 40 cells between two ports, a load across it and a flux through it.
std::string line_of_passes(const std::string& names, int steps) {
  return R"(app = "electromagnetics.fdtd"
output = {vtk = false, pictures = false, scene = false}
[parameters]
r = "20 ohm"
l = "2 nH"
c = "25 pF"
r2 = "12 ohm"
[grid]
size = ["200 mm", "20 mm", "0 mm"]
cell = "5 mm"
polarization = "Hz"
[boundary]
x = "pmc"
y = "pec"
[[port]]
kind = "lumped"
name = "left"
position = ["-100 mm", "0 mm", "0 mm"]
size = ["0 mm", "20 mm", "0 mm"]
direction = [0, 1, 0]
resistance = "5 ohm"
[[port]]
kind = "lumped"
name = "right"
position = ["100 mm", "0 mm", "0 mm"]
size = ["0 mm", "20 mm", "0 mm"]
direction = [0, 1, 0]
resistance = "r2"
[[load]]
name = "across"
position = ["20 mm", "0 mm", "0 mm"]
size = ["0 mm", "20 mm", "0 mm"]
axis = "y"
resistance = "r"
inductance = "l"
capacitance = "c"
[[monitor]]
kind = "flux"
name = "through"
position = ["-60 mm", "0 mm", "0 mm"]
size = ["0 mm", "20 mm", "0 mm"]
frequencies = ["0.2 GHz", "0.9 GHz"]
derivatives = ["r"]
[s_parameters]
frequencies = ["0.2 GHz", "0.9 GHz"]
derivatives = )" +
         names + "\n[run]\nprecision = \"f64\"\nstop.steps = " + std::to_string(steps) + "\n";
}

/// A bar between walls whose resonances two monitors hear.
const char* const bar_of_two = R"(app = "electromagnetics.fdtd"
output = {vtk = false, pictures = false, scene = false}
grid = {centre = ["0 um", "0.5 um", "0 um"], size = ["3 um", "3 um", "0 um"], cell = "0.05 um", polarization = "Hz"}
run = {precision = "f64", stop.steps = 2800}
boundary = {x = "pec", y_low = "pec", y_high = "pml", pml.cells = 10}
[[material]]
name = "glass"
eps = 6
[[structure]]
shape = "box"
name = "bar"
centre = ["0.11 um", "-0.32 um", "0 um"]
size = ["1.57 um", "0.73 um", "inf"]
material = "glass"
[[source]]
kind = "point"
component = "Hz"
position = ["-1.2 um", "-0.7 um", "0 um"]
waveform = {kind = "gaussian", frequency_min = "40 THz", frequency_max = "100 THz"}
[[monitor]]
kind = "resonances"
name = "first"
position = ["-1.1 um", "-0.8 um", "0 um"]
frequency_min = "40 THz"
frequency_max = "90 THz"
derivatives = ["bar.size[0]", "bar.centre[1]"]
[[monitor]]
kind = "resonances"
name = "second"
position = ["1.1 um", "-0.6 um", "0 um"]
components = ["Hz", "Ex", "Ey"]
frequency_min = "40 THz"
frequency_max = "90 THz"
derivatives = ["bar.size[0]"]
)";

class FdtdStoppedDerivatives : public Fdtd {
 protected:
  /// Runs `case.toml` into `name`, and asks it to stop a while after its `file` holds `text`.
  Outcome stopped_when(const std::string& name, const std::string& file, const std::string& text,
                       std::chrono::milliseconds later = {}) {
    RunningProgram process(program({"run", "case.toml", "--output", name, "--threads", "1"}),
                           here());
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!holds(read(name + "/" + file), text) && std::chrono::steady_clock::now() < give_up)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::this_thread::sleep_for(later);
    EXPECT_EQ(::kill(process.pid(), SIGTERM), 0);
    return process.wait();
  }
  int times(const std::string& name, const std::string& text) const {
    const std::string log = read(name + "/log.txt");
    int n = 0;
    for (std::size_t at = 0; (at = log.find(text, at)) != std::string::npos; at += text.size()) ++n;
    return n;
  }
};

TEST_F(FdtdStoppedDerivatives, KeepThePassesThatHaveEnded) {
  write("case.toml", line_of_passes(R"(["r", "l", "c", "r2"])", 6000));
  const Outcome whole = tessera({"run", "case.toml", "--output", "whole", "--threads", "1"});
  ASSERT_EQ(whole.code, 0) << whole.err;
  EXPECT_TRUE(holds(table("whole", "through.left"), "flux_by_r"));
  const Outcome stopped = stopped_when("RUN", "log.txt", "pass 2 of 4");
  ASSERT_EQ(stopped.code, 75) << stopped.err;
  const Outcome resumed = tessera({"resume", "RUN", "--threads", "2"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_TRUE(holds(resumed.err, "of 4 passes of derivatives had ended")) << resumed.err;
  for (const char* pass : {"pass 1 of 4", "pass 2 of 4", "pass 3 of 4", "pass 4 of 4"})
    EXPECT_EQ(times("RUN", pass), 1) << pass;
  expect_same_results("RUN", "whole");
  // All passes are done: another title takes none of them.
  const Outcome titled = tessera({"resume", "RUN", "--set", "title=named"});
  ASSERT_EQ(titled.code, 0) << titled.err;
  EXPECT_TRUE(holds(titled.err, "4 of 4 passes of derivatives had ended")) << titled.err;
  EXPECT_EQ(table("RUN", "s_parameters"), table("whole", "s_parameters"));
}

TEST_F(FdtdStoppedDerivatives, HearAStopWithinAPass) {
  write("case.toml", line_of_passes(R"(["r"])", 20000));
  const Outcome stopped =
      stopped_when("RUN", "heartbeat.json", "derivatives", std::chrono::milliseconds(100));
  ASSERT_EQ(stopped.code, 75) << stopped.err;
  EXPECT_TRUE(holds(stopped.err, "0/1 passes")) << stopped.err;
  EXPECT_TRUE(holds(stopped.err, "derivatives in r: the pass was stopped after")) << stopped.err;
  const Outcome resumed = tessera({"resume", "RUN", "--threads", "1"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  // That of the second run's end: steps of both are there.
  EXPECT_TRUE(holds(resumed.err, "going on from step-40000.ckpt")) << resumed.err;
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "whole", "--threads", "1"}).code, 0);
  expect_same_results("RUN", "whole");
}

TEST_F(FdtdStoppedDerivatives, AreThoseOfALaterEnd) {
  write("case.toml",
        changed(line_of_passes(R"(["r"])", 100), "[run]\n", "[run]\nexcite = [\"left\"]\n"));
  expect_same_after_extension("run.stop.steps=600", "run.stop.steps=800");
}

TEST_F(FdtdStoppedDerivatives, KeepThoseOfTheResonancesOfAMonitor) {
  write("case.toml", bar_of_two);
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "whole", "--threads", "1"}).code, 0);
  const std::string done = "derivatives of monitor 'first' are there";
  const Outcome stopped = stopped_when("RUN", "log.txt", done);
  ASSERT_EQ(stopped.code, 75) << stopped.err;
  ASSERT_EQ(tessera({"resume", "RUN", "--threads", "2"}).code, 0);
  EXPECT_EQ(times("RUN", done), 1);
  expect_same_results("RUN", "whole");
  expect_same_after_extension("run.stop.steps=2400", "run.stop.steps=2800");
}

}  // namespace
