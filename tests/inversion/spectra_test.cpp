// SPDX-License-Identifier: Apache-2.0
// Spectra of EDI files: the same fields, recorded by channels that lie otherwise.
#include "findings.h"
#include "tessera/inversion/sounding_read.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <string>
#include <vector>

namespace tessera::inversion {
namespace {

struct ChannelDirections {
  double hx = 0, hy = 90, ex = 0, ey = 90;  ///< degrees clockwise from north
};

/// The spectra of a few records of (Hx, Hy, Hz, Ex, Ey) along axes whose x points `x_deg`, with a
/// little noise, as channels in other directions have them.
std::string spectra_file(double x_deg, const ChannelDirections& d, const std::string& rotation) {
  using C = std::complex<double>;
  constexpr std::size_t n = 5;
  const C z[2][2] = {{{0.3, 0.1}, {9, 8}}, {{-5, -7}, {-0.2, 0.4}}},
          tipper[2] = {{0.2, 0.1}, {-0.1, 0.3}};
  const auto seen = [&](double direction, C x, C y) {
    const double a = (direction - x_deg) * std::numbers::pi / 180;
    return std::cos(a) * x + std::sin(a) * y;
  };
  std::vector<std::array<C, n>> records;
  for (int k = 0; k < 7; ++k) {
    const C hx{std::cos(1.0 + k), std::sin(2.0 * k)}, hy{std::cos(3.0 * k), std::cos(0.7 * k * k)},
        noise{0.1 * std::sin(5.0 * k), 0.1 * std::cos(4.0 * k)};
    const C ex = z[0][0] * hx + z[0][1] * hy + noise,
            ey = z[1][0] * hx + z[1][1] * hy - noise * noise;
    records.push_back({seen(d.hx, hx, hy), seen(d.hy, hx, hy),
                       tipper[0] * hx + tipper[1] * hy + 0.1 * noise, seen(d.ex, ex, ey),
                       seen(d.ey, ex, ey)});
  }
  std::string powers;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      C sum = 0;  // <c_j c_i*>: its real part below the diagonal, minus that of <c_i c_j*> above
      for (const auto& r : records) sum += i < j ? r[i] * std::conj(r[j]) : r[j] * std::conj(r[i]);
      powers += fmt::format(" {:.17g}", i < j ? -sum.imag() : sum.real());
    }
  const auto dipole = [](double direction) {
    const double a = direction * std::numbers::pi / 180;
    return fmt::format("X={0} Y={1} X2={2} Y2={3}", -50 * std::cos(a), -50 * std::sin(a),
                       50 * std::cos(a), 50 * std::sin(a));
  };
  return fmt::format(
      ">HEAD\n DATAID=P\n>HMEAS ID=1 CHTYPE=HX AZM={}\n>HMEAS ID=2 CHTYPE=HY AZM={}\n"
      ">HMEAS ID=3 CHTYPE=HZ\n>EMEAS ID=4 CHTYPE=EX {}\n>EMEAS ID=5 CHTYPE=EY {}\n"
      ">=SPECTRASECT\n NCHAN=5\n NFREQ=1\n // 5\n 1 2 3 4 5\n"
      ">SPECTRA FREQ=1 {} AVGT=7 //25\n{}\n>END\n",
      d.hx, d.hy, dipole(d.ex), dipole(d.ey), rotation, powers);
}
Sounding of_spectra(const std::string& text) { return parse_stations(text, "a.edi", {}).at(0); }

// Channels at any angle tell the same earth, also how well they do; x is along Hx.
TEST(EdiSpectra, ChannelsAtOtherAnglesTellTheSame) {
  const Sounding square = of_spectra(spectra_file(20, {20, 110, 20, 110}, ""));
  EXPECT_FALSE(says(square, 340));
  EXPECT_NEAR(square.azimuth_deg[0], 20, 1e-12);
  for (const ChannelDirections& d :
       {ChannelDirections{20, 100, 35, 140}, {20, 110, 20, 115}, {20, -75, 110, 20}}) {
    const Sounding skew = of_spectra(spectra_file(20, d, ""));
    EXPECT_TRUE(says(skew, 340));
    EXPECT_NEAR(skew.azimuth_deg[0], 20, 1e-12);
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) {
        EXPECT_LT(std::abs(skew.impedance[0][i][j] - square.impedance[0][i][j]),
                  1e-11 * std::abs(square.impedance[0][0][1]));
        EXPECT_NEAR(skew.impedance_error[0][i][j] / square.impedance_error[0][i][j], 1, 1e-7);
      }
      EXPECT_LT(std::abs(skew.tipper[0][i] - square.tipper[0][i]), 1e-11);
      EXPECT_NEAR(skew.tipper_error[0][i] / square.tipper_error[0][i], 1, 1e-7);
    }
  }
}

// Spectra that say how they were turned are in these axes, whatever the channels.
TEST(EdiSpectra, WhatWasTurnedIsTakenAsItSays) {
  const std::string turned = spectra_file(20, {20, 110, 20, 110}, "ROTSPEC=20");
  std::string other = turned;
  other.replace(other.find("AZM=110"), 7, "AZM=95");
  const Sounding a = of_spectra(turned), b = of_spectra(other);
  EXPECT_EQ(a.impedance[0], b.impedance[0]);
  EXPECT_EQ(b.azimuth_deg[0], 20);
  EXPECT_FALSE(says(b, 340));
}

TEST(EdiSpectra, ChannelsThatAreParallelAreRefused) {
  try {
    of_spectra(spectra_file(0, {0, 90, 45, 45}, ""));
    FAIL() << "Ex and Ey are one";
  } catch (const data::InputError& e) {
    EXPECT_EQ(e.findings().front().number, 318);
  }
}

}  // namespace
}  // namespace tessera::inversion
