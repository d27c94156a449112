// SPDX-License-Identifier: Apache-2.0
#include "molecular/analysis/frames.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::apps::analysis {
namespace {

constexpr double one_ps = 1e-12;

std::optional<double> in_ps(const std::optional<double>& seconds) {
  return seconds ? std::optional(*seconds / one_ps) : std::nullopt;
}

/// The first analysis of those that look at velocities, and not at where atoms are.
auto first_of_velocities(const AnalysisOptions& o) {
  return std::ranges::find(o.tasks, Kind::vacf, &TaskOptions::kind);
}

}  // namespace

mol::JoinedFiles join_files(const AnalysisOptions& o, const data::Config& config,
                            std::size_t n_atoms) {
  const FrameOptions& f = o.frames;
  const mol::JoinOptions join{
      .n_atoms = n_atoms,
      .from_ps = in_ps(f.from),
      .to_ps = in_ps(f.to),
      .every = f.every,
      .append = f.times == Times::append,
      .spacing_ps = in_ps(f.spacing),
      .accept_cut_end = f.accept_cut_end,
      .positions =
          std::ranges::any_of(o.tasks, [](const TaskOptions& t) { return t.kind != Kind::vacf; }),
      .velocities = first_of_velocities(o) != o.tasks.end()};
  mol::JoinedFiles files;
  try {
    files = mol::join_files(o.trajectory, join);
  } catch (const mol::JoinError& e) {
    throw at_key(e, o, config);
  }
  for (std::size_t k = 0; k < o.tasks.size(); ++k)
    if (files.by_number && !f.spacing &&
        (o.tasks[k].kind == Kind::msd || o.tasks[k].kind == Kind::vacf))
      throw data::InputError(config.error(743, fmt::format("analysis[{}]", k),
                                          "the frames have no times, which this analysis needs",
                                          "give frames.spacing, the time between frames"),
                             data::ExitCode::config_invalid);
  return files;
}

data::InputError at_key(const mol::JoinError& e, const AnalysisOptions& o,
                        const data::Config& config) {
  const auto told = [&](const std::string& key, const std::string& hint,
                        const std::string& more = {}) {
    return data::InputError(config.error(743, key, e.message + more, hint),
                            data::ExitCode::config_invalid);
  };
  switch (e.fault) {
    case mol::JoinFault::mixed_times:
      return told("trajectory", "analyse them apart");
    case mol::JoinFault::spacing:
      return told("frames.spacing", "leave spacing out");
    case mol::JoinFault::bounds:
      return told(o.frames.from ? "frames.from" : "frames.to", "give frames.spacing");
    case mol::JoinFault::starts_again:
      return told("trajectory",
                  "frames.times = \"append\" lets each file go on where the one before has ended; "
                  "or leave out what it repeats");
    case mol::JoinFault::no_spacing:
      return told("frames.times", "give frames.spacing");
    case mol::JoinFault::backwards:
      return told("trajectory", "give its frames in the order of their times");
    case mol::JoinFault::lone_velocities:
      break;
  }
  return told(fmt::format("analysis[{}]", first_of_velocities(o) - o.tasks.begin()),
              "ask for vacf in a case of its own", ", which other analyses of this case need");
}

}  // namespace tessera::apps::analysis
