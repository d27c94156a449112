// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/bonded.h"

#include "molecular/src/bonded/bonded_term.h"
#include "molecular/src/bonded/gromacs_function.h"
#include "molecular_cases.h"
#include "tensor_measures.h"
#include "tessera/autodiff/check.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"
#include "tessera/molecular/forces.h"
#include "tessera/molecular/minimize.h"
#include "tessera/molecular/parameters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <random>
#include <set>

namespace tessera::molecular {
namespace {

using std::numbers::pi;
using tessera::testing::largest;
using testing::edges, testing::fill, testing::flat, testing::fill_what_is_empty;

/// Six atoms, some of them across faces of a slanted box, with terms of every kind.
System all_kinds() {
  System s;
  s.residues = {{"ANY", "1", "", ""}};
  s.lj = mixed(LennardJones::Mixing::lorentz_berthelot, {0.3}, {0.5});
  for (int i = 0; i < 6; ++i) {
    s.atoms.name.push_back("X" + std::to_string(i));
    s.atoms.type.push_back("x");
    s.atoms.element.push_back(6);
    s.atoms.mass_amu.push_back(12);
    s.atoms.charge_e.push_back(0.2 * i - 0.5);
    s.atoms.lj_type.push_back(0);
    s.atoms.residue.push_back(0);
  }
  s.bonds = {{{0, 1}, {1, 2}, {3, 4}}, {0, 1, 0}, {{0.15, 3e5}, {0.11, 2e5}}};
  s.urey_bradley = {{{0, 2}, {3, 5}}, {0, 0}, {{0.25, 4e4}}};
  s.angles = {{{0, 1, 2}, {3, 4, 5}}, {0, 1}, {{1.9, 400}, {2.1, 500}}};
  s.dihedrals = {
      {{0, 1, 2, 3}, {2, 3, 4, 5}, {0, 1, 2, 3}}, {0, 1, 2}, {{0.3, 5, 1}, {pi, 8, 2}, {0, 2, 3}}};
  s.impropers = {{{1, 0, 2, 3}}, {0}, {{pi, 4.6, 2}}};
  s.harmonic_impropers = {{{5, 4, 3, 2}, {0, 2, 1, 4}}, {0, 0}, {{2.9, 100}}};
  s.ryckaert_bellemans = {{{1, 2, 3, 4}}, {0}, {{9.3, 12.2, -13.1, -3.1, 26.2, -31.5}}};
  s.cmap = {{{0, 1, 2, 3, 1, 2, 3, 4}, {1, 2, 3, 4, 2, 3, 4, 5}, {5, 3, 2, 0, 0, 1, 2, 3}},
            {0, 1, 0},
            5,
            {}};
  for (int k = 0; k < 50; ++k) s.cmap.maps.push_back(3 * std::sin(1.7 * k) + std::cos(0.3 * k * k));
  s.pairs = {
      {{0, 3}, {1, 4}, {2, 5}}, {0, 1, 1}, {{2e-3, 3e-6, 0.8333, 0}, {1e-3, 1e-6, 0.5, 0.1}}};
  s.position_restraints = {
      {{1}, {4}}, {0, 1}, {{1000, 500, 200, 0.1, 0.2, 2.9}, {10, 20, 30, 1.1, 1.2, 1.3}}};
  s.distance_restraints = {
      {{0, 5}, {1, 5}, {2, 4}}, {0, 1, 2}, {{0.1, 0.12, 1000}, {2.5, 2.8, 300}, {0.1, 3, 900}}};
  fill_what_is_empty(s);
  return s;
}
const System sys = all_kinds();
const Box box = box_of_angles({2.1, 2.4, 2.2}, {75, 80, 65});
/// A chain with angles away from 0 and 180 degrees; atoms are moved by edges of the box.
std::vector<Vec3> positions() {
  std::vector<Vec3> x = {{0, 0, 0},         {0.1, 0.11, 0},   {0.24, 0.05, 0.04},
                         {0.3, 0.16, 0.13}, {0.42, 0.1, 0.2}, {0.44, 0.23, 0.29}};
  for (const auto& [i, e] : {std::pair{1, 0}, {2, 1}, {4, 2}, {5, 1}})
    for (std::size_t k = 0; k < 3; ++k)
      x[static_cast<std::size_t>(i)][k] += box.edge[static_cast<std::size_t>(e)][k];
  return x;
}
std::vector<Tensor> operands(Term kind, const EnergyPtr& u) {
  std::vector<Tensor> p = {flat(positions()), edges(box), table_of(sys, kind)};
  if (u->shapes().size() == 4) p.push_back(tensor(sys.atoms.charge_e));
  return p;
}

class Bonded : public ::testing::TestWithParam<Term> {};
INSTANTIATE_TEST_SUITE_P(Kinds, Bonded, ::testing::ValuesIn(bonded_terms),
                         [](const auto& kind) { return std::string(name_of(kind.param)); });

TEST(BondedTable, EveryPartOfTheEnergyIsOfOneKindAndMadeOfItsList) {
  std::map<Term, int> kinds;
  System s = all_kinds();
  each_bonded([](const BondedKind&, auto& list) { list = {}; }, s);
  for (const Term term : bonded_terms) EXPECT_EQ(bonded_energy(s, term), nullptr) << name_of(term);
  each_bonded(
      [&](const BondedKind& kind, auto& list) {
        fill(list);
        for (const Term term : bonded_terms) {
          const BondedTermPtr energy = bonded_term(s, term);
          if (kind.gives(term)) {
            ++kinds[term];
            ASSERT_TRUE(energy) << name_of(term);
            EXPECT_EQ(energy->kind(), term);
            EXPECT_EQ(energy->size(), 1U);
            EXPECT_EQ(table_of(s, term).shape(), energy->shapes()[2]) << name_of(term);
          } else {
            EXPECT_EQ(energy, nullptr) << name_of(term) << " of " << kind.words;
          }
        }
        list = {};
      },
      s);
  for (const Term term : bonded_terms) EXPECT_EQ(kinds[term], 1) << name_of(term);
}

TEST(BondedTable, NoTwoKindsTakeOneFunctionOfTopologies) {
  std::set<std::pair<std::string, int>> known;
  for (const GromacsFunction& f : gromacs_functions())
    for (const int number : {f.function, f.also})
      if (number != 0) {
        EXPECT_TRUE(known.emplace(f.section, number).second) << f.section << " " << number;
      }
  EXPECT_TRUE(known.contains({"dihedrals", 9}));
}

TEST_P(Bonded, KernelsAgreeWithTheGenericForm) {
  const EnergyPtr u = bonded_energy(sys, GetParam());
  const std::vector<Tensor> p = operands(GetParam(), u);
  const auto kernel = [&](const std::vector<Tensor>& q) { return evaluate(u, q); };
  const auto oracle = [&](const std::vector<Tensor>& q) { return u->generic(q); };
  const double value = oracle(p).item<double>();
  EXPECT_GT(std::abs(value), 1e-6);
  EXPECT_NEAR(kernel(p).item<double>(), value, 1e-11 * std::abs(value));
  const std::vector<Tensor> g = grad(kernel)(p), expected = grad(oracle)(p);
  std::vector<Tensor> v;
  std::mt19937 random(3);
  for (const Tensor& t : p) {
    std::vector<double> any(static_cast<std::size_t>(t.size()));
    for (double& a : any) a = std::uniform_real_distribution(-1.0, 1.0)(random);
    v.push_back(tensor(any, t.shape()));
  }
  const std::vector<Tensor> w = hvp(kernel, p, v), expected_w = hvp(oracle, p, v);
  for (std::size_t k = 0; k < p.size(); ++k) {
    // Cancellation in the oracle's acos and in differences of large coordinates costs three digits.
    EXPECT_LE(largest(g[k] - expected[k]), 1e-11 * largest(expected[k]) + 1e-13)
        << "gradient, operand " << k;
    EXPECT_LE(largest(w[k] - expected_w[k]), 1e-10 * largest(expected_w[k]) + 1e-12)
        << "Hessian product, operand " << k;
  }
}

TEST_P(Bonded, PositionsAloneHaveTheSameDerivatives) {
  const EnergyPtr u = bonded_energy(sys, GetParam());
  const std::vector<Tensor> p = operands(GetParam(), u), positions = {p[0], p[1]};
  const auto with = [&](const std::vector<Tensor>& q) {
    std::vector<Tensor> all = p;
    std::ranges::copy(q, all.begin());
    return all;
  };
  const auto kernel = [&](const std::vector<Tensor>& q) { return evaluate(u, with(q)); };
  const auto oracle = [&](const std::vector<Tensor>& q) { return u->generic(with(q)); };
  const std::vector<Tensor> v = {
      sin(7.0 * p[0]), tensor(std::vector{0.3, 0.0, 0.0, -0.2, 0.5, 0.0, 0.1, 0.7, -0.4}, {3, 3})};
  const std::vector<Tensor> g = grad(kernel)(positions), expected = grad(oracle)(positions),
                            w = hvp(kernel, positions, v), expected_w = hvp(oracle, positions, v);
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_LE(largest(g[k] - expected[k]), 1e-11 * largest(expected[k]) + 1e-13)
        << "gradient, operand " << k;
    EXPECT_LE(largest(w[k] - expected_w[k]), 1e-10 * largest(expected_w[k]) + 1e-12)
        << "Hessian product, operand " << k;
  }
}

TEST_P(Bonded, RunsAddTheSameForces) {
  const BondedTermPtr term = bonded_term(sys, GetParam());
  const std::vector<Tensor> p = operands(GetParam(), term);
  const std::vector<Tensor> g =
      grad([&](const std::vector<Tensor>& q) { return evaluate(term, q); })(p);
  const std::vector<Vec3> x = positions();
  std::vector<std::int64_t> force(18, 0);
  Sums sums;
  sums.force = force.data();
  term->add(x.data(), box, 0, term->size(), sums);
  EXPECT_FALSE(sums.out_of_range);
  const double u = evaluate(term, p).item<double>();
  const auto near = [](double a, double b) {
    EXPECT_NEAR(a, b, 1e-12 * std::abs(b) + 20 / fixed_scale);
  };
  near(sums.energy[static_cast<std::size_t>(GetParam())].value(), u);
  double total[3] = {};
  for (Index i = 0; i < 6; ++i)
    for (Index c = 0; c < 3; ++c) {
      near(from_fixed(force[static_cast<std::size_t>(3 * i + c)]),
           -select(select(g[0], 0, i), 0, c).item<double>());
      total[c] += from_fixed(force[static_cast<std::size_t>(3 * i + c)]);
    }
  if (GetParam() != Term::position_restraints) {  // tied to positions, not to each other
    for (const double f : total) EXPECT_EQ(f, 0) << "forces do not add up to zero";
  }
  // W = -(x^T dU/dx + h^T dU/dh): what straining atoms and box together does.
  const Tensor strain = -(matmul(transpose(p[0]), g[0]) + matmul(transpose(p[1]), g[1]));
  for (Index a = 0; a < 3; ++a)
    for (Index b = 0; b < 3; ++b)
      EXPECT_NEAR(sums.virial[static_cast<std::size_t>(3 * a + b)].value(),
                  select(select(strain, 0, a), 0, b).item<double>(),
                  1e-11 * largest(strain) + 20 / fixed_scale);
}

TEST_P(Bonded, TermsAreTheSameAloneAndBesideOthers) {
  System several = sys;
  const auto repeat = [](auto& terms) {
    const auto once = terms;
    for (int k = 0; k < 6; ++k) {
      terms.atoms.insert(terms.atoms.end(), once.atoms.begin(), once.atoms.end());
      terms.row.insert(terms.row.end(), once.row.begin(), once.row.end());
    }
  };
  each_bonded([&](const BondedKind&, auto& terms) { repeat(terms); }, several);
  const BondedTermPtr term = bonded_term(several, GetParam());
  const std::vector<Vec3> x = positions();
  std::vector<std::int64_t> together(18, 0), alone(18, 0);
  Sums of_all, of_each;
  of_all.force = together.data();
  of_each.force = alone.data();
  term->add(x.data(), box, 0, term->size(), of_all);
  for (std::size_t t = 0; t < term->size(); ++t) term->add(x.data(), box, t, t + 1, of_each);
  EXPECT_EQ(together, alone);
  EXPECT_EQ(of_all.energy[static_cast<std::size_t>(GetParam())].units,
            of_each.energy[static_cast<std::size_t>(GetParam())].units);
  for (std::size_t k = 0; k < 9; ++k) EXPECT_EQ(of_all.virial[k].units, of_each.virial[k].units);
}

TEST(BondedPairs, ChargesActInAMedium) {
  const EnergyPtr vacuum = bonded_energy(sys, Term::pairs_coulomb),
                  medium = bonded_energy(sys, Term::pairs_coulomb, 2.5);
  const std::vector<Tensor> p = operands(Term::pairs_coulomb, vacuum);
  const double u = evaluate(vacuum, p).item<double>();
  EXPECT_NEAR(evaluate(medium, p).item<double>(), u / 2.5, 1e-14 * std::abs(u));
  EXPECT_NEAR(medium->generic(p).item<double>(), u / 2.5, 1e-12 * std::abs(u));
  for (const Nonbonded::Coulomb c :
       {Nonbonded::Coulomb::cutoff, Nonbonded::Coulomb::reaction_field, Nonbonded::Coulomb::pme}) {
    Forces f;
    ForceEvaluator(sys,
                   {.coulomb = c, .cutoff_coulomb_nm = 0.5, .cutoff_lj_nm = 0.5, .epsilon_r = 2.5})(
        positions(), box, f);
    EXPECT_NEAR(f.energy[static_cast<std::size_t>(Term::pairs_coulomb)], u / 2.5,
                1e-9 * std::abs(u));
  }
}

TEST(BondedPairs, HaveNoChargesWhereNoneAct) {
  const Nonbonded none = {.coulomb = Nonbonded::Coulomb::none, .cutoff_lj_nm = 0.5};
  System bare = sys;
  std::ranges::fill(bare.atoms.charge_e, 0.0);
  for (auto& row : bare.pairs.rows) row[3] = 0;
  Forces with, without;
  ForceEvaluator(sys, none, {.precision = Precision::f64})(positions(), box, with);
  ForceEvaluator(bare, none, {.precision = Precision::f64})(positions(), box, without);
  for (std::size_t i = 0; i < with.f.size(); ++i)
    for (std::size_t a = 0; a < 3; ++a) EXPECT_NEAR(with.f[i][a], without.f[i][a], 1e-6);
  EXPECT_NEAR(with.potential(), without.potential(), 1e-6);
  EXPECT_EQ(with.energy[static_cast<std::size_t>(Term::pairs_coulomb)], 0);
  EXPECT_NE(with.energy[static_cast<std::size_t>(Term::pairs_lj)], 0);
  const PotentialEnergy u(sys, none, box);
  const Tensor x = positions_of(positions()), h = edges_of(box);
  EXPECT_EQ(u.term(Term::pairs_coulomb, x, h, parameters(sys)).item<double>(), 0);
  EXPECT_NEAR(u(x, h, parameters(sys)).item<double>(), with.potential(),
              1e-9 * std::abs(with.potential()));
  std::vector<Vec3> v(sys.n_atoms(), {0.3, -0.1, 0.2}), of_sys, of_bare;
  v[0] = {1, 0, 0};
  hessian_product(sys, none, box)(positions(), box, v, of_sys);
  hessian_product(bare, none, box)(positions(), box, v, of_bare);
  EXPECT_EQ(of_sys, of_bare);
}

/// Energy of one term at given positions, without a box.
template <class List, class Of>
double energy_of(List Of::*list, Term kind, std::type_identity_t<List> terms,
                 const std::vector<Vec3>& x) {
  System s = all_kinds();
  s.*list = std::move(terms);
  const EnergyPtr u = bonded_energy(s, kind);
  std::vector<Vec3> all = positions();
  std::ranges::copy(x, all.begin());
  return evaluate(u, {flat(all), zeros({3, 3}), table_of(s, kind)}).template item<double>();
}

TEST(BondedValues, ByHand) {
  EXPECT_NEAR(energy_of(&System::bonds, Term::bonds, {{{0, 1}}, {0}, {{0.1, 1000}}},
                        {{0, 0, 0}, {0, 0.3, 0.4}}),
              0.5 * 1000 * 0.16, 1e-12);
  EXPECT_NEAR(energy_of(&System::angles, Term::angles, {{{0, 1, 2}}, {0}, {{pi / 3, 10}}},
                        {{1, 0, 0}, {0, 0, 0}, {0, 2, 0}}),
              5 * pi * pi / 36, 1e-12);
}

TEST(BondedValues, DihedralsTurnClockwise) {
  // Looking from atom 1 to atom 2 (along +x), the front bond up (+z), the rear one to the right
  // (-y): +90 degrees.
  const std::vector<Vec3> x = {{0, 0, 1}, {0, 0, 0}, {1, 0, 0}, {1, -1, 0}};
  EXPECT_NEAR(
      energy_of(&System::dihedrals, Term::dihedrals, {{{0, 1, 2, 3}}, {0}, {{pi / 2, 3, 1}}}, x), 6,
      1e-12);
  EXPECT_NEAR(
      energy_of(&System::dihedrals, Term::dihedrals, {{{0, 1, 2, 3}}, {0}, {{-pi / 2, 3, 1}}}, x),
      0, 1e-12);
  EXPECT_NEAR(energy_of(&System::harmonic_impropers, Term::harmonic_impropers,
                        {{{0, 1, 2, 3}}, {0}, {{-pi + 0.1, 2}}}, x),
              std::pow(pi / 2 + 0.1, 2), 1e-12)
      << "the short way around";
}

TEST(BondedValues, RyckaertBellemansCountsFromTrans) {
  const Terms<4, 6> c = {{{0, 1, 2, 3}}, {0}, {{1, 2, 3, 4, 5, 6}}};
  const std::vector<Vec3> cis = {{0, 0, 1}, {0, 0, 0}, {1, 0, 0}, {1, 0, 1}},
                          trans = {{0, 0, 1}, {0, 0, 0}, {1, 0, 0}, {1, 0, -1}};
  EXPECT_NEAR(energy_of(&System::ryckaert_bellemans, Term::ryckaert_bellemans, c, trans), 21,
              1e-12);
  EXPECT_NEAR(energy_of(&System::ryckaert_bellemans, Term::ryckaert_bellemans, c, cis),
              1 - 2 + 3 - 4 + 5 - 6, 1e-12);
}

TEST(BondedValues, StraightAnglesHaveNoForce) {
  System s = all_kinds();
  s.angles = {{{0, 1, 2}}, {0}, {{pi, 10}}};
  std::vector<Vec3> x = positions();
  x[0] = {-1, 0, 0};
  x[1] = {0, 0, 0};
  x[2] = {1, 0, 0};
  const EnergyPtr u = bonded_energy(s, Term::angles);
  const Tensor g = grad([&](const Tensor& q) {
    return evaluate(u, {q, zeros({3, 3}), table_of(s, Term::angles)});
  })(flat(x));
  EXPECT_EQ(largest(g), 0);
}

/// U = k/2 |u'/u + v'/v|^2 of displacements across the line: as stiff along both axes, whatever
/// rounding leaves of the angle to straight.
TEST(BondedValues, StraightAnglesBendBothWays) {
  System s = all_kinds();
  constexpr double k = 10, u = 0.12, v = 0.15;
  s.angles = {{{0, 1, 2}}, {0}, {{pi, k}}};
  const EnergyPtr energy = bonded_energy(s, Term::angles);
  const Vec3 along = {2.0 / 3, -1.0 / 3, 2.0 / 3}, side = {std::sqrt(0.5), 0, -std::sqrt(0.5)};
  std::vector<Vec3> move(6), expected(6);
  move[0] = {0.3, -0.1, 0.7};
  move[1] = {-0.2, 0.5, 0.1};
  move[2] = {0.4, 0.6, -0.3};
  const auto across = [&](std::size_t i) {
    Vec3 d;
    for (std::size_t c = 0; c < 3; ++c) d[c] = move[i][c] - move[1][c];
    const double part = d[0] * along[0] + d[1] * along[1] + d[2] * along[2];
    for (std::size_t c = 0; c < 3; ++c) d[c] -= part * along[c];
    return d;
  };
  const Vec3 first = across(0), last = across(2);
  for (std::size_t c = 0; c < 3; ++c) {
    const double bend = k * (first[c] / u + last[c] / v);
    expected[0][c] = bend / u;
    expected[2][c] = bend / v;
    expected[1][c] = -bend / u - bend / v;
  }
  for (const double off : {0.0, 1e-17, 1e-15, 1e-13, 1e-11, 1e-9, 1e-6}) {
    std::vector<Vec3> x = positions();
    x[1] = {0.1, 0.2, 0.3};
    for (std::size_t c = 0; c < 3; ++c) {
      x[0][c] = x[1][c] + u * along[c];
      x[2][c] = x[1][c] - v * along[c] + off * side[c];
    }
    const Tensor found = hvp(
        [&](const Tensor& q) {
          return evaluate(energy, {q, zeros({3, 3}), table_of(s, Term::angles)});
        },
        flat(x), flat(move));
    EXPECT_LE(largest(found - flat(expected)), (1e-12 + 50 * off) * largest(flat(expected))) << off;
  }
}

/// As in a linear molecule that stands exactly so in its file: phi counts as 0.
TEST(BondedValues, DihedralsOfAtomsOnALineHaveNoForce) {
  System s = all_kinds();
  s.dihedrals = {{{0, 1, 2, 3}}, {0}, {{0.3, 5, 3}}};
  s.harmonic_impropers = {{{0, 1, 2, 3}}, {0}, {{2.9, 100}}};
  s.ryckaert_bellemans = {{{0, 1, 2, 3}}, {0}, {{1, 2, 3, 4, 5, 6}}};
  std::vector<Vec3> x = positions();
  for (std::size_t k = 0; k < 3; ++k) {
    const auto at = static_cast<double>(k);
    x[k] = {0.03 * at, 0.07 * at, 0.11 * at};
  }
  for (const auto& [of, energy] : {std::pair{Term::dihedrals, 5 * (1 + std::cos(0.3))},
                                   {Term::harmonic_impropers, 50 * 2.9 * 2.9},
                                   {Term::ryckaert_bellemans, 1.0 - 2 + 3 - 4 + 5 - 6}}) {
    const Term kind = of;
    const BondedTermPtr term = bonded_term(s, kind);
    std::vector<std::int64_t> force(18, 0);
    Sums sums;
    sums.force = force.data();
    term->add(x.data(), box, 0, term->size(), sums);
    EXPECT_TRUE(sums.holds()) << name_of(kind);
    EXPECT_EQ(force, std::vector<std::int64_t>(18, 0)) << name_of(kind);
    EXPECT_NEAR(sums.energy[static_cast<std::size_t>(kind)].value(), energy, 1e-9);
    const auto u = [&](const Tensor& q) {
      return evaluate(term, {q, edges(box), table_of(s, kind)});
    };
    EXPECT_EQ(largest(grad(u)(flat(x))), 0) << name_of(kind);
    EXPECT_EQ(largest(hvp(u, flat(x), sin(7.0 * flat(x)))), 0) << name_of(kind);
  }
}

TEST(BondedValues, TermsThatAreNotThere) {
  System s = all_kinds();
  s.bonds = {};
  EXPECT_EQ(bonded_energy(s, Term::bonds), nullptr);
  EXPECT_THROW(bonded_energy(s, Term::lj), Error);
}

}  // namespace
}  // namespace tessera::molecular
