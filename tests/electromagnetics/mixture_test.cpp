// SPDX-License-Identifier: Apache-2.0
//
// Design edges of lossy and dispersive media: values against rows of the same mixture, the
// transpose by the adjoint identity, derivatives by differences, in time and in frequency.
#include "tessera/autodiff/check.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/design.h"
#include "tessera/electromagnetics/response.h"
#include "tessera/electromagnetics/time_domain.h"
#include "yee_everything.h"

#include <gtest/gtest.h>

namespace tessera::electromagnetics {
namespace {

constexpr std::array<int, 3> low{5, 4, 3}, high{8, 6, 5};
constexpr int n_cells = 3 * 2 * 2;

Medium metal() {
  Medium m{
      .name = "metal", .eps = {1.5, 2, 2.5}, .sigma = {0.4, 0.2, 0.3}, .poles = drude(30e9, 4e9)};
  for (const PoleResidue& p : lorentz(25e9, 3e9, 0.8)) m.poles.push_back(p);
  return m;
}
Medium resin() { return {.name = "resin", .eps = {2.2, 2.2, 2.2}, .poles = debye(20e9, 0.4)}; }
Medium host() { return {.name = "plasma", .poles = drude(15e9, 0)}; }

/// The cells of the region between resin (0) and metal (1) in a plasma.
struct Case {
  YeeModel model;
  DesignRegion region;
  DesignMixture mixture;
  explicit Case(std::array<Faces, 3> faces, double bloch_phase = 0, Dtype dtype = Dtype::f64) {
    model.grid = uniform_grid({13e-3, 11e-3, 10e-3}, 1e-3);
    model.faces = faces;
    model.pml = {.cells = 3, .order = 3, .kappa_max = 3, .alpha_factor = 0.15};
    model.dt_s = 0.9 * stable_time_step(model.grid);
    model.dtype = dtype;
    model.bloch_phase = {0, bloch_phase, 0};
    model.injected = {{Ez, 4, 5, 4}, {Hx, 8, 3, 5}};
    model.recorded = {{Ez, 7, 7, 6}, {Hy, 5, 3, 3}, {Ex, 6, 5, 4}, {Ey, 6, 4, 4}};
    region = design_region(model.grid, faces, low, high);
    mixture = design_mixture(region, resin(), metal(), host(), model.dt_s);
    model.mixed = mixture.edges;
  }
};
YeeOpPtr compiled(Case& c) { return yee_op(c.model); }
Tensor densities(unsigned seed) {
  std::vector<double> p = noise(n_cells, seed);
  for (double& x : p) x = 1 / (1 + std::exp(-x));
  return tensor(p);
}
Tensor currents_of(const YeeOpPtr& op, Index steps, unsigned seed) {
  return noise_like(
      op->scheme.parts() == 1 ? tessera::Shape{steps, 2} : tessera::Shape{2, steps, 2}, seed);
}

class MixtureTest : public ::testing::Test {
 protected:
  void SetUp() override { set_num_threads(1); }
  void TearDown() override { set_num_threads(before_); }

 private:
  int before_ = num_threads();
};

TEST_F(MixtureTest, AgreesWithRowsOfTheSameMixture) {
  // The medium of an edge from the densities of the cells around it, by hand: the mean of up to
  // four.
  Case c({pml, pec, joined});
  const std::vector<double> p = densities(3).to_vector();
  const double dt = c.model.dt_s;
  YeeModel plain = c.model;
  plain.mixed = {};
  plain.material = [&](int component, int j, int k, MaterialRow& row) {
    if (!is_electric(component)) return;
    for (int i = 0; i < 13; ++i) {
      double of_metal = 0, of_resin = 0, of_plasma = 0;
      for (const int a : {0, 1})
        for (const int b : {0, 1}) {
          int cell[3] = {i, j, k};
          cell[(component + 1) % 3] -= a;
          cell[(component + 2) % 3] -= b;
          bool within = true;
          for (int d = 0; d < 3; ++d) within = within && cell[d] >= low[d] && cell[d] < high[d];
          const double x =
              within ? p[static_cast<std::size_t>(((cell[2] - low[2]) * 2 + cell[1] - low[1]) * 3 +
                                                  cell[0] - low[0])]
                     : 0;
          of_metal += within ? x / 4 : 0, of_resin += within ? (1 - x) / 4 : 0,
              of_plasma += within ? 0 : 0.25;
        }
      if (of_plasma == 1) continue;
      const auto at = static_cast<std::size_t>(i), axis = static_cast<std::size_t>(component);
      row.inverse[at] = 1 / (of_metal * metal().eps[axis] + of_resin * 2.2 + of_plasma);
      row.loss[at] = of_metal * metal().sigma[axis] * dt / (2 * vacuum_permittivity);
      for (const auto& [medium, weight] :
           {std::pair(metal(), of_metal), std::pair(resin(), of_resin),
            std::pair(host(), of_plasma)}) {
        DispersiveRun run{.first = i, .weight = {weight}};
        for (const PoleResidue& q : medium.poles) {
          const PoleUpdate u = pole_update(q, dt);
          run.alpha.push_back(u.alpha), run.beta.push_back(u.beta), run.shear.push_back(u.shear);
        }
        row.dispersive.push_back(run);
      }
    }
  };
  const YeeOpPtr op = compiled(c), by_rows = yee_op(plain);
  const Tensor w = currents_of(op, 300, 5),
               got = simulate(op, mixture_parameters(c.region, c.mixture, densities(3)), w),
               want = simulate(by_rows, coefficients(by_rows), w);
  EXPECT_LT(std::sqrt(inner(got - want, got - want) / inner(want, want)), 1e-12);
  // That the metal is seen at all.
  const Tensor other = simulate(op, mixture_parameters(c.region, c.mixture, densities(4)), w);
  EXPECT_GT(std::sqrt(inner(other - want, other - want) / inner(want, want)), 1e-3);
}

TEST_F(MixtureTest, TransposeIsTheAdjointAlongWholeRuns) {
  for (const double phase : {0.0, 1.3}) {
    Case c({pml, joined, pec}, phase);
    const YeeOpPtr op = compiled(c);
    const Tensor theta = mixture_parameters(c.region, c.mixture, densities(1));
    for (const Index steps : {Index{1}, Index{1000}}) {
      if (steps > 1 && phase != 0) continue;
      const Tensor x = tensor(unknowns(op->scheme, 1)), w = currents_of(op, steps, 2);
      const auto [y, pull] = vjp(
          [&](Tensor state, Tensor currents) {
            const YeeResult r = advance(op, state, theta, currents);
            return std::tuple(r.state, r.records, r.traces);
          },
          x, w);
      const auto& [state, records, traces] = y;
      const Tensor ls = tensor(unknowns(op->scheme, 3)), lr = noise_like(records.shape(), 4),
                   lu = noise_like(traces.shape(), 5);
      const auto [lx, lw] = pull(std::tuple(ls, lr, lu));
      const double left = inner(state, ls) + inner(records, lr) + inner(traces, lu),
                   right = inner(x, lx) + inner(w, lw);
      const double scale =
          std::sqrt((inner(state, state) + inner(records, records) + inner(traces, traces)) *
                    (inner(ls, ls) + inner(lr, lr) + inner(lu, lu)));
      EXPECT_LE(std::abs(left - right), (steps == 1 ? 1e-12 : 1e-10) * scale) << steps;
      EXPECT_GT(std::abs(left), 1e-7 * scale);
    }
  }
}

TEST_F(MixtureTest, DerivativesAgreeWithDifferences) {
  for (const double phase : {0.0, 1.3}) {
    Case c({pml, joined, pec}, phase);
    const YeeOpPtr op = compiled(c);
    const Tensor x = tensor(unknowns(op->scheme, 6)), w = currents_of(op, 6, 7),
                 weights = noise_like({2, op->scheme.state_size()}, 8);
    const auto f = [&](Tensor state, Tensor density, Tensor currents) {
      const YeeResult r =
          advance(op, state, mixture_parameters(c.region, c.mixture, density), currents);
      return std::tuple(matmul(weights, r.state), r.records, r.traces);
    };
    const auto args = std::tuple(x, densities(2), w);
    for (const CheckReport& r : {gradcheck(f, args, {.order = 2, .directions = 1}),
                                 transpose_check(f, args, {.order = 2, .directions = 1})})
      EXPECT_TRUE(r) << to_string(r);
  }
}

TEST_F(MixtureTest, WholeRunsDifferentiateToSecondOrder) {
  Case c({pml, pmc, pml});
  const YeeOpPtr op = compiled(c);
  std::vector<double> pulse;
  for (int n = 0; n < 90; ++n)
    for (int m = 0; m < 2; ++m) pulse.push_back(std::exp(-std::pow((n - 14.0 - 2 * m) / 5, 2)));
  const Tensor w = tensor(pulse, {90, 2}), p = densities(5), v = noise_like({n_cells}, 9),
               u = noise_like({n_cells}, 10);
  const auto value = [&](Tensor density) {
    return sum(
        square(simulate(op, mixture_parameters(c.region, c.mixture, density), w, {.block = 8})));
  };
  const auto derivative = [&](Tensor q) { return jvp(value, q, v).second; };
  const double h = 1e-3, s = inner(grad(value)(p), v), hessian_product = inner(hvp(value, p, v), u);
  const auto difference = [&](auto f) {
    return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h);
  };
  EXPECT_NEAR(difference([&](double t) { return value(p + t * v).item(); }), s, 1e-8 * std::abs(s));
  EXPECT_NEAR(derivative(p).item(), s, 1e-11 * std::abs(s));
  EXPECT_NEAR(difference([&](double t) { return derivative(p + t * u).item(); }), hessian_product,
              1e-7 * std::abs(hessian_product));
  EXPECT_NEAR(inner(grad(derivative)(p), u), hessian_product, 1e-11 * std::abs(hessian_product));
}

TEST_F(MixtureTest, SpectraDifferentiateToo) {
  Case c({pml, pml, pml});
  c.mixture = design_mixture(c.region, resin(), metal(), Medium{}, c.model.dt_s);
  c.model.mixed = c.mixture.edges;
  const YeeOpPtr op = compiled(c);
  const ResponsePtr r =
      response(op, {.frequencies_hz = {14e9, 22e9}, .n_steps = 1500, .pulse_steps = 320});
  const Tensor w = current_spectra(r, tensor({1.0, -0.7}), gaussian_pulse(18e9, 30e9)),
               p = densities(6), v = noise_like({n_cells}, 11);
  const auto value = [&](Tensor density) {
    const Tensor x = spectra(r, mixture_parameters(c.region, c.mixture, density), w) * 1e12;
    return sum(log(1.0 + real(x * conj(x))));
  };
  const double h = 1e-3, s = inner(grad(value)(p), v);
  const auto f = [&](double t) { return value(p + t * v).item(); };
  // The fields that are left after the last step limit both sides.
  EXPECT_NEAR((8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h), s, 1e-6 * std::abs(s));
  EXPECT_NEAR(jvp(value, p, v).second.item(), s, 1e-6 * std::abs(s));
}

TEST_F(MixtureTest, RefusesWhatIsNoMixture) {
  Case c({pml, pml, pml});
  Medium other = metal();
  other.chi3 = 1;
  EXPECT_THROW(design_mixture(c.region, resin(), other, host(), 1e-12), Error);
  other = metal();
  other.mu = {2, 2, 2};
  EXPECT_THROW(design_mixture(c.region, resin(), other, host(), 1e-12), Error);
  EXPECT_THROW(mixture_parameters(c.region, c.mixture, zeros({3})), Error);
  c.model.traced = {{Ez, 2, 2, 2}};
  EXPECT_THROW(yee_op(c.model), Error);
  c.model.traced.clear();
  const YeeOpPtr op = compiled(c);
  EXPECT_THROW(coefficients(op), Error);
  std::vector<double> state(static_cast<std::size_t>(op->scheme.state_size()));
  EXPECT_THROW(op->scheme.advance(state.data(), 1, nullptr, nullptr, nullptr, nullptr), Error);
}

}  // namespace
}  // namespace tessera::electromagnetics
