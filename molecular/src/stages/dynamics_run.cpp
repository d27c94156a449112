// SPDX-License-Identifier: Apache-2.0
#include "stages/dynamics_run.h"

#include "tessera/parallel/communicator.h"

#include <fmt/format.h>

#include <cmath>

namespace tessera::molecular::stages {
namespace {

/// In one step: many times what heat does, a part of the distance between atoms.
constexpr double most_step_nm = 0.25;

}  // namespace

Dynamics without_steps(Dynamics o, std::size_t n_atoms) {
  // Langevin's steps leave the motion of the whole; that of one atom is all there is.
  if (o.scheme == Dynamics::Scheme::langevin || n_atoms == 1)
    o.centre_of_mass_removal = Dynamics::CentreOfMassRemoval::none;
  o.scheme = Dynamics::Scheme::velocity_verlet;
  o.slow_every = 1;
  o.dt_ps = 1e-12;
  o.as_they_are = true;
  return o;
}

DynamicsRun::DynamicsRun(const Stage& stage, const StageStart& at, const Dynamics& dynamics,
                         const Frame& start, const ForcesOf& forces)
    : stage_(stage),
      at_(at),
      dynamics_(dynamics),
      terms_(terms_of(at.system, at.nonbonded, is_periodic(start.box))),
      columns_(columns_of(stage, at, start.box)),
      integrator_(at.system,
                  timed(forces(dynamics.slow_every > 1 ? ForceOptions::Part::fast
                                                       : ForceOptions::Part::all),
                        seconds.forces),
                  dynamics,
                  dynamics.slow_every > 1 ? timed(forces(ForceOptions::Part::slow), seconds.forces)
                                          : ForceFunction()),
      periodic_(is_periodic(start.box)),
      tensor_(tells_diagonal(stage, dynamics, periodic_)),
      whole_tensor_(tells_tensor(stage, periodic_)),
      begin_ps_(start.time_ps) {
  for (const double m : at_.system.atoms.mass_amu) mass_amu_ += m;
}

void DynamicsRun::begin(const Frame& start) {
  Frame frame = prepared(start);
  last_ = frame;
  state_ = integrator_.begin(std::move(frame));
}

Frame DynamicsRun::prepared(const Frame& start) const {
  Frame frame = start;
  frame.step = 0;
  if (stage_.draws_velocities.value_or(frame.v_nm_ps.empty())) {
    frame.v_nm_ps.clear();  // the integrator draws them at the temperatures of its baths
    if (stage_.drawn_temperature_k) {
      Dynamics other = dynamics_;
      other.temperature_k = *stage_.drawn_temperature_k;
      other.annealing.clear();
      other.slow_every = 1;
      for (TemperatureGroup& g : other.groups) {
        g.temperature_k = *stage_.drawn_temperature_k;
        g.annealing.clear();
      }
      frame.v_nm_ps =
          Integrator(at_.system, ForceEvaluator(at_.system, at_.nonbonded, stage_.force_options),
                     other)
              .begin(frame)
              .frame.v_nm_ps;
    }
  } else if (frame.v_nm_ps.empty()) {
    frame.v_nm_ps.assign(frame.x_nm.size(), Vec3{});
  }
  return frame;
}

double DynamicsRun::fastest_nm_ps() const {
  return stage_.n_steps > 0 ? most_step_nm / stage_.dynamics.dt_ps
                            : std::numeric_limits<double>::infinity();
}

void DynamicsRun::advance(std::int64_t to, bool reported) {
  const double begin = now_s(), forces = seconds.forces;
  const State before = state_;
  bool failed = false;
  try {
    integrator_.step(state_, to - state_.frame.step, reported);
  } catch (const parallel::CommunicationFailed&) {
    throw;
  } catch (const Error&) {
    failed = true;
  }
  if (failed || !trouble().empty()) {  // again, one by one, to know the last good one
    state_ = before;
    while (state_.frame.step < to && trouble().empty()) {
      last_ = state_.frame;
      integrator_.step(state_);
    }
  }
  seconds.steps += now_s() - begin - (seconds.forces - forces);
}

std::string DynamicsRun::trouble() const {
  if (!std::isfinite(state_.forces.potential())) return "the potential energy is not a number";
  const double most = fastest_nm_ps();
  const auto& v = state_.frame.v_nm_ps;
  for (std::size_t i = 0; i < v.size(); ++i)
    if (const double square = v[i][0] * v[i][0] + v[i][1] * v[i][1] + v[i][2] * v[i][2];
        stage_.n_steps > 0 && !(square <= most * most))
      return fmt::format("atom {} moves {:.3g} nm in one step of {:g} ps",
                         name_of_atom(at_.system, static_cast<std::int32_t>(i)),
                         std::sqrt(square) * stage_.dynamics.dt_ps, stage_.dynamics.dt_ps);
  return {};
}

std::vector<double> DynamicsRun::row_of(const State& m, const Energies& e) const {
  std::vector<double> out = common_row(terms_, m.frame, m.forces);
  out.insert(out.end(), {e.kinetic, e.potential + e.kinetic, e.conserved, e.temperature_k});
  if (!stage_.baths.empty())
    out.insert(out.end(), e.group_temperature_k.begin(), e.group_temperature_k.end());
  if (!periodic_) return out;
  constexpr double amu_per_nm3 = 1.66053906660;  // kg/m^3
  out.insert(out.end(), {e.pressure_bar, e.volume_nm3, mass_amu_ / e.volume_nm3 * amu_per_nm3});
  const auto& p = e.pressure_tensor_bar;
  if (tensor_) out.insert(out.end(), {p[0][0], p[1][1], p[2][2]});
  // The tensor of centres of rigid groups is even in the mean alone: what is odd is a torque.
  if (whole_tensor_)
    out.insert(out.end(),
               {0.5 * (p[0][1] + p[1][0]), 0.5 * (p[0][2] + p[2][0]), 0.5 * (p[1][2] + p[2][1])});
  return out;
}

const Forces& DynamicsRun::forces() const {
  if (dynamics_.slow_every == 1) return state_.forces;
  all_ = state_.forces;
  const double more = state_.frame.step % dynamics_.slow_every == 0
                          ? 1 - static_cast<double>(dynamics_.slow_every)
                          : 1;
  for (std::size_t i = 0; i < all_.f.size(); ++i)
    for (std::size_t a = 0; a < 3; ++a) all_.f[i][a] += more * state_.slow.f[i][a];
  return all_;
}

void DynamicsRun::save(data::Checkpoint& c) const {
  put(c, state_.frame, state_.forces);
  if (dynamics_.slow_every > 1) {
    put(c, "slow_f", state_.slow.f);
    c.put("slow_terms", std::vector<double>(state_.slow.energy.begin(), state_.slow.energy.end()));
    put(c, "slow_virial", {state_.slow.virial.begin(), state_.slow.virial.end()});
  }
  c.put("bath", state_.bath);
  c.put("piston", state_.piston);
  c.put("sampled", state_.sampled);
  c.put("exchanged", state_.exchanged);
}

void DynamicsRun::restore(const data::Checkpoint& c) {
  get(c, state_.frame, state_.forces);
  if (dynamics_.slow_every > 1) {
    state_.slow.f = triples(c.array<double>("slow_f"));
    const auto virial = triples(c.array<double>("slow_virial"));
    const auto& terms = c.array<double>("slow_terms");
    if (virial.size() != 3 || terms.size() != n_terms ||
        state_.slow.f.size() != state_.frame.x_nm.size())
      throw Error("[checkpoint] the slow forces of a stage are inconsistent");
    std::ranges::copy(virial, state_.slow.virial.begin());
    std::ranges::copy(terms, state_.slow.energy.begin());
  }
  state_.bath = c.array<double>("bath");
  state_.piston = c.array<double>("piston");
  state_.sampled = c.array<double>("sampled");
  if (dynamics_.scheme == Dynamics::Scheme::langevin &&
      state_.sampled.size() != std::max<std::size_t>(1, dynamics_.groups.size()))
    throw Error("[checkpoint] the kinetic energies of a stage are of other groups");
  state_.exchanged = c.scalar<double>("exchanged");
  state_.begin_ps = begin_ps_;
}

}  // namespace tessera::molecular::stages
