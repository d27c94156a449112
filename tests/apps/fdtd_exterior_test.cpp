// SPDX-License-Identifier: Apache-2.0
// What lies outside of a monitor: symmetries, walls, and the medium that carries its waves on.
#include "app_test.h"
#include "csv_columns.h"
#include "test_paths.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

using namespace tessera::testing;
namespace fs = std::filesystem;

namespace {

const std::string kGallery = TESSERA_SOURCE_DIR "/apps/examples/electromagnetics/";

class FdtdExterior : public AppTest {
 protected:
  void run_case(const std::string& file, const std::string& name,
                const std::vector<std::string>& settings = {}) {
    std::vector<std::string> arguments{"run", file, "--output", name};
    for (const std::string& s : settings) arguments.insert(arguments.end(), {"--set", s});
    const Outcome o = tessera(arguments);
    ASSERT_TRUE(o.code == 0 || (o.code == 6 && !settings.empty())) << o.err;
  }
  /// [frequency, further dimensions].
  std::vector<double> column(const std::string& run, const std::string& monitor,
                             const std::string& quantity) const {
    const std::string table = read(run + "/tables/" + monitor + ".csv");
    std::vector<std::vector<double>> columns{csv_column(table, quantity)};
    if (columns[0].empty()) columns[0] = csv_column(table, quantity + "_0");
    for (std::vector<double> more;
         !(more = csv_column(table, quantity + "_" + std::to_string(columns.size()))).empty();)
      columns.push_back(more);
    std::vector<double> out;
    for (std::size_t row = 0; row < columns[0].size(); ++row)
      for (const auto& c : columns) out.push_back(c[row]);
    return out;
  }
};

TEST_F(FdtdExterior, AQuarterOfASphereScattersAsTheWhole) {
  const std::vector<std::string> coarse{"grid.cell=\"0.1 um\"", "run.precision=\"f64\"",
                                        "run.stop={after_sources=\"200 fs\"}",
                                        "boundary.pml.cells=6", "output.pictures=false"};
  run_case(kGallery + "sphere.toml", "whole", coarse);
  std::vector<std::string> quarter = coarse;
  for (const char* more :
       {"grid.size=[\"4.4 um\", \"2.2 um\", \"2.2 um\"]",
        "grid.centre=[\"0 um\", \"1.1 um\", \"1.1 um\"]", "boundary.y_low=\"pmc\"",
        "boundary.z_low=\"pec\"", "boundary.symmetry=[\"y_low\", \"z_low\"]",
        "source[0].position=[\"0 um\", \"0.6 um\", \"0.6 um\"]",
        "source[0].size=[\"2.4 um\", \"1.2 um\", \"1.2 um\"]",
        "monitor[0].position=[\"0 um\", \"0.7 um\", \"0.7 um\"]",
        "monitor[0].size=[\"2.8 um\", \"1.4 um\", \"1.4 um\"]"})
    quarter.emplace_back(more);
  run_case(kGallery + "sphere.toml", "quarter", quarter);
  for (const char* quantity : {"total", "rcs"}) {
    const std::vector<double> whole = column("whole", "sphere", quantity),
                              part = column("quarter", "sphere", quantity);
    ASSERT_GT(whole.size(), 30U);
    ASSERT_EQ(part.size(), whole.size());
    const double largest = *std::max_element(whole.begin(), whole.end());
    for (std::size_t i = 0; i < whole.size(); ++i)
      EXPECT_NEAR(part[i], whole[i], 1e-4 * largest) << quantity << " " << i;
  }
  // Without the word it is a box on walls, which has no cross-section.
  quarter.insert(quarter.end(), "boundary.symmetry=[\"y_low\"]");
  std::vector<std::string> arguments{"check", kGallery + "sphere.toml"};
  for (const std::string& s : quarter) arguments.insert(arguments.end(), {"--set", s});
  const Outcome o = tessera(arguments);
  EXPECT_EQ(o.code, 5);
  EXPECT_TRUE(holds(o.err, "E0629") && holds(o.err, "wall z_low") &&
              holds(o.err, "boundary.symmetry"))
      << o.err;
}

/// A short current upright: |sin|^2 over the half space above a wall, 3; cut by a plane of symmetry
/// it is a dipole in the whole, 3/2.
TEST_F(FdtdExterior, AWallGivesTheOpenHalfAndASymmetryTheWhole) {
  const auto directivity = [&](const std::string& symmetry) {
    write("case.toml", R"(app = "electromagnetics.fdtd"
grid = {centre = ["0 m", "0 m", "0.225 m"], size = ["0.9 m", "0.9 m", "0.45 m"], cell = "25 mm"}
run = {precision = "f64", stop.after_sources = "8 ns"}
boundary = {z_low = "pec", pml.cells = 8)" +
                           symmetry + R"(}
[[source]]
kind = "point"
component = "Ez"
position = ["0 m", "0 m", "0 m"]
waveform = {kind = "gaussian", frequency = "400 MHz", bandwidth = "400 MHz"}
[[monitor]]
kind = "far_field"
name = "far"
position = ["0 m", "0 m", "0.075 m"]
size = ["0.3 m", "0.3 m", "0.15 m"]
frequencies = ["400 MHz"]
theta = ["90 deg", "45 deg"]
phi = ["0 deg", "90 deg"]
)");
    run_case("case.toml", "RUN");
    const std::vector<double> out = column("RUN", "far", "directivity");
    fs::remove_all(here() / "RUN");
    return out;
  };
  const std::vector<double> wall = directivity(""), whole = directivity(", symmetry = [\"z_low\"]");
  ASSERT_EQ(wall.size(), 4U);
  ASSERT_EQ(whole.size(), 4U);
  for (const std::size_t upright : {0, 1}) {
    EXPECT_NEAR(10 * std::log10(wall[upright]), 4.771, 0.05);
    EXPECT_NEAR(10 * std::log10(whole[upright]), 1.761, 0.05);
    EXPECT_NEAR(10 * std::log10(wall[upright + 2]), 4.771 - 3.010, 0.05);
  }
}

TEST_F(FdtdExterior, AMirrorThatIsNamedCountsOnce) {
  run_case(kGallery + "line_over_mirror.toml", "named");
  run_case(kGallery + "line_over_mirror.toml", "known", {"monitor[0].mirrors=[]"});
  EXPECT_EQ(read("named/tables/pattern.csv"), read("known/tables/pattern.csv"));
  EXPECT_FALSE(read("named/tables/pattern.csv").empty());
  for (const auto& [setting, text] :
       {std::pair{"monitor[0].mirrors[0].position=\"-1 um\"",
                  "another mirror lies across this axis"},
        {"monitor[0].mirrors[0].magnetic=true", "mirror of the other kind"}}) {
    const Outcome o = tessera({"check", kGallery + "line_over_mirror.toml", "--set", setting});
    EXPECT_EQ(o.code, 5);
    EXPECT_TRUE(holds(o.err, "E0629") && holds(o.err, text)) << o.err;
  }
}

/// A current on the plane of symmetry, half of which is driven: power, energy and flux of what the
/// plane cuts are the whole's, also of a surface across it; one that does not reach it counts by
/// itself.
TEST_F(FdtdExterior, HalfADomainMeasuresTheWhole) {
  const auto text = [](bool half) {
    const std::string x = half ? "\"1 um\"" : "\"0 um\"", width = half ? "\"2 um\"" : "\"4 um\"",
                      box = half ? "\"0.5 um\"" : "\"1 um\"",
                      at = half ? "\"0.25 um\"" : "\"0 um\"";
    return "app = \"electromagnetics.fdtd\"\ngrid = {centre = [" + x +
           ", \"0 um\", \"0 um\"], size = [" + width +
           R"(, "3 um", "0 um"], cell = "50 nm", polarization = "Ez"}
run = {precision = "f64", stop.steps = 1500}
boundary = {pml.cells = 8)" +
           (half ? ", x_low = \"pmc\", symmetry = [\"x_low\"]" : "") + R"(}
[[material]]
name = "glass"
eps = 4
[[structure]]
shape = "box"
low = ["-0.4 um", "-0.3 um", "-inf"]
high = ["0.4 um", "0.2 um", "inf"]
material = "glass"
[[source]]
kind = "point"
position = ["0 um", "0 um", "0 um"]
component = "Ez"
amplitude = )" +
           (half ? "0.5" : "1") + R"(
waveform = {kind = "gaussian", frequency = "250 THz", bandwidth = "150 THz"}
[[monitor]]
kind = "flux"
name = "box"
position = [)" +
           at + R"(, "0 um", "0 um"]
size = [)" +
           box + R"(, "1 um", "0 um"]
frequencies = ["250 THz", "280 THz"]
[[monitor]]
kind = "flux"
name = "across"
position = [)" +
           at + R"(, "0.6 um", "0 um"]
size = [)" +
           box + R"(, "0 um", "0 um"]
frequencies = ["250 THz", "280 THz"]
[[monitor]]
kind = "flux"
name = "aside"
position = ["0.6 um", "0 um", "0 um"]
size = ["0 um", "1 um", "0 um"]
frequencies = ["250 THz", "280 THz"]
[[monitor]]
kind = "energy"
name = "stored"
position = [)" +
           at + R"(, "0 um", "0 um"]
size = [)" +
           box + R"(, "1 um", "0 um"]
frequencies = ["250 THz", "280 THz"]
[[monitor]]
kind = "ldos"
name = "dos"
frequencies = ["250 THz", "280 THz"]
[[monitor]]
kind = "far_field"
name = "far"
position = [)" +
           at + R"(, "0 um", "0 um"]
size = [)" +
           box + R"(, "1 um", "0 um"]
frequencies = ["250 THz", "280 THz"]
phi = ["0 deg", "70 deg"]
)";
  };
  write("whole.toml", text(false));
  write("half.toml", text(true));
  run_case("whole.toml", "whole");
  run_case("half.toml", "half");
  for (const auto& [monitor, quantity] : {std::pair{"box", "flux"},
                                          {"across", "flux"},
                                          {"aside", "flux"},
                                          {"stored", "energy"},
                                          {"dos", "power"},
                                          {"dos", "ldos"},
                                          {"far", "power"},
                                          {"far", "intensity"},
                                          {"far", "directivity"}}) {
    const std::vector<double> a = column("whole", monitor, quantity),
                              b = column("half", monitor, quantity);
    ASSERT_GE(a.size(), 2U) << monitor;
    ASSERT_EQ(a.size(), b.size()) << monitor;
    for (std::size_t i = 0; i < a.size(); ++i)
      EXPECT_NEAR(b[i], a[i], 1e-9 * std::abs(a[i])) << monitor << " " << quantity;
  }
}

TEST_F(FdtdExterior, AMirrorLiesBesideTheSurface) {
  write("case.toml", R"(app = "electromagnetics.fdtd"
grid = {size = ["4 um", "4 um", "0 um"], cell = "50 nm", polarization = "Ez"}
run.stop.steps = 10
[[source]]
kind = "point"
position = ["0 um", "0 um", "0 um"]
component = "Ez"
waveform = {kind = "gaussian", frequency = "250 THz", bandwidth = "150 THz"}
[[monitor]]
kind = "far_field"
name = "far"
position = ["0 um", "0 um", "0 um"]
size = ["2 um", "2 um", "0 um"]
frequencies = ["250 THz"]
)");
  const auto told = [&](const std::string& mirror) {
    return tessera({"check", "case.toml", "--set", "monitor[0].mirrors=[" + mirror + "]"});
  };
  for (const auto& [mirror, text] :
       {std::pair{"{axis=\"z\", position=\"-3 um\"}", "it lies across z, which is not resolved"},
        {"{axis=\"y\", position=\"-0.9 um\"}", "it runs through the surface"}}) {
    const Outcome o = told(mirror);
    EXPECT_EQ(o.code, 5) << o.err;
    EXPECT_TRUE(holds(o.err, "E0629") && holds(o.err, text)) << o.err;
  }
  for (const char* position : {"-1 um", "-3 um"}) {
    const Outcome o = told(std::string("{axis=\"y\", position=\"") + position + "\"}");
    EXPECT_EQ(o.code, 0) << o.err;
  }
}

TEST_F(FdtdExterior, WhatIsNoSymmetryIsRefused) {
  const std::string file = kGallery + "line_over_mirror.toml";
  for (const auto& [settings, text] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"boundary.symmetry=[\"x_low\"]"}, "this face is none"},
           {{"boundary.symmetry=[\"z_low\"]"}, "this face is none"},
           {{"boundary.y_high=\"pec\"", "boundary.symmetry=[\"y_low\", \"y_high\"]"},
            "infinitely many images"}}) {
    std::vector<std::string> arguments{"check", file};
    for (const std::string& s : settings) arguments.insert(arguments.end(), {"--set", s});
    const Outcome o = tessera(arguments);
    EXPECT_EQ(o.code, 5);
    EXPECT_TRUE(holds(o.err, "E0623") && holds(o.err, text)) << o.err;
  }
}

/// A line current in even fused silica, eps 1 at infinite frequency and 2.09 in the band: what it
/// radiates is the same in all directions and adds up to the flux, and nothing changes its rate.
TEST_F(FdtdExterior, ADispersiveMediumCarriesWavesAtItsOwnIndex) {
  write("case.toml", R"(app = "electromagnetics.fdtd"
grid = {size = ["3.2 um", "3.2 um", "0 um"], cell = "20 nm", background = "SiO2", polarization = "Ez"}
run = {precision = "f64", stop.after_sources = "80 fs"}
boundary.pml = {cells = 30, index = 1.444}
[[source]]
kind = "point"
position = ["0 um", "0 um", "0 um"]
component = "Ez"
waveform = {kind = "gaussian", frequency = "200 THz", bandwidth = "120 THz"}
[[monitor]]
kind = "far_field"
name = "far"
position = ["0.1 um", "0 um", "0 um"]
size = ["1.2 um", "1 um", "0 um"]
frequencies = ["160 THz", "200 THz", "240 THz"]
angle_points = [1, 36]
[[monitor]]
kind = "flux"
name = "out"
position = ["0.1 um", "0 um", "0 um"]
size = ["1.2 um", "1 um", "0 um"]
frequencies = ["160 THz", "200 THz", "240 THz"]
[[monitor]]
kind = "ldos"
name = "dos"
frequencies = ["160 THz", "200 THz", "240 THz"]
)");
  run_case("case.toml", "RUN");
  const std::vector<double> intensity = column("RUN", "far", "intensity"),
                            directivity = column("RUN", "far", "directivity"),
                            flux = column("RUN", "out", "flux"),
                            purcell = column("RUN", "dos", "purcell");
  ASSERT_EQ(intensity.size(), 108U);
  ASSERT_EQ(flux.size(), 3U);
  for (std::size_t k = 0; k < 3; ++k) {
    double sum = 0;
    for (std::size_t n = 0; n < 36; ++n) {
      sum += intensity[36 * k + n] * 2 * std::numbers::pi / 36;
      EXPECT_NEAR(directivity[36 * k + n], 1, 0.005) << k << " " << n;
    }
    EXPECT_NEAR(sum, flux[k], 0.005 * flux[k]);
    EXPECT_NEAR(purcell[k], 1, 0.01);
  }
}

TEST_F(FdtdExterior, OrdersInADispersiveMediumAddUpToTheFlux) {
  std::vector<std::string> settings{
      "structure[0].material=\"SiO2\"", "structure[1].material=\"SiO2\"",
      "run.precision=\"f64\"",          "boundary.pml.index=1.444",
      "source[0].position[0]=\"1 um\"", "monitor[0].position[0]=\"0.5 um\""};
  for (const char* monitor : {"monitor[1]", "monitor[2]"})
    for (const char* more : {".position[0]=\"-1.5 um\"", ".reverse=true",
                             ".frequencies=[\"280 THz\", \"299.792458 THz\", \"310 THz\"]"})
      settings.push_back(std::string(monitor) + more);
  settings.push_back("monitor[0].frequencies=[\"280 THz\", \"299.792458 THz\", \"310 THz\"]");
  run_case(kGallery + "grating.toml", "RUN", settings);
  const std::vector<double> power = column("RUN", "orders", "power"),
                            back = column("RUN", "orders", "power_back"),
                            flux = column("RUN", "behind", "flux");
  ASSERT_EQ(flux.size(), 3U);
  ASSERT_EQ(power.size() % 3, 0U);
  const std::size_t orders = power.size() / 3;
  EXPECT_GE(orders, 5U);
  for (std::size_t k = 0; k < 3; ++k) {
    double sum = 0;
    for (std::size_t n = 0; n < orders; ++n) sum += power[orders * k + n] - back[orders * k + n];
    EXPECT_GT(flux[k], 0);
    EXPECT_NEAR(sum, flux[k], 0.005 * flux[k]);
  }
}

TEST_F(FdtdExterior, WavesDoNotGoFarInALossyOrAnisotropicMedium) {
  for (const auto& [medium, text] :
       {std::pair{"eps = 2\nsigma = \"10 S/m\"", "without loss and anisotropy"},
        {"eps = [2, 2, 3]", "without loss and anisotropy"},
        {"eps = 2\nchi3 = \"1e-18 m^2/V^2\"", "linear background"},
        {"poles = [{kind = \"lorentz\", frequency = \"3.1 GHz\", damping = \"0.5 GHz\", delta_eps "
         "= 1}]",
         "not transparent"}}) {
    write("case.toml", R"(app = "electromagnetics.fdtd"
grid = {size = ["0.4 m", "0.4 m", "0 m"], cell = "4 mm", background = "sea", polarization = "Ez"}
run.stop.steps = 10
[[material]]
name = "sea"
)" + std::string(medium) + R"(
[[source]]
kind = "point"
position = ["0 m", "0 m", "0 m"]
component = "Ez"
waveform = {kind = "gaussian", frequency = "3 GHz", bandwidth = "2 GHz"}
[[monitor]]
kind = "far_field"
name = "far"
position = ["0 m", "0 m", "0 m"]
size = ["0.1 m", "0.1 m", "0 m"]
frequencies = ["3 GHz"]
)");
    const Outcome o = tessera({"check", "case.toml"});
    EXPECT_EQ(o.code, 5) << medium;
    EXPECT_TRUE(holds(o.err, "case.toml:") && holds(o.err, "E0642") && holds(o.err, text)) << o.err;
  }
}

/// A short dipole: alone, and flat a quarter of a wavelength above a wall.
TEST_F(FdtdExterior, MainBeamsAreThoseOfDipolesAndLookNotBehindWalls) {
  const std::string dipole = R"(app = "electromagnetics.fdtd"
grid = {size = ["60 mm", "60 mm", "60 mm"], cell = "2.5 mm"}
run = {precision = "f64", stop.after_sources = "1 ns"}
boundary.pml.cells = 6
[[source]]
kind = "point"
component = "Ex"
position = ["0 mm", "0 mm", "0 mm"]
waveform = {kind = "gaussian", frequency = "3 GHz", bandwidth = "2 GHz"}
[[monitor]]
kind = "far_field"
name = "far"
position = ["0 mm", "0 mm", "0 mm"]
size = ["20 mm", "20 mm", "20 mm"]
frequencies = ["3 GHz"]
beam = true
co_polar = "0 deg"
theta = ["0 deg"]
phi = ["0 deg", "90 deg"]
)";
  write("case.toml", dipole);
  run_case("case.toml", "alone");
  // 8 cells across the box: dispersion and the box's own differences are a percent.
  EXPECT_NEAR(column("alone", "far", "beam_directivity").at(0), 1.5, 0.01);
  EXPECT_NEAR(column("alone", "far", "beam_width_e_deg").at(0), 90, 0.5);
  EXPECT_EQ(column("alone", "far", "beam_width_h_deg").at(0), 360);
  EXPECT_NEAR(column("alone", "far", "front_to_back_dB").at(0), 0, 1e-6);
  EXPECT_TRUE(std::isinf(column("alone", "far", "beam_axial_ratio").at(0)));
  for (const int phi : {0, 1}) {
    EXPECT_NEAR(column("alone", "far", "co_polar").at(phi), 1.5, 0.01);
    EXPECT_NEAR(column("alone", "far", "cross_polar").at(phi), 0, 1e-12);
  }
  // With its image it has sin(k h u)^2 (1 - sin^2 theta cos^2 phi), u = cos theta, largest straight
  // up; D is 4 pi of that over the integral over the half.
  write("wall.toml", dipole);
  run_case("wall.toml", "wall",
           {"boundary.z_low=\"pec\"", "source[0].position=[\"0 mm\", \"0 mm\", \"-5 mm\"]",
            "monitor[0].position=[\"0 mm\", \"0 mm\", \"-10 mm\"]",
            "monitor[0].size=[\"20 mm\", \"20 mm\", \"40 mm\"]"});
  double sum = 0;
  const double h = 2 * std::numbers::pi * 25e-3 * 3e9 / 299792458.0;
  for (int i = 0; i < 1000; ++i) {  // phi gives 2 pi (1 + u^2)/2 of the pattern
    const double u = (i + 0.5) / 1000;
    sum += std::pow(std::sin(h * u), 2) * std::numbers::pi * (1 + u * u) / 1000;
  }
  const double wanted = 4 * std::numbers::pi * std::pow(std::sin(h), 2) / sum;
  EXPECT_NEAR(column("wall", "far", "beam_directivity").at(0), wanted, 0.02 * wanted);
  EXPECT_NEAR(column("wall", "far", "beam_theta_deg").at(0), 0, 5);  // flat there: 1 - theta^4
  EXPECT_TRUE(std::isinf(column("wall", "far", "front_to_back_dB").at(0)));
  EXPECT_LT(column("wall", "far", "beam_width_e_deg").at(0), 90);
}

/// What goes behind a conductor, the domain's own or one that is named, is nothing.
TEST_F(FdtdExterior, FarFieldsEndAtWalls) {
  const std::string dipole = R"(app = "electromagnetics.fdtd"
output = {vtk = false, scene = false}
grid = {centre = ["0 m", "0 m", "0.2 m"], size = ["0.8 m", "0.8 m", "0.4 m"], cell = "40 mm"}
run = {precision = "f64", stop.after_sources = "3 ns"}
boundary = {z_low = "pec", pml.cells = 5}
[[source]]
kind = "point"
component = "Ez"
position = ["0 m", "0 m", "0.04 m"]
waveform = {kind = "gaussian", frequency = "400 MHz", bandwidth = "400 MHz"}
[[monitor]]
kind = "far_field"
name = "far"
position = ["0 m", "0 m", "0.08 m"]
size = ["0.24 m", "0.24 m", "0.16 m"]
frequencies = ["400 MHz"]
theta = ["45 deg", "90 deg", "135 deg"]
phi = ["0 deg"]
co_polar = "0 deg"
)";
  const auto far = [&](const std::string& quantity, const std::vector<std::string>& with) {
    write("case.toml", dipole);
    run_case("case.toml", "RUN", with);
    const std::vector<double> out = column("RUN", "far", quantity);
    fs::remove_all(here() / "RUN");
    return out;
  };
  const std::vector<std::string> symmetric{"boundary.symmetry=[\"z_low\"]"},
      above_ground{"boundary.z_low=\"pml\"",
                   "grid.centre=[\"0 m\", \"0 m\", \"0 m\"]",
                   "grid.size=[\"0.8 m\", \"0.8 m\", \"0.8 m\"]",
                   "monitor[0].position=[\"0 m\", \"0 m\", \"0 m\"]",
                   "source[0].position=[\"0 m\", \"0 m\", \"0 m\"]",
                   "monitor[0].mirrors=[{axis=\"z\", position=\"-0.2 m\"}]"};
  for (const auto& with : {std::vector<std::string>{}, above_ground})
    for (const char* quantity : {"directivity", "intensity", "co_polar", "cross_polar"}) {
      const std::vector<double> out = far(quantity, with);
      ASSERT_EQ(out.size(), 3U);
      EXPECT_TRUE(out[0] > 0 || quantity == std::string("cross_polar")) << quantity;
      EXPECT_EQ(out[2], 0) << quantity;
    }
  const std::vector<double> whole = far("directivity", symmetric);
  EXPECT_NEAR(whole[2], whole[0], 1e-6 * whole[0]);
}

}  // namespace
