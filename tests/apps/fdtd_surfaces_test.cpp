// SPDX-License-Identifier: Apache-2.0
// surface_impedance: the attenuation of a line between lossy plates, as its mode and its S have it;
// what cannot be, and what is doubted.
#include "fdtd_case.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <string>
#include <vector>

using namespace tessera::testing;

namespace {

/// A line of 300 mm between plates 20 mm apart, of 1000 S/m: the outer walls, or bodies.
std::string lossy_plates(bool bodies) {
  const std::string walls = bodies ? "" : "wall_material = \"coal\"\n";
  const std::string plates = R"([[structure]]
shape = "box"
material = "coal"
low = ["-inf", "10 mm", "-inf"]
high = ["inf", "20 mm", "inf"]
[[structure]]
shape = "box"
material = "coal"
low = ["-inf", "-20 mm", "-inf"]
high = ["inf", "-10 mm", "inf"]
)";
  return R"(app = "electromagnetics.fdtd"
[grid]
size = ["400 mm", ")" +
         std::string(bodies ? "40" : "20") + R"( mm", "0 mm"]
cell = "2.5 mm"
polarization = "Hz"
[run]
precision = "f64"
stop.decay_db = 90
[boundary]
x = "pml"
y = "pec"
)" + walls +
         R"([[material]]
name = "coal"
surface_impedance = true
sigma = "1000 S/m"
)" + (bodies ? plates : "") +
         R"([[port]]
kind = "mode"
name = "in"
position = ["-150 mm", "0 mm", "0 mm"]
size = ["0 mm", "20 mm", "0 mm"]
direction = [1, 0, 0]
[[port]]
kind = "mode"
name = "out"
position = ["150 mm", "0 mm", "0 mm"]
size = ["0 mm", "20 mm", "0 mm"]
direction = [-1, 0, 0]
[s_parameters]
frequencies = ["1 GHz", "1.5 GHz", "2 GHz"]
)";
}

TEST_F(Fdtd, LossyPlatesAttenuateAWaveBetweenThem) {
  const double h = 20e-3, length = 0.3, eta = 376.730313412;
  for (const bool bodies : {false, true}) {
    write("case.toml", lossy_plates(bodies));
    const Outcome run = run_case("case.toml", "RUN");
    ASSERT_EQ(run.code, 0) << run.err;
    const std::vector<double> re = column("RUN", "s_parameters", "S_out_in_re"),
                              im = column("RUN", "s_parameters", "S_out_in_im"),
                              back = column("RUN", "s_parameters", "S_in_in_re");
    for (std::size_t k = 0; k < 3; ++k) {
      const double f = (1 + 0.5 * static_cast<double>(k)) * 1e9,
                   k0 = 2 * std::numbers::pi * f / 299792458.0,
                   rs = std::sqrt(std::numbers::pi * f * 4e-7 * std::numbers::pi / 1000);
      // ky tan(ky h/2) = i k z across the line, k^2 = ky^2 + beta^2; alpha is Rs/(eta h) to first
      // order.
      const std::complex<double> z = rs / eta * std::complex<double>(1, 1),
                                 beta = k0 *
                                        std::sqrt(1.0 - std::complex<double>(0, 2) * z / (k0 * h));
      const double alpha = -beta.imag();
      EXPECT_NEAR(std::log(std::hypot(re[k], im[k])) / -length, alpha, 0.005 * alpha)
          << bodies << f;
      EXPECT_LT(std::abs(back[k]), 1e-3);
    }
  }
}

TEST_F(Fdtd, SurfaceImpedancesThatCannotBeAreRefused) {
  const auto refused = [&](const std::string& what, const std::string& by,
                           const std::string& words) {
    write("bad.toml", changed(lossy_plates(false), what, by));
    const Outcome check = tessera({"check", "bad.toml"});
    EXPECT_EQ(check.code, 5) << by;
    EXPECT_TRUE(holds(check.out + check.err, words)) << by << check.out << check.err;
  };
  refused("sigma = \"1000 S/m\"", "", "conductivity above 0");
  refused("sigma = \"1000 S/m\"", "sigma = [\"1 S/m\", \"2 S/m\", \"1 S/m\"]", "alike along");
  refused("sigma = \"1000 S/m\"", "sigma = \"1000 S/m\"\neps = 2",
          "takes sigma, mu and roughness alone");
  refused("wall_material = \"coal\"", "wall_material = \"cole\"", "no [[material]]");
  refused("wall_material = \"coal\"",
          "wall_material = \"coal\"\nsymmetry = [\"y_low\", \"y_high\"]", "no face is a wall");
}

TEST_F(Fdtd, SkinsThatCellsDoNotSeeAreDoubted) {
  write("case.toml", changed(changed(lossy_plates(true), "surface_impedance = true\n", ""),
                             "sigma = \"1000 S/m\"", "sigma = \"5.8e7 S/m\""));
  const Outcome check = tessera({"check", "case.toml"});
  EXPECT_TRUE(holds(check.out + check.err, "E0633")) << check.out << check.err;
  write("case.toml", changed(lossy_plates(true), "sigma = \"1000 S/m\"", "sigma = \"0.5 S/m\""));
  const Outcome thin = tessera({"check", "case.toml"});
  EXPECT_TRUE(holds(thin.out + thin.err, "two surfaces are not apart")) << thin.out << thin.err;
}

}  // namespace
