// SPDX-License-Identifier: Apache-2.0
//
// What runs compute and what is differentiated is the same in double precision: the same bits
// where both do the same, before the one rounding of runs to the unit of their sums; nearly the
// same where decision 0136 says why not.
#include "molecular/src/bonded/bonded_term.h"
#include "molecular/src/derivatives/rigid.h"
#include "molecular/src/nonbonded/excluded_run.h"
#include "molecular/src/nonbonded/pair_derivatives.h"
#include "molecular/src/nonbonded/pair_run.h"
#include "molecular/src/nonbonded/pme_run.h"
#include "molecular_cases.h"
#include "pair_options.h"
#include "tensor_measures.h"
#include "tessera/autodiff/grad.h"
#include "tessera/molecular/bonded.h"
#include "tessera/molecular/constraints.h"
#include "tessera/molecular/ewald.h"
#include "tessera/molecular/pme.h"
#include "tessera/molecular/rollout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::molecular {
namespace {

using tessera::testing::largest;
using testing::add_atom, testing::Case;
using Scheme = Dynamics::Scheme;

constexpr double rounding = std::numeric_limits<double>::epsilon();

/// Two atoms of different types and charges, r apart along a direction that is none of the axes,
/// across a face of a box whose edges are no powers of two.
Case pair_at(double r) {
  Case c;
  c.system.residues = {{"TWO", "1", "", ""}};
  c.system.lj = mixed(LennardJones::Mixing::lorentz_berthelot, {0.28, 0.22}, {0.6, 0.3});
  add_atom(c.system, "A", 6, 12, 0.4, 0);
  add_atom(c.system, "B", 6, 12, -0.7, 1);
  c.frame.box = box_of_angles({2.1, 2.3, 2.2}, {75, 80, 70});
  c.frame.x_nm = {{0.1, 0.2, 0.15}, {0.1 - 0.48 * r, 0.2 + 0.6 * r, 0.15 - 0.64 * r}};
  return c;
}
/// The exponent of the unit of a sum of one pair, from the rule in pair_run.cpp.
int exponent_of_unit(const Case& c, const Nonbonded& o, bool energies) {
  const bool charged = o.coulomb != Nonbonded::Coulomb::none;
  const double ke = charged ? c.system.coulomb_constant / o.epsilon_r : 0;
  const bool wells = c.system.lj.c6[0] != 0;
  const double strong = std::max(400 * ke * 0.7 * 0.7, wells ? 4e4 * 0.6 / 0.28 : 0);
  return (strong > 0 ? 31 - static_cast<int>(std::ceil(std::log2(strong))) : 16) +
         (charged && !energies ? 22 : 26);
}

class PairsOfRunsAndDerivatives : public ::testing::TestWithParam<testing::PairOptions> {};
INSTANTIATE_TEST_SUITE_P(Options, PairsOfRunsAndDerivatives,
                         ::testing::ValuesIn(testing::pair_options()), testing::name_of_options);

/// A run adds the force that a derivative has, rounded to the unit: the same bits, but for wells
/// without a modifier, whose formula has a second form for runs (pair_formulas.h).
TEST_P(PairsOfRunsAndDerivatives, FeelTheSame) {
  const Nonbonded& o = GetParam().options;
  using enum Nonbonded::Modifier;
  const bool modified = o.lj_modifier != none && o.lj_modifier != potential_shift;
  for (const bool wells : {true, false})
    for (const double r :
         {0.21, 0.25, 0.3, 0.35, 0.41, 0.45, 0.53, 0.59, 0.63, 0.69, 0.72, 0.76, 0.799, 0.81}) {
      SCOPED_TRACE(r);
      Case c = pair_at(r);
      if (!wells) std::ranges::fill(c.system.lj.c6, 0.0), std::ranges::fill(c.system.lj.c12, 0.0);
      std::vector<Vec3> f(2), g(2);
      PairRun::Energy energy;
      ASSERT_TRUE(PairRun(c.system, o, {.precision = Precision::f64})
                      .add(c.frame.x_nm, c.frame.box, f, &energy));
      const std::array<const double*, 5> p = {c.frame.x_nm[0].data(), c.frame.box.edge[0].data(),
                                              c.system.atoms.charge_e.data(), c.system.lj.c6.data(),
                                              c.system.lj.c12.data()};
      const std::array<double*, 5> to = {g[0].data(), nullptr, nullptr, nullptr, nullptr};
      const double u = PairDerivatives(c.system, o).value_and_gradient(p, to);
      const double unit = std::ldexp(1.0, -exponent_of_unit(c, o, false)),
                   of_energy = std::ldexp(1.0, -exponent_of_unit(c, o, true));
      for (std::size_t i = 0; i < 2; ++i)
        for (std::size_t a = 0; a < 3; ++a)
          if (modified || !wells) {
            EXPECT_EQ(f[i][a], unit * static_cast<double>(std::llrint(-g[i][a] / unit)));
          } else {
            EXPECT_NEAR(f[i][a], -g[i][a], 0.5 * unit + 8 * rounding * (std::abs(g[i][a]) + 50));
          }
      EXPECT_NEAR(energy.lj + energy.coulomb, u, of_energy + 8 * rounding * (std::abs(u) + 50));
    }
}

/// Excluded pairs of an Ewald sum: every force of a run is the derivative's, rounded to the unit.
TEST(RunsAndDerivatives, ExcludedPairsFeelTheSameBits) {
  Case c = testing::small_mixture();
  c.system.exclusions = {{0, 1}, {2, 3}, {4, 5}, {6, 7}};  // an atom is in one pair only
  c.frame.x_nm[1] = {c.frame.x_nm[0][0] + 0.06, c.frame.x_nm[0][1] + 0.08, c.frame.x_nm[0][2]};
  const Nonbonded o = {.coulomb = Nonbonded::Coulomb::ewald, .cutoff_coulomb_nm = 0.8};
  const ExcludedRun run(c.system, o, ExcludedShapes(ewald_beta(o)), c.system.exclusions.size());
  std::vector<std::int64_t> units(30, 0);
  Sums sums;
  sums.force = units.data();
  run.add(c.frame.x_nm.data(), c.frame.box, 0, run.size(), true, sums);
  std::vector<Vec3> g(10);
  const std::array<const double*, 3> p = {c.frame.x_nm[0].data(), c.frame.box.edge[0].data(),
                                          c.system.atoms.charge_e.data()};
  ewald_excluded_energy(c.system, o)
      ->gradient(p, std::array<double*, 3>{g[0].data(), nullptr, nullptr});
  for (std::size_t i = 0; i < 10; ++i)
    for (std::size_t a = 0; a < 3; ++a)
      EXPECT_EQ(units[3 * i + a], std::llrint(-g[i][a] * fixed_scale)) << i << ' ' << a;
  EXPECT_NEAR(sums.energy[static_cast<std::size_t>(Term::coulomb_reciprocal)].value(),
              ewald_excluded_energy(c.system, o)->value(p), 4 / fixed_scale);
}

/// One term of every kind over the first atoms of a bent chain that lies across faces of a slanted
/// box.
struct Chain {
  System system;
  Box box = box_of_angles({2.1, 2.4, 2.2}, {75, 80, 65});
  std::vector<Vec3> x = {{0, 0, 0},         {0.1, 0.11, 0},   {0.24, 0.05, 0.04},
                         {0.3, 0.16, 0.13}, {0.42, 0.1, 0.2}, {0.44, 0.23, 0.29}};
  Chain() {
    system.residues = {{"ANY", "1", "", ""}};
    system.lj = mixed(LennardJones::Mixing::lorentz_berthelot, {0.3}, {0.5});
    for (int i = 0; i < 6; ++i) add_atom(system, "X", 6, 12, 0.2 * i - 0.5, 0);
    for (const auto& [i, e] : {std::pair{1, 0}, {2, 1}, {4, 2}, {5, 1}})
      for (std::size_t k = 0; k < 3; ++k)
        x[static_cast<std::size_t>(i)][k] += box.edge[static_cast<std::size_t>(e)][k];
    testing::fill_what_is_empty(system);
    system.pairs.rows = {{2e-4, 1e-8, 0.8, 0.1}};
    for (std::size_t k = 0; k < system.cmap.maps.size(); ++k)
      system.cmap.maps[k] = std::sin(1.7 * static_cast<double>(k));
  }
};
class BondedRunsAndDerivatives : public ::testing::TestWithParam<Term> {};
INSTANTIATE_TEST_SUITE_P(Kinds, BondedRunsAndDerivatives, ::testing::ValuesIn(bonded_terms),
                         [](const auto& kind) { return std::string(name_of(kind.param)); });

TEST_P(BondedRunsAndDerivatives, FeelTheSame) {
  const Chain c;
  const BondedTermPtr term = bonded_term(c.system, GetParam());
  ASSERT_TRUE(term);
  ASSERT_EQ(term->size(), 1U);
  std::vector<std::int64_t> units(18, 0);
  Sums sums;
  sums.force = units.data();
  sums.scale = fine_scale;
  term->add(c.x.data(), c.box, 0, 1, sums);
  std::vector<Vec3> g(6);
  std::vector<const double*> p = {c.x[0].data(), c.box.edge[0].data()};
  const std::vector<double> rows = table_of(c.system, GetParam()).to_vector<double>();
  p.push_back(rows.data());
  if (term->shapes().size() == 4) p.push_back(c.system.atoms.charge_e.data());
  std::vector<double*> to(p.size(), nullptr);
  to[0] = g[0].data();
  const double u = term->value_and_gradient(p, to);
  // Runs take torsions of few turns around the circle, without an angle (terms/dihedrals.cpp).
  const bool turns = GetParam() == Term::dihedrals || GetParam() == Term::impropers;
  // An atom has the sum of what its displacements give: one rounding each, six at most (cmap).
  std::int64_t moved = 0;
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t a = 0; a < 3; ++a) {
      const double units_of_g = -g[i][a] * fine_scale.forces;
      EXPECT_NEAR(static_cast<double>(units[3 * i + a]), units_of_g,
                  3 + (turns ? 1e-14 : 2e-16) * std::abs(units_of_g))
          << i << ' ' << a;
      moved += std::abs(units[3 * i + a]);
    }
  EXPECT_NEAR(sums.energy[static_cast<std::size_t>(GetParam())].value(fine_scale.energies), u,
              1 / fine_scale.energies + 8 * rounding * std::abs(u));
  if (turns || GetParam() == Term::cmap) return;
  EXPECT_GT(moved, 0);
  // The first and the last atom of a coordinate are the end of one displacement.
  for (std::size_t a = 0; a < 3; ++a)
    EXPECT_EQ(units[a], std::llrint(-g[0][a] * fine_scale.forces)) << a;
}

/// Particle-mesh sums: one engine, one set of kernels; each atom's force is rounded once.
TEST(RunsAndDerivatives, MeshesGiveTheSameBits) {
  const Case c = testing::small_mixture();
  for (const Precision precision : {Precision::f64, Precision::mixed})
    for (const int order : {4, 5, 6}) {
      SCOPED_TRACE(order + 10 * static_cast<int>(precision));
      const Nonbonded o = {.cutoff_coulomb_nm = 0.8, .ewald_rtol = 1e-4, .pme_order = order};
      const auto run = pme_run(c.system, o, precision == Precision::mixed);
      Sums sums;
      std::vector<std::int64_t> units(30, 0);
      run->add(c.frame.x_nm.data(), c.frame.box, true, sums);
      run->add_forces(0, 10, units.data());
      const EnergyPtr u = pme_energy(c.system, o, pme_grid(o, c.frame.box), precision);
      std::vector<Vec3> g(10);
      const std::array<const double*, 3> p = {c.frame.x_nm[0].data(), c.frame.box.edge[0].data(),
                                              c.system.atoms.charge_e.data()};
      u->gradient(p, std::array<double*, 3>{g[0].data(), nullptr, nullptr});
      for (std::size_t i = 0; i < 10; ++i)
        for (std::size_t a = 0; a < 3; ++a)
          EXPECT_EQ(units[3 * i + a], std::llrint(-g[i][a] * fixed_scale)) << i << ' ' << a;
      EXPECT_EQ(static_cast<std::int64_t>(
                    sums.energy[static_cast<std::size_t>(Term::coulomb_reciprocal)].units),
                std::llrint(u->value(p) * fixed_scale));
    }
}

/// Constraints are met by two methods (decision 0101), each to its own tolerance.
TEST(RunsAndDerivatives, ConstraintsAreMetAlike) {
  const Case c = testing::rigid_waters();
  std::vector<Vec3> y = c.frame.x_nm, v(y.size());
  std::mt19937 random(3);
  std::normal_distribution<double> any(0, 0.003);
  for (Vec3& p : y)
    for (double& k : p) k += any(random);
  for (Vec3& p : v)
    for (double& k : p) k = any(random);
  const Tensor h = edges_of(c.frame.box), x = positions_of(c.frame.x_nm);
  const RigidBonds rigid(c.system);
  const Tensor z = rigid.positions(x, positions_of(y), h, parameters(c.system)),
               w = rigid.velocities(x, positions_of(v), h);
  const Constraints constraints(c.system);
  constraints.apply_to_positions(c.frame.x_nm, y, c.frame.box);
  constraints.apply_to_velocities(c.frame.x_nm, v, c.frame.box);
  EXPECT_LT(largest(z - positions_of(y)), 1e-10);
  EXPECT_LT(largest(w - positions_of(v)), 1e-12);
}

/// Atoms pulled aside by more than the lengths of their bonds.
TEST(RunsAndDerivatives, ConstraintsThatCannotBeMetAreNaNWithTheirDerivatives) {
  const Case c = testing::rigid_waters();
  const Tensor h = edges_of(c.frame.box), x = positions_of(c.frame.x_nm),
               y = x + 0.4 * normal(random_key(1), x.shape());
  const RigidBonds rigid(c.system);
  const auto [z, dz] =
      jvp([&](const Tensor& t) { return rigid.positions(x, t, h, parameters(c.system)); }, y,
          ones(y.shape()));
  EXPECT_FALSE(any(is_finite(z)).item<bool>());
  EXPECT_FALSE(any(is_finite(dz)).item<bool>());
}

/// A chain of four charged atoms with two more beside it, all free to move.
Case moving() {
  Case c;
  c.system.residues = {{"MOV", "1", "", ""}};
  c.system.lj = mixed(LennardJones::Mixing::lorentz_berthelot, {0.28, 0.22}, {0.6, 0.3});
  for (int k = 0; k < 6; ++k) add_atom(c.system, "C", 6, 12.011 + k, k % 2 ? 0.2 : -0.2, k % 2);
  c.system.bonds = {{{0, 1}, {1, 2}, {2, 3}}, {0, 1, 0}, {{0.15, 2e5}, {0.14, 3e5}}};
  c.system.angles = {{{0, 1, 2}, {1, 2, 3}}, {0, 0}, {{1.9, 400}}};
  c.system.dihedrals = {{{0, 1, 2, 3}}, {0}, {{0.3, 5, 3}}};
  for (std::int32_t i = 0; i < 4; ++i)
    for (std::int32_t j = i + 1; j < 4; ++j) c.system.exclusions.push_back({i, j});
  c.frame.box = rectangular_box({2.1, 2, 1.9});
  c.frame.x_nm = {{0.4, 0.6, 0.2},    {0.55, 0.6, 0.2}, {0.55, 0.74, 0.2},
                  {0.55, 0.74, 0.35}, {0.2, 0.3, 1.85}, {0.75, 0.45, 0.3}};
  return c;
}
const Nonbonded pme_of_moving = {.lj_modifier = Nonbonded::Modifier::force_switch,
                                 .cutoff_coulomb_nm = 0.8,
                                 .cutoff_lj_nm = 0.8,
                                 .lj_switch_nm = 0.5,
                                 .fourier_spacing_nm = 0.15};

class StepsOfRunsAndDerivatives : public ::testing::TestWithParam<Scheme> {};
INSTANTIATE_TEST_SUITE_P(Integrators, StepsOfRunsAndDerivatives,
                         ::testing::Values(Scheme::velocity_verlet, Scheme::leap_frog),
                         [](const auto& i) {
                           return i.param == Scheme::leap_frog ? "leap_frog" : "velocity_verlet";
                         });

TEST_P(StepsOfRunsAndDerivatives, AreTheSameBitsWithTheSameForces) {
  const Case c = moving();
  const Tensor h = edges_of(c.frame.box);
  const Parameters p = parameters(c.system);
  const PotentialEnergy u(c.system, pme_of_moving, c.frame.box),
      again(c.system, pme_of_moving, c.frame.box);
  const ForceFunction derived = [&](const std::vector<Vec3>& x, const Box&, Forces& out) {
    out = Forces{};
    const auto [energy, gradient] =
        value_and_grad([&](const Tensor& y) { return again(y, h, p); })(positions_of(x));
    out.energy[0] = energy.item<double>();
    const auto g = gradient.data<double>();
    out.f.resize(x.size());
    for (std::size_t k = 0; k < g.size(); ++k) out.f[k / 3][k % 3] = -g[k];
  };
  const Dynamics steps = {
      .scheme = GetParam(), .dt_ps = 0.001, .centre_of_mass_removal_every = 0, .seed = 7};
  const Integrator run(c.system, derived, steps);
  State m = run.begin(c.frame);
  const Path end = rollout(u, positions_of(m.frame.x_nm), positions_of(m.frame.v_nm_ps), h, p,
                           {.scheme = GetParam(), .dt_ps = 0.001, .steps = 40});
  const State first = m;
  run.step(m, 40);
  EXPECT_GT(largest(end.x - positions_of(first.frame.x_nm)), 1e-3);
  EXPECT_EQ(end.x.to_vector<double>(), positions_of(m.frame.x_nm).to_vector<double>());
  EXPECT_EQ(end.v.to_vector<double>(), positions_of(m.frame.v_nm_ps).to_vector<double>());
  EXPECT_NEAR(select(end.potential, 0, 39).item<double>(), m.forces.energy[0], 1e-11)
      << "an energy with its gradient, and alone";
  // With the forces of runs, rounded to 2^-32 and finer, they part by that.
  const Integrator rounded(
      c.system, ForceEvaluator(c.system, pme_of_moving, {.precision = Precision::f64}), steps);
  State n = rounded.begin(first.frame);
  rounded.step(n, 40);
  EXPECT_LT(largest(end.x - positions_of(n.frame.x_nm)), 1e-10);
  EXPECT_LT(largest(end.v - positions_of(n.frame.v_nm_ps)), 1e-8);
}

}  // namespace
}  // namespace tessera::molecular
