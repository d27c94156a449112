// SPDX-License-Identifier: Apache-2.0
//
// The sum of runs against the one that differentiates (pme.h), against the direct sum, and against
// itself: threads, order of atoms.
#include "molecular/src/nonbonded/pme_run.h"

#include "molecular_cases.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/forall.h"
#include "tessera/molecular/ewald.h"
#include "tessera/molecular/pme.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace tessera::molecular {
namespace {

using testing::Case;

struct Result {
  std::vector<std::int64_t> force;
  double energy = 0;
  std::array<double, 9> virial{};
};
Result run(PmeRun& pme, const std::vector<Vec3>& x, const Box& box) {
  Result r;
  r.force.assign(3 * x.size(), 0);
  Sums sums;
  pme.add(x.data(), box, true, sums);
  pme.add_forces(0, x.size(), r.force.data());
  EXPECT_FALSE(sums.out_of_range);
  r.energy = sums.energy[static_cast<std::size_t>(Term::coulomb_reciprocal)].value();
  for (std::size_t k = 0; k < 9; ++k) r.virial[k] = sums.virial[k].value();
  return r;
}
struct ExpectedWaves {
  double energy;
  std::vector<double> force;
  std::array<double, 9> virial{};
};
ExpectedWaves expected_waves(const EnergyPtr& u, const System& s, const std::vector<Vec3>& x,
                             const Box& box) {
  ExpectedWaves e;
  const std::array<const double*, 3> p = {x[0].data(), box.edge[0].data(), s.atoms.charge_e.data()};
  std::vector<double> by_x(3 * x.size());
  std::array<double, 9> by_h{};
  const std::array<double*, 3> g = {by_x.data(), by_h.data(), nullptr};
  e.energy = u->value(p);
  u->gradient(p, g);
  for (const double v : by_x) e.force.push_back(-v);
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < 3; ++b) {
      for (std::size_t i = 0; i < x.size(); ++i) e.virial[3 * a + b] -= x[i][a] * by_x[3 * i + b];
      for (std::size_t k = 0; k < 3; ++k) e.virial[3 * a + b] -= box.edge[k][a] * by_h[3 * k + b];
    }
  return e;
}
double relative_rms(const std::vector<std::int64_t>& force, const std::vector<double>& right) {
  double error = 0, all = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    error += std::pow(from_fixed(force[i]) - right[i], 2);
    all += right[i] * right[i];
  }
  return std::sqrt(error / all);
}

/// Waters and ions at random positions of a box, with a net charge; no two of them meet.
Case salty(std::size_t atoms, const Box& box) {
  Case c;
  c.frame.box = box;
  c.system.residues = {{"ION", "1", "", ""}};
  c.system.lj = mixed(LennardJones::Mixing::lorentz_berthelot, {0.3}, {0.6});
  std::mt19937 random(11);
  std::uniform_real_distribution<double> any(-1, 2), charge(-1, 1.2);  // also outside of the box
  for (std::size_t i = 0; i < atoms; ++i) {
    testing::add_atom(c.system, "X", 6, 12, i % 7 == 3 ? 0.0 : charge(random), 0);
    c.frame.x_nm.push_back(from_fractions(box, {any(random), any(random), any(random)}));
  }
  return c;
}

struct Grid {
  const char* name;
  std::array<int, 3> points;
  bool slanted;
};
class PmeRuns : public ::testing::TestWithParam<Grid> {};
INSTANTIATE_TEST_SUITE_P(Grids, PmeRuns,
                         ::testing::Values(Grid{"powers_of_two", {16, 32, 8}, false},
                                           Grid{"slanted", {24, 18, 20}, true},
                                           Grid{"odd", {15, 21, 25}, true},
                                           Grid{"eleven_and_thirteen", {22, 13, 26}, true},
                                           Grid{"primes", {17, 19, 8}, false},
                                           Grid{"several_slabs", {40, 9, 64}, true}),
                         [](const auto& c) { return std::string(c.param.name); });

TEST_P(PmeRuns, AgreeWithTheSumThatDifferentiates) {
  const Case c = salty(70, GetParam().slanted ? box_of_angles({2.6, 2.2, 2.4}, {75, 80, 70})
                                              : rectangular_box({2.6, 2.2, 2.4}));
  for (const int order : {4, 5, 6, 7, 8}) {
    SCOPED_TRACE(order);
    const Nonbonded o = {.cutoff_coulomb_nm = 0.9,
                         .epsilon_r = 1.5,
                         .ewald_rtol = 1e-4,
                         .pme_order = order,
                         .fourier_grid = GetParam().points};
    const ExpectedWaves e = expected_waves(pme_energy(c.system, o, GetParam().points), c.system,
                                           c.frame.x_nm, c.frame.box);
    double largest = 0;
    for (const double w : e.virial) largest = std::max(largest, std::abs(w));
    for (const bool single : {false, true}) {
      const double within =
          single ? 3e-6 : 1e-12;  // single: some roundings of 6e-8 and charges in steps of 2^-26
      const Result r = run(*pme_run(c.system, o, single), c.frame.x_nm, c.frame.box);
      EXPECT_NEAR(r.energy, e.energy, within * e.energy);
      EXPECT_LE(relative_rms(r.force, e.force), within) << (single ? "single" : "double");
      for (std::size_t k = 0; k < 9; ++k)
        EXPECT_NEAR(r.virial[k], e.virial[k], within * largest) << "virial " << k;
    }
  }
}

TEST(PmeRun, SameBitsForAnyThreadsAndAnyOrderOfAtoms) {
  const Case c = salty(3000, box_of_angles({3.6, 3.2, 3.4}, {75, 80, 70}));
  Case mixed_up = c;
  std::vector<std::size_t> order(3000);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(4));
  for (std::size_t i = 0; i < order.size(); ++i) {
    mixed_up.frame.x_nm[i] = c.frame.x_nm[order[i]];
    mixed_up.system.atoms.charge_e[i] = c.system.atoms.charge_e[order[i]];
  }
  const Nonbonded o = {.cutoff_coulomb_nm = 0.9, .pme_order = 4, .fourier_grid = {32, 28, 30}};
  const int before = num_threads();
  for (const bool single : {true, false}) {
    set_num_threads(1);
    const auto pme = pme_run(c.system, o, single);
    const Result first = run(*pme, c.frame.x_nm, c.frame.box);
    EXPECT_EQ(run(*pme, c.frame.x_nm, c.frame.box).force, first.force) << "a second time";
    for (const int threads : {2, 3}) {
      set_num_threads(threads);
      const Result r = run(*pme, c.frame.x_nm, c.frame.box);
      EXPECT_EQ(r.force, first.force) << threads << " threads";
      EXPECT_EQ(r.energy, first.energy);
      EXPECT_EQ(r.virial, first.virial);
    }
    const Result other =
        run(*pme_run(mixed_up.system, o, single), mixed_up.frame.x_nm, c.frame.box);
    for (std::size_t i = 0; i < order.size(); ++i)
      for (std::size_t a = 0; a < 3; ++a)
        ASSERT_EQ(other.force[3 * i + a], first.force[3 * order[i] + a]) << "atom " << i;
    EXPECT_EQ(other.energy, first.energy);
  }
  set_num_threads(before);
}

TEST(PmeRun, FollowsTheBox) {
  // Two boxes by turns: influence and grid are those of the box at hand.
  const Case c = salty(50, rectangular_box({2, 2, 2}));
  const Nonbonded o = {.cutoff_coulomb_nm = 0.9, .pme_order = 4, .fourier_spacing_nm = 0.1};
  const auto pme = pme_run(c.system, o, false);
  for (const double length : {2.0, 2.02, 2.6, 2.0}) {
    const Box box = rectangular_box({length, 2, 2});
    const ExpectedWaves e =
        expected_waves(pme_energy(c.system, o, pme_grid(o, box)), c.system, c.frame.x_nm, box);
    EXPECT_LE(relative_rms(run(*pme, c.frame.x_nm, box).force, e.force), 1e-12) << length;
  }
}

TEST(PmeRun, ConvergesToTheDirectSumForWater) {
  std::vector<Vec3> x;
  Box box;
  if (!testing::read_nist("spce_sample_config_periodic1.txt", 0.1, x, box))
    GTEST_SKIP() << "no NIST configurations";
  const System s = testing::waters(x.size() / 3, 0.42380, 0.316555789, 0.65);
  const Nonbonded o = {.cutoff_coulomb_nm = 1,
                       .ewald_beta = 2.8,
                       .ewald_kmax = 35,
                       .pme_order = 8,
                       .fourier_grid = {48, 48, 48}};
  const ExpectedWaves e = expected_waves(ewald_reciprocal_energy(s, o), s, x, box);
  const Result r = run(*pme_run(s, o, false), x, box), f = run(*pme_run(s, o, true), x, box);
  EXPECT_LE(relative_rms(r.force, e.force), 1e-8);
  EXPECT_NEAR(r.energy, e.energy, 1e-8 * e.energy);
  EXPECT_LE(relative_rms(f.force, e.force), 1e-5);
}

TEST(PmeRun, ChargesThatPileUpAreAnError) {
  const Nonbonded o = {.cutoff_coulomb_nm = 0.9, .pme_order = 4, .fourier_grid = {16, 16, 16}};
  for (const std::size_t many : {std::size_t{40}, std::size_t{200}, std::size_t{1000}}) {
    System s;
    s.residues = {{"X", "1", "", ""}};
    for (std::size_t i = 0; i < many; ++i) testing::add_atom(s, "X", 6, 12, 0.99, 0);
    const std::vector<Vec3> x(many, Vec3{0.5, 0.5, 0.5});
    std::vector<std::int64_t> force(3 * many);
    Sums sums;
    sums.force = force.data();
    const auto single = pme_run(s, o, true);
    if (many > 100)
      EXPECT_THROW(single->add(x.data(), rectangular_box({2, 2, 2}), false, sums), Error) << many;
    else
      EXPECT_NO_THROW(single->add(x.data(), rectangular_box({2, 2, 2}), false, sums));
    EXPECT_NO_THROW(pme_run(s, o, false)->add(x.data(), rectangular_box({2, 2, 2}), false, sums));
  }
  EXPECT_THROW(pme_run(System{}, {.pme_order = 3}, true), Error);
}

}  // namespace
}  // namespace tessera::molecular
