// SPDX-License-Identifier: Apache-2.0
#include "dynamics/baths.h"
#include "tessera/autodiff/error.h"
#include "tessera/data/random.h"
#include "tessera/molecular/dynamics.h"
#include "tessera/molecular/virtual_sites.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tessera::molecular {
namespace {

using Integrator = Dynamics::Integrator;
using Thermostat = Dynamics::Thermostat;
/// Streams of random numbers: no two uses share one.
enum Stream : std::uint64_t { velocities = 1, friction = 2, collisions = 3, new_velocities = 4 };

double normal_of(std::uint64_t seed, Stream stream, std::uint64_t step, std::uint64_t n, std::uint64_t atom, std::uint64_t component) {
  return data::normal({seed, stream}, 3 * (step * n + atom) + component);
}

}  // namespace

struct Stepper::Impl {
  System system;
  ForceFunction force;
  Dynamics o;
  Constraints constraints;
  std::vector<double> inverse_mass;
  std::vector<std::int32_t> group;  ///< atoms that constraints hold together, for collisions
  double freedom = 0;
  double total_mass = 0;

  Impl(const System& s, ForceFunction f, const Dynamics& options) : system(s), force(std::move(f)), o(options), constraints(s) {
    const auto fault = [](const std::string& what) { throw Error("[dynamics] " + what); };
    if (!(o.dt_ps > 0)) fault(fmt::format("the time step must be positive, got {} ps", o.dt_ps));
    if (!(o.temperature_k >= 0)) fault(fmt::format("the temperature must not be negative, got {} K", o.temperature_k));
    if (o.thermostat != Thermostat::none && !(o.tau_t_ps > 0)) fault(fmt::format("the thermostat's time must be positive, got {} ps", o.tau_t_ps));
    if (o.integrator == Integrator::langevin && o.thermostat != Thermostat::none) fault("langevin keeps the temperature by itself: thermostat = none");
    if (o.integrator == Integrator::langevin && !(o.friction_per_ps > 0)) fault(fmt::format("the friction must be positive, got {} 1/ps", o.friction_per_ps));
    if (o.thermostat == Thermostat::nose_hoover && o.integrator != Integrator::velocity_verlet) fault("nose_hoover needs integrator = velocity_verlet");
    if (o.thermostat == Thermostat::andersen && o.dt_ps > o.tau_t_ps) fault("andersen: the time step is longer than the time between collisions");
    std::size_t mobile = 0;
    for (const double m : s.atoms.mass_amu) {
      inverse_mass.push_back(m > 0 ? 1 / m : 0);
      mobile += m > 0;
      total_mass += m;
    }
    group = constraints.groups();
    std::int32_t next = group.empty() ? 0 : *std::ranges::max_element(group) + 1;
    for (std::int32_t& g : group)
      if (g < 0) g = next++;
    freedom = 3.0 * static_cast<double>(mobile) - static_cast<double>(constraints.size());
    if (holds_centre()) freedom -= 3;
    if (!(freedom > 0)) fault(fmt::format("no degrees of freedom are left of {} atoms and {} constraints", mobile, constraints.size()));
  }
  bool holds_centre() const { return o.hold_centre_every > 0 && o.integrator != Integrator::langevin && o.thermostat != Thermostat::andersen; }
  std::size_t n() const { return system.n_atoms(); }

  double kinetic(const std::vector<Vec3>& v) const {
    double sum = 0;
    for (std::size_t i = 0; i < n(); ++i) sum += 0.5 * system.atoms.mass_amu[i] * (v[i][0] * v[i][0] + v[i][1] * v[i][1] + v[i][2] * v[i][2]);
    return sum;
  }
  static void scale(std::vector<Vec3>& v, double factor) {
    for (Vec3& w : v)
      for (double& c : w) c *= factor;
  }
  void rest_centre(std::vector<Vec3>& v) const {
    Vec3 p{};
    for (std::size_t i = 0; i < n(); ++i)
      for (std::size_t c = 0; c < 3; ++c) p[c] += system.atoms.mass_amu[i] * v[i][c];
    for (std::size_t i = 0; i < n(); ++i)
      for (std::size_t c = 0; c < 3; ++c)
        if (inverse_mass[i] > 0) v[i][c] -= p[c] / total_mass;
  }

  void accelerate(Motion& m, double t) const {
    for (std::size_t i = 0; i < n(); ++i)
      for (std::size_t c = 0; c < 3; ++c) m.frame.v_nm_ps[i][c] += t * inverse_mass[i] * m.forces.f[i][c];
  }
  void hold_velocities(Motion& m) const {
    if (constraints.size() > 0) constraints.apply_to_velocities(m.frame.x_nm, m.frame.v_nm_ps, m.frame.box);
  }
  /// The same after a kick of length t, with the virial of the constraints.
  void hold_velocities(Motion& m, double t) const {
    if (constraints.size() == 0) return;
    std::array<Vec3, 3> pull;
    constraints.apply_to_velocities(m.frame.x_nm, m.frame.v_nm_ps, m.frame.box, &pull);
    add_virial(m, pull, 1 / t);
  }
  static void add_virial(Motion& m, const std::array<Vec3, 3>& pull, double factor) {
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t b = 0; b < 3; ++b) m.forces.virial[a][b] += factor * pull[a][b];
  }
  void drift(Motion& m, double t, std::array<Vec3, 3>* pull = nullptr) const {
    std::vector<Vec3>&x = m.frame.x_nm, &v = m.frame.v_nm_ps;
    std::vector<Vec3> before, moved;
    if (constraints.size() > 0) before = x;
    for (std::size_t i = 0; i < n(); ++i)
      for (std::size_t c = 0; c < 3; ++c) x[i][c] += t * v[i][c];
    if (constraints.size() > 0) {
      constraints.apply_to_positions(before, x, m.frame.box, &moved, pull);
      for (std::size_t i = 0; i < n(); ++i)
        for (std::size_t c = 0; c < 3; ++c) v[i][c] += moved[i][c] / t;
    }
    place_virtual_sites(system, x, m.frame.box);
  }
  void evaluate(Motion& m) const {
    force(m.frame.x_nm, m.frame.box, m.forces);
    spread_virtual_forces(system, m.frame.x_nm, m.frame.box, m.forces.f, m.forces.virial);
  }

  /// v <- c v + sqrt((1 - c^2) kT/m) R.
  void rub(Motion& m, double t) const {
    const double before = kinetic(m.frame.v_nm_ps), c = std::exp(-o.friction_per_ps * t), noise = std::sqrt(-std::expm1(-2 * o.friction_per_ps * t) * gas_constant * o.temperature_k);
    for (std::size_t i = 0; i < n(); ++i)
      for (std::size_t k = 0; k < 3; ++k)
        if (inverse_mass[i] > 0)
          m.frame.v_nm_ps[i][k] = c * m.frame.v_nm_ps[i][k] + noise * std::sqrt(inverse_mass[i]) * normal_of(o.seed, friction, static_cast<std::uint64_t>(m.frame.step), n(), i, k);
    hold_velocities(m);
    m.exchanged -= kinetic(m.frame.v_nm_ps) - before;
  }
  /// The thermostat at the end of a step.
  void couple(Motion& m) const {
    std::vector<Vec3>& v = m.frame.v_nm_ps;
    if (o.thermostat == Thermostat::none || o.thermostat == Thermostat::nose_hoover) return;
    const double before = kinetic(v), aim = 0.5 * freedom * gas_constant * o.temperature_k;
    const auto step = static_cast<std::uint64_t>(m.frame.step);
    if (o.thermostat == Thermostat::v_rescale) scale(v, bussi_factor(before, aim, freedom, o.dt_ps / o.tau_t_ps, o.seed, step));
    if (o.thermostat == Thermostat::berendsen && before > 0) scale(v, std::sqrt(1 + o.dt_ps / o.tau_t_ps * (aim / before - 1)));
    if (o.thermostat == Thermostat::andersen) {
      for (std::size_t i = 0; i < n(); ++i) {
        const auto g = static_cast<std::uint64_t>(group[i]);
        if (inverse_mass[i] == 0 || data::uniform({o.seed, collisions}, step * n() + g) >= o.dt_ps / o.tau_t_ps) continue;
        for (std::size_t k = 0; k < 3; ++k) v[i][k] = std::sqrt(gas_constant * o.temperature_k * inverse_mass[i]) * normal_of(o.seed, new_velocities, step, n(), i, k);
      }
      hold_velocities(m);
    }
    m.exchanged -= kinetic(v) - before;
  }
  void turn_chain(Motion& m) const {
    const double before = kinetic(m.frame.v_nm_ps), factor = nose_hoover_factor(m.bath, before, freedom, gas_constant * o.temperature_k, o.tau_t_ps, 0.5 * o.dt_ps);
    scale(m.frame.v_nm_ps, factor);
  }

  void step(Motion& m) const {
    const double dt = o.dt_ps;
    switch (o.integrator) {
      case Integrator::velocity_verlet:
        if (o.thermostat == Thermostat::nose_hoover) turn_chain(m);
        accelerate(m, 0.5 * dt);
        drift(m, dt);
        evaluate(m);
        accelerate(m, 0.5 * dt);
        hold_velocities(m, 0.5 * dt);
        couple(m);
        if (o.thermostat == Thermostat::nose_hoover) turn_chain(m);
        break;
      case Integrator::leap_frog:
        couple(m);
        accelerate(m, dt);
        drift(m, dt);
        evaluate(m);
        break;
      case Integrator::langevin:
        accelerate(m, 0.5 * dt);
        hold_velocities(m);
        drift(m, 0.5 * dt);
        rub(m, dt);
        drift(m, 0.5 * dt);
        evaluate(m);
        accelerate(m, 0.5 * dt);
        hold_velocities(m, 0.5 * dt);
        break;
    }
    ++m.frame.step;
    m.frame.time_ps += dt;
    if (holds_centre() && m.frame.step % o.hold_centre_every == 0) rest_centre(m.frame.v_nm_ps);
  }
};

Stepper::Stepper(const System& system, ForceFunction forces, const Dynamics& options) : impl_(std::make_unique<Impl>(system, std::move(forces), options)) {}
Stepper::~Stepper() = default;
Stepper::Stepper(Stepper&&) noexcept = default;
Stepper& Stepper::operator=(Stepper&&) noexcept = default;
double Stepper::degrees_of_freedom() const { return impl_->freedom; }

Motion Stepper::begin(Frame frame) const {
  const Impl& s = *impl_;
  if (frame.x_nm.size() != s.n()) throw Error(fmt::format("[dynamics] {} places for {} atoms", frame.x_nm.size(), s.n()));
  if (!frame.v_nm_ps.empty() && frame.v_nm_ps.size() != s.n()) throw Error(fmt::format("[dynamics] {} velocities for {} atoms", frame.v_nm_ps.size(), s.n()));
  Motion m;
  m.frame = std::move(frame);
  if (m.frame.v_nm_ps.empty()) m.frame.v_nm_ps = maxwell_velocities(s.system, s.o.temperature_k, s.o.seed);
  if (s.constraints.size() > 0) {
    const std::vector<Vec3> before = m.frame.x_nm;
    s.constraints.apply_to_positions(before, m.frame.x_nm, m.frame.box);
    s.hold_velocities(m);
  }
  if (s.holds_centre()) s.rest_centre(m.frame.v_nm_ps);
  place_virtual_sites(s.system, m.frame.x_nm, m.frame.box);
  s.evaluate(m);
  if (s.o.thermostat == Thermostat::nose_hoover) m.bath.assign(2 * nose_hoover_length, 0.0);
  return m;
}

void Stepper::step(Motion& m, std::int64_t n) const {
  for (std::int64_t k = 0; k < n; ++k) impl_->step(m);
}

Energies Stepper::energies(const Motion& m) const {
  const Impl& s = *impl_;
  Energies e;
  e.potential = m.forces.potential();
  std::array<Vec3, 3> virial = m.forces.virial;
  if (s.o.integrator == Integrator::leap_frog) {
    // The half step to come, tried on a copy: kinetic energies of both halves, and what constraints pull meanwhile.
    Motion next = m;
    s.accelerate(next, s.o.dt_ps);
    std::array<Vec3, 3> pull{};
    s.drift(next, s.o.dt_ps, &pull);
    e.kinetic = 0.5 * (s.kinetic(m.frame.v_nm_ps) + s.kinetic(next.frame.v_nm_ps));
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t b = 0; b < 3; ++b) virial[a][b] += pull[a][b] / (s.o.dt_ps * s.o.dt_ps);
  } else {
    e.kinetic = s.kinetic(m.frame.v_nm_ps);
  }
  e.temperature_k = 2 * e.kinetic / (s.freedom * gas_constant);
  e.conserved = e.potential + e.kinetic + m.exchanged;
  if (s.o.thermostat == Thermostat::nose_hoover) e.conserved += nose_hoover_energy(m.bath, s.freedom, gas_constant * s.o.temperature_k, s.o.tau_t_ps);
  if (is_periodic(m.frame.box)) e.pressure_bar = bar_per_pressure_unit * (2 * e.kinetic + virial[0][0] + virial[1][1] + virial[2][2]) / (3 * volume_nm3(m.frame.box));
  return e;
}

std::vector<Vec3> maxwell_velocities(const System& s, double temperature_k, std::uint64_t seed) {
  const std::size_t n = s.n_atoms();
  std::vector<Vec3> v(n);
  Vec3 p{};
  double mass = 0;
  std::size_t mobile = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double m = s.atoms.mass_amu[i];
    if (m == 0) continue;
    ++mobile;
    mass += m;
    for (std::size_t c = 0; c < 3; ++c) {
      v[i][c] = std::sqrt(gas_constant * temperature_k / m) * normal_of(seed, velocities, 0, n, i, c);
      p[c] += m * v[i][c];
    }
  }
  double twice = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t c = 0; c < 3; ++c)
      if (s.atoms.mass_amu[i] > 0) {
        if (mobile > 1) v[i][c] -= p[c] / mass;
        twice += s.atoms.mass_amu[i] * v[i][c] * v[i][c];
      }
  const double freedom = 3.0 * static_cast<double>(mobile) - (mobile > 1 ? 3 : 0);
  if (twice > 0)
    for (Vec3& w : v)
      for (double& c : w) c *= std::sqrt(freedom * gas_constant * temperature_k / twice);
  return v;
}

double Forces::potential() const { return std::accumulate(energy.begin(), energy.end(), 0.0); }

}  // namespace tessera::molecular
