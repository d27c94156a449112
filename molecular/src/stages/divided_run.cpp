// SPDX-License-Identifier: Apache-2.0
#include "stages/divided_run.h"

#include "stages/stage_forces.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tessera::molecular::stages {

enum class Ask : std::uint8_t { begin, go_on, advance, energies, whole, whole_before, end };
struct Asked {
  Ask what = Ask::end;
  bool reported = false;
  std::int64_t to = 0;
};

namespace {

void ask(parallel::Communicator& ranks, const Asked& asked) {
  ranks.broadcast(parallel::to_bytes(std::vector{asked}));
}
Asked hear(parallel::Communicator& ranks) {
  // Rank 0 may write files, or have work of its own.
  const double tell = std::exchange(ranks.patience.tell, std::numeric_limits<double>::infinity());
  const Asked asked = parallel::from_bytes<Asked>(ranks.broadcast({})).at(0);
  ranks.patience.tell = tell;
  return asked;
}

data::Checkpoint shared(parallel::Communicator& ranks, const data::Checkpoint& of_first) {
  const std::string text = ranks.rank() == 0 ? data::encode_checkpoint(of_first) : std::string();
  const parallel::Bytes bytes =
      ranks.broadcast(parallel::to_bytes(std::vector<char>(text.begin(), text.end())));
  const std::vector<char> chars = parallel::from_bytes<char>(bytes);
  return data::decode_checkpoint({chars.data(), chars.size()}, "a state from rank 0");
}

/// Whether all went well, the same on every rank.
bool advance(DividedDynamics& steps, const Asked& asked, double fastest_nm_ps) {
  try {
    steps.step(asked.to - steps.state().frame.step, asked.reported);
  } catch (const parallel::CommunicationFailed&) {
    throw;
  } catch (const Error&) {
    return false;
  }
  return steps.slower_than(fastest_nm_ps) && std::isfinite(steps.state().forces.potential());
}

bool any_stops(parallel::Communicator& ranks, bool mine) {
  const auto all = ranks.all_gather({static_cast<std::byte>(mine)});
  return std::ranges::any_of(all, [](const parallel::Bytes& b) { return b.at(0) != std::byte{0}; });
}

}  // namespace

ForcesOf forces_alone(const Stage& stage, const StageStart& at, const Box& box) {
  return [&stage, &at, box](ForceOptions::Part part) { return stage_forces(stage, at, box, part); };
}

DividedForces divided_forces(const Stage& stage, const StageStart& at, const Box& box,
                             const StageRanks& ranks) {
  return {force_system(stage, at, box), at.nonbonded, stage.force_options, *ranks.all,
          ranks.weights};
}

DividedRun::DividedRun(const Stage& stage, const StageStart& at, const Frame& start,
                       const StageRanks& ranks)
    : DynamicsRun(stage, at, at.dynamics, start, forces_alone(stage, at, start.box)),
      ranks_(*ranks.all),
      steps_(at.system, at.nonbonded, stage.force_options, at.dynamics, *ranks.all, ranks.weights) {
}

DividedRun::~DividedRun() {
  // Where it has failed in the middle of something the others are ended otherwise.
  if (in_between_) try {
      ask(ranks_, {});
    } catch (const Error&) {
    }
}

template <class F>
void DividedRun::together(const Asked& asked, F&& f) const {
  in_between_ = false;
  ask(ranks_, asked);
  try {
    f();
  } catch (const parallel::CommunicationFailed&) {
    throw;
  } catch (const Error&) {  // of the steps: all ranks have thrown it
    in_between_ = true;
    throw;
  }
  in_between_ = true;
}

void DividedRun::begin(const Frame& start) {
  last_ = prepared(start);
  together({.what = Ask::begin}, [&] {
    data::Checkpoint c;
    put(c, last_, Forces{.f = std::vector<Vec3>(last_.x_nm.size())});
    shared(ranks_, c);
    steps_.begin(last_);
  });
}

void DividedRun::restore(const data::Checkpoint& c) {
  DynamicsRun::restore(c);
  together({.what = Ask::go_on}, [&] {
    data::Checkpoint of_steps;
    DynamicsRun::save(of_steps);
    shared(ranks_, of_steps);
    steps_.go_on(state_);
  });
  is_gathered_ = true;
}

void DividedRun::advance(std::int64_t to, bool reported) {
  if (alone_) return DynamicsRun::advance(to, reported);
  const double begin = now_s(), forces = steps_.seconds_of_forces();
  const Asked asked = {Ask::advance, reported, to};
  is_gathered_ = false;
  bool well = false;
  together(asked, [&] {
    well = stages::advance(steps_, asked, fastest_nm_ps());
    others_stop_ = any_stops(ranks_, false);
  });
  const double on_forces = steps_.seconds_of_forces() - forces;
  seconds.forces += on_forces;
  seconds.steps += now_s() - begin - on_forces;
  if (well) return;
  together({.what = Ask::whole_before}, [&] { state_ = steps_.whole_before(); });
  alone_ = true;
  DynamicsRun::advance(to, reported);
  if (DynamicsRun::trouble().empty())
    throw Error("[dynamics] a step that rank 0 can take alone failed on ranks");
}

std::vector<double> DividedRun::row() const {
  if (alone_) return DynamicsRun::row();
  Energies e;
  together({.what = Ask::energies}, [&] { e = steps_.energies(); });
  return row_of(steps_.state(), e);
}

void DividedRun::gather() const {
  if (alone_ || is_gathered_) return;
  together({.what = Ask::whole}, [&] { state_ = steps_.whole(); });
  is_gathered_ = true;
}
const Frame& DividedRun::frame() const {
  gather();
  return DynamicsRun::frame();
}
const Forces& DividedRun::forces() const {
  gather();
  return DynamicsRun::forces();
}
void DividedRun::save(data::Checkpoint& c) const {
  gather();
  DynamicsRun::save(c);
}
std::int64_t DividedRun::step() const {
  return alone_ ? DynamicsRun::step() : steps_.state().frame.step;
}

}  // namespace tessera::molecular::stages

namespace tessera::molecular {

using namespace stages;

std::string why_forces_not_divided(const Stage& stage, const StageStart& at, const Box& box) {
  if (stage.type == StageType::dynamics && stage.n_steps == 0) return "it takes no steps";
  if (stage.exact) return "exact sums are of all atoms";
  return why_forces_not_divided(at.nonbonded, box);
}

std::string why_not_divided(const Stage& stage, const StageStart& at, const Box& box) {
  if (std::string why = why_forces_not_divided(stage, at, box); !why.empty()) return why;
  if (stage.type == StageType::rerun) return "a rerun looks at frame after frame";
  if (stage.minimizes()) return "a minimization moves all atoms at once";
  if (at.system.position_restraints.size() > 0 && stage.restraint_scaling != RestraintScaling::none)
    return "positions of restraints move with the box";
  return why_not_divided(at.nonbonded, at.dynamics, box);
}

void help_stage(const Stage& stage, const StageStart& at, const Frame& start,
                const StageRanks& ranks) {
  if (!why_forces_not_divided(stage, at, start.box).empty()) return;
  if (!why_not_divided(stage, at, start.box).empty())
    return divided_forces(stage, at, start.box, ranks).help(ranks.wants_to_stop);
  DividedDynamics steps(at.system, at.nonbonded, stage.force_options, at.dynamics, *ranks.all,
                        ranks.weights);
  DynamicsRun reader(stage, at, at.dynamics, start, forces_alone(stage, at, start.box));
  const auto take_part = [&](const Asked& asked) {
    switch (asked.what) {
      case Ask::begin: {
        Frame frame;
        Forces none;
        get(shared(*ranks.all, {}), frame, none);
        return steps.begin(std::move(frame));
      }
      case Ask::go_on:
        reader.restore(shared(*ranks.all, {}));
        return steps.go_on(reader.state());
      case Ask::advance:
        stages::advance(steps, asked, reader.fastest_nm_ps());
        any_stops(*ranks.all, ranks.wants_to_stop && ranks.wants_to_stop());
        return;
      case Ask::energies:
        steps.energies();
        return;
      case Ask::whole:
        steps.whole();
        return;
      case Ask::whole_before:
        steps.whole_before();
        return;
      case Ask::end:
        return;
    }
  };
  for (Asked asked = hear(*ranks.all); asked.what != Ask::end; asked = hear(*ranks.all)) try {
      take_part(asked);
    } catch (const parallel::CommunicationFailed&) {
      throw;
    } catch (const Error&) {  // of the steps: rank 0 has thrown it, too, and tells
    }
}

}  // namespace tessera::molecular
