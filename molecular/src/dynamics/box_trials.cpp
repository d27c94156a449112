// SPDX-License-Identifier: Apache-2.0
#include "dynamics/integrator_impl.h"
#include "dynamics/random.h"

#include <algorithm>
#include <cmath>

namespace tessera::molecular {

/// Box and molecules' centres scaled on trial; accepted with min(1, exp(-(dU + P dV - N kT ln
/// V'/V)/kT)). Trials grow and shrink until a quarter to three quarters of them are taken.
void Integrator::Impl::try_box(State& m) const {
  const auto step = static_cast<std::uint64_t>(m.frame.step);
  const auto any = [&](std::uint64_t k) {
    return data::uniform({o.seed, box_trials}, 3 * step + k);
  };
  const auto j = std::min(static_cast<std::size_t>(any(0) * static_cast<double>(scales.size())),
                          scales.size() - 1);
  const Scale& s = scales[j];
  double &largest = m.piston[3 * j], &trials = m.piston[3 * j + 1], &accepted = m.piston[3 * j + 2];
  const double q = coordinate_of(s, m.frame.box), grown = q + largest * (2 * any(1) - 1),
               kt = box_kt(temperatures(m.frame.time_ps));
  Vec3 factor = {1, 1, 1};
  for (const std::size_t k : s.axes)
    factor[k] = std::pow(grown / q, 1 / static_cast<double>(s.axes.size()));
  const auto suit_size = [&] {
    if (trials < 10) return;
    if (accepted < 0.25 * trials) largest /= 1.1;
    if (accepted > 0.75 * trials) largest = std::min(1.1 * largest, 0.3 * q);
    trials = accepted = 0;
  };
  trials += 1;
  // The box of a few molecules may have shrunk to less than a trial takes: none without a volume
  // has a weight.
  if (!(grown > 0)) return suit_size();

  State trial;
  trial.frame.x_nm = m.frame.x_nm;
  trial.frame.box = m.frame.box;
  for (Vec3& e : trial.frame.box.edge)
    for (std::size_t c = 0; c < 3; ++c) e[c] *= factor[c];
  double moved = 0;  // sum over molecules of ln of their factors
  for (std::size_t g = 0; g < molecules.size(); ++g) {
    double mass = 0;
    Vec3 centre{};
    std::array<bool, 3> moves = {true, true, true};
    const auto first = static_cast<std::size_t>(molecules.first[g]),
               last = static_cast<std::size_t>(molecules.first[g + 1]);
    for (std::size_t k = first; k < last; ++k) {
      const auto i = static_cast<std::size_t>(molecules.atom[k]);
      mass += bodies.mass[i];
      for (std::size_t c = 0; c < 3; ++c) {
        centre[c] += bodies.mass[i] * m.frame.x_nm[i][c];
        moves[c] = moves[c] && (bodies.mass[i] == 0 || bodies.inverse[i][c] > 0);
      }
    }
    if (mass == 0) continue;
    for (std::size_t c = 0; c < 3; ++c)
      if (moves[c]) {
        moved += std::log(factor[c]);
        for (std::size_t k = first; k < last; ++k)
          trial.frame.x_nm[static_cast<std::size_t>(molecules.atom[k])][c] +=
              (factor[c] - 1) * centre[c] / mass;
      }
  }
  evaluate(trial, m.frame.step, true);
  const double change = trial.forces.potential() - m.forces.potential();
  const double work =
      change + s.pressure * (volume_nm3(trial.frame.box) - volume_nm3(m.frame.box)) - kt * moved;
  if (work <= 0 || any(2) < std::exp(-work / kt)) {
    accepted += 1;
    m.exchanged -= change;
    m.frame.x_nm = std::move(trial.frame.x_nm);
    m.frame.box = trial.frame.box;
    m.forces = std::move(trial.forces);
    if (slow) m.slow = std::move(trial.slow);
  }
  suit_size();
}

}  // namespace tessera::molecular
