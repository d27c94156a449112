// SPDX-License-Identifier: Apache-2.0
// What is told of S beside its elements: pictures, files, references, networks joined and compared.
#include "fdtd_case.h"
#include "tessera/data/touchstone.h"

#include <gtest/gtest.h>

#include <array>
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

TEST_F(Fdtd, WhatIsComparedHasTheColumnsOfS) {
  write("case.toml", line_of_ports());
  ASSERT_EQ(run_case("case.toml", "FIRST").code, 0);
  write("case.toml", line_of_ports() +
                         "[[s_parameters.compare]]\nname = \"before\"\n"
                         "file = \"FIRST/s_parameters.s2p\"\n");
  const Outcome run = run_case("case.toml", "RUN");
  ASSERT_EQ(run.code, 0) << run.err;
  const auto columns = [&](const char* name) {
    const std::string text = table("RUN", name);
    return text.substr(0, text.find('\n'));
  };
  const std::string of_s = columns("s_parameters"), of_file = columns("before");
  EXPECT_EQ(of_file, of_s.substr(0, of_file.size()));
  EXPECT_TRUE(holds(of_file, "S_in_in_im")) << of_file;
}

TEST_F(Fdtd, ElementsOfSHaveNamesOfTheirOwn) {
  write("case.toml", changed(line_of_ports(), "\"in\"", "\"out_out\""));
  const Outcome twice = tessera({"check", "case.toml"});
  EXPECT_EQ(twice.code, 5);
  EXPECT_TRUE(holds(twice.err, "E0667") && holds(twice.err, "'S_out_out_out'")) << twice.err;
  write("case.toml", changed(line_of_ports(), "\"in\"", "\"out_in\""));
  EXPECT_EQ(tessera({"check", "case.toml"}).code, 0);
}

TEST_F(Fdtd, AnArrayHasPorts) {
  write("case.toml", line_of_ports() + "[[s_parameters.array]]\nname = \"none\"\nports = []\n");
  const Outcome o = tessera({"check", "case.toml"});
  EXPECT_EQ(o.code, 5);
  EXPECT_TRUE(holds(o.err, "E0667: no port is driven") && holds(o.err, "ports = []")) << o.err;
}

TEST_F(Fdtd, RunsOfPortsAreEstimatedByWhatTheyAre) {
  write("case.toml", line_of_ports());
  const Outcome ports = tessera({"estimate", "case.toml"});
  EXPECT_TRUE(holds(ports.out, "2 runs: a port each")) << ports.out << ports.err;
}

using C = std::complex<double>;

std::vector<C> values_of(const std::string& csv, const std::string& name) {
  const std::vector<double> re = csv_column(csv, name + "_re"), im = csv_column(csv, name + "_im");
  std::vector<C> out;
  for (std::size_t k = 0; k < re.size(); ++k) out.emplace_back(re[k], im[k]);
  return out;
}

// Circuits and fields are the same: what S refers to is a choice of telling.
TEST_F(Fdtd, FilesHaveRealReferences) {
  write("real.toml", line_of_ports());
  ASSERT_EQ(run_case("real.toml", "REAL").code, 0);
  const std::string complex = "impedance = \"50 ohm\"\nreactance = \"30 ohm\"\n";
  for (const bool both : {true, false}) {
    write("case.toml", line_of_ports(complex, both ? complex : "") +
                           "[[s_parameters.compare]]\nname = \"at_50\"\n"
                           "file = \"REAL/s_parameters.s2p\"\n");
    const Outcome run = run_case("case.toml", "RUN");
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_TRUE(holds(run.err + run.out, "S refers to 50 ohm at out, that of the run to 50 +30i"))
        << run.err << run.out;
    const std::string text = read("RUN/s_parameters.s2p");
    EXPECT_TRUE(holds(text, "!  S refers to 50 ohm at out") && holds(text, "S RI R 50\n")) << text;
    EXPECT_EQ(holds(text, "50 ohm at in"), both) << text;
    const auto at_50 = tessera::data::read_touchstone(here() / "REAL/s_parameters.s2p").network,
               file = tessera::data::read_touchstone(here() / "RUN/s_parameters.s2p").network;
    ASSERT_EQ(file.values.size(), at_50.values.size());
    for (std::size_t k = 0; k < file.values.size(); ++k)
      EXPECT_LT(std::abs(file.values[k] - at_50.values[k]), 1e-9) << k;
    // S itself is another, and the file beside it is taken to what it refers to.
    const std::vector<C> s = values_of(table("RUN", "s_parameters"), "S_out_out"),
                         other = values_of(table("REAL", "s_parameters"), "S_out_out"),
                         beside = values_of(table("RUN", "at_50"), "S_out_out");
    EXPECT_GT(std::abs(s[0] - other[0]), 0.05);
    for (std::size_t f = 0; f < 3; ++f) EXPECT_LT(std::abs(s[f] - beside[f]), 1e-9);
  }
}

/// A line between plates of 7.5 ohm with a load across it, or guides of modes without an impedance.
std::string guides(bool line) {
  return std::string(R"(app = "electromagnetics.fdtd"
[grid]
size = ["60 mm", "20 mm", "0 mm"]
cell = "1 mm"
polarization = ")") +
         (line ? "Hz" : "Ez") + R"("
[run]
precision = "f64"
stop.decay_db = 60
stop.check_every = "0.1 ns"
[boundary]
y = "pec"
pml.cells = 12
[[port]]
kind = "mode"
name = "a"
position = ["-15 mm", "0 mm", "0 mm"]
direction = [1, 0, 0]
[[port]]
kind = "mode"
name = "b"
position = ["15 mm", "0 mm", "0 mm"]
direction = [-1, 0, 0]
)" +
         (line ? R"([[load]]
position = ["0 mm", "0 mm", "0 mm"]
size = ["0 mm", "20 mm", "0 mm"]
axis = "y"
resistance = "5 ohm"
[s_parameters]
frequencies = ["1 GHz", "3 GHz", "5 GHz"]
)"
               : R"([[structure]]
shape = "box"
material = "pec"
low = ["0 mm", "6 mm", "-inf"]
high = ["2 mm", "inf", "inf"]
[s_parameters]
frequencies = ["10 GHz", "11 GHz", "12 GHz"]
)");
}

TEST_F(Fdtd, FilesAreJoinedToALineByItsOwnImpedance) {
  // A resistor of 5 ohm, as S at 50 ohm.
  write("resistor.s1p", "# GHz S RI R 50\n1 -0.8181818181818182 0\n5 -0.8181818181818182 0\n");
  write("case.toml", guides(true) +
                         "[[s_parameters.join]]\nname = \"end\"\nfile = \"resistor.s1p\"\n"
                         "ports = [\"b\"]\n");
  const Outcome run = run_case("case.toml", "RUN");
  ASSERT_EQ(run.code, 0) << run.err;
  const std::string s = table("RUN", "s_parameters");
  const std::vector<C> s11 = values_of(s, "S_a_a"), s12 = values_of(s, "S_a_b"),
                       s21 = values_of(s, "S_b_a"), s22 = values_of(s, "S_b_b"),
                       z = values_of(table("RUN", "b"), "impedance"),
                       joined = values_of(table("RUN", "s_joined"), "S_a_a");
  for (std::size_t f = 0; f < 3; ++f) {
    EXPECT_NEAR(z[f].real(), 7.53, 0.01);
    const C end = (5.0 - z[f]) / (5.0 + z[f]);
    EXPECT_LT(std::abs(joined[f] - (s11[f] + s12[f] * s21[f] * end / (1.0 - s22[f] * end))), 1e-9);
  }
  // Its own file has that impedance, and is what it is.
  EXPECT_TRUE(holds(read("RUN/s_parameters.s2p"), "S RI R 7.53461\n"))
      << read("RUN/s_parameters.s2p");
  write("case.toml", guides(true) +
                         "[[s_parameters.compare]]\nname = \"own\"\n"
                         "file = \"RUN/s_parameters.s2p\"\n"
                         "[[expect]]\nmonitor = \"own\"\nquantity = \"difference\"\n"
                         "value = 0\ntolerance = 1e-9\n");
  const Outcome again = run_case("case.toml", "AGAIN");
  EXPECT_EQ(again.code, 0) << again.err;
  write("case.toml", guides(true));
  ASSERT_EQ(run_case("case.toml", "ONE", {"s_parameters.frequencies=[\"3 GHz\"]"}).code, 0);
  EXPECT_TRUE(holds(read("ONE/s_parameters.s2p"), "S RI R 7.53461\n"))
      << read("ONE/s_parameters.s2p");
}

TEST_F(Fdtd, WavesOfModesWithoutAnImpedanceGoOnIntoAFile) {
  // A quarter of a turn, at whatever reference.
  write("quarter.s2p", "# GHz S RI R 75\n10 0 0 0 -1 0 -1 0 0\n12 0 0 0 -1 0 -1 0 0\n");
  const std::string join =
      "[[s_parameters.join]]\nname = \"line\"\nfile = \"quarter.s2p\"\nports = [\"b\", \"\"]\n";
  write("case.toml", guides(false) + join);
  ASSERT_EQ(run_case("case.toml", "RUN").code, 0);
  const std::string s = table("RUN", "s_parameters"), joined = table("RUN", "s_joined");
  const std::vector<C> s11 = values_of(s, "S_a_a"), s21 = values_of(s, "S_b_a"),
                       s22 = values_of(s, "S_b_b"), own = values_of(joined, "S_a_a"),
                       through = values_of(joined, "S_line.2_a"),
                       back = values_of(joined, "S_line.2_line.2");
  for (std::size_t f = 0; f < 3; ++f) {
    EXPECT_GT(std::abs(s11[f]), 0.1);
    EXPECT_LT(std::abs(own[f] - s11[f]), 1e-12);
    EXPECT_LT(std::abs(through[f] - C(0, -1) * s21[f]), 1e-12);
    EXPECT_LT(std::abs(back[f] + s22[f]), 1e-12);
  }
}

/// Each of them once: what would be lost with results.h5 at the end of a run.
TEST_F(Fdtd, NoTwoResultsHaveOneName) {
  const std::string pair = "[[s_parameters.pair]]\nname = \"p\"\nplus = \"a\"\nminus = \"b\"\n",
                    flux =
                        "[[monitor]]\nkind = \"flux\"\nposition = [\"0 mm\", \"0 mm\", \"0 "
                        "mm\"]\nsize = [\"0 mm\", "
                        "\"2 mm\", \"0 mm\"]\nfrequencies = [\"10 GHz\"]\nname = ";
  const auto refused = [&](const std::string& text, const std::string& name,
                           const std::string& line) {
    write("bad.toml", text);
    const Outcome check = tessera({"check", "bad.toml"});
    EXPECT_EQ(check.code, 5) << name << check.err;
    EXPECT_TRUE(holds(check.err + check.out, "two results would have one name, '" + name + "'") &&
                holds(check.err + check.out, line))
        << name << check.err;
  };
  // Of one run monitors have their own names.
  const std::string two = guides(false), one = changed(two, "[run]\n", "[run]\nexcite = [\"a\"]\n");
  for (const std::string& text : {one + flux + "\"a_modes\"\n", two + flux + "\"a_mode\"\n"}) {
    write("case.toml", text);
    EXPECT_EQ(tessera({"check", "case.toml"}).code, 0);
  }
  refused(one + flux + "\"a_mode\"\n", "a_mode", "name = \"a\"");
  refused(one + flux + "\"s_parameters\"\n", "s_parameters", "name = \"s_parameters\"");
  refused(changed(two, "name = \"a\"", "name = \"b_mode\""), "b_mode", "name = \"b\"");
  refused(changed(changed(two, "name = \"a\"", "name = \"s_mixed\"") + pair, "plus = \"a\"",
                  "plus = \"s_mixed\""),
          "s_mixed", "name = \"s_mixed\"");
  refused(two + "[[s_parameters.array]]\nname = \"s_parameters\"\nports = [\"a\"]\n",
          "s_parameters", "name = \"s_parameters\"");
  write("a.s2p", "# GHz S RI R 50\n10 0 0 0 0 0 0 0 0\n12 0 0 0 0 0 0 0 0\n");
  refused(two + pair + "[[s_parameters.compare]]\nname = \"s_mixed\"\nfile = \"a.s2p\"\n",
          "s_mixed", "name = \"s_mixed\"");
}

/// Its own S, as single ports and as modes, is no way off.
TEST_F(Fdtd, MixedModesAreComparedWithThoseOfTheFile) {
  const std::string pair = "[[s_parameters.pair]]\nname = \"p\"\nplus = \"out\"\nminus = \"in\"\n";
  write("case.toml", line_of_ports() + pair);
  ASSERT_EQ(run_case("case.toml", "FIRST").code, 0);
  const std::string mixed = table("FIRST", "s_mixed");
  const std::vector<C> dd = values_of(mixed, "S_p.d_p.d"), dc = values_of(mixed, "S_p.d_p.c"),
                       cd = values_of(mixed, "S_p.c_p.d"), cc = values_of(mixed, "S_p.c_p.c");
  std::string modes =
      "[Version] 2.0\n# GHz S RI R 50\n[Number of Ports] 2\n[Two-Port Data Order] 12_21\n"
      "[Number of Frequencies] 3\n[Reference] 50 50\n[Matrix Format] Full\n"
      "[Mixed-Mode Order] C1,2 D1,2\n[Network Data]\n";
  for (std::size_t f = 0; f < 3; ++f) {
    modes += std::to_string(std::array{1, 3, 6}[f]);
    for (const C& x : {cc[f], cd[f], dc[f], dd[f]})
      modes += " " + std::to_string(x.real()) + " " + std::to_string(x.imag());
    modes += "\n";
  }
  write("modes.ts", modes + "[End]\n");
  std::string text = line_of_ports() + pair;
  for (const auto& [name, file] :
       {std::pair("single", "FIRST/s_parameters.s2p"), {"modes", "modes.ts"}})
    text += std::string("[[s_parameters.compare]]\nname = \"") + name + "\"\nfile = \"" + file +
            "\"\nresult = \"s_mixed\"\n[[expect]]\nmonitor = \"" + name +
            "\"\nquantity = \"difference\"\nvalue = 0\ntolerance = 1e-5\n";
  text +=
      "[[s_parameters.compare]]\nname = \"taken_apart\"\nfile = \"modes.ts\"\n[[expect]]\n"
      "monitor = \"taken_apart\"\nquantity = \"difference\"\nvalue = 0\ntolerance = 1e-5\n";
  write("case.toml", text);
  const Outcome run = run_case("case.toml", "RUN");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_LT(std::abs(values_of(table("RUN", "modes"), "S_p.d_p.d")[1] - dd[1]), 1e-5);
  // It is one number.
  write("bad.toml", changed(text, "quantity = \"difference\"",
                            "quantity = \"difference\"\nfrequency = \"3 GHz\""));
  const Outcome check = tessera({"check", "bad.toml"});
  EXPECT_EQ(check.code, 5);
  EXPECT_TRUE(holds(check.out + check.err, "one number for all frequencies")) << check.err;
}

}  // namespace
