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

/// Mode ports at both ends of a line, the second like the first.
const std::string like_ends = R"([[port]]
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
)";

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
    EXPECT_GT(largest, least_);
    return most / std::max(largest, 0.1 * least_);
  }
  /// Of transmissions that are told in `apart`.
  double least_ = 0.1;
  void warned(const std::string& text, const std::vector<std::string>& words) {
    write("doubtful.toml", text);
    const Outcome check = tessera({"check", "doubtful.toml"});
    EXPECT_EQ(check.code, 0) << check.out << check.err;
    for (const std::string& w : words)
      EXPECT_TRUE(holds(check.out + check.err, w)) << w << check.out << check.err;
  }
  void not_warned(const std::string& text, const std::string& words) {
    write("sure.toml", text);
    const Outcome check = tessera({"check", "sure.toml"});
    EXPECT_EQ(check.code, 0) << check.out << check.err;
    EXPECT_FALSE(holds(check.out + check.err, words)) << check.out << check.err;
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

namespace {

std::string lumped_port(const std::string& name, const std::string& at, const std::string& size,
                        const std::string& direction, const std::string& more = "") {
  return "[[port]]\nkind = \"lumped\"\nname = \"" + name + "\"\nposition = [" + at +
         ", \"0 mm\"]\nsize = [" + size + "]\ndirection = [" + direction +
         "]\nresistance = \"300 ohm\"\n" + more;
}
const std::string kPoint = "\"0 mm\", \"0 mm\", \"0 mm\"";
std::string open_plane(const std::string& more, const std::string& polarization = "Ez") {
  return R"(app = "electromagnetics.fdtd"
output = {vtk = false, pictures = false, scene = false}
run = {precision = "f64", stop.decay_db = 30}
grid = {size = ["64 mm", "80 mm", "0 mm"], cell = "2 mm", polarization = ")" +
         polarization + "\"}\n" + more;
}
std::string triangle(const std::string& c_x, const std::string& first = "",
                     const std::string& last = "") {
  return first + open_plane("boundary.pml.cells = 6\ns_parameters.frequencies = [\"5 GHz\"]\n") +
         lumped_port("a", "\"16 mm\", \"0 mm\"", kPoint, "0, 0, 1") +
         lumped_port("b", "\"-8 mm\", \"13.8564 mm\"", kPoint, "0, 0, 1",
                     "same_as = \"a\"\norder = [\"b\", \"c\", \"a\"]\n") +
         lumped_port("c", c_x + ", \"-13.8564 mm\"", kPoint, "0, 0, 1") + last;
}
/// Three ports in a period of 60 mm, each a third of it from the next.
std::string row_of_ports(const std::string& boundary) {
  std::string out = open_plane("boundary = {y = \"pml\", pml.cells = 6, " + boundary +
                               "}\ns_parameters.frequencies = [\"5 GHz\"]\n") +
                    lumped_port("a", "\"-20 mm\", \"0 mm\"", kPoint, "0, 0, 1") +
                    lumped_port("b", "\"0 mm\", \"0 mm\"", kPoint, "0, 0, 1",
                                "same_as = \"a\"\norder = [\"b\", \"c\", \"a\"]\n") +
                    lumped_port("c", "\"20 mm\", \"0 mm\"", kPoint, "0, 0, 1",
                                "same_as = \"a\"\norder = [\"c\", \"a\", \"b\"]\n");
  out.replace(out.find("64 mm"), 2, "60");
  return out;
}
/// Ports along x and y on a line, which a half turn and a mirror take to each other.
std::string cross(const std::string& device) {
  const std::string like = "order = [\"b\", \"a\", \"d\", \"c\"]\n",
                    wide = "\"4 mm\", \"0 mm\", \"0 mm\"", high = "\"0 mm\", \"4 mm\", \"0 mm\"";
  std::string out =
      open_plane("boundary.pml.cells = 6\ns_parameters.frequencies = [\"5 GHz\"]\n", "Hz") +
      lumped_port("a", "\"0 mm\", \"8 mm\"", wide, "1, 0, 0") +
      lumped_port("b", "\"0 mm\", \"-8 mm\"", wide, "1, 0, 0", "same_as = \"a\"\n" + like) +
      lumped_port("c", "\"0 mm\", \"16 mm\"", high, "0, 1, 0") +
      lumped_port("d", "\"0 mm\", \"-16 mm\"", high, "0, 1, 0", "same_as = \"c\"\n" + like);
  for (const char* y : {"", "-"}) {
    const auto at = [&](const char* one, const char* other) {
      return "\"" + (*y ? "-" + std::string(other) : std::string(one)) + " mm\", ";
    };
    for (const auto& [x0, x1] :
         {std::pair("\"2 mm\", ", "\"4 mm\", "), {"\"-4 mm\", ", "\"-2 mm\", "}})
      out += box("pec", x0 + at("6", "10") + "\"-inf\"", x1 + at("10", "6") + "\"inf\"");
    for (const auto& [y0, y1] : {std::pair("18", "20"), {"12", "14"}})
      out += box("pec", "\"-2 mm\", " + at(y0, y1) + "\"-inf\"",
                 "\"2 mm\", " + at(y1, y0) + "\"inf\"");
  }
  return out + device;
}
std::string screen(const std::string& x, const std::string& y) {
  return "[[sheet]]\nnormal = \"x\"\nposition = [\"" + x + " mm\", \"" + y +
         " mm\", \"0 mm\"]\nsize = [\"0 mm\", \"16 mm\", \"0 mm\"]\nresistance = \"1 ohm\"\n";
}
const std::vector<std::string> kAbcd = {"a", "b", "c", "d"};
const std::string kAllOfCross = "[\"a\",\"b\",\"c\",\"d\"]", kAllOfRow = "[\"a\",\"b\",\"c\"]";

}  // namespace

/// Lumped ports may be turned about their axis by any angle; the grid does not tell whether the
/// device is.
TEST_F(FdtdLikeness, ATriangleIsTurnedByAThird) {
  warned(triangle("\"-8 mm\""), {"E0669", "only a turn by another angle"});
  refused(triangle("\"-12 mm\""), {"E0667", "no turn or mirroring takes the ports"});
  const std::string disc = R"([[material]]
name = "disc"
eps = "e"
[[structure]]
shape = "cylinder"
axis = "z"
centre = ["0 mm", "0 mm", "0 mm"]
radius = "6 mm"
height = "inf"
material = "disc"
)";
  std::string moved = triangle(
      "\"-8 mm\"",
      "parameters = {e = 4, r = \"300 ohm\"}\ns_parameters.derivatives = [\"e\", \"r\"]\n", disc);
  for (std::size_t at; (at = moved.find("= \"300 ohm\"\n")) != std::string::npos;)
    moved.replace(at, 11, "= \"r\"");
  warned(moved, {"E0669", "'e' moves media or loads, and no turn of the grid"});
  not_warned(moved, "'r' moves");
}

/// Sheets tell which turn counts as bodies do, and so do thin traces.
TEST_F(FdtdLikeness, SheetsAndTracesTellWhichTurnCounts) {
  least_ = 1e-6;
  const std::string trace =
      box("pec", "\"6 mm\", \"4 mm\", \"-inf\"", "\"6.1 mm\", \"5 mm\", \"inf\"") +
      box("pec", "\"-6.1 mm\", \"-5 mm\", \"-inf\"", "\"-6 mm\", \"-4 mm\", \"inf\"");
  EXPECT_LT(apart(cross(screen("8", "12") + screen("-8", "-12")), kAbcd, kAllOfCross), 1e-6);
  EXPECT_LT(apart(cross(trace), kAbcd, kAllOfCross), 1e-6);
  // A mirror across y.
  EXPECT_LT(apart(cross(screen("8", "12") + screen("8", "-12")), kAbcd, kAllOfCross), 1e-6);
  refused(cross(screen("8", "12")),
          {"E0667", "turns that take the ports to each other give other signs of S"});
  // Resistors beside the ports of y, in bodies that all turns take to each other.
  const auto resistor = [](const std::string& x, const std::string& y) {
    return "[[load]]\nposition = [\"" + x + " mm\", \"" + y +
           " mm\", \"0 mm\"]\nsize = [\"0 mm\", \"4 mm\", \"0 mm\"]\naxis = \"y\"\nresistance = "
           "\"50 ohm\"\n";
  };
  EXPECT_LT(apart(cross(resistor("2", "16") + resistor("-2", "-16")), kAbcd, kAllOfCross), 1e-6);
  refused(cross(resistor("2", "16")),
          {"E0667", "turns that take the ports to each other give other signs of S"});
}

/// Of one sign only, what is not alike is told.
TEST_F(FdtdLikeness, ADeviceThatIsNotAlikeIsTold) {
  const auto body = [](const char* x) {
    return junction(false,
                    kTee + box("pec", std::string("\"") + x + " mm\", \"-4 mm\", \"-inf\"",
                               "\"1 mm\", \"-2 mm\", \"inf\""),
                    false);
  };
  const std::string words = "takes the ports to each other takes";
  warned(body("-3"), {"E0669", words});
  not_warned(body("-1"), words);
}

/// Through joined faces ports come back at the other side, with the phase of these.
TEST_F(FdtdLikeness, APeriodIsMovedAlongItself) {
  least_ = 1e-3;
  const std::vector<std::string> ports = {"a", "b", "c"};
  EXPECT_LT(apart(row_of_ports("x = \"periodic\""), ports, kAllOfRow), 1e-9);
  EXPECT_LT(apart(row_of_ports("x = \"bloch\", bloch_phase = [\"90 deg\", \"0 deg\", \"0 deg\"]"),
                  ports, kAllOfRow),
            1e-9);
}

/// A mirror turns the wave vector round: what goes one way is like what goes the other way.
TEST_F(FdtdLikeness, NoMirrorKeepsAPhase) {
  const auto two = [](const std::string& phase) {
    return open_plane("boundary = {x = \"bloch\", y = \"pml\", pml.cells = 6, bloch_phase = [\"" +
                      phase +
                      " deg\", \"0 deg\", \"0 deg\"]}\ns_parameters.frequencies = [\"5 GHz\"]\n") +
           lumped_port("a", "\"-10 mm\", \"0 mm\"", kPoint, "0, 0, 1") +
           lumped_port("b", "\"10 mm\", \"0 mm\"", kPoint, "0, 0, 1", "same_as = \"a\"\n");
  };
  refused(two("90"), {"E0667", "that keeps the phase of joined faces"});
  least_ = 1e-3;
  EXPECT_LT(apart(two("180"), {"a", "b"}, "[\"a\",\"b\"]"), 1e-9);
}

/// Loads that a parameter moves, one of them or both.
TEST_F(FdtdLikeness, OfLoadsNeither) {
  const auto loads = [](const char* second) {
    return R"(app = "electromagnetics.fdtd"
output = {vtk = false, pictures = false, scene = false}
parameters.rl = "400 ohm"
grid = {size = ["80 mm", "10 mm", "0 mm"], cell = "1 mm", polarization = "Hz"}
run = {precision = "f64", stop.decay_db = 60}
boundary = {x = "pml", y = "pec"}
[[load]]
position = ["-8 mm", "0 mm", "0 mm"]
size = ["0 mm", "10 mm", "0 mm"]
axis = "y"
resistance = "rl"
[[load]]
position = ["8 mm", "0 mm", "0 mm"]
size = ["0 mm", "10 mm", "0 mm"]
axis = "y"
resistance = ")" +
           std::string(second) + "\"\n" + like_ends + "derivatives = [\"rl\"]\n";
  };
  refused(loads("400 ohm"),
          {"E0642", "'rl' moves media otherwise than what the same_as of 'b' takes them to"});
  write("case.toml", loads("rl"));
  ASSERT_EQ(run_case("case.toml", "LIKE").code, 0);
  ASSERT_EQ(run_case("case.toml", "OWN", {"run.excite=[\"a\",\"b\"]"}).code, 0);
  const std::vector<double> like = column("LIKE", "s_parameters", "S_b_b_by_rl_re"),
                            own = column("OWN", "s_parameters", "S_b_b_by_rl_re");
  ASSERT_FALSE(own.empty());
  for (std::size_t f = 0; f < own.size(); ++f) {
    EXPECT_NEAR(like[f], own[f], 1e-3 * std::abs(own[f]));
    EXPECT_GT(std::abs(own[f]), 1e-7);
  }
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
           like_ends + "derivatives = [\"e\"]\n";
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
