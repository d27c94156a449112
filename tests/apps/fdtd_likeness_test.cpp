// SPDX-License-Identifier: Apache-2.0
// Ports that are alike by a symmetry: columns of S that are taken over are those of their own runs.
#include "fdtd_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace tessera::testing;

namespace {

std::string box(const std::string& material, const std::string& low, const std::string& high) {
  return "[[structure]]\nshape = \"box\"\nmaterial = \"" + material + "\"\nlow = [" + low +
         "]\nhigh = [" + high + "]\n";
}
std::string mode(const std::string& name, const std::string& position, const std::string& size,
                 const std::string& direction, const std::string& more = "") {
  return "[[port]]\nkind = \"mode\"\nname = \"" + name + "\"\nposition = [" + position +
         "]\nsize = [" + size + "]\ndirection = [" + direction + "]\n" + more;
}
const std::string kWest =
    mode("west", "\"-10 mm\", \"0 mm\", \"0 mm\"", "\"0 mm\", \"8 mm\", DEEP", "1, 0, 0");
const std::string kSouth =
    mode("south", "\"0 mm\", \"-10 mm\", \"0 mm\"", "\"8 mm\", \"0 mm\", DEEP", "0, 1, 0");
std::string east(const std::string& more) {
  return mode("east", "\"10 mm\", \"0 mm\", \"0 mm\"", "\"0 mm\", \"8 mm\", DEEP", "-1, 0, 0",
              more);
}
std::string north(const std::string& more) {
  return mode("north", "\"0 mm\", \"10 mm\", \"0 mm\"", "\"8 mm\", \"0 mm\", DEEP", "0, -1, 0",
              more);
}

/// Guides 8 mm wide that meet: of parallel plates, or rectangular ones `deep` along z.
std::string junction(bool crossing, const std::string& ports, bool solid) {
  std::string out = R"(app = "electromagnetics.fdtd"
output = {vtk = false, pictures = false, scene = false}
[run]
precision = "f64"
stop.decay_db = 70
stop.check_every = "1 ns"
[boundary]
x = "pml"
y = "pml"
pml.cells = 8
)";
  out += solid ? "z = \"pec\"\n[grid]\nsize = [\"60 mm\", \"60 mm\", \"20 mm\"]\ncell = [\"2 mm\", "
                 "\"2 mm\", \"4 mm\"]\n"
               : "[grid]\nsize = [\"60 mm\", \"60 mm\", \"0 mm\"]\ncell = \"2 mm\"\npolarization = "
                 "\"Hz\"\n";
  out += crossing ? box("pec", "\"-inf\", \"4 mm\", \"-inf\"", "\"-4 mm\", \"inf\", \"inf\"") +
                        box("pec", "\"4 mm\", \"4 mm\", \"-inf\"", "\"inf\", \"inf\", \"inf\"")
                  : box("pec", "\"-inf\", \"4 mm\", \"-inf\"", "\"inf\", \"inf\", \"inf\"");
  out += box("pec", "\"-inf\", \"-inf\", \"-inf\"", "\"-4 mm\", \"-4 mm\", \"inf\"") +
         box("pec", "\"4 mm\", \"-inf\", \"-inf\"", "\"inf\", \"-4 mm\", \"inf\"") + ports +
         (solid ? "[s_parameters]\nfrequencies = [\"10 GHz\", \"12 GHz\"]\n"
                : "[s_parameters]\nfrequencies = [\"5 GHz\", \"8 GHz\"]\n");
  for (std::size_t at; (at = out.find("DEEP")) != std::string::npos;)
    out.replace(at, 4, solid ? "\"20 mm\"" : "\"0 mm\"");
  return out;
}

class FdtdLikeness : public Fdtd {
 protected:
  /// What is taken over beside what the ports' own runs say, elements of all columns; the largest
  /// difference.
  double apart(const std::string& alike, const std::vector<std::string>& ports,
               const std::string& all) {
    write("case.toml", alike);
    const Outcome one = run_case("case.toml", "LIKE"),
                  own = run_case("case.toml", "OWN", {"run.excite=" + all});
    EXPECT_EQ(one.code, 0) << one.err;
    EXPECT_EQ(own.code, 0) << own.err;
    EXPECT_FALSE(holds(one.out + one.err, "none above 1")) << one.err;
    if (one.code != 0 || own.code != 0) return INFINITY;
    double most = 0, largest = 0;
    for (const std::string& to : ports)
      for (const std::string& from : ports)
        for (const char* part : {"_re", "_im"}) {
          const std::string name = "S_" + to + "_" + from + part;
          const std::vector<double> a = column("LIKE", "s_parameters", name),
                                    b = column("OWN", "s_parameters", name);
          for (std::size_t f = 0; f < b.size(); ++f) {
            most = std::max(most, std::abs(a[f] - b[f]));
            if (to != from) largest = std::max(largest, std::abs(b[f]));
          }
        }
    EXPECT_GT(largest, 0.1);
    return most;
  }
  void refused(const std::string& text, const std::vector<std::string>& words,
               const std::vector<std::string>& settings = {}) {
    write("bad.toml", text);
    std::vector<std::string> arguments{"check", "bad.toml"};
    for (const std::string& s : settings) arguments.insert(arguments.end(), {"--set", s});
    const Outcome check = tessera(arguments);
    EXPECT_EQ(check.code, 5) << check.out << check.err;
    for (const std::string& w : words)
      EXPECT_TRUE(holds(check.out + check.err, w)) << w << check.err;
  }
};

const std::string kTee =
    kWest + east("same_as = \"west\"\norder = [\"east\", \"west\", \"south\"]\n") + kSouth;
const std::string kThree = "[\"west\",\"east\",\"south\"]",
                  kFour = "[\"west\",\"east\",\"south\",\"north\"]";

}  // namespace

/// A mirror across x keeps the field of the arms and turns that of the stem round.
TEST_F(FdtdLikeness, OfATeeTheStemSeesTheArmsWithOtherSigns) {
  ASSERT_LT(apart(junction(false, kTee, false), {"west", "east", "south"}, kThree), 1e-4);
  const auto of = [&](const char* part) { return column("LIKE", "s_parameters", part)[0]; };
  EXPECT_NEAR(of("S_south_west_re"), -of("S_south_east_re"), 1e-4);
}

TEST_F(FdtdLikeness, OfARectangularGuideToo) {
  EXPECT_LT(apart(junction(false, kTee, true), {"west", "east", "south"}, kThree), 1e-4);
}

/// Turned by 90 degrees, each port takes the place of the next.
TEST_F(FdtdLikeness, OfACrossingAllFollowFromOne) {
  const std::string ports =
      kWest + east("same_as = \"west\"\norder = [\"east\", \"west\", \"north\", \"south\"]\n") +
      mode("south", "\"0 mm\", \"-10 mm\", \"0 mm\"", "\"8 mm\", \"0 mm\", DEEP", "0, 1, 0",
           "same_as = \"west\"\norder = [\"south\", \"north\", \"east\", \"west\"]\n") +
      north("same_as = \"west\"\norder = [\"north\", \"south\", \"west\", \"east\"]\n");
  EXPECT_LT(apart(junction(true, ports, false), {"west", "east", "south", "north"}, kFour), 1e-4);
}

TEST_F(FdtdLikeness, OrdersThatNoSymmetryMakesAreRefused) {
  // As many modes at each port that takes the place of another one.
  const std::string order =
      "same_as = \"west\"\norder = [\"east\", \"west\", \"north\", \"south\"]\n";
  refused(junction(true,
                   kWest + east(order) +
                       mode("south", "\"0 mm\", \"-10 mm\", \"0 mm\"", "\"8 mm\", \"0 mm\", DEEP",
                            "0, 1, 0", "modes = 2\n") +
                       north(""),
                   false),
          {"E0667", "'north' has another number of modes than 'south'"},
          {"s_parameters.frequencies=[\"22 GHz\",\"24 GHz\"]"});
  refused(
      junction(true,
               kWest + east(order) + kSouth +
                   "[[port]]\nkind = \"lumped\"\nname = \"north\"\nposition = [\"0 mm\", \"9 mm\", "
                   "\"0 mm\"]\nsize = [\"8 mm\", \"0 mm\", \"0 mm\"]\ndirection = [1, 0, "
                   "0]\nresistance = \"50 "
                   "ohm\"\n",
               false),
      {"E0667", "'north' has another kind than 'south'"});
  // East and west change places, the others look another way then.
  refused(junction(true,
                   kWest +
                       east("same_as = \"west\"\norder = [\"east\", \"south\", \"north\", "
                            "\"west\"]\n") +
                       kSouth + north(""),
                   false),
          {"E0667", "no turn or mirroring takes the ports"});
}

/// Lumped ports may be turned about their axis by any angle.
TEST_F(FdtdLikeness, ATriangleIsTurnedByAThird) {
  const auto triangle = [](const std::string& c_x) {
    std::string out = R"(app = "electromagnetics.fdtd"
output = {vtk = false, pictures = false, scene = false}
grid = {size = ["80 mm", "80 mm", "0 mm"], cell = "2 mm", polarization = "Ez"}
run = {precision = "f64", stop.decay_db = 40}
boundary.pml.cells = 6
s_parameters.frequencies = ["5 GHz"]
)";
    for (const auto& [name, at] : {std::pair("a", std::string("\"16 mm\", \"0 mm\"")),
                                   {"b", "\"-8 mm\", \"13.8564 mm\""},
                                   {"c", c_x + ", \"-13.8564 mm\""}})
      out += std::string("[[port]]\nkind = \"lumped\"\nname = \"") + name + "\"\nposition = [" +
             at +
             ", \"0 mm\"]\nsize = [\"0 mm\", \"0 mm\", \"0 mm\"]\ndirection = [0, 0, 1]\n"
             "resistance = \"900 ohm\"\n" +
             (name == std::string("b") ? "same_as = \"a\"\norder = [\"b\", \"c\", \"a\"]\n" : "");
    return out;
  };
  write("case.toml", triangle("\"-8 mm\""));
  const Outcome check = tessera({"check", "case.toml"});
  EXPECT_EQ(check.code, 0) << check.err;
  refused(triangle("\"-12 mm\""), {"E0667", "no turn or mirroring takes the ports"});
}

/// What is like another one has its column where that one is driven.
TEST_F(FdtdLikeness, SIsWholeWhereWhatIsNotDrivenIsAlike) {
  write("case.toml", junction(false, kTee, false));
  const std::vector<std::string> reference{"check", "case.toml", "--set",
                                           "s_parameters.reference=100 ohm", "--set"};
  const auto with = [&](const std::string& excite) {
    std::vector<std::string> out = reference;
    out.push_back("run.excite=" + excite);
    return tessera(out);
  };
  EXPECT_EQ(with("[\"west\",\"south\"]").code, 0);
  for (const char* some : {"[\"west\"]", "[\"east\",\"south\"]"}) {
    const Outcome check = with(some);
    EXPECT_EQ(check.code, 5) << some;
    EXPECT_TRUE(holds(check.out + check.err, "needs S of all ports")) << check.err;
  }
}

/// Two slabs in a line, of which a parameter moves one or both.
TEST_F(FdtdLikeness, WhatBreaksTheSymmetryHasNoDerivative) {
  const auto slabs = [](const char* second) {
    return R"(app = "electromagnetics.fdtd"
output = {vtk = false, pictures = false, scene = false}
parameters.e = 4
grid = {size = ["80 mm", "10 mm", "0 mm"], cell = "1 mm", polarization = "Hz"}
run = {precision = "f64", stop.decay_db = 60}
boundary = {x = "pml", y = "pec"}
[[material]]
name = "first"
eps = "e"
[[material]]
name = "second"
eps = )" + std::string(second) +
           "\n" + box("first", "\"-10 mm\", \"-inf\", \"-inf\"", "\"-5 mm\", \"inf\", \"inf\"") +
           box("second", "\"5 mm\", \"-inf\", \"-inf\"", "\"10 mm\", \"inf\", \"inf\"") +
           R"([[port]]
kind = "mode"
name = "a"
position = ["-20 mm", "0 mm", "0 mm"]
direction = [1, 0, 0]
[[port]]
kind = "mode"
name = "b"
position = ["20 mm", "0 mm", "0 mm"]
direction = [-1, 0, 0]
same_as = "a"
[s_parameters]
frequencies = ["3 GHz", "6 GHz"]
derivatives = ["e"]
)";
  };
  refused(slabs("4"),
          {"E0642", "'e' moves media otherwise than what the same_as of 'b' takes them to"});
  write("case.toml", slabs("\"e\""));
  ASSERT_EQ(run_case("case.toml", "LIKE").code, 0);
  ASSERT_EQ(run_case("case.toml", "OWN", {"run.excite=[\"a\",\"b\"]"}).code, 0);
  for (const char* name : {"S_b_b_by_e_re", "S_a_b_by_e_re", "S_b_b_by_e_im"}) {
    const std::vector<double> like = column("LIKE", "s_parameters", name),
                              own = column("OWN", "s_parameters", name);
    ASSERT_FALSE(own.empty()) << name;
    for (std::size_t f = 0; f < own.size(); ++f) EXPECT_NEAR(like[f], own[f], 1e-5) << name;
  }
}
