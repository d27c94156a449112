// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/medium.h"

#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/constants.h"
#include "test_constants.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace tessera::electromagnetics {
namespace {

using Complex = std::complex<double>;
const Complex i(0, 1);
constexpr double eps0 = vacuum_permittivity, mu0 = vacuum_permeability;

// The text-book forms, e^{+i w t}, in ordinary frequency: what the pole-residue terms must add up
// to.
Complex lorentz_formula(double f, double f0, double g, double delta) {
  return delta * f0 * f0 / (f0 * f0 - f * f + i * f * g);
}
Complex drude_formula(double f, double fp, double g) { return -fp * fp / (f * f - i * f * g); }
Complex debye_formula(double f, double fr, double delta) { return delta / (1.0 + i * f / fr); }

Medium medium_with(std::vector<PoleResidue> poles) {
  Medium m;
  m.poles = std::move(poles);
  return m;
}

void expect_close(Complex got, Complex want, double relative) {
  EXPECT_LE(std::abs(got - want), relative * std::abs(want)) << got << " against " << want;
}

TEST(Medium, TermsAddUpToTheirFormulas) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> u(-1, 1);
  for (int trial = 0; trial < 200; ++trial) {
    const double f0 = 5e14 * std::pow(10, u(random)), f = 5e14 * std::pow(10, u(random));
    const double g = 1e14 * std::pow(30, u(random)), delta = 1 + u(random);
    // Partial fractions lose what their residues are larger than the sum: K/(W d) for a splitting
    // d.
    expect_close(susceptibility(lorentz(f0, g, delta), i * two_pi * f),
                 lorentz_formula(f, f0, g, delta), 1e-11);
    expect_close(susceptibility(drude(f0, g), i * two_pi * f), drude_formula(f, f0, g), 1e-12);
    expect_close(susceptibility(drude(f0, 0), i * two_pi * f), drude_formula(f, f0, 0), 1e-14);
    expect_close(susceptibility(debye(f0, delta), i * two_pi * f), debye_formula(f, f0, delta),
                 1e-14);
  }
}

TEST(Medium, LorentzIsAPairBelowCriticalDampingAndTwoRealTermsAbove) {
  EXPECT_EQ(lorentz(1e9, 1.9e9, 1).size(), 1u);
  EXPECT_FALSE(is_real(lorentz(1e9, 1.9e9, 1)[0]));
  const auto over = lorentz(1e9, 2.1e9, 1);
  ASSERT_EQ(over.size(), 2u);
  EXPECT_TRUE(is_real(over[0]) && is_real(over[1]));
  EXPECT_LT(over[0].a.real(), 0);
  EXPECT_LT(over[1].a.real(), over[0].a.real());
  // Far above critical damping the slow pole is -W^2/G: no cancellation may spoil it.
  EXPECT_NEAR(lorentz(1.0, 1e9, 1)[0].a.real(), -two_pi * 1e-9, 1e-22);
  // Undamped: the poles lie on the axis exactly.
  EXPECT_EQ(lorentz(1e9, 0, 1)[0].a.real(), 0.0);
}

TEST(Medium, CriticalDampingIsWithinItsStatedError) {
  for (double ratio : {2.0, 2 * (1 - 1e-12), 2 * (1 + 1e-12), 2 * (1 - 1e-9), 2 * (1 + 1e-9)})
    for (double f : {0.1, 0.9, 1.0, 1.1, 10.0})
      expect_close(susceptibility(lorentz(1, ratio, 3), i * two_pi * f),
                   lorentz_formula(f, 1, ratio, 3), 2e-8);
}

TEST(Medium, CriticalPointIsTheConjugateOfItsPublishedForm) {
  const double f0 = 7e14, g = 2e14, amplitude = 1.1, phase = -0.7, f = 5e14;
  // Etchegoin et al. write A w0 [e^{i p}/(w0 - w - i G) + e^{-i p}/(w0 + w + i G)] for e^{-i w t}.
  const Complex theirs =
      amplitude * f0 *
      (std::polar(1.0, phase) / (f0 - f - i * g) + std::polar(1.0, -phase) / (f0 + f + i * g));
  expect_close(susceptibility(critical_point(f0, g, amplitude, phase), i * two_pi * f),
               std::conj(theirs), 1e-14);
}

TEST(Medium, PermittivityHoldsConductionAndBackground) {
  Medium m = medium_with(debye(1e9, 4));
  m.eps = {2, 3, 4};
  m.sigma = {0, 0.5, 0};
  m.mu = {1, 1, 5};
  m.sigma_m = {0, 0, 100};
  const double f = 3e9, w = two_pi * f;
  expect_close(permittivity(m, 0, f), 2.0 + debye_formula(f, 1e9, 4), 1e-15);
  expect_close(permittivity(m, 1, f), 3.0 + debye_formula(f, 1e9, 4) - i * 0.5 / (w * eps0), 1e-14);
  expect_close(permeability(m, 2, f), 5.0 - i * 100.0 / (w * mu0), 1e-15);
  EXPECT_EQ(permittivity(m, 0, 0).real(), 6.0);
  // A real field's spectrum: eps(-f) is the conjugate of eps(f).
  expect_close(permittivity(m, 1, -f), std::conj(permittivity(m, 1, f)), 1e-15);
}

TEST(Medium, IndexDecaysInThePassiveAndTurnsInTheDoublyNegative) {
  Medium metal = medium_with(drude(2e15, 2e13));
  const Complex n = refractive_index(metal, 0, 5e14);
  EXPECT_GT(n.real(), 0);
  EXPECT_LT(n.imag(), 0);
  expect_close(n * n, permittivity(metal, 0, 5e14), 1e-14);
  Medium negative;
  negative.eps = negative.mu = {-2, -2, -2};
  expect_close(refractive_index(negative, 0, 1e9), -2.0, 1e-15);
}

TEST(Medium, DrudePoleAtZeroIsAConductivity) {
  Medium metal = medium_with(drude(2e15, 1e14, 0.8));
  metal.poles.push_back(lorentz(5e14, 1e14, 1)[0]);
  metal.sigma = {0, 10, 0};
  const Medium other = zero_poles_as_conductivity(metal);
  EXPECT_EQ(other.poles.size(), metal.poles.size() - 1);
  for (double f : {1e12, 1e14, 1e15})
    for (int axis : {0, 1}) {
      expect_close(permittivity(other, axis, f), permittivity(metal, axis, f), 1e-13);
      expect_close(discrete_permittivity(other, axis, f, 1e-17),
                   discrete_permittivity(metal, axis, f, 1e-17), 1e-13);
    }
}

// The recursion itself, driven by a discrete e^{i w n dt}: after its own transient has gone, P/E is
// what discrete_permittivity says.
TEST(Medium, UpdateHasTheDiscretePermittivity) {
  Medium m = medium_with(lorentz(4e14, 3e13, 1.5));
  m.poles.push_back(debye(2e14, 0.7)[0]);
  const double dt = 5e-17, f = 4.2e14;
  const Complex z = std::polar(1.0, two_pi * f * dt);
  // The pair in full: Q and the term of the conjugate pole, as the driving is complex.
  std::vector<PoleResidue> full{
      m.poles[0], {std::conj(m.poles[0].a), std::conj(m.poles[0].c)}, m.poles[1]};
  std::vector<Complex> q(full.size());
  Complex e = 1;
  for (int n = 0; n < 10000; ++n, e *= z)
    for (std::size_t p = 0; p < full.size(); ++p) {
      const PoleUpdate u = pole_update(full[p], dt);
      q[p] = u.alpha * q[p] + u.beta * (z * e + e);
    }
  expect_close(1.0 + (q[0] + q[1] + q[2]) / e, discrete_permittivity(m, 0, f, dt), 1e-9);
  // Second order in dt: a fourth of the difference at half the step.
  const Complex exact = permittivity(m, 0, f);
  const double coarse = std::abs(discrete_permittivity(m, 0, f, dt) - exact);
  const double fine = std::abs(discrete_permittivity(m, 0, f, dt / 2) - exact);
  EXPECT_NEAR(coarse / fine, 4, 0.2);
}

TEST(Medium, DoublePolesHaveTheDiscretePermittivityToo) {
  // A transient-free start: the terms of a driven e^{i w n dt} are known from the first step on.
  const double dt = 5e-17, f = 4.2e14;
  const Complex z = std::polar(1.0, two_pi * f * dt);
  const PoleResidue plasma = drude(2e15, 0)[0], critical{-6e14, 2e14, 5e29};
  for (const PoleResidue& p : {plasma, critical}) {
    const Medium m = medium_with({p});
    const PoleUpdate u = pole_update(p, dt);
    const double alpha = u.alpha.real();
    Complex e = 1;
    Complex y = u.beta.imag() * (z + 1.0) / (z - alpha);
    Complex q = (u.shear * y + u.beta.real() * (z + 1.0)) / (z - alpha);
    for (int n = 0; n < 1000; ++n, e *= z) {
      q = alpha * q + u.shear * y + u.beta.real() * (z * e + e);
      y = alpha * y + u.beta.imag() * (z * e + e);
    }
    expect_close(1.0 + q / e, discrete_permittivity(m, 0, f, dt), 1e-11);
  }
  expect_close(discrete_permittivity(medium_with({critical}), 0, f, 1e-20),
               permittivity(medium_with({critical}), 0, f), 1e-9);
  const Complex s = i * two_pi * f;
  expect_close(permittivity(medium_with({critical}), 0, f),
               1.0 + 2e14 / (s + 6e14) + 5e29 / ((s + 6e14) * (s + 6e14)), 1e-14);
  EXPECT_EQ(zero_poles_as_conductivity(medium_with({plasma})).poles.size(), 1u);
}

// What nobody asked for at that very frequency: above a resonance without loss, where the
// permittivity is negative and nothing travels.
TEST(Medium, ALookThroughABandStepsOffAPole) {
  const Medium crystal = medium_with(lorentz(2, 0, 3));
  EXPECT_THROW(permittivity(crystal, 0, 2), Error);
  EXPECT_EQ(beside_pole(crystal, 1.5), 1.5);
  EXPECT_NEAR(beside_pole(crystal, 2), 2 + 2e-6, 1e-12);
  EXPECT_EQ(highest_index(std::vector{crystal}, 2), 1);
}

TEST(Medium, RefusesWhatHasNoMeaning) {
  EXPECT_THROW(lorentz(0, 1, 1), Error);
  EXPECT_THROW(lorentz(1, -1, 1), Error);
  EXPECT_THROW(drude(1, -1), Error);
  EXPECT_THROW(debye(-1, 1), Error);
  EXPECT_THROW(debye(1, NAN), Error);
  EXPECT_THROW(permittivity(medium_with(drude(1, 1)), 0, 0), Error);
  EXPECT_THROW(permittivity(Medium{}, 3, 1), Error);
  EXPECT_THROW(permittivity({.pec = true}, 0, 1), Error);
  EXPECT_THROW(discrete_permittivity(Medium{}, 0, 1, 0.5), Error);
}

}  // namespace
}  // namespace tessera::electromagnetics
