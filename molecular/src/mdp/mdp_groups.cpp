// SPDX-License-Identifier: Apache-2.0
#include "mdp/mdp_entries.h"
#include "tessera/data/text_reader.h"
#include "tessera/molecular/mdp.h"

#include <fmt/format.h>

#include <vector>

namespace tessera::molecular {
namespace {

#define TESSERA_MAIN_CHAIN "N CA C O O1 O2 OC1 OC2 OT OXT"
#define TESSERA_CHARMM_BASES "ADE GUA CYT THY URA"  // no nucleic acids to GROMACS
struct Usual {
  std::string_view name, selection;
};
constexpr Usual usual_groups[] = {
    {"System", "all"},
    {"Protein", "protein"},
    {"Protein-H", "protein and not hydrogen"},
    {"C-alpha", "protein and name CA"},
    {"Backbone", "protein and name N CA C"},
    {"MainChain", "protein and name " TESSERA_MAIN_CHAIN},
    {"MainChain+Cb", "protein and name CB " TESSERA_MAIN_CHAIN},
    {"MainChain+H", "protein and name H H1 H2 H3 HN " TESSERA_MAIN_CHAIN},
    {"SideChain", "protein and not name H H1 H2 H3 HN " TESSERA_MAIN_CHAIN},
    {"SideChain-H", "protein and heavy and not name " TESSERA_MAIN_CHAIN},
    {"Prot-Masses", "protein and mass > 0"},
    {"non-Protein", "not protein"},
    {"Water", "water"},
    {"SOL", "water"},
    {"non-Water", "not water"},
    {"non-SOL", "not water"},
    {"Ion", "ion"},
    {"Water_and_ions", "water or ion"},
    {"Other", "not (protein or nucleic and not resname " TESSERA_CHARMM_BASES " or water or ion)"},
    {"DNA", "nucleic and resname D*"},
    {"RNA", "nucleic and not resname D* " TESSERA_CHARMM_BASES},
};
#undef TESSERA_MAIN_CHAIN
#undef TESSERA_CHARMM_BASES

/// "serial 1 to 22 30"
std::string serials(const std::vector<std::int64_t>& atoms) {
  std::string out = "serial";
  for (std::size_t k = 0; k < atoms.size();) {
    std::size_t last = k;
    while (last + 1 < atoms.size() && atoms[last + 1] == atoms[last] + 1) ++last;
    out +=
        last > k ? fmt::format(" {} to {}", atoms[k], atoms[last]) : fmt::format(" {}", atoms[k]);
    k = last + 1;
  }
  return out;
}

}  // namespace

std::optional<std::string> MdpGroups::find(std::string_view name) const {
  if (!file.empty()) {
    const auto at = index.find(mdp_name(name));
    return at == index.end() ? std::nullopt : std::optional(at->second);
  }
  for (const Usual& u : usual_groups)
    if (mdp_name(u.name) == mdp_name(name)) return std::string(u.selection);
  for (const std::string& r : residues)
    if (mdp_name(r) == mdp_name(name)) return "resname \"" + r + "\"";
  return {};
}

std::string MdpGroups::known() const {
  std::string out;
  const auto add = [&](std::string_view name) {
    out += (out.empty() ? "" : ", ") + std::string(name);
  };
  if (!file.empty())
    for (const auto& [name, atoms] : index) add(name);
  else
    for (const Usual& u : usual_groups) add(u.name);
  return (file.empty() ? "" : "of " + file + ": ") + out.substr(0, 400) +
         (file.empty() ? "; names of residues; others by an index file (.ndx) beside the .mdp"
                       : "");
}

std::map<std::string, std::string> read_index(const data::TextFile& text) {
  data::Findings findings(text);
  std::map<std::string, std::vector<std::int64_t>> groups;
  std::vector<std::int64_t>* group = nullptr;
  std::size_t start = 0;
  const auto close = [&] {
    if (group && group->empty()) findings.error(701, start, "a group without atoms");
  };
  for (std::size_t n = 1; n <= text.n_lines(); ++n) {
    const std::size_t begin = text.line_starts[n - 1];
    std::string_view line = text.line(n);
    line = line.substr(0, line.find(';'));
    const std::string_view body = data::trim(line);
    if (body.starts_with('[')) {
      close();
      start = begin;
      const std::string_view name = data::trim(
          body.substr(1, body.find(']') == std::string_view::npos ? 0 : body.find(']') - 1));
      if (name.empty()) findings.error(701, begin, "expected [ NAME ], got " + data::shown(body));
      group = &groups[mdp_name(name)];
      group->clear();  // of two with one name the last counts, as gmx warns
      continue;
    }
    const std::vector<data::Token> words =
        data::split_tokens(text.text, begin, begin + line.size());
    if (words.size() > data::kMostItems)
      findings.error(701, words.back().offset,
                     fmt::format("more than {} numbers in one line", data::kMostItems),
                     "break the line");
    for (const data::Token& t : words) {
      const auto i = data::parse_count(t, 2'000'000'000, "number of an atom", findings);
      if (!group) {
        findings.error(701, t.offset, "numbers before the first [ NAME ]");
        findings.throw_if_errors();
      }
      if (i && *i < 1) findings.error(702, t.offset, "atoms are counted from 1");
      if (i) group->push_back(static_cast<std::int64_t>(*i));
    }
  }
  close();
  findings.throw_if_errors();
  std::map<std::string, std::string> out;
  for (const auto& [name, atoms] : groups) out[name] = serials(atoms);
  return out;
}

}  // namespace tessera::molecular
