// SPDX-License-Identifier: Apache-2.0
#include "molecular/dynamics/breakdown.h"

#include "tessera/molecular/explain.h"
#include "tessera/molecular/virtual_sites.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::apps::dynamics {

std::vector<std::string> why_it_failed(const Case& c, std::size_t index, const mol::StageStart& at,
                                       const mol::Frame& start, const Error& why,
                                       const mol::Frame& last, const mol::Frame* after) {
  const Stage& stage = c.stages[index];
  mol::System system = at.system;  // with charges as they act in the stage
  system.coulomb_constant = stage.nonbonded.coulomb == mol::Nonbonded::Coulomb::none
                                ? 0
                                : system.coulomb_constant / stage.nonbonded.epsilon_r;
  std::vector<std::string> lines = {fmt::format("stage {} ('{}') failed at step {}, {:.6g} ps: {}",
                                                index + 1, stage.name, last.step, last.time_ps,
                                                why.what())};
  std::vector<std::int32_t> told;
  const auto explain = [&](std::int32_t atom) {
    if (std::ranges::find(told, atom) != told.end()) return;
    told.push_back(atom);
    for (std::string& line : mol::explain_atom(system, last, atom))
      lines.push_back(std::move(line));
  };
  const auto told_overlap = [&](const mol::Frame& frame, const char* when) {
    const auto o = mol::find_overlap(system, frame);
    if (o)
      lines.push_back(fmt::format("{} atoms {} and {} lie {:.4f} nm apart: they overlap", when,
                                  mol::name_of_atom(system, o->a), mol::name_of_atom(system, o->b),
                                  o->distance_nm));
    return o;
  };
  if (after) told_overlap(*after, "in the step that failed");
  try {
    mol::Forces forces;
    std::vector<mol::Vec3> x = last.x_nm;  // sites of a file may lie anywhere
    mol::place_virtual_sites(system, x, last.box);
    mol::stage_forces(stage, at, start.box)(x, last.box, forces);
    mol::spread_virtual_forces(system, x, last.box, forces.f, forces.virial);
    const std::int32_t atom = mol::most_pulled(forces);
    const mol::Vec3& f = forces.f[static_cast<std::size_t>(atom)];
    lines.push_back(fmt::format("the largest force before it, {:.4g} kJ/mol/nm, was that on",
                                std::hypot(f[0], f[1], f[2])));
    explain(atom);
  } catch (const Error& e) {
    lines.push_back(std::string("forces before it cannot be computed either: ") + e.what());
    if (const auto o = told_overlap(last, "there"))
      for (const std::int32_t atom : {o->a, o->b}) explain(atom);
  }
  if (const auto [atom, far] =
          after ? mol::farthest_moved(last, *after) : std::pair{std::int32_t{-1}, 0.0};
      atom >= 0 && stage.type == StageType::dynamics) {
    lines.push_back(
        fmt::format("the atom that moved farthest in the failed step ({:.3g} nm):", far));
    if (std::ranges::find(told, atom) != told.end())
      lines.push_back("atom " + mol::name_of_atom(system, atom) + ", see above");
    else
      explain(atom);
  }
  lines.push_back(
      dynamic_cast<const mol::BoxTooSmall*>(&why)
          ? "what to try: a shorter cut-off (rvdw, rcoulomb), or a larger box: the barostat has "
            "made it, or has tried to make it, smaller than two cut-offs"
      : stage.minimizes()
          ? "what to try: another structure; a smaller emstep"
          : "what to try: minimize first (a [[stage]] with type = \"minimize\"); a shorter dt; "
            "constraints = \"h-bonds\"; heat slowly; a longer tau_t or tau_p");
  return lines;
}

}  // namespace tessera::apps::dynamics
