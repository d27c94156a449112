// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/parameters.h"

#include "energy_operands.h"
#include "molecular_cases.h"
#include "tensor_measures.h"
#include "tessera/autodiff/check.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/grad.h"
#include "tessera/molecular/forces.h"
#include "tessera/molecular/virtual_sites.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera::molecular {
namespace {

using tessera::testing::largest;
using testing::add_atom, testing::Case, testing::Operands;
using Way = PotentialEnergy::Way;
using Mixing = LennardJones::Mixing;

void expect_near(const Tensor& got, const Tensor& expected, double relative, const char* what) {
  ASSERT_EQ(got.shape(), expected.shape()) << what;
  if (got.size() > 0) {
    EXPECT_LE(largest(got - expected), relative * largest(expected)) << what;
  }
}
Parameters random_like(const Parameters& p, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Tensor> out;
  for (const Tensor& t : flatten_tree(p)) {
    std::vector<double> v(static_cast<std::size_t>(t.size()));
    const double scale = std::max(largest(t), 1e-3);
    for (double& a : v) a = std::uniform_real_distribution(-scale, scale)(random);
    out.push_back(tensor(v, t.shape()));
  }
  return unflatten_tree(p, out);
}

/// Ten charged atoms with every kind of bonded term, 1-4 pairs by types and by themselves, an
/// exception to the mixing rule.
Case everything() {
  Case c = testing::small_mixture();
  System& s = c.system;
  s.bonds = {{{0, 1}, {3, 7}}, {0, 1}, {{0.3, 2e4}, {0.25, 1e4}}};
  s.urey_bradley = {{{1, 2}}, {0}, {{0.4, 3e3}}};
  s.angles = {{{1, 0, 2}}, {0}, {{1.9, 400}}};
  s.dihedrals = {{{0, 1, 2, 3}, {4, 5, 6, 7}}, {0, 0}, {{0.4, 6, 3}}};
  s.impropers = {{{5, 6, 8, 9}}, {0}, {{2.9, 4, 2}}};
  s.harmonic_impropers = {{{2, 4, 6, 8}}, {0}, {{0.5, 70}}};
  s.ryckaert_bellemans = {{{1, 3, 5, 7}}, {0}, {{9, 12, -13, 3, 26, -31}}};
  s.cmap = {{{1, 3, 5, 7, 3, 5, 7, 9}}, {1}, 4, {}};
  for (int k = 0; k < 32; ++k) s.cmap.maps.push_back(4 * std::sin(1.3 * k) + 1);
  s.position_restraints = {{{4}}, {0}, {{500, 600, 700, 0.1, 0.2, 0.3}}};
  s.distance_restraints = {{{0, 9}}, {0}, {{0.1, 0.2, 800}}};
  s.lj = mixed(Mixing::lorentz_berthelot, {0.3, 0.25, 0.2}, {0.6, 0.2, 0.1});
  s.atoms.lj_type[9] = 2;
  s.lj.exceptions = {{0, 2}};
  for (const std::size_t e : {2U, 6U}) {
    s.lj.c6[e] *= 1.3;
    s.lj.c12[e] *= 0.8;
  }
  s.pairs = {{{8, 9}, {2, 4}, {1, 3}},
             {0, 1, 2},
             {{0.5 * s.lj.c6[2], 0.5 * s.lj.c12[2], 0.8, 0},
              {0.5 * s.lj.c6[0], 0.5 * s.lj.c12[0], 0.8, 0.01},
              {2e-3, 3e-6, 0.5, 0}}};
  testing::fill_what_is_empty(s);
  return c;
}
const Nonbonded smooth_pme_tail = {.coulomb = Nonbonded::Coulomb::pme,
                                   .lj_modifier = Nonbonded::Modifier::force_switch,
                                   .tail = Nonbonded::Tail::c6,
                                   .cutoff_coulomb_nm = 0.8,
                                   .cutoff_lj_nm = 0.8,
                                   .lj_switch_nm = 0.5,
                                   .ewald_rtol = 1e-4,
                                   .fourier_grid = {12, 15, 14}};

TEST(PotentialEnergy, IsWhatRunsCompute) {
  const Case c = everything();
  Forces f;
  ForceEvaluator(c.system, smooth_pme_tail, {.precision = Precision::f64})(c.frame.x_nm,
                                                                           c.frame.box, f);
  const PotentialEnergy u(c.system, smooth_pme_tail, c.frame.box);
  const Tensor x = positions_of(c.frame.x_nm), h = edges_of(c.frame.box);
  const Parameters p = parameters(c.system);
  double sum = 0;
  for (std::size_t k = 0; k < n_terms; ++k) {
    const double term = u.term(static_cast<Term>(k), x, h, p).item<double>();
    EXPECT_NEAR(term, f.energy[k], 1e-11 * std::abs(term) + 1e-8)
        << name_of(static_cast<Term>(k));  // runs round to 2^-32
    EXPECT_NE(term, 0) << name_of(static_cast<Term>(k));
    sum += term;
  }
  EXPECT_NEAR(u(x, h, p).item<double>(), sum, 1e-12 * std::abs(sum));
  EXPECT_NEAR(potential_energy(c.system, smooth_pme_tail, x, h, p).item<double>(), sum,
              1e-12 * std::abs(sum));
  expect_near(forces(u, x, h, p), positions_of(f.f), 1e-11, "forces");

  // Runs strain the positions of position restraints with the box.
  Case free = c;
  free.system.position_restraints = {};
  ForceEvaluator(free.system, smooth_pme_tail, {.precision = Precision::f64})(c.frame.x_nm,
                                                                              c.frame.box, f);
  expect_near(virial(PotentialEnergy(free.system, smooth_pme_tail, c.frame.box), x, h,
                     parameters(free.system)),
              positions_of({f.virial[0], f.virial[1], f.virial[2]}), 1e-11, "virial");
}

TEST(PotentialEnergy, KernelsAgreeWithEngineOperationsInEveryTable) {
  const Case c = everything();
  const Tensor h = edges_of(c.frame.box);
  const Operands at = {positions_of(c.frame.x_nm), h, parameters(c.system)};
  const auto of = [&](Way way, Precision precision = Precision::f64) {
    return [u = PotentialEnergy(c.system, smooth_pme_tail, c.frame.box, way, precision)](
               const Operands& v) { return u(v.x, v.h, v.p); };
  };
  const Operands direction = {reshape(0.01 * sin(arange(30, Dtype::f64)), {10, 3}),
                              reshape(0.01 * cos(arange(9, Dtype::f64)), {3, 3}),
                              random_like(at.p, 4)};
  const auto g = flatten_tree(grad(of(Way::kernels))(at)),
             g0 = flatten_tree(grad(of(Way::engine))(at));
  const auto w = flatten_tree(hvp(of(Way::kernels), at, direction)),
             w0 = flatten_tree(hvp(of(Way::engine), at, direction));
  const auto mixed_g = flatten_tree(grad(of(Way::kernels, Precision::mixed))(at)),
             mixed_w = flatten_tree(hvp(of(Way::kernels, Precision::mixed), at, direction));
  for (std::size_t k = 0; k < g.size(); ++k) {
    const char* name = k == 0 ? "x" : k == 1 ? "h" : parameter_names()[k - 2];
    expect_near(g[k], g0[k], 1e-11, name);
    expect_near(w[k], w0[k], 1e-10, name);
    expect_near(mixed_g[k], g0[k], 5e-6, name);
    expect_near(mixed_w[k], w0[k], 5e-6, name);
  }
}

/// Energies in mixed precision and their own gradients: float pairs carry 1e-7 of |U|, divided by a
/// step of 0.01.
TEST(PotentialEnergy, MixedDerivativesAreDifferencesOfMixedEnergies) {
  const Case c = everything();
  const PotentialEnergy u(c.system, smooth_pme_tail, c.frame.box, Way::kernels, Precision::mixed);
  const Tensor x = positions_of(c.frame.x_nm), h = edges_of(c.frame.box);
  const Parameters p = parameters(c.system);
  const auto scaled = [&](const Tensor& s) {
    const auto factor = [&](int k) { return 1.0 + select(s, 0, k); };
    Parameters q = p;
    q.charge = p.charge * factor(0);
    q.sigma = p.sigma * factor(1);
    q.epsilon = p.epsilon * factor(2);
    return u(x * factor(3), h * factor(3), q);
  };
  const Tensor gradient = grad(scaled)(zeros({4}));
  const double size = std::abs(scaled(zeros({4})).item<double>());
  for (int k = 0; k < 4; ++k) {
    const auto at = [&](double step) {
      return scaled(step * cast(equal(arange(4, Dtype::f64), static_cast<double>(k)), Dtype::f64))
          .item<double>();
    };
    // Fourth order: an error of step^4, below the rounding.
    const double e = 0.01,
                 by_differences = (8 * (at(e) - at(-e)) - (at(2 * e) - at(-2 * e))) / (12 * e);
    EXPECT_NEAR(select(gradient, 0, k).item<double>(), by_differences,
                1e-4 * (size + std::abs(by_differences)))
        << k;
  }
}

/// Values keep gradients for the gradient that follows: never those of other operands, nor of other
/// positions.
TEST(PotentialEnergy, RemembersNothingThatChanged) {
  const Case c = everything();
  const PotentialEnergy kept(c.system, smooth_pme_tail, c.frame.box);
  const Operands at = {positions_of(c.frame.x_nm), edges_of(c.frame.box), parameters(c.system)};
  const auto gradient = [&](const PotentialEnergy& u, double factor, bool of_tables) {
    const Tensor x = at.x * factor;
    const auto of_x = [&](const Tensor& y) { return u(y, at.h, at.p); };
    const auto of_p = [&](const Parameters& p) { return u(x, at.h, p); };
    if (!of_tables) return value_and_grad(of_x)(x).second;
    return concatenate(
        {flatten(value_and_grad(of_p)(at.p).second.charge), flatten(grad(of_p)(at.p).bonds)});
  };
  for (const auto& [factor, of_tables] : std::vector<std::pair<double, bool>>{{1, false},
                                                                              {1, true},
                                                                              {1, false},
                                                                              {1.001, false},
                                                                              {1.001, true},
                                                                              {1, true},
                                                                              {1, false}}) {
    const PotentialEnergy fresh(c.system, smooth_pme_tail, c.frame.box);
    EXPECT_NEAR(kept(at.x * factor, at.h, at.p).item<double>(),
                fresh(at.x * factor, at.h, at.p).item<double>(), 1e-11);
    expect_near(gradient(kept, factor, of_tables), gradient(fresh, factor, of_tables), 1e-13,
                of_tables ? "tables" : "positions");
  }
}

TEST(PotentialEnergy, VerifiesAgainstDifferences) {
  const Case c = everything();
  const PotentialEnergy u(c.system, smooth_pme_tail, c.frame.box);
  const Tensor x = positions_of(c.frame.x_nm), h = edges_of(c.frame.box);
  const Parameters p = parameters(c.system);
  // Steps are factors: 1 + s times a leaf, so that no entry moves by more than its size allows.
  const std::vector<Tensor> leaves = flatten_tree(p);
  const auto of_x = static_cast<Index>(leaves.size());
  const auto scaled = [&](const Tensor& s) {
    std::vector<Tensor> moved;
    for (std::size_t k = 0; k < leaves.size(); ++k)
      moved.push_back(leaves[k] * (1.0 + 0.1 * select(s, 0, static_cast<Index>(k))));
    return u(x * (1.0 + 0.02 * select(s, 0, of_x)), h, unflatten_tree(p, moved));
  };
  const CheckReport r = gradcheck(scaled, zeros({of_x + 1}), {.order = 2});
  EXPECT_TRUE(r) << to_string(r);
  const CheckReport t = transpose_check(scaled, zeros({of_x + 1}), {.order = 2});
  EXPECT_TRUE(t) << to_string(t);
}

TEST(PotentialEnergy, ThirdDerivativesComeFromEngineOperations) {
  const Case c = everything();
  const Tensor x = positions_of(c.frame.x_nm), h = edges_of(c.frame.box);
  const Parameters p = parameters(c.system);
  const Tensor v = reshape(0.1 * sin(arange(30, Dtype::f64)), {10, 3});
  const auto third = [&](Way way) {
    const PotentialEnergy u(c.system, smooth_pme_tail, c.frame.box, way);
    // d3U/(dx dx dsigma) along v twice
    return grad([&](const Tensor& sigma) {
      Parameters q = p;
      q.sigma = sigma;
      const auto gradient = [&](const Tensor& y) {
        return jvp([&](const Tensor& z) { return u(z, h, q); }, y, v).second;
      };
      return jvp(gradient, x, v).second;
    })(p.sigma);
  };
  expect_near(third(Way::kernels), third(Way::engine), 1e-9, "third derivative");
}

// ---- mixing ----

TEST(Parameters, TablesAreThoseOfTheSystem) {
  for (const Mixing rule : {Mixing::lorentz_berthelot, Mixing::geometric}) {
    System s;
    s.lj = mixed(rule, {0.3, 0.25, 0.0}, {0.6, 0.2, 0.0});
    s.lj.exceptions = {{0, 1}, {1, 1}};
    s.lj.c6[1] = s.lj.c6[3] = 0.01;
    s.lj.c12[4] = 2e-7;
    const LennardJonesTables t = lennard_jones_tables(s, parameters(s));
    expect_near(t.c6, c6_of(s), 1e-15, "c6");
    expect_near(t.c12, c12_of(s), 1e-15, "c12");
    const auto gradient = grad(
        [&](const Parameters& p) { return sum(lennard_jones_tables(s, p).c12); })(parameters(s));
    EXPECT_TRUE(std::isfinite(sum(gradient.epsilon).item<double>()))
        << "a type without epsilon has no derivative";
    EXPECT_EQ(select(gradient.epsilon, 0, 2).item<double>(), 0);
    EXPECT_EQ(gradient.exceptions.to_vector<double>(), (std::vector<double>{0, 2, 0, 1}))
        << "off the diagonal an exception counts twice";
  }
}

TEST(Parameters, TablesFromFilesFollowTheRuleAgain) {
  const LennardJones rule = mixed(Mixing::lorentz_berthelot, {0.3, 0.25, 0.0}, {0.6, 0.2, 0.0});
  LennardJones tables = rule;
  tables.mixing = Mixing::tables;
  tables.sigma_nm.clear();
  tables.epsilon.clear();
  tables.c12[1] *= 1.1;
  tables.c12[3] *= 1.1;
  const LennardJones back = by_rule(tables, Mixing::lorentz_berthelot);
  EXPECT_EQ(back.exceptions, (std::vector<std::array<std::int32_t, 2>>{{0, 1}}));
  for (std::size_t k = 0; k < 9; ++k) {
    EXPECT_NEAR(back.c6[k], tables.c6[k], 1e-14 * tables.c6[k]);
    EXPECT_NEAR(back.c12[k], tables.c12[k], 1e-14 * tables.c12[k]);
  }
  EXPECT_NEAR(back.sigma_nm[1], 0.25, 1e-15);
}

TEST(Parameters, ScaledPairsMoveWithTheirTypes) {
  const Case c = everything();
  const Parameters p = parameters(c.system), own = parameters(c.system, ScaledFrom::rows);
  EXPECT_NEAR(select(select(p.pair_scale, 0, 0), 0, 0).item<double>(), 0.5, 1e-15);
  EXPECT_EQ(largest(select(p.pair_scale, 0, 2)), 0) << "a row of its own";
  EXPECT_EQ(largest(own.pair_scale), 0);
  const PotentialEnergy u(c.system, smooth_pme_tail, c.frame.box);
  const Tensor x = positions_of(c.frame.x_nm), h = edges_of(c.frame.box);
  const auto pairs_alone = [&](const Parameters& q) { return u.term(Term::pairs_lj, x, h, q); };
  EXPECT_NEAR(pairs_alone(p).item<double>(), pairs_alone(own).item<double>(),
              1e-13 * std::abs(pairs_alone(own).item<double>()));
  EXPECT_GT(largest(grad(pairs_alone)(p).sigma), 0);
  EXPECT_EQ(largest(grad(pairs_alone)(own).sigma), 0);
}

/// NIST's Lennard-Jones configurations: with the cut-off held, sigma dU/dsigma = sum r.f; second
/// derivatives computed apart.
struct LjReference {
  const char* file;
  double by_sigma, twice;
};
class NistDerivatives : public ::testing::TestWithParam<LjReference> {};
INSTANTIATE_TEST_SUITE_P(Configurations, NistDerivatives,
                         ::testing::Values(LjReference{"lj_sample_config_periodic1.txt",
                                                       -568.66546531818, 303643.58109675},
                                           LjReference{"lj_sample_config_periodic4.txt",
                                                       -46.249196746309, 422.66678924581}),
                         [](const auto& r) { return "C" + std::to_string(r.index); });
TEST_P(NistDerivatives, BySigmaAndEpsilon) {
  std::vector<Vec3> x;
  Box box;
  if (!testing::read_nist(GetParam().file, 1, x, box)) GTEST_SKIP() << "no NIST data";
  const System s = testing::lennard_jones_atoms(x.size());
  const PotentialEnergy u(s,
                          {.coulomb = Nonbonded::Coulomb::none,
                           .lj_modifier = Nonbonded::Modifier::none,
                           .cutoff_lj_nm = 3},
                          box);
  const Tensor at = positions_of(x), h = edges_of(box);
  const Parameters p = parameters(s);
  const auto of_sigma = [&](const Tensor& sigma) {
    Parameters q = p;
    q.sigma = sigma;
    return u(at, h, q);
  };
  EXPECT_NEAR(grad(of_sigma)(p.sigma).item<double>(), GetParam().by_sigma,
              1e-11 * std::abs(GetParam().by_sigma));
  EXPECT_NEAR(hvp(of_sigma, p.sigma, ones({1})).item<double>(), GetParam().twice,
              1e-11 * GetParam().twice);
  EXPECT_NEAR(grad([&](const Parameters& q) { return u(at, h, q); })(p).epsilon.item<double>(),
              u(at, h, p).item<double>(), 1e-11 * std::abs(u(at, h, p).item<double>()));
}

// ---- virtual sites ----

TEST(PotentialEnergy, SitesFollowTheirParents) {
  Case c = testing::small_mixture();
  using Kind = VirtualSite::Kind;
  const auto site = [&](Kind kind, std::array<std::int32_t, 4> parents,
                        std::array<double, 12> weights) {
    const auto at = static_cast<std::int32_t>(c.system.n_atoms());
    add_atom(c.system, "M", 0, 0, 0.1 * at - 0.9, 0);
    c.system.virtual_sites.push_back({kind, at, parents, weights});
    c.frame.x_nm.push_back({9, 9, 9});  // anywhere
    std::vector<std::array<std::int32_t, 2>> all = c.system.exclusions;
    for (std::int32_t a = 0; a < at; ++a) all.push_back({a, at});
    std::ranges::sort(all);
    c.system.exclusions = all;
  };
  site(Kind::linear2, {0, 1, -1, -1}, {0.3});
  site(Kind::linear3, {0, 1, 2, -1}, {0.3, 0.2});
  site(Kind::fixed2, {2, 3, -1, -1}, {0.1});
  site(Kind::fixed3, {3, 4, 5, -1}, {0.1, 0.4});
  site(Kind::angle3, {4, 5, 6, -1}, {0.1, 1.9});
  site(Kind::cross3, {5, 6, 7, -1}, {0.2, 0.3, 0.8});
  site(Kind::frame3, {6, 7, 8, -1}, {1, 0, 0, -1, 1, 0, -1, 0, 1, 0.03, 0.05, -0.04});
  site(Kind::normal4, {7, 8, 9, 1}, {0.9, 1.1, 0.06});
  site(Kind::linear2, {10, 13, -1, -1}, {0.5});  // of other sites
  const Nonbonded o = {.coulomb = Nonbonded::Coulomb::ewald,
                       .cutoff_coulomb_nm = 0.8,
                       .cutoff_lj_nm = 0.8,
                       .ewald_rtol = 1e-4};
  const PotentialEnergy u(c.system, o, c.frame.box);
  const Tensor x = positions_of(c.frame.x_nm), h = edges_of(c.frame.box);
  const Parameters p = parameters(c.system);

  std::vector<Vec3> placed = c.frame.x_nm;
  place_virtual_sites(c.system, placed, c.frame.box);
  Forces f;
  ForceEvaluator(c.system, o, {.precision = Precision::f64})(placed, c.frame.box, f);
  spread_virtual_forces(c.system, placed, c.frame.box, f.f, f.virial);
  EXPECT_NEAR(u(x, h, p).item<double>(), f.potential(), 1e-8);
  expect_near(forces(u, x, h, p), positions_of(f.f), 1e-10, "forces");
  expect_near(virial(u, x, h, p), positions_of({f.virial[0], f.virial[1], f.virial[2]}), 1e-10,
              "virial");

  // Second derivatives and those in weights, against differences.
  const auto moved = [&](const Tensor& s) {
    Parameters q = p;
    q.virtual_sites = p.virtual_sites * (1.0 + 0.1 * select(s, 0, 1));
    return u(x + 0.02 * select(s, 0, 0) * reshape(sin(arange(x.size(), Dtype::f64)), x.shape()), h,
             q);
  };
  const CheckReport r = gradcheck(moved, zeros({2}), {.order = 2});
  EXPECT_TRUE(r) << to_string(r);
}

TEST(PotentialEnergy, PressureIsTheDerivativeInTheVolume) {
  const Case c = everything();
  const PotentialEnergy u(c.system, smooth_pme_tail, c.frame.box);
  const Tensor x = positions_of(c.frame.x_nm), h = edges_of(c.frame.box);
  const Parameters p = parameters(c.system);
  // U(s) with all lengths times s: dU/dV = U'(1)/(3 V), P = -dU/dV.
  const double gradient =
      grad([&](const Tensor& s) { return u(s * x, s * h, p); })(Tensor(1.0)).item<double>();
  const double expected = -gradient / (3 * volume_nm3(c.frame.box)) * bar_per_pressure_unit;
  EXPECT_NEAR(pressure_bar(u, x, h, p).item<double>(), expected, 1e-11 * std::abs(expected));
  EXPECT_NEAR(pressure_bar(u, x, h, p, 3).item<double>() - expected,
              2 * bar_per_pressure_unit / volume_nm3(c.frame.box), 1e-8);
}

}  // namespace
}  // namespace tessera::molecular
