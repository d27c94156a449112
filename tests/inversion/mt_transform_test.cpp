// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/mt_transform.h"

#include "tessera/inversion/phase_tensor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace tessera::inversion;

namespace {

constexpr double kPi = std::numbers::pi;

/// A 2-D earth in its own axes: no diagonal; xy and yx differ in size and phase.
Sounding two_dimensional(double strike_deg) {
  Sounding s{.station = "synthetic"};
  s.frequency_hz = {100, 1, 0.01};
  s.azimuth_deg.assign(3, strike_deg);
  for (const double f : s.frequency_hz) {
    const double size = std::sqrt(2 * kPi * f * mu0);
    s.impedance.push_back({{{0.0, std::polar(size * 10, 35 * kPi / 180)},
                            {-std::polar(size * 3, 60 * kPi / 180), 0.0}}});
    const double e = 0.02 * size;
    s.impedance_error.push_back({{{e, 2 * e}, {3 * e, 4 * e}}});
    s.tipper.push_back({Complex(0.0), Complex(0.3, -0.1)});
    s.tipper_error.push_back({0.01, 0.02});
  }
  return s;
}

/// Independent errors of the size that is stated, on the first tensor.
void add_noise(Sounding& s, std::mt19937_64& random, std::normal_distribution<double>& normal) {
  for (int r = 0; r < 2; ++r)
    for (int c = 0; c < 2; ++c)
      s.impedance[0][r][c] += s.impedance_error[0][r][c] * Complex(normal(random), normal(random));
}

TEST(Rotation, TurnsAxesClockwiseByTheTextbookFormula) {
  Sounding s = two_dimensional(0);
  const Complex xy = s.impedance[1][0][1], yx = s.impedance[1][1][0];
  rotate_by(s, 30);
  const double c = std::cos(kPi / 6), n = std::sin(kPi / 6);
  // Written out for Zxx = Zyy = 0.
  EXPECT_LT(std::abs(s.impedance[1][0][0] - (xy + yx) * n * c), 1e-15 * std::abs(xy));
  EXPECT_LT(std::abs(s.impedance[1][0][1] - (xy * c * c - yx * n * n)), 1e-15 * std::abs(xy));
  EXPECT_LT(std::abs(s.impedance[1][1][0] - (yx * c * c - xy * n * n)), 1e-15 * std::abs(xy));
  EXPECT_LT(std::abs(s.impedance[1][1][1] + (xy + yx) * n * c), 1e-15 * std::abs(xy));
  EXPECT_LT(std::abs(s.tipper[1][0] - n * Complex(0.3, -0.1)), 1e-16);
  EXPECT_LT(std::abs(s.tipper[1][1] - c * Complex(0.3, -0.1)), 1e-16);
  EXPECT_NEAR(s.tipper_error[1][0], std::hypot(c * 0.01, n * 0.02), 1e-15);
  EXPECT_NEAR(s.azimuth_deg[1], 30, 1e-12);
}

TEST(Rotation, TurningToNorthUndoesALayoutAndInvariantsStay) {
  const Sounding in_strike = two_dimensional(25);
  Sounding north = in_strike;
  rotate_to(north, 0);
  EXPECT_EQ(north.azimuth_deg[2], 0);
  for (const auto kind : {Element::determinant, Element::average}) {
    const Response a = response_of(in_strike, kind), b = response_of(north, kind);
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_LT(std::abs(a.impedance_ohm[i] - b.impedance_ohm[i]),
                1e-14 * std::abs(a.impedance_ohm[i]));
  }
  rotate_to(north, 25);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_LT(std::abs(north.impedance[i][0][1] - in_strike.impedance[i][0][1]), 1e-14);
}

TEST(Rotation, MissingErrorsSpreadOnlyWhereTheyEnter) {
  Sounding s = two_dimensional(0);
  s.impedance_error[0][0][0] = NAN;
  Sounding turned = s;
  rotate_by(turned, 90);
  EXPECT_TRUE(std::isnan(turned.impedance_error[0][1][1]));
  Sounding same = s;
  rotate_to(same, 0);
  EXPECT_EQ(same.impedance_error[0][1][1], s.impedance_error[0][1][1]);
}

// Many files give Zxy and Zyx alone: turned by a right angle they change places, turned by two they
// stay; at any other angle nothing is known.
TEST(Rotation, AtRightAnglesTheDiagonalMayBeMissing) {
  const Sounding whole = two_dimensional(0);
  Sounding s = whole;
  for (auto& z : s.impedance) z[0][0] = z[1][1] = Complex(NAN, NAN);
  for (auto& e : s.impedance_error) e[0][0] = e[1][1] = NAN;
  for (auto& t : s.tipper) t[0] = Complex(NAN, NAN);
  Sounding turned = s;
  rotate_by(turned, 90);
  EXPECT_EQ(turned.impedance[1][0][1], -whole.impedance[1][1][0]);
  EXPECT_EQ(turned.impedance[1][1][0], -whole.impedance[1][0][1]);
  EXPECT_DOUBLE_EQ(turned.impedance_error[1][0][1], whole.impedance_error[1][1][0]);
  EXPECT_EQ(turned.tipper[1][0], whole.tipper[1][1]);
  EXPECT_TRUE(std::isnan(turned.impedance[1][0][0].real()));
  for (const double angle : {180.0, 360.0}) {
    turned = s;
    rotate_by(turned, angle);
    EXPECT_EQ(turned.impedance[1][0][1], whole.impedance[1][0][1]) << angle;
  }
  rotate_by(s, 30);
  EXPECT_TRUE(std::isnan(s.impedance[1][0][1].real()));
}

TEST(Rotation, PeriodsWithoutCovariancesKeepTheErrorsThatAreGiven) {
  Sounding s = two_dimensional(0), independent = s;
  const Tensor2<Complex> one{{{1.0, 0.0}, {0.0, 1.0}}},
      none{{{Complex(NAN, NAN), Complex(NAN, NAN)}, {Complex(NAN, NAN), Complex(NAN, NAN)}}};
  for (auto* c : {&s.impedance_covariance, &s.tipper_covariance})
    c->signal_inverse = c->residual = {one, none, one};
  rotate_by(s, 30);
  rotate_by(independent, 30);
  EXPECT_EQ(s.impedance_error[1], independent.impedance_error[1]);
  EXPECT_EQ(s.tipper_error[1], independent.tipper_error[1]);
  EXPECT_NEAR(s.impedance_error[0][0][1], std::sqrt(0.5), 1e-12) << "by its covariance";
}

/// Standard deviation over draws of the part of the response along its own direction.
template <class Draw>
double spread(const Sounding& s, Element kind, Draw draw) {
  const Complex centre = response_of(s, kind).impedance_ohm[0];
  const Complex unit = centre / std::abs(centre);
  double sum = 0, sum2 = 0;
  constexpr int kDraws = 40000;
  for (int k = 0; k < kDraws; ++k) {
    Sounding t = s;
    draw(t);
    const double x = ((response_of(t, kind).impedance_ohm[0] - centre) * std::conj(unit)).real();
    sum += x;
    sum2 += x * x;
  }
  return std::sqrt(sum2 / kDraws - std::pow(sum / kDraws, 2));
}

class Propagation : public ::testing::TestWithParam<Element> {};

TEST_P(Propagation, IndependentElementsMatchRandomDraws) {
  Sounding s = two_dimensional(0);
  rotate_by(s, 20);  // so that the diagonal enters the determinant
  const double size = std::abs(s.impedance[0][0][1]);
  s.impedance_error[0] = {{{0.002 * size, 0.003 * size}, {0.001 * size, 0.004 * size}}};
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  const double found = spread(s, GetParam(), [&](Sounding& t) { add_noise(t, random, normal); });
  // 40,000 draws: standard error of a standard deviation 1/sqrt(2 n) = 0.35 %; four of them.
  EXPECT_NEAR(response_of(s, GetParam()).sigma_ohm[0] / found, 1, 0.014);
}

TEST_P(Propagation, CovarianceMatchesRandomDrawsAlsoAfterRotation) {
  Sounding s = two_dimensional(0);
  const double size = std::abs(s.impedance[0][0][1]);
  // Z = Z0 + A G B with circular Gaussian G of unit variance: N = A A+, Cov(Z_ij, Z_kl*) = N_ik
  // (B^T B*)_jl.
  const Tensor2<Complex> a{{{0.004 * size, 0.0}, {Complex(0.001, 0.002) * size, 0.002 * size}}};
  const Tensor2<Complex> b{{{1.0, Complex(0.5, -0.6)}, {0.0, 0.7}}};
  Tensor2<Complex> n{}, si{};
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < 2; ++k)
      for (int m = 0; m < 2; ++m) {
        n[i][k] += a[i][m] * std::conj(a[k][m]);
        si[i][k] += b[m][i] * std::conj(b[m][k]);
      }
  for (std::size_t i = 0; i < 3; ++i) {
    s.impedance_covariance.residual.push_back(n);
    s.impedance_covariance.signal_inverse.push_back(si);
  }
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal(0, std::sqrt(0.5));
  const double found = spread(s, GetParam(), [&](Sounding& t) {
    Tensor2<Complex> g;
    for (auto& row : g)
      for (auto& z : row) z = {normal(random), normal(random)};
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j)
        for (int k = 0; k < 2; ++k)
          for (int l = 0; l < 2; ++l) t.impedance[0][i][j] += a[i][k] * g[k][l] * b[l][j];
    rotate_by(t, 0);
  });
  EXPECT_NEAR(response_of(s, GetParam()).sigma_ohm[0] / found, 1, 0.014);
  if (GetParam() == Element::determinant || GetParam() == Element::average) {
    Sounding turned = s;
    rotate_by(turned, 37);
    EXPECT_NEAR(
        response_of(turned, GetParam()).sigma_ohm[0] / response_of(s, GetParam()).sigma_ohm[0], 1,
        1e-12);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Propagation,
                         ::testing::Values(Element::determinant, Element::average, Element::xy,
                                           Element::yx));

TEST(ModeCurve, HalfSpace) {
  Response r{.frequency_hz = {10, 0.1}};
  for (const double x : r.frequency_hz) {
    r.impedance_ohm.push_back(std::sqrt(Complex(0, 2 * kPi * x * mu0 * 50)));
    r.sigma_ohm.push_back(0.05 * std::abs(r.impedance_ohm.back()));
  }
  const ModeCurve c = mode_curve("xy", r);
  EXPECT_DOUBLE_EQ(c.period[1], 10);
  EXPECT_NEAR(c.rho_a[1], 50, 1e-12);
  EXPECT_NEAR(c.phase[1], 45, 1e-12);
  EXPECT_NEAR(c.rho_a_error[1], 5, 1e-12);
  EXPECT_NEAR(c.phase_error[1], 0.05 * 180 / kPi, 1e-12);
}

TEST(Units, FieldUnitGivesTheTextbookApparentResistivity) {
  // rho = 0.2 T |Z|^2 with Z in mV/km/nT.
  Sounding s = two_dimensional(0);
  const auto field = impedance_in(s, ImpedanceUnits::field, TimeSign::minus);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(0.2 / s.frequency_hz[i] * std::norm(field[i][0][1]), 100, 1e-10);
    EXPECT_NEAR(std::arg(field[i][0][1]) * 180 / kPi, -35, 1e-12);
  }
}

TEST(Masks, PeriodRangeAndSinglePeriods) {
  Sounding s = two_dimensional(0);
  EXPECT_EQ(mask_periods(s, std::vector<double>{1.005, 33.0}), std::vector<double>{33.0});
  EXPECT_TRUE(std::isnan(s.impedance[1][0][1].real()));
  EXPECT_TRUE(std::isnan(response_of(s, Element::determinant).impedance_ohm[1].real()));
  EXPECT_EQ(keep_periods(s, 0.5, 1000), 1u);
  ASSERT_EQ(s.size(), 2u);
  EXPECT_EQ(s.frequency_hz.front(), 1);
  EXPECT_EQ(s.impedance.size(), 2u);
}

TEST(PhaseTensor, FindsTheStrikeThroughGalvanicDistortion) {
  Sounding s = two_dimensional(25);
  rotate_to(s, 0);
  // Real 2x2 distortion of the electric field: twist, shear and gain.
  const double d[2][2] = {{1.3, 0.4}, {-0.2, 0.8}};
  for (auto& z : s.impedance) {
    const auto old = z;
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j) z[i][j] = d[i][0] * old[0][j] + d[i][1] * old[1][j];
  }
  for (const PhaseTensor& p : phase_tensors(s)) {
    EXPECT_NEAR(p.skew_deg, 0, 1e-10);
    // The larger principal phase (60 degrees) belongs to yx, whose electric field is across the
    // strike; the phase tensor maps the magnetic field along x = strike to it.
    EXPECT_NEAR(std::remainder(p.strike_deg - 25, 90.0), 0, 1e-9);
    EXPECT_NEAR(p.phi_max, std::tan(60 * kPi / 180), 1e-10);
    EXPECT_NEAR(p.phi_min, std::tan(35 * kPi / 180), 1e-10);
    EXPECT_NEAR(p.ellipticity, (p.phi_max - p.phi_min) / (p.phi_max + p.phi_min), 1e-12);
    EXPECT_GT(p.strike_error_deg, 0);
  }
  const auto strike = estimate_strike(std::span(&s, 1));
  ASSERT_TRUE(strike);
  EXPECT_NEAR(strike->strike_deg, 25, 1e-9);
  EXPECT_NEAR(strike->concentration, 1, 1e-12);
  EXPECT_EQ(strike->n, 3u);
  EXPECT_FALSE(estimate_strike(std::span(&s, 1), 1000, 2000));
}

// Yx twice xy, in nine digits: what is left of a direction is rounding.
TEST(PhaseTensor, RoundTensorsHaveNoStrike) {
  Sounding s = two_dimensional(25);
  for (std::size_t i = 0; i < s.size(); ++i) {
    const Complex xy = s.impedance[i][0][1];
    s.impedance[i][1][0] = -2.0 * xy * std::polar(1.0, 1e-9 * static_cast<double>(i + 1));
  }
  EXPECT_FALSE(estimate_strike(std::span(&s, 1)));
  s.impedance[0] = two_dimensional(25).impedance[0];
  const auto strike = estimate_strike(std::span(&s, 1));
  ASSERT_TRUE(strike);
  EXPECT_EQ(strike->n, 1u);
  EXPECT_NEAR(strike->strike_deg, 25, 1e-6);
}

TEST(PhaseTensor, ErrorsMatchRandomDraws) {
  Sounding s = two_dimensional(25);
  rotate_to(s, 0);
  const double size = std::abs(s.impedance[0][0][1]);
  s.impedance_error[0] = {{{0.002 * size, 0.003 * size}, {0.001 * size, 0.004 * size}}};
  const PhaseTensor centre = phase_tensors(s)[0];
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  double skew = 0, strike = 0;
  constexpr int kDraws = 20000;
  for (int k = 0; k < kDraws; ++k) {
    Sounding t = s;
    add_noise(t, random, normal);
    const PhaseTensor p = phase_tensors(t)[0];
    skew += std::pow(p.skew_deg - centre.skew_deg, 2);
    strike += std::pow(std::remainder(p.strike_deg - centre.strike_deg, 180.0), 2);
  }
  // 20,000 draws: 0.5 % standard error; four of them.
  EXPECT_NEAR(centre.skew_error_deg / std::sqrt(skew / kDraws), 1, 0.02);
  EXPECT_NEAR(centre.strike_error_deg / std::sqrt(strike / kDraws), 1, 0.02);
}

TEST(PhaseTensor, MissingElementsGiveNothing) {
  Sounding s = two_dimensional(0);
  s.impedance[0][0][0] = {NAN, NAN};
  EXPECT_TRUE(std::isnan(phase_tensors(s)[0].skew_deg));
  EXPECT_EQ(estimate_strike(std::span(&s, 1))->n, 2u);
}

}  // namespace
