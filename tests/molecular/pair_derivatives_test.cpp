// SPDX-License-Identifier: Apache-2.0
#include "molecular/src/nonbonded/pair_derivatives.h"

#include "molecular/src/nonbonded/kernels/pair_derivative_kernels.h"
#include "molecular_cases.h"
#include "tensor_measures.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/grad.h"
#include "tessera/molecular/parameters.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <tuple>

namespace tessera::molecular {
namespace {

using tessera::testing::largest;
using testing::Case;
using Coulomb = Nonbonded::Coulomb;
using Modifier = Nonbonded::Modifier;

/// 240 charged atoms of three types, one of them without Lennard-Jones, on a shaken grid: several
/// clusters a column. Some pairs are excluded.
Case crowd(bool slanted) {
  Case c;
  c.system.residues = {{"MIX", "1", "", ""}};
  c.system.lj = mixed(LennardJones::Mixing::lorentz_berthelot, {0.25, 0.0, 0.2}, {0.6, 0.0, 0.3});
  c.frame.box =
      slanted ? box_of_angles({1.9, 2.1, 2.0}, {75, 80, 70}) : rectangular_box({1.9, 2.1, 2.0});
  std::mt19937 random(5);
  std::uniform_real_distribution<double> any(-0.02, 0.02);
  for (std::int32_t i = 0; i < 240; ++i) {
    testing::add_atom(c.system, "X", 6, 12, 0.4 * std::sin(i + 1.0), i % 3);
    c.frame.x_nm.push_back(
        from_fractions(c.frame.box, {i % 6 / 6.0 + any(random), i / 6 % 8 / 8.0 + any(random),
                                     i / 48 / 5.0 + any(random) + 3}));
    if (i % 4 == 3) c.system.exclusions.push_back({i - 3, i});
    if (i % 4 == 3) c.system.exclusions.push_back({i - 1, i});
  }
  std::ranges::sort(c.system.exclusions);
  return c;
}
struct DerivativesChoice {
  const char* name;
  bool slanted;
  Nonbonded options;
};
const std::vector<DerivativesChoice> choices = {
    {"ewald",
     true,
     {.coulomb = Coulomb::ewald,
      .lj_modifier = Modifier::force_switch,
      .cutoff_coulomb_nm = 0.7,
      .cutoff_lj_nm = 0.7,
      .lj_switch_nm = 0.4}},
    {"two_cutoffs",
     false,
     {.coulomb = Coulomb::ewald,
      .lj_modifier = Modifier::potential_switch,
      .cutoff_coulomb_nm = 0.8,
      .cutoff_lj_nm = 0.6,
      .lj_switch_nm = 0.4}},
    {"field",
     true,
     {.coulomb = Coulomb::reaction_field,
      .lj_modifier = Modifier::potential_shift,
      .cutoff_coulomb_nm = 0.6,
      .cutoff_lj_nm = 0.8,
      .epsilon_rf = 78,
      .reaction_field_of_excluded = false}},
    {"linear",
     false,
     {.coulomb = Coulomb::cutoff,
      .coulomb_modifier = Modifier::linear_force_shift,
      .lj_modifier = Modifier::linear_force_shift,
      .cutoff_coulomb_nm = 0.7,
      .cutoff_lj_nm = 0.7}},
    {"neutral",
     false,
     {.coulomb = Coulomb::none, .lj_modifier = Modifier::none, .cutoff_lj_nm = 0.8}}};

struct Arrays {
  std::vector<std::vector<double>> of;
  std::vector<const double*> in() const {
    std::vector<const double*> p;
    for (const auto& a : of) p.push_back(a.data());
    return p;
  }
  std::vector<double*> out() {
    std::vector<double*> p;
    for (auto& a : of) p.push_back(a.data());
    return p;
  }
};
Arrays arrays(const std::vector<Tensor>& t) {
  Arrays a;
  for (const Tensor& x : t) a.of.push_back(x.to_vector<double>());
  return a;
}

class PairDerivativesOf : public ::testing::TestWithParam<DerivativesChoice> {};
INSTANTIATE_TEST_SUITE_P(Options, PairDerivativesOf, ::testing::ValuesIn(choices),
                         [](const auto& c) { return std::string(c.param.name); });

TEST_P(PairDerivativesOf, EveryInstructionSetAgreesWithEngineOperations) {
  const Case c = crowd(GetParam().slanted);
  const Nonbonded& o = GetParam().options;
  const EnergyPtr u = nonbonded_energy(c.system, o);
  std::vector<Tensor> p = {positions_of(c.frame.x_nm), edges_of(c.frame.box),
                           tensor(c.system.atoms.charge_e), c6_of(c.system), c12_of(c.system)},
                      v;
  p[3] = p[3] + 1e-4 * tensor({0.0, 1.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0},
                              {3, 3});  // not symmetric; the second type feels the first
  for (std::size_t k = 0; k < p.size(); ++k)
    v.push_back((k == 0 ? 0.01 : 0.1 * largest(p[k])) *
                reshape(sin(arange(p[k].size(), Dtype::f64) + 1.0), p[k].shape()));
  const auto oracle = [&](const std::vector<Tensor>& q) { return u->generic(q); };
  const double value = oracle(p).item<double>();
  const Arrays g0 = arrays(grad(oracle)(p)), w0 = arrays(hvp(oracle, p, v)), at = arrays(p),
               along = arrays(v);
  const std::vector<Tensor> v_x = {v[0], zeros({3, 3}), zeros({240}), zeros({3, 3}), zeros({3, 3})};
  const Arrays w0_x = arrays({hvp(oracle, p, v_x)[0]});

  for (const auto& [precision, of_first, of_second] :
       {std::tuple{Precision::f64, 1e-12, 2e-12}, {Precision::mixed, 5e-6, 5e-6}})
    for (std::size_t level = 1; level <= pairs::derivative_kernels().size(); ++level) {
      SCOPED_TRACE((precision == Precision::f64 ? "f64, level " : "mixed, level ") +
                   std::to_string(level));
      const auto made = [&, precision = precision] {
        return PairDerivatives(c.system, o, Wells::all, precision, static_cast<Simd>(level));
      };
      const PairDerivatives derivatives = made();
      const auto expect = [&](const Arrays& got, const Arrays& expected, double tolerance,
                              const char* what) {
        for (std::size_t k = 0; k < got.of.size(); ++k) {
          double most = 0, wrong = 0;
          for (std::size_t e = 0; e < got.of[k].size(); ++e) {
            most = std::max(most, std::abs(expected.of[k][e]));
            wrong = std::max(wrong, std::abs(got.of[k][e] - expected.of[k][e]));
          }
          EXPECT_LE(wrong, tolerance * most) << what << " of operand " << k;
        }
      };
      Arrays g = arrays({0.0 * p[0], 0.0 * p[1], 0.0 * p[2], 0.0 * p[3], 0.0 * p[4]}), w = g;
      EXPECT_NEAR(derivatives.value(at.in()), value, of_first * std::abs(value));
      derivatives.gradient(at.in(), g.out());
      expect(g, g0, of_first, "gradient");
      derivatives.hessian_product(at.in(), along.in(), w.out());
      expect(w, w0, of_second, "Hessian product");
      // Positions alone: another kernel.
      const std::vector<const double*> dx = {along.of[0].data(), nullptr, nullptr, nullptr,
                                             nullptr};
      Arrays wx = arrays({0.0 * p[0]});
      const std::vector<double*> to = {wx.of[0].data(), nullptr, nullptr, nullptr, nullptr};
      derivatives.hessian_product(at.in(), dx, to);
      expect(wx, w0_x, of_second, "Hessian product");
      // The same bits on any number of threads, and from a list made again.
      const int threads = num_threads();
      for (const int other : {1, 2, 3}) {
        Arrays again = arrays({0.0 * p[0], 0.0 * p[1], 0.0 * p[2], 0.0 * p[3], 0.0 * p[4]}),
               twice = again;
        set_num_threads(other);
        const PairDerivatives anew = made();
        anew.gradient(at.in(), again.out());
        anew.hessian_product(at.in(), along.in(), twice.out());
        EXPECT_EQ(again.of, g.of) << other << " threads";
        EXPECT_EQ(twice.of, w.of) << other << " threads";
      }
      set_num_threads(threads);
    }
}

/// Directions of any length: w is whole numbers in float kernels, whose unit follows the direction.
TEST(PairDerivatives, MixedProductsScaleWithTheDirection) {
  const Case c = crowd(true);
  const PairDerivatives derivatives(c.system, choices[0].options, Wells::all, Precision::mixed);
  const Arrays at = arrays({positions_of(c.frame.x_nm), edges_of(c.frame.box),
                            tensor(c.system.atoms.charge_e), c6_of(c.system), c12_of(c.system)});
  const auto product = [&](const std::vector<double>& v) {
    std::vector<double> w(720, 0);
    derivatives.hessian_product(
        at.in(), std::vector<const double*>{v.data(), nullptr, nullptr, nullptr, nullptr},
        std::vector<double*>{w.data(), nullptr, nullptr, nullptr, nullptr});
    return w;
  };
  std::vector<double> v(720), tiny(720), far(720);
  for (std::size_t k = 0; k < 720; ++k) {
    v[k] = std::sin(static_cast<double>(k));
    tiny[k] = std::ldexp(v[k], -60);
    far[k] = v[k] + 1e3;  // and all atoms moved together
  }
  const std::vector<double> w = product(v), w_tiny = product(tiny), w_far = product(far),
                            none = product(std::vector<double>(720, 7.0));
  double most = 0, wrong = 0;
  for (std::size_t k = 0; k < 720; ++k) {
    EXPECT_EQ(std::ldexp(w_tiny[k], 60), w[k]);
    EXPECT_EQ(none[k], 0);
    most = std::max(most, std::abs(w[k]));
    wrong = std::max(wrong, std::abs(w_far[k] - w[k]));
  }
  EXPECT_LE(wrong, 1e-6 * most);
  v[5] = std::numeric_limits<double>::infinity();
  EXPECT_THROW(product(v), Error);
}

TEST(PairDerivatives, ExistingWellsAreThoseOfAll) {
  const Case c = crowd(true);
  const std::vector<Tensor> p = {positions_of(c.frame.x_nm), edges_of(c.frame.box),
                                 tensor(c.system.atoms.charge_e), c6_of(c.system),
                                 c12_of(c.system)};
  const Arrays at = arrays(p);
  std::vector<Tensor> v;
  for (const Tensor& t : p)
    v.push_back(0.01 * reshape(cos(arange(t.size(), Dtype::f64)), t.shape()));
  const Tensor interact =
      tensor({1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0}, {3, 3});  // the second type has no well
  v[3] = v[3] * interact;
  v[4] = v[4] * interact;
  const Arrays along = arrays(v);
  for (const DerivativesChoice& choice : choices) {
    const PairDerivatives all(c.system, choice.options),
        existing(c.system, choice.options, Wells::existing);
    Arrays zero = arrays({0.0 * p[0], 0.0 * p[1], 0.0 * p[2], 0.0 * p[3], 0.0 * p[4]}), g0 = zero,
           g = zero, w0 = zero, w = zero;
    all.gradient(at.in(), g0.out());
    existing.gradient(at.in(), g.out());
    all.hessian_product(at.in(), along.in(), w0.out());
    existing.hessian_product(at.in(), along.in(), w.out());
    for (std::size_t k = 0; k < 5; ++k) {
      const Tensor mask = k > 2 ? interact : Tensor(1.0), shape = p[k];
      const auto apart = [&](const Arrays& a, const Arrays& b) {
        const Tensor expected = mask * tensor(b.of[k], shape.shape());
        return largest(tensor(a.of[k], shape.shape()) - expected) /
               std::max(largest(expected), 1e-300);
      };
      EXPECT_LE(apart(g, g0), 1e-13) << choice.name << ", operand " << k;
      EXPECT_LE(apart(w, w0), 1e-13) << choice.name << ", operand " << k;
    }
  }
}

TEST(PairDerivatives, ListsFollowPositionsAndTables) {
  const Case c = crowd(true);
  const Nonbonded& o = choices[0].options;
  const PairDerivatives kept(c.system, o);
  const std::vector<Tensor> p = {positions_of(c.frame.x_nm), edges_of(c.frame.box),
                                 tensor(c.system.atoms.charge_e), c6_of(c.system),
                                 c12_of(c.system)};
  kept.value(arrays(p).in());
  for (const std::size_t changed :
       {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{0}}) {
    std::vector<Tensor> q = p;
    q[changed] = changed == 3 ? q[3] + 0.001 : q[changed] * 1.01;
    const Arrays a = arrays(q);
    EXPECT_EQ(kept.value(a.in()), PairDerivatives(c.system, o).value(a.in())) << changed;
    EXPECT_NE(kept.value(a.in()), kept.value(arrays(p).in())) << changed;
  }
}

}  // namespace
}  // namespace tessera::molecular
