// SPDX-License-Identifier: Apache-2.0
// The configuration of electromagnetics.fdtd: a whole case, and every way to contradict oneself.
#include "electromagnetics/fdtd_options.h"

#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/media_library.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

using namespace tessera::apps::fdtd;
using namespace tessera::data;

namespace {

constexpr double c0 = tessera::electromagnetics::speed_of_light;
constexpr double degree = std::numbers::pi / 180;

const std::string kHead = "app = \"electromagnetics.fdtd\"\n";

FdtdOptions read(const std::string& text, const std::vector<std::string>& sets = {}) {
  return read_options(parse_config("case.toml", kHead + text, ConfigFormat::toml, sets));
}

std::vector<Diagnostic> findings(const std::string& text) {
  try {
    read(text);
    return {};
  } catch (const InputError& e) {
    EXPECT_EQ(e.code(), ExitCode::config_invalid);
    return e.findings();
  }
}

const char* const kCase = R"(schema = 1
title = "A ring beside a waveguide"

[grid]
size = ["10 um", "8 um", "0 um"]
centre = ["1 um", "0 um", "0 um"]
cell = ["25 nm", "50 nm", "25 nm"]
x.refine = [{from = "0 um", to = "1 um", cell = "5 nm"}]
max_ratio = 1.2
background = "SiO2"
polarization = "Ez"
averaging = "volume"
conductors = "staircase"

[run]
precision = "f64"
courant = 0.9
stop = {decay_db = 60, time = "5 ps", check_every = "20 fs"}

[boundary]
x = "pml"
y_low = "pmc"
y_high = "pec"
pml = {cells = 12, order = 4, kappa_max = 11, sigma_factor = 1.5, alpha_factor = 0.5, index = 1.45}

[[material]]
name = "core"
index = 3.4

[[material]]
name = "crystal"
eps = [4, 4, 5]
sigma = "10 S/m"
mu = 1.5
sigma_m = ["0 ohm/m", "1 ohm/m", "0 ohm/m"]
chi2 = "2 pm/V"
chi3 = "1e-20 m^2/V^2"
[[material.poles]]
kind = "lorentz"
frequency = "500 nm"
damping = "1 THz"
delta_eps = 0.3
[[material.poles]]
kind = "drude"
frequency = "1 eV"
damping = "0.1 eV"
strength = 0.7
[[material.poles]]
kind = "debye"
frequency = "20 GHz"
delta_eps = 70
[[material.poles]]
kind = "critical_point"
frequency = "650 THz"
damping = "60 THz"
amplitude = 1.1
phase = "-45 deg"
[[material.poles]]
kind = "residue"
pole = ["-1e14 rad/s", "3e15 rad/s"]
residue = ["0 rad/s", "-2e15 rad/s"]

[[material]]
name = "gold"
library = "Au"

[[material]]
name = "measured"
index_file = "data/nk.csv"
fit = {tolerance = 0.01, most_poles = 6, conducting = true}

[[material]]
name = "board"
eps = 4.4
loss_tangent = 0.02
loss_frequency = "2.4 GHz"
loss_band = ["1 GHz", "10 GHz"]

[[structure]]
shape = "box"
material = "core"
size = ["inf", "400 nm", "inf"]
centre = ["0 um", "-1.5 um", "0 um"]

[[structure]]
shape = "cylinder"
name = "ring"
material = "core"
radius = "1 um"
inner_radius = "0.6 um"
height = "inf"
priority = 2
repeat = {count = [2, 1, 1], step = ["3 um", "0 um", "0 um"]}

[[structure]]
shape = "box"
name = "plate"
low = ["0 um", "0 um", "0 um"]
high = ["1 um", "1 um", "1 um"]

[[structure]]
shape = "prism"
name = "wedge"
corners = [["0 um", "0 um"], ["1 um", "0 um"], ["0 um", "1 um"]]
height = "220 nm"
base = "-110 nm"
sidewall = "10 deg"
axis = "z"

[[structure]]
shape = "difference"
parts = ["plate", "wedge"]
material = "Ag"
rotate = {angle = "30 deg"}

[[structure]]
shape = "cone"
material = "pec"
radius_low = "0 um"
radius_high = "1 um"
height = "2 um"
axis = "x"

[[structure]]
shape = "ellipsoid"
material = "gold"
semi_axes = ["1 um", "2 um", "3 um"]

[[structure]]
shape = "sphere"
material = "measured"
radius = "100 nm"

[[structure]]
shape = "half_space"
material = "board"
point = ["0 um", "-3 um", "0 um"]
outward = [0, 1, 0]

[[source]]
kind = "point"
name = "dipole"
component = "Ez"
position = ["0 um", "0 um", "0 um"]
amplitude = 2.5
waveform = {kind = "gaussian", frequency = "1.55 um", bandwidth = "40 THz", delay = "60 fs"}

[[source]]
kind = "line"
component = "Hx"
position = ["0 um", "1 um", "0 um"]
size = ["2 um", "0 um", "0 um"]
[source.waveform]
kind = "ricker"
frequency = "200 THz"

[[source]]
kind = "plane_wave"
name = "sun"
direction = [1, 1, 0]
polarization = [0, 0, 1]
waveform = {frequency_min = "1.6 um", frequency_max = "1.5 um", phase = "0 deg"}

[[source]]
kind = "beam"
position = ["-2 um", "0 um", "0 um"]
size = ["0 um", "4 um", "0 um"]
direction = [1, 0, 0]
polarization = [0, 0, 1]
waist = "1 um"
focus = "2 um"
waveform = {kind = "continuous", frequency = "193 THz", ramp = "10 fs"}

[[source]]
kind = "plane"
component = "Ez"
position = ["-2 um", "0 um", "0 um"]
size = ["0 um", "4 um", "0 um"]
waveform = {kind = "derivative", width = "3 fs", order = 2}

[[monitor]]
kind = "probe"
name = "echo"
position = ["1 um", "1 um", "0 um"]
components = ["Ez", "Hx"]

[[monitor]]
kind = "flux"
name = "in"
position = ["-3 um", "0 um", "0 um"]
size = ["0 um", "1 um", "0 um"]
frequency_min = "190 THz"
frequency_max = "200 THz"
frequency_points = 11

[[monitor]]
kind = "flux"
name = "out"
position = ["3 um", "0 um", "0 um"]
size = ["0 um", "1 um", "0 um"]
frequencies = ["1.55 um", "193 THz"]
relative_to = "in"
subtract = "straight.run"
reverse = true

[[monitor]]
kind = "dft"
name = "field"
size = ["4 um", "4 um", "0 um"]
frequencies = ["193 THz"]

[[monitor]]
kind = "far_field"
name = "pattern"
position = ["0 um", "0 um", "0 um"]
size = ["6 um", "6 um", "0 um"]
frequencies = ["193 THz"]
phi = ["0 deg", "90 deg"]
mirrors = [{axis = "y", position = "-3 um"}]

[[monitor]]
kind = "rcs"
name = "sigma"
position = ["0 um", "0 um", "0 um"]
size = ["6 um", "6 um", "0 um"]
frequencies = ["193 THz"]
source = "sun"

[[monitor]]
kind = "ldos"
name = "purcell"
frequencies = ["193 THz"]

[[monitor]]
kind = "orders"
name = "grating"
position = ["0 um", "2 um", "0 um"]
size = ["6 um", "0 um", "0 um"]
frequencies = ["193 THz"]
orders = [[-1, 0], [0, 0]]

[[monitor]]
kind = "resonances"
name = "modes"
position = ["1 um", "0 um", "0 um"]
components = ["Ez"]
frequency_min = "150 THz"
frequency_max = "250 THz"
min_quality = 20

[[monitor]]
kind = "energy"
name = "stored"
frequencies = ["193 THz"]

[[monitor]]
kind = "snapshot"
name = "film"
every = "10 fs"
start = "50 fs"
components = ["Ez"]

[output]
vtk = false

[[expect]]
monitor = "out"
frequency = "1.55 um"
value = 0.5036
tolerance = 0.01
)";

}  // namespace

TEST(FdtdOptions, AWholeCaseIsRead) {
  const FdtdOptions o = read(kCase);
  EXPECT_EQ(o.title, "A ring beside a waveguide");

  EXPECT_EQ(o.grid.size, (Point{1e-5, 8e-6, 0}));
  EXPECT_EQ(o.grid.cell, (Point{2.5e-8, 5e-8, 2.5e-8}));
  EXPECT_DOUBLE_EQ(o.grid.low(0), -4e-6);
  EXPECT_DOUBLE_EQ(o.grid.high(0), 6e-6);
  EXPECT_FALSE(o.grid.resolved(2));
  ASSERT_EQ(o.grid.x.refine.size(), 1u);
  EXPECT_EQ(o.grid.x.refine[0].cell, 5e-9);
  EXPECT_EQ(o.grid.max_ratio, 1.2);
  EXPECT_EQ(o.grid.background, "SiO2");
  EXPECT_EQ(o.grid.polarization, Polarization::Ez);
  EXPECT_EQ(o.grid.averaging, Averaging::volume);
  EXPECT_EQ(o.grid.conductors, ConductorChoice::staircase);

  EXPECT_EQ(o.run.precision, Precision::f64);
  EXPECT_EQ(o.run.courant, 0.9);
  EXPECT_FALSE(o.run.dt);
  EXPECT_EQ(o.run.stop.decay_db, 60);
  EXPECT_EQ(o.run.stop.time, 5e-12);
  EXPECT_EQ(o.run.stop.check_every, 2e-14);
  EXPECT_FALSE(o.run.stop.steps || o.run.stop.dft_tolerance);

  EXPECT_EQ(o.boundary.low(0), Face::pml);
  EXPECT_EQ(o.boundary.high(0), Face::pml);
  EXPECT_EQ(o.boundary.low(1), Face::pmc);
  EXPECT_EQ(o.boundary.high(1), Face::pec);
  EXPECT_EQ(o.boundary.pml.cells, 12);
  EXPECT_EQ(o.boundary.pml.order, 4);
  EXPECT_EQ(o.boundary.pml.kappa_max, 11);
  EXPECT_EQ(o.boundary.pml.sigma_factor, 1.5);
  EXPECT_EQ(o.boundary.pml.alpha_factor, 0.5);
  EXPECT_EQ(o.boundary.pml.medium_index, 1.45);

  ASSERT_EQ(o.materials.size(), 5u);
  EXPECT_EQ(o.materials[0].index, 3.4);
  const MaterialOptions& m = o.materials[1];
  EXPECT_EQ(m.eps, (Point{4, 4, 5}));
  EXPECT_EQ(m.sigma, (Point{10, 10, 10}));
  EXPECT_EQ(m.mu, (Point{1.5, 1.5, 1.5}));
  EXPECT_EQ(m.sigma_m, (Point{0, 1, 0}));
  EXPECT_EQ(m.chi2, 2e-12);
  EXPECT_EQ(m.chi3, 1e-20);
  ASSERT_EQ(m.poles.size(), 5u);
  EXPECT_EQ(m.poles[0].kind, PoleKind::lorentz);
  EXPECT_DOUBLE_EQ(m.poles[0].frequency, c0 / 500e-9);
  EXPECT_EQ(m.poles[0].damping, 1e12);
  EXPECT_EQ(m.poles[0].delta_eps, 0.3);
  EXPECT_EQ(m.poles[1].kind, PoleKind::drude);
  // e/h = 241.798924... THz per eV (exact in the SI).
  EXPECT_NEAR(m.poles[1].frequency, 241.79892420849183e12, 1);
  EXPECT_NEAR(m.poles[1].damping, 24.179892420849183e12, 1);
  EXPECT_EQ(m.poles[1].strength, 0.7);
  EXPECT_EQ(m.poles[2].kind, PoleKind::debye);
  EXPECT_EQ(m.poles[2].delta_eps, 70);
  EXPECT_EQ(m.poles[3].kind, PoleKind::critical_point);
  EXPECT_EQ(m.poles[3].amplitude, 1.1);
  EXPECT_DOUBLE_EQ(m.poles[3].phase, -45 * degree);
  EXPECT_EQ(m.poles[4].kind, PoleKind::residue);
  EXPECT_EQ(m.poles[4].pole, (std::array<double, 2>{-1e14, 3e15}));
  EXPECT_EQ(m.poles[4].residue, (std::array<double, 2>{0, -2e15}));
  EXPECT_EQ(o.materials[2].library, "Au");
  EXPECT_EQ(o.materials[3].index_file, std::filesystem::current_path() / "data/nk.csv");
  EXPECT_EQ(o.materials[3].fit.most_poles, 6);
  EXPECT_TRUE(o.materials[3].fit.conducting);
  EXPECT_EQ(o.materials[4].loss_tangent, 0.02);
  EXPECT_EQ(o.materials[4].loss_frequency, 2.4e9);
  EXPECT_EQ(o.materials[4].loss_band, (std::array<double, 2>{1e9, 1e10}));

  ASSERT_EQ(o.structures.size(), 9u);
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(o.structures[0].size, (Point{inf, 4e-7, inf}));
  EXPECT_EQ(o.structures[0].centre, (Point{0, -1.5e-6, 0}));
  EXPECT_EQ(o.structures[1].shape, ShapeKind::cylinder);
  EXPECT_EQ(o.structures[1].radius, 1e-6);
  EXPECT_EQ(o.structures[1].inner_radius, 6e-7);
  EXPECT_EQ(o.structures[1].height, inf);
  EXPECT_EQ(o.structures[1].priority, 2);
  ASSERT_TRUE(o.structures[1].repeat);
  EXPECT_EQ(o.structures[1].repeat->count, (std::array<int, 3>{2, 1, 1}));
  EXPECT_EQ(o.structures[1].repeat->step, (Point{3e-6, 0, 0}));
  EXPECT_FALSE(o.structures[2].material);
  EXPECT_EQ(o.structures[2].high, (Point{1e-6, 1e-6, 1e-6}));
  EXPECT_EQ(o.structures[3].corners,
            (std::vector<std::array<double, 2>>{{0, 0}, {1e-6, 0}, {0, 1e-6}}));
  EXPECT_EQ(o.structures[3].base, -1.1e-7);
  EXPECT_DOUBLE_EQ(o.structures[3].sidewall, 10 * degree);
  EXPECT_EQ(o.structures[4].shape, ShapeKind::difference);
  EXPECT_EQ(o.structures[4].parts, (std::vector<std::string>{"plate", "wedge"}));
  ASSERT_TRUE(o.structures[4].rotate);
  EXPECT_EQ(o.structures[4].rotate->axis, (Point{0, 0, 1}));
  EXPECT_DOUBLE_EQ(o.structures[4].rotate->angle, 30 * degree);
  EXPECT_EQ(o.structures[5].axis, Axis::x);
  EXPECT_EQ(o.structures[5].radius_high, 1e-6);
  EXPECT_EQ(o.structures[6].semi_axes, (Point{1e-6, 2e-6, 3e-6}));
  EXPECT_EQ(o.structures[7].radius, 1e-7);
  EXPECT_EQ(o.structures[8].outward, (Point{0, 1, 0}));

  ASSERT_EQ(o.sources.size(), 5u);
  EXPECT_EQ(o.sources[0].component, Component::Ez);
  EXPECT_EQ(o.sources[0].position, (Point{0, 0, 0}));
  EXPECT_EQ(o.sources[0].amplitude, 2.5);
  EXPECT_DOUBLE_EQ(*o.sources[0].waveform.frequency, c0 / 1.55e-6);
  EXPECT_EQ(o.sources[0].waveform.bandwidth, 4e13);
  EXPECT_EQ(o.sources[0].waveform.delay, 6e-14);
  EXPECT_EQ(o.sources[0].waveform.phase, -90 * degree);
  EXPECT_EQ(o.sources[1].kind, SourceKind::line);
  EXPECT_EQ(o.sources[1].component, Component::Hx);
  EXPECT_EQ(o.sources[1].size, (Point{2e-6, 0, 0}));
  EXPECT_EQ(o.sources[1].waveform.kind, WaveformKind::ricker);
  EXPECT_EQ(o.sources[2].kind, SourceKind::plane_wave);
  EXPECT_EQ(o.sources[2].position, (Point{1e-6, 0, 0})) << "the middle of the domain";
  EXPECT_FALSE(o.sources[2].size);
  EXPECT_EQ(o.sources[2].direction, (Point{1, 1, 0}));
  EXPECT_EQ(o.sources[2].waveform.kind, WaveformKind::gaussian);
  EXPECT_DOUBLE_EQ(*o.sources[2].waveform.frequency_min, c0 / 1.6e-6);
  EXPECT_EQ(o.sources[2].waveform.phase, 0);
  EXPECT_EQ(o.sources[3].waist, 1e-6);
  EXPECT_EQ(o.sources[3].focus, 2e-6);
  EXPECT_EQ(o.sources[3].waveform.ramp, 1e-14);
  EXPECT_EQ(o.sources[4].waveform.order, 2);
  EXPECT_EQ(o.sources[4].waveform.width, 3e-15);

  ASSERT_EQ(o.monitors.size(), 11u);
  EXPECT_EQ(o.monitors[0].components, (std::vector<Component>{Component::Ez, Component::Hx}));
  const std::vector<double> band = o.monitors[1].all_frequencies();
  ASSERT_EQ(band.size(), 11u);
  EXPECT_EQ(band.front(), 190e12);
  EXPECT_EQ(band[3], 193e12);
  EXPECT_EQ(band.back(), 200e12);
  EXPECT_EQ(o.monitors[2].all_frequencies(), (std::vector<double>{c0 / 1.55e-6, 193e12}));
  EXPECT_EQ(o.monitors[2].relative_to, "in");
  EXPECT_EQ(o.monitors[2].subtract, std::filesystem::current_path() / "straight.run");
  EXPECT_TRUE(o.monitors[2].reverse);
  EXPECT_EQ(o.monitors[3].position, (Point{1e-6, 0, 0}));
  EXPECT_EQ(o.monitors[3].size, (Point{4e-6, 4e-6, 0}));
  EXPECT_DOUBLE_EQ(o.monitors[4].phi.at(1), 90 * degree);
  ASSERT_EQ(o.monitors[4].mirrors.size(), 1u);
  EXPECT_EQ(o.monitors[4].mirrors[0].axis, Axis::y);
  EXPECT_EQ(o.monitors[4].mirrors[0].position, -3e-6);
  EXPECT_EQ(o.monitors[5].source, "sun");
  EXPECT_EQ(o.monitors[7].orders, (std::vector<std::array<int, 2>>{{-1, 0}, {0, 0}}));
  EXPECT_EQ(o.monitors[8].min_quality, 20);
  EXPECT_EQ(o.monitors[10].every, 1e-14);
  EXPECT_EQ(o.monitors[10].start, 5e-14);
  EXPECT_FALSE(o.output.vtk);
  EXPECT_TRUE(o.output.pictures);
  ASSERT_EQ(o.expectations.size(), 1u);
  EXPECT_EQ(o.expectations[0].value, 0.5036);
  EXPECT_EQ(o.expectations[0].tolerance, 0.01);
}

TEST(FdtdOptions, AResolvedCaseIsTheSameCase) {
  const std::string resolved = fdtd_options().resolved_toml(parse_config("a.toml", kHead + kCase));
  const Config again = parse_config("resolved.toml", resolved);
  EXPECT_NO_THROW(read_options(again)) << resolved;
  EXPECT_EQ(fdtd_options().resolved_toml(again), resolved);
}

TEST(FdtdOptions, ASmallCaseIsSmall) {
  const FdtdOptions o = read(
      "grid = {size = [\"1 cm\", \"1 cm\", \"1 cm\"], cell = \"1 mm\"}\nrun.stop.steps = 100\n"
      "source = [{kind = \"point\", component = \"Ez\", position = [\"0 mm\", \"0 mm\", \"0 mm\"], "
      "waveform = {kind = \"ricker\", frequency = \"5 GHz\"}}]\n");
  EXPECT_EQ(o.grid.background, "vacuum");
  EXPECT_EQ(o.boundary.low(2), Face::pml);
  EXPECT_EQ(o.boundary.pml.cells, 10);
  EXPECT_EQ(o.run.courant, 0.95);
  EXPECT_EQ(o.run.precision, Precision::f32);
}

TEST(FdtdOptions, LinesGiveTheSizeOfTheirAxis) {
  const std::string rest =
      "run.stop.steps = 1\nsource = [{kind = \"point\", component = \"Ez\", position = [\"1 um\", "
      "\"0 um\", \"0 um\"], waveform = {kind = \"ricker\", frequency = \"5 THz\"}}]\n";
  const FdtdOptions o = read(rest + "[grid]\nx.lines = [\"0 um\", \"1 um\", \"3 um\"]\n");
  EXPECT_EQ(o.grid.low(0), 0);
  EXPECT_EQ(o.grid.high(0), 3e-6);
  EXPECT_TRUE(o.grid.resolved(0) && !o.grid.resolved(1));
}

TEST(FdtdOptions, EachKindTakesItsKeys) {
  const std::string shapes = fdtd_options().explain("structure");
  for (const char* line : {
           "shape = \"box\": name, material, priority, centre, size, low, high, rotate, repeat\n",
           "shape = \"half_space\": name, material, priority, point*, outward*, rotate, repeat\n",
           "shape = \"sphere\": name, material, priority, centre, radius*, inner_radius, rotate",
           "shape = \"ellipsoid\": name, material, priority, centre, semi_axes*, rotate, repeat\n",
           "shape = \"cylinder\": name, material, priority, centre, radius*, inner_radius, "
           "height*, "
           "axis, rotate, repeat\n",
           "shape = \"cone\": name, material, priority, centre, radius_low*, radius_high*, "
           "height*, axis, rotate, repeat\n",
           "shape = \"prism\": name, material, priority, height*, axis, corners*, base, sidewall, "
           "rotate, repeat\n",
           "shape = \"union\": name, material, priority, parts*, rotate, repeat\n",
       })
    EXPECT_NE(shapes.find(line), std::string::npos) << line << shapes;
  const std::string sources = fdtd_options().explain("source");
  for (const char* line : {
           "kind = \"point\": name, component*, position*, amplitude, waveform*\n",
           "kind = \"plane\": name, component*, position*, size*, amplitude, waveform*\n",
           "kind = \"plane_wave\": name, position, size, direction*, polarization*, amplitude, "
           "waveform*\n",
           "kind = \"beam\": name, position*, size, direction*, polarization*, waist*, focus, "
           "amplitude, waveform*\n",
       })
    EXPECT_NE(sources.find(line), std::string::npos) << line << sources;
  const std::string monitors = fdtd_options().explain("monitor");
  for (const char* line : {
           "kind = \"probe\": name*, position*, components, every, start, end\n",
           "kind = \"flux\": name*, position*, size*, frequencies, frequency_min, frequency_max, "
           "frequency_points, reverse, relative_to, subtract\n",
           "kind = \"ldos\": name*, frequencies, frequency_min, frequency_max, frequency_points, "
           "source\n",
           "kind = \"resonances\": name*, position*, components, frequency_min*, frequency_max*, "
           "min_quality, max_modes, derivatives, start, end\n",
       })
    EXPECT_NE(monitors.find(line), std::string::npos) << line << monitors;
}

/// Every key of every table, put into a table of each kind that does not take it, is refused at its
/// place.
TEST(FdtdOptions, KeysOfOtherKindsAreRefusedWhereTheyStand) {
  const struct {
    const char* table;
    const char* before;
    const char* after;
  } tables[] = {
      {"structure", "[[structure]]\n", ""},
      {"source", "[[source]]\n", ""},
      {"source.waveform", "[[source]]\nkind = \"point\"\n[source.waveform]\n", ""},
      {"monitor", "[[monitor]]\n", ""},
      {"material.poles", "[[material]]\nname = \"m\"\n[[material.poles]]\n", ""},
  };
  int refused = 0;
  for (const auto& t : tables) {
    const OptionTable& table = *fdtd_options().find(t.table)->table;
    ASSERT_TRUE(table.kind());
    for (const std::string& kind : table.kind()->field.choices)
      for (const OptionSpec& s : table.specs()) {
        const auto& takes = s.field.only_for;
        const bool fits =
            takes.empty() || std::find(takes.begin(), takes.end(), kind) != takes.end();
        const std::string text =
            t.before + table.kind()->key + " = \"" + kind + "\"\n  " + s.key + " = 1\n";
        if (&s == table.kind()) continue;
        const auto line = 2 + static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
        int here = 0;
        for (const Diagnostic& d : fdtd_options().check(parse_config("case.toml", kHead + text)))
          if (d.number == 219) {
            ++here;
            EXPECT_EQ(d.place.line, line - 1) << to_string(d);
            EXPECT_EQ(d.place.column, 3u) << to_string(d);
            EXPECT_NE(d.message.find(s.key + "' is no key of"), std::string::npos) << d.message;
            EXPECT_NE(d.message.find("\"" + takes.at(0) + "\""), std::string::npos) << d.message;
          }
        EXPECT_EQ(here, fits ? 0 : 1) << text;
        refused += here;
      }
  }
  EXPECT_GT(refused, 200);
}

TEST(FdtdOptions, EachContradictionHasItsNumberAndPlace) {
  const std::string grid = "grid = {size = [\"4 um\", \"4 um\", \"0 um\"], cell = \"0.1 um\"}\n";
  const std::string stop = "run.stop.steps = 10\n";
  const std::string wave = "waveform = {kind = \"ricker\", frequency = \"50 THz\"}\n";
  const std::string source =
      "[[source]]\nkind = \"point\"\ncomponent = \"Ez\"\nposition = [\"0 um\", \"0 um\", \"0 "
      "um\"]\n" +
      wave;
  const std::string head = grid + stop, all = grid + stop + source;  // 2 and 7 lines behind `app`
  const std::string flux =
      "[[monitor]]\nkind = \"flux\"\nname = \"f\"\nposition = [\"0 um\", \"0 um\", \"0 um\"]\nsize "
      "= "
      "[\"0 um\", \"1 um\", \"0 um\"]\n";
  const struct {
    std::string text;
    int number;
    std::size_t line, column;
    const char* words;
  } cases[] = {
      // grid
      {stop + source, 620, 0, 0, "the domain has no size"},
      {stop + source + "[grid]\nsize = [\"4 um\", \"4 um\", \"0 um\"]\n", 620, 8, 2,
       "there is no cell"},
      {stop + source + "[grid]\nsize = [\"4 um\", \"0 um\", \"0 um\"]\ncell = \"0.3 um\"\n", 620, 9,
       9, "is no whole number of cells: 13.3"},
      {stop + source +
           "[grid]\nsize = [\"4 um\", \"0 um\", \"0 um\"]\ncell = \"0.1 um\"\ncells_per_wavelength "
           "= "
           "20\nfrequency_max = \"2 um\"\n",
       620, 11, 1, "given in two ways"},
      {stop + source + "[grid]\nsize = [\"4 um\", \"0 um\", \"0 um\"]\ncells_per_wavelength = 20\n",
       620, 10, 1, "grid.frequency_max, which is missing"},
      {stop + source + "[grid]\nsize = [\"0 um\", \"4 um\", \"0 um\"]\ncell = \"0.1 um\"\n", 621, 9,
       1, "come first"},
      {stop + source +
           "[grid]\nsize = [\"4 um\", \"0 um\", \"0 um\"]\ncell = \"0.1 um\"\npolarization = "
           "\"Ez\"\n",
       621, 11, 1, "in 2-D only"},
      {stop + source + "[grid]\nx.lines = [\"0 um\", \"2 um\", \"2 um\"]\n", 620, 9, 3, "rising"},
      {stop + source +
           "[grid]\nsize = [\"4 um\", \"0 um\", \"0 um\"]\nx.lines = [\"0 um\", \"2 um\"]\n",
       620, 9, 9, "size is 4 um, but the lines of x span 2 um"},
      {stop + source +
           "[grid]\nsize = [\"4 um\", \"0 um\", \"0 um\"]\ncell = \"0.1 "
           "um\"\n[[grid.x.refine]]\nfrom "
           "= \"1 um\"\nto = \"3 um\"\ncell = \"10 nm\"\n",
       620, 11, 1, "reaches out of the domain"},
      // run
      {grid + source, 622, 0, 0, "the run has no end"},
      {grid +
           "[[source]]\nkind = \"point\"\ncomponent = \"Ez\"\nposition = [\"0 um\", \"0 um\", \"0 "
           "um\"]\nwaveform = {kind = \"continuous\", frequency = \"50 THz\"}\n[run]\nstop = "
           "{decay_db = 60}\n",
       622, 9, 1, "source[0] never does"},
      // boundary
      {all + "[boundary]\nx_low = \"periodic\"\n", 623, 10, 1, "join two faces"},
      {all + "[boundary]\nx = \"bloch\"\n", 623, 9, 2, "need a wave vector"},
      {all + "[boundary]\nbloch_phase = [\"90 deg\", \"0 deg\", \"0 deg\"]\n", 623, 10, 16,
       "across x are not bloch"},
      {all + "[boundary]\ny = \"bloch\"\nbloch_k = [\"0 rad/m\", \"1 rad/um\", \"0 "
             "rad/m\"]\nbloch_phase = [\"0 deg\", \"9 deg\", \"0 deg\"]\n",
       623, 12, 1, "in two ways"},
      // materials
      {all + "[[material]]\nname = \"a\"\npec = true\neps = 2\n", 624, 11, 1, "nothing else"},
      {all + "[[material]]\nname = \"a\"\nlibrary = \"Au\"\neps = 2\n", 624, 11, 1,
       "already says what eps"},
      {all + "[[material]]\nname = \"a\"\nindex = 2\neps = 2\n", 624, 11, 1, "in two ways"},
      {all + "[[material]]\nname = \"a\"\nloss_tangent = 0.1\n", 624, 11, 1, "loss_frequency"},
      {all + "[[material]]\nname = \"a\"\nloss_band = [\"1 GHz\", \"2 GHz\"]\n", 624, 11, 1,
       "there is no loss_tangent"},
      {all + "[[material]]\nname = \"a\"\npoles = [{kind = \"residue\", pole = [\"1 rad/s\", \"1 "
             "rad/s\"], residue = [\"1 rad/s\", \"1 rad/s\"]}]\n",
       624, 11, 29, "grows in time"},
      {all + "[[material]]\nname = \"a\"\n[[material]]\nname = \"a\"\n", 625, 12, 1,
       "the name 'a' is given twice"},
      {all + "[[material]]\nname = \"vacuum\"\n", 625, 10, 1, "always there"},
      {all + "[[material]]\nname = \"a\"\nlibrary = \"Gold\"\n", 215, 11, 11, "must be one of"},
      // structures
      {all + "[[material]]\nname = \"glass\"\n[[structure]]\nshape = \"sphere\"\nradius = \"1 "
             "um\"\nmaterial = \"glas\"\n",
       625, 14, 1, "there is no medium 'glas'"},
      {all + "[[structure]]\nshape = \"box\"\nmaterial = \"Au\"\n", 626, 9, 1,
       "a size, or a low and a high corner"},
      {all + "[[structure]]\nshape = \"box\"\nmaterial = \"Au\"\nlow = [\"0 um\", \"0 um\", \"0 "
             "um\"]\n",
       626, 12, 1, "a size, or a low and a high corner"},
      {all + "[[structure]]\nshape = \"box\"\nmaterial = \"Au\"\nlow = [\"0 um\", \"1 um\", \"0 "
             "um\"]\nhigh = [\"1 um\", \"0 um\", \"0 um\"]\n",
       626, 12, 1, "is above high"},
      {all + "[[structure]]\nshape = \"sphere\"\nradius = \"1 um\"\n", 626, 9, 1,
       "has no material"},
      {all + "[[structure]]\nshape = \"sphere\"\nmaterial = \"Au\"\nradius = \"1 "
             "um\"\ninner_radius = "
             "\"1 um\"\n",
       626, 13, 1, "is not below radius"},
      {all + "[[structure]]\nshape = \"sphere\"\nname = \"s\"\nmaterial = \"Au\"\nradius = \"1 "
             "um\"\n[[structure]]\nshape = \"union\"\nmaterial = \"Au\"\nparts = [\"s\", \"a\"]\n",
       625, 17, 15, "there is no earlier structure 'a'"},
      {all +
           "[[structure]]\nshape = \"half_space\"\nmaterial = \"Au\"\npoint = [\"0 um\", \"0 um\", "
           "\"0 um\"]\noutward = [0, 0, 0]\n",
       626, 13, 1, "has no direction"},
      // sources
      {head, 216, 1, 1, "there is no [[source]]"},
      {head +
           "[[source]]\nkind = \"point\"\ncomponent = \"Ez\"\nposition = [\"3 um\", \"0 um\", \"0 "
           "um\"]\n" +
           wave,
       628, 7, 1, "leaves the domain along x, which ends at -2 um and 2 um"},
      {head +
           "[[source]]\nkind = \"line\"\ncomponent = \"Ez\"\nposition = [\"0 um\", \"0 um\", \"0 "
           "um\"]\nsize = [\"1 um\", \"1 um\", \"0 um\"]\n" +
           wave,
       628, 8, 1, "a line has one entry above 0"},
      {head +
           "[[source]]\nkind = \"plane_wave\"\ndirection = [1, 0, 0]\npolarization = [2, 0, 0]\n" +
           wave,
       628, 7, 1, "lies across its direction"},
      {head +
           "[[source]]\nkind = \"plane_wave\"\ndirection = [0, 0, 1]\npolarization = [1, 0, 0]\n" +
           wave,
       628, 6, 1, "leads out of the axes that are resolved"},
      {head +
           "[[source]]\nkind = \"point\"\ncomponent = \"Ez\"\nposition = [\"0 um\", \"0 um\", \"0 "
           "um\"]\nwaveform = {kind = \"gaussian\", frequency = \"50 THz\"}\n",
       627, 8, 1, "a gaussian has a frequency and a bandwidth"},
      {head +
           "[[source]]\nkind = \"point\"\ncomponent = \"Ez\"\nposition = [\"0 um\", \"0 um\", \"0 "
           "um\"]\nwaveform = {frequency_min = \"1 um\", frequency_max = \"2 um\"}\n",
       627, 8, 13, "is not below frequency_max"},
      // monitors
      {all + flux, 629, 9, 1, "needs frequencies, or both ends of a band"},
      {all + flux + "frequencies = [\"50 THz\"]\nfrequency_min = \"40 THz\"\n", 629, 9, 1,
       "needs frequencies, or both ends of a band"},
      {all + flux + "frequency_min = \"50 THz\"\nfrequency_max = \"40 THz\"\n", 629, 14, 1,
       "is above frequency_max"},
      {all + flux + "frequencies = [\"50 THz\"]\nrelative_to = \"g\"\n", 625, 15, 1,
       "there is no flux monitor 'g'"},
      {all + flux + "frequencies = [\"50 THz\"]\n" + flux + "frequencies = [\"50 THz\"]\n", 625, 17,
       1, "the name 'f' is given twice"},
      {all + "[[monitor]]\nkind = \"flux\"\nname = \"f\"\nposition = [\"0 um\", \"0 um\", \"0 "
             "um\"]\nsize = [\"0 um\", \"0 um\", \"0 um\"]\nfrequencies = [\"50 THz\"]\n",
       629, 13, 1, "neither a plane"},
      {all + "[[monitor]]\nkind = \"probe\"\nname = \"a/b\"\nposition = [\"0 um\", \"0 um\", \"0 "
             "um\"]\n",
       629, 11, 1, "letters, digits"},
      {all + "[[monitor]]\nkind = \"rcs\"\nname = \"r\"\nposition = [\"0 um\", \"0 um\", \"0 "
             "um\"]\nsize = [\"1 um\", \"1 um\", \"0 um\"]\nfrequencies = [\"50 THz\"]\n",
       629, 9, 1, "one plane wave, but there are 0"},
      {all + "[[expect]]\nmonitor = \"flax\"\nvalue = 1\ntolerance = 0.1\n", 625, 10, 1,
       "there is no monitor 'flax'"},
  };
  EXPECT_TRUE(findings(all).empty());
  for (const auto& c : cases) {
    const auto found = findings(c.text);
    EXPECT_EQ(found.size(), 1u) << c.text << (found.empty() ? "" : to_string(found.back()));
    if (found.empty()) continue;
    const Diagnostic& d = found[0];
    EXPECT_EQ(d.number, c.number) << to_string(d);
    EXPECT_EQ(d.place.line, c.line) << to_string(d);
    EXPECT_EQ(d.place.column, c.column) << to_string(d);
    EXPECT_NE(d.message.find(c.words), std::string::npos) << to_string(d);
  }
}

TEST(FdtdOptions, WhatAPolarizationLeavesOutCannotBeExcitedNorMeasured) {
  const auto found = findings(
      "run.stop.steps = 10\n[grid]\nsize = [\"4 um\", \"4 um\", \"0 um\"]\ncell = \"0.1 "
      "um\"\npolarization = \"Hz\"\n[[source]]\nkind = \"point\"\ncomponent = \"Ez\"\nposition = "
      "[\"0 "
      "um\", \"0 um\", \"0 um\"]\nwaveform = {kind = \"ricker\", frequency = \"50 "
      "THz\"}\n[[monitor]]\nkind = \"probe\"\nname = \"p\"\nposition = [\"0 um\", \"0 um\", \"0 "
      "um\"]\ncomponents = [\"Hz\", \"Hx\"]\n");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].number, 628);
  EXPECT_EQ(found[0].place.line, 9u);
  EXPECT_EQ(found[1].number, 629);
  EXPECT_EQ(found[1].place.line, 16u);
  EXPECT_EQ(found[1].place.column, 21u);
}

TEST(FdtdOptions, AlongOneAxisNoWaveHasAComponentAlongIt) {
  const auto found = findings(
      "run.stop.steps = 10\n[grid]\nsize = [\"4 um\", \"0 um\", \"0 um\"]\ncell = \"0.1 um\"\n"
      "[[source]]\nkind = \"point\"\ncomponent = \"Ex\"\nposition = [\"0 um\", \"0 um\", \"0 um\"]\n"
      "waveform = {kind = \"ricker\", frequency = \"50 THz\"}\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].number, 628);
  EXPECT_EQ(found[0].place.line, 8u);
  EXPECT_NE(found[0].message.find("the one axis that is resolved"), std::string::npos) << found[0].message;
}

TEST(FdtdOptions, EveryMediumOfTheLibraryMayBeNamed) {
  for (const std::string& name : tessera::electromagnetics::list_media())
    EXPECT_NO_THROW(read(std::string(kCase), {"structure[0].material=" + name}));
}
