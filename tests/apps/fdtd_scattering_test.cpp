// SPDX-License-Identifier: Apache-2.0
// Plane waves and beams against series and formulas.
#include "fdtd_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
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

/// J_m of a complex argument by its series, m >= 0.
std::complex<double> bessel_j(int m, std::complex<double> z) {
  std::complex<double> term = 1, sum = 0;
  for (int k = 1; k <= m; ++k) term *= z / 2.0 / static_cast<double>(k);
  for (int k = 0; k < 60; ++k) {
    sum += term;
    term *= -z * z / 4.0 / (static_cast<double>(k + 1) * (k + 1 + m));
  }
  return sum;
}

/// Scattering and extinction widths of a cylinder with losses, E along it, e^{+i w t}: (4/k) sum
/// |c_m|^2 and (4/k) sum Re c_m (C. F. Bohren, D. R. Huffman, 8.4).
std::array<double, 2> lossy_cylinder_widths(double frequency, double a, std::complex<double> n) {
  const double k = 2 * std::numbers::pi * frequency / 299792458.0, x = k * a;
  const std::complex<double> y = n * x;
  const auto derivative = [](auto&& f, int m) {
    return m == 0 ? -f(1) : (f(m - 1) - f(m + 1)) / 2.0;
  };
  const auto inner = [&](int m) { return bessel_j(m, y); };
  const auto outer = [&](int m) { return std::complex<double>(std::cyl_bessel_j(m, x)); };
  const auto outgoing = [&](int m) {  // H^(2)
    return std::complex<double>(std::cyl_bessel_j(m, x), -std::cyl_neumann(m, x));
  };
  double scattered = 0, extinct = 0;
  for (int m = 0; m < 16; ++m) {
    const std::complex<double> c =
        (inner(m) * derivative(outer, m) - n * derivative(inner, m) * outer(m)) /
        (inner(m) * derivative(outgoing, m) - n * derivative(inner, m) * outgoing(m));
    scattered += (m == 0 ? 1 : 2) * std::norm(c), extinct += (m == 0 ? 1 : 2) * c.real();
  }
  return {4 / k * scattered, 4 / k * extinct};
}

TEST_F(Fdtd, AWaveIsAbsorbedAsBySeries) {
  // 1.5 - 0.5 i and less at higher frequencies, by a conductivity.
  write("case.toml", R"(app = "electromagnetics.fdtd"
output = {vtk = false, pictures = false, scene = false}
grid = {size = ["1 m", "1 m", "0 m"], cell = "5 mm", polarization = "Ez"}
run = {precision = "f64", stop.time = "25 ns"}
boundary.pml.cells = 12
[[material]]
name = "lossy"
eps = 3
sigma = "0.03 S/m"
[[structure]]
shape = "cylinder"
radius = "0.15 m"
height = "inf"
material = "lossy"
[[source]]
kind = "plane_wave"
direction = [1.0, 0.5, 0.0]
polarization = [0.0, 0.0, 1.0]
amplitude = 2.0
size = ["0.5 m", "0.5 m", "0 m"]
position = ["0 m", "0 m", "0 m"]
waveform = {kind = "gaussian", frequency = "400 MHz", bandwidth = "600 MHz"}
[[monitor]]
kind = "rcs"
name = "rod"
position = ["0 m", "0 m", "0 m"]
size = ["0.7 m", "0.7 m", "0 m"]
frequency_min = "250 MHz"
frequency_max = "550 MHz"
frequency_points = 4
)");
  ASSERT_EQ(run_case("case.toml", "RUN").code, 0);
  const auto f = column("RUN", "rod", "frequency_Hz"), scattered = column("RUN", "rod", "total"),
             absorbed = column("RUN", "rod", "absorption"),
             extinct = column("RUN", "rod", "extinction");
  ASSERT_EQ(f.size(), 4u);
  for (std::size_t k = 0; k < f.size(); ++k) {
    const std::complex<double> eps(3, -0.03 / (2 * std::numbers::pi * f[k] * 8.8541878128e-12));
    const auto [sca, ext] = lossy_cylinder_widths(f[k], 0.15, std::sqrt(eps));
    EXPECT_NEAR(scattered[k], sca, 0.005 * sca) << f[k];
    EXPECT_NEAR(absorbed[k], ext - sca, 0.005 * ext) << f[k];
    EXPECT_NEAR(extinct[k], ext, 0.005 * ext) << f[k];
  }
}

/// What comes in counts as what goes out, by the scheme: at 15 cells a wavelength a cross-section
/// is no further off than at 30, where the wave brings 0.5 and 2.2 % less than |E|^2/(2 eta). The
/// metal has 8 cells in its radius, which leave 0.9 %.
TEST_F(Fdtd, ACoarseWaveIsScatteredAsAFineOne) {
  write("case.toml", R"(app = "electromagnetics.fdtd"
output = {vtk = false, pictures = false, scene = false}
grid = {size = ["56 mm", "56 mm", "0 mm"], cell = "1 mm", polarization = "Ez"}
run = {precision = "f64", stop = {decay_db = 60, time = "6 ns"}}
[[structure]]
shape = "cylinder"
radius = "8 mm"
height = "inf"
material = "pec"
[[source]]
kind = "plane_wave"
direction = [1, 0, 0]
polarization = [0, 0, 1]
position = ["0 mm", "0 mm", "0 mm"]
size = ["24 mm", "24 mm", "0 mm"]
waveform = {kind = "gaussian", frequency = "15 GHz", bandwidth = "20 GHz"}
[[monitor]]
kind = "rcs"
name = "rod"
position = ["0 mm", "0 mm", "0 mm"]
size = ["30 mm", "30 mm", "0 mm"]
frequencies = ["10 GHz", "15 GHz", "20 GHz"]
phi = ["0 deg"]
)");
  ASSERT_EQ(run_case("case.toml", "RUN").code, 0);
  const auto f = column("RUN", "rod", "frequency_Hz"), total = column("RUN", "rod", "total");
  ASSERT_EQ(f.size(), 3u);
  for (std::size_t n = 0; n < f.size(); ++n) {
    const double k = 2 * std::numbers::pi * f[n] / 299792458.0, x = k * 8e-3;
    double width = 0;  // (4/k) sum |J_m / H_m|^2
    for (int m = 0; m < 16; ++m) {
      const double j = std::cyl_bessel_j(m, x), y = std::cyl_neumann(m, x);
      width += (m == 0 ? 1 : 2) * 4 / k * j * j / (j * j + y * y);
    }
    EXPECT_NEAR(total[n] / width, 1, 0.011) << f[n];
  }
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
    const auto sigma = column("RUN", "sigma", "total");
    ASSERT_EQ(sigma.size(), 2u);
    // 50 and 30 cells a wavelength in the glass: phases are late by (k d)^2/24 over a path of some
    // wavelengths.
    EXPECT_NEAR(sigma[0] / cylinder_width(300e6, 0.2, 2), 1, 2e-3) << averaging;
    EXPECT_NEAR(sigma[1] / cylinder_width(500e6, 0.2, 2), 1, 1e-2) << averaging;
    // What goes into all directions is what goes through the box, and forwards most of it.
    for (std::size_t f = 0; f < 2; ++f) {
      double mean = 0, most = 0;
      for (int k = 0; k < 72; ++k) {
        const double at = column("RUN", "sigma", "rcs_" + std::to_string(k)).at(f);
        mean += at / 72, most = std::max(most, at);
      }
      EXPECT_NEAR(mean / sigma[f], 1, 2e-5) << averaging;
      EXPECT_GT(most, 2 * mean);
    }
    found[averaging[0] == 'c'] = sigma[0];
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
    const auto sigma = column(averaging, "sigma", "total");
    EXPECT_EQ(sigma.size(), kWireSeries.size());
    double sum = 0;
    for (std::size_t i = 0; i < sigma.size(); ++i)
      sum += std::pow(sigma[i] / 100e-9 / kWireSeries[i] - 1, 2);
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
