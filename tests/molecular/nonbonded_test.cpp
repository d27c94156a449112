// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/nonbonded.h"

#include "molecular_cases.h"
#include "pair_options.h"
#include "tensor_measures.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/grad.h"
#include "tessera/molecular/ewald.h"
#include "tessera/molecular/forces.h"
#include "tessera/molecular/pme.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace tessera::molecular {
namespace {

using tessera::testing::largest;
using testing::Case, testing::edges, testing::flat;
using Coulomb = Nonbonded::Coulomb;
using Modifier = Nonbonded::Modifier;
using Tail = Nonbonded::Tail;

std::vector<Tensor> operands(const Case& c) {
  return {flat(c.frame.x_nm), edges(c.frame.box), tensor(c.system.atoms.charge_e), c6_of(c.system),
          c12_of(c.system)};
}

// ---- kernels against the generic form ----

/// Relative to the largest entry: of values and first derivatives, of second ones.
struct Tolerance {
  double first = 1e-12, second = 1e-11;
};
void expect_same_derivatives(const EnergyPtr& u, const std::vector<Tensor>& p,
                             const Tolerance& to = {}) {
  const auto kernel = [&](const std::vector<Tensor>& q) { return evaluate(u, q); };
  const auto oracle = [&](const std::vector<Tensor>& q) { return u->generic(q); };
  const double value = oracle(p).item<double>();
  EXPECT_GT(std::abs(value), 1e-6);
  EXPECT_NEAR(kernel(p).item<double>(), value, to.first * std::abs(value));
  std::vector<Tensor> v;
  std::mt19937 random(3);
  for (const Tensor& t : p) {
    std::vector<double> any(static_cast<std::size_t>(t.size()));
    const double scale = std::max(largest(t), 1e-3);
    for (double& a : any) a = std::uniform_real_distribution(-scale, scale)(random);
    v.push_back(tensor(any, t.shape()));
  }
  const std::vector<Tensor> g = grad(kernel)(p), expected = grad(oracle)(p), w = hvp(kernel, p, v),
                            expected_w = hvp(oracle, p, v);
  for (std::size_t k = 0; k < p.size(); ++k) {
    EXPECT_LE(largest(g[k] - expected[k]), to.first * largest(expected[k]))
        << u->name() << ": gradient, operand " << k;
    EXPECT_LE(largest(w[k] - expected_w[k]), to.second * largest(expected_w[k]))
        << u->name() << ": Hessian product, operand " << k;
  }
}

class NonbondedKernels : public ::testing::TestWithParam<testing::PairOptions> {};
INSTANTIATE_TEST_SUITE_P(Options, NonbondedKernels, ::testing::ValuesIn(testing::pair_options()),
                         testing::name_of_options);

TEST_P(NonbondedKernels, AgreeWithTheGenericForm) {
  const Case c = testing::small_mixture();
  const EnergyPtr u = nonbonded_energy(c.system, GetParam().options);
  std::vector<Tensor> p = operands(c);
  if (GetParam().options.coulomb == Coulomb::none)
    p[2] = zeros({10});  // its derivative is zero: nothing to compare with
  const auto kernel = [&](const std::vector<Tensor>& q) { return evaluate(u, q); };
  if (GetParam().options.coulomb == Coulomb::none) {
    EXPECT_NEAR(kernel(p).item<double>(), u->generic(p).item<double>(), 1e-12);
    return;
  }
  expect_same_derivatives(u, p);
}

TEST(EwaldKernels, AgreeWithTheGenericForm) {
  const Case c = testing::small_mixture();
  const Nonbonded o = {.coulomb = Coulomb::ewald, .cutoff_coulomb_nm = 0.8, .ewald_rtol = 1e-4};
  const std::vector<Tensor> all = operands(c), p(all.begin(), all.begin() + 3);
  expect_same_derivatives(ewald_excluded_energy(c.system, o), p);
  expect_same_derivatives(ewald_reciprocal_energy(c.system, o), p);
}

TEST(EwaldKernels, ThirdDerivativesOfWavesThatTheGenericFormLacksAreNaN) {
  const Case c = testing::small_mixture();
  const std::vector<Tensor> p = operands(c);
  const Tensor v = reshape(sin(arange(30, Dtype::f64)), {10, 3});
  const auto third = [&](double kmax) {
    const EnergyPtr u = ewald_reciprocal_energy(
        c.system, {.coulomb = Coulomb::ewald, .ewald_beta = 4, .ewald_kmax = kmax});
    const auto energy = [&](const Tensor& x) { return evaluate(u, {x, p[1], p[2]}); };
    return grad([&](const Tensor& x) { return sum(v * hvp(energy, x, v)); })(p[0]);
  };
  EXPECT_TRUE(all(is_finite(third(20))).item<bool>());
  EXPECT_FALSE(any(is_finite(third(80))).item<bool>());  // waves to 24 and more, of 12
}

TEST(PmeKernels, AgreeWithTheGenericForm) {
  const Case c = testing::small_mixture();
  const std::vector<Tensor> all = operands(c), p(all.begin(), all.begin() + 3);
  for (const int order : {4, 5, 6}) {
    SCOPED_TRACE(order);
    const Nonbonded o = {.cutoff_coulomb_nm = 0.8, .ewald_rtol = 1e-4, .pme_order = order};
    expect_same_derivatives(pme_energy(c.system, o, {12, 15, 14}), p);
    expect_same_derivatives(pme_energy(c.system, o, {12, 15, 14}, Precision::mixed), p,
                            {5e-6, 5e-6});
  }
}

TEST(PmeKernels, ProductsWithPositionsAloneAreThoseOfAll) {
  const Case c = testing::small_mixture();
  const std::vector<Tensor> all = operands(c);
  const Tensor v = reshape(sin(arange(30, Dtype::f64)), {10, 3});
  for (const Precision precision : {Precision::f64, Precision::mixed}) {
    const EnergyPtr u = pme_energy(c.system, {.cutoff_coulomb_nm = 0.8, .ewald_rtol = 1e-4},
                                   {12, 15, 14}, precision);
    const Tensor few = hvp(
        [&](const Tensor& x) {
          return evaluate(u, {x, all[1], all[2]});
        },
        all[0], v);
    const Tensor many = hvp([&](const std::vector<Tensor>& p) { return evaluate(u, p); },
                            std::vector<Tensor>{all[0], all[1], all[2]},
                            std::vector<Tensor>{v, zeros({3, 3}), zeros({10})})[0];
    EXPECT_LE(largest(few - many), (precision == Precision::f64 ? 1e-13 : 1e-6) * largest(many));
    EXPECT_THROW(hvp(
                     [&](const Tensor& x) {
                       return evaluate(u, {x, all[1], all[2]});
                     },
                     all[0], v / 0.0),
                 Error);
  }
}

TEST(Pme, ConvergesToTheEwaldSum) {
  const Case c = testing::small_mixture();
  const std::vector<Tensor> all = operands(c), p(all.begin(), all.begin() + 3);
  const Nonbonded exact = {
      .coulomb = Coulomb::ewald, .cutoff_coulomb_nm = 0.8, .ewald_beta = 4, .ewald_kmax = 55};
  const auto gradients = [&](const EnergyPtr& u) {
    return grad([&](const std::vector<Tensor>& q) { return evaluate(u, q); })(p);
  };
  const std::vector<Tensor> expected = gradients(ewald_reciprocal_energy(c.system, exact));
  double last = 0;
  for (const int points : {24, 48}) {
    Nonbonded o = exact;
    o.pme_order = 6;
    const std::vector<Tensor> g = gradients(pme_energy(c.system, o, {points, points, points}));
    const double error = largest(g[0] - expected[0]) / largest(expected[0]);
    // Halving the spacing divides errors of order 6 by about 2^6.
    if (points == 48) {
      EXPECT_LT(error, last / 30);
    }
    last = error;
    for (std::size_t k = 1; k < 3; ++k)
      EXPECT_LE(largest(g[k] - expected[k]), 2e-3 * largest(expected[k]))
          << points << " points, operand " << k;
  }
  EXPECT_LT(last, 1e-5);
  const double fine =
      evaluate(pme_energy(c.system, {.cutoff_coulomb_nm = 0.8, .ewald_beta = 4, .pme_order = 8},
                          {64, 64, 64}),
               p)
          .item<double>();
  const double sum = evaluate(ewald_reciprocal_energy(c.system, exact), p).item<double>();
  EXPECT_NEAR(fine, sum, 1e-9 * std::abs(sum));
}

TEST(Pme, GridsAreThoseOfGromacs) {
  EXPECT_EQ(pme_grid({.fourier_spacing_nm = 0.12}, rectangular_box({6.16447232, 1.31, 2.4})),
            (std::array<int, 3>{52, 12, 20}));
  EXPECT_EQ(pme_grid({.fourier_spacing_nm = 0.1}, rectangular_box({4.5, 8.5, 13.2})),
            (std::array<int, 3>{48, 96, 144}));  // not 45, 90, 140
  EXPECT_EQ(pme_grid({.fourier_grid = {31, 0, 33}}, rectangular_box({2.4, 2.4, 2.4})),
            (std::array<int, 3>{31, 20, 33}));
  // A box that no memory has a grid for is refused, not given a small one.
  for (const Vec3& large : {Vec3{1e31, 1, 1}, {1e4, 5, 5}, {500, 500, 500}})
    EXPECT_THROW(pme_grid({.fourier_spacing_nm = 0.12}, rectangular_box(large)), Error);
  EXPECT_THROW(pme_grid({.pme_order = 5, .fourier_grid = {20, 4, 20}}, rectangular_box({2, 2, 2})),
               Error)
      << "splines do not fit on it";
  EXPECT_THROW(pme_energy(testing::waters(1, 0.4, 0.3, 0.5), {.pme_order = 5}, {4, 8, 8}), Error);
}

TEST(EwaldKernels, SeriesForCloseExcludedPairs) {
  // erf(x)/x by the series below x^2 = 0.01 and by the function above: they meet.
  System s = testing::waters(1, 0.4, 0.3, 0.5);
  const Nonbonded o = {.coulomb = Coulomb::ewald, .cutoff_coulomb_nm = 0.9, .ewald_beta = 3};
  const EnergyPtr u = ewald_excluded_energy(s, o);
  const auto at = [&](double d) {
    return evaluate(u, {flat({{0, 0, 0}, {d, 0, 0}, {0, d, 0}}), edges(rectangular_box({3, 3, 3})),
                        tensor(s.atoms.charge_e)})
        .item<double>();
  };
  EXPECT_NEAR(at(0.1 / 3 * (1 - 1e-9)), at(0.1 / 3 * (1 + 1e-9)),
              4e-9);  // the derivative alone makes 2e-9 of it
  EXPECT_TRUE(std::isfinite(at(0)));
}

// ---- physics ----

TEST(Ewald, DoesNotDependOnItsSplitting) {
  const Case c = testing::small_mixture();  // net charge 1.5 e, slanted
  const std::vector<Tensor> p = operands(c);
  const auto total = [&](double beta, double kmax) {
    const Nonbonded o = {.coulomb = Coulomb::ewald,
                         .coulomb_modifier = Modifier::none,
                         .cutoff_coulomb_nm = 0.85,
                         .cutoff_lj_nm = 0.8,
                         .ewald_beta = beta,
                         .ewald_kmax = kmax};
    const auto u = [&](const std::vector<Tensor>& q) {
      const std::vector<Tensor> few(q.begin(), q.begin() + 3);
      return evaluate(nonbonded_energy(c.system, o), q) +
             evaluate(ewald_reciprocal_energy(c.system, o), few) +
             evaluate(ewald_excluded_energy(c.system, o), few) +
             ewald_self_energy(c.system, o, q[1], q[2]);
    };
    return std::pair{u(p).item<double>(), grad(u)(p)};
  };
  const auto [u1, g1] = total(8, 110);
  const auto [u2, g2] = total(9, 125);  // erfc(8 * 0.85) = 7e-22
  EXPECT_NEAR(u1, u2, 1e-11 * std::abs(u1));
  for (std::size_t k = 0; k < 3; ++k)
    EXPECT_LE(largest(g1[k] - g2[k]), 1e-10 * largest(g1[k])) << "operand " << k;
}

TEST(Ewald, MadelungConstantOfRockSalt) {
  System s;
  s.residues = {{"NACL", "1", "", ""}};
  s.lj = mixed(LennardJones::Mixing::lorentz_berthelot, {0.0}, {0.0});
  std::vector<Vec3> x;
  for (int i = 0; i < 8; ++i) {
    testing::add_atom(s, "I", 0, 1, (i % 2 + i / 2 % 2 + i / 4) % 2 ? -1 : 1, 0);
    x.push_back({0.5 * (i % 2), 0.5 * (i / 2 % 2), 0.5 * (i / 4)});
  }
  const Box box = rectangular_box({1, 1, 1});
  const Nonbonded o = {.coulomb = Coulomb::ewald,
                       .coulomb_modifier = Modifier::none,
                       .cutoff_coulomb_nm = 0.5,
                       .cutoff_lj_nm = 0.5,
                       .ewald_beta = 13,
                       .ewald_kmax = 160};
  const std::vector<Tensor> p = {flat(x), edges(box), tensor(s.atoms.charge_e)};
  const double u =
      evaluate(nonbonded_energy(s, o), {p[0], p[1], p[2], c6_of(s), c12_of(s)}).item<double>() +
      evaluate(ewald_reciprocal_energy(s, o), p).item<double>() +
      ewald_self_energy(s, o, p[1], p[2]).item<double>();
  EXPECT_NEAR(u / 8 * 2 * 0.5 / s.coulomb_constant, -1.747564594633182, 1e-12);
}

struct NistLennardJones {
  const char* file;
  double cutoff;
  double u, w, tail, u_shifted, w_shifted;  ///< 0: not given
};
class Nist : public ::testing::TestWithParam<NistLennardJones> {};
INSTANTIATE_TEST_SUITE_P(
    LennardJones, Nist,
    ::testing::Values(NistLennardJones{"lj_sample_config_periodic1.txt", 3, -4351.5401945439,
                                       -568.66546531818, -198.48888374416, -3870.924885784,
                                       317.53834601244},
                      NistLennardJones{"lj_sample_config_periodic1.txt", 4, -4467.495724948,
                                       -1263.8833718721, -83.768986403337, 0, 0},
                      NistLennardJones{"lj_sample_config_periodic4.txt", 3, -16.790321304626,
                                       -46.249196746309, -0.54516600149457, -15.001402286915,
                                       -43.096005539178},
                      NistLennardJones{"lj_sample_config_periodic4.txt", 4, -17.060453220271,
                                       -47.868828191072, -0.23007839283143, 0, 0}));

TEST_P(Nist, EnergyVirialAndTail) {
  const NistLennardJones& r = GetParam();
  Case c;
  if (!testing::read_nist(r.file, 1, c.frame.x_nm, c.frame.box)) GTEST_SKIP() << "no " << r.file;
  c.system = testing::lennard_jones_atoms(c.frame.x_nm.size());
  const std::vector<Tensor> p = operands(c);
  // W = sum r.f = -dU/d ln(length) at fixed parameters
  const auto compute = [&](Modifier m, double& u, double& w) {
    const EnergyPtr energy = nonbonded_energy(
        c.system, {.coulomb = Coulomb::none, .lj_modifier = m, .cutoff_lj_nm = r.cutoff});
    u = evaluate(energy, p).item<double>();
    const auto g = grad([&](const std::vector<Tensor>& q) {
      return evaluate(energy, {q[0], q[1], p[2], p[3], p[4]});
    })(std::vector{p[0], p[1]});
    w = -(sum(g[0] * p[0]) + sum(g[1] * p[1])).item<double>();
  };
  double u, w;
  compute(Modifier::none, u, w);
  EXPECT_NEAR(u, r.u, 1e-12 * std::abs(r.u));
  EXPECT_NEAR(w, r.w, 1e-12 * std::abs(r.w));
  const Nonbonded tail = {.coulomb = Coulomb::none,
                          .lj_modifier = Modifier::none,
                          .tail = Tail::c6_c12,
                          .cutoff_lj_nm = r.cutoff};
  EXPECT_NEAR(tail_energy(c.system, tail, p[1], p[3], p[4]).item<double>(), r.tail,
              1e-12 * std::abs(r.tail));
  if (r.u_shifted == 0) return;
  compute(Modifier::linear_force_shift, u, w);
  EXPECT_NEAR(u, r.u_shifted, 1e-12 * std::abs(r.u_shifted));
  EXPECT_NEAR(w, r.w_shifted, 1e-12 * std::abs(r.w_shifted));
}

TEST(NistDerivatives, InTheDiameterOfTheAtoms) {
  Case c;
  if (!testing::read_nist("lj_sample_config_periodic4.txt", 1, c.frame.x_nm, c.frame.box))
    GTEST_SKIP() << "no NIST configurations";
  c.system = testing::lennard_jones_atoms(c.frame.x_nm.size());
  const std::vector<Tensor> p = operands(c);
  const EnergyPtr energy = nonbonded_energy(
      c.system, {.coulomb = Coulomb::none, .lj_modifier = Modifier::none, .cutoff_lj_nm = 3});
  const auto u = [&](const Tensor& sigma) {
    return evaluate(energy, {p[0], p[1], p[2], 4.0 * reshape(pow(sigma, 6), {1, 1}),
                             4.0 * reshape(pow(sigma, 12), {1, 1})});
  };
  EXPECT_NEAR(grad(u)(Tensor(1.0)).item<double>(), -46.249196746309, 1e-10);
  EXPECT_NEAR(grad(grad(u))(Tensor(1.0)).item<double>(), 422.66678924581, 1e-9);
}

struct NistWater {
  const char* file;
  double dispersion, tail, real, fourier, self, intra;  // K
};
class NistSpce : public ::testing::TestWithParam<NistWater> {};
INSTANTIATE_TEST_SUITE_P(
    Configurations, NistSpce,
    ::testing::Values(NistWater{"spce_sample_config_periodic1.txt", 99538.73621, -823.7149949,
                                -558888.9197, 6270.093784, -2844691.574, 2809992.2},
                      NistWater{"spce_sample_config_periodic4.txt", 448592.5312, -13728.58325,
                                -3572260.544, 7587.85241, -14223457.87, 14148311.39}));

TEST_P(NistSpce, SixTerms) {
  const NistWater& r = GetParam();
  std::vector<Vec3> x;
  Box box;
  if (!testing::read_nist(r.file, 0.1, x, box)) GTEST_SKIP() << "no " << r.file;
  // CODATA 2010, in which the reference was computed: e^2/(4 pi eps0 k_B) in K nm, from e, eps0 and
  // k_B.
  const double e = 1.602176565e-19, eps0 = 8.854187817620389e-12, kb = 1.3806488e-23;
  System s = testing::waters(x.size() / 3, 0.42380, 0.316555789, 78.19743111);
  s.coulomb_constant = e * e / (4 * std::numbers::pi * eps0 * kb) * 1e9;
  const double length = box.edge[0][0];
  const Nonbonded o = {.coulomb = Coulomb::ewald,
                       .coulomb_modifier = Modifier::none,
                       .lj_modifier = Modifier::none,
                       .tail = Tail::c6_c12,
                       .cutoff_coulomb_nm = 1,
                       .cutoff_lj_nm = 1,
                       .ewald_beta = 5.6 / length,
                       .ewald_kmax = 2 * std::numbers::pi / length * std::sqrt(26.999)};
  const std::vector<Tensor> p = {flat(x), edges(box), tensor(s.atoms.charge_e)};
  const auto near = [](double got, double expected, const char* what) {
    EXPECT_NEAR(got, expected, 1e-6 * std::abs(expected)) << what;
  };
  Nonbonded lj = o;
  lj.coulomb = Coulomb::none;
  const double dispersion =
      evaluate(nonbonded_energy(s, lj), {p[0], p[1], p[2], c6_of(s), c12_of(s)}).item<double>();
  const double both =
      evaluate(nonbonded_energy(s, o), {p[0], p[1], p[2], c6_of(s), c12_of(s)}).item<double>();
  near(dispersion, r.dispersion, "dispersion");
  near(tail_energy(s, o, p[1], c6_of(s), c12_of(s)).item<double>(), r.tail, "tail");
  near(both - dispersion, r.real, "real space");
  near(evaluate(ewald_reciprocal_energy(s, o), p).item<double>(), r.fourier, "Fourier");
  near(ewald_self_energy(s, o, p[1], p[2]).item<double>(), r.self, "self");
  near(evaluate(ewald_excluded_energy(s, o), p).item<double>(), r.intra, "intramolecular");
}

struct AmberPairs {
  const char *topology, *restart;
  double cutoff, lj, coulomb, tail;  // kcal/mol
};
class AmberNonbonded : public ::testing::TestWithParam<AmberPairs> {};
INSTANTIATE_TEST_SUITE_P(
    Systems, AmberNonbonded,
    ::testing::Values(AmberPairs{"ala2_vac.prmtop", "ala2_vac.rst7", 0, 2.81198590139,
                                 -80.1237986438, 0},
                      AmberPairs{"ala2_tip3p.prmtop", "ala2_tip3p.rst7", 0.9, 746.077811828,
                                 -6667.01248419, -28.8026215747},
                      AmberPairs{"water_ala3.parm7", "water_ala3.rst7", 1.0, 765.398109368,
                                 -6732.52159583, -20.5366111874}));

TEST_P(AmberNonbonded, MatchTheReference) {
  const AmberPairs& r = GetParam();
  const auto folder = tessera::testing::test_data() / "md/amber";
  if (!std::filesystem::exists(folder / r.topology)) GTEST_SKIP() << "no " << r.topology;
  const System s = read_amber_topology(data::read_text_file(folder / r.topology)).system;
  const Frame f = read_amber_restart(data::read_text_file(folder / r.restart), s.n_atoms());
  const bool vacuum = r.cutoff == 0;
  Nonbonded o = {.coulomb = Coulomb::none,
                 .lj_modifier = Modifier::none,
                 .tail = vacuum ? Tail::none : Tail::c6,
                 .cutoff_coulomb_nm = vacuum ? 100 : r.cutoff,
                 .cutoff_lj_nm = vacuum ? 100 : r.cutoff};
  const std::vector<Tensor> p = {flat(f.x_nm), edges(f.box), tensor(s.atoms.charge_e)};
  const auto pairs = [&] {
    return evaluate(nonbonded_energy(s, o), {p[0], p[1], p[2], c6_of(s), c12_of(s)})
               .item<double>() /
           4.184;
  };
  const double lj = pairs();
  EXPECT_NEAR(lj, r.lj, 1e-10 * std::abs(r.lj));
  o.coulomb = vacuum ? Coulomb::cutoff : Coulomb::ewald;
  o.coulomb_modifier = Modifier::none;
  o.ewald_rtol = 1e-8;
  double coulomb = pairs() - lj;
  if (!vacuum) {
    coulomb += evaluate(ewald_reciprocal_energy(s, o), p).item<double>() / 4.184 +
               evaluate(ewald_excluded_energy(s, o), p).item<double>() / 4.184 +
               ewald_self_energy(s, o, p[1], p[2]).item<double>() / 4.184;
    EXPECT_NEAR(tail_energy(s, o, p[1], c6_of(s), c12_of(s)).item<double>(), r.tail * 4.184,
                1e-10 * std::abs(r.tail));
  }
  EXPECT_NEAR(coulomb, r.coulomb, 1e-8 * std::abs(r.coulomb));
}

TEST(Tails, GiveBackWhatModifiersTakeAway) {
  // For r^-6 alone in a uniform fluid: whatever the modifier, pairs within the cut-off and the tail
  // together are the full integral. Shifted: U_used + tail = U_cut + tail_cut, by the mean over the
  // ball of radius rc: -c6/rc^6 (4 pi/3) rc^3 N^2/2V.
  const System s = testing::lennard_jones_atoms(10);
  const Tensor h = edges(rectangular_box({3, 3, 3}));
  const double n2 = 100, v = 27, rc = 1.2, c6 = 4;
  const auto tail = [&](Modifier m) {
    return tail_energy(s,
                       {.coulomb = Coulomb::none,
                        .lj_modifier = m,
                        .tail = Tail::c6,
                        .cutoff_lj_nm = rc,
                        .lj_switch_nm = 0.9},
                       h, c6_of(s), c12_of(s))
        .item<double>();
  };
  const double cut = -2 * std::numbers::pi / 3 * n2 / v * c6 / std::pow(rc, 3);
  EXPECT_NEAR(tail(Modifier::none), cut, 1e-12 * std::abs(cut));
  EXPECT_NEAR(tail(Modifier::potential_shift), 2 * cut, 1e-12 * std::abs(cut));
  EXPECT_NEAR(tail(Modifier::linear_force_shift),
              2 * cut - 2 * std::numbers::pi * n2 / v * c6 * 6 / std::pow(rc, 7) * std::pow(rc, 4) *
                            (1.0 / 3 - 1.0 / 4),
              1e-12 * std::abs(cut));
  // Switched ones by fine sums.
  for (const Modifier m : {Modifier::force_switch, Modifier::potential_switch}) {
    const double r1 = 0.9;
    double missing = 0;
    const int steps = 200000;
    const double a = -6 * (10 * rc - 7 * r1) / (std::pow(rc, 8) * std::pow(rc - r1, 2)),
                 b = 6 * (9 * rc - 7 * r1) / (std::pow(rc, 8) * std::pow(rc - r1, 3));
    const double c = std::pow(rc, -6) - a / 3 * std::pow(rc - r1, 3) - b / 4 * std::pow(rc - r1, 4);
    for (int k = 0; k < steps; ++k) {
      const double r = (k + 0.5) * rc / steps, x = std::max(r - r1, 0.0), y = x / (rc - r1);
      const double lost =
          m == Modifier::force_switch
              ? a / 3 * x * x * x + b / 4 * x * x * x * x + c
              : std::pow(r, -6) * (10 * y * y * y - 15 * y * y * y * y + 6 * std::pow(y, 5));
      missing += lost * r * r * rc / steps;
    }
    const double expected = cut - 2 * std::numbers::pi * n2 / v * c6 * missing;
    EXPECT_NEAR(tail(m), expected, 1e-8 * std::abs(expected));
  }
}

TEST(Tails, MeansOverThePairsOfEachProgram) {
  // Beside loops over atoms. Three types, some pairs excluded, a shift within the cut-off of 1 nm.
  System s = testing::lennard_jones_atoms(9);
  s.lj = mixed(LennardJones::Mixing::lorentz_berthelot, {0.3, 0.25, 0.4}, {0.6, 0.2, 0.9});
  for (std::size_t i = 0; i < 9; ++i)
    s.atoms.lj_type[i] = static_cast<std::int32_t>(i * i % 3 + (i == 4));
  s.exclusions = {{0, 1}, {0, 2}, {1, 2}, {3, 8}, {4, 5}};
  const Vec3 l = {3, 4, 5};
  const auto c = [&](const std::vector<double>& table, std::size_t i, std::size_t j) {
    return table[static_cast<std::size_t>(s.atoms.lj_type[i] * 3 + s.atoms.lj_type[j])];
  };
  const auto tail = [&](Nonbonded::TailPairs pairs, Modifier m, const Vec3& edge) {
    const Nonbonded o = {.coulomb = Coulomb::none,
                         .lj_modifier = m,
                         .tail = Tail::c6_c12,
                         .tail_pairs = pairs,
                         .cutoff_lj_nm = 1};
    return tail_energy(s, o, edges(rectangular_box(edge)), c6_of(s), c12_of(s)).item<double>();
  };
  struct Mean {
    double sum6 = 0, sum12 = 0, count = 0;
    double c6() const { return sum6 / count; }
    double c12() const { return sum12 / count; }
  };
  Mean all, open, unordered;
  for (std::size_t i = 0; i < 9; ++i)
    for (std::size_t j = 0; j < 9; ++j) {
      const auto add = [&](Mean& m) {
        m.sum6 += c(s.lj.c6, i, j), m.sum12 += c(s.lj.c12, i, j), ++m.count;
      };
      add(all);
      if (i <= j) add(unordered);
      if (i < j && std::ranges::find(s.exclusions, std::array{static_cast<std::int32_t>(i),
                                                              static_cast<std::int32_t>(j)}) ==
                       s.exclusions.end())
        add(open);
    }
  using P = Nonbonded::TailPairs;
  for (const auto& [pairs, mean] :
       {std::pair{P::all, all}, {P::not_excluded, open}, {P::unordered, unordered}}) {
    const double expected = 2 * std::numbers::pi * 81 / 60 * (mean.c12() / 9 - mean.c6() / 3);
    EXPECT_NEAR(tail(pairs, Modifier::none, l), expected, 1e-13 * std::abs(expected));
    // Shifted: twice and four times that, but for half of the shift of an atom with itself.
    double shifted = 2 * std::numbers::pi * 81 / 60 * (4 * mean.c12() / 9 - 2 * mean.c6() / 3);
    if (pairs == P::not_excluded) shifted -= 0.5 * 9 * (mean.c12() - mean.c6());
    EXPECT_NEAR(tail(pairs, Modifier::potential_shift, l), shifted, 1e-13 * std::abs(shifted));
  }
  // Runs know what of it belongs to the volume.
  std::vector<Vec3> x;
  for (int i = 0; i < 9; ++i) x.push_back({0.3 * i, 0.1 * i * i, 4.0 / (i + 1)});
  const Nonbonded o = {.coulomb = Coulomb::none,
                       .tail = Tail::c6,
                       .tail_pairs = P::not_excluded,
                       .cutoff_lj_nm = 1},
                  none = {.coulomb = Coulomb::none, .cutoff_lj_nm = 1};
  Forces with, without;
  ForceEvaluator(s, o, {.precision = Precision::f64})(x, rectangular_box(l), with);
  ForceEvaluator(s, none, {.precision = Precision::f64})(x, rectangular_box(l), without);
  const double kept = 2 * std::numbers::pi * 81 / 60 * (-2 * open.c6() / 3),
               alone = 0.5 * 9 * open.c6();
  EXPECT_NEAR(with.energy[static_cast<std::size_t>(Term::lj_tail)], kept + alone,
              1e-13 * std::abs(kept));
  for (std::size_t a = 0; a < 3; ++a)
    EXPECT_NEAR(with.virial[a][a] - without.virial[a][a], kept, 1e-9 * std::abs(kept));
}

TEST(NonbondedChecks, CutoffsAndBoxes) {
  const Nonbonded o = {.coulomb = Coulomb::none, .cutoff_lj_nm = 1};
  EXPECT_NO_THROW(check(o, rectangular_box({2, 2, 2}))) << "L = 2 rc is allowed";
  EXPECT_THROW(check(o, rectangular_box({2, 1.99, 2})), Error);
  EXPECT_THROW(check({.coulomb = Coulomb::none,
                      .lj_modifier = Modifier::force_switch,
                      .cutoff_lj_nm = 1,
                      .lj_switch_nm = 1.1},
                     Box{}),
               Error);
  EXPECT_THROW(check({.coulomb = Coulomb::pme}, Box{}), Error);
  EXPECT_NEAR(std::erfc(ewald_beta({.cutoff_coulomb_nm = 1, .ewald_rtol = 1e-5})), 1e-5, 1e-18);
  EXPECT_NEAR(std::erfc(ewald_beta({.cutoff_coulomb_nm = 0.9, .ewald_rtol = 1e-9}) * 0.9), 1e-9,
              1e-21);
}

}  // namespace
}  // namespace tessera::molecular
