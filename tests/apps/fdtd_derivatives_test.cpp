// SPDX-License-Identifier: Apache-2.0
// `derivatives` of S and of monitors of transforms in R, L and C of ports and loads, in sheets and
// bodies: against central differences of whole runs, and against the formulas of a line.
#include "fdtd_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <map>
#include <numbers>
#include <string>
#include <vector>

using namespace tessera::testing;

namespace {

using C = std::complex<double>;
using Columns = std::map<std::string, std::vector<double>>;

const double z0_of_plates = 376.730313412 * 20e-3, light = 299792458.0;

/// A line of 40 cells of 5 mm between magnetic walls, two ports at its ends and a load across it.
/// Derivatives are those of runs of so many steps, whether these have died away or not.
std::string line_with_load() {
  return R"(app = "electromagnetics.fdtd"
[parameters]
r = "5 ohm"
l = "3 nH"
c = "40 pF"
r2 = "12 ohm"
c2 = "30 pF"
rl = "20 ohm"
ll = "2 nH"
cl = "25 pF"
[grid]
size = ["200 mm", "20 mm", "0 mm"]
cell = "5 mm"
polarization = "Hz"
[run]
precision = "f64"
stop.steps = 1500
[boundary]
x = "pmc"
y = "pec"
[[port]]
kind = "lumped"
name = "left"
position = ["-100 mm", "0 mm", "0 mm"]
size = ["0 mm", "20 mm", "0 mm"]
direction = [0, 1, 0]
resistance = "r"
inductance = "l"
capacitance = "c"
[[port]]
kind = "lumped"
name = "right"
position = ["100 mm", "0 mm", "0 mm"]
size = ["0 mm", "20 mm", "0 mm"]
direction = [0, 1, 0]
resistance = "r2"
capacitance = "c2"
circuit = "parallel"
[[load]]
name = "across"
position = ["20 mm", "0 mm", "0 mm"]
size = ["0 mm", "20 mm", "0 mm"]
axis = "y"
resistance = "rl"
inductance = "ll"
capacitance = "cl"
[s_parameters]
frequencies = ["0.2 GHz", "0.5 GHz", "0.9 GHz"]
)";
}

struct Value {
  const char* name;
  double at;
  const char* unit;
};
class FdtdDerivatives : public Fdtd {
 protected:
  /// Runs the case with derivatives in a parameter, and at values about it, by a share of `at`;
  /// returns the largest difference of `results`, over the largest derivative of each.
  double worst(const std::string& text, const std::string& parameter, double at,
               const std::string& unit, const std::vector<std::string>& results,
               double share = 1e-4) {
    write("own.toml", text);
    const Outcome own = run_small("own.toml", "OWN");
    EXPECT_EQ(own.code, 0) << own.err;
    EXPECT_FALSE(holds(own.out + own.err, "differ by")) << own.out + own.err;
    for (const auto& [run, by] : {std::pair("LESS", -share), {"MORE", share}}) {
      std::string plain = text;
      for (std::size_t k; (k = plain.find("\nderivatives = ")) != std::string::npos;)
        plain.erase(k, plain.find('\n', k + 1) - k);
      write("plain.toml", plain);
      const Outcome other = run_small("plain.toml", run,
                                      "parameters." + parameter + "=\"" + number(at * (1 + by)) +
                                          (unit.empty() ? "" : " " + unit) + "\"");
      EXPECT_EQ(other.code, 0) << other.err;
    }
    double out = 0;
    const std::string by = "_by_" + parameter;
    for (const std::string& result : results) {
      const Columns columns = csv_table(table("OWN", result)),
                    less = csv_table(table("LESS", result)),
                    more = csv_table(table("MORE", result));
      int found = 0;
      for (const auto& [name, slope] : columns) {
        const auto mark = name.find(by);
        if (mark == std::string::npos) continue;
        const char behind = (name + '_')[mark + by.size()];
        if (behind != '_') continue;  // of another parameter, whose name goes on
        const std::string of = name.substr(0, mark) + name.substr(mark + by.size());
        const std::vector<double>&a = less.at(of), &b = more.at(of);
        double most = 0, off = 0;
        for (std::size_t k = 0; k < slope.size(); ++k) {
          const double wanted = (b[k] - a[k]) / (2 * at * share * unit_of(unit));
          most = std::max({most, std::abs(slope[k]), std::abs(wanted)});
          off = std::max(off, std::abs(slope[k] - wanted));
        }
        ++found;
        if (off == 0) continue;
        // What does not change at all has differences of rounding.
        double size = 0;
        for (std::size_t k = 0; k < a.size(); ++k) size = std::max(size, std::abs(a[k]));
        const double share_of = off / std::max(most, 0.1 * size / (std::abs(at) * unit_of(unit)));
        out = std::max(out, share_of);
        if (share_of > 1e-5) ADD_FAILURE() << result << " " << name << ": " << share_of;
      }
      EXPECT_GT(found, 0) << result;
    }
    return out;
  }

 private:
  /// Cases of 160 cells go by one thread.
  Outcome run_small(const std::string& file, const std::string& name,
                    const std::string& setting = "output.pictures=false") {
    return tessera({"run", file, "--output", name, "--force", "--threads", "1", "--set",
                    "output.pictures=false", "--set", setting});
  }
  static std::string number(double x) {
    char out[40];
    std::snprintf(out, sizeof out, "%.17g", x);
    return out;
  }
  static double unit_of(const std::string& unit) {
    return unit == "nH" ? 1e-9 : unit == "pF" ? 1e-12 : unit == "mm" ? 1e-3 : 1;
  }
};

std::string with(std::string text, const std::string& behind, const std::string& more) {
  const auto at = text.find(behind);
  EXPECT_NE(at, std::string::npos) << behind;
  return text.insert(at + behind.size(), more);
}

const Value values_of_line[] = {{"r", 5, "ohm"},   {"l", 3, "nH"},   {"c", 40, "pF"},
                                {"r2", 12, "ohm"}, {"c2", 30, "pF"}, {"rl", 20, "ohm"},
                                {"ll", 2, "nH"},   {"cl", 25, "pF"}};

TEST_F(FdtdDerivatives, OfSInCircuitsAreThoseOfDifferences) {
  for (const auto& [name, at, unit] : values_of_line)
    EXPECT_LT(worst(with(line_with_load(), "[s_parameters]\n",
                         std::string("derivatives = [\"") + name + "\"]\n"),
                    name, at, unit, {"s_parameters"}),
              1e-6)
        << name;
}

/// S refers to what follows from r: the port itself, a reference of all, an impedance of its own;
/// of some columns, too, and of pseudo waves.
TEST_F(FdtdDerivatives, OfSFollowTheImpedancesThatMove) {
  const std::string text = with(line_with_load(), "[s_parameters]\n", "derivatives = [\"r\"]\n");
  for (const std::string& by :
       {std::string("reference = \"2*r + 1 ohm\"\n"), std::string("waves = \"pseudo\"\n")})
    EXPECT_LT(worst(with(text, "[s_parameters]\n", by), "r", 5, "ohm", {"s_parameters"}), 1e-6)
        << by;
  for (const std::string& by : {std::string("impedance = \"7 ohm\"\n"),
                                std::string("impedance = \"3*r\"\nreactance = \"r\"\n")})
    EXPECT_LT(worst(with(text, "name = \"left\"\n", by), "r", 5, "ohm", {"s_parameters"}), 1e-6)
        << by;
  // A port that is not driven sends back by its circuit.
  for (const auto& [name, at, unit] : {Value{"r", 5, "ohm"}, {"l", 3, "nH"}, {"c", 40, "pF"}})
    EXPECT_LT(worst(changed(with(text, "[run]\n", "excite = [\"right\"]\n"), "[\"r\"]",
                            std::string("[\"") + name + "\"]"),
                    name, at, unit, {"s_parameters"}),
              1e-6)
        << name;
}

/// dGamma/dR = 2 Z0 / (Z + Z0)^2 of a load that ends a line, seen by a port behind the line.
TEST_F(FdtdDerivatives, OfALoadAreThoseOfItsFormula) {
  std::string text = line_with_load();
  const auto second = text.find("[[port]]", text.find("[[port]]") + 1),
             load = text.find("[[load]]");
  text.erase(second, load - second);
  text = changed(text, "position = [\"20 mm\"", "position = [\"100 mm\"");
  text = changed(text, "resistance = \"r\"\ninductance = \"l\"\ncapacitance = \"c\"\n",
                 "resistance = \"5 ohm\"\n");
  text = changed(text, "capacitance = \"cl\"\n", "");
  text = with(text, "[s_parameters]\n", "derivatives = [\"rl\", \"ll\"]\n");
  write("case.toml", changed(text, "stop.steps = 1500", "stop.decay_db = 120"));
  const Outcome run = run_case("case.toml", "RUN");
  ASSERT_EQ(run.code, 0) << run.err;
  const double frequency[] = {0.2e9, 0.5e9, 0.9e9};
  for (std::size_t f = 0; f < 3; ++f) {
    const double w = 2 * std::numbers::pi * frequency[f];
    const C t(0, std::tan(w / light * 0.2)), z(20, w * 2e-9),
        z0 = z0_of_plates, below = z0 + z * t, seen = z0 * (z + z0 * t) / below,
        by_z =
            z0 * z0 * (1.0 - t * t) / (below * below) * 2.0 * 5.0 / ((seen + 5.0) * (seen + 5.0));
    for (const auto& [name, dz] : {std::pair("rl", C(1)), {"ll", C(0, w)}}) {
      const std::string column_name = std::string("S_left_left_by_") + name;
      const C found(column("RUN", "s_parameters", column_name + "_re")[f],
                    column("RUN", "s_parameters", column_name + "_im")[f]);
      EXPECT_LT(std::abs(found - by_z * dz), 5e-3 * std::abs(by_z * dz)) << name << frequency[f];
    }
  }
}

/// Fluxes, fields and modes beside a sheet, in its resistance, in the end of a block, and in R of
/// the port that drives, whose source moves with it; per watt, too.
TEST_F(FdtdDerivatives, OfMonitorsAreThoseOfDifferences) {
  const std::string monitors = R"([[sheet]]
normal = "x"
position = ["-10 mm", "0 mm", "0 mm"]
resistance = "rs"
[[material]]
name = "board"
eps = 3
[[structure]]
shape = "box"
material = "board"
low = ["-65 mm", "-inf", "-inf"]
high = ["at", "inf", "inf"]
[[monitor]]
kind = "flux"
name = "through"
position = ["60 mm", "0 mm", "0 mm"]
size = ["0 mm", "20 mm", "0 mm"]
frequencies = ["0.2 GHz", "0.9 GHz"]
relative_to = "before"
derivatives = ["rs", "at", "r", "cl"]
[[monitor]]
kind = "flux"
name = "before"
position = ["-80 mm", "0 mm", "0 mm"]
size = ["0 mm", "20 mm", "0 mm"]
frequencies = ["0.2 GHz", "0.9 GHz"]
[[monitor]]
kind = "dft"
name = "field"
components = ["Ey", "Hz"]
position = ["-30 mm", "0 mm", "0 mm"]
frequencies = ["0.2 GHz", "0.5 GHz"]
derivatives = ["rs", "at", "r", "cl"]
[[monitor]]
kind = "mode"
name = "waves"
position = ["-30 mm", "0 mm", "0 mm"]
size = ["0 mm", "20 mm", "0 mm"]
frequencies = ["0.2 GHz", "0.5 GHz"]
relative_to = "waves0"
derivatives = ["rs", "at", "r", "cl"]
[[monitor]]
kind = "mode"
name = "waves0"
reverse = true
position = ["60 mm", "0 mm", "0 mm"]
size = ["0 mm", "20 mm", "0 mm"]
frequencies = ["0.2 GHz", "0.5 GHz"]
)";
  const std::string text =
      with(line_with_load(), "[parameters]\n", "rs = \"30 ohm\"\nat = \"-51.3 mm\"\n") + monitors;
  const Value values[] = {
      {"rs", 30, "ohm"}, {"at", -51.3, "mm"}, {"r", 5, "ohm"}, {"cl", 25, "pF"}};
  for (const std::string watt : {"no", "accepted"})
    for (const auto& [name, at, unit] : values)
      EXPECT_LT(
          worst(with(text, "[s_parameters]\n", "per_watt = \"" + watt + "\"\n"), name, at, unit,
                {"through.left", "field.left", "waves.left", "through.right", "field.right"}),
          name == std::string("at") ? 1e-5 : 1e-6)
          << name << " " << watt;
  // Of the wave at a reference that moves, too.
  EXPECT_LT(worst(with(text, "[s_parameters]\n",
                       "per_watt = \"incident\"\nreference = \"2*r + 1 ohm\"\n"),
                  "r", 5, "ohm", {"field.left", "through.right"}),
            1e-6);
}

/// A cylinder of glass beside a strip of a resistive sheet in a plane wave, in two dimensions.
TEST_F(FdtdDerivatives, OfFarFieldsWithASheetAreThoseOfDifferences) {
  const std::string text = R"(app = "electromagnetics.fdtd"
[parameters]
rs = "80 ohm"
radius = "9.1 mm"
n = "1.5"
[grid]
size = ["120 mm", "120 mm", "0 mm"]
cell = "2 mm"
polarization = "Ez"
[run]
precision = "f64"
stop.steps = 700
[boundary]
pml.cells = 8
[[material]]
name = "glass"
index = "n"
[[structure]]
shape = "cylinder"
material = "glass"
axis = "z"
centre = ["5 mm", "1 mm", "0 mm"]
radius = "radius"
height = "inf"
[[sheet]]
normal = "x"
position = ["-12 mm", "0 mm", "0 mm"]
size = ["0 mm", "21 mm", "0 mm"]
resistance = "rs"
[[source]]
kind = "plane_wave"
position = ["0 mm", "0 mm", "0 mm"]
size = ["60 mm", "60 mm", "0 mm"]
direction = [1, 0, 0]
polarization = [0, 0, 1]
waveform = {kind = "gaussian", frequency = "8 GHz", bandwidth = "6 GHz"}
[[monitor]]
kind = "rcs"
name = "echo"
position = ["0 mm", "0 mm", "0 mm"]
size = ["80 mm", "80 mm", "0 mm"]
frequencies = ["6 GHz", "9 GHz"]
angle_points = [1, 6]
derivatives = ["rs", "radius", "n"]
[[monitor]]
kind = "far_field"
name = "far"
position = ["0 mm", "0 mm", "0 mm"]
size = ["80 mm", "80 mm", "0 mm"]
frequencies = ["6 GHz", "9 GHz"]
angle_points = [1, 6]
derivatives = ["rs", "radius", "n"]
)";
  const Value values[] = {{"rs", 80, "ohm"}, {"radius", 9.1, "mm"}, {"n", 1.5, ""}};
  for (const auto& [name, at, unit] : values)
    EXPECT_LT(worst(text, name, at, unit, {"echo", "far"}), 1e-5) << name;
}

TEST_F(FdtdDerivatives, ThatCannotBeAreRefused) {
  const auto refused = [&](const std::string& text, const std::string& key,
                           const std::string& words) {
    write("bad.toml", text);
    const Outcome check = tessera({"check", "bad.toml"});
    EXPECT_EQ(check.code, 5) << check.out;
    EXPECT_TRUE(holds(check.out + check.err, words)) << words << "\n" << check.out << check.err;
    EXPECT_TRUE(holds(check.out + check.err, "E0642")) << key << check.err;
  };
  // A load in the edges of a port is part of what tells its current.
  refused(changed(with(line_with_load(), "[s_parameters]\n", "derivatives = [\"rl\"]\n"),
                  "position = [\"20 mm\"", "position = [\"100 mm\""),
          "s_parameters.derivatives", "has a part in the edges of the port 'right'");
  // Ports that are alike have circuits that move alike.
  std::string alike = with(line_with_load(), "[s_parameters]\n", "derivatives = [\"r\"]\n");
  alike = changed(
      alike, "resistance = \"r2\"\ncapacitance = \"c2\"\ncircuit = \"parallel\"\n",
      "resistance = \"5 ohm\"\ninductance = \"l\"\ncapacitance = \"c\"\nsame_as = \"left\"\n");
  refused(alike, "s_parameters.derivatives", "by the same_as of 'right'");
  // A mode is what it was.
  refused(with(line_with_load(), "[s_parameters]\n", "") + R"([[monitor]]
kind = "mode"
name = "waves"
position = ["25 mm", "0 mm", "0 mm"]
size = ["0 mm", "20 mm", "0 mm"]
frequencies = ["0.2 GHz"]
derivatives = ["rl"]
)",
          "monitor[0].derivatives", "within two cells of its plane");
}

/// A box in two dimensions with a point source and one more monitor, in [parameters] p = 1.
std::string driven_box(const std::string& component, const std::string& grid,
                       const std::string& material, const std::string& monitor) {
  return R"(app = "electromagnetics.fdtd"
[parameters]
p = 1.0
[grid]
size = ["2 um", "2 um", "0 um"]
cell = "50 nm"
)" + grid +
         R"(polarization = ")" + component + R"("
[run]
stop.steps = 200
[boundary]
pml.cells = 8
[[material]]
name = "core"
)" + material +
         R"([[structure]]
shape = "box"
centre = ["0.2 um", "0 um", "0 um"]
size = ["0.6 um", "0.8 um", "inf"]
material = "core"
[[source]]
kind = "point"
component = ")" +
         component + R"("
position = ["0.125 um", "0.025 um", "0 um"]
waveform = {kind = "gaussian", frequency = "200 THz", bandwidth = "120 THz"}
[[monitor]]
name = "m"
frequencies = ["180 THz", "220 THz"]
derivatives = ["p"]
)" + monitor;
}

/// The media of steps follow eps and sigma by the correction, which derivatives do not know.
TEST_F(FdtdDerivatives, OfMediaAtTheirExactSpeedAreRefused) {
  const std::string flux =
                        "kind = \"flux\"\nposition = [\"0.575 um\", \"0 um\", \"0 um\"]\n"
                        "size = [\"0 um\", \"1 um\", \"0 um\"]\n",
                    exact = "exact_speed_at = \"200 THz\"\n";
  const auto checked = [&](const std::string& grid, const std::string& material) {
    write("case.toml", driven_box("Ez", grid, material, flux));
    return tessera({"check", "case.toml"});
  };
  const std::string lossy = "eps = 3\nsigma = \"p * 2e4 S/m\"\n", dense = "eps = \"3 * p\"\n";
  const Outcome of_sigma = checked(exact, lossy), of_eps = checked(exact, dense);
  EXPECT_EQ(of_sigma.code, 5) << of_sigma.out;
  EXPECT_TRUE(holds(of_sigma.err, "moves a conductivity, which grid.exact_speed_at corrects"))
      << of_sigma.err;
  EXPECT_EQ(of_eps.code, 5) << of_eps.out;
  EXPECT_TRUE(holds(of_eps.err, "moves a permittivity, which grid.exact_speed_at corrects"))
      << of_eps.err;
  EXPECT_EQ(checked("", lossy).code, 0);
}

/// What a current gives in the medium at its place alone goes by the permittivity there, of an
/// electric and of a magnetic one.
TEST_F(FdtdDerivatives, OfAPurcellFactorInTheMediumThatMovesAreRefused) {
  const auto checked = [&](const std::string& component, const std::string& x) {
    write("case.toml", changed(driven_box(component, "", "eps = \"3 * p\"\n", "kind = \"ldos\"\n"),
                               "position = [\"0.125 um\"", "position = [\"" + x + "\""));
    return tessera({"check", "case.toml"});
  };
  for (const char* component : {"Ez", "Hz"}) {
    const Outcome within = checked(component, "0.125 um"), beside = checked(component, "-0.375 um");
    EXPECT_EQ(within.code, 5) << component << within.out;
    EXPECT_TRUE(holds(within.err, "monitor[0].derivatives") || holds(within.err, "derivatives ="))
        << within.err;
    EXPECT_TRUE(holds(within.err, "move its source two cells away")) << within.err;
    EXPECT_EQ(beside.code, 0) << component << beside.err;
  }
}

}  // namespace
