// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/medium_checks.h"

#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/medium_gain.h"
#include "tessera/electromagnetics/medium_stability.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace tessera::electromagnetics {
namespace {

using data::Severity;

Medium stuff(std::vector<std::vector<PoleResidue>> terms, double eps = 1) {
  Medium m{.name = "stuff", .eps = {eps, eps, eps}};
  for (const auto& t : terms) m.poles.insert(m.poles.end(), t.begin(), t.end());
  return m;
}

/// The one finding there is; fails on none and on several.
MediumFinding only(const std::vector<MediumFinding>& found) {
  EXPECT_EQ(found.size(), 1u);
  for (const auto& f : found)
    if (found.size() > 1) ADD_FAILURE() << to_string(f);
  return found.empty() ? MediumFinding{} : found.front();
}

void expect_error(const Medium& m, int term, const char* words) {
  const MediumFinding f = only(check_medium(m));
  EXPECT_EQ(f.severity, Severity::error);
  EXPECT_EQ(f.medium, "stuff");
  EXPECT_EQ(f.term, term);
  EXPECT_NE(f.what.find(words), std::string::npos) << f.what;
  EXPECT_FALSE(f.remedy.empty());
}

TEST(MediumChecks, SoundMediaHaveNoFindings) {
  for (const Medium& m :
       {Medium{}, stuff({drude(2e15, 1e13)}), stuff({lorentz(5e14, 1e13, 2)}),
        stuff({lorentz(5e14, 0, 2)}), stuff({lorentz(5e14, 1e15, 2)}),
        stuff({lorentz(5e14, 3e15, 2)}), stuff({debye(2e10, 70)}, 5),
        stuff({drude(2e15, 1e13), lorentz(4e14, 2e14, 3)}), Medium{.eps = {-1, 0, 0}, .pec = true}})
    for (const auto& f : check_medium(m)) ADD_FAILURE() << to_string(f);
}

TEST(MediumChecks, BadBackgroundsAndConductivities) {
  Medium m = stuff({});
  m.eps[1] = 0;
  expect_error(m, -1, "eps at infinite frequency along y");
  m = stuff({});
  m.mu[2] = NAN;
  expect_error(m, -1, "mu at infinite frequency along z");
  m = stuff({});
  m.sigma[0] = -1;
  expect_error(m, -1, "conductivity along x is -1");
  m = stuff({});
  m.sigma_m[0] = -1;
  expect_error(m, -1, "magnetic conductivity along x");
  m = stuff({});
  m.eps[0] = 0.8;
  EXPECT_EQ(only(check_medium(m)).severity, Severity::warning);
}

TEST(MediumChecks, BadPoles) {
  Medium m = stuff({lorentz(5e14, 1e13, 2), lorentz(6e14, 1e13, 1)});
  m.poles[1].a.real(1e12);
  expect_error(m, 1, "grows");
  m.poles[1].a.real(NAN);
  expect_error(m, 1, "not finite");
  m = stuff({{{0.0, -1e15}}});
  expect_error(m, 0, "pole at zero");
  m = stuff({lorentz(5e14, 0, -2)});
  expect_error(m, 0, "no damping");
  m = stuff({lorentz(5e14, 0, 2)});
  m.poles[0].c.real(1e13);
  expect_error(m, 0, "no damping");
  m = stuff({{{-1e13, {1e12, 1e12}}}});
  const MediumFinding f = only(check_medium(m));
  EXPECT_EQ(f.severity, Severity::warning);
  EXPECT_EQ(f.term, 0);
}

TEST(MediumChecks, GainIsFoundWhereItIs) {
  // A weak inverted line inside a broad absorber: gain in a narrow band only.
  const Medium weak = stuff({lorentz(5e14, 2e14, 1), lorentz(4.4e14, 1e11, -5e-3)});
  const GainReport gain = largest_gain(weak);
  EXPECT_FALSE(gain.passive);
  EXPECT_NEAR(gain.f_hz, 4.4e14, 1e11);
  EXPECT_GT(gain.im_eps, 0);
  expect_error(weak, -1, "amplifies");
  // The same line too weak to win over the absorber, whose Im eps is about -1.0 there.
  EXPECT_TRUE(largest_gain(stuff({lorentz(5e14, 2e14, 1), lorentz(4.4e14, 1e11, -1e-4)})).passive);
  // A lossless line of negative strength has Im eps = 0 everywhere but on its pole.
  EXPECT_FALSE(largest_gain(stuff({lorentz(5e14, 2e14, 1), lorentz(4.4e14, 0, -1e-4)})).passive);
  // Data of the other time sign have the other sign of loss.
  Medium conjugate =
      stuff({{{std::complex<double>(-1e13, 3e15), std::complex<double>(-2e14, 1e13)}}});
  EXPECT_FALSE(largest_gain(conjugate).passive);
  // Conduction can make up for it, and only where there is enough.
  EXPECT_FALSE(largest_gain(stuff({debye(1e9, -1)}, 5)).passive);
  Medium made_up = stuff({debye(1e9, -1)}, 5);
  made_up.sigma = {0.06, 0.06, 0.06};  // 2 pi 1e9 eps0 = 0.0556 S/m is just enough
  EXPECT_TRUE(largest_gain(made_up).passive);
  made_up.sigma[2] = 0.05;
  EXPECT_FALSE(largest_gain(made_up).passive);
}

TEST(MediumChecks, TimeStep) {
  const double cell = 1e-8;
  const double curl_curl = 12 / (cell * cell);
  const double limit = cell / std::sqrt(3.0) / speed_of_light;
  const Medium gold = stuff({drude(2e15, 1e13)});
  EXPECT_TRUE(check_medium(gold, {.dt_s = 0.99 * limit, .curl_curl_max = curl_curl}).empty());
  const MediumFinding f =
      only(check_medium(gold, {.dt_s = 1.01 * limit, .curl_curl_max = curl_curl}));
  EXPECT_EQ(f.severity, Severity::error);
  EXPECT_NE(f.what.find("grow by"), std::string::npos);
  EXPECT_NE(f.remedy.find("take at most 1.9"), std::string::npos) << f.remedy;  // 1.925e-17 s
}

TEST(MediumChecks, AccuracyInTime) {
  const Medium line = stuff({lorentz(5e14, 2e12, 0.5)}, 2);
  const MediumFinding f =
      only(check_medium(line, {.f_min_hz = 4e14, .f_max_hz = 6e14, .dt_s = 5e-17}));
  EXPECT_EQ(f.severity, Severity::warning);
  EXPECT_NE(f.what.find("changes the permittivity"), std::string::npos);
  EXPECT_TRUE(check_medium(line, {.f_min_hz = 4e14, .f_max_hz = 6e14, .dt_s = 2e-19}).empty());
  // Across a lossless pole the permittivity is infinite: no number to compare.
  EXPECT_TRUE(check_medium(stuff({lorentz(5e14, 0, 0.1)}, 2),
                           {.f_min_hz = 1e14, .f_max_hz = 4e14, .dt_s = 1e-17})
                  .empty());
}

TEST(MediumChecks, NonlinearMediaHaveAFieldLimit) {
  Medium m = stuff({}, 4);
  m.chi3 = 1e-18;
  EXPECT_TRUE(check_medium(m).empty());
  m.chi3 = -1e-18;  // dD/dE = 4 - 3e-18 E^2 = 0 at 1.155e9 V/m
  EXPECT_NE(only(check_medium(m)).what.find("1.155e+09"), std::string::npos);
  m.chi3 = 0;
  m.chi2 = 2e-12;  // 4 - 4e-12 |E| = 0 at 1e12 V/m
  EXPECT_NE(only(check_medium(m)).what.find("1e+12"), std::string::npos);
}

/// Leapfrog is stable for (c dt)^2 L/4 < mu dD/dE. At 0.95 of the limit of eps = 2.25 itself, and
/// of vacuum, dD/dE = 2.25 - 0.3 E^2 is 0.9025 times 2.25 at 0.8551 V/m, and 0.9025 at 2.119 V/m.
TEST(MediumChecks, TheTimeStepBoundsTheFieldOfANonlinearMedium) {
  Medium m = stuff({}, 2.25);
  m.chi3 = -0.1;
  const MediumFinding own = only(check_medium(m, {.slope_min = 0.9025 * 2.25}));
  EXPECT_NE(own.what.find("|E| = 0.8551 V/m"), std::string::npos) << own.what;
  EXPECT_NE(own.remedy.find("2.739 V/m"), std::string::npos) << own.remedy;
  const MediumFinding vacuum = only(check_medium(m, {.slope_min = 0.9025}));
  EXPECT_NE(vacuum.what.find("|E| = 2.119 V/m"), std::string::npos) << vacuum.what;
  EXPECT_EQ(vacuum.severity, Severity::warning);
  m.chi3 = 0.1;
  EXPECT_TRUE(check_medium(m, {.slope_min = 0.9025 * 2.25}).empty());
  // D rises at any field, as chi3 > chi2^2/(3 eps): (eps - 3.61)/(chi2 + sqrt(chi2^2 - 1.17 chi3)).
  Medium rising = stuff({}, 4);
  rising.chi2 = 2e-12, rising.chi3 = 4e-25;
  const MediumFinding crystal = only(check_medium(rising, {.slope_min = 0.9025 * 4}));
  EXPECT_EQ(crystal.severity, Severity::note);
  EXPECT_NE(crystal.what.find("|E| = 1.005e+11 V/m"), std::string::npos) << crystal.what;
}

TEST(MediumChecks, RequireSoundListsAllErrorsAtOnce) {
  Medium a = stuff({lorentz(5e14, 1e12, -2)}), b = stuff({});
  a.name = "a", b.name = "b";
  b.sigma[0] = -1;
  Medium remark = stuff({}, 0.5);
  try {
    require_sound({a, b, remark});
    FAIL();
  } catch (const Error& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("'a'"), std::string::npos);
    EXPECT_NE(text.find("'b'"), std::string::npos);
    EXPECT_EQ(text.find("stuff"), std::string::npos);
  }
  EXPECT_EQ(require_sound({remark}).size(), 3u);
}

/// The peak of -Im eps that steps have lies where it is said.
TEST(MediumChecks, StepsMoveALineAsFarAsIsSaid) {
  const double f0 = 200e12, dt = 0.3 / (2 * std::numbers::pi * f0);
  const std::vector<MediumLine> lines =
      lines_of(stuff({lorentz(f0, 0.5e12, 1e-3), drude(50e12, 1e12)}));
  ASSERT_EQ(lines.size(), 1u);  // a Drude term is none
  EXPECT_NEAR(lines[0].frequency_hz, f0, 1e-6 * f0);
  EXPECT_NEAR(lines[0].width_hz, 0.5e12, 1);
  const Medium alone = stuff({lorentz(f0, 0.5e12, 1e-3)});
  double peak = 0, at = 0;
  for (double f = 190e12; f < 202e12; f += 1e9)
    if (const double own = -discrete_permittivity(alone, 0, f, dt).imag(); own > peak)
      peak = own, at = f;
  EXPECT_NEAR(at, f0 - stepped_shift(at, dt), 2e9);
  EXPECT_NEAR(stepped_shift(at, dt), f0 * 0.3 * 0.3 / 12, 0.05 * f0 * 0.3 * 0.3 / 12);
}

/// Far from its line, too, on either side: what steps have is what the medium has by so much
/// further up.
TEST(MediumChecks, StepsSeeALineFromAfarAsIsSaid) {
  const double f = 200e12, dt = 0.6 / (2 * std::numbers::pi * f), shift = stepped_shift(f, dt);
  EXPECT_NEAR(shift, f * 0.6 * 0.6 / 12, 0.05 * f * 0.6 * 0.6 / 12);
  for (const double f0 : {20e12, 180e12, 220e12, 2000e12}) {
    const Medium m = stuff({lorentz(f0, 0.5e12, 1e-3)});
    EXPECT_LT(std::abs(discrete_permittivity(m, 0, f, dt) - permittivity(m, 0, f + shift)), 1e-12)
        << f0;
    const std::complex<double> own = permittivity(m, 0, f) - m.eps[0],
                               stepped = discrete_permittivity(m, 0, f, dt) - m.eps[0];
    const double off = shift * (2 * f + shift) / std::hypot(f0 * f0 - f * f, f * 0.5e12);
    EXPECT_NEAR(std::abs(stepped - own) / std::abs(stepped), off, 0.01 * off) << f0;
  }
  EXPECT_EQ(stepped_shift(0.5 / dt, dt), INFINITY);
}

}  // namespace
}  // namespace tessera::electromagnetics
