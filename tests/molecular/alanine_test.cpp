// SPDX-License-Identifier: Apache-2.0
//
// Alanine dipeptide (AMBER ff96, 22 atoms), entry by entry: every derivative by the kernels against
// the same energy in engine operations and against differences, both relative to the largest entry
// of the array.
#include "energy_operands.h"
#include "molecular_cases.h"
#include "tensor_measures.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"
#include "tessera/molecular/parameters.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

namespace tessera::molecular {
namespace {

namespace fs = std::filesystem;
using tessera::testing::largest;
using testing::Operands;
using Way = PotentialEnergy::Way;
using Tensors = std::vector<Tensor>;

double apart(const Tensor& got, const Tensor& expected) {
  return largest(got - expected) / largest(expected);
}
std::string digits(double x) { return fmt::format("{:.1e}", x); }

const char* name_of_leaf(std::size_t k) {
  return k == 0 ? "x" : k == 1 ? "h" : parameter_names()[k - 2];
}

struct Alanine {
  System system;
  Frame frame;
  Operands at() const {
    return {positions_of(frame.x_nm), edges_of(frame.box), parameters(system)};
  }
};
bool load(Alanine& a) {
  const fs::path folder = tessera::testing::test_data() / "md/amber";
  if (!fs::exists(folder / "ala2_vac.prmtop")) return false;
  a.system = read_amber_topology(data::read_text_file(folder / "ala2_vac.prmtop")).system;
  a.system.lj = by_rule(a.system.lj, LennardJones::Mixing::lorentz_berthelot);
  a.frame = read_amber_restart(data::read_text_file(folder / "ala2_vac.rst7"), a.system.n_atoms());
  return true;
}
const Nonbonded vacuum = {.coulomb = Nonbonded::Coulomb::cutoff,
                          .coulomb_modifier = Nonbonded::Modifier::none,
                          .lj_modifier = Nonbonded::Modifier::none,
                          .cutoff_coulomb_nm = 50,
                          .cutoff_lj_nm = 50};
/// In a slanted box, across its faces, with a smooth cut-off that cuts through the molecule.
/// Splines of order 8: differences of positions cross the kinks of low orders.
bool load_periodic(Alanine& a) {
  if (!load(a)) return false;
  a.frame.box = box_of_angles({1.9, 2.1, 2.0}, {75, 80, 70});
  Vec3 centre{};
  for (const Vec3& p : a.frame.x_nm)
    for (std::size_t c = 0; c < 3; ++c)
      centre[c] += p[c] / static_cast<double>(a.frame.x_nm.size());
  for (Vec3& p : a.frame.x_nm) {
    Vec3 s = fractions(a.frame.box, {p[0] - centre[0], p[1] - centre[1], p[2] - centre[2]});
    for (double& c : s) c -= std::floor(c);
    p = from_fractions(a.frame.box, s);
  }
  std::mt19937 random(2);
  for (Vec3& p :
       a.frame.x_nm)  // out of the plane of its impropers, where their gradients are nearly zero
    for (double& c : p) c += std::uniform_real_distribution(-0.01, 0.01)(random);
  return true;
}
const Nonbonded smooth_pme = {.coulomb = Nonbonded::Coulomb::pme,
                              .lj_modifier = Nonbonded::Modifier::force_switch,
                              .tail = Nonbonded::Tail::c6_c12,
                              .cutoff_coulomb_nm = 0.7,
                              .cutoff_lj_nm = 0.7,
                              .lj_switch_nm = 0.4,
                              .pme_order = 8,
                              .fourier_grid = {12, 15, 14}};

/// f'(0) by central differences at h, h/2, h/4, h/8, extrapolated.
template <class F>
auto difference_quotient(F&& f, double h) {
  std::vector<decltype(f(h))> d;
  for (int k = 0; k < 4; ++k) d.push_back((f(h) - f(-h)) * (1 / (2 * h))), h /= 2;
  for (double four = 4; d.size() > 1; four *= 4) {
    for (std::size_t k = 0; k + 1 < d.size(); ++k)
      d[k] = (four * d[k + 1] - d[k]) * (1 / (four - 1));
    d.pop_back();
  }
  return d[0];
}
Tensor unit(const Tensor& like, Index k) {
  return reshape(one_hot(Tensor(tensor<std::int64_t>({k})), like.size()), like.shape());
}
Tensors plus(const Tensors& a, double s, const Tensors& v) {
  Tensors out;
  for (std::size_t k = 0; k < a.size(); ++k) out.push_back(a[k] + s * v[k]);
  return out;
}
/// 1 where an energy is smooth: a box has no entries above its diagonal, and with a multiplicity
/// between whole numbers a dihedral jumps at 180 degrees, where those of this molecule are.
Tensor smooth_entries(std::size_t leaf) {
  if (leaf == 1) return tensor({1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0}, {3, 3});
  const std::string name = name_of_leaf(leaf);
  return name == "dihedrals" || name == "impropers" ? tensor({1.0, 1.0, 0.0}) : Tensor(1.0);
}
Tensors directions(const Tensors& like, unsigned seed) {
  std::mt19937 random(seed);
  Tensors out;
  for (std::size_t k = 0; k < like.size(); ++k) {
    std::vector<double> v(static_cast<std::size_t>(like[k].size()));
    const double reach = k < 2 ? 0.002 : 0.01 * largest(like[k]);
    for (double& a : v) a = std::uniform_real_distribution(-reach, reach)(random);
    out.push_back(tensor(v, like[k].shape()) * smooth_entries(k));
  }
  return out;
}

class AlanineDipeptide : public ::testing::Test {
 protected:
  Alanine a;
  void SetUp() override {
    if (!load_periodic(a)) GTEST_SKIP() << "no alanine dipeptide in the test data";
  }
};

TEST_F(AlanineDipeptide, HessianInVacuum) {
  ASSERT_TRUE(load(a));
  a.frame.box = {};
  const Operands o = a.at();
  const auto of = [&](Way way) {
    return [u = PotentialEnergy(a.system, vacuum, a.frame.box, way), o](const Tensor& x) {
      return u(x, o.h, o.p);
    };
  };
  const auto u = of(Way::kernels);
  const Tensor hess = reshape(hessian(u)(o.x), {66, 66});
  const double oracle = apart(hess, reshape(hessian(of(Way::engine))(o.x), {66, 66}));
  std::vector<Tensor> columns;
  for (Index k = 0; k < 66; ++k)
    columns.push_back(flatten(
        difference_quotient([&](double s) { return grad(u)(o.x + s * unit(o.x, k)); }, 4e-4)));
  const double differences = apart(transpose(hess), stack(columns));
  const double symmetry = apart(hess, transpose(hess));
  EXPECT_LT(oracle, 1e-11);
  EXPECT_LT(differences, 1e-7);
  EXPECT_LT(symmetry, 1e-13);
  // Moving all atoms together costs nothing.
  const Tensor along_x = flatten(broadcast_to(tensor({1.0, 0.0, 0.0}), {22, 3}));
  EXPECT_LT(largest(matmul(hess, along_x)) / largest(hess), 1e-13);
  RecordProperty("hessian_oracle", digits(oracle));
  RecordProperty("hessian_differences", digits(differences));
}

TEST_F(AlanineDipeptide, FirstDerivativesEntryByEntry) {
  const Operands o = a.at();
  const PotentialEnergy u(a.system, smooth_pme, a.frame.box),
      engine(a.system, smooth_pme, a.frame.box, Way::engine);
  const auto of = [&](const PotentialEnergy& e) {
    return [&e](const Operands& v) { return e(v.x, v.h, v.p); };
  };
  const Tensors p = flatten_tree(o), g = flatten_tree(grad(of(u))(o)),
                g0 = flatten_tree(grad(of(engine))(o));
  double by_oracle = 0, by_differences = 0;
  int entries = 0;
  for (std::size_t k = 0; k < p.size(); ++k) {
    if (largest(g0[k]) == 0) continue;
    std::vector<double> d;
    if (k == 1) continue;  // below
    for (Index e = 0; e < p[k].size(); ++e) {
      Tensors moved = p;
      const Tensor along = unit(p[k], e);
      const double own = std::abs(select(flatten(p[k]), 0, e).item<double>()),
                   step = k == 0 ? 5e-4 : 0.02 * (own > 0 ? own : largest(p[k]));
      d.push_back(difference_quotient(
          [&](double s) {
            moved[k] = p[k] + s * along;
            return of(u)(unflatten_tree(o, moved)).item<double>();
          },
          step));
      ++entries;
    }
    const Tensor expected = tensor(d, p[k].shape());
    EXPECT_LT(apart(g[k], g0[k]), 1e-11) << name_of_leaf(k);
    EXPECT_LT(apart(g[k], expected), 1e-9) << name_of_leaf(k);
    by_oracle = std::max(by_oracle, apart(g[k], g0[k]));
    by_differences = std::max(by_differences, apart(g[k], expected));
  }
  std::vector<double> d;
  for (Index e = 0; e < 9; ++e)
    d.push_back(difference_quotient(
        [&](double s) {
          return u(o.x, o.h + s * unit(o.h, e) * smooth_entries(1), o.p).item<double>();
        },
        5e-4));
  const double box = apart(g[1] * smooth_entries(1), tensor(d, {3, 3}));
  EXPECT_LT(apart(g[1], g0[1]), 1e-11);
  EXPECT_LT(box, 1e-9);
  RecordProperty("entries", entries);
  RecordProperty("first_oracle", digits(by_oracle));
  RecordProperty("first_differences", digits(by_differences));
  RecordProperty("box_differences", digits(box));
}

TEST_F(AlanineDipeptide, SecondDerivativesOfEveryArray) {
  const Operands o = a.at();
  const Tensors p = flatten_tree(o);
  const auto of = [&](Way way) {
    return [u = PotentialEnergy(a.system, smooth_pme, a.frame.box, way)](const Operands& v) {
      return u(v.x, v.h, v.p);
    };
  };
  const auto u = of(Way::kernels), engine = of(Way::engine);
  double by_oracle = 0, by_differences = 0;
  for (unsigned seed = 1; seed <= 3; ++seed) {
    const Tensors v = directions(p, seed);
    const Operands along = unflatten_tree(o, v);
    const Tensors w = flatten_tree(hvp(u, o, along)), w0 = flatten_tree(hvp(engine, o, along));
    const auto gradient = [&](double s) {
      return flatten_tree(grad(u)(unflatten_tree(o, plus(p, s, v))));
    };
    std::vector<Tensors> ladder;
    std::vector<double> steps = {0.04, 0.02, 0.01};
    for (const double s : steps) {
      const Tensors up = gradient(s), down = gradient(-s);
      Tensors d;
      for (std::size_t k = 0; k < p.size(); ++k) d.push_back((up[k] - down[k]) * (0.5 / s));
      ladder.push_back(d);
    }
    for (std::size_t k = 0; k < p.size(); ++k) {
      if (largest(w0[k]) == 0) continue;
      Tensors d;
      for (const Tensors& l : ladder) d.push_back(l[k]);
      for (double four = 4; d.size() > 1; four *= 4) {
        for (std::size_t i = 0; i + 1 < d.size(); ++i)
          d[i] = (four * d[i + 1] - d[i]) * (1 / (four - 1));
        d.pop_back();
      }
      const double oracle = apart(w[k], w0[k]),
                   differences = apart(w[k] * smooth_entries(k), d[0] * smooth_entries(k));
      EXPECT_LT(oracle, 1e-10) << name_of_leaf(k);
      EXPECT_LT(differences, 1e-7) << name_of_leaf(k);
      by_oracle = std::max(by_oracle, oracle);
      by_differences = std::max(by_differences, differences);
    }
  }
  RecordProperty("second_oracle", digits(by_oracle));
  RecordProperty("second_differences", digits(by_differences));
}

}  // namespace
}  // namespace tessera::molecular
