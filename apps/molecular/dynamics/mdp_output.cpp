// SPDX-License-Identifier: Apache-2.0
// What a run writes, and how often.
#include "molecular/dynamics/mdp_case.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::apps::dynamics {

void MdpCase::output() {
  heading("What is written.");
  line("nstlog", fmt::format("{}", in_.whole("nstlog", 1000)));
  line("nstenergy", fmt::format("{}", in_.whole("nstenergy", 1000)));
  const std::int64_t compressed = in_.whole("nstxout-compressed", 0), x = in_.whole("nstxout", 0),
                     v = in_.whole("nstvout", 0), f = in_.whole("nstfout", 0);
  const bool full = x > 0 || v > 0 || f > 0;
  const std::int64_t every = compressed > 0 ? compressed : x > 0 ? x : std::max(v, f);
  line("nstxout", fmt::format("{}", every));
  if (full && compressed > 0 &&
      ((x > 0 && x != compressed) || (v > 0 && v != compressed) || (f > 0 && f != compressed)))
    in_.findings.note(727,
                      in_.find(x > 0   ? "nstxout"
                               : v > 0 ? "nstvout"
                                       : "nstfout")
                          ->at,
                      fmt::format("all trajectories get a frame every {} steps", every),
                      "there is one nstxout");
  if (every > 0)
    line("output.trajectory", compressed > 0 && full ? "[\"xtc\", \"trr\"]"
                              : full                 ? "[\"trr\"]"
                                                     : "[\"xtc\"]");
  if (v > 0) line("output.velocities", "true");
  if (f > 0) line("output.forces", "true");
  if (const std::vector<data::Token> parts = in_.words("compressed-x-grps"); !parts.empty()) {
    std::string selection;
    for (const data::Token& t : parts) join(selection, group(t));
    if (compressed > 0) line("output.select", in_quotes(selection));
    if (compressed > 0 && full)
      in_.findings.note(727, parts[0].offset,
                        "full trajectories hold the atoms of compressed-x-grps alone, too",
                        "there is one choice of atoms for all trajectories: output.select");
  }
  if (compressed > 0)
    line("output.xtc_precision",
         fmt::format("\"{} 1/nm\"", in_.number("compressed-x-precision", 1000)));
  for (const char* key : {"ld-seed", "gen-seed"})
    if (const std::int64_t seed = in_.whole(key, -1); seed >= 0)
      return line("seed", fmt::format("{}", seed));
}

}  // namespace tessera::apps::dynamics
