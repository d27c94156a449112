// SPDX-License-Identifier: Apache-2.0
#include "dynamics/barostats.h"
#include "dynamics/baths.h"
#include "dynamics/noise.h"
#include "dynamics/parts.h"
#include "dynamics/random.h"
#include "tessera/autodiff/error.h"
#include "tessera/molecular/dynamics.h"
#include "tessera/molecular/virtual_sites.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tessera::molecular {
namespace {

using Scheme = Dynamics::Scheme;
using Thermostat = Dynamics::Thermostat;
using Barostat = Dynamics::Barostat;
using Removal = Dynamics::CentreOfMassRemoval;

double total(const std::vector<double>& v) { return std::accumulate(v.begin(), v.end(), 0.0); }

void check(const Dynamics& o, bool slow) {
  if (!(o.dt_ps > 0))
    dynamics_fault(fmt::format("the time step must be positive, got {} ps", o.dt_ps));
  if (o.scheme == Scheme::langevin && o.thermostat != Thermostat::none)
    dynamics_fault("langevin keeps the temperature by itself: thermostat = none");
  if (o.scheme == Scheme::langevin && !(o.friction_per_ps > 0))
    dynamics_fault(fmt::format("the friction must be positive, got {} 1/ps", o.friction_per_ps));
  for (const TemperatureGroup& g : o.groups) {
    if (!(g.temperature_k >= 0))
      dynamics_fault(
          fmt::format("the temperature must not be negative, got {} K", g.temperature_k));
    if (!(g.tau_t_ps >= 0))
      dynamics_fault(fmt::format("the thermostat's time must be positive, or 0 for none, got {} ps",
                                 g.tau_t_ps));
    if (o.thermostat == Thermostat::andersen && g.tau_t_ps > 0 && o.dt_ps > g.tau_t_ps)
      dynamics_fault("andersen: the time step is longer than the time between collisions");
    for (std::size_t k = 0; k < g.annealing.size(); ++k) {
      if (!(g.annealing[k][1] >= 0))
        dynamics_fault(
            fmt::format("the temperature must not be negative, got {} K", g.annealing[k][1]));
      if (k > 0 && !(g.annealing[k][0] > g.annealing[k - 1][0]))
        dynamics_fault(fmt::format("times of annealing must grow, got {} ps after {} ps",
                                   g.annealing[k][0], g.annealing[k - 1][0]));
    }
  }
  if (o.barostat != Barostat::none) {
    if (!(o.tau_p_ps > 0))
      dynamics_fault(fmt::format("the barostat's time must be positive, got {} ps", o.tau_p_ps));
    if (o.barostat_every < 1)
      dynamics_fault(fmt::format("the barostat needs at least one step between its moves, got {}",
                                 o.barostat_every));
    const bool one_pressure =
        o.pressure_bar[0] == o.pressure_bar[1] && o.pressure_bar[0] == o.pressure_bar[2];
    if ((o.barostat == Barostat::parrinello_rahman || o.barostat == Barostat::monte_carlo) &&
        !one_pressure)
      dynamics_fault(
          "parrinello_rahman and monte_carlo have one pressure: take c_rescale for a tension");
    if (o.barostat != Barostat::parrinello_rahman && o.slow_every > 1 &&
        o.barostat_every % o.slow_every != 0)
      dynamics_fault(fmt::format(
          "the barostat moves every {} steps, which is no multiple of the {} between slow forces",
          o.barostat_every, o.slow_every));
    if (o.barostat == Barostat::parrinello_rahman && o.slow_every > 1)
      dynamics_fault("parrinello_rahman needs all forces in every step: slow_every = 1");
  }
  if (o.slow_every < 1)
    dynamics_fault(
        fmt::format("slow forces need at least one step between them, got {}", o.slow_every));
  if (o.slow_every > 1 && !slow)
    dynamics_fault("slow_every is above 1 and there are no slow forces");
}

}  // namespace

double value_at(const Ramp& r, double time_ps) {
  if (r.empty()) throw Error("[value_at] a ramp needs a point");
  if (time_ps <= r.front()[0]) return r.front()[1];
  for (std::size_t k = 1; k < r.size(); ++k)
    if (time_ps < r[k][0])
      return r[k - 1][1] +
             (r[k][1] - r[k - 1][1]) * (time_ps - r[k - 1][0]) / (r[k][0] - r[k - 1][0]);
  return r.back()[1];
}

struct Integrator::Impl {
  System system;
  ForceFunction force, slow;
  Dynamics o;
  std::vector<double> friction_per_ps;  ///< of each group
  Constraints constraints;
  Parts parts;
  std::vector<Scale> scales;
  Sets molecules;  ///< of monte_carlo
  double freedom = 0;

  Impl(const System& s, ForceFunction f, const Dynamics& options, ForceFunction g)
      : system(s), force(std::move(f)), slow(std::move(g)), o(options), constraints(s) {
    for (const TemperatureGroup& g : o.groups)
      friction_per_ps.push_back(g.tau_t_ps > 0 ? 1 / g.tau_t_ps : 0);
    if (o.groups.empty()) {
      friction_per_ps = {o.friction_per_ps};
      std::vector<std::int32_t> all(s.n_atoms());
      std::iota(all.begin(), all.end(), 0);
      o.groups = {{"all", std::move(all), o.temperature_k, o.tau_t_ps, o.annealing}};
    }
    check(o, static_cast<bool>(slow));
    parts = parts_of(system, constraints, o);
    if (o.barostat != Barostat::none) scales = scales_of(o);
    if (o.barostat == Barostat::monte_carlo) molecules = sets_of(molecular::molecules(system));
    const double all = total(parts.freedom);
    if (removes_motion()) {
      // What is removed belongs to all groups, by their shares.
      const double removed = o.centre_of_mass_removal == Removal::angular ? 6 : 3;
      for (double& d : parts.freedom) d -= removed * d / all;
    }
    freedom = total(parts.freedom);
    if (!(freedom > 0.5))
      dynamics_fault(fmt::format("no degrees of freedom are left of {} atoms and {} constraints",
                                 n(), constraints.size()));
  }
  static Sets sets_of(const std::vector<std::int32_t>& set) {
    std::vector<std::vector<std::int32_t>> members(
        set.empty() ? 0 : static_cast<std::size_t>(*std::ranges::max_element(set)) + 1);
    for (std::size_t i = 0; i < set.size(); ++i)
      members[static_cast<std::size_t>(set[i])].push_back(static_cast<std::int32_t>(i));
    Sets out;
    for (const auto& m : members) {
      out.atom.insert(out.atom.end(), m.begin(), m.end());
      out.first.push_back(static_cast<std::int32_t>(out.atom.size()));
    }
    return out;
  }
  std::size_t n() const { return system.n_atoms(); }
  bool removes_motion() const {
    return o.centre_of_mass_removal != Removal::none && o.centre_of_mass_removal_every > 0 &&
           o.scheme != Scheme::langevin && o.thermostat != Thermostat::andersen &&
           !parts.any_frozen;
  }
  bool relaxes_box() const {
    return o.barostat == Barostat::c_rescale || o.barostat == Barostat::berendsen;
  }
  bool has_piston() const { return o.barostat == Barostat::parrinello_rahman; }
  std::vector<double> temperatures(double time_ps) const {
    std::vector<double> t;
    for (const TemperatureGroup& g : o.groups)
      t.push_back(g.annealing.empty() ? g.temperature_k : value_at(g.annealing, time_ps));
    return t;
  }
  bool coupled(std::size_t g) const { return o.groups[g].tau_t_ps > 0 && parts.freedom[g] > 0; }
  /// kT of the box: the mean over all degrees of freedom.
  double box_kt(const std::vector<double>& t) const {
    double sum = 0;
    for (std::size_t g = 0; g < t.size(); ++g) sum += parts.freedom[g] * t[g];
    return gas_constant * sum / freedom;
  }
  /// How many times the slow forces are in the forces of a step.
  double slow_kicks(std::int64_t step) const {
    return !slow ? 1 : step % o.slow_every == 0 ? static_cast<double>(o.slow_every) : 0;
  }
  /// Two half steps around full steps, from velocities as they are kept.
  Centres centres(const State& m) const {
    const double half = 0.5 * o.dt_ps;
    const bool leaps = o.scheme == Scheme::leap_frog;
    return centres_of(parts, m, leaps ? 0 : -half, leaps ? 2 * half : half,
                      slow_kicks(m.frame.step));
  }

  void scale(std::vector<Vec3>& v, const std::vector<double>& factor) const {
    if (std::ranges::all_of(factor, [](double s) { return s == 1; })) return;
    over_blocks(n(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const double s = factor[static_cast<std::size_t>(parts.bath[i])];
        for (double& c : v[i]) c *= s;
      }
    });
  }
  void kick(State& m, double t) const {
    if (has_piston())
      push_piston(scales, m.piston, m.frame.box, centres_of(parts, m, 0, 0).virial, true, t);
    auto& v = m.frame.v_nm_ps;
    const auto& f = m.forces.f;
    over_blocks(n(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        for (std::size_t c = 0; c < 3; ++c) v[i][c] += t * parts.inverse[i][c] * f[i][c];
    });
  }
  void constrain_velocities(State& m) const {
    if (constraints.size() > 0)
      constraints.apply_to_velocities(m.frame.x_nm, m.frame.v_nm_ps, m.frame.box);
  }
  void drift(State& m, double t) const {
    if (has_piston()) {
      drift_piston(scales, parts, m, 0.5 * t);
      push_piston(scales, m.piston, m.frame.box, centres_of(parts, m, 0, 0).twice_kinetic, false,
                  t);
    }
    kick_and_move(m, {}, 0, t);
    if (has_piston()) drift_piston(scales, parts, m, 0.5 * t);
  }
  /// B(kick) A(t), velocities before it times their group's factor (empty: 1).
  void kick_and_drift(State& m, const std::vector<double>& factor, double kick_t, double t) const {
    if (!has_piston()) return kick_and_move(m, factor, kick_t, t);
    scale(m.frame.v_nm_ps, factor);
    kick(m, kick_t);
    drift(m, t);
  }
  void kick_and_move(State& m, const std::vector<double>& factor, double kick_t, double t) const {
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
      const double *weight = parts.inverse[0].data(), *push = f[0].data();
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
  /// Forces at the positions of step `step`.
  void evaluate(State& m, std::int64_t step) const {
    place_virtual_sites(system, m.frame.x_nm, m.frame.box);
    force(m.frame.x_nm, m.frame.box, m.forces);
    spread_virtual_forces(system, m.frame.x_nm, m.frame.box, m.forces.f, m.forces.virial);
    if (!slow) return;
    const double times = slow_kicks(step);
    if (times > 0 || m.slow.f.empty()) {
      slow(m.frame.x_nm, m.frame.box, m.slow);
      spread_virtual_forces(system, m.frame.x_nm, m.frame.box, m.slow.f, m.slow.virial);
    }
    if (times > 0)
      for (std::size_t i = 0; i < n(); ++i)
        for (std::size_t c = 0; c < 3; ++c) m.forces.f[i][c] += times * m.slow.f[i][c];
    for (std::size_t k = 0; k < n_terms; ++k) m.forces.energy[k] += m.slow.energy[k];
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t b = 0; b < 3; ++b) m.forces.virial[a][b] += m.slow.virial[a][b];
  }

  /// v <- c v + sqrt((1 - c^2) kT/m) R, c = e^{-gamma t} by the friction and temperature of each
  /// atom's group.
  void rub(State& m, double t) const {
    constrain_velocities(
        m);  // chords of the half drift have a part across the constraints, which is no heat
    const double before = total(kinetic_energies(parts, m.frame.v_nm_ps));
    std::vector<double> kept, noise = temperatures(m.frame.time_ps);
    for (std::size_t g = 0; g < noise.size(); ++g) {
      kept.push_back(std::exp(-friction_per_ps[g] * t));
      noise[g] = std::sqrt(-std::expm1(-2 * friction_per_ps[g] * t) * gas_constant * noise[g]);
    }
    const std::uint64_t first = static_cast<std::uint64_t>(m.frame.step) * n();
    over_blocks(n(), [&](std::size_t begin, std::size_t end) {
      Noise random;
      for (std::size_t start = begin; start < end; start += Noise::most) {
        const std::size_t many = std::min(Noise::most, end - start);
        random.fill(o.seed, friction, first + start, many);
        for (std::size_t i = start; i < start + many; ++i) {
          const double c = kept[static_cast<std::size_t>(parts.bath[i])],
                       size = noise[static_cast<std::size_t>(parts.bath[i])];
          for (std::size_t k = 0; k < 3; ++k)
            m.frame.v_nm_ps[i][k] = c * m.frame.v_nm_ps[i][k] + size *
                                                                    std::sqrt(parts.inverse[i][k]) *
                                                                    random.normal[k][i - start];
        }
      }
    });
    constrain_velocities(m);
    m.sampled = total(kinetic_energies(parts, m.frame.v_nm_ps));
    m.exchanged -= m.sampled - before;
  }
  /// Velocities of full steps: those that leap-frog keeps are half a step behind.
  std::vector<Vec3> full_step_velocities(const State& m) const {
    std::vector<Vec3> v = m.frame.v_nm_ps;
    if (o.scheme != Scheme::leap_frog) return v;
    for (std::size_t i = 0; i < n(); ++i)
      for (std::size_t k = 0; k < 3; ++k)
        v[i][k] += 0.5 * o.dt_ps * parts.inverse[i][k] * m.forces.f[i][k];
    if (constraints.size() > 0) constraints.apply_to_velocities(m.frame.x_nm, v, m.frame.box);
    return v;
  }
  /// Andersen's collisions. They give velocities of full steps, which know nothing of the forces
  /// there; those of half a step before are correlated with them. Nothing but what a collision
  /// changes is heat.
  void collide(State& m, const std::vector<double>& temperature, std::uint64_t step) const {
    std::vector<std::size_t> met;
    for (std::size_t i = 0; i < n(); ++i) {
      const auto g = static_cast<std::size_t>(parts.bath[i]);
      if (coupled(g) && data::uniform({o.seed, collisions},
                                      step * n() + static_cast<std::uint64_t>(parts.rigid_of[i])) <
                            o.dt_ps / o.groups[g].tau_t_ps)
        met.push_back(i);
    }
    if (met.empty()) return;
    const bool leaps = o.scheme == Scheme::leap_frog;
    const std::vector<Vec3> before = full_step_velocities(m);
    std::vector<Vec3> v = before;
    for (const std::size_t i : met)
      for (std::size_t k = 0; k < 3; ++k)
        v[i][k] = std::sqrt(gas_constant * temperature[static_cast<std::size_t>(parts.bath[i])] *
                            parts.inverse[i][k]) *
                  normal_of(o.seed, new_velocities, step, n(), i, k);
    if (constraints.size() > 0) constraints.apply_to_velocities(m.frame.x_nm, v, m.frame.box);
    for (const std::size_t i : met)
      for (std::size_t k = 0; k < 3; ++k) {
        m.exchanged -= 0.5 * parts.mass[i] * (v[i][k] * v[i][k] - before[i][k] * before[i][k]);
        m.frame.v_nm_ps[i][k] =
            v[i][k] - (leaps ? 0.5 * o.dt_ps * parts.inverse[i][k] * m.forces.f[i][k] : 0);
      }
  }
  /// The thermostat over one step; what it scales velocities by is left to the caller (empty:
  /// nothing).
  std::vector<double> couple(State& m) const {
    std::vector<Vec3>& v = m.frame.v_nm_ps;
    if (o.thermostat == Thermostat::none || has_chains()) return {};
    const std::vector<double> temperature = temperatures(m.frame.time_ps);
    const auto step = static_cast<std::uint64_t>(m.frame.step);
    if (o.thermostat == Thermostat::andersen) {
      collide(m, temperature, step);
      return {};
    }
    const std::vector<double> before = kinetic_energies(parts, v);
    std::vector<double> factor(o.groups.size(), 1.0);
    for (std::size_t g = 0; g < factor.size(); ++g) {
      if (!coupled(g) || !(before[g] > 0)) continue;
      const double aim = 0.5 * parts.freedom[g] * gas_constant * temperature[g],
                   ratio = o.dt_ps / o.groups[g].tau_t_ps;
      factor[g] = o.thermostat == Thermostat::v_rescale
                      ? bussi_factor(before[g], aim, parts.freedom[g], ratio, o.seed,
                                     step * factor.size() + g)
                      : std::sqrt(1 + ratio * (aim / before[g] - 1));
      m.exchanged -= (factor[g] * factor[g] - 1) * before[g];
    }
    return factor;
  }
  bool has_chains() const { return o.thermostat == Thermostat::nose_hoover; }
  void turn_chains(State& m, double t) const {
    const std::vector<double> temperature = temperatures(m.frame.time_ps);
    std::vector<double> factor = kinetic_energies(parts, m.frame.v_nm_ps);
    for (std::size_t g = 0; g < factor.size(); ++g)
      factor[g] = coupled(g)
                      ? nose_hoover_factor(m.bath.data() + 2 * nose_hoover_length * g, factor[g],
                                           parts.freedom[g], gas_constant * temperature[g],
                                           o.groups[g].tau_t_ps, t)
                      : 1;
    scale(m.frame.v_nm_ps, factor);
  }
  double energy_of_chains(const State& m, const std::vector<double>& temperature) const {
    double sum = 0;
    for (std::size_t g = 0; g < temperature.size(); ++g)
      if (coupled(g))
        sum += nose_hoover_energy(m.bath.data() + 2 * nose_hoover_length * g, parts.freedom[g],
                                  gas_constant * temperature[g], o.groups[g].tau_t_ps);
    return sum;
  }

  /// Box and molecules' centres scaled on trial; accepted with min(1, exp(-(dU + P dV - N kT ln
  /// V'/V)/kT)). Trials grow and shrink until a quarter to three quarters of them are taken.
  void try_box(State& m) const {
    const auto step = static_cast<std::uint64_t>(m.frame.step);
    const auto any = [&](std::uint64_t k) {
      return data::uniform({o.seed, box_trials}, 3 * step + k);
    };
    const auto j = std::min(static_cast<std::size_t>(any(0) * static_cast<double>(scales.size())),
                            scales.size() - 1);
    const Scale& s = scales[j];
    double &largest = m.piston[3 * j], &trials = m.piston[3 * j + 1],
           &accepted = m.piston[3 * j + 2];
    const double q = coordinate_of(s, m.frame.box), grown = q + largest * (2 * any(1) - 1),
                 kt = box_kt(temperatures(m.frame.time_ps));
    Vec3 factor = {1, 1, 1};
    for (const std::size_t k : s.axes)
      factor[k] = std::pow(grown / q, 1 / static_cast<double>(s.axes.size()));

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
        mass += parts.mass[i];
        for (std::size_t c = 0; c < 3; ++c) {
          centre[c] += parts.mass[i] * m.frame.x_nm[i][c];
          moves[c] = moves[c] && (parts.mass[i] == 0 || parts.inverse[i][c] > 0);
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
    evaluate(trial, m.frame.step);
    const double change = trial.forces.potential() - m.forces.potential();
    const double work =
        change + s.pressure * (volume_nm3(trial.frame.box) - volume_nm3(m.frame.box)) - kt * moved;
    trials += 1;
    if (work <= 0 || any(2) < std::exp(-work / kt)) {
      accepted += 1;
      m.exchanged -= change;
      m.frame.x_nm = std::move(trial.frame.x_nm);
      m.frame.box = trial.frame.box;
      m.forces = std::move(trial.forces);
      if (slow) m.slow = std::move(trial.slow);
    }
    if (trials < 10) return;
    if (accepted < 0.25 * trials) largest /= 1.1;
    if (accepted > 0.75 * trials) largest = std::min(1.1 * largest, 0.3 * q);
    trials = accepted = 0;
  }

  /// `reported`: energies and virial of where the step arrives are wanted, not by a barostat alone.
  void step(State& m, bool reported) const {
    const double dt = o.dt_ps;
    const bool moves_box = o.barostat != Barostat::none && m.frame.step % o.barostat_every == 0;
    m.forces.wants_energies =
        reported || has_piston() || moves_box ||
        (o.barostat != Barostat::none && (m.frame.step + 1) % o.barostat_every == 0);
    const double kt = moves_box ? box_kt(temperatures(m.frame.time_ps)) : 0;
    const Centres now = moves_box && relaxes_box() ? centres(m) : Centres{};
    const auto arrive = [&] {
      if (!(moves_box && relaxes_box())) return evaluate(m, m.frame.step + 1);
      const bool stochastic = o.barostat == Barostat::c_rescale;
      const Vec3 factor =
          relaxed_edges(scales, o, now, m.frame.box, kt, dt * static_cast<double>(o.barostat_every),
                        stochastic, static_cast<std::uint64_t>(m.frame.step));
      m.exchanged -= scale_centres(parts, m, factor, stochastic);
      evaluate(m, m.frame.step + 1);
      // The change of potential energy by the mean virial of before and after.
      const std::array<Vec3, 3> after =
          centres_of(parts, m, 0, 0, slow_kicks(m.frame.step + 1)).virial;
      for (std::size_t k = 0; k < 3; ++k)
        m.exchanged += 0.5 * (now.virial[k][k] + after[k][k]) * std::log(factor[k]);
    };
    switch (o.scheme) {
      case Scheme::velocity_verlet:
        if (has_chains()) turn_chains(m, 0.5 * dt);
        kick_and_drift(m, {}, 0.5 * dt, dt);
        arrive();
        kick(m, 0.5 * dt);
        constrain_velocities(m);
        if (has_chains())
          turn_chains(m, 0.5 * dt);
        else
          scale(m.frame.v_nm_ps, couple(m));
        break;
      case Scheme::leap_frog:
        kick_and_drift(m, couple(m), dt, has_chains() ? 0.5 * dt : dt);
        if (has_chains()) {
          turn_chains(m, dt);
          drift(m, 0.5 * dt);
        }
        arrive();
        break;
      case Scheme::langevin:
        kick(m, 0.5 * dt);
        constrain_velocities(m);
        drift(m, 0.5 * dt);
        rub(m, dt);
        drift(m, 0.5 * dt);
        arrive();
        kick(m, 0.5 * dt);
        constrain_velocities(m);
        break;
    }
    if (has_chains()) {
      const double next =
          m.frame.time_ps + dt;  // what a ramp does to the chains' energy is the ramp's work
      m.exchanged += energy_of_chains(m, temperatures(m.frame.time_ps)) -
                     energy_of_chains(m, temperatures(next));
    }
    ++m.frame.step;
    m.frame.time_ps += dt;
    if (removes_motion() && m.frame.step % o.centre_of_mass_removal_every == 0)
      remove_motion(parts, m.frame.x_nm, m.frame.v_nm_ps,
                    o.centre_of_mass_removal == Removal::angular);
    if (o.barostat == Barostat::monte_carlo && m.frame.step % o.barostat_every == 0) try_box(m);
  }
};

Integrator::Integrator(const System& system, ForceFunction forces, const Dynamics& options,
                       ForceFunction slow)
    : impl_(std::make_unique<Impl>(system, std::move(forces), options, std::move(slow))) {}
Integrator::~Integrator() = default;
Integrator::Integrator(Integrator&&) noexcept = default;
Integrator& Integrator::operator=(Integrator&&) noexcept = default;
double Integrator::degrees_of_freedom() const { return impl_->freedom; }
std::vector<double> Integrator::degrees_of_freedom_of_groups() const {
  return impl_->parts.freedom;
}

State Integrator::begin(Frame frame) const {
  const Impl& s = *impl_;
  if (frame.x_nm.size() != s.n())
    dynamics_fault(fmt::format("{} positions for {} atoms", frame.x_nm.size(), s.n()));
  if (!frame.v_nm_ps.empty() && frame.v_nm_ps.size() != s.n())
    dynamics_fault(fmt::format("{} velocities for {} atoms", frame.v_nm_ps.size(), s.n()));
  const bool periodic = is_periodic(frame.box);
  if (s.o.barostat != Barostat::none && !periodic)
    dynamics_fault("a barostat needs a periodic box");
  if (s.o.centre_of_mass_removal == Removal::angular && s.removes_motion() && periodic)
    dynamics_fault("rotation cannot be taken out of a periodic box: there is none");
  State m;
  m.frame = std::move(frame);
  make_whole(s.system, m.frame.x_nm, m.frame.box);
  if (s.constraints.size() > 0 && !s.o.as_they_are) {
    const std::vector<Vec3> before = m.frame.x_nm;
    s.constraints.apply_to_positions(before, m.frame.x_nm, m.frame.box);
  }
  if (m.frame.v_nm_ps.empty()) {
    m.frame.v_nm_ps = velocities_at(s.parts, s.constraints, m.frame.x_nm, m.frame.box,
                                    s.temperatures(m.frame.time_ps),
                                    s.parts.any_frozen        ? Removal::none
                                    : s.removes_motion()      ? s.o.centre_of_mass_removal
                                    : s.parts.move_together() ? Removal::none
                                                              : Removal::linear,
                                    s.o.seed);
  } else if (!s.o.as_they_are) {
    for (std::size_t i = 0; i < s.n(); ++i)
      for (std::size_t c = 0; c < 3; ++c)
        if (s.parts.inverse[i][c] == 0) m.frame.v_nm_ps[i][c] = 0;
    s.constrain_velocities(m);
    if (s.removes_motion())
      remove_motion(s.parts, m.frame.x_nm, m.frame.v_nm_ps,
                    s.o.centre_of_mass_removal == Removal::angular);
  }
  s.evaluate(m, m.frame.step);
  if (s.has_chains()) m.bath.assign(2 * nose_hoover_length * s.o.groups.size(), 0.0);
  if (s.has_piston()) m.piston = piston_at_rest(s.scales, s.o, m.frame.box);
  if (s.o.barostat == Barostat::monte_carlo)
    for (const Scale& j : s.scales)
      m.piston.insert(m.piston.end(), {0.01 * coordinate_of(j, m.frame.box), 0, 0});
  m.sampled = total(kinetic_energies(s.parts, m.frame.v_nm_ps));
  return m;
}

void Integrator::step(State& m, std::int64_t n, bool reported) const {
  for (std::int64_t k = 0; k < n; ++k) impl_->step(m, reported && k + 1 == n);
}

Energies Integrator::energies(const State& m) const {
  const Impl& s = *impl_;
  Energies e;
  e.potential = m.forces.potential();
  std::vector<double> kinetic = kinetic_energies(s.parts, m.frame.v_nm_ps);
  const std::vector<double> temperature = s.temperatures(m.frame.time_ps);
  e.kinetic = e.sampled = total(kinetic);
  if (s.o.scheme == Scheme::leap_frog) {
    // The half step to come, tried on copies.
    const double dt = s.o.dt_ps;
    std::vector<Vec3> v = m.frame.v_nm_ps, x = m.frame.x_nm;
    for (std::size_t i = 0; i < s.n(); ++i)
      for (std::size_t c = 0; c < 3; ++c) {
        v[i][c] += dt * s.parts.inverse[i][c] * m.forces.f[i][c];
        x[i][c] += dt * v[i][c];
      }
    if (s.constraints.size() > 0)
      s.constraints.apply_to_positions(m.frame.x_nm, x, m.frame.box, &v, dt);
    e.kinetic = 0.5 * (e.kinetic + total(kinetic_energies(s.parts, v)));
  }
  if (s.o.scheme == Scheme::langevin) e.sampled = m.sampled;
  if (s.o.scheme == Scheme::leap_frog && s.o.thermostat == Thermostat::andersen) {
    kinetic = kinetic_energies(s.parts, s.full_step_velocities(m));
    e.sampled = total(kinetic);
  }
  e.temperature_k = 2 * e.sampled / (s.freedom * gas_constant);
  for (std::size_t g = 0; g < kinetic.size(); ++g)
    e.group_temperature_k.push_back(
        s.parts.freedom[g] > 0 ? 2 * kinetic[g] / (s.parts.freedom[g] * gas_constant) : 0);
  e.conserved = e.potential + e.kinetic + m.exchanged;
  if (s.has_chains()) e.conserved += s.energy_of_chains(m, temperature);
  if (s.has_piston()) {
    std::vector<double> next = m.piston;
    if (s.o.scheme == Scheme::leap_frog)
      push_piston(s.scales, next, m.frame.box, centres_of(s.parts, m, 0, 0).virial, true,
                  s.o.dt_ps);
    e.conserved += 0.5 * (piston_energy(m.piston) + piston_energy(next)) +
                   s.scales[0].pressure * volume_nm3(m.frame.box);
  }
  if (!is_periodic(m.frame.box)) return e;
  e.volume_nm3 = volume_nm3(m.frame.box);
  const Centres c = s.centres(m);
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < 3; ++b)
      e.pressure_tensor_bar[a][b] =
          bar_per_pressure_unit * (c.twice_kinetic[a][b] + c.virial[a][b]) / e.volume_nm3;
  e.pressure_bar =
      (e.pressure_tensor_bar[0][0] + e.pressure_tensor_bar[1][1] + e.pressure_tensor_bar[2][2]) / 3;
  return e;
}

double Forces::potential() const { return std::accumulate(energy.begin(), energy.end(), 0.0); }

}  // namespace tessera::molecular
