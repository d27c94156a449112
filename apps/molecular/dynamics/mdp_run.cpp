// SPDX-License-Identifier: Apache-2.0
// The steps of the run: what moves, how far, which forces are slow.
#include "molecular/dynamics/mdp_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tessera::apps::dynamics {

using data::shown;

void MdpCase::run(const std::string& stage) {
  heading("The run.");
  out_ += "[[stage]]\n";
  line("name", in_quotes(stage));
  const std::string integrator = in_.chosen(mdp_integrator);
  const bool minimizes = integrator == "steep" || integrator == "l-bfgs";
  line("type", minimizes ? "\"minimize\"" : "\"dynamics\"");
  line("integrator", in_quotes(integrator));
  const std::int64_t steps = in_.whole("nsteps", 0);
  if (steps < 0)
    in_.refuse(*in_.find("nsteps"), "nsteps",
               "say how many steps; a run is stopped by tessera stop at any time");
  line("nsteps", fmt::format("{}", steps));
  frozen();
  if (minimizes) {
    line("emtol", fmt::format("\"{} kJ/mol/nm\"", in_.number("emtol", 10)));
    line("emstep", fmt::format("\"{} nm\"", in_.number("emstep", 0.01)));
    return;
  }
  line("dt", fmt::format("\"{} ps\"", in_.number("dt", 0.001)));
  const bool draws = in_.yes("gen-vel", false);
  line("gen_vel", draws ? "true" : "false");
  if (draws) line("gen_temp", fmt::format("\"{} K\"", in_.number("gen-temp", 300)));
  const std::vector<data::Token> held = in_.words("comm-grps");
  if (held.size() > 1 || (held.size() == 1 && plain(held[0].text) != "system"))
    in_.findings.error(
        726, held[0].offset,
        fmt::format("the motion of {} cannot be removed by itself",
                    held.size() > 1 ? "each of several comm-grps" : shown(held[0].text)),
        "comm-grps = System: the motion of the whole is removed");
  const std::int64_t every = in_.whole("nstcomm", 100);
  if (every == 0)
    line("comm_mode", "\"none\"");
  else
    choice(mdp_comm_mode, "comm_mode");
  line("nstcomm", fmt::format("{}", every > 0 ? every : 100));
  slow_forces();
  thermostat(integrator == "sd");
  barostat();
}

/// freezegrps, and Y or N for each group and axis.
void MdpCase::frozen() {
  const std::vector<data::Token> groups = in_.words("freezegrps"), dim = in_.words("freezedim");
  if (groups.empty()) return;
  if (dim.size() != 3 * groups.size()) {
    in_.findings.error(726, groups[0].offset,
                       fmt::format("{} of freezegrps want {} of freezedim, got {}", groups.size(),
                                   3 * groups.size(), dim.size()),
                       "Y or N for x, y and z of each group");
    return;
  }
  std::array<std::string, 4> chosen;  // x, y, z, all three
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::array<bool, 3> stays{};
    for (std::size_t a = 0; a < 3; ++a) {
      const std::string v = plain(dim[3 * g + a].text);
      if (v != "y" && v != "n" && v != "yes" && v != "no")
        in_.findings.error(726, dim[3 * g + a].offset,
                           "expected Y or N, got " + shown(dim[3 * g + a].text));
      stays[a] = v.starts_with('y');
    }
    const std::string selection = group(groups[g]);
    if (stays[0] && stays[1] && stays[2])
      join(chosen[3], selection);
    else
      for (std::size_t a = 0; a < 3; ++a)
        if (stays[a]) join(chosen[a], selection);
  }
  constexpr const char* keys[] = {"freeze_x", "freeze_y", "freeze_z", "freeze"};
  for (std::size_t k = 0; k < 4; ++k)
    if (!chosen[k].empty()) line(keys[k], in_quotes(chosen[k]));
}

/// Multiple time steps of two levels, the slow one the reciprocal sum.
void MdpCase::slow_forces() {
  if (!in_.yes("mts", false)) return;
  if (in_.whole("mts-levels", 2) != 2) in_.refuse(*in_.find("mts-levels"), "mts-levels", "2");
  for (const data::Token& t : in_.words("mts-level2-forces"))
    if (plain(t.text) != "longrange-nonbonded")
      in_.findings.error(726, t.offset, "slow forces " + shown(t.text) + " are not supported",
                         "mts-level2-forces = longrange-nonbonded");
  const std::int64_t every = in_.whole("mts-level2-factor", 2);
  if (every < 2) in_.refuse(*in_.find("mts-level2-factor"), "mts-level2-factor", "2 or more");
  line("mts", "true");
  line("mts_level2_factor", fmt::format("{}", every));
}

}  // namespace tessera::apps::dynamics
