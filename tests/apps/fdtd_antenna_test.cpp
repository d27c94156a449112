// SPDX-License-Identifier: Apache-2.0
// What ports and far fields say of an antenna together.
#include "fdtd_case.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <string>
#include <tuple>
#include <vector>

using namespace tessera::testing;

namespace {

/// Two upright arms of 0.1 m, a wavelength of 0.75 m, with a port of two cells between: all of it,
/// or the half above a mirror at z = 0.
std::string dipole(bool half) {
  const std::string low = half ? "0 m" : "-0.45 m", size = half ? "0.45 m" : "0.9 m",
                    centre = half ? "0.225 m" : "0 m", box = half ? "0.15 m" : "0.3 m",
                    middle = half ? "0.075 m" : "0 m";
  return R"(app = "electromagnetics.fdtd"
[grid]
size = ["0.9 m", "0.9 m", ")" +
         size + R"("]
centre = ["0 m", "0 m", ")" +
         centre + R"("]
cell = "25 mm"
[run]
precision = "f64"
stop.decay_db = 70
[boundary]
pml.cells = 8
)" + (half ? "z_low = \"pec\"\nsymmetry = [\"z_low\"]\n" : "") +
         R"([[structure]]
shape = "box"
material = "pec"
low = ["-25 mm", "-25 mm", "25 mm"]
high = ["25 mm", "25 mm", "125 mm"]
)" + (half ? "" : R"([[structure]]
shape = "box"
material = "pec"
low = ["-25 mm", "-25 mm", "-125 mm"]
high = ["25 mm", "25 mm", "-25 mm"]
)") +
         R"([[port]]
kind = "lumped"
name = "feed"
position = ["0 m", "0 m", "0 m"]
size = ["0 m", "0 m", "50 mm"]
direction = [0, 0, 1]
resistance = "75 ohm"
[s_parameters]
frequencies = ["300 MHz", "400 MHz", "500 MHz"]
[[monitor]]
kind = "far_field"
name = "far"
beam = true
position = ["0 m", "0 m", ")" +
         middle + R"("]
size = ["0.3 m", "0.3 m", ")" +
         box + R"("]
frequencies = ["300 MHz", "400 MHz", "500 MHz"]
angle_points = [7, 4]
)";
}

TEST_F(Fdtd, AnAntennaWithoutLossRadiatesWhatItsPortAccepts) {
  write("case.toml", dipole(false));
  const Outcome run = run_case("case.toml", "RUN");
  ASSERT_EQ(run.code, 0) << run.err;
  const auto far = [&](const char* name) { return column("RUN", "far", name); };
  const std::vector<double> efficiency = far("radiation_efficiency"),
                            total = far("total_efficiency"), gain = far("beam_gain"),
                            realised = far("beam_realised_gain"), most = far("beam_directivity"),
                            accepted = far("accepted_power"), incident = far("incident_power"),
                            re = column("RUN", "s_parameters", "S_feed_feed_re"),
                            im = column("RUN", "s_parameters", "S_feed_feed_im"),
                            z_re = column("RUN", "feed", "input_impedance_re"),
                            z_im = column("RUN", "feed", "input_impedance_im"),
                            vswr = column("RUN", "feed", "vswr");
  ASSERT_EQ(efficiency.size(), 3U);
  for (std::size_t f = 0; f < 3; ++f) {
    // Both powers are those of the scheme, to what fields have still to fall; cos(w dt/2), which is
    // between V and e at the port, is 0.9974 at the highest.
    EXPECT_NEAR(efficiency[f], 1, 1e-3);
    const double back = re[f] * re[f] + im[f] * im[f];
    EXPECT_NEAR(accepted[f] / incident[f], 1 - back, 1e-9);
    EXPECT_NEAR(total[f], efficiency[f] * (1 - back), 1e-9);
    EXPECT_NEAR(gain[f], most[f] * efficiency[f], 1e-9);
    EXPECT_NEAR(realised[f], most[f] * total[f], 1e-9);
    const std::complex<double> s(re[f], im[f]), z = 75.0 * (1.0 + s) / (1.0 - s);
    EXPECT_NEAR(std::abs(z - std::complex<double>(z_re[f], z_im[f])), 0, 1e-9 * std::abs(z));
    EXPECT_NEAR(vswr[f], (1 + std::sqrt(back)) / (1 - std::sqrt(back)), 1e-9 * vswr[f]);
  }
  // Its pattern, a row for each frequency and direction: about the z axis, none along it.
  const auto pattern = csv_table(read("RUN/tables/patterns/far.csv"));
  ASSERT_EQ(pattern.at("gain").size(), 3U * 7 * 4);
  for (std::size_t row = 0; row < 3 * 7 * 4; ++row) {
    const std::size_t f = row / 28;
    EXPECT_EQ(pattern.at("frequency_Hz")[row], 300e6 + 100e6 * static_cast<double>(f));
    EXPECT_EQ(pattern.at("theta_deg")[row], 30.0 * static_cast<double>(row % 28 / 4));
    EXPECT_EQ(pattern.at("phi_deg")[row], 90.0 * static_cast<double>(row % 4));
    EXPECT_EQ(pattern.at("gain")[row], column("RUN", "far", "gain_" + std::to_string(row % 28))[f]);
    EXPECT_EQ(pattern.at("gain_dBi")[row], 10 * std::log10(pattern.at("gain")[row]));
    EXPECT_EQ(pattern.at("E_theta_im")[row],
              column("RUN", "far", "E_theta_" + std::to_string(row % 28) + "_im")[f]);
    EXPECT_EQ(pattern.contains("axial_ratio_dBi"), false);
    const double across = pattern.at("gain")[28 * f + 12];
    EXPECT_NEAR(pattern.at("gain")[row] < 0.01 * across, row % 28 < 4 || row % 28 > 23, 0);
  }
  EXPECT_TRUE(holds(read("RUN/tables/far.csv"), ",beam_theta_deg,beam_phi_deg,beam_directivity,"));
  // A short dipole: 1.76 dBi at no length, a little more at 0.33 wavelengths.
  EXPECT_NEAR(10 * std::log10(gain[0]), 1.83, 0.08);
  EXPECT_TRUE(holds(run.err + run.out, "realised gain")) << run.err << run.out;
  EXPECT_TRUE(std::filesystem::exists(here() / "RUN/plots/far_polar.png"));
  // Drawn again from results.h5, whose arrays stand in the order of their names.
  for (const char* name : {"RUN/plots/far.svg", "RUN/plots/far_polar.svg"}) {
    const std::string drawn = read(name);
    ASSERT_EQ(tessera({"plot", "RUN"}).code, 0);
    EXPECT_TRUE(read(name) == drawn) << name;
  }
}

// The resistance behind the port is 75 ohm: what a generator of 50 sees follows from S alone.
TEST_F(Fdtd, WhatAnAntennaTakesIsOfTheReferenceOfS) {
  write("case.toml", dipole(false));
  ASSERT_EQ(run_case("case.toml", "OWN").code, 0);
  const Outcome run = run_case(
      "case.toml", "RUN", {"s_parameters.reference=\"50 ohm\"", "s_parameters.per_watt=incident"});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto far = [&](const char* name) { return column("RUN", "far", name); };
  const std::vector<double> efficiency = far("radiation_efficiency"),
                            total = far("total_efficiency"), realised = far("beam_realised_gain"),
                            most = far("beam_directivity"), power = far("power"),
                            re = column("RUN", "s_parameters", "S_feed_feed_re"),
                            im = column("RUN", "s_parameters", "S_feed_feed_im"),
                            vswr = column("RUN", "feed", "vswr");
  for (std::size_t f = 0; f < 3; ++f) {
    const double back = re[f] * re[f] + im[f] * im[f];
    EXPECT_NEAR(total[f], efficiency[f] * (1 - back), 1e-9);
    EXPECT_NEAR(realised[f], most[f] * total[f], 1e-9);
    EXPECT_NEAR(vswr[f], (1 + std::sqrt(back)) / (1 - std::sqrt(back)), 1e-9 * vswr[f]);
    EXPECT_NEAR(power[f], total[f], 1e-9);  // of 1 W that comes in
    EXPECT_EQ(column("RUN", "feed", "reference_re")[f], 50);
    EXPECT_EQ(column("OWN", "feed", "reference_re")[f], 75);
    EXPECT_GT(std::abs(total[f] - column("OWN", "far", "total_efficiency")[f]), 0.01 * total[f]);
  }
  for (const auto& [monitor, name] : {std::pair{"feed", "input_impedance_re"},
                                      {"feed", "input_impedance_im"},
                                      {"far", "radiation_efficiency"},
                                      {"far", "beam_gain"}}) {
    const std::vector<double> own = column("OWN", monitor, name),
                              seen = column("RUN", monitor, name);
    for (std::size_t f = 0; f < 3; ++f)
      EXPECT_NEAR(seen[f], own[f], 1e-9 * std::abs(own[f])) << name;
  }
}

TEST_F(Fdtd, HalfAnAntennaOnItsMirrorIsTheWhole) {
  write("whole.toml", dipole(false));
  write("half.toml", dipole(true));
  ASSERT_EQ(run_case("whole.toml", "WHOLE").code, 0);
  const Outcome half = run_case("half.toml", "HALF");
  ASSERT_EQ(half.code, 0) << half.err;
  for (const auto& [monitor, name] : {std::pair{"far", "radiation_efficiency"},
                                      {"far", "beam_gain"},
                                      {"far", "beam_realised_gain"},
                                      {"far", "accepted_power"},
                                      {"feed", "input_impedance_re"},
                                      {"feed", "input_impedance_im"}}) {
    const std::vector<double> a = column("WHOLE", monitor, name), b = column("HALF", monitor, name);
    ASSERT_EQ(a.size(), 3U) << name;
    // Both have fallen by 70 dB, at other steps.
    for (std::size_t f = 0; f < 3; ++f) EXPECT_NEAR(b[f], a[f], 2e-3 * std::abs(a[f])) << name;
  }
  // A port that only ends at the mirror is one of two in the whole, a half of the gap each.
  const Outcome two =
      run_case("half.toml", "TWO",
               {"port[0].position=[\"0 m\",\"0 m\",\"12.5 mm\"]",
                "port[0].size=[\"0 m\",\"0 m\",\"25 mm\"]", "port[0].resistance=\"37.5 ohm\""});
  ASSERT_EQ(two.code, 0) << two.err;
  for (const char* name :
       {"radiation_efficiency", "total_efficiency", "beam_gain", "beam_realised_gain"}) {
    const std::vector<double> a = column("HALF", "far", name), b = column("TWO", "far", name);
    for (std::size_t f = 0; f < 3; ++f) EXPECT_NEAR(b[f], a[f], 1e-6 * a[f]) << name;
  }
  // Upright on a wall: half of the impedance, and all of the power in half of the space.
  const Outcome wall =
      run_case("half.toml", "WALL",
               {"boundary.symmetry=[]", "port[0].position=[\"0 m\",\"0 m\",\"12.5 mm\"]",
                "port[0].size=[\"0 m\",\"0 m\",\"25 mm\"]", "port[0].resistance=\"37.5 ohm\""});
  ASSERT_EQ(wall.code, 0) << wall.err;
  const auto ratio = [&](const char* monitor, const char* name) {
    return column("WALL", monitor, name)[1] / column("WHOLE", monitor, name)[1];
  };
  EXPECT_NEAR(ratio("far", "beam_gain"), 2, 0.01);
  EXPECT_NEAR(ratio("far", "radiation_efficiency"), 1, 0.01);
  EXPECT_NEAR(ratio("feed", "input_impedance_re"), 0.5, 0.002);
}

/// A dipole of thin wire on the edge between two magnetic mirrors: a quarter of it is in the grid.
TEST_F(Fdtd, AQuarterOfAWireBetweenMirrorsIsTheWhole) {
  const auto text = [](bool quarter) {
    const std::string centre = quarter ? "0.2 m" : "0 m", size = quarter ? "0.4 m" : "0.8 m",
                      middle = quarter ? "0.075 m" : "0 m", box = quarter ? "0.15 m" : "0.3 m";
    return R"(app = "electromagnetics.fdtd"
[grid]
size = [")" +
           size + "\", \"" + size + R"(", "0.825 m"]
centre = [")" +
           centre + "\", \"" + centre + R"(", "0 m"]
cell = "25 mm"
[run]
precision = "f64"
stop.decay_db = 50
[boundary]
pml.cells = 8
)" + (quarter ? "x_low = \"pmc\"\ny_low = \"pmc\"\nsymmetry = [\"x_low\", \"y_low\"]\n" : "") +
           R"([[wire]]
points = [["0 m", "0 m", "-0.13 m"], ["0 m", "0 m", "0.13 m"]]
radius = "2.5 mm"
[[port]]
kind = "lumped"
name = "feed"
position = ["0 m", "0 m", "0 m"]
size = ["0 m", "0 m", "25 mm"]
direction = [0, 0, 1]
resistance = "75 ohm"
[s_parameters]
frequencies = ["500 MHz"]
[[monitor]]
kind = "far_field"
name = "far"
beam = true
position = [")" +
           middle + "\", \"" + middle + R"(", "0 m"]
size = [")" +
           box + "\", \"" + box + R"(", "0.375 m"]
frequencies = ["500 MHz"]
angle_points = [7, 4]
)";
  };
  write("whole.toml", text(false));
  write("quarter.toml", text(true));
  const Outcome whole = run_case("whole.toml", "WHOLE");
  ASSERT_EQ(whole.code, 0) << whole.err;
  const Outcome quarter = run_case("quarter.toml", "QUARTER");
  ASSERT_EQ(quarter.code, 0) << quarter.err;
  for (const auto& [monitor, name] : {std::pair{"far", "radiation_efficiency"},
                                      {"far", "beam_gain"},
                                      {"far", "accepted_power"},
                                      {"feed", "input_impedance_re"},
                                      {"feed", "input_impedance_im"}}) {
    const double a = column("WHOLE", monitor, name).at(0),
                 b = column("QUARTER", monitor, name).at(0);
    EXPECT_NEAR(b, a, 1e-3 * std::abs(a)) << name;
  }
  EXPECT_NEAR(column("WHOLE", "far", "radiation_efficiency")[0], 1, 0.01);
}

TEST_F(Fdtd, GainNeedsThePortsInItsBoxAndTheFrequenciesOfS) {
  write("case.toml", dipole(false));
  const Outcome outside =
      tessera({"check", "case.toml", "--set", "monitor[0].position=[\"0.2 m\",\"0 m\",\"0 m\"]"});
  EXPECT_TRUE(holds(outside.err + outside.out, "E0662") &&
              holds(outside.err + outside.out, "'feed', which drives"))
      << outside.err << outside.out;
  const Outcome other =
      tessera({"check", "case.toml", "--set", "monitor[0].frequencies=[\"350 MHz\"]"});
  EXPECT_TRUE(holds(other.err + other.out, "E0666") &&
              holds(other.err + other.out, "gain and efficiencies are left out"))
      << other.err << other.out;
}

/// Two dipoles of thin wire, a quarter of a wavelength apart.
std::string pair_of_dipoles() {
  std::string text = R"(app = "electromagnetics.fdtd"
[grid]
size = ["0.8 m", "1 m", "0.875 m"]
cell = "25 mm"
[run]
precision = "f64"
stop.decay_db = 60
[boundary]
pml.cells = 8
[[monitor]]
kind = "far_field"
name = "far"
position = ["0 m", "0 m", "0 m"]
size = ["0.25 m", "0.45 m", "0.375 m"]
frequencies = ["400 MHz"]
theta = ["90 deg"]
phi = ["90 deg", "270 deg"]
[s_parameters]
frequencies = ["350 MHz", "400 MHz"]
[[s_parameters.array]]
name = "alone"
ports = ["left"]
[[s_parameters.array]]
name = "steered"
ports = ["left", "right"]
amplitudes = [1, 1]
phases = ["0 deg", "-90 deg"]
)";
  for (const char* name : {"left", "right"}) {
    const std::string y = name[0] == 'l' ? "-100 mm" : "100 mm";
    text += "[[wire]]\nradius = \"2 mm\"\npoints = [[\"0 m\", \"" + y +
            "\", \"-0.13 m\"], [\"0 m\", \"" + y + "\", \"0.13 m\"]]\n";
    text +=
        "[[port]]\nkind = \"lumped\"\nname = \"" + std::string(name) +
        "\"\nposition = [\"0 m\", \"" + y +
        "\", \"0 m\"]\nsize = [\"0 m\", \"0 m\", \"25 mm\"]\ndirection = [0, 0, 1]\nresistance = "
        "\"60 ohm\"\n";
  }
  return text;
}

TEST_F(Fdtd, PortsThatAreDrivenTogetherAreSumsOfTheirRuns) {
  write("case.toml", pair_of_dipoles());
  const Outcome run = run_case("case.toml", "RUN");
  ASSERT_EQ(run.code, 0) << run.err;
  const auto complex = [&](const std::string& monitor, const std::string& name, std::size_t f) {
    return std::complex<double>(column("RUN", monitor, name + "_re")[f],
                                column("RUN", monitor, name + "_im")[f]);
  };
  const std::complex<double> turned(0, -1);
  for (const std::size_t f : {0, 1}) {
    const auto s11 = complex("s_parameters", "S_left_left", f),
               s12 = complex("s_parameters", "S_left_right", f),
               s22 = complex("s_parameters", "S_right_right", f),
               s21 = complex("s_parameters", "S_right_left", f);
    EXPECT_LT(std::abs(complex("alone", "active_reflection_left", f) - s11), 1e-9);
    EXPECT_LT(std::abs(complex("steered", "active_reflection_left", f) - (s11 + s12 * turned)),
              1e-9);
    EXPECT_LT(std::abs(complex("steered", "active_reflection_right", f) - (s22 + s21 / turned)),
              1e-9);
    EXPECT_NEAR(column("RUN", "steered", "incident_power")[f], 2, 1e-9);
  }
  // In its own run the other port is closed by 60 ohm and the capacitance of its cell, here by 60
  // ohm alone.
  for (const char* name : {"gain_0", "gain_1", "radiation_efficiency"}) {
    const double own = column("RUN", "far.left", name)[0];
    EXPECT_NEAR(column("RUN", "far.alone", name)[0], own, 4e-3 * own) << name;
  }
  EXPECT_NEAR(column("RUN", "far.steered", "radiation_efficiency")[0], 1, 0.01);
  // A quarter of a wavelength apart, the one behind by a quarter of a period: towards it.
  EXPECT_GT(column("RUN", "far.steered", "gain_0")[0],
            8 * column("RUN", "far.steered", "gain_1")[0]);
  // All of another reference: that of S.
  ASSERT_EQ(run_case("case.toml", "RUN", {"s_parameters.reference=\"75 ohm\""}).code, 0);
  for (const std::size_t f : {0, 1}) {
    const auto s11 = complex("s_parameters", "S_left_left", f),
               s12 = complex("s_parameters", "S_left_right", f);
    EXPECT_LT(std::abs(complex("steered", "active_reflection_left", f) - (s11 + s12 * turned)),
              1e-9);
    const double accepted = column("RUN", "alone", "accepted_power")[f];
    EXPECT_NEAR(column("RUN", "alone", "incident_power")[f], 1, 1e-9);
    EXPECT_NEAR(accepted,
                1 - std::norm(s11) - std::norm(complex("s_parameters", "S_right_left", f)), 1e-9);
    if (f == 0) continue;  // the far field is of the other frequency
    EXPECT_NEAR(column("RUN", "far.alone", "total_efficiency")[0],
                accepted * column("RUN", "far.alone", "radiation_efficiency")[0], 1e-9);
  }
  const Outcome wrong =
      tessera({"check", "case.toml", "--set", "s_parameters.array[1].phases=[\"0 deg\"]"});
  EXPECT_EQ(wrong.code, 5);
  EXPECT_TRUE(holds(wrong.err, "E0667") && holds(wrong.err, "1 values for 2 ports")) << wrong.err;
}

TEST_F(Fdtd, WiresThatCannotBeAreRefusedAtTheirKey) {
  write("case.toml", pair_of_dipoles());
  for (const auto& [setting, key, words] :
       {std::tuple{"wire[1].points=[[\"0 m\",\"0.1 m\",\"0 m\"],[\"0 m\",\"0.1 m\",\"3 m\"]]",
                   "points", "leaves the domain"},
        {"wire[1].points=[[\"0 m\",\"0.1 m\",\"0 m\"],[\"0 m\",\"0.1 m\",\"20 mm\"]]", "points",
         "no edge of the grid"},
        {"wire[1].radius=\"10 mm\"", "radius", "0.4 of a cell"}}) {
    const Outcome o = tessera({"check", "case.toml", "--set", setting});
    EXPECT_EQ(o.code, 5) << setting;
    EXPECT_TRUE(holds(o.err, "E0675") && holds(o.err, words)) << o.err;
    EXPECT_TRUE(holds(o.err, (std::string("wire[1].") + key).c_str())) << o.err;
  }
}

// Power of lumped ports and of modes is counted alike: peak values, |a|^2 the power.
TEST_F(Fdtd, AModeAndALumpedPortExchangePower) {
  write("case.toml", R"(app = "electromagnetics.fdtd"
[grid]
size = ["400 mm", "20 mm", "0 mm"]
cell = "5 mm"
polarization = "Hz"
[run]
precision = "f64"
stop.decay_db = 120
[boundary]
x_low = "pml"
x_high = "pmc"
y = "pec"
pml.cells = 16
[[port]]
kind = "mode"
name = "left"
position = ["-80 mm", "0 mm", "0 mm"]
direction = [1, 0, 0]
[[port]]
kind = "lumped"
name = "right"
position = ["200 mm", "0 mm", "0 mm"]
size = ["0 mm", "20 mm", "0 mm"]
direction = [0, 1, 0]
resistance = "5 ohm"
[s_parameters]
frequencies = ["0.4 GHz", "0.9 GHz"]
)");
  const Outcome run = run_case("case.toml", "RUN");
  ASSERT_EQ(run.code, 0) << run.err;
  const auto size = [&](const std::string& name, std::size_t f) {
    return std::hypot(column("RUN", "s_parameters", "S_" + name + "_re")[f],
                      column("RUN", "s_parameters", "S_" + name + "_im")[f]);
  };
  for (const std::size_t f : {0, 1}) {
    // A mode's watt takes E and H of one time, and a step E of the time between: cos(w dt/2), 5e-4.
    EXPECT_NEAR(size("left_right", f), size("right_left", f), 1e-3);
    EXPECT_NEAR(std::pow(size("left_left", f), 2) + std::pow(size("right_left", f), 2), 1, 1e-3);
  }
}

/// Counted before the run: the patterns are made when its last step is taken.
TEST_F(Fdtd, PatternsThatMemoryCannotHoldAreRefused) {
  write("fine.toml", R"(app = "electromagnetics.fdtd"
grid = {size = ["2 um", "2 um", "2 um"], cell = "100 nm"}
run.stop.decay_db = 60
boundary.pml.cells = 5
[[source]]
kind = "point"
component = "Ez"
position = ["0 um", "0 um", "0 um"]
waveform = {kind = "gaussian", frequency = "200 THz", bandwidth = "100 THz"}
[[monitor]]
kind = "far_field"
name = "pattern"
position = ["0 um", "0 um", "0 um"]
size = ["0.6 um", "0.6 um", "0.6 um"]
frequency_min = "150 THz"
frequency_max = "250 THz"
frequency_points = 101
angle_points = [50001, 100000]
)");
  const Outcome o = tessera({"check", "fine.toml"});
  EXPECT_EQ(o.code, 3) << o.err;
  EXPECT_TRUE(holds(o.err, "error E0655: the case needs ") && holds(o.err, "GB for this monitor"))
      << o.err;
}

}  // namespace
