// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/groups.h"

#include "system/chosen_atoms.h"
#include "system/joining_bonds.h"
#include "tessera/data/diagnostic.h"
#include "tessera/data/joined_sets.h"
#include "tessera/molecular/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <utility>

namespace tessera::molecular {
namespace {

/// Residues that are neither one oxygen with two hydrogens, whatever their name, nor a single atom.
std::vector<bool> solute_residues(const System& s) {
  std::vector<std::array<int, 3>> count(s.residues.size());  // O, H, others
  std::vector<int> atoms(s.residues.size(), 0);
  for (std::size_t i = 0; i < s.n_atoms(); ++i) {
    const auto r = static_cast<std::size_t>(s.atoms.residue[i]);
    ++atoms[r];
    if (const int e = s.atoms.element[i]; e > 0) ++count[r][e == 8 ? 0 : e == 1 ? 1 : 2];
  }
  std::vector<bool> out;
  for (std::size_t r = 0; r < count.size(); ++r)
    out.push_back(count[r] != std::array<int, 3>{1, 2, 0} && atoms[r] > 1);
  return out;
}

[[noreturn]] void refuse(int number, std::string message, std::string hint) {
  data::Diagnostic d;
  d.number = number;
  d.place.file = "selection";
  d.message = std::move(message);
  d.hint = std::move(hint);
  throw data::InputError(std::move(d));
}

/// "protein and name CA" as the name of a column: protein_and_name_CA
std::string plain_name(const std::string& choice) {
  std::string out;
  for (const char c : choice) {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_')
      out += c;
    else if (!out.empty() && out.back() != '_')
      out += '_';
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  return out.empty() ? "group" : out;
}

bool stays(const std::array<bool, 3>& f) { return f[0] && f[1] && f[2]; }

}  // namespace

bool is_no_group(const std::string& group) { return group.empty() || group == "none"; }

std::vector<std::int32_t> atoms_of(const std::string& choice, const System& s, const Frame& frame) {
  std::vector<std::int32_t> out;
  if (choice == "solute" || choice == "solvent" || choice == "solute-heavy") {
    const std::vector<bool> solute = solute_residues(s);
    for (std::size_t i = 0; i < s.n_atoms(); ++i)
      if (solute[static_cast<std::size_t>(s.atoms.residue[i])] == (choice != "solvent") &&
          (choice != "solute-heavy" || s.atoms.element[i] > 1))
        out.push_back(static_cast<std::int32_t>(i));
  } else {
    constexpr std::pair<const char*, const char*> words[] = {{"system", "all"},
                                                             {"non-protein", "not protein"},
                                                             {"non-water", "not water"},
                                                             {"water_and_ions", "water or ion"}};
    const auto word = std::ranges::find(words, choice, &std::pair<const char*, const char*>::first);
    try {
      out = select(word == std::end(words) ? choice : word->second, s, frame);
    } catch (const data::InputError& e) {
      const data::Diagnostic& d = e.findings().front();
      refuse(760,
             fmt::format("column {} of '{}': {}", d.place.column, choice.substr(0, 200), d.message),
             d.hint.empty() ? "docs/reference/selections.md" : d.hint);
    }
  }
  if (out.empty())
    refuse(751, "'" + choice.substr(0, 200) + "' means no atom",
           "names are case-sensitive; docs/reference/selections.md");
  return out;
}

std::vector<std::array<bool, 3>> frozen_atoms(const FrozenGroups& groups, const System& s,
                                              const Frame& frame) {
  std::vector<std::array<bool, 3>> out;
  const auto mark = [&](const std::string& group, std::initializer_list<std::size_t> axes) {
    if (is_no_group(group)) return;
    if (out.empty()) out.assign(s.n_atoms(), {});
    for (const std::int32_t i : atoms_of(group, s, frame))
      for (const std::size_t a : axes) out[static_cast<std::size_t>(i)][a] = true;
  };
  mark(groups.all, {0, 1, 2});
  mark(groups.x, {0});
  mark(groups.y, {1});
  mark(groups.z, {2});
  return out;
}

System without_frozen_bonds(System s, const std::vector<std::array<bool, 3>>& frozen) {
  if (frozen.empty()) return s;
  const auto thin = [&](auto& terms) {
    std::size_t k = 0;
    for (std::size_t t = 0; t < terms.size(); ++t) {
      if (std::ranges::all_of(terms.atoms[t], [&](std::int32_t i) {
            return stays(frozen[static_cast<std::size_t>(i)]);
          }))
        continue;
      terms.atoms[k] = terms.atoms[t];
      terms.row[k++] = terms.row[t];
    }
    terms.atoms.resize(k);
    terms.row.resize(k);
  };
  thin(s.constraints);
  thin(s.rigid_waters);
  return s;
}

std::vector<TemperatureGroup> temperature_groups(const std::vector<BathGroup>& groups,
                                                 const Ramp& annealing, bool heats, const System& s,
                                                 const Frame& frame) {
  std::vector<TemperatureGroup> out;
  std::vector<std::int32_t> bath(groups.empty() ? 0 : s.n_atoms(), -1);
  for (std::size_t k = 0; k < groups.size(); ++k) {
    TemperatureGroup g{.name = plain_name(groups[k].atoms),
                       .atoms = atoms_of(groups[k].atoms, s, frame),
                       .temperature_k = groups[k].temperature_k,
                       .tau_t_ps = groups[k].tau_t_ps,
                       .annealing = annealing};
    if (heats && g.annealing.size() > 1) g.annealing.back()[1] = g.temperature_k;
    for (const std::int32_t i : g.atoms) {
      std::int32_t& b = bath[static_cast<std::size_t>(i)];
      if (b >= 0)
        refuse(751,
               fmt::format("atom {} is in '{}' and in '{}', and has one bath", name_of_atom(s, i),
                           groups[static_cast<std::size_t>(b)].atoms, groups[k].atoms),
               "every atom belongs to exactly one: ... and not (...)");
      b = static_cast<std::int32_t>(k);
    }
    if (std::ranges::any_of(out, [&](const auto& other) { return other.name == g.name; }))
      g.name += fmt::format("_{}", k + 1);
    out.push_back(std::move(g));
  }
  for (std::size_t i = 0; i < bath.size(); ++i)
    if (bath[i] < 0)
      refuse(751,
             fmt::format("atom {} is in none of the groups with baths",
                         name_of_atom(s, static_cast<std::int32_t>(i))),
             "every atom belongs to exactly one: one more for the rest, or 'not (...)'");
  return out;
}

System part_of(const System& s, const std::vector<std::int32_t>& atoms) {
  System out;
  out.title = s.title;
  out.lj = s.lj;
  const std::vector<std::int32_t> now = add_atoms(out, s, atoms);
  data::JoinedSets whole(s.n_atoms()), part(atoms.size());
  for (const auto& [a, b] : joining_bonds(s)) {
    whole.join(a, b);
    const std::int32_t i = now[static_cast<std::size_t>(a)], j = now[static_cast<std::size_t>(b)];
    if (i < 0 || j < 0) continue;
    out.connectivity.push_back({i, j});
    part.join(i, j);
  }
  std::vector<std::int32_t> last(s.n_atoms(), -1);  // of each molecule so far
  for (std::size_t a = 0; a < s.n_atoms(); ++a) {
    const std::int32_t i = now[a];
    if (i < 0) continue;
    std::int32_t& before =
        last[static_cast<std::size_t>(whole.set_of(static_cast<std::int32_t>(a)))];
    if (before >= 0 && part.join(before, i))
      out.connectivity.push_back({std::min(before, i), std::max(before, i)});
    before = i;
  }
  std::ranges::sort(out.connectivity);
  return out;
}

}  // namespace tessera::molecular
