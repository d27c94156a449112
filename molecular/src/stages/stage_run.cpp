// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/stage_run.h"

#include "stages/divided_run.h"
#include "stages/dynamics_run.h"
#include "stages/stage_forces.h"
#include "stages/stage_state.h"
#include "tessera/data/diagnostic.h"
#include "tessera/molecular/trajectory.h"
#include "tessera/molecular/virtual_sites.h"
#include "tessera/parallel/communicator.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <utility>

namespace tessera::molecular {

using namespace stages;

namespace {

class MinimizationRun : public StageRun {
 public:
  MinimizationRun(const Stage& stage, const StageStart& at, const Frame& start, bool fresh,
                  ForceFunction forces)
      : stage_(stage),
        terms_(terms_of(at.system, at.nonbonded, is_periodic(start.box))),
        columns_(columns_of(stage, at, start.box)),
        minimizer_(at.system, timed(std::move(forces), seconds.forces), at.minimization,
                   at.minimization.method == Minimization::Method::newton_cg
                       ? hessian_product(at.system, at.nonbonded, start.box)
                       : HessianProduct{}) {
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
    minimizer_.project(descent_);
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

[[noreturn]] void refuse_frames(const Stage& stage, std::string what, std::string hint = {}) {
  data::Diagnostic d;
  d.number = 750;
  d.place.file = stage.frames.string();
  d.message = std::move(what);
  d.hint = std::move(hint);
  throw data::InputError(std::move(d));
}

/// Frame by frame of a trajectory; `step` counts them.
class Rerun : public StageRun {
 public:
  Rerun(const Stage& stage, const StageStart& at, const Frame& start, bool fresh,
        ForceFunction forces)
      : stage_(stage),
        at_(at),
        box_(start.box),
        terms_(terms_of(at.system, at.nonbonded, is_periodic(start.box))),
        columns_(columns_of(stage, at, start.box)),
        force_(timed(std::move(forces), seconds.forces)) {
    reader_ = open_trajectory(stage.frames, {.n_atoms = at.system.n_atoms(), .positions = true});
    number_ = -1;
    ended_ = !reader_->read(next_);
    if (ended_) refuse_frames(stage, "there is no frame in it");
    if (fresh) advance(0, true);
  }
  void advance(std::int64_t /*to*/, bool /*reported*/) override {
    Frame frame = std::move(next_.frame);
    frame.step = ++number_;
    check_frame(stage_, at_, box_, frame);
    place_virtual_sites(at_.system, frame.x_nm, frame.box);
    try {
      force_(frame.x_nm, frame.box, forces_);
    } catch (const parallel::CommunicationFailed&) {
      throw;
    } catch (const Error& e) {
      refuse_frames(stage_, fmt::format("frame {}: {}", number_, e.what()));
    }
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
    if (is_periodic(box_))
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
  const Stage& stage_;
  const StageStart& at_;
  Box box_;  ///< where the stage begins
  std::vector<Term> terms_;
  std::vector<std::string> columns_;
  ForceFunction force_;
  bool ended_ = false;
  std::int64_t number_ = 0;
  std::unique_ptr<TrajectoryReader> reader_;
  Snapshot next_;
  Frame frame_;
  Forces forces_;
};

}  // namespace

std::unique_ptr<StageRun> begin_stage(const Stage& stage, const StageStart& at, const Frame& start,
                                      bool fresh, const StageRanks& ranks) {
  const bool many = ranks.all && ranks.all->size() > 1;
  if (many && why_not_divided(stage, at, start.box).empty()) {
    auto run = std::make_unique<DividedRun>(stage, at, start, ranks);
    if (fresh) run->begin(start);
    return run;
  }
  std::optional<DividedForces> divided;
  if (many && why_forces_not_divided(stage, at, start.box).empty())
    divided.emplace(divided_forces(stage, at, start.box, ranks));
  const ForcesOf forces = [&](ForceOptions::Part part) {
    if (!divided) return stage_forces(stage, at, start.box, part);
    return with_moving_restraints(stage, at, start.box, part, divided->of(part));
  };
  using Part = ForceOptions::Part;
  std::unique_ptr<StageRun> out;
  if (stage.type == StageType::rerun) {
    out = std::make_unique<Rerun>(stage, at, start, fresh, forces(Part::all));
  } else if (stage.minimizes()) {
    out = std::make_unique<MinimizationRun>(stage, at, start, fresh, forces(Part::all));
  } else {
    auto run = std::make_unique<DynamicsRun>(stage, at, dynamics_of(stage, at), start, forces);
    if (fresh) run->begin(start);
    out = std::move(run);
  }
  if (divided) out->others_stop = [d = *divided] { return d.others_want_to_stop(); };
  return out;
}

Dynamics dynamics_of(const Stage& stage, const StageStart& at) {
  return stage.n_steps > 0 ? at.dynamics : without_steps(at.dynamics, at.system.n_atoms());
}

void check_frame(const Stage& stage, const StageStart& at, const Box& start, const Frame& frame) {
  const bool periodic = is_periodic(start);
  if (is_periodic(frame.box) != periodic)
    refuse_frames(stage,
                  fmt::format("frame {} has {} box, the structure has {}", frame.step,
                              periodic ? "no" : "a", periodic ? "one" : "none"),
                  periodic ? "frames with a box, or box = \"none\"" : "a structure with a box");
  try {
    check(at.nonbonded, frame.box);
  } catch (const BoxTooSmall& e) {
    refuse_frames(stage, fmt::format("frame {}: {}", frame.step, e.what()),
                  "a shorter cut-off (rvdw, rcoulomb)");
  } catch (const Error& e) {
    refuse_frames(stage, fmt::format("frame {}: {}", frame.step, e.what()));
  }
}

std::vector<std::string> columns_of(const Stage& stage, const StageStart& at, const Box& box) {
  const bool periodic = is_periodic(box);
  std::vector<std::string> out = {"step", "time_ps"};
  const auto add = [&](const std::vector<std::string>& names) {
    out.insert(out.end(), names.begin(), names.end());
  };
  for (const Term t : terms_of(at.system, at.nonbonded, periodic)) out.push_back(name_of(t));
  out.push_back("potential");
  if (stage.type == StageType::rerun) {
    out.push_back("largest_force_kj_mol_nm");
    if (periodic) add({"virial", "volume_nm3"});
  } else if (stage.minimizes()) {
    add({"largest_force_kj_mol_nm", "largest_at", "evaluations", "state"});
  } else {
    add({"kinetic", "total", "conserved", "temperature_k"});
    for (const TemperatureGroup& g : at.dynamics.groups) out.push_back(g.name + "_temperature_k");
    if (periodic) add({"pressure_bar", "volume_nm3", "density_kg_m3"});
    if (tells_diagonal(stage, at.dynamics, periodic))
      add({"pressure_xx_bar", "pressure_yy_bar", "pressure_zz_bar"});
    if (tells_tensor(stage, periodic))
      add({"pressure_xy_bar", "pressure_xz_bar", "pressure_yz_bar"});
  }
  return out;
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
