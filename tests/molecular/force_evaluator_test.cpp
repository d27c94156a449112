// SPDX-License-Identifier: Apache-2.0
#include "molecular_cases.h"
#include "tessera/autodiff/grad.h"
#include "tessera/molecular/bonded.h"
#include "tessera/molecular/ewald.h"
#include "tessera/molecular/forces.h"
#include "tessera/molecular/pme.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera::molecular {
namespace {

using testing::Case, testing::argon, testing::edges, testing::flat, testing::rigid_waters;

TEST(ForceEvaluator, AddsUpAllTerms) {
  Case c = testing::small_mixture();
  c.system.bonds = {{{0, 1}, {3, 7}}, {0, 0}, {{0.3, 2e4}}};
  c.system.angles = {{{1, 0, 2}}, {0}, {{1.9, 400}}};
  c.system.pairs = {{{8, 9}}, {0}, {{1e-3, 1e-6, 0.5, 0}}};
  for (const Nonbonded::Coulomb kind :
       {Nonbonded::Coulomb::pme, Nonbonded::Coulomb::ewald, Nonbonded::Coulomb::reaction_field}) {
    Nonbonded o = {.coulomb = kind,
                   .tail = Nonbonded::Tail::c6,
                   .cutoff_coulomb_nm = 0.8,
                   .cutoff_lj_nm = 0.7,
                   .ewald_rtol = 1e-4};
    o.fourier_grid = {15, 16, 15};
    Forces f;
    ForceEvaluator(c.system, o, {.precision = Precision::f64})(c.frame.x_nm, c.frame.box, f);
    const Tensor charge = tensor(c.system.atoms.charge_e), c6 = c6_of(c.system),
                 c12 = c12_of(c.system);
    const auto u = [&](const std::vector<Tensor>& p) {
      Tensor sum = evaluate(nonbonded_energy(c.system, o), {p[0], p[1], charge, c6, c12}) +
                   tail_energy(c.system, o, p[1], c6, c12);
      for (const Term t : {Term::bonds, Term::angles})
        sum = sum + evaluate(bonded_energy(c.system, t), {p[0], p[1], table_of(c.system, t)});
      for (const Term t : {Term::pairs_lj, Term::pairs_coulomb})
        sum =
            sum + evaluate(bonded_energy(c.system, t), {p[0], p[1], table_of(c.system, t), charge});
      if (kind == Nonbonded::Coulomb::reaction_field) return sum;
      const std::vector<Tensor> q = {p[0], p[1], charge};
      const EnergyPtr waves = kind == Nonbonded::Coulomb::pme
                                  ? pme_energy(c.system, o, o.fourier_grid)
                                  : ewald_reciprocal_energy(c.system, o);
      return sum + evaluate(waves, q) + evaluate(ewald_excluded_energy(c.system, o), q) +
             ewald_self_energy(c.system, o, p[1], charge);
    };
    const std::vector<Tensor> p = {flat(c.frame.x_nm), edges(c.frame.box)}, g = grad(u)(p);
    const double expected = u(p).item<double>(), largest = max(abs(flatten(g[0]))).item<double>();
    EXPECT_NEAR(f.potential(), expected, 1e-12 * std::abs(expected) + 1e-8);
    for (Index i = 0; i < 10; ++i)
      for (Index k = 0; k < 3; ++k)
        EXPECT_NEAR(f.f[static_cast<std::size_t>(i)][static_cast<std::size_t>(k)],
                    -select(select(g[0], 0, i), 0, k).item<double>(), 1e-12 * largest + 1e-8);
    const Tensor strain = -(matmul(transpose(p[0]), g[0]) + matmul(transpose(p[1]), g[1]));
    for (Index a = 0; a < 3; ++a)
      for (Index b = 0; b < 3; ++b)
        EXPECT_NEAR(f.virial[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)],
                    select(select(strain, 0, a), 0, b).item<double>(),
                    1e-11 * max(abs(flatten(strain))).item<double>() + 1e-7);
  }
}

TEST(ForceEvaluator, TailOfThePressure) {
  // sigma = epsilon = 1: P_tail = (32/9) pi rho^2 rc^-9 - (16/3) pi rho^2 rc^-3, of the truncated
  // and of the shifted potential.
  const double edge = 7, rc = 3, pi = 3.14159265358979323846;
  System s = testing::lennard_jones_atoms(2);
  const std::vector<Vec3> x = {{1, 1, 1}, {2.2, 1, 1}};
  const Box box = rectangular_box({edge, edge, edge});
  const double density = 2 / (edge * edge * edge),
               expected = pi * density * density *
                          (32.0 / 9 * std::pow(rc, -9) - 16.0 / 3 * std::pow(rc, -3));
  for (const Nonbonded::Modifier modifier :
       {Nonbonded::Modifier::none, Nonbonded::Modifier::potential_shift}) {
    Nonbonded o = {
        .coulomb = Nonbonded::Coulomb::none, .lj_modifier = modifier, .cutoff_lj_nm = rc};
    Forces without, with;
    ForceEvaluator(s, o)(x, box, without);
    o.tail = Nonbonded::Tail::c6_c12;
    ForceEvaluator(s, o)(x, box, with);
    for (std::size_t a = 0; a < 3; ++a)
      EXPECT_NEAR((with.virial[a][a] - without.virial[a][a]) * density / 2, expected,
                  1e-10 * std::abs(expected));
  }
}

/// u_full - u_used of a force switched from 0 is, of r^-n, 1/rc^n + the cubic added to the force;
/// its integral with r^2 is rc^(3-n) (1/(n - 3) + 1/3 + n (n + 4)/18 - n (n + 3)/21).
TEST(ForceEvaluator, TailOfAForceThatIsSwitchedFromTheStart) {
  const double rc = 1.2, edge = 3, pi = 3.14159265358979323846;
  const System s = testing::lennard_jones_atoms(10);
  const auto tail = [&](double from) {
    return tail_energy(s,
                       {.coulomb = Nonbonded::Coulomb::none,
                        .lj_modifier = Nonbonded::Modifier::force_switch,
                        .tail = Nonbonded::Tail::c6_c12,
                        .cutoff_lj_nm = rc,
                        .lj_switch_nm = from},
                       edges(rectangular_box({edge, edge, edge})), c6_of(s), c12_of(s))
        .item<double>();
  };
  const double expected = 2 * pi * 100 / std::pow(edge, 3) * 4 *
                          (160.0 / 63 * std::pow(rc, -9) - 10.0 / 7 * std::pow(rc, -3));
  EXPECT_NEAR(tail(0), expected, 1e-12 * std::abs(expected));
  EXPECT_NEAR(tail(1e-5), expected, 1e-3 * std::abs(expected)) << "it begins where it begins";
}

TEST(NonbondedChecks, ATailGivesBackNoInfiniteEnergy) {
  const Nonbonded o = {.coulomb = Nonbonded::Coulomb::none,
                       .lj_modifier = Nonbonded::Modifier::potential_switch,
                       .tail = Nonbonded::Tail::c6,
                       .lj_switch_nm = 0};
  EXPECT_THROW(check(o, rectangular_box({3, 3, 3})), Error);
}

}  // namespace
}  // namespace tessera::molecular
