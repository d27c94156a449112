// SPDX-License-Identifier: Apache-2.0
//
// What the benchmarks of the Yee scheme step: a cube of n^3 cells, ten a unit of length, absorbing
// layers of 10 cells inside, a current at a point, and around the centre nothing, or a sphere of a
// quarter of the cube's side: permittivity 4, or a Drude metal (f 1, gamma 0.05, sigma 1 in units
// of c per unit of length).
#pragma once
#include "tessera/autodiff/tensor.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/yee_scheme.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace bench {

namespace em = tessera::electromagnetics;

constexpr double kCell = 0.1;  ///< m: 10 cells a unit

inline em::YeeModel empty_cube(int cells, tessera::Dtype dtype) {
  em::YeeModel m;
  m.grid = em::uniform_grid({cells * kCell, cells * kCell, cells * kCell}, kCell);
  m.dt_s = 0.5 * kCell / em::speed_of_light;
  m.dtype = dtype;
  m.injected = {{em::Ez, cells / 4, cells / 2, cells / 2}};
  return m;
}

/// kind: vacuum, dielectric or drude.
inline em::YeeModel sphere_in_cube(const std::string& kind, int cells, tessera::Dtype dtype) {
  em::YeeModel m = empty_cube(cells, dtype);
  if (kind == "vacuum") return m;
  const double radius = cells * kCell / 4, dt = m.dt_s;
  m.material = [kind, radius, dt, grid = m.grid](int c, int j, int k, em::MaterialRow& row) {
    if (!em::is_electric(c)) return;
    em::DispersiveRun run;
    for (int i = 0; i < static_cast<int>(row.inverse.size()) - 1; ++i) {
      const auto p = grid.position({static_cast<std::uint8_t>(c), i, j, k});
      if (p[0] * p[0] + p[1] * p[1] + p[2] * p[2] > radius * radius) continue;
      if (kind == "dielectric") {
        row.inverse[i] = 0.25;
      } else {
        if (run.weight.empty()) run.first = i;
        run.weight.push_back(1);
      }
    }
    if (run.weight.empty()) return;
    // chi = w_p^2 / (i w (i w + g)): poles at 0 and -g.
    const double unit = 2 * M_PI * em::speed_of_light, wp = unit, g = 0.05 * unit;
    for (const auto& [a, residue] : {std::pair{0.0, wp * wp / g}, std::pair{-g, -wp * wp / g}}) {
      run.alpha.push_back((1 + a * dt / 2) / (1 - a * dt / 2));
      run.beta.push_back(residue * dt / 2 / (1 - a * dt / 2));
    }
    row.dispersive.push_back(run);
  };
  return m;
}

/// A scheme with its state, taken `block` steps at a time.
class Stepper {
 public:
  Stepper(const em::YeeModel& model, int block, em::Blocking blocking = {})
      : scheme_(model),
        state_(tessera::empty({model.dtype, {scheme_.state_size()}})),
        block_(block),
        blocking_(blocking) {
    const std::size_t size = model.dtype == tessera::Dtype::f32 ? 4 : 8;
    std::memset(state_.view().data, 0, static_cast<std::size_t>(scheme_.state_size()) * size);
    for (int i = 0; i < block; ++i)
      f32_.push_back(static_cast<float>(f64_.emplace_back(std::sin(0.1 * i))));
  }
  void operator()() {
    const void* currents = scheme_.n_injected() == 0 ? nullptr
                           : scheme_.dtype() == tessera::Dtype::f32
                               ? static_cast<const void*>(f32_.data())
                               : f64_.data();
    scheme_.advance(state_.view().data, block_, currents, nullptr, nullptr, nullptr, blocking_);
  }
  const em::YeeScheme& scheme() const { return scheme_; }

 private:
  em::YeeScheme scheme_;
  tessera::Tensor state_;
  int block_;
  em::Blocking blocking_;
  std::vector<double> f64_;
  std::vector<float> f32_;
};

}  // namespace bench
