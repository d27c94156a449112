// SPDX-License-Identifier: Apache-2.0
// What cannot run is refused, what is hardly meant is said: before memory is taken.
#include "fdtd_case.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>

using namespace tessera::testing;
namespace fs = std::filesystem;

namespace {

TEST_F(Fdtd, WhatCannotRunIsRefusedBeforeMemoryIsTaken) {
  const auto refused = [&](const std::string& what, const std::string& by,
                           const std::string& number) {
    write("bad.toml", changed(fdtd_case(), what, by));
    const Outcome out = tessera({"run", "bad.toml", "--output", "bad"});
    EXPECT_EQ(out.code, 5) << out.err;
    EXPECT_TRUE(holds(out.err, number)) << out.err;
    EXPECT_FALSE(fs::exists(here() / "bad"));
  };
  refused("cell = \"50 nm\"", "cell = \"1 pm\"", "E0641");  // 10^13 cells
  refused("cell = \"50 nm\"", "cell = \"50 nm\"\nexact_speed_at = \"9000 THz\"",
          "bad.toml:5:1: error E0649");  // not carried by the grid
  refused("low = [\"0.5 um\"", "low = [\"0.8 um\"",
          "error E0653: the box has no size along x, and a sheet of 'metal' does nothing");
  // The same as a part of a union, whose medium tells what it is made of.
  const std::string sheet_of = R"([[structure]]
name = "sheet"
shape = "box"
low = ["0.8 um", "-inf", "-inf"]
high = ["0.8 um", "inf", "inf"]
[[structure]]
name = "block"
shape = "box"
low = ["0.8 um", "-inf", "-inf"]
high = ["1 um", "inf", "inf"]
[[structure]]
name = "body"
shape = "union"
parts = ["sheet", "block"]
material = )";
  write("bad.toml", fdtd_case() + sheet_of + "\"SiO2\"\n");
  const Outcome part = tessera({"check", "bad.toml"});
  EXPECT_EQ(part.code, 5) << part.err;
  EXPECT_TRUE(holds(part.err, "error E0653: the box has no size along x, and a sheet of 'SiO2'"))
      << part.err;
  write("good.toml", fdtd_case() + sheet_of + "\"pec\"\n");
  EXPECT_EQ(tessera({"check", "good.toml"}).code, 0);
  // Taken away, a sheet takes nothing; a sheet itself may have a hole.
  const auto block_without_sheet =
      changed(changed(sheet_of, "\"union\"", "\"difference\""), "parts = [\"sheet\", \"block\"]",
              "parts = [\"block\", \"sheet\"]");
  write("bad.toml", fdtd_case() + block_without_sheet + "\"pec\"\n");
  const Outcome whole = tessera({"check", "bad.toml"});
  EXPECT_EQ(whole.code, 5) << whole.err;
  EXPECT_TRUE(holds(whole.err,
                    "error E0653: the box has no size along x, and taken away it leaves no hole"))
      << whole.err;
  write("good.toml", fdtd_case() + changed(sheet_of, "\"union\"", "\"difference\"") + "\"pec\"\n");
  EXPECT_EQ(tessera({"check", "good.toml"}).code, 0);
  refused("name = \"behind\"", "name = \"" + std::string(101, 'x') + "\"",
          "E0629: a name has at most 100 letters, this one 101");
  refused("name = \"through\"", "name = \"through\"\nsubtract = \"nowhere\"", "E0660: the run in ");
  refused(
      "height = \"inf\"",
      "height = \"inf\"\nrepeat = {count = [1000, 1, 1001], step = [\"1 nm\", \"0 nm\", \"1 nm\"]}",
      "E0626: repeats make 1001000 bodies together");
  refused("centre = [\"-0.7 um\"", "centre = [\"-70 um\"",
          "bad.toml:24:1: error E0644");  // outside
  refused("stop.steps = 3000", "stop.steps = 3000\ndt = \"1 fs\"",
          "bad.toml:8:1: error E0647");  // above the limit
  refused("poles = [{kind = \"drude\", frequency = \"300 THz\", damping = \"10 THz\"}]",
          "poles = [{kind = \"residue\", pole = [\"1e13 rad/s\", \"1e15 rad/s\"], residue = [\"0 "
          "rad/s\", \"-1e15 rad/s\"]}]",
          "E0624");  // a pole that grows
  // What only the libraries of media and shapes find out.
  refused("poles = [{kind = \"drude\", frequency = \"300 THz\", damping = \"10 THz\"}]",
          "poles = [{kind = \"critical_point\", frequency = \"300 THz\", damping = \"0 THz\", "
          "amplitude = 1}]",
          "error E0624: [critical_point] expected a damping > 0 Hz");
  refused("sigma = \"2000 S/m\"",
          "loss_tangent = 0.01\nloss_frequency = \"100 THz\"\nloss_band = [\"100 THz\", \"200 "
          "THz\"]",
          "error E0624: has to rise and to hold loss_frequency within");
  // A loss tangent is that of eps and poles together.
  const std::string drude =
      "poles = [{kind = \"drude\", frequency = \"300 THz\", damping = \"10 THz\"}]";
  refused(drude, drude + "\nloss_tangent = 0.01\nloss_frequency = \"100 THz\"",
          "error E0624: at loss_frequency eps and poles alone");
  refused(drude,
          drude +
              "\nloss_tangent = 0.01\nloss_frequency = \"100 THz\"\nloss_band = [\"90 THz\", "
              "\"200 THz\"]",
          "error E0624: over a band poles and a constant loss tangent contradict");
  refused("eps = 4\nsigma = \"2000 S/m\"", "eps = 4\nfit.tolerance = 0.1",
          "error E0624: there is no index_file that a medium is fitted to");
  write("one.csv", "wavelength_um,n\n1,1.5\n");
  refused("eps = 4\nsigma = \"2000 S/m\"", "index_file = \"one.csv\"",
          "error E0624: [fit_medium] 1 rows cannot fix");
  refused("shape = \"cylinder\"\ncentre = [\"-0.7 um\", \"0.5 um\", \"0 um\"]\nradius = \"0.4 um\"",
          "shape = \"prism\"\ncorners = [[\"-1 um\", \"0.2 um\"], [\"-0.4 um\", \"0.8 um\"], "
          "[\"-0.4 um\", \"0.2 um\"], [\"-1 um\", \"0.8 um\"]]",
          "error E0626: [prism] ");
}

TEST_F(Fdtd, WhatIsHardlyMeantIsSaid) {
  const auto doubted = [&](const std::string& what, const std::string& by,
                           const std::string& message) {
    write("doubt.toml", changed(fdtd_case(), what, by));
    const Outcome out = tessera({"check", "doubt.toml"});
    EXPECT_EQ(out.code, 0) << out.err;
    EXPECT_TRUE(holds(out.err, message)) << out.err;
  };
  const std::string source = "position = [\"-1.2 um\"",
                    probe = "position = [\"1.2 um\", \"0.2 um\"";
  doubted(source, "position = [\"-1.9 um\"", "the source lies inside the absorbing layer across x");
  doubted(probe, "position = [\"1.95 um\", \"0.2 um\"",
          "warning E0652: the monitor lies inside the absorbing layer across x");
  doubted("frequencies = [\"200 THz\"]", "frequencies = [\"9000 THz\"]",
          "no wave above 2.998e+15 Hz travels");
  doubted("stop.steps = 3000", "stop.time = \"1 s\"", "days at 10^9 cells a second");
  doubted("size = [\"3 um\", \"2 um\", \"0 um\"]", "size = [\"3.8 um\", \"2 um\", \"0 um\"]",
          "warning E0652: its surface runs into the absorbing layer across x");
  doubted("size = [\"3 um\", \"2 um\", \"0 um\"]", "size = [\"1 um\", \"1 um\", \"0 um\"]",
          "warning E0662: no source and no plane wave lies in its box");
  doubted("low = [\"0.5 um\", \"-inf\", \"-inf\"]",
          "low = [\"0.5 um\", \"-inf\", \"-inf\"]\npriority = 1",
          "warning E0661: the face across y of its surface cuts 'metal'");
  doubted("high = [\"0.8 um\", \"inf\", \"inf\"]", "high = [\"1.9 um\", \"inf\", \"inf\"]",
          "warning E0664: the body ends inside the absorbing layer across x");
  doubted("frequency_min = \"150 THz\"", "frequency_min = \"10 THz\"",
          "warning E0665: at 1e+13 Hz all sources together are");
  doubted("material = \"wet\"",
          "material = \"pec\"\n[[monitor]]\nkind = \"probe\"\nname = \"core\"\nposition = [\"-0.7 "
          "um\", \"0.5 um\", \"0 um\"]",
          "lies in a perfect conductor");
}

/// Layers take from what a plane wave's box lets in; one in front of an absorber's outer face,
/// which is a conductor, is not half of a box at a mirror.
TEST_F(Fdtd, WavesThatBeginInLayersAreDoubted) {
  const auto told = [&](const std::string& source, const std::string& boundary) {
    write("wave.toml",
          "app = \"electromagnetics.fdtd\"\ngrid = {size = [\"4 um\", \"4 um\", \"0 um\"], cell = "
          "\"50 nm\", polarization = \"Hz\"}\nrun.stop.steps = 10\nboundary = {" +
              boundary + "}\n[[source]]\n" + source +
              "\ndirection = [0, 1, 0]\npolarization = [1, 0, 0]\nwaveform = {kind = \"gaussian\", "
              "frequency = \"200 THz\", bandwidth = \"100 THz\"}\n");
    const Outcome o = tessera({"check", "wave.toml"});
    EXPECT_EQ(o.code, 0) << o.err;
    return o.err;
  };
  const std::string layers = "pml.cells = 10, absorber.cells = 10",
                    absorbing = "x = \"absorber\", " + layers;
  const auto wave = [](const std::string& size) {
    return "kind = \"plane_wave\"\nsize = [\"" + size + "\", \"2 um\", \"0 um\"]";
  };
  const auto beam = [](const std::string& y) {
    return "kind = \"beam\"\nwaist = \"0.5 um\"\nposition = [\"0 um\", \"" + y + "\", \"0 um\"]";
  };
  const std::string of_wave =
      "warning E0652: the box of the plane wave runs into the absorbing layer across x";
  EXPECT_TRUE(holds(told(wave("3.4 um"), layers), of_wave));
  EXPECT_TRUE(holds(told(wave("4 um"), absorbing), of_wave));
  EXPECT_TRUE(holds(told(beam("-1.7 um"), layers),
                    "warning E0652: the source lies inside the absorbing layer across y"));
  for (const std::string& source : {wave("2 um"), wave("3 um"), beam("-1.2 um")})
    EXPECT_FALSE(holds(told(source, layers), "E0652")) << source;
  EXPECT_FALSE(holds(told(wave("4 um"), "x = \"periodic\", " + layers), "E0652"));
}

/// What begins behind the end of the run, or when a source ends that never does, records nothing.
TEST_F(Fdtd, RecordsOfNothingAreDoubted) {
  std::string line = R"(app = "electromagnetics.fdtd"
grid = {size = ["4 um", "0 um", "0 um"], cell = "50 nm"}
run.stop.time = "200 fs"
[[source]]
kind = "point"
component = "Ey"
position = ["0 um", "0 um", "0 um"]
waveform = {kind = "gaussian", frequency = "200 THz", bandwidth = "100 THz"}
[[monitor]]
kind = "resonances"
name = "modes"
position = ["1 um", "0 um", "0 um"]
frequency_min = "150 THz"
frequency_max = "250 THz"
[[monitor]]
kind = "probe"
name = "late"
position = ["1 um", "0 um", "0 um"]
start = "150 fs"
)";
  write("line.toml", line);
  const auto check = [&](const std::vector<std::string>& settings) {
    std::vector<std::string> arguments{"check", "line.toml"};
    for (const std::string& s : settings) arguments.insert(arguments.end(), {"--set", s});
    const Outcome o = tessera(arguments);
    EXPECT_EQ(o.code, 0) << o.err;
    return o.err;
  };
  EXPECT_FALSE(holds(check({}), "E0629"));
  const std::string rare = check({"monitor[1].every=\"2 ps\""});
  EXPECT_TRUE(holds(rare, "E0629: it keeps a step each 2e-12 s")) << rare;
  EXPECT_TRUE(holds(rare, "none is kept")) << rare;
  const std::string brief = check({"run.stop.time=\"50 fs\""});  // the pulse ends at 97 fs
  EXPECT_TRUE(holds(brief, "when the sources have ended, and the run ends at 5e-14 s")) << brief;
  EXPECT_TRUE(holds(brief, "warning E0629: its record begins at 1.5e-13 s, and the run ends"))
      << brief;
  const std::string pulse = R"("gaussian", frequency = "200 THz", bandwidth = "100 THz")";
  line.replace(line.find(pulse), pulse.size(), R"("continuous", frequency = "200 THz")");
  write("line.toml", line);
  EXPECT_TRUE(holds(check({}), "warning E0629: its record begins when the sources have ended"));
  EXPECT_FALSE(holds(check({"monitor[0].start=\"100 fs\""}), "E0629"));
}

/// P = chi2 E^2 has one sign on both sides of a mirror: that of an image only where E is even.
TEST_F(Fdtd, MirrorsThatReverseACrystalAreDoubted) {
  write("crystal.toml", R"(app = "electromagnetics.fdtd"
grid = {size = ["4 um", "4 um", "0 um"], cell = "50 nm", polarization = "Ez"}
run.stop.steps = 10
boundary = {y_low = "pec", symmetry = ["y_low"]}
[[material]]
name = "crystal"
index = 2
chi2 = "50 pm/V"
[[structure]]
shape = "box"
size = ["1 um", "inf", "inf"]
material = "crystal"
[[source]]
kind = "point"
component = "Ez"
position = ["-1 um", "0 um", "0 um"]
waveform = {kind = "gaussian", frequency = "200 THz", bandwidth = "100 THz"}
)");
  const auto check = [&](const std::string& setting) {
    const Outcome o = tessera({"check", "crystal.toml", "--set", setting});
    EXPECT_EQ(o.code, 0) << o.err;
    return o.err;
  };
  const std::string odd = "warning E0623: the image of 'crystal' has chi2 of the opposite sign";
  EXPECT_TRUE(holds(check("run.stop.steps=11"), odd));
  EXPECT_FALSE(holds(check("boundary.y_low=\"pmc\""), odd));
  EXPECT_FALSE(holds(check("boundary.symmetry=[]"), odd));
  EXPECT_FALSE(holds(check("material[0].chi2=\"0 pm/V\""), odd));
}

/// Counted, not tried: the machine keeps its memory.
TEST_F(Fdtd, WhatMemoryCannotHoldIsRefusedBeforeAnyIsTaken) {
  write("large.toml",
        changed(fdtd_case(), "frequencies = [\"200 THz\"]",
                "frequency_min = \"190 THz\"\nfrequency_max = \"210 THz\"\nfrequency_points = "
                "100000"));
  const auto begin = std::chrono::steady_clock::now();
  for (const char* verb : {"check", "estimate", "run"}) {
    const Outcome o = tessera({verb, "large.toml"});
    EXPECT_EQ(o.code, 3) << o.err;
    EXPECT_TRUE(holds(o.err, "error E0655: the case needs ")) << o.err;
    EXPECT_TRUE(holds(o.err, "GB for this monitor")) << o.err;
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

/// A wave whose fields a polarization leaves out.
TEST_F(Fdtd, WavesOfComponentsThatAreNotComputedAreRefused) {
  for (const char* polarization : {"[0, 1, 0]", "[0, 1, 1]"})
    for (const char* kind : {"plane_wave", "beam"}) {
      write("wave.toml",
            std::string(R"(app = "electromagnetics.fdtd"
grid = {size = ["2 um", "2 um", "0 um"], cell = "50 nm", polarization = "Ez"}
run.stop.steps = 10
[[source]]
kind = ")") + kind +
                "\"\n" +
                (kind[0] == 'b' ? "waist = \"0.5 um\"\nposition = [\"0 um\", \"0 um\", \"0 um\"]\n"
                                : "") +
                "direction = [1, 0, 0]\npolarization = " + polarization +
                "\nwaveform = {kind = \"gaussian\", frequency = \"200 THz\", bandwidth = \"100 "
                "THz\"}\n");
      const Outcome o = tessera({"check", "wave.toml"});
      EXPECT_EQ(o.code, 5) << o.err;
      EXPECT_TRUE(holds(o.err, "error E0628: the wave has a component Ey, which is not computed"))
          << o.err;
    }
}

/// What a monitor could not tell at the end of a run is said at its beginning: orders that graze
/// the plane, or that its points do not resolve; far fields along one axis. Orders of what does not
/// repeat are doubted.
TEST_F(Fdtd, WhatAMonitorCannotTellIsRefusedBeforeTheRun) {
  const std::string grating =
      (fs::path(TESSERA_SOURCE_DIR) / "apps/examples/electromagnetics/grating.toml").string();
  const auto told = [&](std::vector<std::string> settings, int code, const std::string& text) {
    std::vector<std::string> arguments{"check", grating};
    for (const std::string& s : settings) arguments.insert(arguments.end(), {"--set", s});
    const Outcome o = tessera(arguments);
    EXPECT_EQ(o.code, code) << o.err;
    EXPECT_TRUE(holds(o.err, text)) << o.err;
  };
  const std::string all = "[\"1.7 um\", \"299.792458 THz\"]";  // the period
  told({"monitor[0].frequencies=" + all, "monitor[1].frequencies=" + all,
        "monitor[2].frequencies=" + all, "monitor[2].orders=[[1, 0]]"},
       5, "error E0629: [diffraction_orders] order (1, 0) grazes the plane at");
  told({"monitor[2].orders=[[40, 0]]"}, 5, "points do not resolve order (40, 0)");
  told({"boundary.y=\"pec\""}, 0,
       "warning E0666: its plane is taken for one period, and nothing repeats between the faces "
       "across y");
  // Between the ridges and in them; in glass that conducts, and in glass that absorbs.
  told({"monitor[2].position[0]=\"-0.3 um\""}, 0,
       "warning E0666: its plane runs through 'vacuum' and 'glass', and orders are waves of one "
       "medium: it takes 'vacuum'");
  const std::string in_glass = "monitor[2].position[0]=\"-1.5 um\"";
  told({in_glass, "material[0].sigma=\"100 S/m\""}, 0,
       "warning E0666: orders are taken for waves in a linear medium without loss and anisotropy, "
       "and its "
       "plane lies in 'glass'");
  told({in_glass,
        "material[0].poles=[{kind=\"lorentz\", frequency=\"310 THz\", damping=\"30 THz\", "
        "delta_eps=0.5}]"},
       0,
       "warning E0666: orders are taken for waves without loss, and at 2.99792e+14 Hz the "
       "permittivity of 'glass'");
  const Outcome clear = tessera({"check", grating, "--set", in_glass});
  EXPECT_EQ(clear.code, 0) << clear.err;
  EXPECT_FALSE(holds(clear.err, "E0666")) << clear.err;
  write("line.toml", R"(app = "electromagnetics.fdtd"
grid = {size = ["4 um", "0 um", "0 um"], cell = "50 nm"}
run.stop.steps = 10
[[source]]
kind = "point"
component = "Ey"
position = ["0 um", "0 um", "0 um"]
waveform = {kind = "gaussian", frequency = "200 THz", bandwidth = "100 THz"}
[[monitor]]
kind = "far_field"
name = "far"
position = ["0 um", "0 um", "0 um"]
size = ["1 um", "0 um", "0 um"]
frequencies = ["200 THz"]
)");
  const Outcome line = tessera({"check", "line.toml"});
  EXPECT_EQ(line.code, 5) << line.err;
  EXPECT_TRUE(holds(line.err, "error E0629: far fields and cross-sections are of two and three"))
      << line.err;
  const auto at_angle = [&](const std::string& theta) {
    return tessera({"check", "line.toml", "--set", "grid.size=[\"4 um\", \"4 um\", \"0 um\"]",
                    "--set", "monitor[0].size=[\"1 um\", \"1 um\", \"0 um\"]", "--set",
                    "monitor[0].theta=[" + theta + "]"});
  };
  EXPECT_EQ(at_angle("\"90 deg\"").code, 0);
  const Outcome upwards = at_angle("\"90 deg\", \"30 deg\"");
  EXPECT_EQ(upwards.code, 5) << upwards.err;
  EXPECT_TRUE(holds(upwards.err, "error E0629: in two dimensions waves travel across z"))
      << upwards.err;
}

TEST_F(Fdtd, ARunThatMeasuresNothingIsDoubted) {
  const std::string text = fdtd_case();
  write("doubt.toml", text.substr(0, text.find("[[monitor]]")));
  EXPECT_TRUE(holds(tessera({"check", "doubt.toml"}).err, "warning E0629: nothing is measured"));
}

TEST_F(Fdtd, DoubtsAreSaid) {
  // Into the film, at equal priority.
  const std::string wide = changed(fdtd_case(), "radius = \"0.4 um\"", "radius = \"2 um\"");
  write("doubt.toml",
        changed(changed(wide, "cell = \"50 nm\"", "cell = \"0.25 um\""), "cells = 8", "cells = 2"));
  const Outcome out = tessera({"check", "doubt.toml"});
  EXPECT_EQ(out.code, 0) << out.err;
  EXPECT_TRUE(holds(out.err, "warning E0645")) << out.err;
  EXPECT_TRUE(holds(out.err, "the later one, is seen there")) << out.err;
  EXPECT_TRUE(holds(out.err, "warning E0648")) << out.err;
}

/// The source of silicon's model has 27.2 to 220.9 THz: from there on silicon absorbs, the model
/// does not.
TEST_F(Fdtd, MediaOfTheLibraryAreDoubtedOutsideOfTheirRange) {
  write("line.toml", R"(app = "electromagnetics.fdtd"
grid = {size = ["4 um", "0 um", "0 um"], cell = "10 nm"}
run.stop.steps = 10
material = [{name = "wafer", library = "Si"}]
[[structure]]
shape = "box"
size = ["1 um", "inf", "inf"]
material = "Si"
[[source]]
kind = "point"
component = "Ey"
position = ["-1 um", "0 um", "0 um"]
waveform = {kind = "gaussian", frequency = "300 THz", bandwidth = "800 THz"}
[[monitor]]
kind = "flux"
name = "through"
position = ["1 um", "0 um", "0 um"]
size = ["0 um", "0 um", "0 um"]
frequencies = ["30 THz", "220 THz"]
)");
  const auto check = [&](const std::vector<std::string>& settings) {
    std::vector<std::string> arguments{"check", "line.toml"};
    for (const std::string& s : settings) arguments.insert(arguments.end(), {"--set", s});
    const Outcome o = tessera(arguments);
    EXPECT_EQ(o.code, 0) << o.err;
    return o.err;
  };
  EXPECT_FALSE(holds(check({}), "E0659"));
  const std::string visible = "monitor[0].frequencies=[\"200 THz\", \"500 THz\"]";
  const std::string by_name = check({visible});
  EXPECT_TRUE(holds(by_name, "line.toml:8") &&
              holds(by_name,
                    "warning E0659: the model of 'Si' holds from 2.716e+13 to 2.209e+14 "
                    "Hz, and monitors ask for 5e+14 Hz"))
      << by_name;
  const std::string listed = check({visible, "structure[0].material=\"wafer\""});
  EXPECT_TRUE(holds(listed, "line.toml:4") && holds(listed, "E0659")) << listed;
  const std::string slow = check({"monitor[0].frequencies=[\"20 THz\", \"200 THz\"]"});
  EXPECT_TRUE(holds(slow, "monitors ask for 2e+13 Hz")) << slow;
  write("nk.csv", "f_thz,n\n100,1.5\n200,1.51\n300,1.53\n");
  const std::vector<std::string> fitted{
      "material=[{name=\"wafer\", index_file=\"nk.csv\", fit={tolerance=0.1}}]",
      "structure[0].material=\"wafer\""};
  const auto of_table = [&](const std::string& frequencies) {
    return check({fitted[0], fitted[1], "monitor[0].frequencies=" + frequencies});
  };
  EXPECT_FALSE(holds(of_table("[\"100 THz\", \"300 THz\"]"), "E0659"));
  EXPECT_TRUE(holds(of_table("[\"100 THz\", \"310 THz\"]"),
                    "E0659: the table of 'wafer' holds from 1e+14 to 3e+14 Hz"));
}

/// At 75 nm the steps put a line of 0.5 THz at 200 THz 1.5 THz lower; at 10 nm 0.026.
TEST_F(Fdtd, LinesThatStepsMoveAreSaidWhereResultsAreAskedFor) {
  const std::string text = R"(app = "electromagnetics.fdtd"
grid = {size = ["6 um", "0 um", "0 um"], cell = "75 nm"}
run.stop.steps = 10
[[material]]
name = "gas"
eps = 1
poles = [{kind = "lorentz", frequency = "200 THz", damping = "0.5 THz", delta_eps = 0.001}]
[[structure]]
shape = "box"
low = ["0 um", "-inf", "-inf"]
high = ["1.5 um", "inf", "inf"]
material = "gas"
[[source]]
kind = "point"
component = "Ey"
position = ["-1.5 um", "0 um", "0 um"]
waveform = {kind = "gaussian", frequency = "200 THz", bandwidth = "60 THz"}
[[monitor]]
name = "through"
position = ["2 um", "0 um", "0 um"]
)",
                    flux = "kind = \"flux\"\nsize = [\"0 um\", \"0 um\", \"0 um\"]\n",
                    band = "frequency_min = \"196 THz\"\nfrequency_max = \"202 THz\"\n";
  const auto check = [&](const std::string& monitor, const std::string& setting) {
    write("line.toml", text + monitor);
    const Outcome o = tessera({"check", "line.toml", "--set", setting});
    EXPECT_EQ(o.code, 0) << o.err;
    return o.err;
  };
  const std::string same = "run.stop.steps=10", coarse = check(flux + band, same);
  EXPECT_TRUE(
      holds(coarse,
            "line.toml:4:1: warning E0646: with steps of 2.377e-16 s the resonance of 'gas' at "
            "2e+14 Hz, 5e+11 Hz wide, acts at 1.9996e+14 Hz as it should 1.5e+12 Hz above that"))
      << coarse;
  EXPECT_FALSE(holds(check(flux + band, "grid.cell=\"10 nm\""), "E0646"));
  // Far from the line, and where nothing is asked for at all.
  EXPECT_FALSE(holds(check(flux + "frequencies = [\"180 THz\"]\n", same), "E0646"));
  EXPECT_FALSE(holds(check("kind = \"probe\"\n", same), "E0646"));
  // A line ten times above has all of its part in what steps hold exactly; one below that is as
  // near.
  const auto line_at = [&](const std::string& f, const std::string& asked) {
    return check(flux + "frequencies = [\"" + asked + " THz\"]\n",
                 "material=[{name=\"gas\", eps=1, poles=[{kind=\"lorentz\", frequency=\"" + f +
                     " THz\", damping=\"0.5 THz\", delta_eps=0.001}]}]");
  };
  EXPECT_FALSE(holds(line_at("2000", "200"), "E0646"));
  EXPECT_TRUE(holds(line_at("197", "200"), "at 1.97e+14 Hz"));
  EXPECT_FALSE(holds(line_at("150", "200"), "E0646"));
  // Modes that ring in a band about it.
  EXPECT_TRUE(holds(check("kind = \"resonances\"\n" + band, same), "E0646"));
  // Cells that are too coarse for what is said to be resolved.
  const std::string beyond = check(flux + band, "grid.frequency_max=\"3000 THz\"");
  EXPECT_TRUE(holds(beyond, "at 3e+15 Hz")) << beyond;
  EXPECT_TRUE(holds(beyond,
                    "E0654: no wave above 1.999e+15 Hz travels on cells of 7.5e-08 m, but "
                    "grid.frequency_max is 3e+15 Hz"))
      << beyond;
}

}  // namespace
