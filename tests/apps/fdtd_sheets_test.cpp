// SPDX-License-Identifier: Apache-2.0
// [[sheet]]: lines that move to sheets, sheets that are shared, what they reflect, derivatives in
// their numbers, sheets that cannot be.
#include "fdtd_case.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <string>
#include <vector>

using namespace tessera::testing;

namespace {

using C = std::complex<double>;

/// A line of 60 cells of 5 mm between plates, open at its ends, with a port at both and a sheet
/// across it.
std::string sheet_case(const std::string& sheet) {
  return R"(app = "electromagnetics.fdtd"
[parameters]
r = "100 ohm"
[grid]
size = ["300 mm", "20 mm", "0 mm"]
cell = "5 mm"
polarization = "Hz"
[run]
precision = "f64"
stop.decay_db = 120
[boundary]
x = "pmc"
y = "pec"
[[material]]
name = "dense"
eps = 50
[[material]]
name = "metal"
poles = [{kind = "drude", frequency = "6 GHz", damping = "0.1 GHz"}]
[[port]]
kind = "lumped"
name = "left"
position = ["-150 mm", "0 mm", "0 mm"]
size = ["0 mm", "20 mm", "0 mm"]
direction = [0, 1, 0]
resistance = "7.53460626824 ohm"
[[port]]
kind = "lumped"
name = "right"
position = ["150 mm", "0 mm", "0 mm"]
size = ["0 mm", "20 mm", "0 mm"]
direction = [0, 1, 0]
resistance = "7.53460626824 ohm"
[s_parameters]
frequencies = ["0.2 GHz", "0.9 GHz"]
[[sheet]]
name = "film"
normal = "x"
)" + sheet;
}

TEST_F(Fdtd, SheetsShuntALine) {
  // Wherever it lies between two lines, 100 ohm a square reflect as the formula has it.
  for (const double place : {0.0, 1.5, 2.5, -2.3}) {
    write("case.toml", sheet_case("resistance = \"100 ohm\"\nposition = [\"" +
                                  std::to_string(place) + " mm\", \"0 mm\", \"0 mm\"]\n"));
    const Outcome check = tessera({"check", "case.toml"});
    EXPECT_EQ(check.code, 0) << check.out << check.err;
    EXPECT_EQ(holds(check.out + check.err, "is put on the sheet"), place != 0) << check.out;
    const Outcome run = run_case("case.toml", "RUN");
    ASSERT_EQ(run.code, 0) << run.err;
    const double y = 376.730313412 / 100, frequency[] = {0.2e9, 0.9e9};
    for (std::size_t f = 0; f < 2; ++f) {
      const auto s = [&](const std::string& name) {
        return C(column("RUN", "s_parameters", "S_" + name + "_re")[f],
                 column("RUN", "s_parameters", "S_" + name + "_im")[f]);
      };
      const double k = 2 * 3.14159265358979 * frequency[f] / 299792458.0;
      const C r = -y / (2 + y), there = std::polar(1.0, -2 * k * (0.15 + place / 1e3)),
              back = std::polar(1.0, -2 * k * (0.15 - place / 1e3)),
              through = 2 / (2 + y) * std::polar(1.0, -k * 0.3);
      EXPECT_LT(std::abs(s("left_left") - r * there), 4e-3) << place << " " << frequency[f];
      EXPECT_LT(std::abs(s("right_right") - r * back), 4e-3) << place << " " << frequency[f];
      EXPECT_LT(std::abs(s("right_left") - through), 4e-3) << place << " " << frequency[f];
    }
  }
}

TEST_F(Fdtd, SheetsHaveTheSameBitsOnRanks) {
  write("case.toml", sheet_case("material = \"metal\"\nthickness = \"0.25 mm\"\nposition = [\"1.5 "
                                "mm\", \"0 mm\", \"0 mm\"]\n"));
  ASSERT_EQ(run_case("case.toml", "RUN").code, 0);
  const Outcome cut =
      tessera({"run", "case.toml", "--output", "CUT", "--force", "--ranks", "threads:2"});
  ASSERT_EQ(cut.code, 0) << cut.err;
  EXPECT_EQ(table("RUN", "s_parameters"), table("CUT", "s_parameters"));
}

TEST_F(Fdtd, SDifferentiatesInTheResistanceOfASheet) {
  const std::string sheet = "resistance = \"r\"\nposition = [\"1.5 mm\", \"0 mm\", \"0 mm\"]\n";
  write("case.toml",
        changed(sheet_case(sheet), "[s_parameters]\n", "[s_parameters]\nderivatives = [\"r\"]\n"));
  const Outcome run = run_case("case.toml", "RUN");
  ASSERT_EQ(run.code, 0) << run.err;
  write("plain.toml", sheet_case(sheet));
  ASSERT_EQ(run_case("plain.toml", "LESS", {"parameters.r=\"99.9 ohm\""}).code, 0);
  ASSERT_EQ(run_case("plain.toml", "MORE", {"parameters.r=\"100.1 ohm\""}).code, 0);
  for (const std::string part : {"_re", "_im"})
    for (const std::string name : {"S_left_left", "S_right_left"}) {
      const std::vector<double> less = column("LESS", "s_parameters", name + part),
                                more = column("MORE", "s_parameters", name + part),
                                own = column("RUN", "s_parameters", name + "_by_r" + part);
      for (std::size_t f = 0; f < 2; ++f)
        EXPECT_NEAR(own[f], (more[f] - less[f]) / 0.2, 2e-3 / 500) << name << part;
    }
}

// A sheet between lines has one put on it, which goes along with it: no share between two lines.
TEST_F(Fdtd, SDifferentiatesInThePlaceOfASheet) {
  std::string sheet = "resistance = \"100 ohm\"\nposition = [\"p\", \"0 mm\", \"0 mm\"]\n";
  const auto text = [&](const std::string& more) {
    return changed(changed(sheet_case(sheet), "[s_parameters]\n", "[s_parameters]\n" + more),
                   "[parameters]\n", "[parameters]\np = \"1.3 mm\"\n");
  };
  write("case.toml", text("derivatives = [\"p\"]\n"));
  // At one time step: that of a shorter cell is another.
  const std::string step = "run.dt=\"1000 fs\"";
  const Outcome run = run_case("case.toml", "RUN", {step});
  ASSERT_EQ(run.code, 0) << run.err;
  write("plain.toml", text(""));
  ASSERT_EQ(run_case("plain.toml", "LESS", {step, "parameters.p=\"1.299 mm\""}).code, 0);
  ASSERT_EQ(run_case("plain.toml", "MORE", {step, "parameters.p=\"1.301 mm\""}).code, 0);
  double largest = 0, error = 0;
  for (const std::string part : {"_re", "_im"})
    for (const std::string name : {"S_left_left", "S_right_left"}) {
      const std::vector<double> less = column("LESS", "s_parameters", name + part),
                                more = column("MORE", "s_parameters", name + part),
                                own = column("RUN", "s_parameters", name + "_by_p" + part);
      for (std::size_t f = 0; f < 2; ++f) {
        largest = std::max(largest, std::abs(own[f]));
        error = std::max(error, std::abs(own[f] - (more[f] - less[f]) / 2e-6));
      }
    }
  EXPECT_GT(largest, 10);
  EXPECT_LT(error, 1e-4 * largest);
}

TEST_F(Fdtd, SheetsThatCannotBeAreRefused) {
  const std::string at = "position = [\"0 mm\", \"0 mm\", \"0 mm\"]\n";
  const auto refused = [&](const std::string& sheet, const std::string& key,
                           const std::string& words) {
    write("bad.toml", sheet_case(sheet));
    const Outcome check = tessera({"check", "bad.toml"});
    EXPECT_EQ(check.code, 5) << sheet;
    EXPECT_TRUE(holds(check.out + check.err, words)) << sheet << check.out << check.err;
    EXPECT_TRUE(holds(check.out + check.err, "bad.toml:")) << key;
  };
  refused(at, "sheet[0]", "is of nothing");
  refused(at + "resistance = \"5 ohm\"\nmaterial = \"dense\"\nthickness = \"1 mm\"\n", "sheet[0]",
          "at once");
  refused(at + "material = \"dense\"\n", "sheet[0]", "has a thickness");
  refused(at + "resistance = \"5 ohm\"\nthickness = \"1 mm\"\n", "sheet[0].thickness",
          "whatever the thickness");
  refused(at + "material = \"dens\"\nthickness = \"1 mm\"\n", "sheet[0].material",
          "there is no medium");
  refused(at + "material = \"pec\"\nthickness = \"1 mm\"\n", "sheet[0].material",
          "perfect conductor is a [[structure]]");
  refused(at + "material = \"dense\"\nthickness = \"6 mm\"\n", "sheet[0].thickness",
          "thicker than a cell");
  refused(at + "resistance = \"5 ohm\"\nsize = [\"1 mm\", \"4 mm\", \"0 mm\"]\n",
          "sheet[0].size[0]", "no size along its normal");
  refused(at + "resistance = \"5 ohm\"\nsize = [\"0 mm\", \"0 mm\", \"0 mm\"]\n",
          "sheet[0].size[1]", "has no width");
  refused("position = [\"400 mm\", \"0 mm\", \"0 mm\"]\nresistance = \"5 ohm\"\n",
          "sheet[0].position[0]", "outside of the domain");
  const std::string film = "material = \"dense\"\nthickness = \"4.5 mm\"\n";
  refused(at + film + "[[sheet]]\nnormal = \"x\"\n" + at + film, "sheet", "fill 1.8 times a cell");
  refused(at + "resistance = \"-5 ohm\"\n", "sheet[0].resistance", "above 0");
}

TEST_F(Fdtd, ASheetWhoseLineIsTakenIsSharedAndCheckSaysSo) {
  write("case.toml", sheet_case(R"(position = ["0 mm", "0 mm", "0 mm"]
resistance = "100 ohm"
[[sheet]]
normal = "x"
position = ["1 mm", "0 mm", "0 mm"]
resistance = "100 ohm"
)"));
  const Outcome check = tessera({"check", "case.toml"});
  EXPECT_EQ(check.code, 0) << check.out << check.err;
  EXPECT_TRUE(holds(check.out + check.err,
                    "another sheet lies on that line: it is shared between two lines"))
      << check.out << check.err;
}

/// Where cells have to be even, the nearest line stays and the sheet is shared; elsewhere it moves.
TEST_F(Fdtd, LinesStayWhereCellsHaveToBeEven) {
  const auto check = [&](const std::string& text) {
    write("even.toml", text);
    const Outcome o = tessera({"check", "even.toml"});
    EXPECT_EQ(o.code, 0) << text << o.err;
    return o.out + o.err;
  };
  const auto shared = [&](const std::string& text, const std::string& need) {
    const std::string said = check(text);
    EXPECT_TRUE(holds(said, "warning E0632") &&
                holds(said, "a line of the grid, and " + need + ": it is shared"))
        << need << said;
  };
  const std::string pulse =
      "waveform = {kind = \"gaussian\", frequency = \"193 THz\", bandwidth = \"40 THz\"}\n";
  const auto plane = [](const std::string& more) {
    return "app = \"electromagnetics.fdtd\"\nrun.stop.steps = 20\nboundary.pml.cells = 15\n" + more;
  };
  const auto sheet = [](const std::string& normal, const std::string& place) {
    return "[[sheet]]\nresistance = \"100 ohm\"\nnormal = \"" + normal + "\"\n" + place + "\n";
  };
  const std::string orders = plane(R"(boundary.x = "periodic"
grid = {size = ["1 um", "4 um", "0 um"], cell = "20 nm", polarization = "Ez"}
[[source]]
kind = "plane"
component = "Ez"
position = ["0 um", "1 um", "0 um"]
size = ["1 um", "0 um", "0 um"]
)") + pulse + R"([[monitor]]
kind = "orders"
name = "t"
position = ["0 um", "-1 um", "0 um"]
size = ["1 um", "0 um", "0 um"]
frequencies = ["193 THz"]
reverse = true
)";
  shared(orders + sheet("x", R"(position = ["0.113 um", "0 um", "0 um"]
size = ["0 um", "0.5 um", "inf"])"),
         "the orders of monitor 't' need even cells");
  EXPECT_TRUE(holds(check(orders + sheet("y", R"(position = ["0 um", "0.113 um", "0 um"])")),
                    "is put on the sheet"));

  const auto wave = [&](const std::string& direction) {
    return plane(
               "grid = {size = [\"4 um\", \"4 um\", \"0 um\"], cell = \"50 nm\", polarization = "
               "\"Ez\"}\n[[source]]\nkind = \"plane_wave\"\npolarization = [0, 0, 1]\ndirection "
               "= " +
               direction + "\n") +
           pulse + sheet("x", R"(position = ["0.013 um", "0 um", "0 um"]
size = ["0 um", "0.5 um", "inf"])");
  };
  shared(wave("[1, 1, 0]"), "source[0], a plane wave at an angle, needs even cells");
  EXPECT_TRUE(holds(check(wave("[1, 0, 0]")), "is put on the sheet"));

  const auto mode = [&](const std::string& x) {
    return plane(R"(grid = {size = ["4 um", "5 um", "0 um"], cell = "40 nm", polarization = "Hz"}
[[material]]
name = "silicon"
eps = 12
[[structure]]
shape = "box"
low = ["-inf", "-0.2 um", "-inf"]
high = ["inf", "0.2 um", "inf"]
material = "silicon"
[[source]]
kind = "mode"
position = ["-0.8 um", "0 um", "0 um"]
size = ["0 um", "2.4 um", "0 um"]
direction = [1, 0, 0]
)") + pulse +
           sheet("x", "position = [\"" + x + " um\", \"1.6 um\", \"0 um\"]\n" +
                          R"(size = ["0 um", "0.4 um", "inf"])");
  };
  shared(mode("-0.79"), "source[0] needs even cells at both sides of its plane");
  EXPECT_TRUE(holds(check(mode("0.01")), "is put on the sheet"));
}

/// A sheet on a magnetic wall carries the current of the field in front of it, all of it: it is the
/// load of as many ohm across the end of the line. On a mirror of a symmetry half of it is the
/// image's.
TEST_F(Fdtd, SheetsOnWallsCountWhole) {
  const std::string end = "\nposition = [\"150 mm\", \"0 mm\", \"0 mm\"]\n";
  const auto s = [&](const std::string& text, const std::string& element) {
    write("case.toml", text);
    const Outcome run = run_case("case.toml", "RUN");
    EXPECT_EQ(run.code, 0) << run.err;
    const std::vector<double> re = column("RUN", "s_parameters", "S_" + element + "_re"),
                              im = column("RUN", "s_parameters", "S_" + element + "_im");
    return std::vector<C>{{re.at(0), im.at(0)}, {re.at(1), im.at(1)}};
  };
  const auto sheet = [&](const std::string& what) {
    return sheet_case("").substr(0, sheet_case("").find("[[sheet]]")) +
           "[[sheet]]\nnormal = \"x\"\n" + what + end;
  };
  const auto load = [&](const std::string& what) {
    return sheet_case("").substr(0, sheet_case("").find("[[sheet]]")) +
           "[[load]]\naxis = \"y\"\nsize = [\"0 mm\", \"20 mm\", \"0 mm\"]\n" + what + end;
  };
  for (const char* element : {"left_left", "right_right", "right_left"}) {
    // 2 ohm m of a strip 1 m wide and 20 mm long.
    const auto film = s(sheet("resistance = \"100 ohm\""), element),
               circuit = s(load("resistance = \"2 ohm\""), element);
    // (50 - 1) eps0 0.5 mm over 20 mm.
    const auto dense = s(sheet("material = \"dense\"\nthickness = \"0.5 mm\""), element),
               capacitor = s(load("capacitance = \"10.8465 pF\""), element);
    for (std::size_t f = 0; f < 2; ++f) {
      EXPECT_NEAR(std::abs(film[f] - circuit[f]), 0, 1e-5) << element;
      EXPECT_NEAR(std::abs(dense[f] - capacitor[f]), 0, 1e-3) << element;
    }
  }
}

}  // namespace
