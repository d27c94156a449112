// SPDX-License-Identifier: Apache-2.0
// Ports of a device and its S, against what a lossless and reciprocal device must have.
#include "fdtd_case.h"
#include "tessera/data/touchstone.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <filesystem>
#include <string>
#include <vector>

using namespace tessera::testing;

namespace {

/// A parallel-plate guide in two dimensions, closed by its walls, with a step in height: one mode
/// travels at both sides.
std::string unlike_guides() {
  return R"(app = "electromagnetics.fdtd"
[grid]
size = ["80 mm", "20 mm", "0 mm"]
cell = "1 mm"
polarization = "Ez"
[run]
precision = "f64"
stop.decay_db = 100
[boundary]
y = "pec"
pml.cells = 12
[[structure]]
shape = "box"
material = "pec"
low = ["0 mm", "6 mm", "-inf"]
high = ["inf", "inf", "inf"]
[[port]]
kind = "mode"
name = "wide"
position = ["-20.2 mm", "0 mm", "0 mm"]
direction = [1, 0, 0]
[[port]]
kind = "mode"
name = "narrow"
position = ["16 mm", "-2 mm", "0 mm"]
size = ["0 mm", "16 mm", "0 mm"]
direction = [-1, 0, 0]
[s_parameters]
frequencies = ["11 GHz", "12 GHz", "13 GHz"]
)";
}

std::complex<double> at(const tessera::data::Touchstone& s, std::size_t f, std::size_t i,
                        std::size_t j) {
  return s.at(f, i, j);
}

TEST_F(Fdtd, PortsOfAClosedDeviceGiveAUnitaryReciprocalMatrix) {
  write("case.toml", unlike_guides());
  const Outcome check = tessera({"check", "case.toml"});
  EXPECT_TRUE(holds(check.out,
                    "port wide: the plane x = -0.02 m, the nearest line, 0.0002 m from "
                    "its position; index "))
      << check.out << check.err;
  EXPECT_TRUE(holds(check.out, "2 runs: driven are wide, narrow")) << check.out;
  const Outcome run = run_case("case.toml", "RUN");
  ASSERT_EQ(run.code, 0) << run.err;
  const auto file = tessera::data::read_touchstone(here() / "RUN/s_parameters.s2p");
  const tessera::data::Touchstone& s = file.network;
  ASSERT_EQ(s.ports, 2u);
  ASSERT_EQ(s.frequency_hz, (std::vector<double>{11e9, 12e9, 13e9}));
  for (std::size_t f = 0; f < 3; ++f) {
    EXPECT_NEAR(std::abs(at(s, f, 1, 0) - at(s, f, 0, 1)), 0, 1e-5);
    for (std::size_t j = 0; j < 2; ++j)
      EXPECT_NEAR(std::norm(at(s, f, 0, j)) + std::norm(at(s, f, 1, j)), 1, 1e-4);
    EXPECT_GT(std::abs(at(s, f, 0, 0)), 0.05);  // there is something to be seen
    EXPECT_DOUBLE_EQ(column("RUN", "s_parameters", "S_narrow_wide_re")[f], at(s, f, 1, 0).real());
  }
}

TEST_F(Fdtd, OneDrivenPortGivesItsColumn) {
  write("case.toml", unlike_guides());
  ASSERT_EQ(run_case("case.toml", "ALL").code, 0);
  const Outcome run = run_case("case.toml", "ONE", {"run.excite=wide"});
  ASSERT_EQ(run.code, 0) << run.err;
  for (const char* element : {"S_wide_wide_re", "S_narrow_wide_im"}) {
    const std::vector<double> one = column("ONE", "s_parameters", element),
                              all = column("ALL", "s_parameters", element);
    for (std::size_t f = 0; f < 3; ++f) EXPECT_NEAR(one[f], all[f], 2e-3) << element;
  }
  EXPECT_FALSE(holds(table("ONE", "s_parameters"), "S_wide_narrow"));
  EXPECT_FALSE(std::filesystem::exists(here() / "ONE/s_parameters.s2p"));
}

std::vector<std::complex<double>> element(const std::string& csv, const std::string& name) {
  const std::vector<double> re = csv_column(csv, name + "_re"), im = csv_column(csv, name + "_im");
  std::vector<std::complex<double>> out;
  for (std::size_t k = 0; k < re.size(); ++k) out.emplace_back(re[k], im[k]);
  return out;
}

TEST_F(Fdtd, FilesAreJoinedToPortsAndComparedWithS) {
  const std::string reference =
      "position = [\"-20.2 mm\", \"0 mm\", \"0 mm\"]\nimpedance = \"50 ohm\"";
  const std::string text =
      changed(changed(unlike_guides(), "position = [\"-20.2 mm\", \"0 mm\", \"0 mm\"]", reference),
              "position = [\"16 mm\", \"-2 mm\", \"0 mm\"]",
              "position = [\"16 mm\", \"-2 mm\", \"0 mm\"]\nimpedance = \"50 ohm\"");
  write("case.toml", text);
  ASSERT_EQ(run_case("case.toml", "FIRST").code, 0);
  // A line of 50 ohm and a quarter of a turn leaves |S| and turns its phase.
  write("quarter.s2p", "# GHz S RI R 50\n10 0 0 0 -1 0 -1 0 0\n14 0 0 0 -1 0 -1 0 0\n");
  write("case.toml", text + R"(
per_watt = "incident"
[[s_parameters.join]]
name = "line"
file = "quarter.s2p"
ports = ["narrow", ""]
[[s_parameters.compare]]
name = "before"
file = "FIRST/s_parameters.s2p"
[[s_parameters.pair]]
name = "both"
plus = "wide"
minus = "narrow"
[[monitor]]
kind = "flux"
name = "through"
position = ["10 mm", "-2 mm", "0 mm"]
size = ["0 mm", "16 mm", "0 mm"]
frequencies = ["11 GHz", "12 GHz", "13 GHz"]
[[expect]]
monitor = "before"
quantity = "difference"
value = 0
tolerance = 1e-9
)");
  const Outcome run = run_case("case.toml", "RUN");
  ASSERT_EQ(run.code, 0) << run.err;
  const std::string s = table("RUN", "s_parameters"), joined = table("RUN", "s_joined"),
                    mixed = table("RUN", "s_mixed");
  const auto s11 = element(s, "S_wide_wide"), s21 = element(s, "S_narrow_wide"),
             s12 = element(s, "S_wide_narrow"), s22 = element(s, "S_narrow_narrow");
  const std::complex<double> turned(0, -1);
  const auto through = element(joined, "S_line.2_wide"), dd = element(mixed, "S_both.d_both.d");
  const std::vector<double> flux = column("RUN", "through.wide", "flux");
  for (std::size_t f = 0; f < 3; ++f) {
    EXPECT_NEAR(std::abs(element(joined, "S_wide_wide")[f] - s11[f]), 0, 1e-12);
    EXPECT_NEAR(std::abs(through[f] - turned * s21[f]), 0, 1e-12);
    EXPECT_NEAR(std::abs(dd[f] - (s11[f] - s12[f] - s21[f] + s22[f]) / 2.0), 0, 1e-12);
    // Of 1 W that comes in; a flux takes means of fields, over cells of 1/16 of the guide.
    EXPECT_NEAR(flux[f], std::norm(s21[f]), 0.015);
  }
}

TEST_F(Fdtd, APortThatIsAlikeNeedsNoRun) {
  std::string text = unlike_guides();
  text = changed(text, "low = [\"0 mm\", \"6 mm\", \"-inf\"]\nhigh = [\"inf\", \"inf\", \"inf\"]",
                 "low = [\"-6 mm\", \"4 mm\", \"-inf\"]\nhigh = [\"6 mm\", \"inf\", \"inf\"]");
  text = changed(text, "[\"16 mm\", \"-2 mm\", \"0 mm\"]\nsize = [\"0 mm\", \"16 mm\", \"0 mm\"]",
                 "[\"20 mm\", \"0 mm\", \"0 mm\"]");
  write("case.toml", text);
  ASSERT_EQ(run_case("case.toml", "BOTH").code, 0);
  const Outcome one = run_case("case.toml", "ONE", {"port[1].same_as=wide"});
  ASSERT_EQ(one.code, 0) << one.err;
  for (const char* name : {"S_wide_wide", "S_narrow_wide", "S_wide_narrow", "S_narrow_narrow"}) {
    const auto a = element(table("BOTH", "s_parameters"), name),
               b = element(table("ONE", "s_parameters"), name);
    for (std::size_t f = 0; f < 3; ++f) EXPECT_NEAR(std::abs(a[f] - b[f]), 0, 1e-6) << name;
  }
  EXPECT_TRUE(std::filesystem::exists(here() / "ONE/s_parameters.s2p"));
}

/// A block with losses in a parallel-plate guide, as long as a parameter says.
std::string lossy_block() {
  return R"(app = "electromagnetics.fdtd"
[parameters]
l = "13 mm"
[grid]
size = ["100 mm", "20 mm", "0 mm"]
cell = "1 mm"
polarization = "Ez"
[run]
precision = "f64"
stop.decay_db = 100
[boundary]
y = "pec"
pml.cells = 16
[[material]]
name = "lossy"
eps = 2.2
sigma = "0.1 S/m"
[[structure]]
shape = "box"
material = "lossy"
low = ["0.3 mm", "-inf", "-inf"]
high = ["0.3 mm + l", "inf", "inf"]
[[port]]
kind = "mode"
name = "left"
position = ["-20 mm", "0 mm", "0 mm"]
direction = [1, 0, 0]
[[port]]
kind = "mode"
name = "right"
position = ["20 mm", "0 mm", "0 mm"]
direction = [-1, 0, 0]
[s_parameters]
frequency_min = "9.5 GHz"
frequency_max = "13.1 GHz"
frequency_points = 7
derivatives = ["l"]
)";
}

/// A line between plates, 2 mm apart and 4 mm wide between mirrors: 188.4 ohm, seen at 50.
TEST_F(Fdtd, ALineIsSeenAtAnotherReferenceByItsOwnImpedance) {
  write("case.toml", R"(app = "electromagnetics.fdtd"
[grid]
size = ["60 mm", "4 mm", "2 mm"]
cell = "1 mm"
[run]
precision = "f64"
stop.decay_db = 100
[boundary]
y = "pmc"
z = "pec"
pml.cells = 12
[[port]]
kind = "mode"
name = "a"
position = ["-10 mm", "0 mm", "0 mm"]
direction = [1, 0, 0]
[[port]]
kind = "mode"
name = "b"
position = ["10 mm", "0 mm", "0 mm"]
direction = [-1, 0, 0]
[s_parameters]
frequencies = ["4 GHz", "6 GHz"]
reference = "50 ohm"
)");
  const Outcome run = run_case("case.toml", "RUN");
  ASSERT_EQ(run.code, 0) << run.err;
  const auto file = tessera::data::read_touchstone(here() / "RUN/s_parameters.s2p");
  const std::vector<double> z = column("RUN", "a", "impedance_re"),
                            beta = column("RUN", "a", "beta_re");
  ASSERT_EQ(z.size(), 2u);
  for (std::size_t f = 0; f < 2; ++f) {
    EXPECT_NEAR(z[f], 376.730313668 / 2, 0.1);
    // Of a line of length l and impedance Z at R: S11 = r (1 - t^2) / (1 - r^2 t^2).
    const double r = (z[f] - 50) / (z[f] + 50);
    const std::complex<double> t = std::polar(1.0, -beta[f] * 20e-3), d = 1.0 - r * r * t * t;
    EXPECT_NEAR(std::abs(at(file.network, f, 0, 0) - r * (1.0 - t * t) / d), 0, 1e-4);
    EXPECT_NEAR(std::abs(at(file.network, f, 1, 0) - t * (1 - r * r) / d), 0, 1e-4);
  }
}

/// The same of other poles and losses, as wide as the line, or narrower with E across its ends.
std::string dispersive_block(const std::string& poles, bool narrow) {
  std::string text = lossy_block();
  const auto put = [&](const std::string& what, const std::string& by) {
    text.replace(text.find(what), what.size(), by);
  };
  put("eps = 2.2\nsigma = \"0.1 S/m\"", "eps = 1.8\nsigma = \"0.02 S/m\"\npoles = [" + poles + "]");
  if (!narrow) return text;
  put("\"Ez\"", "\"Hz\"");
  put("[\"0.3 mm\", \"-inf\"", "[\"0.3 mm\", \"-4 mm\"");
  put("l\", \"inf\"", "l\", \"4 mm\"");
  put("9.5 GHz", "4 GHz"), put("13.1 GHz", "6.5 GHz");
  return text;
}
const char* const spectral_line =
    R"({kind = "lorentz", frequency = "16 GHz", damping = "2 GHz", delta_eps = 0.6})";

/// Of perfect metal that stands between plates up to y = 0.2 mm, by half of l; an iris has no
/// thickness.
std::string metal_block(bool iris) {
  std::string text = lossy_block();
  const auto put = [&](const std::string& what, const std::string& by) {
    text.replace(text.find(what), what.size(), by);
  };
  put("material = \"lossy\"\nlow", "material = \"pec\"\nlow");
  put("0.3 mm + l\", \"inf\"", (iris ? "0.3 mm" : "4.3 mm") + std::string("\", \"-6.3 mm + l/2\""));
  return text;
}

TEST_F(Fdtd, APortBelowItsCutOffIsNone) {
  // Of the wide guide (20 mm) the cut-off is at 7.5 GHz, of the narrow one (16 mm) at 9.4 GHz.
  const std::string ends = "frequencies = [\"11 GHz\", \"12 GHz\", \"13 GHz\"]",
                    text = changed(unlike_guides(), "stop.decay_db = 100", "stop.decay_db = 140");
  write("case.toml", changed(text, ends,
                             "frequency_min = \"6 GHz\"\nfrequency_max = \"13 "
                             "GHz\"\nfrequency_points = 29"));
  const Outcome check = tessera({"check", "case.toml"});
  EXPECT_EQ(check.code, 0);
  EXPECT_TRUE(holds(check.err + check.out, "mode 1, cut off at 7.49")) << check.err << check.out;
  EXPECT_TRUE(
      holds(check.err + check.out, "S of it is told at 22 of 29 frequencies, from 7.75e+09"));
  EXPECT_TRUE(holds(check.err + check.out, "of mode 1, which decays there, comes back from the"));
  const Outcome run = run_case("case.toml", "RUN");
  ASSERT_EQ(run.code, 0) << run.err;
  const std::string s = table("RUN", "s_parameters");
  const std::vector<double> f = csv_column(s, "frequency_Hz");
  const auto wide = element(s, "S_wide_wide"), across = element(s, "S_narrow_wide"),
             back = element(s, "S_wide_narrow"), narrow = element(s, "S_narrow_narrow");
  // The same where both travel.
  write("part.toml", changed(text, ends,
                             "frequency_min = \"10 GHz\"\nfrequency_max = \"13 "
                             "GHz\"\nfrequency_points = 13"));
  ASSERT_EQ(run_case("part.toml", "PART").code, 0);
  const auto part = element(table("PART", "s_parameters"), "S_wide_wide"),
             part_across = element(table("PART", "s_parameters"), "S_narrow_wide");
  ASSERT_EQ(f.size(), 29u);
  for (std::size_t k = 0; k < f.size(); ++k) {
    EXPECT_EQ(std::isnan(wide[k].real()), f[k] < 7.64e9 || std::abs(f[k] - 9.35e9) < 0.18e9)
        << f[k];
    EXPECT_EQ(std::isnan(across[k].real()), f[k] < 9.54e9) << f[k];
    if (f[k] > 7.7e9 && f[k] < 8.3e9) EXPECT_NEAR(std::abs(wide[k]), 1, 2e-3) << f[k];
    if (f[k] < 9.54e9) continue;
    EXPECT_NEAR(std::norm(wide[k]) + std::norm(across[k]), 1, 1e-4) << f[k];
    EXPECT_NEAR(std::norm(narrow[k]) + std::norm(back[k]), 1, 1e-4) << f[k];
    EXPECT_NEAR(std::abs(across[k] - back[k]), 0, 1e-5) << f[k];
    if (f[k] < 9.99e9) continue;
    const auto q = static_cast<std::size_t>(std::lround((f[k] - 10e9) / 0.25e9));
    EXPECT_NEAR(std::abs(wide[k] - part[q]), 0, 1e-5) << f[k];
    EXPECT_NEAR(std::abs(across[k] - part_across[q]), 0, 1e-5) << f[k];
  }
  const auto file = tessera::data::read_touchstone(here() / "RUN/s_parameters.s2p");
  ASSERT_EQ(file.network.frequency_hz.size(), 14u);
  EXPECT_DOUBLE_EQ(file.network.frequency_hz.front(), 9.75e9);
}

TEST_F(Fdtd, AStraightGuideIsOneFromItsCutOffOn) {
  std::string text = changed(unlike_guides(), "low = [\"0 mm\", \"6 mm\", \"-inf\"]",
                             "low = [\"-inf\", \"6 mm\", \"-inf\"]");
  for (const auto& [what, by] :
       {std::pair("position = [\"-20.2 mm\", \"0 mm\", \"0 mm\"]",
                  "position = [\"-20 mm\", \"-2 mm\", \"0 mm\"]\nsize = [\"0 mm\", \"16 mm\", \"0 "
                  "mm\"]\nshift = \"4 mm\""),
        std::pair("frequencies = [\"11 GHz\", \"12 GHz\", \"13 GHz\"]",
                  "frequency_min = \"8 GHz\"\nfrequency_max = \"12 GHz\"\nfrequency_points = 41"),
        std::pair("stop.decay_db = 100", "stop.decay_db = 120")})
    text = changed(text, what, by);
  write("case.toml", text);
  const Outcome run = run_case("case.toml", "RUN");
  ASSERT_EQ(run.code, 0) << run.err;
  const std::string s = table("RUN", "s_parameters");
  const std::vector<double> f = csv_column(s, "frequency_Hz"),
                            delay = csv_column(table("RUN", "wide"), "beta_re");
  const auto on = element(s, "S_narrow_wide"), off = element(s, "S_wide_wide");
  std::size_t told = 0;
  for (std::size_t k = 0; k < f.size(); ++k) {
    if (std::isnan(on[k].real())) continue;
    ++told;
    const std::complex<double> wanted = std::polar(1.0, -delay[k] * 32e-3);
    EXPECT_NEAR(std::abs(on[k] - wanted), 0, 1e-4) << f[k];
    EXPECT_LT(std::abs(off[k]), 1e-4) << f[k];
  }
  EXPECT_EQ(told, 25u);  // from 9.6 GHz on
}

TEST_F(Fdtd, PortsCutARoundRod) {
  // Its faces run across the grid: their tensors are in the modes.
  write("case.toml", R"(app = "electromagnetics.fdtd"
[grid]
size = ["2.4 um", "2.4 um", "3.4 um"]
cell = "0.1 um"
[run]
precision = "f64"
stop.decay_db = 70
[boundary]
x = "pec"
y = "pec"
pml.cells = 10
[[material]]
name = "glass"
eps = 3.6
[[structure]]
shape = "cylinder"
material = "glass"
centre = ["0.02 um", "0 um", "0 um"]
radius = "0.42 um"
height = "inf"
axis = "z"
[[port]]
kind = "mode"
name = "in"
position = ["0 um", "0 um", "-0.4 um"]
direction = [0, 0, 1]
[[port]]
kind = "mode"
name = "out"
position = ["0 um", "0 um", "0.4 um"]
direction = [0, 0, -1]
same_as = "in"
[s_parameters]
frequencies = ["170 THz", "200 THz", "230 THz"]
)");
  const Outcome run = run_case("case.toml", "RUN");
  ASSERT_EQ(run.code, 0) << run.err;
  const std::vector<double> beta = column("RUN", "in", "beta_re");
  const auto on = element(table("RUN", "s_parameters"), "S_out_in"),
             off = element(table("RUN", "s_parameters"), "S_in_in");
  for (std::size_t f = 0; f < 3; ++f) {
    EXPECT_NEAR(std::abs(on[f] - std::polar(1.0, -beta[f] * 0.8e-6)), 0, 1e-4);
    EXPECT_LT(std::abs(off[f]), 1e-4);
  }
}

TEST_F(Fdtd, SIsNotDifferentiatedInAPort) {
  std::string text = metal_block(false);
  const std::string where = "position = [\"20 mm\", \"0 mm\"",
                    moved = "position = [\"20 mm\", \"l - 13 mm\"";
  write("case.toml", changed(text, where, moved));
  const Outcome check = tessera({"check", "case.toml"});
  EXPECT_EQ(check.code, 5);
  EXPECT_TRUE(holds(check.out + check.err, "moves 'port[1].position', too"))
      << check.out << check.err;
}

TEST_F(Fdtd, SDifferentiatesInTheLengthOfABlock) {
  const char* const metal = R"({kind = "drude", frequency = "20 GHz", damping = "1 GHz"})";
  for (const std::string& text :
       {lossy_block(), dispersive_block(spectral_line, false), dispersive_block(metal, false),
        dispersive_block(spectral_line, true), metal_block(false), metal_block(true)}) {
    write("case.toml", text);
    const Outcome run = run_case("case.toml", "RUN");
    ASSERT_EQ(run.code, 0) << run.err;
    const double step = 0.0625e-3;  // four of the parts of a cell to which shares are rounded
    for (const char* way : {"-", "+"})
      ASSERT_EQ(run_case("case.toml", std::string("MOVED") + way,
                         {std::string("parameters.l=\"13 mm ") + way + " 0.0625 mm\"",
                          "s_parameters.derivatives=[]"})
                    .code,
                0);
    for (const char* name : {"S_left_left", "S_right_left", "S_right_right"}) {
      const auto found = element(table("RUN", "s_parameters"), std::string(name) + "_by_l"),
                 above = element(table("MOVED+", "s_parameters"), name),
                 below = element(table("MOVED-", "s_parameters"), name);
      ASSERT_EQ(found.size(), 7u);
      double largest = 0;
      for (const auto& x : found) largest = std::max(largest, std::abs(x));
      for (std::size_t f = 0; f < found.size(); ++f)
        EXPECT_NEAR(std::abs(found[f] - (above[f] - below[f]) / (2 * step)), 0, 1e-3 * largest)
            << name;
    }
  }
}

TEST_F(Fdtd, PortsThatCannotBeAreRefusedAtTheirKeys) {
  const auto refused = [&](const std::string& what, const std::string& by,
                           const std::string& text) {
    write("bad.toml", changed(unlike_guides(), what, by));
    const Outcome out = tessera({"check", "bad.toml"});
    EXPECT_EQ(out.code, 5) << by;
    EXPECT_TRUE(holds(out.err, text)) << by << "\n" << out.err;
  };
  const std::string wide = "position = [\"-20.2 mm\", \"0 mm\", \"0 mm\"]";
  refused(wide, "position = [\"-1 mm\", \"0 mm\", \"0 mm\"]",
          "the guide changes within two cells of the port, ahead of it");
  refused(wide, "position = [\"-29 mm\", \"0 mm\", \"0 mm\"]",
          "the port lies within the absorbing layer behind it");
  refused("pml.cells = 12", "pml.cells = 12\nx_low = \"pec\"",
          "the guide runs into no layer behind the port");
  refused("direction = [1, 0, 0]", "direction = [1, 0, 0]\nmodes = 2",
          "mode 2 travels nowhere in the band");
  refused("name = \"narrow\"", "name = \"wide\"", "the name 'wide' is given twice");
  refused("frequencies = [\"11 GHz\"", "frequencies = [\"14 GHz\"", "frequencies do not rise");
  refused("stop.decay_db = 100", "stop.decay_db = 100\nexcite = [\"wede\"]",
          "did you mean 'wide'?");
  refused("direction = [1, 0, 0]", "direction = [1, 0, 0]\nsame_as = \"nobody\"",
          "there is no port 'nobody'");
  refused("frequencies = [\"11 GHz\"", "reference = \"50 ohm\"\nfrequencies = [\"11 GHz\"",
          "a mode of it carries no current along two conductors");
}

}  // namespace
