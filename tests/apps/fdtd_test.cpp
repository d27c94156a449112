// SPDX-License-Identifier: Apache-2.0
// electromagnetics.fdtd as its users meet it: from the example to results, killed and resumed,
// refused.
#include "app_test.h"
#include "test_paths.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>
#include <thread>
#include <vector>

using namespace tessera::testing;
namespace fs = std::filesystem;

namespace {

class Fdtd : public AppTest {};

/// A conductor, a metal film, glass and a lossy body in two dimensions, with a monitor of nearly
/// every kind.
const char* const kCase = R"(app = "electromagnetics.fdtd"
[grid]
size = ["4 um", "3 um", "0 um"]
cell = "50 nm"
[run]
precision = "f32"
stop.steps = 3000
[boundary]
y_low = "pec"
[boundary.pml]
cells = 8
[[material]]
name = "metal"
poles = [{kind = "drude", frequency = "300 THz", damping = "10 THz"}]
[[material]]
name = "wet"
eps = 4
sigma = "2000 S/m"
[[structure]]
shape = "box"
low = ["0.5 um", "-inf", "-inf"]
high = ["0.8 um", "inf", "inf"]
material = "metal"
[[structure]]
shape = "cylinder"
centre = ["-0.7 um", "0.5 um", "0 um"]
radius = "0.4 um"
height = "inf"
material = "wet"
[[source]]
kind = "point"
name = "line"
component = "Ez"
position = ["-1.2 um", "-0.3 um", "0 um"]
waveform = {kind = "gaussian", frequency = "200 THz", bandwidth = "150 THz"}
[[monitor]]
kind = "probe"
name = "behind"
position = ["1.2 um", "0.2 um", "0 um"]
[[monitor]]
kind = "flux"
name = "through"
position = ["1.2 um", "0 um", "0 um"]
size = ["0 um", "2 um", "0 um"]
frequency_min = "150 THz"
frequency_max = "250 THz"
frequency_points = 5
[[monitor]]
kind = "dft"
name = "plane"
size = ["4 um", "3 um", "0 um"]
frequencies = ["200 THz"]
[[monitor]]
kind = "ldos"
name = "purcell"
frequencies = ["200 THz"]
[[monitor]]
kind = "far_field"
name = "far"
position = ["0 um", "0 um", "0 um"]
size = ["3 um", "2 um", "0 um"]
frequencies = ["200 THz"]
[[monitor]]
kind = "energy"
name = "stored"
frequencies = ["200 THz"]
[[monitor]]
kind = "snapshot"
name = "film"
size = ["4 um", "3 um", "0 um"]
components = ["Ez"]
every = "100 fs"
)";

TEST_F(Fdtd, TheExampleMeetsItsExpectations) {
  ASSERT_EQ(tessera({"new", "electromagnetics.fdtd", "ring"}).code, 0);
  const Outcome check = tessera({"check", "ring/ring.toml"});
  EXPECT_EQ(check.code, 0) << check.err;
  EXPECT_TRUE(holds(check.out, "precision f32"));
  EXPECT_EQ(tessera({"estimate", "ring/ring.toml"}).code, 0);
  const Outcome run = tessera({"run", "ring/ring.toml", "--output", "RUN"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(holds(run.err, "precision f32"));
  for (const char* name : {"metrics.csv", "results.h5", "tables/modes.csv", "plots/field_0001.png",
                           "plots/modes.png", "plots/scene.png", "resolved.toml"})
    EXPECT_TRUE(fs::exists(here() / "RUN" / name)) << name;
  // The pictures drawn anew from results.h5 are the same.
  const std::string before = read("RUN/plots/field_0001.png");
  fs::remove(here() / "RUN/plots/field_0001.png");
  EXPECT_EQ(tessera({"plot", "RUN"}).code, 0);
  EXPECT_EQ(read("RUN/plots/field_0001.png"), before);
  expect_files_known("RUN");
  // An expectation that is not met is exit 6.
  EXPECT_EQ(
      tessera({"run", "ring/ring.toml", "--output", "R2", "--set", "expect[0].value=3.6e13"}).code,
      6);
}

TEST_F(Fdtd, KilledAndResumedItIsTheSameOnAnyNumberOfThreads) {
  write("case.toml", kCase);
  expect_same_after_kill("0.02 s");
  EXPECT_TRUE(results("whole").contains("tables/through.csv"));
}

TEST_F(Fdtd, AnEditedCaseIsNotGoneOnWith) {
  write("case.toml", kCase);
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "RUN", "--max-time", "10 ms", "--set",
                     "run.stop.steps=100000000"})
                .code,
            75);
  expect_edit_refused("RUN", "\ncourant = ", "\ncourant = 0.", "run.courant=0.3");
  const Outcome o = tessera({"resume", "RUN", "--set", "run.stop.steps=1"});
  EXPECT_EQ(o.code, 5);
  EXPECT_TRUE(holds(o.err, "error E0436: the run is at step")) << o.err;
}

TEST_F(Fdtd, ALongerRunIsARunOfThatLength) {
  write("case.toml", kCase);
  expect_same_after_extension("run.stop.steps=701", "run.stop.steps=1302");
}

/// Every kind of monitor that kCase has, along permittivities of glass and the strength of the
/// source; and what is checked is what is run: the size of the flux is that of the table.
TEST_F(Fdtd, DerivativesOfMonitorsVerify) {
  std::string text = kCase;
  text.replace(text.find("sigma = \"2000 S/m\""), 18, "mu = 1");
  text.replace(text.find("\"50 nm\""), 7, "\"0.1 um\"");
  write("case.toml", text);
  const std::vector<std::string> shorter{
      "--set", "run.stop.steps=250",    "--set",     "monitor[6].every=10fs",
      "--set", "run.precision=\"f64\"", "--threads", "1"};
  const auto with = [&](std::vector<std::string> first) {
    first.insert(first.end(), shorter.begin(), shorter.end());
    return tessera(first);
  };
  const Outcome o = with({"gradcheck", "case.toml", "--json", "-q"});
  ASSERT_EQ(o.code, 0) << o.out << o.err;
  const auto j = nlohmann::json::parse(o.out);
  EXPECT_EQ(j["checks"].size(), 14u);
  double flux = 0;
  for (const auto& check : j["checks"]) {
    EXPECT_LE(check["adjoint_identity"], 1e-13) << check;
    if (check["parameters"] == "permittivity" && check["slope_1"].is_number()) {
      EXPECT_NEAR(check["slope_1"], 2, 0.1) << check;
    }
    if (check["result"] == "through flux") flux = check["size"];
  }
  ASSERT_EQ(with({"run", "case.toml", "--output", "RUN"}).code, 0);
  std::istringstream table(read("RUN/tables/through.csv"));
  double sum = 0;
  for (std::string line; std::getline(table, line);)
    if (std::isdigit(static_cast<unsigned char>(line[0])))
      sum += std::pow(std::stod(line.substr(line.find(',') + 1)), 2);
  EXPECT_NEAR(flux, std::sqrt(sum), 1e-9 * flux);
}

/// A source and a probe 1 um apart, glass 3 um away.
TEST_F(Fdtd, WhatNothingDependsOnIsNotCalledRight) {
  write("line.toml", R"(app = "electromagnetics.fdtd"
grid = {size = ["10 um", "0 um", "0 um"], cell = "50 nm"}
structure = [{shape = "box", low = ["4 um", "-inf", "-inf"], high = ["4.5 um", "inf", "inf"], material = "glass"}]
material = [{name = "glass", eps = 2.25}]
[run]
stop.steps = 60
[[source]]
kind = "point"
component = "Ez"
position = ["0 um", "0 um", "0 um"]
waveform = {kind = "gaussian", frequency = "200 THz", bandwidth = "400 THz"}
[[monitor]]
kind = "probe"
name = "near"
position = ["1 um", "0 um", "0 um"]
components = ["Ez"]
)");
  const Outcome o = tessera({"gradcheck", "line.toml", "-q"});
  EXPECT_EQ(o.code, 0) << o.out << o.err;
  EXPECT_TRUE(holds(o.out, "not tested: permittivity, on which no result depends")) << o.out;
  const Outcome none = tessera({"gradcheck", "line.toml", "-q", "--set", "run.stop.steps=5"});
  EXPECT_EQ(none.code, 6) << none.out;
  EXPECT_TRUE(holds(none.out, "there was nothing to check")) << none.out;
}

TEST_F(Fdtd, NonlinearMediaHaveNoDerivatives) {
  std::string text = kCase;
  text.replace(text.find("sigma = \"2000 S/m\""), 18, "chi3 = \"1e-20 m^2/V^2\"");
  write("case.toml", text);
  const Outcome o = tessera({"gradcheck", "case.toml"});
  EXPECT_EQ(o.code, 5) << o.out;
  EXPECT_TRUE(holds(o.err, "E0642")) << o.err;
}

/// Without losses a mode grows as often as it decays, by rounding: neither is left out. One
/// polarization of the plane, with a flux that would need the other, too.
TEST_F(Fdtd, ModesOfALosslessBoxAreAllTold) {
  write("box.toml", R"(app = "electromagnetics.fdtd"
grid = {centre = ["1.5 um", "1 um", "0 um"], size = ["3 um", "2 um", "0 um"], cell = "0.1 um", polarization = "Ez"}
run = {precision = "f64", stop.after_sources = "0.6 ps"}
boundary = {x = "pec", y = "pec"}
[[source]]
kind = "point"
component = "Ez"
position = ["0.5 um", "0.3 um", "0 um"]
waveform = {kind = "gaussian", frequency_min = "60 THz", frequency_max = "260 THz"}
[[monitor]]
kind = "resonances"
name = "modes"
position = ["2.2 um", "1.3 um", "0 um"]
frequency_min = "60 THz"
frequency_max = "220 THz"
[[monitor]]
kind = "flux"
name = "through"
position = ["1.5 um", "1 um", "0 um"]
size = ["0 um", "2 um", "0 um"]
frequencies = ["100 THz"]
)");
  const Outcome run = tessera({"run", "box.toml", "--output", "RUN"});
  ASSERT_EQ(run.code, 0) << run.err;
  // (sin(pi f dt)/(c dt))^2 = sum of (sin(pi m d/(2 L))/d)^2, dt = 0.95 d/(c sqrt 2)
  const double pi = std::numbers::pi, d = 1e-7, c = 299792458,
               dt = 0.95 * d / c / std::numbers::sqrt2;
  std::vector<double> wanted;
  for (int m = 1; m < 6; ++m)
    for (int n = 1; n < 6; ++n) {
      const double f =
          std::asin(c * dt * std::hypot(std::sin(pi * m / 60) / d, std::sin(pi * n / 40) / d)) /
          (pi * dt);
      if (f < 220e12) wanted.push_back(f);
    }
  std::sort(wanted.begin(), wanted.end());
  std::vector<double> found;
  std::istringstream table(read("RUN/tables/modes.csv"));
  std::string line;
  for (std::getline(table, line); std::getline(table, line);)
    found.push_back(std::stod(line.substr(line.find(',') + 1)));
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t k = 0; k < wanted.size(); ++k)
    EXPECT_NEAR(found[k], wanted[k], 1e-9 * wanted[k]) << k;
}

/// Column `name` of a table.
std::vector<double> column_of(const std::string& csv, const std::string& name) {
  std::istringstream in(csv);
  std::string line, cell;
  std::getline(in, line);
  std::istringstream header(line);
  int at = 0;
  for (; std::getline(header, cell, ',') && cell != name; ++at) {
  }
  std::vector<double> out;
  while (std::getline(in, line)) {
    std::istringstream cells(line);
    for (int i = 0; i <= at; ++i) std::getline(cells, cell, ',');
    out.push_back(std::stod(cell));
  }
  return out;
}

/// A box, half of it glass: each mode has Ex, Ey and Hz, and is one.
TEST_F(Fdtd, AModeCountsOnceWhateverItsComponents) {
  const std::string text = R"(app = "electromagnetics.fdtd"
output = {vtk = false, pictures = false, scene = false}
grid = {centre = ["1.5 um", "1 um", "0 um"], size = ["3 um", "2 um", "0 um"], cell = "0.1 um", polarization = "Hz"}
run.stop.after_sources = "0.6 ps"
boundary = {x = "pec", y = "pec"}
[[material]]
name = "glass"
eps = 2.25
[[structure]]
shape = "box"
low = ["-inf", "-inf", "-inf"]
high = ["1.5 um", "inf", "inf"]
material = "glass"
[[source]]
kind = "point"
component = "Ey"
position = ["0.5 um", "0.3 um", "0 um"]
waveform = {kind = "gaussian", frequency_min = "40 THz", frequency_max = "200 THz"}
[[source]]
kind = "point"
component = "Ex"
position = ["0.5 um", "0.3 um", "0 um"]
waveform = {kind = "gaussian", frequency_min = "40 THz", frequency_max = "200 THz"}
[[monitor]]
kind = "resonances"
name = "all"
position = ["2.2 um", "1.3 um", "0 um"]
components = ["Ex", "Ey", "Hz"]
frequency_min = "30 THz"
frequency_max = "173 THz"
[[monitor]]
kind = "resonances"
name = "hz"
position = ["2.2 um", "1.3 um", "0 um"]
components = ["Hz"]
frequency_min = "30 THz"
frequency_max = "173 THz"
[[monitor]]
kind = "resonances"
name = "four"
position = ["2.2 um", "1.3 um", "0 um"]
components = ["Ex", "Ey", "Hz"]
frequency_min = "30 THz"
frequency_max = "173 THz"
max_modes = 4
)";
  for (const char* precision : {"f64", "f32"}) {
    write("box.toml", text);
    const Outcome o = tessera({"run", "box.toml", "--output", "RUN", "--force", "--set",
                               std::string("run.precision=\"") + precision + "\""});
    ASSERT_EQ(o.code, 0) << o.err;
    const auto all = column_of(read("RUN/tables/all.csv"), "frequency"),
               hz = column_of(read("RUN/tables/hz.csv"), "frequency"),
               four = column_of(read("RUN/tables/four.csv"), "frequency");
    ASSERT_EQ(all.size(), 14u) << precision;
    ASSERT_EQ(hz.size(), 14u) << precision;
    for (std::size_t k = 0; k < all.size(); ++k) EXPECT_NEAR(all[k] / hz[k], 1, 1e-6) << precision;
    ASSERT_EQ(four.size(), 4u) << precision;
    for (std::size_t k = 1; k < 4; ++k) EXPECT_GT(four[k], 1.001 * four[k - 1]) << precision;
  }
}

/// Modes of a half open box with a leaning bar, whose tensors move, against two more runs for each
/// length.
TEST_F(Fdtd, ResonancesMoveWithLengthsAsTheirDerivativesSay) {
  write("bar.toml", R"(app = "electromagnetics.fdtd"
grid = {centre = ["0 um", "0.5 um", "0 um"], size = ["3 um", "3 um", "0 um"], cell = "0.1 um", polarization = "Hz"}
run = {precision = "f64", stop.after_sources = "0.4 ps"}
boundary = {x = "pec", y_low = "pec", y_high = "pml", pml.cells = 10}
[[material]]
name = "glass"
eps = 6
[[structure]]
shape = "box"
name = "bar"
centre = ["0.11 um", "-0.32 um", "0 um"]
size = ["1.57 um", "0.73 um", "inf"]
rotate = {angle = "17 deg", about = ["0 um", "0 um", "0 um"]}
material = "glass"
[[source]]
kind = "point"
component = "Hz"
position = ["-1.2 um", "-0.7 um", "0 um"]
waveform = {kind = "gaussian", frequency_min = "40 THz", frequency_max = "100 THz"}
[[monitor]]
kind = "resonances"
name = "modes"
position = ["-1.1 um", "-0.8 um", "0 um"]
frequency_min = "40 THz"
frequency_max = "90 THz"
min_quality = 30
derivatives = ["bar.size[0]", "bar.centre[1]"]
)");
  const Outcome run = tessera({"run", "bar.toml", "--output", "RUN"});
  ASSERT_EQ(run.code, 0) << run.err;
  const std::string base = read("RUN/tables/modes.csv");
  const struct {
    const char *name, *key, *below, *above;
  } moves[] = {{"bar.size[0]", "structure[0].size", "[\"1569.98 nm\", \"0.73 um\", \"inf\"]",
                "[\"1570.02 nm\", \"0.73 um\", \"inf\"]"},
               {"bar.centre[1]", "structure[0].centre", "[\"0.11 um\", \"-320.02 nm\", \"0 um\"]",
                "[\"0.11 um\", \"-319.98 nm\", \"0 um\"]"}};
  for (const auto& m : moves) {
    std::vector<std::string> ends;
    for (const char* value : {m.below, m.above}) {
      const Outcome moved =
          tessera({"run", "bar.toml", "--output", "M", "--force", "--set",
                   std::string(m.key) + "=" + value, "--set", "monitor[0].derivatives=[]"});
      ASSERT_EQ(moved.code, 0) << moved.err;
      ends.push_back(read("M/tables/modes.csv"));
    }
    for (const std::string quantity : {"frequency", "decay"}) {
      const auto derivative = column_of(base, quantity + "_by_" + m.name),
                 below = column_of(ends[0], quantity), above = column_of(ends[1], quantity);
      ASSERT_GE(derivative.size(), 2u);
      ASSERT_EQ(below.size(), derivative.size());
      ASSERT_EQ(above.size(), derivative.size());
      for (std::size_t k = 0; k < derivative.size(); ++k)
        EXPECT_NEAR((above[k] - below[k]) / 4e-11 / derivative[k], 1, 1e-5)
            << m.name << " " << quantity << " " << k;
    }
  }
  const Outcome unknown =
      tessera({"check", "bar.toml", "--set", "monitor[0].derivatives=[\"bar.radius\"]"});
  EXPECT_EQ(unknown.code, 5);
  EXPECT_TRUE(holds(unknown.err, "E0625")) << unknown.err;
  const Outcome metal = tessera({"check", "bar.toml", "--set", "structure[0].material=\"pec\""});
  EXPECT_EQ(metal.code, 5);
  EXPECT_TRUE(holds(metal.err, "E0642")) << metal.err;
}

/// Total scattering width of a cylinder of index n and radius a for E along it: (4/k) sum |c_m|^2,
/// the coefficients from continuous E and H at its surface (C. F. Bohren, D. R. Huffman, Absorption
/// and Scattering of Light by Small Particles, 8.4).
double cylinder_width(double frequency, double a, double n) {
  const double k = 2 * std::numbers::pi * frequency / 299792458.0, x = k * a, y = n * x;
  const auto derivative = [](auto&& f, int m, double at) {
    return m == 0 ? -f(1, at) : (f(m - 1, at) - f(m + 1, at)) / 2;
  };
  const auto j = [](int m, double at) { return std::cyl_bessel_j(m, at); };
  const auto y_ = [](int m, double at) { return std::cyl_neumann(m, at); };
  double sum = 0;
  for (int m = 0; m < 16; ++m) {
    const double inner = j(m, y), inner_derivative = n * derivative(j, m, y);
    const double real = j(m, x) * inner_derivative - derivative(j, m, x) * inner,
                 imaginary = y_(m, x) * inner_derivative - derivative(y_, m, x) * inner;
    sum += (m == 0 ? 1 : 2) * real * real / (real * real + imaginary * imaginary);
  }
  return 4 / k * sum;
}

/// The columns of a table in the run's folder, [row][column].
std::vector<std::vector<double>> numbers_of(const std::string& csv) {
  std::istringstream in(csv);
  std::vector<std::vector<double>> rows;
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::istringstream cells(line);
    rows.emplace_back();
    for (std::string cell; std::getline(cells, cell, ',');) rows.back().push_back(std::stod(cell));
  }
  return rows;
}

TEST_F(Fdtd, APlaneWaveIsScatteredAsBySeries) {
  write("case.toml", R"(app = "electromagnetics.fdtd"
[grid]
size = ["1.2 m", "1.2 m", "0 m"]
cell = "10 mm"
polarization = "Ez"
[run]
precision = "f64"
stop.time = "40 ns"
[[material]]
name = "glass"
eps = 4
[[structure]]
shape = "cylinder"
radius = "0.2 m"
height = "inf"
material = "glass"
[[source]]
kind = "plane_wave"
direction = [1.0, 0.5, 0.0]
polarization = [0.0, 0.0, 1.0]
amplitude = 2.0
waveform = {kind = "gaussian", frequency = "400 MHz", bandwidth = "600 MHz"}
[[monitor]]
kind = "rcs"
name = "sigma"
position = ["0 m", "0 m", "0 m"]
size = ["0.98 m", "0.98 m", "0 m"]
frequencies = ["300 MHz", "500 MHz"]
)");
  double found[2] = {};
  for (const char* averaging : {"kottke", "corners"}) {
    const Outcome run = tessera({"run", "case.toml", "--output", "RUN", "--force", "--set",
                                 std::string("grid.averaging=\"") + averaging + "\""});
    ASSERT_EQ(run.code, 0) << run.err;
    const auto rows = numbers_of(read("RUN/tables/sigma.csv"));
    ASSERT_EQ(rows.size(), 2u);
    // 50 and 30 cells a wavelength in the glass: phases are late by (k d)^2/24 over a path of some
    // wavelengths.
    EXPECT_NEAR(rows[0].back() / cylinder_width(300e6, 0.2, 2), 1, 2e-3) << averaging;
    EXPECT_NEAR(rows[1].back() / cylinder_width(500e6, 0.2, 2), 1, 1e-2) << averaging;
    found[averaging[0] == 'c'] = rows[0].back();
  }
  EXPECT_NE(found[1], found[0]);
}

/// A slab of index 9, 1 um thick: of what rings in it (8/10)^2 of the amplitude is left after each
/// 60 fs there and back.
TEST_F(Fdtd, SpectraOfFieldsThatStillRingAreTold) {
  write("slab.toml", R"(app = "electromagnetics.fdtd"
grid = {size = ["4 um", "0 um", "0 um"], cell = "10 nm"}
run = {precision = "f64", stop.time = "0.5 ps"}
[[material]]
name = "dense"
index = 9
[[structure]]
shape = "box"
size = ["1 um", "inf", "inf"]
material = "dense"
[[source]]
kind = "point"
component = "Ey"
position = ["-1.5 um", "0 um", "0 um"]
waveform = {kind = "gaussian", frequency = "100 THz", bandwidth = "100 THz"}
[[monitor]]
kind = "flux"
name = "behind"
position = ["1 um", "0 um", "0 um"]
size = ["0 um", "0 um", "0 um"]
frequencies = ["100 THz"]
)");
  const Outcome early = tessera({"run", "slab.toml", "--output", "EARLY"});
  ASSERT_EQ(early.code, 0) << early.err;
  const std::size_t said = early.err.find("monitor 'behind': when the run ended");
  ASSERT_NE(said, std::string::npos) << early.err;
  const auto number_after = [&](const std::string& words) {
    return std::stod(early.err.substr(early.err.find(words, said) + words.size()));
  };
  EXPECT_NEAR(number_after("they fall by about "), -40 * std::log10(0.8) / 0.060, 17)
      << early.err;  // dB a ps; a quarter of the time holds no whole number of pulses
  EXPECT_NEAR(number_after("until about "), 1.03e-12, 0.15e-12) << early.err;
  EXPECT_TRUE(holds(tessera({"info", "EARLY"}).out, "behind.fallen_db"));
  const Outcome late =
      tessera({"run", "slab.toml", "--output", "LATE", "--set", "run.stop.time=\"0.8 ps\""});
  EXPECT_EQ(late.code, 0);
  EXPECT_FALSE(holds(late.err, "warning")) << late.err;
  const Outcome never =
      tessera({"run", "slab.toml", "--output", "NEVER", "--set", "run.stop={steps=64}"});
  EXPECT_TRUE(holds(never.err, "before its sources did")) << never.err;
  EXPECT_FALSE(holds(never.err, "monitor 'behind'")) << never.err;
  const Outcome dark =
      tessera({"run", "slab.toml", "--output", "DARK", "--set", "structure[0].material=\"pec\""});
  EXPECT_TRUE(holds(dark.err, "monitor 'behind' has seen no field")) << dark.err;
}

// The series of Bohren and Huffman, section 8.4, for eps = 1 - fp^2/(f^2 - i f g), summed apart
// from here: width / diameter.
const std::vector<double> kWireSeries{0.56417, 0.87808, 1.30340, 1.83370, 2.42385, 2.99853,
                                      3.53870, 4.40830, 5.03576, 4.12554, 3.57484, 3.19726,
                                      2.88171, 2.60364, 2.35543, 2.13301};

TEST_F(Fdtd, AMetalWireIsScatteredBetterThanByShares) {
  write("wire.toml", R"(app = "electromagnetics.fdtd"
[grid]
size = ["0.4 um", "0.4 um", "0 um"]
cell = "5 nm"
polarization = "Hz"
[run]
stop.after_sources = "60 fs"
[boundary.pml]
cells = 16
[[material]]
name = "metal"
poles = [{kind = "drude", frequency = "1431.4 THz", damping = "47.7 THz"}]
[[structure]]
shape = "cylinder"
centre = ["0.65 nm", "1.45 nm", "0 nm"]
radius = "50 nm"
height = "inf"
material = "metal"
[[source]]
kind = "plane_wave"
direction = [1, 0, 0]
polarization = [0, 1, 0]
position = ["0 um", "0 um", "0 um"]
size = ["0.16 um", "0.16 um", "0 um"]
waveform = {kind = "gaussian", frequency_min = "300 THz", frequency_max = "1500 THz"}
[[monitor]]
kind = "rcs"
name = "sigma"
position = ["0 m", "0 m", "0 m"]
size = ["0.2 um", "0.2 um", "0 um"]
frequency_min = "477 THz"
frequency_max = "1336 THz"
frequency_points = 16
)");
  // Relative RMS over the surface resonance, where a face that is off by a part of a cell shows
  // most: 10 cells a radius.
  const auto rms = [&](const std::string& averaging) {
    const Outcome run = tessera({"run", "wire.toml", "--output", averaging, "--set",
                                 "grid.averaging=\"" + averaging + "\""});
    EXPECT_EQ(run.code, 0) << run.err;
    const auto rows = numbers_of(read(averaging + "/tables/sigma.csv"));
    EXPECT_EQ(rows.size(), kWireSeries.size());
    double sum = 0;
    for (std::size_t i = 0; i < rows.size(); ++i)
      sum += std::pow(rows[i].back() / 100e-9 / kWireSeries[i] - 1, 2);
    return std::sqrt(sum / static_cast<double>(rows.size()));
  };
  const double kottke = rms("kottke"), volume = rms("volume");
  EXPECT_LT(kottke, 0.09);
  EXPECT_GT(volume, 0.17);
}

TEST_F(Fdtd, ABeamCarriesItsPowerOneWay) {
  write("case.toml", R"(app = "electromagnetics.fdtd"
[grid]
size = ["1.2 m", "1.2 m", "0 m"]
cell = "10 mm"
polarization = "Hz"
[run]
precision = "f64"
stop.time = "25 ns"
[[source]]
kind = "beam"
position = ["-0.4 m", "0 m", "0 m"]
direction = [1.0, 0.2, 0.0]
polarization = [0.0, 1.0, 0.0]
waist = "0.2 m"
focus = "0.4 m"
waveform = {kind = "gaussian", frequency = "2 GHz", bandwidth = "1 GHz"}
[[monitor]]
kind = "flux"
name = "ahead"
position = ["0.3 m", "0 m", "0 m"]
size = ["0 m", "0.96 m", "0 m"]
frequencies = ["2 GHz"]
[[monitor]]
kind = "flux"
name = "behind"
position = ["-0.47 m", "0 m", "0 m"]
size = ["0 m", "0.96 m", "0 m"]
frequencies = ["2 GHz"]
)");
  const Outcome run = tessera({"run", "case.toml", "--output", "RUN"});
  ASSERT_EQ(run.code, 0) << run.err;
  const double ahead = numbers_of(read("RUN/tables/ahead.csv"))[0][1],
               behind = numbers_of(read("RUN/tables/behind.csv"))[0][1];
  // |W|^2 w0 sqrt(pi/2) / (2 Z0), W = sqrt(pi) tau/2, tau = 2 sqrt(ln 10) / (pi bandwidth); 15
  // cells a wavelength.
  const double w2 =
      std::numbers::pi / 4 * std::pow(2 * std::sqrt(std::log(10.0)) / (std::numbers::pi * 1e9), 2);
  EXPECT_NEAR(ahead / (w2 * 0.2 * std::sqrt(std::numbers::pi / 2) / (2 * 376.730313668)), 1, 0.03);
  EXPECT_LT(std::abs(behind), 1e-3 * ahead);
}

/// A source on mirrors counts with its images: the same factor as in the whole domain.
TEST_F(Fdtd, MirrorsThroughASourceLeaveItsPurcellFactor) {
  const auto purcell = [&](const std::string& low, const std::string& centre,
                           const std::string& size, const std::string& polarization,
                           const std::string& component) {
    write("case.toml",
          "app = \"electromagnetics.fdtd\"\ngrid = {centre = [" + centre + "], size = [" + size +
              "], cell = \"50 nm\", polarization = \"" + polarization +
              "\"}\nrun = {precision = \"f64\", stop.steps = 1500}\nboundary = {pml.cells = 8" +
              low + R"(}
[[material]]
name = "glass"
eps = 4
[[structure]]
shape = "cylinder"
radius = "0.4 um"
height = "inf"
material = "glass"
[[source]]
kind = "point"
position = ["0 um", "0 um", "0 um"]
component = ")" +
              component + R"("
waveform = {kind = "gaussian", frequency = "250 THz", bandwidth = "150 THz"}
[[monitor]]
kind = "ldos"
name = "dos"
frequencies = ["250 THz"]
)");
    const Outcome run = tessera({"run", "case.toml", "--output", "RUN", "--force"});
    EXPECT_EQ(run.code, 0) << run.err;
    const std::string table = read("RUN/tables/dos.csv");
    return std::stod(table.substr(table.find(',', table.find('\n')) + 1));
  };
  const std::string whole = R"("0 um", "0 um", "0 um")", both = R"("3 um", "3 um", "0 um")",
                    quarter = R"("0.75 um", "0.75 um", "0 um")",
                    half = R"("1.5 um", "1.5 um", "0 um")";
  const double line = purcell("", whole, both, "Ez", "Ez"),
               dipole = purcell("", whole, both, "Hz", "Ex");
  // The curved face is averaged over halves of cells at the mirrors: by quadrature, to some 1e-6.
  EXPECT_NEAR(purcell(", x_low = \"pmc\", y_low = \"pmc\"", quarter, half, "Ez", "Ez"), line,
              1e-5 * line);
  EXPECT_NEAR(purcell(", x_low = \"pec\", y_low = \"pmc\"", quarter, half, "Hz", "Ex"), dipole,
              1e-5 * dipole);
  EXPECT_GT(std::abs(line - 1), 0.01);
}

TEST_F(Fdtd, TheGalleryIsFreeOfErrorsAndDoubts) {
  int files = 0;
  for (const auto& entry :
       fs::directory_iterator(fs::path(TESSERA_SOURCE_DIR) / "apps/examples/electromagnetics")) {
    if (entry.path().extension() != ".toml") continue;
    const Outcome check = tessera({"check", entry.path()});
    EXPECT_EQ(check.code, 0) << entry.path() << check.err;
    EXPECT_FALSE(holds(check.err, "warning")) << entry.path() << check.err;
    ++files;
  }
  EXPECT_GE(files, 9);
}

TEST_F(Fdtd, WhatCannotRunIsRefusedBeforeMemoryIsTaken) {
  const auto refused = [&](const std::string& what, const std::string& by,
                           const std::string& number) {
    std::string text = kCase;
    const auto at = text.find(what);
    ASSERT_NE(at, std::string::npos) << what;
    text.replace(at, what.size(), by);
    write("bad.toml", text);
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
}

TEST_F(Fdtd, WhatIsHardlyMeantIsSaid) {
  const auto doubted = [&](const std::string& what, const std::string& by,
                           const std::string& message) {
    std::string text = kCase;
    const auto at = text.find(what);
    ASSERT_NE(at, std::string::npos) << what;
    text.replace(at, what.size(), by);
    write("doubt.toml", text);
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

/// Counted, not tried: the machine keeps its memory.
TEST_F(Fdtd, WhatMemoryCannotHoldIsRefusedBeforeAnyIsTaken) {
  std::string text = kCase;
  text.replace(
      text.find("frequencies = [\"200 THz\"]"), 25,
      "frequency_min = \"190 THz\"\nfrequency_max = \"210 THz\"\nfrequency_points = 100000");
  write("large.toml", text);
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

TEST_F(Fdtd, ARunThatMeasuresNothingIsDoubted) {
  std::string text = kCase;
  write("doubt.toml", text.substr(0, text.find("[[monitor]]")));
  EXPECT_TRUE(holds(tessera({"check", "doubt.toml"}).err, "warning E0629: nothing is measured"));
}

TEST_F(Fdtd, DoubtsAreSaid) {
  std::string text = kCase;
  text.replace(text.find("radius = \"0.4 um\""), 17,
               "radius = \"2 um\"");  // into the film, at equal priority
  text.replace(text.find("cell = \"50 nm\""), 14, "cell = \"0.25 um\"");
  text.replace(text.find("cells = 8"), 9, "cells = 2");
  write("doubt.toml", text);
  const Outcome out = tessera({"check", "doubt.toml"});
  EXPECT_EQ(out.code, 0) << out.err;
  EXPECT_TRUE(holds(out.err, "warning E0645")) << out.err;
  EXPECT_TRUE(holds(out.err, "the later one, is seen there")) << out.err;
  EXPECT_TRUE(holds(out.err, "warning E0648")) << out.err;
}

}  // namespace
