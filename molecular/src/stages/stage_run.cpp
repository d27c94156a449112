// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/stage_run.h"

#include "tessera/molecular/bonded.h"
#include "tessera/molecular/trajectory.h"
#include "tessera/molecular/virtual_sites.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace tessera::molecular {
namespace {

/// In one step: many times what heat does, a part of the distance between atoms.
constexpr double most_step_nm = 0.25;

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Adds the time of its life to a number.
struct Timer {
  double& sum;
  double begin = now_s();
  explicit Timer(double& s) : sum(s) {}
  ~Timer() { sum += now_s() - begin; }
};

ForceFunction timed(ForceFunction f, double& seconds) {
  return [f = std::move(f), &seconds](const std::vector<Vec3>& x, const Box& box, Forces& out) {
    const Timer t(seconds);
    f(x, box, out);
  };
}

std::vector<double> flat(const std::vector<Vec3>& a) {
  std::vector<double> out;
  out.reserve(3 * a.size());
  for (const Vec3& v : a) out.insert(out.end(), v.begin(), v.end());
  return out;
}
std::vector<Vec3> triples(const std::vector<double>& a) {
  std::vector<Vec3> out(a.size() / 3);
  for (std::size_t i = 0; i < 3 * out.size(); ++i) out[i / 3][i % 3] = a[i];
  return out;
}
void put(data::Checkpoint& c, const std::string& name, const std::vector<Vec3>& a) {
  c.put(name, flat(a), {a.size(), 3});
}

void put(data::Checkpoint& c, const Frame& f, const Forces& forces) {
  put(c, "x", f.x_nm);
  put(c, "v", f.v_nm_ps);
  put(c, "box", {f.box.edge.begin(), f.box.edge.end()});
  c.put("time_ps", f.time_ps);
  c.put("stage_step", f.step);
  put(c, "f", forces.f);
  c.put("terms", std::vector<double>(forces.energy.begin(), forces.energy.end()));
  put(c, "virial", {forces.virial.begin(), forces.virial.end()});
}
void get(const data::Checkpoint& c, Frame& f, Forces& forces) {
  f.x_nm = triples(c.array<double>("x"));
  f.v_nm_ps = triples(c.array<double>("v"));
  const auto box = triples(c.array<double>("box")), virial = triples(c.array<double>("virial"));
  const auto& terms = c.array<double>("terms");
  forces.f = triples(c.array<double>("f"));
  if (box.size() != 3 || virial.size() != 3 || terms.size() != n_terms ||
      forces.f.size() != f.x_nm.size())
    throw Error("[checkpoint] the state of a stage is inconsistent");
  std::ranges::copy(box, f.box.edge.begin());
  std::ranges::copy(virial, forces.virial.begin());
  std::ranges::copy(terms, forces.energy.begin());
  f.time_ps = c.scalar<double>("time_ps");
  f.step = c.scalar<std::int64_t>("stage_step");
}

/// Columns that every stage has: step, time, terms, potential.
std::vector<std::string> common_columns(const std::vector<Term>& terms) {
  std::vector<std::string> out = {"step", "time_ps"};
  for (const Term t : terms) out.push_back(name_of(t));
  out.push_back("potential");
  return out;
}
std::vector<double> common_row(const std::vector<Term>& terms, const Frame& f,
                               const Forces& forces) {
  std::vector<double> out = {static_cast<double>(f.step), f.time_ps};
  for (const Term t : terms) out.push_back(forces.energy[static_cast<std::size_t>(t)]);
  out.push_back(forces.potential());
  return out;
}

/// Terms of the energy that a system has, in the order of `Term`.
std::vector<Term> terms_of(const System& s, const Nonbonded& o, bool periodic) {
  std::vector<Term> out;
  for (const Term kind : bonded_terms)
    if (acts(kind, o) && bonded_energy(s, kind)) out.push_back(kind);
  out.push_back(Term::lj);
  if (o.tail != Nonbonded::Tail::none && periodic) out.push_back(Term::lj_tail);
  const bool charged = o.coulomb != Nonbonded::Coulomb::none &&
                       std::ranges::any_of(s.atoms.charge_e, [](double q) { return q != 0; });
  if (charged) out.push_back(Term::coulomb_short);
  if (charged && (o.coulomb == Nonbonded::Coulomb::pme || o.coulomb == Nonbonded::Coulomb::ewald))
    out.push_back(Term::coulomb_reciprocal);
  return out;
}

/// None where all are computed in every step.
ForceFunction slow_forces(const StageStart& at, const Stage& stage, const Dynamics& dynamics,
                          double& seconds) {
  if (dynamics.slow_every == 1) return {};
  ForceOptions run = stage.force_options;
  run.part = ForceOptions::Part::slow;
  return timed(ForceEvaluator(at.system, at.nonbonded, run), seconds);
}

/// To look at a frame: kinetic energy and pressure are those of the velocities as they are.
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

class DynamicsRun : public StageRun {
 public:
  /// `dynamics`: those of `at`, or a look at a frame.
  DynamicsRun(const Stage& stage, const StageStart& at, const Dynamics& dynamics,
              const Frame& start, bool fresh)
      : stage_(stage),
        system_(at.system),
        terms_(terms_of(at.system, at.nonbonded, is_periodic(start.box))),
        columns_(common_columns(terms_)),
        integrator_(at.system,
                    timed(stage_forces(stage, at, start.box,
                                       dynamics.slow_every > 1 ? ForceOptions::Part::fast
                                                               : ForceOptions::Part::all),
                          seconds.forces),
                    dynamics, slow_forces(at, stage, dynamics, seconds.forces)),
        slow_every_(dynamics.slow_every),
        periodic_(is_periodic(start.box)),
        begin_ps_(start.time_ps) {
    for (const double m : system_.atoms.mass_amu) mass_amu_ += m;
    columns_.insert(columns_.end(), {"kinetic", "total", "conserved", "temperature_k"});
    for (const TemperatureGroup& g : dynamics.groups) columns_.push_back(g.name + "_temperature_k");
    if (periodic_) columns_.insert(columns_.end(), {"pressure_bar", "volume_nm3", "density_kg_m3"});
    whole_tensor_ = periodic_ && stage.pressure_tensor;
    tensor_ = whole_tensor_ || (periodic_ && dynamics.barostat != Dynamics::Barostat::none &&
                                dynamics.scaling != Dynamics::Scaling::isotropic);
    if (tensor_)
      columns_.insert(columns_.end(), {"pressure_xx_bar", "pressure_yy_bar", "pressure_zz_bar"});
    if (whole_tensor_)
      columns_.insert(columns_.end(), {"pressure_xy_bar", "pressure_xz_bar", "pressure_yz_bar"});
    if (!fresh) return;
    Frame frame = start;
    frame.step = 0;
    if (stage.draws_velocities.value_or(frame.v_nm_ps.empty())) {
      frame.v_nm_ps.clear();  // the integrator draws them at the temperatures of its baths
      if (stage.drawn_temperature_k) {
        Dynamics other = dynamics;
        other.temperature_k = *stage.drawn_temperature_k;
        other.annealing.clear();
        other.slow_every = 1;
        for (TemperatureGroup& g : other.groups) {
          g.temperature_k = *stage.drawn_temperature_k;
          g.annealing.clear();
        }
        frame.v_nm_ps =
            Integrator(system_, ForceEvaluator(system_, at.nonbonded, stage.force_options), other)
                .begin(frame)
                .frame.v_nm_ps;
      }
    } else if (frame.v_nm_ps.empty()) {
      frame.v_nm_ps.assign(frame.x_nm.size(), Vec3{});
    }
    last_ = frame;
    state_ = integrator_.begin(std::move(frame));
  }
  void advance(std::int64_t to, bool reported) override {
    const double begin = now_s(), forces = seconds.forces;
    const State before = state_;
    bool failed = false;
    try {
      integrator_.step(state_, to - state_.frame.step, reported);
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
    state_.frame.time_ps = begin_ps_ + static_cast<double>(state_.frame.step) *
                                           stage_.dynamics.dt_ps;  // no sum of roundings
    seconds.steps += now_s() - begin - (seconds.forces - forces);
  }
  const Frame& last_good() const override { return last_; }
  bool done() const override { return state_.frame.step >= stage_.n_steps; }
  std::string trouble() const override {
    if (!std::isfinite(state_.forces.potential())) return "the potential energy is not a number";
    const double most = most_step_nm / stage_.dynamics.dt_ps;
    const auto& v = state_.frame.v_nm_ps;
    for (std::size_t i = 0; i < v.size(); ++i)
      if (const double square = v[i][0] * v[i][0] + v[i][1] * v[i][1] + v[i][2] * v[i][2];
          stage_.n_steps > 0 && !(square <= most * most))
        return fmt::format("atom {} moves {:.3g} nm in one step of {:g} ps",
                           name_of_atom(system_, static_cast<std::int32_t>(i)),
                           std::sqrt(square) * stage_.dynamics.dt_ps, stage_.dynamics.dt_ps);
    return {};
  }
  const std::vector<std::string>& columns() const override { return columns_; }
  std::vector<double> row() const override {
    std::vector<double> out = common_row(terms_, state_.frame, state_.forces);
    const Energies e = integrator_.energies(state_);
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
  const Frame& frame() const override { return state_.frame; }
  /// All forces at the frame: without the kick of a slow one for the steps that it stands for.
  const Forces& forces() const override {
    if (slow_every_ == 1) return state_.forces;
    all_ = state_.forces;
    const double more =
        state_.frame.step % slow_every_ == 0 ? 1 - static_cast<double>(slow_every_) : 1;
    for (std::size_t i = 0; i < all_.f.size(); ++i)
      for (std::size_t a = 0; a < 3; ++a) all_.f[i][a] += more * state_.slow.f[i][a];
    return all_;
  }
  void save(data::Checkpoint& c) const override {
    put(c, state_.frame, state_.forces);
    if (slow_every_ > 1) {
      put(c, "slow_f", state_.slow.f);
      c.put("slow_terms",
            std::vector<double>(state_.slow.energy.begin(), state_.slow.energy.end()));
      put(c, "slow_virial", {state_.slow.virial.begin(), state_.slow.virial.end()});
    }
    c.put("bath", state_.bath);
    c.put("piston", state_.piston);
    c.put("sampled", state_.sampled);
    c.put("exchanged", state_.exchanged);
  }
  void restore(const data::Checkpoint& c) override {
    get(c, state_.frame, state_.forces);
    if (slow_every_ > 1) {
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
    state_.sampled = c.scalar<double>("sampled");
    state_.exchanged = c.scalar<double>("exchanged");
  }

 private:
  const Stage& stage_;
  const System& system_;
  std::vector<Term> terms_;
  std::vector<std::string> columns_;
  Integrator integrator_;
  std::int64_t slow_every_;
  bool periodic_, tensor_ = false, whole_tensor_ = false;
  double begin_ps_;
  double mass_amu_ = 0;
  State state_;
  mutable Forces all_;  ///< what `forces` has put together
  Frame last_;
};

class MinimizationRun : public StageRun {
 public:
  MinimizationRun(const Stage& stage, const StageStart& at, const Frame& start, bool fresh)
      : stage_(stage),
        terms_(terms_of(at.system, at.nonbonded, is_periodic(start.box))),
        columns_(common_columns(terms_)),
        minimizer_(
            at.system,
            timed(ForceEvaluator(at.system, at.nonbonded, stage.force_options), seconds.forces),
            at.minimization,
            at.minimization.method == Minimization::Method::newton_cg
                ? hessian_product(at.system, at.nonbonded, start.box)
                : HessianProduct{}) {
    columns_.insert(columns_.end(),
                    {"largest_force_kj_mol_nm", "largest_at", "evaluations", "state"});
    if (!fresh) return;
    Frame frame = start;
    frame.step = 0;
    descent_ = minimizer_.begin(std::move(frame));
  }
  void advance(std::int64_t to, bool /*reported*/) override {
    const double begin = now_s(), forces = seconds.forces;
    minimizer_.step(descent_, to - descent_.frame.step);
    seconds.steps += now_s() - begin - (seconds.forces - forces);
  }
  bool done() const override {
    return descent_.status != Descent::Status::running || descent_.frame.step >= stage_.n_steps;
  }
  std::string trouble() const override {
    return std::isfinite(descent_.forces.potential()) ? std::string()
                                                      : "the potential energy is not a number";
  }
  const std::vector<std::string>& columns() const override { return columns_; }
  std::vector<double> row() const override {
    std::vector<double> out = common_row(terms_, descent_.frame, descent_.forces);
    out.insert(out.end(),
               {descent_.largest_force, static_cast<double>(descent_.largest_at + 1),
                static_cast<double>(descent_.evaluations), static_cast<double>(descent_.status)});
    return out;
  }
  const Frame& frame() const override { return descent_.frame; }
  const Forces& forces() const override { return descent_.forces; }
  void save(data::Checkpoint& c) const override {
    put(c, descent_.frame, descent_.forces);
    c.put("memory", descent_.memory);
    c.put("move_nm", descent_.move_nm);
    c.put("largest_force", descent_.largest_force);
    c.put("counts", std::vector<std::int64_t>{static_cast<std::int64_t>(descent_.largest_at),
                                              descent_.evaluations,
                                              static_cast<std::int64_t>(descent_.status)});
  }
  void restore(const data::Checkpoint& c) override {
    get(c, descent_.frame, descent_.forces);
    descent_.frame.v_nm_ps.clear();
    descent_.memory = c.array<double>("memory");
    descent_.move_nm = c.scalar<double>("move_nm");
    descent_.largest_force = c.scalar<double>("largest_force");
    const auto& counts = c.array<std::int64_t>("counts");
    if (counts.size() != 3) throw Error("[checkpoint] the state of a minimization is inconsistent");
    descent_.largest_at = static_cast<std::size_t>(counts[0]);
    descent_.evaluations = counts[1];
    descent_.status = static_cast<Descent::Status>(counts[2]);
  }

 private:
  const Stage& stage_;
  std::vector<Term> terms_;
  std::vector<std::string> columns_;
  Minimizer minimizer_;
  Descent descent_;
};

/// Frame by frame of a trajectory; `step` counts them.
class Rerun : public StageRun {
 public:
  Rerun(const Stage& stage, const StageStart& at, const Frame& start, bool fresh)
      : at_(at),
        terms_(terms_of(at.system, at.nonbonded, is_periodic(start.box))),
        columns_(common_columns(terms_)),
        force_(timed(stage_forces(stage, at, start.box), seconds.forces)),
        periodic_(is_periodic(start.box)) {
    columns_.push_back("largest_force_kj_mol_nm");
    if (periodic_) columns_.insert(columns_.end(), {"virial", "volume_nm3"});
    reader_ = open_trajectory(stage.frames, {.n_atoms = at.system.n_atoms(), .positions = true});
    number_ = -1;
    ended_ = !reader_->read(next_);
    if (ended_) throw Error("[rerun] there is no frame in " + stage.frames.string());
    if (fresh) advance(0, true);
  }
  void advance(std::int64_t /*to*/, bool /*reported*/) override {
    Frame frame = std::move(next_.frame);
    frame.step = ++number_;
    if (is_periodic(frame.box) != periodic_)
      throw Error(fmt::format("[rerun] frame {} has {} box, the structure has {}", number_,
                              periodic_ ? "no" : "a", periodic_ ? "one" : "none"));
    check(at_.nonbonded, frame.box);
    place_virtual_sites(at_.system, frame.x_nm, frame.box);
    force_(frame.x_nm, frame.box, forces_);
    spread_virtual_forces(at_.system, frame.x_nm, frame.box, forces_.f, forces_.virial);
    frame_ = std::move(frame);
    ended_ = !reader_->read(next_);
  }
  bool done() const override { return ended_; }
  std::string trouble() const override { return {}; }
  const std::vector<std::string>& columns() const override { return columns_; }
  std::vector<double> row() const override {
    std::vector<double> out = common_row(terms_, frame_, forces_);
    double largest = 0;
    for (const Vec3& f : forces_.f) largest = std::max(largest, std::hypot(f[0], f[1], f[2]));
    out.push_back(largest);
    if (periodic_)
      out.insert(out.end(), {forces_.virial[0][0] + forces_.virial[1][1] + forces_.virial[2][2],
                             volume_nm3(frame_.box)});
    return out;
  }
  const Frame& frame() const override { return frame_; }
  const Forces& forces() const override { return forces_; }
  void save(data::Checkpoint& c) const override { put(c, frame_, forces_); }
  void restore(const data::Checkpoint& c) override {
    get(c, frame_, forces_);
    for (number_ = 0; !ended_ && number_ <= frame_.step; ++number_) ended_ = !reader_->read(next_);
    number_ = frame_.step;
  }

 private:
  const StageStart& at_;
  std::vector<Term> terms_;
  std::vector<std::string> columns_;
  ForceFunction force_;
  bool periodic_, ended_ = false;
  std::int64_t number_ = 0;
  std::unique_ptr<TrajectoryReader> reader_;
  Snapshot next_;
  Frame frame_;
  Forces forces_;
};

}  // namespace

std::unique_ptr<StageRun> begin_stage(const Stage& stage, const StageStart& at, const Frame& start,
                                      bool fresh) {
  if (stage.type == StageType::rerun) return std::make_unique<Rerun>(stage, at, start, fresh);
  if (stage.minimizes()) return std::make_unique<MinimizationRun>(stage, at, start, fresh);
  return std::make_unique<DynamicsRun>(
      stage, at, stage.n_steps > 0 ? at.dynamics : without_steps(at.dynamics, at.system.n_atoms()),
      start, fresh);
}

std::string unit_of(const std::string& column) {
  static const std::pair<const char*, const char*> endings[] = {
      {"_ps", "ps"},   {"_k", "K"},          {"_bar", "bar"},
      {"_nm3", "nm3"}, {"_kg_m3", "kg m-3"}, {"_kj_mol_nm", "kJ mol-1 nm-1"}};
  for (const auto& [ending, unit] : endings)
    if (column.ends_with(ending)) return unit;
  return column == "step" || column == "largest_at" || column == "evaluations" || column == "state"
             ? "1"
             : "kJ mol-1";
}

}  // namespace tessera::molecular
