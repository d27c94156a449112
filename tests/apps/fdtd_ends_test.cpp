// SPDX-License-Identifier: Apache-2.0
// Where runs end by what they see of their fields, and where changes of that end take them.
#include "fdtd_case.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

using namespace tessera::testing;

namespace {

/// A slab, a current beside it, and what `more` holds.
std::string slab_case(const std::string& stop, const std::string& more) {
  return "app = \"electromagnetics.fdtd\"\noutput.pictures = false\nrun.precision = \"f64\"\n"
         "run.stop = {" +
         stop + R"(}
grid = {size = ["3 um", "0 um", "0 um"], cell = "20 nm"}
boundary.pml.cells = 8
material = [{name = "m", eps = 4}]
structure = [{shape = "box", name = "slab", material = "m", size = ["1 um", "0 um", "0 um"]}]
[[source]]
kind = "point"
component = "Ez"
position = ["-0.31 um", "0 um", "0 um"]
waveform = {kind = "gaussian", frequency = "150 THz", bandwidth = "80 THz"}
)" + more;
}
constexpr char kFlux[] = R"([[monitor]]
kind = "flux"
name = "on"
position = ["1 um", "0 um", "0 um"]
size = ["0 um", "0 um", "0 um"]
frequencies = ["120 THz", "150 THz"]
)";
constexpr char kResonances[] = R"([[monitor]]
kind = "resonances"
name = "on"
components = ["Ez"]
position = ["0.11 um", "0 um", "0 um"]
frequency_min = "100 THz"
frequency_max = "200 THz"
derivatives = ["slab.size[0]"]
)";

TEST_F(Fdtd, ARunThatEndedByItsDecayStaysWhereItEnded) {
  write("case.toml", slab_case("decay_db = 60", kResonances));
  ASSERT_EQ(run_case("case.toml", "RUN").code, 0);
  const std::string results = read("RUN/results.h5"), checks = read("RUN/metrics.csv");
  for (const char* title : {"title=a", "title=b"}) {
    const Outcome o = tessera({"resume", "RUN", "--set", title});
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(read("RUN/metrics.csv"), checks);
    EXPECT_EQ(read("RUN/results.h5"), results);
  }
}

TEST_F(Fdtd, AResumeThatMovesNoEndSaysSo) {
  write("case.toml", slab_case("decay_db = 60, time = \"2 ps\"", kFlux));
  ASSERT_EQ(run_case("case.toml", "RUN").code, 0);
  const Outcome same = tessera({"resume", "RUN", "--set", "run.stop.time=3 ps"});
  EXPECT_EQ(same.code, 0) << same.err;
  EXPECT_TRUE(holds(same.err,
                    "the run ends where it did, with the same numbers: "
                    "run.stop.time=3 ps moves no end"))
      << same.err;
  const Outcome title = tessera({"resume", "RUN", "--set", "title=b"});
  EXPECT_FALSE(holds(title.err, "where it did")) << title.err;
  const Outcome further = tessera({"resume", "RUN", "--set", "run.stop.decay_db=150"});
  EXPECT_EQ(further.code, 0) << further.err;
  EXPECT_FALSE(holds(further.err, "where it did")) << further.err;
}

TEST_F(Fdtd, AnEndBeforeThatOfTheSourcesIsToldByCheck) {
  const auto told = [&](const std::string& stop) {
    write("case.toml", slab_case(stop, kFlux));
    const Outcome o = tessera({"check", "case.toml"});
    EXPECT_EQ(o.code, 0) << o.err;
    return holds(o.err, "warning E0622: the run ends at ") && holds(o.err, "before its sources do");
  };
  EXPECT_TRUE(told("time = \"10 fs\""));
  EXPECT_TRUE(told("steps = 16, decay_db = 60"));
  EXPECT_FALSE(told("time = \"300 fs\""));
  EXPECT_FALSE(told("after_sources = \"0 fs\""));
  EXPECT_FALSE(told("decay_db = 60"));
}

TEST_F(Fdtd, AnEndByDecayThatWasPassedIsRefused) {
  write("case.toml", slab_case("decay_db = 130, check_every = \"2 fs\"", kResonances));
  ASSERT_EQ(run_case("case.toml", "RUN").code, 0);
  const Outcome earlier = tessera({"resume", "RUN", "--set", "run.stop.decay_db=100"});
  EXPECT_EQ(earlier.code, 5);
  EXPECT_TRUE(holds(earlier.err, "error E0436: the run is at step")) << earlier.err;
  const Outcome later = tessera({"resume", "RUN", "--set", "run.stop.decay_db=150"});
  EXPECT_EQ(later.code, 0) << later.err;
  write("whole.toml", slab_case("decay_db = 150, check_every = \"2 fs\"", kResonances));
  ASSERT_EQ(run_case("whole.toml", "WHOLE").code, 0);
  EXPECT_EQ(read("RUN/metrics.csv"), read("WHOLE/metrics.csv"));
}

TEST_F(Fdtd, AnEndWithinAPulseThatAsksForMoreSamplesIsRefused) {
  write("case.toml", slab_case("time = \"160 fs\", check_every = \"2 fs\"", kFlux));
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "RUN", "--max-time", "1 us"}).code, 75);
  const Outcome o = tessera({"resume", "RUN", "--set", "run.stop.time=40 fs"});
  EXPECT_EQ(o.code, 5);
  EXPECT_TRUE(holds(o.err, "error E0436: transforms have added every ")) << o.err;
  EXPECT_EQ(tessera({"resume", "RUN", "--set", "run.stop.time=170 fs"}).code, 0);
}

/// A ringing slab, with a film beside it in the case alone: two runs, the reference first. Its
/// monitor is the second of the case, whose first one takes each 8th step or so.
std::string film_case(const std::string& stop) {
  return "app = \"electromagnetics.fdtd\"\noutput = {pictures = false, vtk = false}\n"
         "run.precision = \"f64\"\nrun.stop = {" +
         stop + R"(}
grid = {size = ["3 um", "0 um", "0 um"], cell = "20 nm"}
boundary.pml.cells = 8
reference.without = ["film"]
material = [{name = "m", eps = 30}]
structure = [
  {shape = "box", name = "slab", material = "m", size = ["1 um", "0 um", "0 um"]},
  {shape = "box", name = "film", material = "m", centre = ["0.8 um", "0 um", "0 um"], size = ["0.04 um", "0 um", "0 um"]}]
[[source]]
kind = "point"
component = "Ez"
position = ["-0.7 um", "0 um", "0 um"]
waveform = {kind = "gaussian", frequency = "150 THz", bandwidth = "80 THz"}
[[monitor]]
kind = "flux"
name = "high"
position = ["1.1 um", "0 um", "0 um"]
size = ["0 um", "0 um", "0 um"]
frequencies = ["400 THz"]
[[monitor]]
kind = "flux"
name = "on"
position = ["1 um", "0 um", "0 um"]
size = ["0 um", "0 um", "0 um"]
frequencies = ["150 THz"]
relative_to = "on.reference"
)";
}
/// With a checkpoint in its last run.
constexpr char kOften[] = "2 ms";

TEST_F(Fdtd, AResumeThatLeavesTheEndOfARunBesideItsReferenceIsTaken) {
  write("case.toml", film_case("decay_db = 30, check_every = \"20 fs\""));
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "RUN", "--checkpoint-every", kOften}).code, 0);
  const std::string results = read("RUN/results.h5"), checks = read("RUN/metrics.csv");
  const Outcome o = tessera({"resume", "RUN", "--set", "title=a"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(read("RUN/metrics.csv"), checks);
  EXPECT_EQ(read("RUN/results.h5"), results);
}

TEST_F(Fdtd, AllRunsOfACaseHaveOneEnd) {
  const auto resumed = [&](const std::string& stop, const std::string& change,
                           const std::string& message) {
    write("case.toml", film_case(stop));
    ASSERT_EQ(
        tessera({"run", "case.toml", "--output", "RUN", "--force", "--checkpoint-every", kOften})
            .code,
        0);
    const Outcome o = tessera({"resume", "RUN", "--set", change});
    EXPECT_EQ(o.code, 5) << o.out;
    EXPECT_TRUE(holds(o.err, "error E0436: the run of reference has ended at step")) << o.err;
    EXPECT_TRUE(holds(o.err, message)) << o.err;
    EXPECT_TRUE(holds(o.err, "a new run: all runs of a case have one end")) << o.err;
  };
  resumed("decay_db = 30, check_every = \"20 fs\"", "run.stop.decay_db=60", "it would go on");
  resumed("decay_db = 60, check_every = \"20 fs\"", "run.stop.decay_db=30",
          "since an earlier check");
  resumed("steps = 3000", "run.stop.steps=2800", "has ended at step 3000, past its end at 2800");
  resumed("steps = 3000", "run.stop.steps=3200", "it would go on");
}

// Checks so far apart that the reference has fallen by more than is asked for later, too: 17.2 dB
// at the first of them, where the case has 9.5.
TEST_F(Fdtd, ARunGoesOnWhereThoseBeforeItHaveComeFarEnough) {
  const std::string stop = "check_every = \"160 fs\", decay_db = ";
  write("case.toml", film_case(stop + "8"));
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "RUN", "--checkpoint-every", kOften}).code, 0);
  write("whole.toml", film_case(stop + "12"));
  ASSERT_EQ(run_case("whole.toml", "WHOLE").code, 0);
  const Outcome o = tessera({"resume", "RUN", "--set", "run.stop.decay_db=12"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(read("RUN/metrics.csv"), read("WHOLE/metrics.csv"));
  EXPECT_EQ(read("RUN/tables/on.csv"), read("WHOLE/tables/on.csv"));
}

// The field of a plasma and the current of its carriers have the energy by turns: twice a period
// there is hardly any in the field. What both have falls by exp(-damping t).
TEST_F(Fdtd, EnergyInPolesIsEnergyThatIsLeft) {
  write("plasma.toml", R"(app = "electromagnetics.fdtd"
output.pictures = false
grid = {size = ["0.4 um", "0 um", "0 um"], cell = "20 nm", background = "plasma"}
run = {precision = "f64", stop = {decay_db = 40}}
boundary.x = "periodic"
material = [{name = "plasma", poles = [{kind = "drude", frequency = "300 THz", damping = "0.5 THz"}]}]
[[source]]
kind = "plane"
component = "Ey"
position = ["0 um", "0 um", "0 um"]
size = ["0.4 um", "0 um", "0 um"]
waveform = {kind = "gaussian", frequency = "300 THz", bandwidth = "200 THz"}
)");
  ASSERT_EQ(run_case("plasma.toml", "RUN").code, 0);
  const double end = csv_column(read("RUN/metrics.csv"), "time_s").back(),
               rate = 2 * std::numbers::pi * 0.5e12;
  EXPECT_NEAR(end * rate / std::log(1e4), 1, 0.03);  // the pulse comes before, 2 % of it
}

}  // namespace
