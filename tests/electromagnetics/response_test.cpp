// SPDX-License-Identifier: Apache-2.0
//
// Spectra without a history in time: values against a run with a pulse and a running transform,
// derivatives against differences.
#include "tessera/electromagnetics/response.h"

#include "tessera/autodiff/check.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/time_domain.h"
#include "yee_everything.h"

#include <gtest/gtest.h>

namespace tessera::electromagnetics {
namespace {

/// A dispersive slab, an absorbing one and a tensor in 14 x 12 x 12 mm of vacuum with absorbing
/// faces; design edges of all components.
YeeModel small_scene(Dtype dtype, double bloch_phase = 0) {
  YeeModel m;
  m.grid = uniform_grid({14e-3, 12e-3, 12e-3}, 1e-3);
  m.pml = {.cells = 4, .order = 3, .kappa_max = 3, .alpha_factor = 0.15};
  m.dt_s = 0.9 * stable_time_step(m.grid);
  m.dtype = dtype;
  const double dt = m.dt_s, damping = 3e11;  // Debye: chi = 1.5 damping / (i w + damping)
  m.material = [dt, damping](int c, int j, int, MaterialRow& row) {
    if (!is_electric(c)) return;
    if (j == 4)
      row.dispersive.push_back({.first = 4,
                                .weight = std::vector<double>(6, 1.0),
                                .alpha = {(1 - damping * dt / 2) / (1 + damping * dt / 2)},
                                .beta = {1.5 * damping * dt / 2 / (1 + damping * dt / 2)}});
    if (j == 7) std::fill(row.loss.begin() + 4, row.loss.begin() + 10, 0.05);
    if (j == 5 || j == 6) std::fill(row.inverse.begin() + 4, row.inverse.begin() + 10, 0.5);
  };
  m.tensors = {{6, 6, 6, 0.05, -0.04, 0.03}};
  m.injected = {{Ez, 5, 8, 5}, {Hx, 9, 5, 6}};
  if (bloch_phase != 0) {
    m.faces[0] = {Boundary::periodic, Boundary::periodic};
    m.bloch_phase = {bloch_phase, 0, 0};
  }
  m.recorded = {{Ez, 8, 5, 7}, {Hy, 5, 6, 5}, {Ex, 6, 8, 6}};
  for (const std::uint8_t c : {Ex, Ey, Ez})
    for (int i = 5; i < 8; ++i) m.traced.push_back({c, i, 6, 6});
  return m;
}
const std::vector<double> frequencies{14e9, 19e9, 25e9};

struct Scene3 {
  YeeOpPtr op;
  ResponsePtr response;
  Tensor currents, inverse_eps;
  explicit Scene3(Dtype dtype = Dtype::f64, ResponseOptions o = {}, double bloch_phase = 0)
      : op(yee_op(small_scene(dtype, bloch_phase))) {
    o.frequencies_hz = frequencies;
    if (o.n_steps == 0)
      o.n_steps = bloch_phase == 0 ? 900 : 2400,
      o.pulse_steps = 320;  // waves along the layers go slowly near their cut-off
    response = tessera::electromagnetics::response(op, o);
    currents = current_spectra(response, tensor({1.0, -0.7}), gaussian_pulse(19e9, 30e9));
    std::vector<double> q;
    for (std::size_t m = 0; m < op->design.size(); ++m)
      q.push_back(op->coefficient[m] / op->unit[m]);
    inverse_eps = tensor(q);
  }
  Tensor operator()(const Tensor& inverse, const Tensor& w) const {
    return spectra(response, coefficients(op, inverse), w);
  }
  /// Smooth, of order one, not quadratic.
  Tensor objective(const Tensor& inverse) const {
    const Tensor x = (*this)(inverse, currents) * 1e12;
    return sum(log(1.0 + real(x * conj(x)) * tensor({1.0, 0.5, 2.0})));
  }
};

class YeeResponseTest : public ::testing::Test {
 protected:
  void SetUp() override { set_num_threads(1); }
  void TearDown() override { set_num_threads(before_); }

 private:
  int before_ = num_threads();
};

TEST_F(YeeResponseTest, EqualsATransformedRunWithAPulse) {
  for (const double phase : {0.0, 2.7}) {
    const Scene3 s(Dtype::f64, {}, phase);
    const Waveform pulse = gaussian_pulse(19e9, 30e9);
    YeeModel model = small_scene(Dtype::f64, phase);
    const double dt = model.dt_s;
    const auto source = [&](const Edge& e, double moment) {
      const double offset = is_electric(e.component) ? 0.5 : 0;
      return Injection{{e},
                       [=](std::int64_t first, std::int64_t n, double* w) {
                         for (std::int64_t k = 0; k < n; ++k)
                           w[k] = moment * pulse.at((static_cast<double>(first + k) + offset) * dt);
                       },
                       pulse.end_s};
    };
    const std::vector<Edge> recorded = model.recorded;
    TimeDomain run(model, {source(model.injected[0], 1.0), source(model.injected[1], -0.7)},
                   recorded);
    RunningDft dft(frequencies, dt, recorded);
    run.advance(3000, [&](const Records& r) {
      dft.add(r);
    });  // unlike the mean-free signals a pulse leaves slow fields in the layers
    const std::vector<c128> got = s(s.inverse_eps, s.currents).to_vector<c128>();
    for (std::size_t k = 0; k < frequencies.size(); ++k)
      for (std::size_t m = 0; m < recorded.size(); ++m) {
        const c128 want = dft.at(k)[m];
        EXPECT_LE(std::abs(got[k * recorded.size() + m] - want), 3e-6 * std::abs(want))
            << frequencies[k] << " Hz, record " << m;
      }
  }
}

TEST_F(YeeResponseTest, MonitorsAreExpressionsOfTheSpectra) {
  const YeeModel m = small_scene(Dtype::f64);
  SampleList samples(m.grid, m.faces);
  for (const int c : {int{Ex}, int{Hz}, int{Ez}}) samples.add(c, {0.3e-3, -0.4e-3, 0.2e-3});
  const auto edges = static_cast<Index>(samples.edges().size());
  const Tensor x = complex(tensor(noise(static_cast<std::size_t>(2 * edges), 6), {2, edges}),
                           tensor(noise(static_cast<std::size_t>(2 * edges), 7), {2, edges}));
  const std::vector<c128> all = x.to_vector<c128>(),
                          got = sample_values(samples, x).to_vector<c128>();
  for (Index k = 0; k < 2; ++k)
    for (Index s = 0; s < 3; ++s)
      EXPECT_LE(std::abs(got[static_cast<std::size_t>(3 * k + s)] -
                         samples.value(s, all.data() + k * edges)),
                1e-13)
          << k << s;
}

TEST_F(YeeResponseTest, TransposeIsTheAdjoint) {
  for (const double phase : {0.0, 2.7}) {
    const Scene3 s(Dtype::f64, {}, phase);
    const auto f = [&](Tensor q, Tensor w) { return s(q, w); };
    const CheckReport r = transpose_check(f, std::tuple(s.inverse_eps, s.currents * 1e11),
                                          {.order = 1, .directions = 1, .rtol = 1e-6});
    EXPECT_TRUE(r) << to_string(r);
  }
}

TEST_F(YeeResponseTest, DerivativesAgreeWithDifferencesAndInEveryOrderOfModes) {
  for (const double phase : {0.0, 2.7}) {
    const Scene3 s(Dtype::f64, {}, phase);
    const auto value = [&](Tensor q) { return s.objective(q); };
    const Tensor v = tensor(noise(9, 4)), u = tensor(noise(9, 5)),
                 gradient = grad(value)(s.inverse_eps);
    const double derivative = sum(gradient * v).item(), h = 1e-3;
    // Fourth-order differences; what the fields hold after the last step limits all that follows.
    const auto difference = [&](auto f) {
      return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h);
    };
    EXPECT_NEAR(difference([&](double t) { return value(s.inverse_eps + t * v).item(); }),
                derivative, 1e-6 * std::abs(derivative));
    EXPECT_NEAR(jvp(value, s.inverse_eps, v).second.item(), derivative,
                1e-6 * std::abs(derivative));

    if (phase != 0) continue;  // all else follows from the same two runs
    const auto derivative_along_v = [&](Tensor q) { return jvp(value, q, v).second; };
    const double hessian_product = sum(hvp(value, s.inverse_eps, v) * u).item();
    EXPECT_NEAR(
        difference([&](double t) { return derivative_along_v(s.inverse_eps + t * u).item(); }),
        hessian_product, 3e-6 * std::abs(hessian_product));
    EXPECT_NEAR(jvp(derivative_along_v, s.inverse_eps, u).second.item(), hessian_product,
                3e-6 * std::abs(hessian_product));
    EXPECT_NEAR(sum(grad(derivative_along_v)(s.inverse_eps) * u).item(), hessian_product,
                3e-6 * std::abs(hessian_product));
    EXPECT_NEAR(
        sum(grad([&](Tensor q) { return sum(grad(value)(q) * v); })(s.inverse_eps) * u).item(),
        hessian_product, 3e-6 * std::abs(hessian_product));
  }
}

TEST_F(YeeResponseTest, RemaindersFallAsTheyShould) {
  const Scene3 s;
  const Tensor v = s.inverse_eps * tensor(noise(9, 3));
  const TaylorReport r = taylor_check([&](Tensor q) { return s.objective(q); }, s.inverse_eps, v);
  EXPECT_TRUE(r) << to_string(r);
}

TEST_F(YeeResponseTest, FewerStepsOfTheTransformsAndSinglePrecisionStayNear) {
  const Scene3 fine, coarse(Dtype::f64, {.n_steps = 900, .pulse_steps = 320, .every = 5}),
      single(Dtype::f32, {.n_steps = 900, .pulse_steps = 320, .every = 5});
  const auto gradient = [](const Scene3& s) {
    return grad([&](Tensor q) { return s.objective(q); })(s.inverse_eps);
  };
  const Tensor want = gradient(fine);
  const double size = std::sqrt(sum(square(want)).item());
  for (const Scene3* other : {&coarse, &single})
    EXPECT_LE(std::sqrt(sum(square(gradient(*other) - want)).item()), 1e-4 * size);
}

/// A run is driven by signals that are wider than the band of its frequencies: steps of the
/// transforms that would do for the band alone count what lies beyond it at the wrong place.
TEST_F(YeeResponseTest, TransformsTakeEnoughStepsForTheSignalsOfTheRun) {
  const Scene3 all(Dtype::f64, {.n_steps = 900, .pulse_steps = 320, .every = 1}),
      chosen(Dtype::f64, {.n_steps = 900, .pulse_steps = 320});
  const auto gradient = [](const Scene3& s) {
    return grad([&](Tensor q) { return s.objective(q); })(s.inverse_eps);
  };
  const Tensor want = gradient(all);
  EXPECT_LE(std::sqrt(sum(square(gradient(chosen) - want)).item()),
            1e-7 * std::sqrt(sum(square(want)).item()));
  const int two_a_period = static_cast<int>(0.5 / (25e9 * all.op->dt_s));
  EXPECT_THROW(response(all.op, {.frequencies_hz = frequencies,
                                 .n_steps = 900,
                                 .pulse_steps = 320,
                                 .every = two_a_period}),
               Error);
}

/// A run that ends early says by how much its spectra are off.
TEST_F(YeeResponseTest, SpectraMissNoMoreThanIsLeftAtTheEnd) {
  const Scene3 longest(Dtype::f64, {.n_steps = 1800, .pulse_steps = 320});
  const Tensor want = longest(longest.inverse_eps, longest.currents);
  const double size = std::sqrt(sum(real(want * conj(want))).item());
  double before = 1;
  for (const std::int64_t n : {330, 420, 600}) {
    const Scene3 s(Dtype::f64, {.n_steps = n, .pulse_steps = 320});
    const Tensor miss = s(s.inverse_eps, s.currents) - want;
    const double left = left_over(s.response, coefficients(s.op, s.inverse_eps), s.currents),
                 off = std::sqrt(sum(real(miss * conj(miss))).item()) / size;
    EXPECT_LE(off, left) << n;
    EXPECT_LE(left, 0.5 * before) << n;
    before = left;
  }
}

TEST_F(YeeResponseTest, BatchesAreLoops) {
  const Scene3 s;
  const auto value = [&](Tensor q) { return s.objective(q); };
  const Tensor two = stack({s.inverse_eps, s.inverse_eps * 0.9}), got = vmap(grad(value))(two);
  for (Index b = 0; b < 2; ++b)
    EXPECT_EQ(select(got, 0, b).to_vector(), grad(value)(select(two, 0, b)).to_vector());
}

TEST_F(YeeResponseTest, RefusesWhatCannotBeTransformed) {
  const YeeOpPtr op = yee_op(small_scene(Dtype::f64));
  EXPECT_THROW(response(op, {.frequencies_hz = frequencies, .n_steps = 100, .pulse_steps = 200}),
               Error);
  EXPECT_THROW(response(op, {.frequencies_hz = frequencies, .n_steps = 800, .every = 20}), Error);
  EXPECT_THROW(response(op, {.frequencies_hz = {19e9, 19.000001e9}, .n_steps = 800}), Error);
}

}  // namespace
}  // namespace tessera::electromagnetics
