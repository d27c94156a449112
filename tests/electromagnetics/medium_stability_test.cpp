// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/medium_stability.h"

#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/constants.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera::electromagnetics {
namespace {

using Complex = std::complex<double>;
constexpr double kCell = 5e-9;

Medium medium_of(std::vector<std::vector<PoleResidue>> terms, double eps = 1) {
  Medium m;
  m.eps = {eps, eps, eps};
  for (const auto& t : terms) m.poles.insert(m.poles.end(), t.begin(), t.end());
  return m;
}

double cube_limit(double eps_mu) {  // c dt <= h sqrt(eps mu)/sqrt(3)
  return kCell * std::sqrt(eps_mu / 3) / speed_of_light;
}

double cube_curl_curl() { return 12 / (kCell * kCell); }

TEST(MediumStability, PassiveMediaKeepTheLimitOfTheirBackground) {
  Medium lossy = medium_of({}, 2.5);
  lossy.sigma = {1e5, 1e5, 1e5};
  lossy.mu = {3, 3, 3};
  lossy.sigma_m = {1e9, 1e9, 1e9};
  const Medium media[] = {
      Medium{},
      lossy,
      medium_of({drude(2.1e15, 1.3e13)}),
      medium_of({drude(2.1e15, 0)}),         // a plasma without losses: a double pole at zero
      medium_of({{{-3e15, 0.0, 2e31}}}, 2),  // a critically damped resonance
      medium_of({lorentz(5e14, 1e13, 2)}, 2),
      medium_of({lorentz(5e14, 0, 2)}, 1.5),  // Sellmeier
      medium_of({lorentz(5e14, 1e15, 3)}),    // critically damped
      medium_of({lorentz(3e13, 8e14, 5)}),    // over-damped
      medium_of({debye(2e10, 73)}, 5),        // slow beside the step
      medium_of({debye(1e18, 2)}),            // fast beside the step
      medium_of({drude(1.9e15, 1.3e13), lorentz(1e14, 6e13, 11), lorentz(7e14, 2e14, 0.7),
                 lorentz(1e15, 6e14, 2.6), lorentz(3.2e15, 5e14, 2)}),
  };
  for (const Medium& m : media) {
    const double limit = cube_limit(m.eps[0] * m.mu[0]);
    EXPECT_NEAR(max_stable_dt(m, cube_curl_curl()) / limit, 1, 2e-9);
    // The eigenvalues say so too, apart from the proof.
    for (double share : {0.01, 0.3, 0.9, 1 - 1e-6})
      EXPECT_LT(worst_amplification(m, share * limit, cube_curl_curl()), 1 + 1e-10) << share;
    EXPECT_GT(worst_amplification(m, 1.001 * limit, cube_curl_curl()), 1 + 1e-6);
  }
}

TEST(MediumStability, AboveTheLimitItGrowsAsTheDispersionRelationSays) {
  // No losses: 4 sin^2(w dt/2) = K, so beyond K = 4 z + 1/z = 2 - K.
  for (double share : {1.01, 1.1, 1.5}) {
    const double dt = share * cube_limit(1), k = 4 * share * share;
    const double b = k / 2 - 1, z = b + std::sqrt(b * b - 1);
    EXPECT_NEAR(step_amplification(Medium{}, dt, cube_curl_curl()), z, 1e-12);
  }
}

// The matrix against its characteristic equation: the eigenvalue z must solve
// eps(s) mu(s) (z - 1)^2/z + K = 0 with the continuous medium at s = (2/dt)(z - 1)/(z + 1).
TEST(MediumStability, EigenvaluesSolveTheContinuousMediumAtTheWarpedFrequency) {
  Medium m = medium_of({lorentz(5e14, 4e13, 1.5)}, 1.3);
  m.poles[0].c = {-3e14, m.poles[0].c.imag()};  // an active term: the growing root is the largest
  const double dt = 0.7 * cube_limit(1.3), curl_curl = 0.02 * cube_curl_curl();
  const double radius = step_amplification(m, dt, curl_curl);
  ASSERT_GT(radius, 1.0001);
  const double k = std::pow(speed_of_light * dt, 2) * curl_curl;
  const auto equation = [&](Complex z) {
    const Complex s = 2 / dt * (z - 1.0) / (z + 1.0);
    return (1.3 + susceptibility(m.poles, s)) * (z - 1.0) * (z - 1.0) / z + k;
  };
  double best = 1;
  for (int step = 0; step < 2000; ++step) {  // some z of that modulus solves it
    Complex z = std::polar(radius, step * 3.14159265358979 / 2000), before = z * 1.0001;
    for (int n = 0; n < 60 && std::abs(z - before) > 1e-15; ++n) {  // secant
      const Complex f = equation(z), g = equation(before);
      if (f == g) break;
      const Complex next = z - f * (z - before) / (f - g);
      before = z;
      z = next;
    }
    best = std::min(best, std::abs(std::abs(z) - radius));
    if (best < 1e-12) break;
  }
  EXPECT_LT(best, 1e-12);
}

// The scheme run naively on one wave, energy watched: stable and unstable as the matrix says.
TEST(MediumStability, AgreesWithTheSchemeRunForward) {
  const auto grows = [](const Medium& m, double dt, double curl_curl) {
    const double root = speed_of_light * dt * std::sqrt(curl_curl);
    Complex s = 0;
    std::vector<Complex> a, b, q(m.poles.size());
    for (const PoleResidue& p : m.poles) {
      const Complex d = 1.0 - p.a * dt / 2.0;
      a.push_back((1.0 + p.a * dt / 2.0) / d);
      b.push_back(p.c * dt / 2.0 / d);
      s += is_real(p) ? b.back() : 2 * b.back().real();
    }
    double e = 1, h = 0;
    for (int n = 0; n < 20000; ++n) {
      h -= root * e;
      double right = (m.eps[0] - s.real()) * e + root * h;
      for (std::size_t p = 0; p < q.size(); ++p)
        right += (is_real(m.poles[p]) ? 1 : 2) * ((1.0 - a[p]) * q[p]).real();
      const double next = right / (m.eps[0] + s.real());
      for (std::size_t p = 0; p < q.size(); ++p) q[p] = a[p] * q[p] + b[p] * (next + e);
      e = next;
      if (!(std::abs(e) < 1e6)) return true;
    }
    return false;
  };
  Medium metal = medium_of({drude(2.1e15, 1.3e13), lorentz(7e14, 2e14, 0.7)});
  Medium active = medium_of({lorentz(5e14, 2e13, -0.4)}, 2);
  for (double share : {0.5, 0.99, 1.02})
    for (const Medium* m : {&metal, &active}) {
      const double dt = share * cube_limit(m->eps[0]);
      bool any = false;  // the wave numbers that worst_amplification looks at, a few of them
      for (double part = 1; part > 1e-5; part *= std::pow(10, -0.4))
        any = any || grows(*m, dt, part * cube_curl_curl());
      // 14 e-folds in 20000 steps.
      EXPECT_EQ(any, worst_amplification(*m, dt, cube_curl_curl()) > 1 + 14.0 / 20000)
          << share << (m == &metal ? " metal" : " active");
    }
}

TEST(MediumStability, NoStepIsStableWithGainOrANegativeBackground) {
  EXPECT_EQ(max_stable_dt(medium_of({lorentz(5e14, 2e13, -0.4)}, 2), cube_curl_curl()), 0);
  EXPECT_EQ(max_stable_dt(medium_of({{{1e13, 1e13}}}), cube_curl_curl()), 0);
  EXPECT_EQ(max_stable_dt(medium_of({drude(2e15, 1e13)}, -1.4), cube_curl_curl()), 0);
  Medium m;
  m.sigma = {0, -1e3, 0};
  EXPECT_EQ(max_stable_dt(m, cube_curl_curl()), 0);
}

TEST(MediumStability, TheSlowestAxisPairDecides) {
  Medium m;
  m.eps = {4, 2, 9};
  m.mu = {3, 1, 2};
  EXPECT_NEAR(max_stable_dt(m, cube_curl_curl()) / cube_limit(2 * 1), 1, 2e-9);
}

TEST(MediumStability, RefusesNonsense) {
  EXPECT_THROW(step_amplification(Medium{}, 0, 1), Error);
  EXPECT_THROW(step_amplification(Medium{}, 1, -1), Error);
  EXPECT_THROW(max_stable_dt(Medium{}, 0), Error);
}

}  // namespace
}  // namespace tessera::electromagnetics
