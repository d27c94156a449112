// SPDX-License-Identifier: Apache-2.0
// Plane waves and beams against series and formulas.
#include "fdtd_case.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

using namespace tessera::testing;

namespace {

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
    const Outcome run =
        run_case("case.toml", "RUN", {std::string("grid.averaging=\"") + averaging + "\""});
    ASSERT_EQ(run.code, 0) << run.err;
    const auto sigma = rows("RUN", "sigma");
    ASSERT_EQ(sigma.size(), 2u);
    // 50 and 30 cells a wavelength in the glass: phases are late by (k d)^2/24 over a path of some
    // wavelengths.
    EXPECT_NEAR(sigma[0].back() / cylinder_width(300e6, 0.2, 2), 1, 2e-3) << averaging;
    EXPECT_NEAR(sigma[1].back() / cylinder_width(500e6, 0.2, 2), 1, 1e-2) << averaging;
    found[averaging[0] == 'c'] = sigma[0].back();
  }
  EXPECT_NE(found[1], found[0]);
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
    const Outcome run = run_case("wire.toml", averaging, {"grid.averaging=\"" + averaging + "\""});
    EXPECT_EQ(run.code, 0) << run.err;
    const auto sigma = rows(averaging, "sigma");
    EXPECT_EQ(sigma.size(), kWireSeries.size());
    double sum = 0;
    for (std::size_t i = 0; i < sigma.size(); ++i)
      sum += std::pow(sigma[i].back() / 100e-9 / kWireSeries[i] - 1, 2);
    return std::sqrt(sum / static_cast<double>(sigma.size()));
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
  const double ahead = column("RUN", "ahead", "flux").at(0),
               behind = column("RUN", "behind", "flux").at(0);
  // |W|^2 w0 sqrt(pi/2) / (2 Z0), W = sqrt(pi) tau/2, tau = 2 sqrt(ln 10) / (pi bandwidth); 15
  // cells a wavelength.
  const double w2 =
      std::numbers::pi / 4 * std::pow(2 * std::sqrt(std::log(10.0)) / (std::numbers::pi * 1e9), 2);
  EXPECT_NEAR(ahead / (w2 * 0.2 * std::sqrt(std::numbers::pi / 2) / (2 * 376.730313668)), 1, 0.03);
  EXPECT_LT(std::abs(behind), 1e-3 * ahead);
}

}  // namespace
