// SPDX-License-Identifier: Apache-2.0
#include "molecular/src/dynamics/noise.h"
#include "rotors.h"
#include "springs.h"
#include "tessera/molecular/dynamics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace tessera::molecular {
namespace {

using testing::add_atom, testing::Case, testing::springs, testing::springs_of;
using Scheme = Dynamics::Scheme;
using Thermostat = Dynamics::Thermostat;

TEST(Integrator, LangevinSamplesSpringsExactly) {
  // BAOAB has no error of the time step in the positions of springs: <x^2> = kT/k also at omega dt
  // = 1.
  const double k = 2500, mass = 10, kt = gas_constant * 300;  // omega = 15.8/ps
  const Case c = springs(400, 0, mass);
  const Integrator s(
      c.system, springs_of(k),
      {.scheme = Scheme::langevin, .dt_ps = 0.063, .temperature_k = 300, .friction_per_ps = 5});
  State m = s.begin(c.frame);
  s.step(m, 100);
  double squares = 0;
  const int samples = 300;
  for (int n = 0; n < samples; ++n) {
    s.step(m, 5);
    for (const Vec3& p : m.frame.x_nm) squares += p[0] * p[0] + p[1] * p[1] + p[2] * p[2];
  }
  // 1,200 coordinates, 300 samples a third of a relaxation time apart: about 1e5 independent ones,
  // relative error sqrt(2/1e5).
  EXPECT_NEAR(squares / (1200.0 * samples) / (kt / k), 1, 4 * std::sqrt(2 / 1e5));
}

/// Rigid rotors without forces: half drifts turn them at the same speed, and all that friction and
/// noise do is heat.
TEST(Integrator, LangevinKeepsAccountsOfRigidRotors) {
  const Case c = testing::rigid_rotors(20);
  const Integrator integrator(c.system, testing::no_forces,
                              {.scheme = Dynamics::Scheme::langevin,
                               .dt_ps = 0.004,
                               .temperature_k = 300,
                               .friction_per_ps = 2,
                               .centre_of_mass_removal = Dynamics::CentreOfMassRemoval::none,
                               .seed = 5});
  State m = integrator.begin(c.frame);
  const double first = integrator.energies(m).conserved;
  EXPECT_GT(first, 50);
  double exchanged = 0;
  for (int k = 0; k < 300; ++k) {
    integrator.step(m);
    exchanged = std::max(exchanged, std::abs(m.exchanged));
    EXPECT_NEAR(integrator.energies(m).conserved, first, 1e-7 * first)
        << k;  // constraints hold to 1e-10 of a bond, at each of 1200 moves
  }
  EXPECT_GT(exchanged, 1);
}

/// Free atoms at T_0 reach T - (T - T_0) exp(-2 t/tau) at t, each group by a tau of its own.
TEST(Langevin, GroupsHaveTheirOwnFriction) {
  const std::int32_t fast = 200, slow = 1000, still = 100;
  Case c = springs(static_cast<std::size_t>(fast + slow + still), 0, 10);
  Dynamics o = {.scheme = Scheme::langevin, .dt_ps = 0.01, .centre_of_mass_removal_every = 0};
  o.groups = {{"fast", {}, 300, 0.01, {}}, {"slow", {}, 300, 1000, {}}, {"still", {}, 300, 0, {}}};
  for (std::int32_t i = 0; i < fast + slow + still; ++i)
    o.groups[i < fast ? 0 : i < fast + slow ? 1 : 2].atoms.push_back(i);
  Dynamics cold = o;
  for (TemperatureGroup& g : cold.groups) g.temperature_k = 10;
  const Integrator s(c.system, springs_of(0), o);
  c.frame.v_nm_ps = Integrator(c.system, springs_of(0), cold).begin(c.frame).frame.v_nm_ps;
  State m = s.begin(c.frame);
  const double conserved = s.energies(m).conserved;
  s.step(m, 400);
  const std::vector<double> t = s.energies(m).group_temperature_k;
  EXPECT_NEAR(t[0], 300, 4 * 300 * std::sqrt(2 / (3.0 * fast)));
  // 290 (1 - exp(-0.008)) above 10, by noise of 2.3 K beside velocities of 10 K: a spread of 2
  // sqrt(10 * 2.3 / (3 n)) K.
  EXPECT_NEAR(t[1], 10 + 290 * -std::expm1(-0.008), 4 * 2 * std::sqrt(10 * 2.3 / (3.0 * slow)));
  EXPECT_NEAR(t[2], 10, 1e-9) << "no thermostat";
  EXPECT_NEAR(s.energies(m).conserved, conserved, 1e-6 * s.energies(m).kinetic);
}

TEST(Noise, IsPhiloxByBoxAndMuller) {
  Noise noise;
  const std::uint64_t first = (std::uint64_t{1} << 32) - 7, seed = 0x123456789ABCDEFULL;
  std::vector<std::int32_t> number(200);
  std::iota(number.begin(), number.end(), 0);
  noise.fill(seed, friction, first, number.data(), 200);
  const auto unit = [](std::uint32_t w) { return (w + 0.5) / 4294967296.0; };
  const double turn = 2 * 3.14159265358979323846;
  for (std::size_t i = 0; i < 200; ++i) {
    const auto w = data::philox({seed, friction}, first + i);
    for (std::size_t k = 0; k < 4; ++k) ASSERT_EQ(noise.word[k][i], w[k]);
    const double a = std::sqrt(-2 * std::log(unit(w[0]))), b = std::sqrt(-2 * std::log(unit(w[2])));
    EXPECT_NEAR(noise.normal[0][i], a * std::cos(turn * unit(w[1])), 1e-11);
    EXPECT_NEAR(noise.normal[1][i], a * std::sin(turn * unit(w[1])), 1e-11);
    EXPECT_NEAR(noise.normal[2][i], b * std::cos(turn * unit(w[3])), 1e-11);
  }
}

}  // namespace
}  // namespace tessera::molecular
