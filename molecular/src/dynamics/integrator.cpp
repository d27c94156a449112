// SPDX-License-Identifier: Apache-2.0
// Schemes: the order of moves in a step, and how a run begins.
#include "dynamics/baths.h"
#include "dynamics/integrator_impl.h"
#include "system/moving_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tessera::molecular {

namespace {

Sets sets_of(const std::vector<std::int32_t>& set) {
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

}  // namespace

Integrator::Impl::Impl(const System& s, ForceFunction f, const Dynamics& options, ForceFunction g)
    : system(s), force(std::move(f)), slow(std::move(g)), o(options), constraints(s) {
  for (const TemperatureGroup& g : o.groups)
    friction_per_ps.push_back(g.tau_t_ps > 0 ? 1 / g.tau_t_ps : 0);
  if (o.groups.empty()) {
    friction_per_ps = {o.friction_per_ps};
    std::vector<std::int32_t> all(s.n_atoms());
    std::iota(all.begin(), all.end(), 0);
    o.groups = {{"all", std::move(all), o.temperature_k, o.tau_t_ps, o.annealing}};
  }
  check_dynamics(o, static_cast<bool>(slow));
  bodies = bodies_of(system, constraints, o);
  if (o.barostat != Barostat::none) scales = scales_of(o);
  if (o.barostat == Barostat::monte_carlo) molecules = sets_of(molecular::molecules(system));
  const double all = total(bodies.freedom);
  if (removes_motion() && all > 0) {
    // What is removed belongs to all groups, by their shares.
    const double removed = removed_freedom(bodies, o.centre_of_mass_removal == Removal::angular);
    for (double& d : bodies.freedom) d -= removed * d / all;
  }
  freedom = total(bodies.freedom);
  if (!(freedom > 0.5) && !o.as_they_are)
    dynamics_fault(fmt::format("no degrees of freedom are left of {} atoms and {} constraints", n(),
                               constraints.size()));
  has_sites = !system.virtual_sites.empty();
}

Integrator::Impl::Impl(const Impl& all, const std::vector<std::int32_t>& numbers,
                       const Others& others, ForceFunction f, ForceFunction g)
    : system(moving_part(all.system, numbers)),
      force(std::move(f)),
      slow(std::move(g)),
      o(all.o),
      friction_per_ps(all.friction_per_ps),
      constraints(system),
      bodies(some_of(all.bodies, numbers, others)),
      scales(all.scales),
      freedom(all.freedom),
      has_sites(all.has_sites) {}

void Integrator::Impl::step(State& m, bool reported) const {
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
    m.exchanged -= scale_centres(bodies, m, factor, stochastic);
    evaluate(m, m.frame.step + 1);
    // The change of potential energy by the mean virial of before and after.
    const std::array<Vec3, 3> after =
        centres_of(bodies, m, 0, 0, slow_kicks(m.frame.step + 1)).virial;
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
      apply_friction(m, dt);
      drift(m, 0.5 * dt);
      arrive();
      kick(m, 0.5 * dt);
      constrain_velocities(m);
      break;
  }
  const double next = time_ps(m, m.frame.step + 1);
  if (has_chains())  // what a ramp does to the chains' energy is the ramp's work
    m.exchanged += energy_of_chains(m, temperatures(m.frame.time_ps)) -
                   energy_of_chains(m, temperatures(next));
  ++m.frame.step;
  m.frame.time_ps = next;
  if (removes_motion() && m.frame.step % o.centre_of_mass_removal_every == 0) stop_whole(m);
  if (o.barostat == Barostat::monte_carlo && m.frame.step % o.barostat_every == 0) try_box(m);
}

Integrator::Integrator(const System& system, ForceFunction forces, const Dynamics& options,
                       ForceFunction slow)
    : impl_(std::make_unique<Impl>(system, std::move(forces), options, std::move(slow))) {}
Integrator::~Integrator() = default;
Integrator::Integrator(Integrator&&) noexcept = default;
Integrator& Integrator::operator=(Integrator&&) noexcept = default;
double Integrator::degrees_of_freedom() const { return impl_->freedom; }
std::vector<double> Integrator::degrees_of_freedom_of_groups() const {
  return impl_->bodies.freedom;
}

State Integrator::Impl::start(Frame frame) const {
  if (frame.x_nm.size() != n())
    dynamics_fault(fmt::format("{} positions for {} atoms", frame.x_nm.size(), n()));
  if (!frame.v_nm_ps.empty() && frame.v_nm_ps.size() != n())
    dynamics_fault(fmt::format("{} velocities for {} atoms", frame.v_nm_ps.size(), n()));
  const bool periodic = is_periodic(frame.box);
  if (o.barostat != Barostat::none && !periodic) dynamics_fault("a barostat needs a periodic box");
  if (o.centre_of_mass_removal == Removal::angular && removes_motion() && periodic)
    dynamics_fault("rotation cannot be taken out of a periodic box: there is none");
  State m;
  m.frame = std::move(frame);
  m.begin_ps = m.frame.time_ps - static_cast<double>(m.frame.step) * o.dt_ps;
  make_whole(system, m.frame.x_nm, m.frame.box);
  if (constraints.size() > 0 && !o.as_they_are) {
    const std::vector<Vec3> before = m.frame.x_nm;
    constraints.apply_to_positions(before, m.frame.x_nm, m.frame.box);
  }
  if (m.frame.v_nm_ps.empty()) {
    m.frame.v_nm_ps =
        velocities_at(bodies, constraints, m.frame.x_nm, m.frame.box, temperatures(m.frame.time_ps),
                      removes_motion() ? o.centre_of_mass_removal : Removal::none, o.seed);
  } else if (!o.as_they_are) {
    for (std::size_t i = 0; i < n(); ++i)
      for (std::size_t c = 0; c < 3; ++c)
        if (bodies.inverse[i][c] == 0) m.frame.v_nm_ps[i][c] = 0;
    constrain_velocities(m);
    if (removes_motion())
      remove_motion(bodies, m.frame.x_nm, m.frame.v_nm_ps,
                    o.centre_of_mass_removal == Removal::angular);
  }
  return m;
}

void Integrator::Impl::set_going(State& m) const {
  if (has_chains()) m.bath.assign(2 * nose_hoover_length * o.groups.size(), 0.0);
  if (has_piston()) m.piston = piston_at_rest(scales, o, m.frame.box);
  if (o.barostat == Barostat::monte_carlo)
    for (const Scale& j : scales)
      m.piston.insert(m.piston.end(), {0.01 * coordinate_of(j, m.frame.box), 0, 0});
  m.sampled = kinetic_energies(bodies, m.frame.v_nm_ps);
}

State Integrator::begin(Frame frame) const {
  State m = impl_->start(std::move(frame));
  impl_->evaluate(m, m.frame.step, true);
  impl_->set_going(m);
  return m;
}

Energies Integrator::energies(const State& m) const { return impl_->energies(m); }

void Integrator::step(State& m, std::int64_t n, bool reported) const {
  for (std::int64_t k = 0; k < n; ++k) impl_->step(m, reported && k + 1 == n);
}

}  // namespace tessera::molecular
