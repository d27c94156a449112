// SPDX-License-Identifier: Apache-2.0
#include "force_field/patched_templates.h"

#include "force_field/template_match.h"
#include "tessera/autodiff/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace tessera::molecular {
namespace {

using NamedAtom = ForceField::Patch::NamedAtom;

/// Names of the atoms of one residue that a patch touches.
std::set<std::string> touched(const ForceField::Patch& patch, int residue) {
  std::set<std::string> out;
  for (const auto* list : {&patch.added, &patch.changed})
    for (const auto& a : *list)
      if (a.residue == residue) out.insert(a.atom.name);
  for (const NamedAtom& p : patch.removed)
    if (p.residue == residue) out.insert(p.name);
  return out;
}

/// How many atoms of each element there are; sorted, none with zero.
using Formula = std::map<std::uint8_t, int>;
Formula formula_of(const ResidueGraph& g) {
  Formula out;
  for (const std::uint8_t z : g.element) ++out[z];
  return out;
}

/// The part of a graph that is matched.
ResidueGraph part_of(ResidueGraph g, Matched by) {
  std::vector<std::int32_t> rows;
  return by == Matched::all_atoms ? g : heavy_graph(g, rows);
}

class Forms {
 public:
  Forms(const ForceField& ff, std::map<Formula, std::vector<ResidueGraph>> wanted, Matched by)
      : ff_(ff), wanted_(std::move(wanted)), by_(by) {}

  void of(const ForceField::Template& t) {
    changes_.clear();
    for (const auto& [row, residue] : t.patches)
      if (auto c = change(t, row, residue)) changes_.push_back(std::move(*c));
    chosen_.clear();
    if (!changes_.empty())
      combine(t, formula_of(part_of(graph_of(ff_, t, true), by_)), 0, {}, false);
  }
  std::vector<ForceField::Template> found;

 private:
  static constexpr std::size_t most_steps = 500'000;  ///< of the search; CHARMM36 takes 28,229
  static constexpr std::size_t most_patches =
      4;  ///< of one residue: residues of sugars may take any of twenty
  struct Change {
    std::int32_t patch;
    int residue;
    bool binds;  ///< several residues
    std::set<std::string> atoms;
    Formula more;
  };
  std::uint8_t element(std::int32_t type) const {
    return ff_.types[static_cast<std::size_t>(type)].element;
  }
  std::optional<Change> change(const ForceField::Template& t, std::int32_t row, int residue) const {
    const ForceField::Patch& patch = ff_.patches[static_cast<std::size_t>(row)];
    Change c{row, residue, patch.residues > 1, touched(patch, residue), {}};
    for (const auto& a : patch.added)
      if (a.residue == residue) ++c.more[element(a.atom.type)];
    for (const std::string& name : c.atoms) {
      const auto at = std::ranges::find(t.atoms, name, &ForceField::Template::Atom::name);
      const auto changed = std::ranges::find_if(patch.changed, [&](const auto& a) {
        return a.residue == residue && a.atom.name == name;
      });
      const bool removed = std::ranges::any_of(patch.removed, [&](const NamedAtom& p) {
        return p.residue == residue && p.name == name;
      });
      if (at == t.atoms.end()) {
        if (changed != patch.changed.end()) return std::nullopt;
        continue;
      }
      if (removed || changed != patch.changed.end()) --c.more[element(at->type)];
      if (changed != patch.changed.end()) ++c.more[element(changed->atom.type)];
    }
    if (by_ == Matched::heavy_atoms) c.more.erase(0), c.more.erase(1);
    return c;
  }
  /// Each change from `next` on is made or left; templates are made only where the elements are
  /// those of a residue.
  void combine(const ForceField::Template& t, const Formula& formula, std::size_t next,
               const std::set<std::string>& before, bool binds) {
    if (next == changes_.size() || chosen_.size() == most_patches) return;
    if (++steps_ > most_steps)
      throw Error(
          fmt::format("[apply] the patches of the force field go together in more than {} ways: "
                      "name the residues' forms in templates",
                      most_steps));
    combine(t, formula, next + 1, before, binds);
    const Change& c = changes_[next];
    if (binds && c.binds) return;
    if (std::ranges::any_of(c.atoms,
                            [&](const std::string& name) { return before.count(name) > 0; }))
      return;
    Formula now = formula;
    for (const auto& [z, n] : c.more)
      if ((now[z] += n) == 0) now.erase(z);
    std::set<std::string> atoms = before;
    atoms.insert(c.atoms.begin(), c.atoms.end());
    chosen_.push_back(&c);
    if (const auto residues = wanted_.find(now); residues != wanted_.end())
      keep(t, residues->second);
    combine(t, now, next + 1, atoms, binds || c.binds);
    chosen_.pop_back();
  }
  void keep(const ForceField::Template& t, const std::vector<ResidueGraph>& residues) {
    std::optional<ForceField::Template> made = t;
    for (const Change* c : chosen_)
      if (made) made = patched(ff_, *made, c->patch, c->residue);
    if (!made) return;
    const ResidueGraph g = part_of(graph_of(ff_, *made, true), by_);
    if (std::ranges::any_of(residues,
                            [&](const ResidueGraph& r) { return !isomorphism(r, g).empty(); }))
      found.push_back(std::move(*made));
  }

  const ForceField& ff_;
  std::map<Formula, std::vector<ResidueGraph>> wanted_;  ///< residues that match nothing
  Matched by_;
  std::vector<Change> changes_;  ///< that the template in hand may take
  std::vector<const Change*> chosen_;
  std::size_t steps_ = 0;
};

}  // namespace

std::optional<ForceField::Template> patched(const ForceField& ff, const ForceField::Template& t,
                                            std::int32_t row_of_patch, int residue) {
  const ForceField::Patch& patch = ff.patches[static_cast<std::size_t>(row_of_patch)];
  ForceField::Template out;
  out.applied = t.applied;
  out.applied.push_back({row_of_patch, residue});
  out.name = t.name + "-" + patch.name;
  out.base = t.base.empty() ? t.name : t.base;
  const auto here = [&](const NamedAtom& p) { return p.residue == residue; };
  const auto removed = [&](const std::string& name) {
    return std::ranges::any_of(patch.removed,
                               [&](const NamedAtom& p) { return here(p) && p.name == name; });
  };
  std::map<std::string, std::int32_t> of_name;
  std::vector<std::int32_t> moved(t.atoms.size(), -1);
  const auto add = [&](const ForceField::Template::Atom& a) {
    out.atoms.push_back(a);
    return of_name.try_emplace(a.name, static_cast<std::int32_t>(out.atoms.size()) - 1).second;
  };
  for (std::size_t k = 0; k < t.atoms.size(); ++k)
    if (!removed(t.atoms[k].name)) {
      moved[k] = static_cast<std::int32_t>(out.atoms.size());
      add(t.atoms[k]);
    }
  for (const auto& a : patch.added)
    if (a.residue == residue && !add(a.atom)) return std::nullopt;
  for (const auto& a : patch.changed) {
    if (a.residue != residue) continue;
    const auto at = of_name.find(a.atom.name);
    if (at == of_name.end()) return std::nullopt;
    out.atoms[static_cast<std::size_t>(at->second)] = a.atom;
  }
  const auto row = [&](const std::string& name) {
    const auto at = of_name.find(name);
    return at == of_name.end() ? -1 : at->second;
  };
  const auto cut = [&](const std::string& a, const std::string& b) {
    return std::ranges::any_of(patch.removed_bonds, [&](const auto& bond) {
      return here(bond[0]) && here(bond[1]) &&
             ((bond[0].name == a && bond[1].name == b) || (bond[0].name == b && bond[1].name == a));
    });
  };
  for (const auto& [i, j] : t.bonds) {
    const auto a = static_cast<std::size_t>(i), b = static_cast<std::size_t>(j);
    if (moved[a] >= 0 && moved[b] >= 0 && !cut(t.atoms[a].name, t.atoms[b].name))
      out.bonds.push_back({std::min(moved[a], moved[b]), std::max(moved[a], moved[b])});
  }
  for (const std::int32_t i : t.external) {
    const auto a = static_cast<std::size_t>(i);
    if (moved[a] >= 0 && std::ranges::none_of(patch.removed_external, [&](const NamedAtom& p) {
          return here(p) && p.name == t.atoms[a].name;
        }))
      out.external.push_back(moved[a]);
  }
  for (const auto& [p, q] : patch.added_bonds) {
    if (!here(p) && !here(q)) continue;
    const std::int32_t a = here(p) ? row(p.name) : -2, b = here(q) ? row(q.name) : -2;
    if (a == -1 || b == -1) return std::nullopt;
    if (a == -2 || b == -2)
      out.external.push_back(std::max(a, b));
    else
      out.bonds.push_back({std::min(a, b), std::max(a, b)});
  }
  for (const NamedAtom& p : patch.added_external) {
    if (!here(p)) continue;
    if (row(p.name) < 0) return std::nullopt;
    out.external.push_back(row(p.name));
  }
  std::ranges::sort(out.bonds);
  out.bonds.erase(std::unique(out.bonds.begin(), out.bonds.end()), out.bonds.end());
  for (const auto& [site, with] : t.sites) {
    ForceField::Template::Site s{site, moved[static_cast<std::size_t>(with)]};
    bool stays = s.excluded_with >= 0 && moved[static_cast<std::size_t>(site.site)] >= 0;
    s.site.site = moved[static_cast<std::size_t>(site.site)];
    for (std::int32_t& p : s.site.parents) {
      if (p < 0) continue;
      p = moved[static_cast<std::size_t>(p)];
      stays = stays && p >= 0;
    }
    if (stays) out.sites.push_back(s);
  }
  return out;
}

ForceField with_patched_templates(const ForceField& ff, const Structure& s, Matched by) {
  const TemplateMatcher matcher(ff, s);
  const std::vector<std::vector<std::int32_t>> bonded = neighbours(s);
  std::map<Formula, std::vector<ResidueGraph>> wanted;
  for (std::size_t first = 0, last = 0; first < s.n_atoms(); first = last) {
    while (last < s.n_atoms() && s.residue[last] == s.residue[first]) ++last;
    if (matcher.match(first, last).of >= 0) continue;
    ResidueGraph g = part_of(graph_of(s, first, last, bonded), by);
    std::vector<ResidueGraph>& alike = wanted[formula_of(g)];
    if (std::ranges::none_of(
            alike, [&](const ResidueGraph& other) { return !isomorphism(g, other).empty(); }))
      alike.push_back(std::move(g));
  }
  ForceField out = ff;
  if (wanted.empty()) return out;
  Forms forms(ff, std::move(wanted), by);
  for (const ForceField::Template& t : ff.templates) forms.of(t);
  std::ranges::stable_sort(forms.found, [](const auto& a, const auto& b) {
    return std::pair(a.applied.size(), a.applied) < std::pair(b.applied.size(), b.applied);
  });
  for (ForceField::Template& t : forms.found) out.templates.push_back(std::move(t));
  return out;
}

}  // namespace tessera::molecular
