// SPDX-License-Identifier: Apache-2.0
#include "molecular/dynamics/groups.h"

#include "molecular/dynamics/case.h"
#include "tessera/molecular/selection.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::apps::dynamics {
namespace {

/// Residues that are neither one oxygen with two hydrogens, whatever their name, nor a single atom.
std::vector<bool> solute_residues(const mol::System& s) {
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

std::vector<std::int32_t> atoms_of(const std::string& choice, const mol::System& s,
                                   const mol::Frame& frame) {
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
      out = mol::select(word == std::end(words) ? choice : word->second, s, frame);
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

std::vector<std::array<bool, 3>> frozen_atoms(const Settings& o, const mol::System& s,
                                              const mol::Frame& frame) {
  std::vector<std::array<bool, 3>> out;
  const auto mark = [&](const std::optional<std::string>& choice,
                        std::initializer_list<std::size_t> axes) {
    if (!choice || *choice == "none") return;
    if (out.empty()) out.assign(s.n_atoms(), {});
    for (const std::int32_t i : atoms_of(*choice, s, frame))
      for (const std::size_t a : axes) out[static_cast<std::size_t>(i)][a] = true;
  };
  mark(o.freeze, {0, 1, 2});
  mark(o.freeze_x, {0});
  mark(o.freeze_y, {1});
  mark(o.freeze_z, {2});
  return out;
}

mol::System without_frozen_bonds(mol::System s, const std::vector<std::array<bool, 3>>& frozen) {
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

std::vector<mol::TemperatureGroup> baths_of(const Settings& o, const mol::Dynamics& all,
                                            const mol::System& s, const mol::Frame& frame) {
  std::vector<mol::TemperatureGroup> out;
  std::vector<std::int32_t> bath(o.tc_grps.empty() ? 0 : s.n_atoms(), -1);
  for (std::size_t k = 0; k < o.tc_grps.size(); ++k) {
    mol::TemperatureGroup g{
        .name = plain_name(o.tc_grps[k]),
        .atoms = atoms_of(o.tc_grps[k], s, frame),
        .temperature_k = o.tc_ref_t.empty() ? o.ref_t : o.tc_ref_t[k],
        .tau_t_ps = o.tc_tau_t.empty() ? all.tau_t_ps : in_unit(o.tc_tau_t[k], "ps"),
        .annealing = all.annealing};
    if (o.heat_from && g.annealing.size() > 1)
      g.annealing.back()[1] = g.temperature_k;  // to the group's own temperature
    for (const std::int32_t i : g.atoms) {
      std::int32_t& b = bath[static_cast<std::size_t>(i)];
      if (b >= 0)
        refuse(751,
               fmt::format("atom {} is in '{}' and in '{}' of tc_grps", name_of_atom(s, i),
                           o.tc_grps[static_cast<std::size_t>(b)], o.tc_grps[k]),
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
             fmt::format("atom {} is in none of tc_grps",
                         name_of_atom(s, static_cast<std::int32_t>(i))),
             "every atom belongs to exactly one: one more for the rest, or 'not (...)'");
  return out;
}

mol::System part_of(const mol::System& s, const std::vector<std::int32_t>& atoms) {
  mol::System out;
  out.title = s.title;
  out.lj = s.lj;
  std::vector<std::int32_t> now(s.n_atoms(), -1), residue(s.residues.size(), -1);
  for (const std::int32_t a : atoms) {
    const auto i = static_cast<std::size_t>(a);
    std::int32_t& r = residue[static_cast<std::size_t>(s.atoms.residue[i])];
    if (r < 0) {
      r = static_cast<std::int32_t>(out.residues.size());
      out.residues.push_back(s.residues[static_cast<std::size_t>(s.atoms.residue[i])]);
    }
    now[i] = static_cast<std::int32_t>(out.n_atoms());
    out.atoms.name.push_back(s.atoms.name[i]);
    out.atoms.type.push_back(s.atoms.type[i]);
    out.atoms.element.push_back(s.atoms.element[i]);
    out.atoms.mass_amu.push_back(s.atoms.mass_amu[i]);
    out.atoms.charge_e.push_back(s.atoms.charge_e[i]);
    out.atoms.lj_type.push_back(s.atoms.lj_type[i]);
    out.atoms.residue.push_back(r);
  }
  for (const auto& [a, b] : s.connectivity)
    if (const std::int32_t i = now[static_cast<std::size_t>(a)],
        j = now[static_cast<std::size_t>(b)];
        i >= 0 && j >= 0)
      out.connectivity.push_back({i, j});
  return out;
}

}  // namespace tessera::apps::dynamics
