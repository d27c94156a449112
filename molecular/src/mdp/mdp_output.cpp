// SPDX-License-Identifier: Apache-2.0
// What a run writes, and how often.
#include "mdp/mdp_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tessera::molecular {

void MdpReader::output() {
  MdpOutput& o = out_.output;
  o.log_every = in_.interval("nstlog", 1000);
  o.energies_every = in_.interval("nstenergy", 1000);
  const std::int64_t compressed = in_.interval("nstxout-compressed", 0),
                     x = in_.interval("nstxout", 0), v = in_.interval("nstvout", 0),
                     f = in_.interval("nstfout", 0);
  o.compressed = compressed > 0;
  o.full = x > 0 || v > 0 || f > 0;
  o.velocities = v > 0;
  o.forces = f > 0;
  o.frames_every = compressed > 0 ? compressed : x > 0 ? x : std::max(v, f);
  for (const auto& [key, every] : {std::pair{"nstxout", x}, {"nstvout", v}, {"nstfout", f}})
    if (every > 0 && every != o.frames_every) {
      in_.findings.note(727, in_.find(key)->at,
                        fmt::format("all trajectories get a frame every {} steps", o.frames_every),
                        "there is one nstxout");
      break;
    }
  if (const std::vector<data::Token> parts = in_.words("compressed-x-grps"); !parts.empty()) {
    std::string selection;
    for (const data::Token& t : parts) join(selection, group(t));
    if (compressed > 0) o.atoms = selection;
    if (compressed > 0 && o.full)
      in_.findings.note(727, parts[0].offset,
                        "full trajectories hold the atoms of compressed-x-grps alone, too",
                        "there is one choice of atoms for all trajectories");
  }
  if (compressed > 0) o.xtc_precision = in_.positive("compressed-x-precision", 1000);
}

}  // namespace tessera::molecular
