// SPDX-License-Identifier: Apache-2.0
//
// A plasma without losses, chi = (w_p/s)^2: waves in it and reflection from it against the
// relations of the scheme and of Fresnel.
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/harmonic_inversion.h"
#include "tessera/electromagnetics/time_domain.h"
#include "test_constants.h"
#include "yee_everything.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace tessera::electromagnetics {
namespace {

using Complex = std::complex<double>;
constexpr double fp = 20e9, spacing = 0.15e-3;  // 100 cells in the wavelength at f_p

Medium plasma() { return {.name = "plasma", .poles = drude(fp, 0)}; }
const std::array<bool, 6> along_x{false, false, true, false, true, false};
/// eps of the time step at f, times (Omega spacing/c)^2 = (2 spacing/(c dt) sin(w dt/2))^2.
double discrete_k2(double f, double dt, double eps) {
  return eps * std::pow(2 * spacing / (speed_of_light * dt) * std::sin(two_pi * f * dt / 2), 2);
}

TEST(Plasma, WavesInItFollowTheRelationOfTheScheme) {
  // Between joined faces live w^2 = w_p^2 + c^2 k^2 for k = 2 pi m/length, and w_p itself. Here w
  // and k are those of the grid: eps(s) Omega^2/c^2 = K^2 with s = i (2/dt) tan(w dt/2).
  const int n = 40;
  YeeModel model = yee_model(uniform_grid({n * spacing, 0, 0}, spacing), {joined, joined, joined},
                             {}, 0, Dtype::f64, {}, {plasma()});
  model.dt_s = 0.9 * stable_time_step(model.grid);
  model = yee_model(model.grid, model.faces, {}, model.dt_s, Dtype::f64, {}, {plasma()});
  model.active = along_x;
  model.injected = {{Ez, 0, 0, 0}};
  model.recorded = {{Ez, 7, 0, 0}};
  const YeeScheme scheme(model);
  const int steps = 6000;
  std::vector<double> state(static_cast<std::size_t>(scheme.state_size())), current(steps),
      record(steps);
  for (int k = 0; k < 200; ++k)
    current[static_cast<std::size_t>(k)] =
        std::pow(std::sin(std::numbers::pi * k / 200), 4) * std::sin(0.12 * k);
  scheme.advance(state.data(), steps, current.data(), record.data(), nullptr, nullptr);
  const auto modes =
      harmonic_inversion(std::span<const double>(record).subspan(200), model.dt_s, 10e9, 90e9);
  for (const int m : {0, 1}) {
    double low = fp / 2, high = 200e9;  // the left side rises with f
    for (int step = 0; step < 200; ++step) {
      const double f = (low + high) / 2;
      const double eps = discrete_permittivity(plasma(), 2, f, model.dt_s).real();
      (discrete_k2(f, model.dt_s, eps) < std::pow(2 * std::sin(std::numbers::pi * m / n), 2)
           ? low
           : high) = f;
    }
    double best = 1;
    for (const auto& mode : modes) best = std::min(best, std::abs(mode.frequency_hz / low - 1));
    EXPECT_LT(best, 1e-9) << low;
    EXPECT_NEAR(low, std::hypot(fp, m * speed_of_light / (n * spacing)), 2e-3 * low);
  }
}

TEST(Plasma, HalfSpaceReflectsAllBelowItsFrequencyAndByFresnelAbove) {
  // On the line, with the face at node 0 and eps there the mean: e = e^{-ikj} + r e^{ikj} before
  // it, (1 + r) e^{-iqj} behind it, so r = -(A + e^{ik})/(A + e^{-ik}), A = e^{-iq} - 2 + (Omega
  // spacing/c)^2 (1 + eps)/2.
  const int before = 300, n = 900, steps = 12000;
  const YeeGrid grid =
      uniform_grid({n * spacing, 0, 0}, spacing, {(n / 2.0 - before) * spacing, 0, 0});
  const double dt = 0.95 * stable_time_step(grid);
  const auto run = [&](bool filled) {
    Scene scene;
    if (filled)
      scene.structures = {{box({0, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}), 1}};
    YeeModel m = yee_model(grid, {pml, pml, pml}, {.cells = 40}, dt, Dtype::f64, scene,
                           {Medium{}, plasma()});
    m.active = along_x;
    m.injected = {{Ez, 60, 0, 0}};
    m.recorded = {{Ez, before - 100, 0, 0}};
    const YeeScheme scheme(m);
    std::vector<double> state(static_cast<std::size_t>(scheme.state_size())), current(steps),
        record(steps);
    for (int k = 0; k < 700; ++k) {
      const double t = (k - 350) * dt;
      current[static_cast<std::size_t>(k)] =
          std::exp(-std::pow(t * fp * 2.2, 2)) * std::cos(two_pi * fp * t);
    }
    scheme.advance(state.data(), steps, current.data(), record.data(), nullptr, nullptr);
    return record;
  };
  const std::vector<double> incident = run(false), both = run(true);
  for (const double share : {0.5, 0.7, 0.9, 1.15, 1.4, 1.7}) {
    const double f = share * fp;
    Complex in = 0, out = 0;
    for (int k = 0; k < steps; ++k) {
      const Complex turn = std::polar(1.0, -two_pi * f * k * dt);
      in += turn * incident[static_cast<std::size_t>(k)];
      out += turn * (both[static_cast<std::size_t>(k)] - incident[static_cast<std::size_t>(k)]);
    }
    const double eps = discrete_permittivity(plasma(), 2, f, dt).real();
    const double k = 2 * std::asin(std::sqrt(discrete_k2(f, dt, 1)) / 2);
    const Complex q =
        2.0 * std::asin(Complex(0, -1) * std::sqrt(Complex(-discrete_k2(f, dt, eps))) /
                        2.0);  // decays behind the face
    const Complex a = std::exp(Complex(0, -1) * q) - 2.0 + discrete_k2(f, dt, (1 + eps) / 2);
    const Complex want = -(a + std::polar(1.0, k)) / (a + std::polar(1.0, -k));
    const Complex got =
        out / in * std::polar(1.0, 2 * k * 100);  // moved from the record to the face
    EXPECT_LT(std::abs(got - want), 1e-3)
        << share;  // slow waves beside f_p are still on their way when the run ends
    const double index = std::sqrt(std::max(0.0, 1 - 1 / (share * share)));
    const double fresnel = share < 1 ? 1 : std::pow((1 - index) / (1 + index), 2);
    EXPECT_NEAR(std::norm(got), fresnel, 2e-3) << share;
  }
}

TEST(Plasma, StaysQuietForLong) {
  // A sphere of it in vacuum, in f32: most of what rings in it does not radiate, and must not grow.
  const YeeGrid grid = uniform_grid({3e-3, 3e-3, 3e-3}, spacing);
  const double dt = 0.95 * stable_time_step(grid);
  Scene scene;
  scene.structures = {{sphere({}, 0.7e-3), 1}};
  TimeDomain run(yee_model(grid, {pml, pml, pml}, {.cells = 5}, dt, Dtype::f32, scene,
                           {Medium{}, {.poles = drude(150e9, 0)}}),
                 {current_source(grid, {pml, pml, pml}, dt, Ez, {0.6e-3, 0, 0}, {0.6e-3, 0, 0},
                                 1e-6, gaussian_pulse(100e9, 120e9))},
                 {});
  run.advance(static_cast<std::int64_t>(run.sources_end_s() / dt) + 1);
  const auto largest = [&] {  // of the fields, which give to the charges and take from them
    double most = 0;
    for (int part = 0; part < 20; ++part) {
      run.advance(50);
      most = std::max(most, run.energy_j());
    }
    return most;
  };
  const double first = largest();
  EXPECT_GT(first, 0);
  for (int block = 0; block < 3; ++block)
    EXPECT_LT(largest(), 1.2 * first);  // its resonances do not decay but beat
}

}  // namespace
}  // namespace tessera::electromagnetics
