// SPDX-License-Identifier: Apache-2.0
// What [[sheet]] may not say.
#include "electromagnetics/waves/checks.h"

#include <algorithm>
#include <cmath>

namespace tessera::apps::waves {
namespace {

/// A film is of a medium whose fields are linear in E, and has H of the vacuum.
void check_film(const SheetOptions& s, const CaseOptions& o, const std::string& at,
                Checks& checks) {
  checks.known(at + ".material", *s.material, media_names(o), "medium");
  if (!s.thickness) checks.say(631, at, "a film has a thickness", "give thickness");
  const auto named = std::find_if(o.materials.begin(), o.materials.end(),
                                  [&](const MaterialOptions& m) { return m.name == *s.material; });
  const bool own = named != o.materials.end();
  if (*s.material == "pec" || (own && (named->pec || named->surface_impedance)))
    checks.say(631, at + ".material", "a sheet of a perfect conductor is a [[structure]]",
               "take shape = \"box\" with a size of 0 along its normal");
  else if (own && (named->mu != Point{1, 1, 1} || named->sigma_m != Point{}))
    checks.say(631, at + ".material", "a magnetic film is not supported",
               "take a [[structure]], with cells that resolve it");
  else if (own && (named->chi2 != 0 || named->chi3 != 0))
    checks.say(631, at + ".material", "a nonlinear film is not supported",
               "take a [[structure]], with cells that resolve it");
}

void check_outline(const SheetOptions& s, const GridOptions& grid, const std::string& at,
                   Checks& checks) {
  const auto normal = static_cast<std::size_t>(s.axis());
  for (std::size_t d = 0; d < 3; ++d) {
    if (s.shape == SheetShape::polygon && d != normal && s.position[d] != 0)
      return checks.say(631, item((at + ".position").c_str(), d),
                        "the corners of a polygon say where it is",
                        "let position be 0 across the normal");
    if (!s.size) continue;
    const double size = (*s.size)[d];
    if (d == normal && size != 0)
      return checks.say(631, item((at + ".size").c_str(), d),
                        "a sheet has no size along its normal",
                        "write 0, and give the thickness of a film by `thickness`");
    if (d != normal && size == 0 && grid.resolved(static_cast<int>(d)))
      return checks.say(631, item((at + ".size").c_str(), d), "the sheet has no width",
                        "give its extent, or \"inf\"");
  }
}

}  // namespace

void check_sheets(const CaseOptions& o, Checks& checks) {
  std::set<std::string> seen;
  for (const StructureOptions& s : o.structures)
    if (!s.name.empty()) seen.insert(s.name);
  for (std::size_t k = 0; k < o.sheets.size(); ++k) {
    const SheetOptions& s = o.sheets[k];
    const std::string at = item("sheet", k);
    checks.unique(at + ".name", s.name, seen);
    if (!o.grid.resolved(s.axis())) {
      checks.say(631, at + ".normal", "nothing is resolved along the normal of the sheet",
                 "take another normal, or give grid.size there");
      continue;
    }
    if (s.resistance.has_value() == s.material.has_value())
      checks.say(631, at, s.resistance ? "is a resistance and a film at once" : "is of nothing",
                 "give resistance, or material and thickness");
    else if (s.material)
      check_film(s, o, at, checks);
    else if (s.thickness)
      checks.say(631, at + ".thickness", "a resistance of a square holds whatever the thickness",
                 "leave it out");
    check_outline(s, o.grid, at, checks);
    const double x = s.position[static_cast<std::size_t>(s.axis())];
    if (!(x >= o.grid.low(s.axis()) && x <= o.grid.high(s.axis())))
      checks.say(631, item((at + ".position").c_str(), static_cast<std::size_t>(s.axis())),
                 "the sheet lies outside of the domain", "move it, or enlarge grid.size");
  }
}

}  // namespace tessera::apps::waves
