// SPDX-License-Identifier: Apache-2.0
// Estimates of what Ewald sums leave out against forces of sums that leave out nothing.
#include "molecular_cases.h"
#include "tessera/molecular/build.h"
#include "tessera/molecular/ewald.h"
#include "tessera/molecular/forces.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera::molecular {
namespace {

using Coulomb = Nonbonded::Coulomb;

/// 300 charges of 1/2 e, either sign, anywhere but within 0.15 nm of each other.
testing::Case charges() {
  testing::Case c;
  c.system.lj = mixed(LennardJones::Mixing::lorentz_berthelot, {0.3}, {0.0});
  c.system.residues = {{"ION", "1", "", ""}};
  c.frame.box = rectangular_box({2.2, 2.3, 2.4});
  std::mt19937 random(11);
  std::uniform_real_distribution<double> any(0, 1);
  while (c.frame.x_nm.size() < 300) {
    const Vec3 p = from_fractions(c.frame.box, {any(random), any(random), any(random)});
    bool apart = true;
    for (const Vec3& o : c.frame.x_nm) {
      const Vec3 d = shortest(c.frame.box, {p[0] - o[0], p[1] - o[1], p[2] - o[2]});
      apart = apart && d[0] * d[0] + d[1] * d[1] + d[2] * d[2] > 0.0225;
    }
    if (!apart) continue;
    testing::add_atom(c.system, "X", 6, 12, c.frame.x_nm.size() % 2 ? 0.5 : -0.5, 0);
    c.frame.x_nm.push_back(p);
  }
  return c;
}

std::vector<Vec3> forces(const testing::Case& c, const Nonbonded& o) {
  Forces out;
  ForceEvaluator(c.system, o, {.precision = Precision::f64})(c.frame.x_nm, c.frame.box, out);
  return out.f;
}

TEST(EwaldErrors, AreThoseOfForces) {
  const testing::Case c = charges();
  const Nonbonded whole = {
      .coulomb = Coulomb::ewald, .cutoff_coulomb_nm = 1, .cutoff_lj_nm = 1, .ewald_rtol = 1e-10};
  const std::vector<Vec3> right = forces(c, whole);
  const double unit = 100 * c.system.coulomb_constant * 0.25;  // k_e q^2/(0.1 nm)^2
  // A factor of 1.6: sums over 300 charges are not those over infinitely many, and asymptotic.
  const auto expect = [&](const Nonbonded& o, double EwaldErrors::*part) {
    const std::vector<Vec3> f = forces(c, o);
    double square = 0;
    for (std::size_t i = 0; i < f.size(); ++i)
      for (std::size_t d = 0; d < 3; ++d) square += std::pow(f[i][d] - right[i][d], 2);
    const double error = std::sqrt(square / static_cast<double>(f.size())) / unit;
    const double ratio = ewald_errors(c.system, o, c.frame.box).*part / error;
    EXPECT_GT(ratio, 1 / 1.6) << error;
    EXPECT_LT(ratio, 1.6) << error;
  };
  for (const double beta : {1.5, 2.0, 2.5}) {
    Nonbonded o = whole;
    o.ewald_beta = beta;
    expect(o, &EwaldErrors::pairs);
  }
  for (const double kmax : {8.0, 14.0, 20.0}) {
    Nonbonded o = whole;
    o.ewald_beta = 4;
    o.ewald_kmax = kmax;
    expect(o, &EwaldErrors::waves);
  }
  for (const int order : {4, 5, 6, 8})
    for (const double spacing : {0.08, 0.12, 0.16}) {
      Nonbonded o = whole;
      o.coulomb = Coulomb::pme;
      o.pme_order = order;
      o.fourier_spacing_nm = spacing;
      expect(o, &EwaldErrors::mesh);
    }
}

TEST(EwaldErrors, PressuresOfAMeshAreThoseOfWater) {
  const BuiltSystem b = water_box({.molecules = 216});
  const testing::Case c{.system = b.system, .frame = b.frame};
  const auto pressure = [&](const Nonbonded& o) {
    Forces out;
    ForceEvaluator(c.system, o, {.precision = Precision::f64})(c.frame.x_nm, c.frame.box, out);
    return bar_per_pressure_unit * (out.virial[0][0] + out.virial[1][1] + out.virial[2][2]) /
           (3 * volume_nm3(c.frame.box));
  };
  // Of the right sign, and within a factor of 3: neighbours in the liquid are left out of account.
  for (const int order : {4, 5, 6, 7})
    for (const double rc : {0.6, 0.75}) {
      Nonbonded o = {.coulomb = Coulomb::pme,
                     .cutoff_coulomb_nm = rc,
                     .cutoff_lj_nm = 0.6,
                     .pme_order = order};
      const double told = mesh_pressure_bar(c.system, o, c.frame), with = pressure(o);
      o.coulomb = Coulomb::ewald;
      const double ratio = told / (with - pressure(o));
      EXPECT_GT(ratio, 1.0 / 3) << order << " " << rc << " " << told;
      EXPECT_LT(ratio, 3) << order << " " << rc << " " << told;
    }
}

/// kmax^3 V/(12 pi^2) = 1e7 of 8 nm^3 at 529/nm.
TEST(EwaldSum, OfMoreWavesThanCanBeSummedIsRefused) {
  testing::Case c = charges();
  c.frame.box = rectangular_box({2, 2, 2});
  Nonbonded o = {.coulomb = Coulomb::ewald, .ewald_kmax = 528};
  EXPECT_NO_THROW(check(o, c.frame.box));
  for (const double kmax : {530.0, 1e11, 1e200}) {
    o.ewald_kmax = kmax;
    EXPECT_THROW(check(o, c.frame.box), Error) << kmax;
    EXPECT_THROW(evaluate(ewald_reciprocal_energy(c.system, o),
                          {testing::flat(c.frame.x_nm), testing::edges(c.frame.box),
                           tensor(c.system.atoms.charge_e)}),
                 Error)
        << kmax;
  }
}

TEST(EwaldErrors, AreNoneWithoutChargesOrWithoutASum) {
  testing::Case c = charges();
  const auto none = [&](Coulomb coulomb) {
    const EwaldErrors e = ewald_errors(c.system, {.coulomb = coulomb}, c.frame.box);
    EXPECT_EQ(e.pairs, 0);
    EXPECT_EQ(e.waves, 0);
    EXPECT_EQ(e.mesh, 0);
  };
  none(Coulomb::reaction_field);
  for (double& q : c.system.atoms.charge_e) q = 0;
  none(Coulomb::pme);
}

}  // namespace
}  // namespace tessera::molecular
