// SPDX-License-Identifier: Apache-2.0
#include "molecular/dynamics/run.h"
#include "tessera/data/checkpoint.h"
#include "tessera/data/config.h"

#include <fmt/format.h>

#include <utility>

namespace tessera::apps::dynamics {

std::vector<data::Diagnostic> against(const data::Config& config, const Case& c,
                                      const data::Checkpoint& from) {
  std::vector<data::Diagnostic> out;
  if (!from.has("n_steps"))
    return {config.error(
        436, "nsteps",
        "its checkpoint was written by a version that could not go on with another end",
        "start a new run")};
  const auto& before = from.array<std::int64_t>("n_steps");
  const auto now = static_cast<std::size_t>(from.scalar<std::int64_t>("stage"));
  const std::int64_t step = from.scalar<std::int64_t>("stage_step");
  for (std::size_t k = 0; k <= now && k < c.stages.size() && k < before.size(); ++k) {
    const Stage& s = c.stages[k];
    if (s.n_steps == before[k]) continue;
    const std::string key = s.settings.nsteps ? "nsteps" : "duration",
                      own = c.options.stages.empty() ? key : fmt::format("stage[{}].{}", k, key);
    const auto say = [&](std::string message, std::string hint) {
      out.push_back(config.error(436, own, std::move(message), std::move(hint)));
    };
    const bool ended = k < now || (k + 1 < c.stages.size() && step == before[k]);
    if (ended)
      say(fmt::format("stage '{}' has ended, and others have begun where it did", s.name),
          "a longer last stage, or a new run");
    else if (before[k] == 0)
      say(fmt::format("stage '{}' takes no steps: a single point cannot be continued", s.name),
          "start a new run");
    else if (s.settings.heat_from)
      say(fmt::format(
              "stage '{}' heats until its end: another end is another ramp from the first step on",
              s.name),
          "start a new run");
    else if (s.n_steps < step)
      say(fmt::format("stage '{}' is at step {} already, past {}", s.name, step, s.n_steps),
          "an end further off");
  }
  return out;
}

}  // namespace tessera::apps::dynamics
