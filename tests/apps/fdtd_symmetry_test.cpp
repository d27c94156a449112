// SPDX-License-Identifier: Apache-2.0
//
// What mirrors of a symmetry leave of a case tells what the whole tells.
#include "fdtd_case.h"
#include "tessera/data/touchstone.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <string>
#include <utility>
#include <vector>

using namespace tessera::testing;

namespace {

using Complex = std::complex<double>;

/// Of the case of some lengths, [from, to] of y and z in mm.
std::string vector(double x, double y, double z) {
  const auto mm = [](double v) { return "\"" + std::to_string(v) + " mm\""; };
  return "[" + mm(x) + ", " + mm(y) + ", " + mm(z) + "]";
}

/// Plates 2 mm apart, 4 mm wide between magnetic walls: a lumped port over all of the line, a block
/// in the middle of it, and a mode. `y`, `z`: whether a mirror at 0 halves it there.
std::string plates(bool y, bool z) {
  const double y0 = y ? 0 : -2, z0 = z ? 0 : -1;
  std::string faces;
  if (y) faces += "\"y_low\"";
  if (z) faces += std::string(y ? ", " : "") + "\"z_low\"";
  return R"(app = "electromagnetics.fdtd"
[parameters]
e = "3"
r = "150 ohm"
[grid]
size = )" +
         vector(20, 2 - y0, 1 - z0) + "\ncentre = " + vector(10, (2 + y0) / 2, (1 + z0) / 2) + R"(
cell = "0.5 mm"
[boundary]
x_low = "pmc"
x_high = "pml"
y = "pmc"
z = "pec"
symmetry = [)" +
         faces + R"(]
[run]
precision = "f64"
stop = {decay_db = 80, time = "5 ns"}
[[material]]
name = "glass"
eps = "e"
[[structure]]
shape = "box"
material = "glass"
low = ["4 mm", "-1 mm", "-inf"]
high = ["6 mm", "1 mm", "inf"]
[[port]]
name = "l"
kind = "lumped"
position = ["1 mm", "0 mm", "0 mm"]
size = ["0 mm", "4 mm", "2 mm"]
direction = [0, 0, 1]
resistance = "r"
[[port]]
name = "m"
kind = "mode"
position = )" +
         vector(11, (2 + y0) / 2, (1 + z0) / 2) + R"(
direction = [-1, 0, 0]
[s_parameters]
frequencies = ["4 GHz", "6 GHz"]
per_watt = "incident"
derivatives = ["e", "r"]
[[s_parameters.array]]
name = "both"
ports = ["l", "m"]
amplitudes = [1, 2]
[[monitor]]
kind = "flux"
name = "flux"
position = )" +
         vector(9, (2 + y0) / 2, (1 + z0) / 2) + "\nsize = " + vector(0, 2 - y0, 1 - z0) + R"(
frequencies = ["4 GHz"]
relative_to = "mode"
derivatives = ["e"]
[[monitor]]
kind = "mode"
name = "mode"
position = )" +
         vector(8, (2 + y0) / 2, (1 + z0) / 2) + "\nsize = " + vector(0, 2 - y0, 1 - z0) + R"(
frequencies = ["4 GHz"]
[output]
pictures = false
vtk = false
)";
}

class Symmetric : public Fdtd {
 protected:
  std::vector<Complex> complex(const std::string& run, const std::string& table,
                               const std::string& name) const {
    const auto re = column(run, table, name + "_re"), im = column(run, table, name + "_im");
    std::vector<Complex> out;
    for (std::size_t k = 0; k < re.size(); ++k) out.emplace_back(re[k], im[k]);
    return out;
  }
  /// Columns of tables, all of the same names.
  void expect_alike(const std::string& a, const std::string& b, const std::string& name,
                    double tolerance) {
    const std::string header = table(a, name).substr(0, table(a, name).find('\n'));
    ASSERT_EQ(table(b, name).substr(0, table(b, name).find('\n')), header) << name;
    const auto x = rows(a, name), y = rows(b, name);
    ASSERT_EQ(x.size(), y.size());
    ASSERT_FALSE(x.empty());
    for (std::size_t q = 0; q < x[0].size(); ++q) {
      double most = 0;
      for (const auto& row : x) most = std::max(most, std::abs(row[q]));
      if (std::isinf(most)) continue;  // an axial ratio
      for (std::size_t k = 0; k < x.size(); ++k)
        EXPECT_NEAR(y[k][q], x[k][q], tolerance * std::max(most, 1e-3))
            << b << " " << name << " column " << q << " of " << header;
    }
  }
};

TEST_F(Symmetric, PartsOfAGuideWithALumpedPortTellTheSameS) {
  write("whole.toml", plates(false, false));
  const Outcome whole = run_case("whole.toml", "WHOLE");
  ASSERT_EQ(whole.code, 0) << whole.err;
  for (const auto& [y, z] : {std::pair{true, false}, {false, true}, {true, true}}) {
    const std::string name = std::string("PART") + (y ? "_Y" : "") + (z ? "_Z" : "");
    write(name + ".toml", plates(y, z));
    const Outcome part = run_case(name + ".toml", name);
    ASSERT_EQ(part.code, 0) << part.err;
    EXPECT_FALSE(holds(part.err, "has a gain of")) << part.err;
    for (const char* of : {"s_parameters", "flux.l", "flux.m", "mode.l", "mode.m", "both"})
      expect_alike("WHOLE", name, of, 2e-3);
    for (const char* of : {"impedance", "input_impedance"})
      for (std::size_t f = 0; f < 2; ++f)
        EXPECT_NEAR(std::abs(complex(name, "m", of)[f] - complex("WHOLE", "m", of)[f]), 0, 0.4)
            << of;
    const auto file = tessera::data::read_touchstone(here() / (name + "/s_parameters.s2p")).network,
               own = tessera::data::read_touchstone(here() / "WHOLE/s_parameters.s2p").network;
    EXPECT_NEAR(file.reference_ohm[1], own.reference_ohm[1], 1e-3 * own.reference_ohm[1]);
    for (std::size_t k = 0; k < own.values.size(); ++k)
      EXPECT_NEAR(std::abs(file.values[k] - own.values[k]), 0, 2e-3);
  }
}

/// A mode of a slab in two dimensions that ends, of E or H across the plane, both even about y = 0.
std::string slab(bool half, bool electric) {
  const std::string low = half ? "1 um" : "0 um", size = half ? "2 um" : "4 um";
  return std::string(R"(app = "electromagnetics.fdtd"
[grid]
cell = "50 nm"
size = ["4 um", ")") +
         size + "\", \"0 um\"]\ncentre = [\"0 um\", \"" + low + "\", \"0 um\"]\npolarization = \"" +
         (electric ? "Ez" : "Hz") + "\"\n[boundary]\n" +
         (half ? std::string("y_low = \"") + (electric ? "pmc" : "pec") +
                     "\"\nsymmetry = [\"y_low\"]\n"
               : "") +
         R"([run]
precision = "f64"
stop = {decay_db = 60, time = "1 ps"}
[[material]]
name = "n2"
index = 2
[[structure]]
shape = "box"
low = ["-inf", "-0.3 um", "-inf"]
high = ["0.2 um", "0.3 um", "inf"]
material = "n2"
[[source]]
kind = "mode"
position = ["-1 um", ")" +
         low + R"(", "0 um"]
direction = [1, 0, 0]
waveform = {frequency = "200 THz", bandwidth = "40 THz"}
[[monitor]]
kind = "flux"
name = "flux"
position = ["1 um", ")" +
         low + "\", \"0 um\"]\nsize = [\"0 um\", \"" + size + R"(", "0 um"]
frequencies = ["200 THz"]
relative_to = "mode"
[[monitor]]
kind = "beam"
name = "fibre"
through = ["1 um", "0 um", "0 um"]
position = ["1 um", ")" +
         low + "\", \"0 um\"]\nsize = [\"0 um\", \"" + size + R"(", "0 um"]
frequencies = ["200 THz"]
direction = [1, 0, 0]
polarization = )" +
         (electric ? "[0, 0, 1]" : "[0, 1, 0]") + R"(
waist = "0.6 um"
relative_to = "mode"
[[monitor]]
kind = "mode"
name = "mode"
position = ["-0.3 um", ")" +
         low + "\", \"0 um\"]\nsize = [\"0 um\", \"" + size + R"(", "0 um"]
frequencies = ["200 THz"]
[output]
pictures = false
vtk = false
)";
}

TEST_F(Symmetric, HalfAModeIsTheWhole) {
  for (const bool electric : {true, false}) {
    const std::string of = electric ? "E" : "H";
    write("whole" + of + ".toml", slab(false, electric));
    write("half" + of + ".toml", slab(true, electric));
    const Outcome whole = run_case("whole" + of + ".toml", "WHOLE" + of);
    ASSERT_EQ(whole.code, 0) << whole.err;
    const Outcome half = run_case("half" + of + ".toml", "HALF" + of);
    ASSERT_EQ(half.code, 0) << half.err;
    for (const char* monitor : {"flux", "fibre"})
      expect_alike("WHOLE" + of, "HALF" + of, monitor, 2e-3);
    const auto a = complex("WHOLE" + of, "mode", "forward"),
               b = complex("HALF" + of, "mode", "forward");
    EXPECT_NEAR(std::abs(b[0]), std::abs(a[0]), 2e-3 * std::abs(a[0]));
  }
}

/// Three lines in a row along y, in two dimensions, each a port: all, or the one on a magnetic
/// mirror and that above it.
std::string row_of_lines(bool half) {
  const std::string y = half ? "0.2 m" : "0 m", size = half ? "0.4 m" : "0.8 m",
                    box_y = half ? "0.1 m" : "0 m", box = half ? "0.2 m" : "0.4 m";
  std::string text = R"(app = "electromagnetics.fdtd"
[grid]
size = ["0.6 m", ")" +
                     size + R"(", "0 m"]
centre = ["0 m", ")" +
                     y + R"(", "0 m"]
cell = "20 mm"
polarization = "Ez"
[run]
precision = "f64"
stop.decay_db = 80
[boundary]
pml.cells = 8
)" + (half ? "y_low = \"pmc\"\nsymmetry = [\"y_low\"]\n" : "") +
                     R"([[monitor]]
kind = "far_field"
name = "far"
position = ["0 m", ")" +
                     box_y + R"(", "0 m"]
size = ["0.2 m", ")" +
                     box + R"(", "0 m"]
frequencies = ["800 MHz"]
phi = ["90 deg", "30 deg", "0 deg"]
[s_parameters]
frequencies = ["800 MHz"]
[[s_parameters.array]]
name = "all"
)" +
                     (half ? "ports = [\"centre\", \"up\"]\namplitudes = [1, 0.5]\nphases = "
                             "[\"0 deg\", \"70 deg\"]\n"
                           : "ports = [\"centre\", \"up\", \"down\"]\namplitudes = [1, 0.5, "
                             "0.5]\nphases = [\"0 deg\", \"70 deg\", \"70 deg\"]\n");
  for (const std::string name : {"centre", "up", "down"}) {
    if (half && name == "down") continue;
    const std::string at = name == "centre" ? "0 mm" : name == "up" ? "100 mm" : "-100 mm";
    text += "[[port]]\nkind = \"lumped\"\nname = \"" + name + "\"\nposition = [\"0 m\", \"" + at +
            "\", \"0 m\"]\nsize = [\"0 m\", \"0 m\", \"0 m\"]\ndirection = [0, 0, 1]\n"
            "resistance = \"900 ohm\"\n";
  }
  return text + "[output]\npictures = false\nvtk = false\n";
}

// A port beside a mirror and its image are one, of the power of both: S is that of their even
// waves, (e_up + e_down)/sqrt(2).
TEST_F(Symmetric, APortAndItsImageAreOne) {
  write("whole.toml", row_of_lines(false));
  write("half.toml", row_of_lines(true));
  const Outcome whole = run_case("whole.toml", "WHOLE");
  ASSERT_EQ(whole.code, 0) << whole.err;
  const Outcome half = run_case("half.toml", "HALF");
  ASSERT_EQ(half.code, 0) << half.err;
  const auto s = [&](const std::string& run, const std::string& to, const std::string& from) {
    return complex(run, "s_parameters", "S_" + to + "_" + from)[0];
  };
  const Complex cc = s("WHOLE", "centre", "centre"), cu = s("WHOLE", "centre", "up"),
                uu = s("WHOLE", "up", "up"), ud = s("WHOLE", "up", "down");
  EXPECT_GT(std::abs(cu), 0.05);
  EXPECT_LT(std::abs(s("HALF", "centre", "centre") - cc), 3e-3);
  EXPECT_LT(std::abs(s("HALF", "centre", "up") - std::sqrt(2.0) * cu), 3e-3);
  EXPECT_LT(std::abs(s("HALF", "up", "centre") - std::sqrt(2.0) * cu), 3e-3);
  EXPECT_LT(std::abs(s("HALF", "up", "up") - (uu + ud)), 3e-3);
  // Amplitudes of an array are of each port, and of each of its images.
  expect_alike("WHOLE", "HALF", "far.all", 5e-3);
  for (const char* name : {"accepted_power", "incident_power"}) {
    const double a = column("WHOLE", "all", name)[0];
    EXPECT_NEAR(column("HALF", "all", name)[0], a, 5e-3 * a) << name;
  }
  for (const char* name : {"active_reflection_centre", "active_reflection_up"})
    EXPECT_LT(std::abs(complex("HALF", "all", name)[0] - complex("WHOLE", "all", name)[0]), 5e-3)
        << name;
  // A watt is one of the whole.
  ASSERT_EQ(run_case("half.toml", "HALF", {"s_parameters.per_watt=incident"}).code, 0);
  for (const char* run : {"far.centre", "far.up"})
    EXPECT_NEAR(column("HALF", run, "power")[0], column("HALF", run, "total_efficiency")[0], 1e-9)
        << run;
}

/// A port of which S has two together is no port of one network with another of which it has one.
TEST_F(Symmetric, APortAndItsImageAreNotPairedWithOneAlone) {
  write("a.s2p", "# GHz S RI R 50\n0.5 0 0 0 0 0 0 0 0\n3 0 0 0 0 0 0 0 0\n");
  const std::string pair =
                        "[[s_parameters.pair]]\nname = \"p\"\nplus = \"centre\"\nminus = \"up\"\n",
                    join =
                        "[[s_parameters.join]]\nname = \"n\"\nfile = \"a.s2p\"\nports = "
                        "[\"centre\", \"up\"]\n",
                    one =
                        "[[s_parameters.join]]\nname = \"n\"\nfile = \"a.s2p\"\nports = "
                        "[\"up\", \"\"]\n";
  for (const auto& [text, words] :
       {std::pair(pair, "one of the two stands"), {join, "the file joins ports"}}) {
    write("half.toml", row_of_lines(true) + text);
    const Outcome check = tessera({"check", "half.toml"});
    EXPECT_EQ(check.code, 5) << text;
    EXPECT_TRUE(holds(check.out + check.err, "E0668") && holds(check.out + check.err, words) &&
                holds(check.out + check.err, "beside a symmetry"))
        << check.err;
    write("whole.toml", row_of_lines(false) + text);
    EXPECT_EQ(tessera({"check", "whole.toml"}).code, 0) << text;
  }
  write("half.toml", row_of_lines(true) + one);
  EXPECT_EQ(tessera({"check", "half.toml"}).code, 0);
}

}  // namespace
