// SPDX-License-Identifier: Apache-2.0
// Energy that goes to and fro between fields and poles: their sum hardly changes.
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/medium_stability.h"
#include "tessera/electromagnetics/time_domain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tessera::electromagnetics {
namespace {

/// A line between conductors, filled with a medium without loss, rings long after its pulse. Swing:
/// largest over least energy.
struct Swings {
  double fields, stored;
};
Swings swings_of(const Medium& medium, double f) {
  YeeGrid grid;
  const double cell = speed_of_light / f / 60;
  for (int i = 0; i <= 100; ++i) grid.lines[0].push_back(i * cell);
  grid.lines[1] = grid.lines[2] = {0, cell};
  const Faces walls{Boundary::pec, Boundary::pec}, joined{Boundary::periodic, Boundary::periodic};
  const std::array<Faces, 3> faces{walls, joined, joined};
  const double dt = 0.9 * max_stable_dt(medium, curl_curl_bound(grid));
  const Point at{37.3 * cell, 0, 0};
  YeeModel model = yee_model(grid, faces, {}, dt, Dtype::f64, Scene{}, {medium});
  model.active = {false, true, true, false, true, true};
  TimeDomain run(std::move(model),
                 {current_source(grid, faces, dt, Ez, at, at, 1, gaussian_pulse(f, f))}, {});
  run.advance(static_cast<std::int64_t>(run.sources_end_s() / dt) + 1);
  double fields[2] = {INFINITY, 0}, stored[2] = {INFINITY, 0};
  for (int n = 0; n < 4000; ++n) {
    run.advance(1);
    for (const auto& [range, energy] :
         {std::pair{fields, run.energy_j()}, std::pair{stored, run.stored_energy_j()}})
      range[0] = std::min(range[0], energy), range[1] = std::max(range[1], energy);
  }
  return {fields[1] / fields[0], stored[1] / stored[0]};
}

TEST(StoredEnergy, OfFieldsAndPolesStaysWithoutLoss) {
  const double f = 2e14;
  Medium line{.name = "line"}, plasma{.name = "plasma"};
  line.poles = lorentz(1.1 * f, 0, 1.0);
  plasma.poles = drude(0.9 * f, 0);
  for (const Medium& m : {line, plasma}) {
    const Swings s = swings_of(m, f);
    EXPECT_LT(s.stored, 1.3) << m.name;  // what is of order dt swings
    EXPECT_GT(s.fields, 1.5 * s.stored) << m.name;
  }
}

}  // namespace
}  // namespace tessera::electromagnetics
