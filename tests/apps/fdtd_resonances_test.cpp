// SPDX-License-Identifier: Apache-2.0
// Modes of resonators and how they move with lengths.
#include "fdtd_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

using namespace tessera::testing;

namespace {

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
  const std::vector<double> found = column("RUN", "modes", "frequency");
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t k = 0; k < wanted.size(); ++k)
    EXPECT_NEAR(found[k], wanted[k], 1e-9 * wanted[k]) << k;
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
    const Outcome o =
        run_case("box.toml", "RUN", {std::string("run.precision=\"") + precision + "\""});
    ASSERT_EQ(o.code, 0) << o.err;
    const auto all = column("RUN", "all", "frequency"), hz = column("RUN", "hz", "frequency"),
               four = column("RUN", "four", "frequency");
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
  const std::string base = table("RUN", "modes");
  const struct {
    const char *name, *key, *below, *above;
  } moves[] = {{"bar.size[0]", "structure[0].size", "[\"1569.98 nm\", \"0.73 um\", \"inf\"]",
                "[\"1570.02 nm\", \"0.73 um\", \"inf\"]"},
               {"bar.centre[1]", "structure[0].centre", "[\"0.11 um\", \"-320.02 nm\", \"0 um\"]",
                "[\"0.11 um\", \"-319.98 nm\", \"0 um\"]"}};
  for (const auto& m : moves) {
    std::vector<std::string> ends;
    for (const char* value : {m.below, m.above}) {
      const Outcome moved = run_case(
          "bar.toml", "M", {std::string(m.key) + "=" + value, "monitor[0].derivatives=[]"});
      ASSERT_EQ(moved.code, 0) << moved.err;
      ends.push_back(table("M", "modes"));
    }
    for (const std::string quantity : {"frequency", "decay"}) {
      const auto derivative = csv_column(base, quantity + "_by_" + m.name),
                 below = csv_column(ends[0], quantity), above = csv_column(ends[1], quantity);
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

/// The same by [parameters]: one moves two lengths, a place and an angle, another a permittivity.
/// Frequencies and decay beside central differences of whole runs.
TEST_F(Fdtd, DerivativesInParametersAreThoseOfTheRuns) {
  write("bar.toml", R"(app = "electromagnetics.fdtd"
output = {vtk = false, pictures = false, scene = false}
grid = {centre = ["0 um", "0.5 um", "0 um"], size = ["3 um", "3 um", "0 um"], cell = "0.1 um", polarization = "Hz"}
run = {precision = "f64", stop.after_sources = "0.4 ps"}
boundary = {x = "pec", y_low = "pec", y_high = "pml", pml.cells = 10}
[parameters]
w = "1.57 um"
h = "w/2 - 0.055 um"
n = 2.45
top = "90 THz"
[[material]]
name = "glass"
index = "n"
[[structure]]
shape = "box"
name = "bar"
centre = ["0.11 um", "-h + 0.41 um", "0 um"]
size = ["w", "h", "inf"]
rotate = {angle = "17 deg*w/1.57 um", about = ["0 um", "0 um", "0 um"]}
material = "glass"
[[source]]
kind = "point"
component = "Hz"
position = ["-1.2 um", "-0.7 um", "0 um"]
waveform = {kind = "gaussian", frequency_min = "40 THz", frequency_max = "top + 10 THz"}
[[monitor]]
kind = "resonances"
name = "modes"
position = ["-1.1 um", "-0.8 um", "0 um"]
frequency_min = "40 THz"
frequency_max = "top"
min_quality = 30
derivatives = ["w", "n", "bar.size[0]"]
)");
  const Outcome checked = tessera({"check", "bar.toml"});
  EXPECT_EQ(checked.code, 0) << checked.err;
  EXPECT_TRUE(holds(checked.out, "h = w/2 - 0.055 um = 730 nm")) << checked.out;
  EXPECT_TRUE(holds(checked.out, "n = 2.45\n")) << checked.out;
  const Outcome run = tessera({"run", "bar.toml", "--output", "RUN"});
  ASSERT_EQ(run.code, 0) << run.err;
  const std::string base = table("RUN", "modes");
  EXPECT_TRUE(holds(read("RUN/resolved.toml"), "size = [\"w\", \"h\", \"inf\"]"));
  const struct {
    const char *name, *key, *below, *above;
    double apart;
  } moves[] = {{"w", "parameters.w", "1569.98 nm", "1570.02 nm", 4e-11},
               {"n", "parameters.n", "2.44995", "2.45005", 1e-4},
               {"bar.size[0]", "structure[0].size", "[\"1569.98 nm\", \"h\", \"inf\"]",
                "[\"1570.02 nm\", \"h\", \"inf\"]", 4e-11}};
  for (const auto& m : moves) {
    std::vector<std::string> ends;
    for (const char* value : {m.below, m.above}) {
      const Outcome moved = run_case(
          "bar.toml", "M", {std::string(m.key) + "=" + value, "monitor[0].derivatives=[]"});
      ASSERT_EQ(moved.code, 0) << moved.err;
      ends.push_back(table("M", "modes"));
    }
    for (const std::string quantity : {"frequency", "decay"}) {
      const auto derivative = csv_column(base, quantity + "_by_" + m.name),
                 below = csv_column(ends[0], quantity), above = csv_column(ends[1], quantity);
      ASSERT_GE(derivative.size(), 2u);
      ASSERT_EQ(below.size(), derivative.size());
      ASSERT_EQ(above.size(), derivative.size());
      for (std::size_t k = 0; k < derivative.size(); ++k)
        EXPECT_NEAR((above[k] - below[k]) / m.apart / derivative[k], 1, 1e-5)
            << m.name << " " << quantity << " " << k;
    }
  }
  const Outcome other = tessera({"resume", "RUN", "--set", "parameters.w=2 um"});
  EXPECT_EQ(other.code, 5);
  EXPECT_TRUE(holds(other.err, "E0435") && holds(other.err, "structure[0].size")) << other.err;
  const struct {
    const char *set, *says;
  } refused[] = {{"monitor[0].derivatives=[\"h\"]", "'h' = 'w/2 - 0.055 um' follows from others"},
                 {"monitor[0].derivatives=[\"top\"]", "'top' moves 'monitor[0].frequency_max'"},
                 {"grid.exact_speed_at=60 THz", "which grid.exact_speed_at corrects"}};
  for (const auto& r : refused) {
    const Outcome no = tessera({"check", "bar.toml", "--set", r.set});
    EXPECT_EQ(no.code, 5);
    EXPECT_TRUE(holds(no.err, "E0642") && holds(no.err, r.says)) << no.err;
  }
  const Outcome unknown =
      tessera({"check", "bar.toml", "--set", "monitor[0].derivatives=[\"ww\"]"});
  EXPECT_TRUE(holds(unknown.err, "E0625")) << unknown.err;
}

/// A record begins where nothing drives any more: of a plane wave not before it has crossed its
/// box, 79 fs behind the end of the waveform, at 97 fs, and when its filters, which run on for 129
/// fs here, have ended. Of a mode that falls as e^{-gamma t} the amplitude at the beginning tells
/// when that was.
TEST_F(Fdtd, ARecordOfModesBeginsBehindTheWaveThatCrossesItsBox) {
  write("slab.toml", R"(app = "electromagnetics.fdtd"
output = {vtk = false, pictures = false, scene = false}
grid = {size = ["24 um", "0 um", "0 um"], cell = "10 nm"}
run = {precision = "f64", stop.time = "0.7 ps"}
boundary.pml.cells = 10
[[material]]
name = "dense"
index = 9
[[structure]]
shape = "box"
centre = ["10 um", "0 um", "0 um"]
size = ["1 um", "inf", "inf"]
material = "dense"
[[source]]
kind = "plane_wave"
direction = [1, 0, 0]
polarization = [0, 1, 0]
waveform = {kind = "gaussian", frequency = "100 THz", bandwidth = "100 THz"}
[[monitor]]
kind = "resonances"
name = "modes"
position = ["10.1 um", "0 um", "0 um"]
components = ["Ey"]
frequency_min = "60 THz"
frequency_max = "140 THz"
)");
  const auto sixth = [&](const std::string& name) {  // near 6 c/(2 n L) = 99.93 THz
    const auto f = column(name, "modes", "frequency"), decay = column(name, "modes", "decay"),
               re = column(name, "modes", "amplitude_re"),
               im = column(name, "modes", "amplitude_im");
    EXPECT_FALSE(f.empty());
    std::pair<double, double> found{NAN, NAN};
    double nearest = 5e12;
    for (std::size_t k = 0; k < f.size(); ++k)
      if (std::abs(f[k] - 99.93e12) < nearest) {
        nearest = std::abs(f[k] - 99.93e12);
        found = {std::hypot(re[k], im[k]), decay[k]};
      }
    return found;
  };
  ASSERT_EQ(run_case("slab.toml", "RUN").code, 0);
  ASSERT_EQ(run_case("slab.toml", "LATE", {"monitor[0].start=\"250 fs\""}).code, 0);
  const auto [by_itself, unused] = sixth("RUN");
  const auto [late, gamma] = sixth("LATE");
  const double began = 250e-15 - std::log(by_itself / late) / gamma;
  EXPECT_GT(began, 172e-15);
  EXPECT_LT(began, 310e-15);
  // A wave is no current along a component: where none are named, all are looked at.
  ASSERT_EQ(run_case("slab.toml", "ALL", {"monitor[0].components=[]"}).code, 0);
  EXPECT_NEAR(sixth("ALL").second / gamma, 1, 1e-3);
}

/// Rounding is that of fields in the same units, E and Z0 H: weak modes of Hz beside strong ones of
/// Ez are found in single precision.
TEST_F(Fdtd, WeakModesOfHAreTold) {
  write("box.toml", R"(app = "electromagnetics.fdtd"
output = {vtk = false, pictures = false, scene = false}
grid = {centre = ["1.5 um", "1 um", "0 um"], size = ["3 um", "2 um", "0 um"], cell = "0.1 um"}
run = {precision = "f32", stop.after_sources = "0.6 ps"}
boundary = {x = "pec", y = "pec"}
[[source]]
kind = "point"
component = "Ez"
position = ["0.5 um", "0.3 um", "0 um"]
waveform = {kind = "gaussian", frequency_min = "40 THz", frequency_max = "200 THz"}
[[source]]
kind = "point"
component = "Hz"
position = ["0.5 um", "0.3 um", "0 um"]
amplitude = 377e-6
waveform = {kind = "gaussian", frequency_min = "40 THz", frequency_max = "200 THz"}
[[monitor]]
kind = "resonances"
name = "modes"
position = ["2.2 um", "1.3 um", "0 um"]
components = ["Ez", "Hz"]
frequency_min = "40 THz"
frequency_max = "110 THz"
[[monitor]]
kind = "resonances"
name = "hz"
position = ["2.2 um", "1.3 um", "0 um"]
components = ["Hz"]
frequency_min = "40 THz"
frequency_max = "110 THz"
)");
  ASSERT_EQ(run_case("box.toml", "RUN").code, 0);
  const std::vector<double> f = column("RUN", "modes", "frequency");
  for (const double wanted : {49.97e12, 74.95e12, 90.08e12})  // (1, 0) and (0, 1) of Hz, (1, 1)
    EXPECT_TRUE(std::any_of(f.begin(), f.end(), [&](double x) {
      return std::abs(x - wanted) < 5e-3 * wanted;
    })) << wanted;
  // Amplitudes have the unit of the first component: H beside E is Z0 H.
  const auto at_75_thz = [&](const std::string& monitor) {
    const auto at = column("RUN", monitor, "frequency"),
               re = column("RUN", monitor, "amplitude_re"),
               im = column("RUN", monitor, "amplitude_im");
    double amplitude = 0;
    for (std::size_t k = 0; k < at.size(); ++k)
      if (std::abs(at[k] - 74.95e12) < 0.4e12) amplitude = std::hypot(re[k], im[k]);
    return amplitude;
  };
  EXPECT_NEAR(at_75_thz("modes") / at_75_thz("hz") / 376.73, 1, 0.1);
  const Outcome fast = tessera({"check", "box.toml", "--set", "monitor[0].frequency_max=5000 THz"});
  EXPECT_EQ(fast.code, 5);
  EXPECT_TRUE(holds(fast.err, "E0629") && holds(fast.err, "tell nothing above")) << fast.err;
}

}  // namespace
