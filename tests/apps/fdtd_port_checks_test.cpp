// SPDX-License-Identifier: Apache-2.0
// Ports that see each other, or are said to be alike and are not: refused by `check`; what S cannot
// be is said after a run.
#include "fdtd_case.h"
#include "tessera/data/touchstone.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <string>
#include <vector>

using namespace tessera::testing;

namespace {

using Complex = std::complex<double>;

std::string lumped(const std::string& name, const std::string& x, const std::string& z,
                   const std::string& width, const std::string& more) {
  return "[[port]]\nkind = \"lumped\"\nname = \"" + name + "\"\nposition = [\"" + x +
         "\", \"0 mm\", \"" + z + "\"]\nsize = [\"0 mm\", \"2 mm\", \"" + width +
         "\"]\ndirection = [0, 1, 0]\nresistance = \"50 ohm\"\n" + more + "\n";
}

/// A plate of 2 mm above another, 20 mm long, closed by magnetic walls: a line of 376.73 ohm.
std::string plates(const std::string& more) {
  return R"(app = "electromagnetics.fdtd"
output = {vtk = false, pictures = false, scene = false}
grid = {size = ["20 mm", "2 mm", "2 mm"], cell = "1 mm"}
run = {precision = "f64", stop.decay_db = 80}
boundary = {x = "pmc", y = "pec", z = "pmc"}
s_parameters.frequencies = ["1 GHz", "2 GHz"]
)" + lumped("p1", "-10 mm", "0 mm", "2 mm", "") +
         more;
}

std::string guided(const std::string& name, const std::string& x, int way,
                   const std::string& more = "") {
  return "[[port]]\nkind = \"mode\"\nname = \"" + name + "\"\nposition = [\"" + x +
         "\", \"0 mm\", \"0 mm\"]\ndirection = [" + std::to_string(way) + ", 0, 0]\n" + more + "\n";
}

/// A guide in two dimensions, 20 mm high.
std::string guide(const std::string& more) {
  return R"(app = "electromagnetics.fdtd"
output = {vtk = false, pictures = false, scene = false}
grid = {size = ["90 mm", "20 mm", "0 mm"], cell = "2 mm", polarization = "Ez"}
run = {precision = "f64", stop = {decay_db = 40, check_every = "0.1 ns"}}
boundary = {y = "pec", pml.cells = 8}
s_parameters.frequencies = ["9 GHz", "11 GHz", "13 GHz"]
)" + more;
}

class FdtdPortChecks : public Fdtd {
 protected:
  void refused(const std::string& text, const std::string& words) {
    write("bad.toml", text);
    const Outcome o = tessera({"check", "bad.toml"});
    EXPECT_EQ(o.code, 5) << text << o.err;
    EXPECT_TRUE(holds(o.err, words)) << o.err;
  }
  tessera::data::Touchstone network(const std::string& text, Outcome* told = nullptr) {
    write("case.toml", text);
    const Outcome o = run_case("case.toml", "RUN");
    EXPECT_EQ(o.code, 0) << o.err;
    if (told) *told = o;
    return tessera::data::read_touchstone(here() / "RUN/s_parameters.s2p").network;
  }
};

TEST_F(FdtdPortChecks, SourcesDoNotShareEdges) {
  const std::string words =
      "error E0667: the port 'p2' has edges of the grid in common with the "
      "port 'p1': what one drives";
  const std::string here = plates(lumped("p2", "-10 mm", "0 mm", "2 mm", ""));
  refused(here, "bad.toml:18:1: " + words);
  refused(plates(lumped("p2", "-10 mm", "-0.5 mm", "1 mm", "")), words);
  // Beside each other, at the two walls, they do not.
  const std::string halves = changed(plates(lumped("p2", "-10 mm", "1 mm", "0 mm", "")),
                                     "\"0 mm\"]\nsize = [\"0 mm\", \"2 mm\", \"2 mm\"",
                                     "\"-1 mm\"]\nsize = [\"0 mm\", \"2 mm\", \"0 mm\"");
  write("case.toml", halves);
  EXPECT_EQ(tessera({"check", "case.toml"}).code, 0);
}

/// Of a coplanar line in layers the third mode is the line's; the second one is the layers'.
TEST_F(FdtdPortChecks, NoLineHasAResistanceBelowZero) {
  const auto bar = [](const char* medium, const std::string& low, const std::string& high) {
    return "[[structure]]\nshape = \"box\"\nmaterial = \"" + std::string(medium) + "\"\nlow = [" +
           low + ", \"-inf\"]\nhigh = [" + high + ", \"inf\"]\n";
  };
  const std::string text = R"(app = "electromagnetics.fdtd"
grid = {size = ["26 mm", "26 mm", "18 mm"], cell = "1 mm"}
run = {precision = "f64", stop.decay_db = 40}
boundary.pml.cells = 5
s_parameters.frequencies = ["1 GHz"]
[[material]]
name = "board"
eps = 4
)" + bar("board", "\"-inf\", \"-4 mm\"", "\"inf\", \"-1 mm\"") +
                           bar("pec", "\"-8 mm\", \"-1 mm\"", "\"-3 mm\", \"0 mm\"") +
                           bar("pec", "\"-1 mm\", \"-1 mm\"", "\"1 mm\", \"0 mm\"") +
                           bar("pec", "\"3 mm\", \"-1 mm\"", "\"8 mm\", \"0 mm\"") + R"([[port]]
kind = "mode"
name = "A"
modes = 3
position = ["0 mm", "0 mm", "-2 mm"]
direction = [0, 0, 1]
)";
  write("case.toml", text);
  if (holds(tessera({"check", "case.toml"}).err, "needs SLEPc")) GTEST_SKIP();
  refused(text, "bad.toml:29:1: error E0667: mode 2 has the impedance of no line at 1e+09 Hz");
  EXPECT_EQ(tessera({"check", "case.toml", "--set", "port[0].impedance=50 ohm"}).code, 0);
}

/// A load in the edges of a port is a circuit beside it: S of the line, and 100 ohm across its end.
TEST_F(FdtdPortChecks, ALoadMayShareThem) {
  const auto s = network(plates(lumped("p2", "10 mm", "0 mm", "2 mm", "") +
                                "[[load]]\nposition = [\"10 mm\", \"0 mm\", \"0 mm\"]\nsize = [\"0 "
                                "mm\", \"2 mm\", \"2 mm\"]\naxis = \"y\"\nresistance = \"100 "
                                "ohm\"\n"));
  for (std::size_t f = 0; f < 2; ++f) {
    const double turn = 2 * std::numbers::pi * s.frequency_hz[f] * 20e-3 / 299792458.0,
                 line = 376.730313;
    const Complex i(0, 1), b = i * line * std::sin(turn), a = std::cos(turn) + b * 0.01,
                           c = i * std::sin(turn) / line + std::cos(turn) * 0.01,
                           d = std::cos(turn), all = a + b / 50.0 + c * 50.0 + d;
    EXPECT_NEAR(std::abs(s.at(f, 0, 0) - (a + b / 50.0 - c * 50.0 - d) / all), 0, 1e-3);
    EXPECT_NEAR(std::abs(s.at(f, 1, 0) - 2.0 / all), 0, 1e-3);
    EXPECT_NEAR(std::abs(s.at(f, 1, 1) - (-a + b / 50.0 - c * 50.0 + d) / all), 0, 1e-3);
  }
}

/// One pass takes the slopes of what rings: that of the run of a port.
TEST_F(FdtdPortChecks, ResonancesHaveDerivativesWhereOnePortIsDriven) {
  const std::string text =
      plates(lumped("p2", "10 mm", "0 mm", "2 mm", "") +
             "[[structure]]\nname = \"block\"\nshape = \"box\"\nsize = [\"4 mm\", \"2 mm\", "
             "\"2 mm\"]\nmaterial = \"glass\"\n[[material]]\nname = \"glass\"\neps = 2\n"
             "[[monitor]]\nkind = \"resonances\"\nname = \"tones\"\nposition = [\"7 mm\", \"0.5 "
             "mm\", \"0 mm\"]\ncomponents = [\"Ey\"]\nfrequency_min = \"2 GHz\"\nfrequency_max "
             "= \"9 GHz\"\nderivatives = [\"block.size[0]\"]\n");
  refused(text,
          "error E0642: resonances have derivatives in a case of one run, and this one has 2");
  write("case.toml", text);
  const Outcome one = tessera({"check", "case.toml", "--set", "run.excite=[\"p2\"]"});
  EXPECT_EQ(one.code, 0) << one.err;
}

/// FR4 is known from 0.1 to 100 GHz. No monitor asks for anything.
TEST_F(FdtdPortChecks, FrequenciesOfSOutsideOfAModelAreSaid) {
  const std::string text = plates(
      "[[structure]]\nshape = \"box\"\nsize = [\"20 mm\", \"2 mm\", \"2 mm\"]\nmaterial = "
      "\"FR4\"\n");
  const auto told = [&](const std::string& frequencies) {
    write("case.toml", text);
    const Outcome o =
        tessera({"check", "case.toml", "--set", "s_parameters.frequencies=" + frequencies});
    EXPECT_EQ(o.code, 0) << o.err;
    return o.err;
  };
  EXPECT_FALSE(holds(told("[\"1 GHz\", \"2 GHz\"]"), "E0659"));
  const std::string beyond = told("[\"1 GHz\", \"120 GHz\"]");
  EXPECT_TRUE(holds(beyond,
                    "E0659: the model of 'FR4' holds from 1e+08 to 1e+11 Hz, and "
                    "s_parameters asks for 1.2e+11 Hz"))
      << beyond;
}

TEST_F(FdtdPortChecks, PortsOfOneGuideFaceEachOther) {
  const std::string same = "for its own: they are in one guide and look the same way",
                    away = "for its own: they are in one guide and look away from each other";
  refused(guide(guided("p1", "-22 mm", 1) + guided("p2", "-22 mm", 1)), same);
  refused(guide(guided("p1", "-22 mm", 1) + guided("p2", "-12 mm", 1)), same);
  refused(guide(guided("p1", "22 mm", -1) + guided("p2", "-12 mm", -1)), same);
  refused(guide(guided("p1", "-22 mm", 1) +
                guided("p2", "-22 mm", 1, "size = [\"0 mm\", \"12 mm\", \"0 mm\"]")),
          same);
  refused(guide(guided("p1", "2 mm", 1) + guided("p2", "-2 mm", -1)), away);
  const auto s = network(guide(guided("p1", "0 mm", 1) + guided("p2", "0 mm", -1)));
  for (std::size_t f = 0; f < 3; ++f)
    for (std::size_t j = 0; j < 2; ++j) {
      EXPECT_NEAR(std::abs(s.at(f, 1 - j, j) - 1.0), 0, 1e-3);
      EXPECT_NEAR(std::abs(s.at(f, j, j)), 0, 1e-3);
    }
  // Two guides beside each other are two, although both ports look the same way.
  const std::string part = "size = [\"0 mm\", \"20 mm\", \"0 mm\"]\n";
  write("case.toml",
        changed(guide("[[structure]]\nshape = \"box\"\nmaterial = \"pec\"\nsize = [\"inf\", \"0 "
                      "mm\", \"0 mm\"]\n" +
                      changed(guided("p1", "-22 mm", 1, part), "\"0 mm\", \"0", "\"10 mm\", \"0") +
                      changed(guided("p2", "-22 mm", 1, part), "\"0 mm\", \"0", "\"-10 mm\", \"0")),
                "\"20 mm\", \"0 mm\"], cell", "\"40 mm\", \"0 mm\"], cell"));
  const Outcome two = tessera({"check", "case.toml"});
  EXPECT_EQ(two.code, 0) << two.err;
}

TEST_F(FdtdPortChecks, PortsThatAreNotAlikeAreNotSaidToBe) {
  const auto lines = [](const std::string& own) {
    return plates(lumped("p2", "10 mm", "0 mm", "2 mm", "same_as = \"p1\"\n" + own));
  };
  const auto unlike = [&](const std::string& text, const std::string& what) {
    refused(text, "'p2' has another " + what + " than 'p1', whose waves are taken for its own");
  };
  write("case.toml", lines("impedance = \"50 ohm\""));
  const Outcome check = tessera({"check", "case.toml"});
  EXPECT_EQ(check.code, 0) << check.err;
  std::string other = lines("");
  other.replace(other.rfind("\"50 ohm\""), 8, "\"25 ohm\"");
  unlike(other, "resistance");
  unlike(lines("inductance = \"1 nH\""), "inductance");
  unlike(lines("capacitance = \"1 pF\""), "capacitance");
  unlike(changed(lines("capacitance = \"1 pF\"\ncircuit = \"parallel\""),
                 "resistance = \"50 ohm\"\n", "resistance = \"50 ohm\"\ncapacitance = \"1 pF\"\n"),
         "circuit");
  unlike(lines("impedance = \"75 ohm\""), "impedance");
  unlike(lines("impedance = \"50 ohm\"\nreactance = \"5 ohm\""), "reactance");
  unlike(lines("plane = [\"8 mm\", \"0 mm\", \"0 mm\"]"), "distance of its plane");
  std::string half = lines("");
  half.replace(half.rfind("\"2 mm\""), 6, "\"1 mm\"");
  unlike(half, "size");
  const std::string like = "same_as = \"p1\"\n";
  unlike(guide(guided("p1", "-22 mm", 1, "size = [\"0 mm\", \"20 mm\", \"0 mm\"]") +
               guided("p2", "22 mm", -1, like + "size = [\"0 mm\", \"16 mm\", \"1 mm\"]")),
         "size");
  unlike(guide(guided("p1", "-22 mm", 1) + guided("p2", "22 mm", -1, like + "index = 0.7")),
         "index");
  // The keys are alike, and the guides are not.
  refused(guide(guided("p1", "-22 mm", 1) + guided("p2", "22 mm", -1, like) +
                "[[structure]]\nshape = \"box\"\nmaterial = \"pec\"\nlow = [\"0 mm\", \"6 mm\", "
                "\"0 mm\"]\nhigh = [\"inf\", \"inf\", \"0 mm\"]\n"),
          "on the grid 'p2' has a mode of the index of 0.");
}

/// A slab nearer to one port, which is said to look the same from both: S takes from a wave more
/// than it has.
TEST_F(FdtdPortChecks, AGainOfADeviceWithoutSourcesIsWarnedOf) {
  const std::string slab =
      "[[material]]\nname = \"m\"\neps = 4\n[[structure]]\nshape = \"box\"\nmaterial = "
      "\"m\"\nlow = [\"-8 mm\", \"-10 mm\", \"0 mm\"]\nhigh = [\"-2 mm\", \"10 mm\", \"0 mm\"]\n";
  for (const bool claimed : {true, false}) {
    Outcome told;
    network(guide(slab + guided("p1", "-22 mm", 1) +
                  guided("p2", "22 mm", -1, claimed ? "same_as = \"p1\"" : "")),
            &told);
    EXPECT_EQ(holds(told.out + told.err, "warning: S has a gain of up to 1."), claimed)
        << told.out << told.err;
    EXPECT_FALSE(holds(told.out + told.err, "media here are reciprocal")) << told.err;
  }
}

/// What goes by the waves of S is nothing where no port drives.
TEST_F(FdtdPortChecks, WhatGoesBySIsRefusedWhereASourceDrives) {
  const std::string ports = guided("left", "-20 mm", 1) + guided("right", "20 mm", -1),
                    source =
                        "[[source]]\nkind = \"line\"\ncomponent = \"Ez\"\nposition = [\"0 mm\", "
                        "\"0 mm\", \"0 mm\"]\nsize = [\"0 mm\", \"10 mm\", \"0 mm\"]\nwaveform = "
                        "{frequency = \"11 GHz\", bandwidth = \"4 GHz\"}\n";
  write("case.toml", guide(ports + source));
  const Outcome plain = tessera({"check", "case.toml"});
  EXPECT_EQ(plain.code, 0) << plain.err;
  const std::string why = "and a [[source]] drives the case, no port";
  for (const std::string key : {"s_parameters.per_watt=incident",
                                "s_parameters.derivatives=[\"h\"]", "port[0].shift=\"1 mm\""}) {
    const Outcome o = tessera({"check", "case.toml", "--set", key});
    EXPECT_EQ(o.code, 5) << key;
    EXPECT_TRUE(holds(o.err, why)) << key << o.err;
  }
  write("case.toml", guide(ports));
  EXPECT_EQ(tessera({"check", "case.toml", "--set", "s_parameters.per_watt=incident", "--set",
                     "port[0].shift=\"1 mm\""})
                .code,
            0);
}

/// Two bars above each other and one beside, each cut in the middle by a port of 2 cells.
std::string three_bars(const std::string& b_direction) {
  std::string out = R"(app = "electromagnetics.fdtd"
output = {vtk = false, pictures = false, scene = false}
grid = {size = ["80 mm", "80 mm", "0 mm"], cell = "2 mm", polarization = "Hz"}
run = {precision = "f64", stop.decay_db = 40}
boundary.pml.cells = 6
s_parameters.frequencies = ["5 GHz"]
)";
  const auto add = [&](const std::string& name, const std::string& at, bool along_x,
                       const std::string& way, const std::string& more) {
    const std::string size =
        along_x ? "[\"4 mm\", \"0 mm\", \"0 mm\"]" : "[\"0 mm\", \"4 mm\", \"0 mm\"]";
    out += "[[port]]\nkind = \"lumped\"\nname = \"" + name + "\"\nposition = " + at +
           "\nsize = " + size + "\ndirection = " + way + "\nresistance = \"50 ohm\"\n" + more;
  };
  add("a", "[\"0 mm\", \"10 mm\", \"0 mm\"]", false, "[0, 1, 0]", "");
  add("b", "[\"0 mm\", \"-10 mm\", \"0 mm\"]", false, b_direction,
      "same_as = \"a\"\norder = [\"b\", \"a\", \"c\"]\n");
  add("c", "[\"20 mm\", \"0 mm\", \"0 mm\"]", true, "[1, 0, 0]", "");
  const double boxes[][4] = {{-3, 11.5, 3, 17},   {-3, 3.5, 3, 8.5}, {-3, -8.5, 3, -3.5},
                             {-3, -17, 3, -11.5}, {21.5, -3, 27, 3}, {13.5, -3, 18.5, 3}};
  for (const auto& x : boxes) {
    const auto mm = [](double v) { return "\"" + std::to_string(v) + " mm\""; };
    out += "[[structure]]\nshape = \"box\"\nmaterial = \"pec\"\nlow = [" + mm(x[0]) + ", " +
           mm(x[1]) + ", \"-inf\"]\nhigh = [" + mm(x[2]) + ", " + mm(x[3]) + ", \"inf\"]\n";
  }
  return out;
}

/// A mirror in y turns ports along y round and keeps one along x.
TEST_F(FdtdPortChecks, WhatASymmetryTurnsRoundHasTheOtherSign) {
  for (const char* direction : {"[0, 1, 0]", "[0, -1, 0]"}) {
    write("case.toml", three_bars(direction));
    ASSERT_EQ(run_case("case.toml", "LIKE").code, 0);
    const Outcome own = run_case("case.toml", "OWN", {"run.excite=[\"a\",\"b\",\"c\"]"});
    ASSERT_EQ(own.code, 0) << own.err;
    for (const char* element : {"S_a_b_re", "S_b_b_re", "S_c_b_re", "S_c_b_im"})
      EXPECT_NEAR(column("LIKE", "s_parameters", element)[0],
                  column("OWN", "s_parameters", element)[0], 1e-9)
          << direction << element;
  }
}

}  // namespace
