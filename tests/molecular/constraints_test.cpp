// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/constraints.h"

#include "error_text.h"
#include "molecular_cases.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/forall.h"
#include "tessera/molecular/build.h"
#include "tessera/molecular/dynamics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <tuple>

namespace tessera::molecular {
namespace {

using testing::add_atom;
constexpr double d_oh = 0.09572, d_hh = 0.15139;

std::vector<Vec3> shaken(const std::vector<Vec3>& x, double size, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> any(0, size);
  std::vector<Vec3> y = x;
  for (Vec3& p : y)
    for (double& c : p) c += any(random);
  return y;
}
Vec3 momentum(const System& s, const std::vector<Vec3>& v) {
  Vec3 p{};
  for (std::size_t i = 0; i < v.size(); ++i)
    for (std::size_t c = 0; c < 3; ++c) p[c] += s.atoms.mass_amu[i] * v[i][c];
  return p;
}

/// Waters on a grid, turned at random, some of them cut by a face of the box.
struct RigidBath {
  System rigid, bonds;  ///< the same waters by SETTLE, and as three constraints each
  std::vector<Vec3> x;
  Box box = rectangular_box({1.2, 1.2, 1.2});
  RigidBath() {
    rigid = testing::waters(64, 0.4, 0.3, 0.5);
    rigid.atoms.mass_amu[0] = 17;
    bonds = rigid;
    rigid.rigid_waters.rows = {{d_oh, d_hh}};
    bonds.constraints.rows = {{d_oh}, {d_hh}};
    std::mt19937 random(11);
    std::normal_distribution<double> any(0, 1);
    const double height = std::sqrt(d_oh * d_oh - 0.25 * d_hh * d_hh);
    for (std::int32_t m = 0; m < 64; ++m) {
      const std::int32_t o = 3 * m;
      rigid.rigid_waters.atoms.push_back({o, o + 1, o + 2});
      rigid.rigid_waters.row.push_back(0);
      for (const auto& [a, b, row] : {std::tuple{o, o + 1, 0}, {o, o + 2, 0}, {o + 1, o + 2, 1}}) {
        bonds.constraints.atoms.push_back({a, b});
        bonds.constraints.row.push_back(row);
      }
      Vec3 u = {any(random), any(random), any(random)}, v = {any(random), any(random), any(random)};
      const double nu = std::sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
      for (double& c : u) c /= nu;
      const double along = u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
      for (std::size_t c = 0; c < 3; ++c) v[c] -= along * u[c];
      const double nv = std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
      const Vec3 at = {0.3 * (m % 4), 0.3 * (m / 4 % 4), 0.3 * (m / 16)};
      for (const double side : {0.0, 1.0, -1.0}) {
        Vec3 p = at;
        for (std::size_t c = 0; c < 3; ++c)
          p[c] += side == 0 ? 0 : height * u[c] + side * 0.5 * d_hh * v[c] / nv;
        if (m % 5 == 0) p = {p[0] - 1.2 * std::floor(p[0] / 1.2), p[1], p[2]};
        x.push_back(p);
      }
    }
  }
};

TEST(Settle, IsNewtonsSolution) {
  const RigidBath b;
  const Constraints settle(b.rigid), newton(b.bonds, {.tolerance = 1e-14});
  EXPECT_EQ(settle.size(), newton.size());
  EXPECT_LT(settle.largest_error(b.x, b.box), 1e-12);
  std::vector<Vec3> y = shaken(b.x, 0.004, 2), z = y;
  EXPECT_GT(settle.largest_error(y, b.box), 0.01);
  settle.apply_to_positions(b.x, y, b.box);
  newton.apply_to_positions(b.x, z, b.box);
  EXPECT_LT(settle.largest_error(y, b.box), 1e-14);
  for (std::size_t i = 0; i < y.size(); ++i)
    for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(y[i][c], z[i][c], 1e-13) << "atom " << i;
}

TEST(Settle, VelocitiesAreNewtonsToo) {
  const RigidBath b;
  const Constraints settle(b.rigid), newton(b.bonds);
  std::vector<Vec3> v = shaken(std::vector<Vec3>(b.x.size()), 1, 3), w = v;
  const Vec3 before = momentum(b.rigid, v);
  settle.apply_to_velocities(b.x, v, b.box);
  newton.apply_to_velocities(b.x, w, b.box);
  for (std::size_t i = 0; i < v.size(); ++i)
    for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(v[i][c], w[i][c], 1e-13);
  for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(momentum(b.rigid, v)[c], before[c], 1e-11);
}

/// Two fused rings with tails: six-membered rings that share a bond, hydrogens outside.
struct Naphthalene {
  System s;
  std::vector<Vec3> x;
  Box box = rectangular_box({3, 3, 3});
  Naphthalene() {
    s.residues = {{"NAP", "1", "", ""}};
    s.lj = mixed(LennardJones::Mixing::lorentz_berthelot, {0.3}, {0.5});
    const double r = 0.14, pi = 3.14159265358979323846;
    for (const double centre : {-0.5, 0.5})
      for (int k = 0; k < 6; ++k) {
        const double a = pi / 6 + k * pi / 3;
        const Vec3 p = {centre * r * std::sqrt(3.0) + r * std::cos(a), r * std::sin(a), 0};
        bool there = false;
        for (const Vec3& q : x) there = there || std::hypot(q[0] - p[0], q[1] - p[1]) < 0.01;
        if (there) continue;
        x.push_back(p);
        add_atom(s, "C", 6, 12, 0, 0);
      }
    for (std::size_t i = 0; i < 10; ++i)
      for (std::size_t j = i + 1; j < 10; ++j)
        if (std::hypot(x[i][0] - x[j][0], x[i][1] - x[j][1]) < 0.15) bond(i, j, r);
    for (std::size_t i = 0; i < 10; ++i) {
      const double length = std::hypot(x[i][0], x[i][1]);
      if (length < 0.1) continue;  // shared by both rings
      const double centre = x[i][0] < 0 ? -0.5 * r * std::sqrt(3.0) : 0.5 * r * std::sqrt(3.0);
      x.push_back({x[i][0] + (x[i][0] - centre) / r * 0.109, x[i][1] + x[i][1] / r * 0.109, 0});
      add_atom(s, "H", 1, 1.008, 0, 0);
      bond(i, x.size() - 1, 0.109);
    }
  }
  void bond(std::size_t i, std::size_t j, double d) {
    s.constraints.atoms.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j)});
    s.constraints.row.push_back(static_cast<std::int32_t>(s.constraints.rows.size()));
    s.constraints.rows.push_back({d});
  }
};

TEST(Constraints, RingsWithTails) {
  const Naphthalene n;
  ASSERT_EQ(n.s.constraints.size(), 11U + 8U);
  const Constraints c(n.s, {.tolerance = 1e-13});
  std::vector<Vec3> y = shaken(n.x, 0.003, 4), free = y, moved(n.x.size());
  c.apply_to_positions(n.x, y, n.box, &moved, 1);
  EXPECT_LT(c.largest_error(y, n.box), 1e-13);
  // The constraints' pulls neither push nor turn the molecule, and lie along the old bonds: atom 10
  // (a hydrogen) has one.
  Vec3 push{}, turn{};
  for (std::size_t i = 0; i < y.size(); ++i) {
    Vec3 f;
    for (std::size_t k = 0; k < 3; ++k) {
      f[k] = n.s.atoms.mass_amu[i] * moved[i][k];
      push[k] += f[k];
      EXPECT_NEAR(moved[i][k], y[i][k] - free[i][k], 1e-16);
    }
    for (std::size_t k = 0; k < 3; ++k)
      turn[k] += n.x[i][(k + 1) % 3] * f[(k + 2) % 3] - n.x[i][(k + 2) % 3] * f[(k + 1) % 3];
  }
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(push[k], 0, 1e-15);
    EXPECT_NEAR(turn[k], 0, 1e-15);
  }
  std::vector<Vec3> v = shaken(std::vector<Vec3>(n.x.size()), 1, 5);
  c.apply_to_velocities(n.x, v, n.box);
  for (const auto& [a, b] : n.s.constraints.atoms) {
    double rate = 0;
    for (std::size_t k = 0; k < 3; ++k)
      rate += (n.x[static_cast<std::size_t>(a)][k] - n.x[static_cast<std::size_t>(b)][k]) *
              (v[static_cast<std::size_t>(a)][k] - v[static_cast<std::size_t>(b)][k]);
    EXPECT_NEAR(rate, 0, 1e-13);
  }
}

TEST(Constraints, AnyNumberOfThreads) {
  const RigidBath b;
  const int before = num_threads();
  std::vector<std::vector<Vec3>> results;
  for (const int threads : {1, 2}) {
    set_num_threads(threads);
    std::vector<Vec3> y = shaken(b.x, 0.004, 2);
    Constraints(b.bonds).apply_to_positions(b.x, y, b.box);
    results.push_back(y);
  }
  set_num_threads(before);
  EXPECT_EQ(results[0], results[1]);
}

TEST(Constraints, HopelessStepsNameTheAtoms) {
  const Naphthalene n;
  std::vector<Vec3> y = n.x;
  y[10] = {5, 5, 5};
  try {
    Constraints(n.s).apply_to_positions(n.x, y, n.box);
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("atoms"), std::string::npos) << e.what();
  }
  const RigidBath b;
  y = b.x;
  y[4] = {0.1, 0.9, 0.3};
  EXPECT_THROW(Constraints(b.rigid).apply_to_positions(b.x, y, b.box), Error);
}

/// Of a star and of a chain: not any bond of them, and its length as the step has left it.
TEST(Constraints, HopelessStepsNameTheBondThatIsTorn) {
  const Box box = rectangular_box({3, 3, 3});
  const std::vector<Vec3> star = {{0, 0, 0}, {0.1, 0, 0}, {0, 0.1, 0}, {0, 0, 0.1}},
                          chain = {{0, 0, 0}, {0.1, 0, 0}, {0.2, 0, 0}, {0.3, 0, 0}};
  using Pairs = std::vector<std::array<std::int32_t, 2>>;
  for (const auto& [x, bonds, names] :
       {std::tuple{star, Pairs{{0, 1}, {0, 2}, {0, 3}}, "atoms 1 and 4 "},
        {chain, Pairs{{0, 1}, {1, 2}, {2, 3}}, "atoms 3 and 4 "}}) {
    System s = testing::lennard_jones_atoms(4);
    s.constraints = {bonds, {0, 0, 0}, {{0.1}}};
    std::vector<Vec3> y = x;
    const Vec3& held = x[static_cast<std::size_t>(bonds[2][0])];
    y[3] = {held[0], held[1] + 0.5, held[2]};
    const std::string says =
        tessera::testing::message_of([&, &x = x] { Constraints(s).apply_to_positions(x, y, box); });
    EXPECT_NE(says.find(names), std::string::npos) << says;
    EXPECT_NE(says.find("was 0.1 nm long before the step and 0.5 nm after it"), std::string::npos)
        << says;
  }
}

TEST(Constraints, ImpossibleSystemsAreRefused) {
  RigidBath b;
  b.rigid.constraints = {{{0, 5}}, {0}, {{0.3}}};
  EXPECT_THROW(Constraints{b.rigid}, Error);
  Naphthalene n;
  n.s.atoms.mass_amu[3] = 0;
  EXPECT_THROW(Constraints{n.s}, Error);
  Naphthalene twice;
  const auto [p, q] = twice.s.constraints.atoms[0];
  twice.s.constraints.atoms.push_back({q, p});
  twice.s.constraints.row.push_back(twice.s.constraints.row[0]);
  EXPECT_THROW(Constraints{twice.s}, Error) << "one equation twice has no one solution";
}

/// Rigid CO2 by its three distances, and the same atoms bent.
TEST(Constraints, DistancesOnALineDependOnEachOther) {
  System s;
  s.residues = {{"CO2", "1", "", ""}};
  add_atom(s, "O1", 8, 16, 0, 0);
  add_atom(s, "C", 6, 12, 0, 0);
  add_atom(s, "O2", 8, 16, 0, 0);
  s.constraints = {{{0, 1}, {1, 2}, {0, 2}}, {0, 0, 1}, {{0.1163}, {0.2326}}};
  const std::string says = tessera::testing::message_of([&] { Constraints{s}; });
  EXPECT_NE(says.find("distances of atoms 1, 2 and 3 depend on each other"), std::string::npos)
      << says;
  s.constraints.rows[1][0] = 0.2;
  EXPECT_EQ(Constraints{s}.size(), 3U);
}

TEST(Constrained, BondsBecomeRigid) {
  const auto file = tessera::testing::test_data() / "md/amber/ala2_tip3p.prmtop";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "no " << file.string();
  const System flexible =
      read_amber_topology(data::read_text_file(file)).system;  // 22 atoms and 749 waters
  const System s = constrained(flexible, Rigid::h_bonds);
  EXPECT_EQ(s.rigid_waters.size(), 749U);
  EXPECT_EQ(s.constraints.size(), 12U);
  EXPECT_EQ(s.bonds.size(), 9U);
  EXPECT_EQ(s.angles.size(), 36U) << "flexible as it was: the waters' own angles go";
  EXPECT_NEAR(s.rigid_waters.rows[0][1], 0.15136, 1e-6);
  EXPECT_EQ(constrained(flexible, Rigid::all_bonds).bonds.size(), 0U);
  EXPECT_EQ(constrained(flexible, Rigid::all_bonds).constraints.size(), 21U);
  EXPECT_EQ(constrained(flexible, Rigid::none, false), flexible);
  const System angles = constrained(flexible, Rigid::h_angles);
  EXPECT_EQ(angles.constraints.size(), 21U + 9U)
      << "all bonds, and the angles of three methyl groups";
  EXPECT_EQ(constrained(s, Rigid::h_bonds), s) << "twice is once";
}

TEST(Constrained, MethaneIsRigidByNineDistances) {
  System s;
  s.residues = {{"CH4", "1", "", ""}};
  s.lj = mixed(LennardJones::Mixing::lorentz_berthelot, {0.3}, {0.0});
  add_atom(s, "C", 6, 12.011, 0, 0);
  for (const char* name : {"H1", "H2", "H3", "H4"}) add_atom(s, name, 1, 1.008, 0, 0);
  s.bonds.rows = {{0.109, 3e5}};
  s.angles.rows = {{std::acos(-1.0 / 3), 300}};
  for (std::int32_t i = 1; i < 5; ++i) {
    s.connectivity.push_back({0, i});
    s.bonds.atoms.push_back({0, i});
    s.bonds.row.push_back(0);
    for (std::int32_t j = i + 1; j < 5; ++j) {
      s.angles.atoms.push_back({i, 0, j});
      s.angles.row.push_back(0);
    }
  }
  const System rigid = constrained(s, Rigid::h_angles);
  EXPECT_EQ(rigid.constraints.size(), 9U) << "15 - 9: it moves and turns";
  const double a = 0.109 / std::sqrt(3.0);
  const std::vector<Vec3> x = {{0, 0, 0}, {a, a, a}, {a, -a, -a}, {-a, a, -a}, {-a, -a, a}};
  std::vector<Vec3> y = shaken(x, 2e-3, 5);
  const Constraints c(rigid);
  c.apply_to_positions(x, y, {});
  EXPECT_LT(c.largest_error(y, {}), 1e-9);
  for (std::size_t i = 1; i < 5; ++i)
    for (std::size_t j = i + 1; j < 5; ++j)
      EXPECT_NEAR(std::hypot(y[i][0] - y[j][0], y[i][1] - y[j][1], y[i][2] - y[j][2]),
                  0.109 * std::sqrt(8.0 / 3), 1e-7)
          << i << " " << j;
}

/// A topology that LEaP would write binds the fourth site to the oxygen, which is a water still:
/// rigid, and its hydrogens as light as they were.
TEST(Constrained, WatersOfFourSitesAreWaters) {
  const System built = water_system(water_model("tip4pew"), 3);
  const System read =
      read_amber_topology(
          data::make_text_file("w.prmtop", amber_topology(built, rectangular_box({2, 2, 2}))))
          .system;
  ASSERT_EQ(read.virtual_sites.size(), 3U);
  EXPECT_NEAR(read.virtual_sites[1].weights[0], built.virtual_sites[1].weights[0], 1e-7);
  const System rigid = constrained(read, Rigid::h_bonds);
  EXPECT_EQ(rigid.rigid_waters.atoms, built.rigid_waters.atoms);
  EXPECT_EQ(rigid.constraints.size() + rigid.bonds.size(), 0U);
  EXPECT_EQ(heavy_hydrogens(rigid, 3).atoms.mass_amu, rigid.atoms.mass_amu);
}

TEST(Constrained, WatersWhoseHydrogensAreBoundAreWaters) {
  System s = testing::waters(2, 0.4, 0.3, 0.5);
  s.connectivity.insert(s.connectivity.begin() + 2, {1, 2});
  s.bonds = {{{0, 1}, {0, 2}, {1, 2}, {3, 4}, {3, 5}, {4, 5}},
             {0, 0, 1, 0, 0, 1},
             {{d_oh, 4e5}, {d_hh, 4e5}}};
  const System rigid = constrained(s, Rigid::h_bonds);
  EXPECT_EQ(rigid.rigid_waters.size(), 2U);
  EXPECT_EQ(rigid.constraints.size() + rigid.bonds.size(), 0U);
}

/// Constraints of a topology in place of bonds: all three distances of a water, or two and an
/// angle.
TEST(Constrained, WatersHeldByDistancesAreWaters) {
  System s = testing::waters(2, 0.4, 0.3, 0.5);
  s.connectivity.insert(s.connectivity.begin() + 2, {1, 2});
  s.constraints = {{{0, 1}, {0, 2}, {1, 2}, {3, 4}, {3, 5}}, {0, 0, 1, 0, 0}, {{d_oh}, {d_hh}}};
  s.angles.atoms.push_back({4, 3, 5});
  s.angles.row.push_back(0);
  s.angles.rows = {{1.82, 400}};
  const System rigid = constrained(s, Rigid::h_bonds);
  EXPECT_EQ(rigid.rigid_waters.atoms,
            (std::vector<std::array<std::int32_t, 3>>{{0, 1, 2}, {3, 4, 5}}));
  ASSERT_EQ(rigid.rigid_waters.rows.size(), 2U);
  EXPECT_EQ(rigid.rigid_waters.rows[0], (std::array<double, 2>{d_oh, d_hh}));
  EXPECT_NEAR(rigid.rigid_waters.rows[1][1], 2 * d_oh * std::sin(0.5 * 1.82), 1e-12);
  EXPECT_EQ(rigid.constraints.size() + rigid.angles.size(), 0U);
  EXPECT_EQ(Constraints(rigid).size(), 6U);
  EXPECT_EQ(constrained(rigid, Rigid::h_bonds), rigid) << "twice is once";
  // What is rigid by three distances and no such body stays as it is.
  s.constraints.rows.push_back({0.1});
  s.constraints.row[1] = 2;
  const System uneven = constrained(s, Rigid::h_bonds);
  EXPECT_EQ(uneven.constraints.size(), 3U);
  EXPECT_EQ(uneven.rigid_waters.size(), 1U);
}

}  // namespace
}  // namespace tessera::molecular
