// SPDX-License-Identifier: Apache-2.0
#include "molecular/dynamics/rerun.h"

#include "molecular/dynamics/options.h"

#include <algorithm>

namespace tessera::apps::dynamics {

std::string rerun_case(const data::Config& config, const std::filesystem::path& trajectory,
                       const std::string& stage) {
  MdOptions o = md_options().read(config);
  constexpr const char* types[] = {"dynamics", "minimize", "rerun"};
  const auto name = [&](const StageOptions& s) {
    return s.name.empty() ? std::string(types[static_cast<int>(s.type)]) : s.name;
  };
  const auto at = stage.empty() ? o.stages.empty() ? o.stages.end() : o.stages.end() - 1
                                : std::ranges::find(o.stages, stage, name);
  if (at == o.stages.end() && !stage.empty()) {
    std::string names;
    for (const StageOptions& s : o.stages) names += (names.empty() ? "stages: " : ", ") + name(s);
    throw data::InputError(
        config.error(751, "stage", "there is no stage '" + stage.substr(0, 80) + "'", names),
        data::ExitCode::config_invalid);
  }
  StageOptions again = at == o.stages.end() ? StageOptions{} : *at;
  again.name.assign("rerun");
  again.type = StageType::rerun;
  again.frames = trajectory;
  again.integrator.reset();
  for (auto* end : {&again.nsteps, &o.common.nsteps}) end->reset();
  for (auto* end : {&again.duration, &o.common.duration}) end->reset();
  again.posres.emplace("none");
  o.stages = {again};
  o.expectations.clear();
  o.output.forces = true;
  std::erase_if(o.output.trajectory,
                [](const std::string& f) { return f != "trr" && f != "h5md"; });
  if (o.output.trajectory.empty()) o.output.trajectory = {"trr"};
  return md_options().resolved_toml(&o);
}

}  // namespace tessera::apps::dynamics
