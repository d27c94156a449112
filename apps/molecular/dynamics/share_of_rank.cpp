// SPDX-License-Identifier: Apache-2.0
#include "molecular/dynamics/share_of_rank.h"

#include "support/report.h"
#include "tessera/autodiff/forall.h"
#include "tessera/data/memory.h"
#include "tessera/molecular/stage_run.h"
#include "tessera/parallel/communicator.h"

#include <algorithm>
#include <string>
#include <vector>

namespace tessera::apps::dynamics {
namespace {

/// What each rank has sent.
using Traffic = std::vector<RankShare>;

Traffic& operator+=(Traffic& a, const Traffic& b) {
  for (std::size_t r = 0; r < a.size(); ++r) {
    a[r].sent_bytes += b[r].sent_bytes;
    a[r].messages += b[r].messages;
  }
  return a;
}
/// (a - b) times a factor.
Traffic difference(const Traffic& a, const Traffic& b, double factor) {
  Traffic d(a.size());
  for (std::size_t r = 0; r < a.size(); ++r)
    d[r] = {.sent_bytes = factor * (a[r].sent_bytes - b[r].sent_bytes),
            .messages = factor * (a[r].messages - b[r].messages)};
  return d;
}

enum class Looks : std::uint8_t { never, at_energies, at_frames };

/// The first steps of a stage on ranks, ten at a time, as a run takes them; after each ten it
/// looks. `frame` becomes the last one.
Traffic first_steps(const RunOptions& how, const Case& c, Stage stage, std::int64_t steps,
                    Looks looks, mol::Frame& frame) {
  stage.n_steps = steps;
  const mol::StageStart at = stage_start(c, stage, frame);
  const mol::Frame start = frame;
  Traffic sent(static_cast<std::size_t>(how.estimated_ranks));
  parallel::run_ranks(how.estimated_ranks, [&](parallel::Communicator& c) {
    set_num_threads(1);
    const mol::StageRanks ranks{&c, how.weights, {}};
    if (c.rank() == 0) {
      c.broadcast(parallel::to_bytes(start.x_nm));
      const std::unique_ptr<mol::StageRun> run = mol::begin_stage(stage, at, start, true, ranks);
      run->row();
      while (!run->done()) {
        const bool moves = stage.type == StageType::dynamics;
        run->advance(moves ? std::min(steps, run->step() + 10) : run->step() + 1,
                     !moves || looks == Looks::at_energies);
        if (const std::string why = run->trouble(); !why.empty()) throw Error("[estimate] " + why);
        if (looks == Looks::at_energies) run->row();
        if (looks == Looks::at_frames) run->frame();
      }
      frame = run->frame();
    } else {
      c.broadcast({});
      mol::help_stage(stage, at, start, ranks);
    }
    sent[static_cast<std::size_t>(c.rank())] = {.sent_bytes = static_cast<double>(c.sent_bytes()),
                                                .messages = static_cast<double>(c.sent_messages())};
  });
  return sent;
}

/// All of a stage.
Traffic of_stage(const RunOptions& how, const Case& c, const Stage& stage, mol::Frame& frame) {
  constexpr std::int64_t few = 20, many = 100;  // a list of pairs lives for fifteen or so
  mol::Frame end = frame;
  Traffic sum = first_steps(how, c, stage, std::min(stage.n_steps, few), Looks::never, end);
  if (stage.n_steps > few) {
    const Traffic short_one = sum;
    end = frame;
    const std::int64_t steps = std::min(stage.n_steps, many);
    const Traffic long_one = first_steps(how, c, stage, steps, Looks::never, end);
    const auto times = [](std::int64_t a, std::int64_t b) {
      return static_cast<double>(a) / static_cast<double>(b);
    };
    sum += difference(long_one, short_one, times(stage.n_steps - few, steps - few));
    if (stage.type == StageType::dynamics)
      for (const auto& [looks, every] :
           {std::pair(Looks::at_energies, stage.settings.nstenergy),
            std::pair(Looks::at_frames,
                      c.options.output.trajectory.empty() ? 0 : stage.settings.nstxout)}) {
        if (every <= 0) continue;
        mol::Frame same = frame;
        const Traffic looked = first_steps(how, c, stage, few, looks, same);
        sum += difference(looked, short_one, times(stage.n_steps / every, few / 10));
      }
  }
  frame = end;
  return sum;
}

}  // namespace

std::optional<RankShare> share_of_rank(const RunOptions& how, const Case& c) {
  const auto n = c.system.n_atoms();
  const auto is_divided = [&](const Stage& s) {
    return s.type != StageType::rerun &&
           mol::why_forces_not_divided(s, stage_start(c, s, c.start), c.start.box).empty();
  };
  if (how.estimated_ranks == 0 || std::ranges::none_of(c.stages, is_divided)) return {};
  const auto ranks = static_cast<std::uint64_t>(how.estimated_ranks);
  const std::uint64_t each = n * 2000 + std::min(n, 2 * n / ranks) * 3000;
  if (const std::uint64_t room = data::memory_free(); room > 0 && ranks * each > room)
    throw usage_error("--ranks: some steps on " + std::to_string(ranks) +
                          " ranks do not fit in the memory of this machine",
                      "what one of fewer ranks takes is not less");
  mol::Frame frame = c.start;
  Traffic sum(ranks);
  for (const Stage& stage : c.stages)
    if (is_divided(stage)) sum += of_stage(how, c, stage, frame);
  RankShare most{.memory_bytes = (std::uint64_t{80} << 20) + each};
  for (const RankShare& r : sum) {
    most.sent_bytes = std::max(most.sent_bytes, r.sent_bytes);
    most.messages = std::max(most.messages, r.messages);
  }
  return most;
}

}  // namespace tessera::apps::dynamics
