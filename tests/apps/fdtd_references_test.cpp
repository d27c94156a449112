// SPDX-License-Identifier: Apache-2.0
// What refers to something else: to a former run, to another monitor, to a frequency.
#include "fdtd_case.h"
#include "tessera/data/hdf5.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

using namespace tessera::testing;

namespace {

class FdtdReferences : public Fdtd {};

const char* const kScattering = R"(app = "electromagnetics.fdtd"
output = {vtk = false, pictures = false, scene = false}
grid = {size = ["3 um", "3 um", "0 um"], cell = "50 nm", polarization = "Ez"}
run = {precision = "f64", courant = 0.9, stop.time = "150 fs"}
boundary.pml.cells = 8
[[material]]
name = "glass"
index = 1.5
[[structure]]
shape = "cylinder"
radius = "0.3 um"
height = "inf"
material = "glass"
[[source]]
kind = "plane_wave"
direction = [1, 0, 0]
polarization = [0, 0, 1]
position = ["0 um", "0 um", "0 um"]
size = ["1.2 um", "1.2 um", "0 um"]
waveform = {kind = "gaussian", frequency = "200 THz", bandwidth = "150 THz"}
[[monitor]]
kind = "flux"
name = "power"
position = ["0.9 um", "0 um", "0 um"]
size = ["0 um", "1 um", "0 um"]
frequencies = ["190 THz", "210 THz"]
[[monitor]]
kind = "dft"
name = "field"
position = ["0.2 um", "0.1 um", "0 um"]
size = ["0.5 um", "0.4 um", "0 um"]
frequencies = ["190 THz", "210 THz"]
[[monitor]]
kind = "rcs"
name = "echo"
position = ["0 um", "0 um", "0 um"]
size = ["1.6 um", "1.6 um", "0 um"]
frequencies = ["190 THz", "210 THz"]
)";

TEST_F(FdtdReferences, ARunMinusItselfIsNothing) {
  write("case.toml", kScattering);
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "whole"}).code, 0);
  const Outcome less =
      tessera({"run", "case.toml", "--output", "less", "--set", "monitor[0].subtract=\"whole\"",
               "--set", "monitor[1].subtract=\"whole\"", "--set", "monitor[2].subtract=\"whole\""});
  ASSERT_EQ(less.code, 0) << less.err;
  const auto power = rows("whole", "power"), none = rows("less", "power");
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_GT(power.at(k).at(1), 0);
    EXPECT_EQ(none.at(k).at(1), 0);
  }
  for (const char* name : {"field", "echo"}) {
    const auto all = rows("whole", name), nothing = rows("less", name);
    ASSERT_EQ(all.size(), nothing.size()) << name;
    for (std::size_t k = 0; k < all.size(); ++k)
      for (std::size_t q = 1; q < nothing[k].size(); ++q) EXPECT_EQ(nothing[k][q], 0) << name;
    EXPECT_NE(all.at(0).at(1), 0) << name;
  }
}

/// The case with its cylinder as what its reference leaves out.
std::string with_reference() {
  std::string text = kScattering;
  text.replace(text.find("[[structure]]"), 13,
               "[reference]\nwithout = [\"rod\"]\n[[structure]]\nname = \"rod\"");
  for (const char* name : {"power", "field", "echo"}) {
    const std::string at = std::string("name = \"") + name + "\"\n";
    text.replace(text.find(at), at.size(), at + "subtract = \"reference\"\n");
  }
  return text.insert(text.find("position = [\"0.9 um\""), "relative_to = \"power.reference\"\n");
}

TEST_F(FdtdReferences, TheReferenceOfACaseIsItsRunWithoutTheBody) {
  write("case.toml", kScattering);
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "empty", "--set", "structure=[]"}).code, 0);
  ASSERT_EQ(
      tessera({"run", "case.toml", "--output", "two", "--set", "monitor[0].subtract=\"empty\"",
               "--set", "monitor[1].subtract=\"empty\"", "--set", "monitor[2].subtract=\"empty\""})
          .code,
      0);
  write("one.toml", with_reference());
  const Outcome check = tessera({"check", "one.toml"});
  EXPECT_TRUE(holds(check.out, "2 runs: the reference, without 'rod', and the case")) << check.out;
  const Outcome run = tessera({"run", "one.toml", "--output", "one"});
  ASSERT_EQ(run.code, 0) << run.err;
  for (const char* name : {"power", "field", "echo"}) {
    EXPECT_EQ(table("one", std::string(name) + ".reference"), table("empty", name));
  }
  EXPECT_EQ(table("one", "echo"), table("two", "echo"));
  // Results keep fields of a dft, not the sums that they are made of.
  const auto fields = rows("one", "field"), by_hand = rows("two", "field");
  for (std::size_t k = 0; k < 2; ++k)
    for (std::size_t q = 1; q < fields[k].size(); ++q)
      EXPECT_NEAR(fields[k][q], by_hand[k][q], 1e-27) << q;
  EXPECT_GT(std::abs(fields[0][1]), 1e-16);
  const auto flux = column("two", "power", "flux"), sent = column("empty", "power", "flux");
  EXPECT_EQ(column("one", "power", "flux"), flux);
  for (std::size_t k = 0; k < 2; ++k)
    EXPECT_DOUBLE_EQ(column("one", "power", "ratio")[k], flux[k] / sent[k]);
  // Stopped in the first run and in the second, and on two ranks.
  for (const char* when : {"20 ms", "60 ms", "100 ms"}) {
    const int code =
        tessera({"run", "one.toml", "--output", "stopped", "--force", "--max-time", when}).code;
    ASSERT_TRUE(code == 75 || code == 0) << code;
    if (code == 75) {
      ASSERT_EQ(tessera({"resume", "stopped"}).code, 0);
    }
    for (const char* file : {"/results.h5", "/metrics.csv", "/tables/power.csv"})
      EXPECT_EQ(read(std::string("stopped") + file), read(std::string("one") + file))
          << when << file;
  }
  ASSERT_EQ(tessera({"run", "one.toml", "--output", "ranks", "--ranks", "threads:2"}).code, 0);
  for (const char* name : {"power", "field", "power.reference"})
    EXPECT_EQ(table("ranks", name), table("one", name)) << name;
}

/// A line between two ports with a block in it, which the references leave out.
const char* const kPorts = R"(app = "electromagnetics.fdtd"
output = {vtk = false, pictures = false, scene = false}
grid = {size = ["200 mm", "20 mm", "0 mm"], cell = "5 mm", polarization = "Hz"}
run = {precision = "f64", stop.steps = 3000}
boundary = {x = "pmc", y = "pec"}
[reference]
without = ["block"]
[[material]]
name = "board"
eps = 3
[[structure]]
name = "block"
shape = "box"
material = "board"
low = ["-30 mm", "-inf", "-inf"]
high = ["10 mm", "inf", "inf"]
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
resistance = "12 ohm"
[s_parameters]
frequencies = ["0.2 GHz", "0.9 GHz"]
[[monitor]]
kind = "flux"
name = "back"
position = ["-60 mm", "0 mm", "0 mm"]
size = ["0 mm", "20 mm", "0 mm"]
frequencies = ["0.2 GHz", "0.9 GHz"]
subtract = "reference"
relative_to = "sent.reference"
[[monitor]]
kind = "flux"
name = "sent"
position = ["50 mm", "0 mm", "0 mm"]
size = ["0 mm", "20 mm", "0 mm"]
frequencies = ["0.2 GHz", "0.9 GHz"]
)";

TEST_F(FdtdReferences, EachPortHasItsOwn) {
  write("all.toml", kPorts);
  const Outcome check = tessera({"check", "all.toml"});
  EXPECT_TRUE(holds(check.out, "4 runs: the reference of each port, without 'block', and the case"))
      << check.out << check.err;
  const Outcome run = tessera({"run", "all.toml", "--output", "all"});
  ASSERT_EQ(run.code, 0) << run.err;
  write("plain.toml", changed(changed(changed(kPorts, "[reference]\nwithout = [\"block\"]\n", ""),
                                      "subtract = \"reference\"\n", ""),
                              "relative_to = \"sent.reference\"\n", ""));
  ASSERT_EQ(run_case("plain.toml", "plain").code, 0);
  EXPECT_EQ(table("all", "s_parameters"), table("plain", "s_parameters"));
  for (const std::string port : {"left", "right"}) {
    const std::string excite = "run.excite=[\"" + port + "\"]";
    ASSERT_EQ(run_case("plain.toml", "empty", {excite, "structure=[]"}).code, 0);
    ASSERT_EQ(run_case("plain.toml", "less", {excite, "monitor[0].subtract=\"empty\""}).code, 0);
    ASSERT_EQ(run_case("all.toml", "one", {excite}).code, 0);
    EXPECT_EQ(table("all", "sent." + port + ".reference"), table("empty", "sent"));
    EXPECT_EQ(table("one", "sent.reference"), table("empty", "sent"));
    const auto back = column("less", "back", "flux"), sent = column("empty", "sent", "flux");
    EXPECT_EQ(column("all", "back." + port, "flux"), back);
    EXPECT_EQ(column("one", "back", "flux"), back);
    for (std::size_t k = 0; k < 2; ++k)
      EXPECT_DOUBLE_EQ(column("all", "back." + port, "ratio")[k], back[k] / sent[k]);
  }
  for (const char* when : {"10 ms", "30 ms", "50 ms", "70 ms"}) {
    const int code =
        tessera({"run", "all.toml", "--output", "stopped", "--force", "--max-time", when}).code;
    ASSERT_TRUE(code == 75 || code == 0) << code;
    if (code == 75) {
      ASSERT_EQ(tessera({"resume", "stopped"}).code, 0);
    }
    for (const char* file : {"/results.h5", "/metrics.csv", "/tables/back.right.csv"})
      EXPECT_EQ(read(std::string("stopped") + file), read(std::string("all") + file))
          << when << file;
  }
  ASSERT_EQ(tessera({"run", "all.toml", "--output", "ranks", "--ranks", "threads:2"}).code, 0);
  for (const char* name : {"back.left", "back.right", "sent.right.reference"})
    EXPECT_EQ(table("ranks", name), table("all", name)) << name;
  // Runs that have ended do not go on to another end.
  ASSERT_EQ(tessera({"run", "all.toml", "--output", "later", "--checkpoint-every", "5 ms"}).code,
            0);
  ASSERT_EQ(tessera({"resume", "later", "--set", "title=later"}).code, 0);
  const Outcome later = tessera({"resume", "later", "--set", "run.stop.steps=3200"});
  EXPECT_EQ(later.code, 5);
  EXPECT_TRUE(holds(later.err,
                    "E0436: the run of left.reference has ended at step 3000, and with "
                    "this end it would go on"))
      << later.err;
  const auto refused = [&](const std::string& what, const std::string& by,
                           const std::string& message) {
    write("bad.toml", changed(kPorts, what, by));
    const Outcome out = tessera({"check", "bad.toml"});
    EXPECT_EQ(out.code, 5) << out.err;
    EXPECT_TRUE(holds(out.err, message)) << out.err;
  };
  refused("low = [\"-30 mm\"", "low = [\"-90 mm\"", "has a part in the port 'left'");
  refused("[s_parameters]\n", "[s_parameters]\nper_watt = \"incident\"\n", "is not told per watt");
}

TEST_F(FdtdReferences, AReferenceThatCannotBeIsRefused) {
  const auto refused = [&](const std::string& what, const std::string& by,
                           const std::string& message) {
    write("bad.toml", changed(with_reference(), what, by));
    const Outcome out = tessera({"check", "bad.toml"});
    EXPECT_EQ(out.code, 5) << out.err;
    EXPECT_TRUE(holds(out.err, message)) << out.err;
  };
  refused("without = [\"rod\"]", "without = [\"rot\"]", "rod");
  refused("without = [\"rod\"]", "without = []", "reference.without");
  refused("relative_to = \"power.reference\"", "relative_to = \"power.referenc\"",
          "power.reference");
  write("bad.toml", changed(with_reference(), "[reference]\nwithout = [\"rod\"]\n", ""));
  EXPECT_TRUE(holds(tessera({"check", "bad.toml"}).err, "E06"));
  // What is made for the bodies where it is.
  const std::string slab =
      changed(changed(with_reference(), "shape = \"cylinder\"", "shape = \"box\""),
              "radius = \"0.3 um\"\nheight = \"inf\"",
              "low = [\"-inf\", \"-0.3 um\", \"-inf\"]\nhigh = [\"inf\", \"0.3 um\", \"inf\"]");
  for (const char* of_it :
       {"kind = \"mode\"\nposition = [\"-1 um\", \"0 um\", \"0 um\"]\n",
        "kind = \"beam\"\nposition = [\"-1 um\", \"0 um\", \"0 um\"]\npolarization = [0, 0, "
        "1]\nwaist = \"1 um\"\n"}) {
    write("bad.toml", slab + "[[source]]\n" + of_it +
                          "direction = [1, 0, 0]\nwaveform = {kind = \"gaussian\", frequency = "
                          "\"200 THz\", bandwidth = \"20 THz\"}\n");
    const Outcome out = tessera({"check", "bad.toml"});
    EXPECT_EQ(out.code, 5) << of_it << out.err;
    EXPECT_TRUE(holds(out.err, "'rod' has a part in source[1]")) << of_it << out.err;
  }
  const std::string bar =
      "\n[[structure]]\nname = \"bar\"\nshape = \"box\"\nmaterial = \"pec\"\nlow = [\"80 mm\", "
      "\"-inf\", \"-inf\"]\nhigh = [\"85 mm\", \"0 mm\", \"inf\"]\n[[load]]\nposition = [\"80 "
      "mm\", \"5 mm\", \"0 mm\"]\nsize = [\"0 mm\", \"10 mm\", \"0 mm\"]\naxis = \"y\"\nresistance "
      "= \"50 ohm\"\n";
  write("bad.toml", changed(kPorts, "without = [\"block\"]", "without = [\"bar\"]") + bar);
  const Outcome loaded = tessera({"check", "bad.toml"});
  EXPECT_TRUE(holds(loaded.err, "'bar' has a part in load[0]")) << loaded.err;
  write("unused.toml",
        changed(kScattering, "[[structure]]\n",
                "[reference]\nwithout = [\"rod\"]\n[[structure]]\nname = \"rod\"\n"));
  EXPECT_TRUE(holds(tessera({"check", "unused.toml"}).err, "no monitor refers to it"));
}

/// Up to version 0.2 results.h5 said `transform/places` for what is `transform/positions` now.
TEST_F(FdtdReferences, ResultsOfEarlierVersionsAreSubtractedToo) {
  write("case.toml", kScattering);
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "whole"}).code, 0);
  const auto results = tessera::data::read_h5(here() / "whole/results.h5");
  std::filesystem::create_directories(here() / "former");
  tessera::data::H5Writer former(here() / "former/results.h5");
  int renamed = 0;
  for (const auto& [name, array] : results) {
    std::string as = name;
    if (const auto at = as.rfind("/transform/positions"); at != std::string::npos)
      as.replace(at, std::string::npos, "/transform/places"), ++renamed;
    std::visit(
        [&](const auto& values) {
          using Values = std::decay_t<decltype(values)>;
          if constexpr (std::is_same_v<Values, std::vector<std::string>>)
            former.write_texts(as, values, array.attributes);
          else
            former.write(as, values, array.shape, array.attributes);
        },
        array.data);
  }
  former.commit();
  EXPECT_EQ(renamed, 3);
  const Outcome less =
      tessera({"run", "case.toml", "--output", "less", "--set", "monitor[0].subtract=\"former\""});
  ASSERT_EQ(less.code, 0) << less.err;
  for (const auto& row : rows("less", "power")) EXPECT_EQ(row.at(1), 0);
}

TEST_F(FdtdReferences, OnlyARunThatIsAlikeIsSubtracted) {
  write("case.toml", kScattering);
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "empty", "--set", "structure=[]"}).code, 0);
  const auto refused = [&](const std::string& key, const std::string& value,
                           const std::string& says, const std::string& monitor = "0") {
    const Outcome o =
        tessera({"run", "case.toml", "--output", "bad", "--set",
                 "monitor[" + monitor + "].subtract=\"empty\"", "--set", key + "=" + value});
    EXPECT_EQ(o.code, 5) << key << o.err;
    EXPECT_TRUE(holds(o.err, "error E0660")) << key << o.err;
    EXPECT_TRUE(holds(o.err, says)) << key << o.err;
    EXPECT_FALSE(std::filesystem::exists(here() / "bad")) << key;
  };
  refused("monitor[0].frequencies", "[\"190 THz\", \"211 THz\"]",
          "has other frequencies at 'power': 2.1e+14 Hz there, 2.11e+14 Hz here");
  refused("monitor[0].frequencies", "[\"190 THz\"]", "has 2 frequencies at 'power', this one 1");
  refused("monitor[0].position", "[\"0.95 um\", \"0 um\", \"0 um\"]",
          "measures 'power' at other positions");
  refused("monitor[0].size", "[\"0 um\", \"1.2 um\", \"0 um\"]",
          "measures 'power' at other positions");
  refused("monitor[1].components", "[\"Ez\"]", "measures 'field' at other positions", "1");
  refused("run.courant", "0.8", "has another time step");
  refused("grid.cell", "\"60 nm\"", "has another time step");
  refused("source[0].amplitude", "2", "has another amplitude of source[0]: 1 there, 2 here");
  refused("source[0].size", "[\"1.1 um\", \"1.2 um\", \"0 um\"]",
          "has another extent along x of source[0]");
  refused("source[0].polarization", "[0, 0, -1]", "has another polarization in z of source[0]");
  refused("source[0].waveform.bandwidth", "\"150.001 THz\"", "source[0]");
  refused("source[0].waveform.phase", "\"0 deg\"", "has another waveform of source[0]");
  refused("monitor[0].name", "\"other\"", "has no monitor 'other'");
}

/// A ratio divides each frequency by its own; the base may stand below.
TEST_F(FdtdReferences, RatiosTakeTheSameFrequenciesInAnyOrder) {
  const std::string base =
      "[[monitor]]\nkind = \"flux\"\nname = \"base\"\nposition = [\"0.9 um\", \"0 um\", \"0 "
      "um\"]\nsize = [\"0 um\", \"1 um\", \"0 um\"]\nfrequencies = [\"190 THz\", \"210 THz\"]\n";
  std::string text = kScattering;
  text.replace(text.find("[[monitor]]"), 0,
               "[[monitor]]\nkind = \"orders\"\nname = \"split\"\nposition = [\"0.9 um\", \"0 "
               "um\", \"0 um\"]\nsize = [\"0 um\", \"1 um\", \"0 um\"]\nfrequencies = [\"190 "
               "THz\", \"210 THz\"]\norders = [[0, 0], [1, 0]]\nrelative_to = \"base\"\n");
  text.replace(text.find("name = \"power\""), 14, "name = \"power\"\nrelative_to = \"base\"");
  write("case.toml", text + base);
  const Outcome o = tessera({"run", "case.toml", "--output", "RUN"});
  ASSERT_EQ(o.code, 0) << o.err;
  for (const auto& row : rows("RUN", "power")) EXPECT_EQ(row.at(1), 1);
  const auto split = rows("RUN", "split"), power = rows("RUN", "base");
  for (std::size_t k = 0; k < 2; ++k)
    EXPECT_NEAR(split.at(k).at(1) / (split[k].at(3) / power.at(k).at(1)), 1, 1e-12);
  const auto refused = [&](const std::string& key, const std::string& value,
                           const std::string& says) {
    const Outcome bad = tessera({"check", "case.toml", "--set", key + "=" + value});
    EXPECT_EQ(bad.code, 5) << bad.err;
    EXPECT_TRUE(holds(bad.err, says)) << bad.err;
  };
  refused("monitor[4].frequencies", "[\"190 THz\", \"220 THz\"]",
          "E0629: 'base' has other frequencies");
  refused("monitor[4].frequencies", "[\"190 THz\"]", "E0629: 'base' has other frequencies");
}

TEST_F(FdtdReferences, AnExpectationIsAboutTheBandOfItsMonitor) {
  const auto check = [&](const std::string& frequency, const std::string& monitor) {
    write("case.toml", std::string(kScattering) + "[[expect]]\nmonitor = \"" + monitor +
                           "\"\nfrequency = \"" + frequency + "\"\nvalue = 1\ntolerance = 1e300\n");
    return tessera({"check", "case.toml"});
  };
  EXPECT_EQ(check("195 THz", "power").code, 0);
  EXPECT_EQ(check("210 THz", "power").code, 0);
  const Outcome bad = check("230 THz", "power");
  EXPECT_EQ(bad.code, 5);
  EXPECT_TRUE(holds(bad.err, "is outside of the band of 'power', 1.9e+14 to 2.1e+14 Hz"))
      << bad.err;
}

TEST_F(FdtdReferences, AFormerRunOfAnotherModeOrBlochVectorIsNotTakenOff) {
  const auto text = [](bool mode) {
    return R"(app = "electromagnetics.fdtd"
grid = {size = ["2 um", "1 um", "0 um"], cell = "50 nm", polarization = "Ez"}
run.stop.steps = 20
boundary = )" +
           std::string(mode ? R"({y = "pec"}
[[source]]
kind = "mode"
position = ["-0.3 um", "0 um", "0 um"]
direction = [1, 0, 0]
mode = 1
)"
                            : R"({y = "bloch", bloch_phase = ["0 deg", "60 deg", "0 deg"]}
[[source]]
kind = "plane"
component = "Ez"
position = ["-0.3 um", "0 um", "0 um"]
size = ["0 um", "1 um", "0 um"]
)") +
           R"(waveform = {frequency = "400 THz", bandwidth = "100 THz"}
[[monitor]]
kind = "flux"
name = "power"
position = ["0.3 um", "0 um", "0 um"]
size = ["0 um", "1 um", "0 um"]
frequencies = ["400 THz"]
)";
  };
  const auto expect_refused = [&](const std::string& change, const std::string& says) {
    const Outcome same = tessera({"check", "case.toml", "--set", "monitor[0].subtract=\"RUN\""});
    EXPECT_EQ(same.code, 0) << same.err;
    const Outcome other =
        tessera({"check", "case.toml", "--set", "monitor[0].subtract=\"RUN\"", "--set", change});
    EXPECT_EQ(other.code, 5) << change;
    EXPECT_TRUE(holds(other.err, "E0660") && holds(other.err, says)) << other.err;
  };
  write("case.toml", text(true));
  ASSERT_EQ(run_case("case.toml", "RUN").code, 0);
  expect_refused("source[0].mode=2", "has another mode of source[0]: 1 there, 2 here");
  expect_refused("source[0].index=1.01", "has another index about which its mode is sought");
  write("case.toml", text(false));
  ASSERT_EQ(run_case("case.toml", "RUN").code, 0);
  expect_refused("boundary.bloch_phase=[\"0 deg\",\"20 deg\",\"0 deg\"]",
                 "has another Bloch vector along y of source[0]");
}

TEST_F(FdtdReferences, AFolderCalledReferenceIsNotTakenForThatOfTheCase) {
  write("one.toml", with_reference());
  EXPECT_EQ(tessera({"check", "one.toml"}).code, 0);
  std::filesystem::create_directories(here() / "old/reference");
  write("old/reference/results.h5", "of a former run");
  const Outcome o =
      tessera({"check", "one.toml", "--set", "monitor[0].subtract=\"old/reference\""});
  EXPECT_EQ(o.code, 5);
  EXPECT_TRUE(holds(o.err, "error E0660: may be the run that [reference] describes, or the one in"))
      << o.err;
}

TEST_F(FdtdReferences, AFormerRunOfEachPortSaysSo) {
  write("plain.toml", changed(changed(changed(kPorts, "[reference]\nwithout = [\"block\"]\n", ""),
                                      "subtract = \"reference\"\n", ""),
                              "relative_to = \"sent.reference\"\n", ""));
  ASSERT_EQ(run_case("plain.toml", "empty", {"run.stop.steps=20", "structure=[]"}).code, 0);
  const Outcome o = tessera({"check", "plain.toml", "--set", "monitor[0].subtract=\"empty\""});
  EXPECT_EQ(o.code, 5);
  EXPECT_TRUE(holds(o.err, "has 'back' of each of several ports, as 'back.left'")) << o.err;
}

}  // namespace
