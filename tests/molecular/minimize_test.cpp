// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/minimize.h"

#include "molecular_cases.h"
#include "tessera/autodiff/error.h"
#include "tessera/molecular/constraints.h"
#include "tessera/molecular/stage.h"
#include "tessera/molecular/stage_run.h"
#include "tessera/parallel/communicator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tessera::molecular {
namespace {

using testing::add_atom, testing::Case;
using Method = Minimization::Method;
constexpr double lowest_13 = -44.326801,
                 lowest_38 =
                     -173.928427;  // Wales & Doye, J. Phys. Chem. A 101 (1997) 5111, in epsilon
const Nonbonded all_pairs = {.coulomb = Nonbonded::Coulomb::none,
                             .lj_modifier = Nonbonded::Modifier::none,
                             .cutoff_lj_nm = 1e3};

/// Lennard-Jones atoms of sigma 1 nm and epsilon 1 kJ/mol, moved by up to `shake` in a fixed
/// pattern.
Case cluster(const std::vector<Vec3>& positions, double shake) {
  Case c;
  c.system.lj = mixed(LennardJones::Mixing::lorentz_berthelot, {1.0}, {1.0});
  c.system.residues = {{"LJ", "1", "", ""}};
  for (std::size_t i = 0; i < positions.size(); ++i) {
    add_atom(c.system, "X", 18, 40, 0, 0);
    Vec3 x = positions[i];
    for (std::size_t k = 0; k < 3; ++k)
      x[k] += shake * std::sin(static_cast<double>(7 * i + 3 * k + 1));
    c.frame.x_nm.push_back(x);
  }
  return c;
}
/// A centre and the corners of an icosahedron.
std::vector<Vec3> icosahedron() {
  std::vector<Vec3> x = {{0, 0, 0}};
  const double a = 0.57, b = a * (1 + std::sqrt(5.0)) / 2;
  for (const double s : {-1.0, 1.0})
    for (const double t : {-1.0, 1.0}) {
      x.push_back({0, s * a, t * b});
      x.push_back({s * a, t * b, 0});
      x.push_back({t * b, 0, s * a});
    }
  return x;
}
/// The 38 points of a face-centred lattice nearest to one of its octahedral holes.
std::vector<Vec3> truncated_octahedron() {
  std::vector<Vec3> x;
  for (int i = -2; i <= 2; ++i)
    for (int j = -2; j <= 2; ++j)
      for (int k = -2; k <= 2; ++k)
        if ((i + j + k) % 2 != 0 && i * i + j * j + k * k <= 5)
          x.push_back({0.78 * i, 0.78 * j, 0.78 * k});
  return x;
}

Descent minimum(const Case& c, const Nonbonded& o, Minimization options, std::int64_t most_steps) {
  const Minimizer m(c.system, ForceEvaluator(c.system, o, {.precision = Precision::f64}), options,
                    options.method == Method::newton_cg ? hessian_product(c.system, o, c.frame.box)
                                                        : HessianProduct{});
  Descent d = m.begin(c.frame);
  m.step(d, most_steps);
  return d;
}

class Methods : public ::testing::TestWithParam<Method> {};

TEST_P(Methods, FindTheIcosahedronOfThirteenAtoms) {
  const Descent d =
      minimum(cluster(icosahedron(), 0.05), all_pairs,
              {.method = GetParam(), .force_tolerance = 1e-4, .first_move_nm = 0.02}, 2000);
  EXPECT_EQ(d.status, Descent::Status::converged) << d.largest_force << " after " << d.frame.step;
  EXPECT_NEAR(d.forces.potential(), lowest_13, 1e-6);
}

TEST_P(Methods, FindTheTruncatedOctahedronOfThirtyEightAtoms) {
  const Descent d =
      minimum(cluster(truncated_octahedron(), 0.03), all_pairs,
              {.method = GetParam(), .force_tolerance = 1e-3, .first_move_nm = 0.02}, 2000);
  EXPECT_EQ(d.status, Descent::Status::converged) << d.largest_force << " after " << d.frame.step;
  EXPECT_NEAR(d.forces.potential(), lowest_38, 1e-5);
}

/// No step is short enough for forces of ranks of which one is not there.
TEST_P(Methods, ARankThatIsLostIsNoStepThatIsTooLong) {
  const Case c = cluster(icosahedron(), 0.05);
  const ForceFunction here = ForceEvaluator(c.system, all_pairs, {.precision = Precision::f64});
  int calls = 0;
  const Minimizer m(
      c.system,
      [&](const std::vector<Vec3>& x, const Box& box, Forces& out) {
        if (++calls > 1) throw parallel::WaitedInVain("rank 0 waited in vain for rank 1", {1});
        here(x, box, out);
      },
      {.method = GetParam()},
      GetParam() == Method::newton_cg ? hessian_product(c.system, all_pairs, c.frame.box)
                                      : HessianProduct{});
  Descent d = m.begin(c.frame);
  EXPECT_THROW(m.step(d, 5), parallel::WaitedInVain);
  EXPECT_EQ(calls, 2);
}

INSTANTIATE_TEST_SUITE_P(Minimize, Methods,
                         ::testing::Values(Method::steepest_descent, Method::lbfgs, Method::fire,
                                           Method::newton_cg));

TEST(Minimize, NewtonStepsConvergeQuadratically) {
  const Case c = cluster(icosahedron(), 0.05);
  const Minimizer m(c.system, ForceEvaluator(c.system, all_pairs, {.precision = Precision::f64}),
                    {.method = Method::newton_cg, .force_tolerance = 1e-7},
                    hessian_product(c.system, all_pairs, c.frame.box));
  Descent d = m.begin(c.frame);
  m.step(d, 60);
  EXPECT_EQ(d.status, Descent::Status::converged) << d.largest_force;
  EXPECT_LT(d.frame.step, 30);
  EXPECT_NEAR(d.forces.potential(), lowest_13, 1e-6);
}

TEST(Minimize, GoesOnWhereItWasLeft) {
  const Case c = cluster(icosahedron(), 0.05);
  for (const Method method :
       {Method::steepest_descent, Method::lbfgs, Method::fire, Method::newton_cg}) {
    const Minimizer m(c.system, ForceEvaluator(c.system, all_pairs, {.precision = Precision::f64}),
                      {.method = method, .force_tolerance = 1e-9},
                      hessian_product(c.system, all_pairs, c.frame.box));
    Descent once = m.begin(c.frame), twice = once;
    m.step(once, 9);
    m.step(twice, 4);
    Descent resumed = twice;
    m.step(resumed, 5);
    EXPECT_EQ(once.frame.x_nm, resumed.frame.x_nm);
    EXPECT_EQ(once.memory, resumed.memory);
  }
}

/// Alanine dipeptide in vacuum: all ways lead to one minimum, and its bonds stay rigid where they
/// are.
TEST(Minimize, AlanineDipeptide) {
  const std::filesystem::path folder = tessera::testing::test_data() / "md/amber";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
  Case c{read_amber_topology(data::read_text_file(folder / "ala2_vac.prmtop")).system, {}};
  c.frame = read_amber_restart(data::read_text_file(folder / "ala2_vac.rst7"), c.system.n_atoms());
  c.frame.box = Box{};
  const Nonbonded vacuum = {.coulomb = Nonbonded::Coulomb::cutoff,
                            .coulomb_modifier = Nonbonded::Modifier::none,
                            .lj_modifier = Nonbonded::Modifier::none,
                            .cutoff_coulomb_nm = 1e3,
                            .cutoff_lj_nm = 1e3};
  const Descent by_lbfgs =
                    minimum(c, vacuum, {.method = Method::lbfgs, .force_tolerance = 1e-3}, 3000),
                by_newton =
                    minimum(c, vacuum, {.method = Method::newton_cg, .force_tolerance = 1e-6}, 200);
  EXPECT_EQ(by_lbfgs.status, Descent::Status::converged) << by_lbfgs.largest_force;
  EXPECT_EQ(by_newton.status, Descent::Status::converged) << by_newton.largest_force;
  EXPECT_NEAR(by_lbfgs.forces.potential(), by_newton.forces.potential(), 1e-6);

  Case rigid{constrained(c.system, Rigid::h_bonds), c.frame};
  const Descent d =
      minimum(rigid, vacuum, {.method = Method::lbfgs, .force_tolerance = 0.01}, 3000);
  EXPECT_EQ(d.status, Descent::Status::converged) << d.largest_force;
  EXPECT_LT(Constraints(rigid.system).largest_error(d.frame.x_nm, d.frame.box), 1e-10);
  EXPECT_GT(d.forces.potential(),
            by_newton.forces.potential() -
                40);  // bonded terms of rigid bonds are gone, no more than them
}

TEST(Minimize, SaysWhatItCannotDo) {
  const Case c = cluster(icosahedron(), 0);
  const ForceEvaluator f(c.system, all_pairs, {.precision = Precision::f64});
  EXPECT_THROW(Minimizer(c.system, f, {.method = Method::newton_cg}), Error);
  EXPECT_THROW(Minimizer(c.system, f, {.force_tolerance = 0}), Error);
  EXPECT_THROW(Minimizer(c.system, f, {.memory = 0}), Error);
  EXPECT_THROW(Minimizer(c.system, f, {}).begin({.x_nm = {{0, 0, 0}}}), Error);
}

/// With the centre held and one corner kept in a plane every method finds the same minimum: it is
/// the whole that may not turn.
TEST(Minimize, FrozenDirectionsStay) {
  const Case c = cluster(icosahedron(), 0.05);
  std::vector<std::array<bool, 3>> frozen(13);
  frozen[0] = {true, true, true};
  frozen[4] = {false, true, false};
  for (const Method method :
       {Method::steepest_descent, Method::lbfgs, Method::fire, Method::newton_cg}) {
    const Descent d =
        minimum(c, all_pairs, {.method = method, .force_tolerance = 1e-3, .frozen = frozen}, 20000);
    EXPECT_EQ(d.status, Descent::Status::converged);
    EXPECT_EQ(d.frame.x_nm[0], c.frame.x_nm[0]);
    EXPECT_EQ(d.frame.x_nm[4][1], c.frame.x_nm[4][1]);
    EXPECT_NE(d.frame.x_nm[4][0], c.frame.x_nm[4][0]);
    EXPECT_NEAR(d.forces.potential(), lowest_13, 1e-5);  // |f|^2/2k, k above 50
  }
  frozen.resize(5);
  EXPECT_THROW(minimum(c, all_pairs, {.frozen = frozen}, 1), Error);
}

/// Newton's third law: forces of a cluster add up to zero, that on a frozen atom among them. What
/// is frozen is missing from those that lead down alone.
TEST(Minimize, ForcesOfFrozenAtomsAreToldToo) {
  const Case c = cluster(icosahedron(), 0.05);
  std::vector<std::array<bool, 3>> frozen(13);
  frozen[4] = {true, true, true};
  const Descent d = minimum(c, all_pairs, {.frozen = frozen}, 0);
  EXPECT_GT(std::abs(d.forces.f[4][0]), 1);
  EXPECT_EQ(d.projected[4], (Vec3{}));
  EXPECT_EQ(d.projected[3], d.forces.f[3]);
  for (std::size_t a = 0; a < 3; ++a) {
    double sum = 0;
    for (const Vec3& f : d.forces.f) sum += f[a];
    EXPECT_NEAR(sum, 0, 1e-6);  // rounded to 2^-32 each
  }
}

/// Forces of a minimization are those of dynamics in the same frame, of frozen atoms and along
/// rigid bonds; and it goes on from a checkpoint by the same steps.
TEST(Minimize, ForcesOfAStageAreThoseOfDynamics) {
  Case moved = testing::argon(3);
  moved.frame.x_nm[0][0] += 0.03;
  for (const bool rigid : {false, true}) {
    const Case c = rigid ? testing::rigid_waters() : moved;
    Stage s;
    s.type = StageType::minimize;
    s.n_steps = 6;
    s.nonbonded = rigid ? testing::rigid_water_forces : testing::argon_forces;
    s.force_options.precision = Precision::f64;
    s.minimization.force_tolerance = 1e-3;
    if (!rigid) s.frozen.all = "index 0";
    const StageStart at = stage_start(s, c.system, c.frame, c.frame);
    const auto down = begin_stage(s, at, c.frame);
    Stage still = s;
    still.type = StageType::dynamics;
    still.n_steps = 0;
    const StageStart there = stage_start(still, c.system, c.frame, c.frame);
    const auto look = begin_stage(still, there, c.frame);
    EXPECT_TRUE(rigid || std::abs(look->forces().f[0][0]) > 1);
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t a = 0; a < 3; ++a)  // constraints move waters by 1e-11 nm
        EXPECT_NEAR(down->forces().f[i][a], look->forces().f[i][a], 1e-4) << rigid << i;
    down->advance(3);
    data::Checkpoint kept;
    down->save(kept);
    const auto resumed = begin_stage(s, at, c.frame, false);
    resumed->restore(kept);
    down->advance(6);
    resumed->advance(6);
    EXPECT_EQ(resumed->frame().x_nm, down->frame().x_nm);
  }
}

}  // namespace
}  // namespace tessera::molecular
