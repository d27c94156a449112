// SPDX-License-Identifier: Apache-2.0
// The moves of a step, each exact for its part of the motion (dynamics.h).
#include "base/whole_sums.h"
#include "dynamics/integrator_impl.h"
#include "dynamics/noise.h"
#include "dynamics/random.h"
#include "system/virtual_forces.h"
#include "tessera/molecular/virtual_sites.h"

#include <algorithm>
#include <cmath>

namespace tessera::molecular {

void Integrator::Impl::scale(std::vector<Vec3>& v, const std::vector<double>& factor) const {
  if (std::ranges::all_of(factor, [](double s) { return s == 1; })) return;
  over_blocks(n(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const double s = factor[static_cast<std::size_t>(bodies.bath[i])];
      for (double& c : v[i]) c *= s;
    }
  });
}
void Integrator::Impl::kick(State& m, double t) const {
  if (has_piston())
    push_piston(scales, m.piston, m.frame.box, centres_of(bodies, m, 0, 0).virial, true, t);
  auto& v = m.frame.v_nm_ps;
  const auto& f = m.forces.f;
  over_blocks(n(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      for (std::size_t c = 0; c < 3; ++c) v[i][c] += t * bodies.inverse[i][c] * f[i][c];
  });
}
void Integrator::Impl::constrain_velocities(State& m) const {
  if (constraints.size() > 0)
    constraints.apply_to_velocities(m.frame.x_nm, m.frame.v_nm_ps, m.frame.box);
}
void Integrator::Impl::drift(State& m, double t) const {
  if (has_piston()) {
    drift_piston(scales, bodies, m, 0.5 * t);
    push_piston(scales, m.piston, m.frame.box, centres_of(bodies, m, 0, 0).twice_kinetic, false, t);
  }
  kick_and_move(m, {}, 0, t);
  if (has_piston()) drift_piston(scales, bodies, m, 0.5 * t);
}
void Integrator::Impl::kick_and_drift(State& m, const std::vector<double>& factor, double kick_t,
                                      double t) const {
  if (!has_piston()) return kick_and_move(m, factor, kick_t, t);
  scale(m.frame.v_nm_ps, factor);
  kick(m, kick_t);
  drift(m, t);
}
void Integrator::Impl::kick_and_move(State& m, const std::vector<double>& factor, double kick_t,
                                     double t) const {
  std::vector<Vec3>&x = m.frame.x_nm, &v = m.frame.v_nm_ps;
  const auto& f = m.forces.f;
  thread_local std::vector<Vec3> memory;
  std::vector<Vec3>& before = memory;
  before.resize(n());
  // As one loop over numbers, so that it becomes vector code; with several groups their
  // velocities are scaled before.
  const bool several = factor.size() > 1;
  if (several) scale(v, factor);
  const double s = several || factor.empty() ? 1 : factor[0];
  over_blocks(n(), [&](std::size_t begin, std::size_t end) {
    double *to = x[0].data(), *speed = v[0].data(), *old = before[0].data();
    const double *weight = bodies.inverse[0].data(), *push = f[0].data();
#pragma GCC ivdep
    for (std::size_t i = 3 * begin; i < 3 * end; ++i) {
      const double u = s * speed[i] + kick_t * weight[i] * push[i];
      old[i] = to[i];
      to[i] += t * u;
      speed[i] = u;
    }
  });
  if (constraints.size() > 0) constraints.apply_to_positions(before, x, m.frame.box, &v, t);
}
void Integrator::Impl::evaluate(State& m, std::int64_t step, bool first) const {
  const auto forces_of = [&](const ForceFunction& compute, Forces& to) {
    compute(m.frame.x_nm, m.frame.box, to);
    if (has_sites)
      spread_virtual_forces(system, m.frame.x_nm, m.frame.box, bodies.others, to.f, to.virial);
  };
  place_virtual_sites(system, m.frame.x_nm, m.frame.box);
  forces_of(force, m.forces);
  if (!slow) return;
  const double times = slow_kicks(step);
  if (times > 0 || first) forces_of(slow, m.slow);
  if (times > 0)
    for (std::size_t i = 0; i < n(); ++i)
      for (std::size_t c = 0; c < 3; ++c) m.forces.f[i][c] += times * m.slow.f[i][c];
  for (std::size_t k = 0; k < n_terms; ++k) m.forces.energy[k] += m.slow.energy[k];
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < 3; ++b) m.forces.virial[a][b] += m.slow.virial[a][b];
}

/// v <- c v + sqrt((1 - c^2) kT/m) R, c = e^{-gamma t} by the friction and temperature of each
/// atom's group.
void Integrator::Impl::apply_friction(State& m, double t) const {
  constrain_velocities(
      m);  // chords of the half drift have a part across the constraints, which is no heat
  const double before = total(kinetic_energies(bodies, m.frame.v_nm_ps));
  std::vector<double> kept, noise = temperatures(m.frame.time_ps);
  for (std::size_t g = 0; g < noise.size(); ++g) {
    kept.push_back(std::exp(-friction_per_ps[g] * t));
    noise[g] = std::sqrt(-std::expm1(-2 * friction_per_ps[g] * t) * gas_constant * noise[g]);
  }
  const std::uint64_t first = static_cast<std::uint64_t>(m.frame.step) * bodies.all;
  over_blocks(n(), [&](std::size_t begin, std::size_t end) {
    Noise random;
    for (std::size_t start = begin; start < end; start += Noise::most) {
      const std::size_t many = std::min(Noise::most, end - start);
      random.fill(o.seed, friction, first, bodies.number.data() + start, many);
      for (std::size_t i = start; i < start + many; ++i) {
        const double c = kept[static_cast<std::size_t>(bodies.bath[i])],
                     size = noise[static_cast<std::size_t>(bodies.bath[i])];
        for (std::size_t k = 0; k < 3; ++k)
          m.frame.v_nm_ps[i][k] = c * m.frame.v_nm_ps[i][k] + size *
                                                                  std::sqrt(bodies.inverse[i][k]) *
                                                                  random.normal[k][i - start];
      }
    }
  });
  constrain_velocities(m);
  m.sampled = kinetic_energies(bodies, m.frame.v_nm_ps);
  m.exchanged -= total(m.sampled) - before;
}

/// Half a step behind, velocities v lose sum m u v - m u u/2 = sum m u u/2, and those of the half
/// step to come, v + dt f/m, dt sum f u more: of both the mean counts. Where nothing outside of the
/// system pulls at it, sum f u = 0.
void Integrator::Impl::stop_whole(State& m) const {
  const WholeMotion gone = remove_motion(bodies, m.frame.x_nm, m.frame.v_nm_ps,
                                         o.centre_of_mass_removal == Removal::angular);
  m.exchanged += gone.kinetic;
  if (o.scheme != Scheme::leap_frog) return;
  const std::array<double, 1> power = whole_sums<1>(n(), bodies.others, [&](std::size_t i) {
    const Vec3 u = gone.at(m.frame.x_nm[i]);
    double sum = 0;
    for (std::size_t c = 0; c < 3; ++c)
      if (bodies.inverse[i][c] > 0) sum += m.forces.f[i][c] * u[c];
    return std::array{sum};
  });
  m.exchanged += 0.5 * o.dt_ps * power[0];
}

}  // namespace tessera::molecular
