// SPDX-License-Identifier: Apache-2.0
//
// Forces as runs take them against the energy functions in double precision, whose derivatives
// other tests hold against engine operations.
#include "tessera/molecular/forces.h"

#include "molecular_cases.h"
#include "pair_options.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/forall.h"
#include "tessera/molecular/bonded.h"
#include "tessera/molecular/ewald.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tessera::molecular {
namespace {

using testing::add_atom, testing::Case;
using Coulomb = Nonbonded::Coulomb;
using Modifier = Nonbonded::Modifier;

/// What this processor can run.
std::vector<Simd> levels() {
  std::vector<Simd> out;
  const System s = testing::lennard_jones_atoms(2);
  for (const Simd level : {Simd::portable, Simd::avx2, Simd::avx512}) {
    try {
      ForceEvaluator(s, {.coulomb = Coulomb::none}, {.simd = level});
      out.push_back(level);
    } catch (const Error&) {
    }
  }
  return out;
}

/// n atoms of three types, at least 0.2 nm apart, in molecules of three that exclude each other.
Case mixture(std::size_t n, const Box& box, bool by_tables, unsigned seed = 7) {
  Case c;
  c.frame.box = box;
  c.system.residues = {{"MIX", "1", "", ""}};
  c.system.lj = mixed(LennardJones::Mixing::lorentz_berthelot, {0.28, 0.22, 0.0}, {0.6, 0.3, 0.0});
  if (by_tables) c.system.lj.c6[1] = c.system.lj.c6[3] = 1.3 * c.system.lj.c6[1];
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> any(0, 1);
  const Box cell = is_periodic(box) ? box : rectangular_box({2, 1.5, 2.5});
  while (c.frame.x_nm.size() < n) {
    const Vec3 p = from_fractions(
        cell, {3 * any(random) - 1, any(random), any(random)});  // some outside of the box
    bool apart = true;
    for (const Vec3& o : c.frame.x_nm) {
      const Vec3 d = wrapped(box, {p[0] - o[0], p[1] - o[1], p[2] - o[2]});
      apart = apart && d[0] * d[0] + d[1] * d[1] + d[2] * d[2] > 0.04;
    }
    if (!apart) continue;
    const std::size_t i = c.frame.x_nm.size();
    add_atom(c.system, "X", 6, 12,
             i + 1 == n && n % 2 == 1 ? 0.2
             : i % 2 == 0             ? 0.4
                                      : -0.4,
             static_cast<int>(i % 3));
    c.frame.x_nm.push_back(p);
  }
  for (std::int32_t i = 0; i + 2 < static_cast<std::int32_t>(n); i += 3) {
    c.system.exclusions.push_back({i, i + 1});
    c.system.exclusions.push_back({i, i + 2});
    c.system.exclusions.push_back({i + 1, i + 2});
  }
  return c;
}

struct ExpectedForces {
  std::vector<Vec3> f;
  double energy = 0;
  std::array<Vec3, 3> virial{};
};
/// Of the pair sum and of Ewald's terms of excluded pairs.
ExpectedForces expected_forces(const Case& c, const Nonbonded& o) {
  const std::size_t n = c.system.n_atoms();
  ExpectedForces e;
  e.f.assign(n, Vec3{});
  std::vector<EnergyPtr> terms = {nonbonded_energy(c.system, o)};
  if (o.coulomb == Coulomb::ewald || o.coulomb == Coulomb::pme)
    terms.push_back(ewald_excluded_energy(c.system, o));
  const std::array<const double*, 5> p = {c.frame.x_nm[0].data(), c.frame.box.edge[0].data(),
                                          c.system.atoms.charge_e.data(), c.system.lj.c6.data(),
                                          c.system.lj.c12.data()};
  for (const EnergyPtr& u : terms) {
    if (!u) continue;
    std::vector<Vec3> gradient(n);
    std::array<Vec3, 3> by_box{};
    const std::array<double*, 5> g = {gradient[0].data(), by_box[0].data(), nullptr, nullptr,
                                      nullptr};
    const std::size_t k = u->shapes().size();
    e.energy += u->value(EnergyFunction::Arrays(p).first(k));
    u->gradient(EnergyFunction::Arrays(p).first(k), EnergyFunction::Results(g).first(k));
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t b = 0; b < 3; ++b) {
        for (std::size_t i = 0; i < n; ++i) e.virial[a][b] -= c.frame.x_nm[i][a] * gradient[i][b];
        for (std::size_t m = 0; m < 3; ++m) e.virial[a][b] -= c.frame.box.edge[m][a] * by_box[m][b];
      }
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t a = 0; a < 3; ++a) e.f[i][a] -= gradient[i][a];
  }
  return e;
}

struct Error2 {
  double rms, largest;  ///< over the RMS of the forces expected
};
Error2 difference(const std::vector<Vec3>& f, const std::vector<Vec3>& e) {
  double sum = 0, all = 0, most = 0;
  for (std::size_t i = 0; i < f.size(); ++i)
    for (std::size_t a = 0; a < 3; ++a) {
      const double d = f[i][a] - e[i][a];
      sum += d * d;
      all += e[i][a] * e[i][a];
      most = std::max(most, std::abs(d));
    }
  return {std::sqrt(sum / all), most / std::sqrt(all / (3 * static_cast<double>(f.size())))};
}

/// The evaluator without its reciprocal sum: ewald with next to no wave vectors.
Nonbonded short_range(Nonbonded o) {
  if (o.coulomb == Coulomb::pme) o.coulomb = Coulomb::ewald;
  if (o.coulomb == Coulomb::ewald) o.ewald_kmax = 1e-3;
  return o;
}

void expect_same_forces(const Case& c, Nonbonded o) {
  o = short_range(o);
  const ExpectedForces e = expected_forces(c, o);
  for (const Precision precision : {Precision::mixed, Precision::f64}) {
    // Fixed point: units of 2^-14 (2^-36) of 1 kJ/mol/nm for each of some hundred pairs.
    const double tolerance = precision == Precision::mixed ? 1e-5 : 1e-12;
    std::vector<Vec3> first;
    for (const Simd level : levels()) {
      SCOPED_TRACE(static_cast<int>(level) + 10 * static_cast<int>(precision));
      Forces f;
      f.wants_energies = false;
      ForceEvaluator(c.system, o, {.precision = precision, .simd = level})(c.frame.x_nm,
                                                                           c.frame.box, f);
      const Error2 error = difference(f.f, e.f);
      EXPECT_LE(error.rms, tolerance);
      EXPECT_LE(error.largest, 100 * tolerance);
      if (first.empty()) first = f.f;
      EXPECT_EQ(f.f, first);
      EXPECT_EQ(f.potential(), 0);
      f.wants_energies = true;
      ForceEvaluator(c.system, o, {.precision = precision, .simd = level})(c.frame.x_nm,
                                                                           c.frame.box, f);
      EXPECT_EQ(f.f, first);
      double own = f.energy[static_cast<std::size_t>(Term::lj)] +
                   f.energy[static_cast<std::size_t>(Term::coulomb_short)];
      if (o.coulomb == Coulomb::ewald) {
        const Tensor self = ewald_self_energy(c.system, o, testing::edges(c.frame.box),
                                              tensor(c.system.atoms.charge_e));
        own += f.energy[static_cast<std::size_t>(Term::coulomb_reciprocal)] - self.item<double>();
      }
      EXPECT_NEAR(own, e.energy, 1e-11 * std::abs(e.energy));
      double scale = 0, background = 0;
      for (std::size_t a = 0; a < 3; ++a) scale = std::max(scale, std::abs(e.virial[a][a]));
      if (o.coulomb == Coulomb::ewald) {
        double q = 0;
        for (const double v : c.system.atoms.charge_e) q += v;
        const double beta = ewald_beta(o);
        background = -3.14159265358979 * c.system.coulomb_constant / o.epsilon_r /
                     (2 * volume_nm3(c.frame.box) * beta * beta) * q * q;
      }
      for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t b = 0; b < 3; ++b)
          EXPECT_NEAR(f.virial[a][b] - (a == b ? background : 0), e.virial[a][b], 1e-10 * scale)
              << a << b;
    }
  }
}

class PairForces : public ::testing::TestWithParam<testing::PairOptions> {};
INSTANTIATE_TEST_SUITE_P(Options, PairForces, ::testing::ValuesIn(testing::pair_options()),
                         testing::name_of_options);

TEST_P(PairForces, AgreeWithTheEnergysGradient) {
  for (const bool by_tables : {false, true}) {
    SCOPED_TRACE(by_tables);
    // Edges of twice the cut-off and more; slanted; twice the cut-off exactly, where lists reach
    // around the box.
    for (const Box& box :
         {rectangular_box({2.5, 1.7, 2.1}), box_of_angles({2.2, 2.1, 2.0}, {75, 80, 70}),
          rectangular_box({1.6, 1.6, 1.6})})
      expect_same_forces(mixture(120, box, by_tables), GetParam().options);
  }
}

// Clusters are told apart by 16 bits of a part of the box: boxes of a few and of many cut-offs
// along an edge, and hardly any buffer that would hide a pair that was left out.
TEST(PairForces, OfThinListsInLongAndSlantedBoxesMissNoPair) {
  for (const Box& box :
       {rectangular_box({41, 1.9, 4.3}), rectangular_box({9, 13.1, 7.7}),
        box_of_angles({9, 8, 10}, {60, 90, 60}), box_of_angles({30, 2.4, 3.1}, {75, 80, 70})}) {
    SCOPED_TRACE(box.edge[0][0]);
    const Case c = mixture(1200, box, false);
    const Nonbonded o = {.coulomb = Coulomb::cutoff,
                         .coulomb_modifier = Modifier::none,
                         .lj_modifier = Modifier::none,
                         .cutoff_coulomb_nm = 0.85,
                         .cutoff_lj_nm = 0.85};
    const ExpectedForces e = expected_forces(c, o);
    for (const Simd level : levels()) {
      SCOPED_TRACE(static_cast<int>(level));
      Forces f;
      ForceEvaluator(
          c.system, o,
          {.precision = Precision::f64, .simd = level, .buffer_nm = 1e-4, .inner_buffer_nm = 1e-5})(
          c.frame.x_nm, c.frame.box, f);
      EXPECT_LE(difference(f.f, e.f).rms, 1e-12);
      EXPECT_NEAR(f.energy[static_cast<std::size_t>(Term::lj)] +
                      f.energy[static_cast<std::size_t>(Term::coulomb_short)],
                  e.energy, 1e-11 * std::abs(e.energy));
    }
  }
}

TEST(PairForces, SmallSystemsAndNoBox) {
  for (const std::size_t n : {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{5},
                              std::size_t{9}, std::size_t{33}}) {
    SCOPED_TRACE(n);
    const Nonbonded o = {.coulomb = Coulomb::cutoff, .cutoff_coulomb_nm = 5, .cutoff_lj_nm = 5};
    if (n > 3) expect_same_forces(mixture(n, Box{}, false), o);
    Forces f;
    const Case c = mixture(n, Box{}, true);
    ForceEvaluator(c.system, o)(c.frame.x_nm, c.frame.box, f);
    EXPECT_EQ(f.f.size(), n);
  }
}

/// Positions that wander by `step` each time.
void wander(std::vector<Vec3>& x, double step, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> any(0, step);
  for (Vec3& p : x)
    for (double& c : p) c += any(random);
}

TEST(PairForces, NeitherThreadsNorTheAgeOfTheListNorItsBuffersChangeABit) {
  const int threads = num_threads();
  const Nonbonded o =
      short_range({.coulomb = Coulomb::ewald, .cutoff_coulomb_nm = 0.8, .cutoff_lj_nm = 0.8});
  for (const Precision precision : {Precision::mixed, Precision::f64}) {
    Case c = mixture(600, rectangular_box({2.5, 3.1, 2.8}), false);
    // No two charges alike: which atom of a pair is the first in a list, k_e is with, must not
    // matter.
    for (std::size_t i = 0; i < c.system.n_atoms(); ++i)
      c.system.atoms.charge_e[i] += 0.1 * std::sin(static_cast<double>(i * i));
    const ForceEvaluator lasting(c.system, o, {.precision = precision}),
        thick(c.system, o, {.precision = precision, .buffer_nm = 0.5, .inner_buffer_nm = 0});
    for (unsigned step = 0; step < 25; ++step) {
      Forces old, other, fresh;
      set_num_threads(1 + static_cast<int>(step % 4));
      lasting(c.frame.x_nm, c.frame.box, old);
      thick(c.frame.x_nm, c.frame.box, other);
      ForceEvaluator(c.system, o, {.precision = precision})(c.frame.x_nm, c.frame.box, fresh);
      ASSERT_EQ(old.f, fresh.f) << step;
      ASSERT_EQ(other.f, fresh.f) << step;
      ASSERT_EQ(old.energy, fresh.energy);
      ASSERT_EQ(old.virial, fresh.virial);
      wander(c.frame.x_nm, 0.004, step);
      if (step % 5 == 4) {  // a barostat's work
        const double by = step % 2 == 0 ? 1.004 : 0.997;
        for (Vec3& e : c.frame.box.edge)
          for (double& v : e) v *= by;
        for (Vec3& p : c.frame.x_nm)
          for (double& v : p) v *= by;
      }
    }
  }
  set_num_threads(threads);
}

/// A trial box that is not taken leaves a list thinned in it, with atoms at the same fractions.
TEST(PairForces, AListThinnedInALargerBoxMissesNoPairOfTheSmallerOne) {
  const Nonbonded o = {.coulomb = Coulomb::cutoff, .cutoff_coulomb_nm = 0.8, .cutoff_lj_nm = 0.8};
  const Case c = mixture(600, rectangular_box({2.5, 3.1, 2.8}), false);
  const ForceEvaluator lasting(c.system, o);
  for (const double by : {1.0, 1.08, 1.0, 0.97}) {
    SCOPED_TRACE(by);
    Frame now = c.frame;
    for (Vec3& e : now.box.edge)
      for (double& v : e) v *= by;
    for (Vec3& p : now.x_nm)
      for (double& v : p) v *= by;
    Forces old, fresh;
    lasting(now.x_nm, now.box, old);
    ForceEvaluator(c.system, o)(now.x_nm, now.box, fresh);
    EXPECT_EQ(old.f, fresh.f);
    EXPECT_EQ(old.energy, fresh.energy);
  }
}

TEST(PairForces, BeyondTheRangeOfSinglePrecisionStepsAreDoneInDouble) {
  Case c = mixture(60, rectangular_box({2.5, 2.1, 2.8}), false);
  // Atoms 0 and 4 feel Lennard-Jones forces: 0.06 nm apart they are about 1e12 times the usual
  // ones.
  const Nonbonded o = {.coulomb = Coulomb::cutoff, .cutoff_coulomb_nm = 0.8, .cutoff_lj_nm = 0.8};
  for (const double d : {0.17, 0.12, 0.10}) {
    SCOPED_TRACE(d);
    c.frame.x_nm[4] = {c.frame.x_nm[0][0] + d, c.frame.x_nm[0][1], c.frame.x_nm[0][2]};
    const ExpectedForces e = expected_forces(c, o);
    Forces mixed, twice;
    ForceEvaluator(c.system, o)(c.frame.x_nm, c.frame.box, mixed);
    ForceEvaluator(c.system, o, {.precision = Precision::f64})(c.frame.x_nm, c.frame.box, twice);
    EXPECT_LE(difference(mixed.f, e.f).rms, 1e-5);
    EXPECT_LE(difference(twice.f, e.f).rms, 2e-11);  // units of 2^-26 from 1.6e4 kJ/mol/nm on
  }
  c.frame.x_nm[4] = c.frame.x_nm[0];
  Forces f;
  EXPECT_THROW(ForceEvaluator(c.system, o)(c.frame.x_nm, c.frame.box, f), Error);
}

TEST(PairForces, WeakForcesKeepTheirDigits) {
  // A thin gas: contacts, which set the unit of sums, are far above its forces. In units as for
  // charged liquids it misses both bars.
  Case c;
  c.system = testing::lennard_jones_atoms(30);
  c.frame.box = rectangular_box({8, 8, 8});
  std::mt19937 random(3);
  std::uniform_real_distribution<double> any(0, 8);
  while (c.frame.x_nm.size() < 30) {
    const Vec3 p = {any(random), any(random), any(random)};
    if (std::ranges::all_of(c.frame.x_nm, [&](const Vec3& o) {
          const Vec3 d = wrapped(c.frame.box, {p[0] - o[0], p[1] - o[1], p[2] - o[2]});
          return d[0] * d[0] + d[1] * d[1] + d[2] * d[2] > 1.1;
        }))
      c.frame.x_nm.push_back(p);
  }
  expect_same_forces(
      c,
      {.coulomb = Coulomb::none, .lj_modifier = Modifier::linear_force_shift, .cutoff_lj_nm = 3});
}

TEST(BondedForces, InDoublePrecisionKeepTwelveDigitsFromSmallToLarge) {
  // Units of 2^-40 kJ/mol/nm up to forces of 2^18, of 2^-32 beyond.
  Case c;
  c.system.lj = mixed(LennardJones::Mixing::lorentz_berthelot, {1.0}, {0.0});
  c.system.residues = {{"CH", "1", "", ""}};
  c.system.bonds.rows = {{1.0, 30.0}};
  std::mt19937 random(4);
  std::normal_distribution<double> any(0, 0.1);
  for (std::int32_t i = 0; i < 40; ++i) {
    add_atom(c.system, "C", 6, 12, 0, 0);
    c.frame.x_nm.push_back({0.6 * i + any(random), any(random), any(random)});
    if (i > 0) {
      c.system.bonds.atoms.push_back({i - 1, i});
      c.system.bonds.row.push_back(0);
      c.system.exclusions.push_back({i - 1, i});
    }
  }
  for (const double k : {30.0, 3e7}) {
    SCOPED_TRACE(k);
    c.system.bonds.rows[0][1] = k;
    const EnergyPtr u = bonded_energy(c.system, Term::bonds);
    std::vector<Vec3> gradient(40);
    const std::array<const double*, 3> p = {c.frame.x_nm[0].data(), c.frame.box.edge[0].data(),
                                            c.system.bonds.rows[0].data()};
    u->gradient(p, std::array<double*, 3>{gradient[0].data(), nullptr, nullptr});
    for (Vec3& v : gradient)
      for (double& w : v) w = -w;
    Forces f;
    ForceEvaluator(c.system, {.coulomb = Coulomb::none, .cutoff_lj_nm = 2},
                   {.precision = Precision::f64})(c.frame.x_nm, c.frame.box, f);
    EXPECT_LE(difference(f.f, gradient).rms, 1e-13);
  }
}

TEST(BondedForces, ThatAddUpBeyondTheRangeOfOneStayRight) {
  Case c;
  c.system.lj = mixed(LennardJones::Mixing::lorentz_berthelot, {1.0}, {0.0});
  c.system.residues = {{"CH", "1", "", ""}};
  c.system.bonds.rows = {{1.0, 3e9}};
  constexpr std::int32_t n = 8;
  for (std::int32_t i = 0; i < n; ++i) {
    add_atom(c.system, "C", 6, 12, 0, 0);
    c.frame.x_nm.push_back({i == 0 ? 0 : 0.5, 0.01 * i, 0});
    for (std::int32_t j = i + 1; j < n; ++j) c.system.exclusions.push_back({i, j});
    if (i == 0) continue;
    c.system.bonds.atoms.push_back({0, i});
    c.system.bonds.row.push_back(0);
  }
  Vec3 all{};  // 1.5e9 kJ/mol/nm each, all one way
  double energy = 0, virial_xx = 0;
  for (std::size_t i = 1; i < n; ++i) {
    const Vec3& x = c.frame.x_nm[i];
    const double r = std::hypot(x[0], x[1]);
    for (std::size_t a = 0; a < 2; ++a) all[a] += 3e9 * (r - 1) * x[a] / r;
    energy += 1.5e9 * (r - 1) * (r - 1);
    virial_xx -= 3e9 * (r - 1) * x[0] * x[0] / r;
  }
  ASSERT_GT(energy, 2147483648.0);
  ASSERT_GT(virial_xx, 2147483648.0);
  for (const Precision precision : {Precision::mixed, Precision::f64}) {
    Forces f;
    ForceEvaluator(c.system, {.coulomb = Coulomb::none, .cutoff_lj_nm = 2},
                   {.precision = precision})(c.frame.x_nm, c.frame.box, f);
    EXPECT_NEAR(f.f[0][0], all[0], 2e-5);  // units of 2^-27; doubles there are 2e-6 apart
    EXPECT_NEAR(f.f[0][1], all[1], 2e-5);
    EXPECT_NEAR(f.potential(), energy, 2e-3);  // units of 2^-12
    EXPECT_NEAR(f.virial[0][0], virial_xx, 2e-3);
  }
}

// ---- published systems ----

TEST(PairForces, PublishedSystems) {
  const auto data = tessera::testing::test_data() / "md";
  if (!std::filesystem::exists(data)) GTEST_SKIP() << "no test data";
  struct File {
    const char *top, *positions;
    double cutoff;
  };
  for (const File& f : {File{"amber/ala2_tip3p.prmtop", "amber/ala2_tip3p.rst7", 0.9},
                        File{"amber/water_ala3.parm7", "amber/water_ala3.rst7", 1.0},
                        File{"amber/ala2_vac.prmtop", "amber/ala2_vac.rst7", 3.0}}) {
    SCOPED_TRACE(f.top);
    Case c;
    c.system = read_amber_topology(tessera::data::read_text_file(data / f.top)).system;
    c.frame =
        read_amber_restart(tessera::data::read_text_file(data / f.positions), c.system.n_atoms());
    Nonbonded o = {.coulomb = is_periodic(c.frame.box) ? Coulomb::ewald : Coulomb::cutoff,
                   .cutoff_coulomb_nm = f.cutoff,
                   .cutoff_lj_nm = f.cutoff};
    // Bonded terms come on top in the evaluator: without them here.
    System bare = c.system;
    bare.bonds = {};
    bare.angles = {};
    bare.dihedrals = bare.impropers = {};
    bare.pairs = {};
    c.system = bare;
    expect_same_forces(c, o);
  }
}

}  // namespace
}  // namespace tessera::molecular
