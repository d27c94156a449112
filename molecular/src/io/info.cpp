// SPDX-License-Identifier: Apache-2.0
// What `tessera info FILE` says of structures, topologies and force fields.
#include "tessera/data/info.h"

#include "system/box_info.h"
#include "tessera/data/text_reader.h"
#include "tessera/molecular/amber.h"
#include "tessera/molecular/force_field.h"
#include "tessera/molecular/gromacs.h"
#include "tessera/molecular/openmm_xml.h"
#include "tessera/molecular/structure_file.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string_view>

namespace tessera::molecular {
namespace {

using data::InfoNode;
namespace fs = std::filesystem;

std::int64_t count(std::size_t n) { return static_cast<std::int64_t>(n); }
/// What there is some of.
struct Counts {
  InfoNode& list;
  void operator()(const char* name, std::size_t n) const {
    if (n > 0) list.add(name, count(n));
  }
};
InfoNode file_node(const fs::path& path) { return {path.filename().string(), {}, {}}; }

void add_remarks(InfoNode& node, const std::vector<data::Diagnostic>& remarks) {
  if (remarks.empty()) return;
  InfoNode& list = node.add("remarks", count(remarks.size()));
  for (const data::Diagnostic& d : remarks)
    list.add(d.place.line > 0 ? "line " + std::to_string(d.place.line) : "remark", d.message);
}
/// Of the residues, how many of each name; the most frequent first.
template <class Names>
void add_residues(InfoNode& node, const Names& residues) {
  std::map<std::string, std::int64_t> of;
  for (const Residue& r : residues) ++of[r.name];
  std::vector<std::pair<std::string, std::int64_t>> sorted(of.begin(), of.end());
  std::ranges::stable_sort(sorted, std::greater{}, &std::pair<std::string, std::int64_t>::second);
  InfoNode& list = node.add("residues", count(residues.size()));
  for (const auto& [name, n] : sorted) list.add(name.empty() ? "(no name)" : name, n);
}

InfoNode summarize_gro(const fs::path& path) {
  const GroFile file = read_gro(data::read_text_file(path));
  const Frame& first = file.frames.front();
  InfoNode node = file_node(path);
  node.add("title", file.title);
  node.add("atoms", count(file.atom_name.size()));
  add_residues(node, file.residues);
  node.add("frames", count(file.frames.size()));
  node.add("first time [ps]", first.time_ps);
  node.add("velocities", !first.v_nm_ps.empty());
  add_box(node, "box", first.box);
  add_remarks(node, file.remarks);
  return node;
}

InfoNode summarize_structure(const fs::path& path) {
  const StructureFile file = read_structure(path);
  const Structure& s = file.structure;
  InfoNode node = file_node(path);
  if (!s.title.empty()) node.add("title", s.title);
  node.add("atoms", count(s.n_atoms()));
  node.add("hydrogens",
           count(static_cast<std::size_t>(std::ranges::count(s.element, std::uint8_t{1}))));
  node.add("chains", s.chain.empty() ? std::int64_t{0} : std::int64_t{s.chain.back()} + 1);
  add_residues(node, s.residues);
  node.add("bonds", count(s.bonds.size()));
  add_box(node, "box", s.box);
  add_remarks(node, file.remarks);
  return node;
}

void add_system(InfoNode& node, const System& s) {
  if (!s.title.empty()) node.add("title", s.title);
  node.add("atoms", count(s.n_atoms()));
  const std::vector<std::int32_t> molecule = molecules(s);
  node.add("molecules", molecule.empty() ? std::int64_t{0}
                                         : std::int64_t{*std::ranges::max_element(molecule)} + 1);
  add_residues(node, s.residues);
  const auto rounded = [](double v) { return std::round(v * 1e6) / 1e6; };
  node.add("mass [amu]",
           rounded(std::accumulate(s.atoms.mass_amu.begin(), s.atoms.mass_amu.end(), 0.0)));
  node.add("net charge [e]", rounded(net_charge_e(s)));
  node.add("Lennard-Jones types", std::int64_t{s.lj.types});
  const Counts add{node.add("terms")};
  each_bonded([&](const BondedKind& kind, const auto& list) { add(kind.words, list.size()); }, s);
  add("exclusions", s.exclusions.size());
  add("constraints", s.constraints.size());
  add("rigid waters", s.rigid_waters.size());
  add("virtual sites", s.virtual_sites.size());
}

InfoNode summarize_prmtop(const fs::path& path) {
  const AmberTopology file = read_amber_topology(data::read_text_file(path));
  InfoNode node = file_node(path);
  add_system(node, file.system);
  if (file.box) add_box(node, "box", *file.box);
  add_remarks(node, file.remarks);
  return node;
}

InfoNode summarize_restart(const fs::path& path) {
  const data::TextFile text = data::read_text_file(path);
  const Frame frame = read_amber_restart(text);
  InfoNode node = file_node(path);
  node.add("title", std::string(data::trim(text.line(1))));
  node.add("atoms", count(frame.x_nm.size()));
  node.add("time [ps]", frame.time_ps);
  node.add("velocities", !frame.v_nm_ps.empty());
  add_box(node, "box", frame.box);
  return node;
}

InfoNode summarize_topology(const fs::path& path) {
  const GromacsTopology file = read_top(path, {.needs_reference = false});
  InfoNode node = file_node(path);
  add_system(node, file.system);
  InfoNode& files = node.add("files", count(file.files.size()));
  for (const fs::path& f : file.files) files.add(f.string());
  add_remarks(node, file.remarks);
  return node;
}

/// A part of a topology means nothing alone: how many lines its sections have, and what it names.
InfoNode summarize_include(const fs::path& path) {
  const data::TextFile text = data::read_text_file(path);
  InfoNode node = file_node(path);
  using Section = std::pair<std::string, std::int64_t>;
  std::vector<Section> sections;
  std::vector<std::string> molecule_types, includes;
  std::size_t now = 0, lines = 0;  // the section, its lines so far
  for (std::size_t n = 1; n <= text.n_lines(); ++n) {
    const std::string_view all = text.line(n), line = data::trim(all.substr(0, all.find(';')));
    if (line.starts_with("#include")) includes.emplace_back(data::trim(line.substr(8)));
    if (line.empty() || line.front() == '#') continue;
    if (line.front() == '[') {
      const std::string name(data::trim(line.substr(1, line.find(']') - 1)));
      now = static_cast<std::size_t>(std::ranges::find(sections, name, &Section::first) -
                                     sections.begin());
      if (now == sections.size()) sections.emplace_back(name, 0);
      lines = 0;
      continue;
    }
    if (sections.empty())
      throw data::InputError(
          text.error(722, text.line_starts[n - 1], "expected a section such as [ moleculetype ]"));
    ++sections[now].second;
    if (lines++ == 0 && sections[now].first == "moleculetype")
      molecule_types.emplace_back(line.substr(0, line.find_first_of(" \t")));
  }
  InfoNode& list = node.add("sections", count(sections.size()));
  for (const auto& [name, n] : sections) list.add(name, n);
  if (!molecule_types.empty()) {
    InfoNode& types = node.add("molecule types", count(molecule_types.size()));
    for (const std::string& t : molecule_types) types.add(t);
  }
  if (!includes.empty()) {
    InfoNode& files = node.add("includes", count(includes.size()));
    for (const std::string& f : includes) files.add(f);
  }
  return node;
}

InfoNode summarize_force_field(const fs::path& path) {
  const data::TextFile text = data::read_text_file(path);
  const ForceField f = read_openmm_xml({&text, 1});
  InfoNode node = file_node(path);
  node.add("atom types", count(f.types.size()));
  InfoNode& templates = node.add("residues", count(f.templates.size()));
  for (const ForceField::Template& t : f.templates) templates.add(t.name, count(t.atoms.size()));
  node.add("patches", count(f.patches.size()));
  const Counts add{node.add("rules")};
  const System kinds;
  each_bonded(
      [&](const BondedKind& kind, const auto&) {
        std::size_t n = 0;
        const auto of_kind = [&](const auto& lists) {
          for (const auto& list : lists) n += list.kind == kind.first ? list.rules.size() : 0;
        };
        of_kind(f.bonds), of_kind(f.angles), of_kind(f.propers), of_kind(f.impropers);
        add(kind.words, n);
      },
      kinds);
  add("correction maps", f.cmap.size());
  add("pairs of types of their own", f.nbfix.size());
  if (f.coulomb14_scale != 1 || f.lj14_scale != 1) {
    node.add("1-4 Coulomb scale", f.coulomb14_scale);
    node.add("1-4 Lennard-Jones scale", f.lj14_scale);
  }
  add_remarks(node, f.remarks);
  return node;
}

bool is_prmtop(std::string_view head, const fs::path&) {
  return head.starts_with("%VERSION") || head.starts_with("%FLAG");
}
bool is_mmcif(std::string_view head, const fs::path&) {
  return head.starts_with("data_") && head.find("_atom_site") != std::string_view::npos;
}
bool is_force_field(std::string_view head, const fs::path&) {
  return head.find("<ForceField") != std::string_view::npos;
}
bool is_pdb(std::string_view head, const fs::path&) {
  for (const std::string_view record : {"HEADER    ", "CRYST1", "ATOM  ", "HETATM", "REMARK ",
                                        "MODEL  ", "COMPND    ", "TITLE     "})
    if (head.starts_with(record)) return true;
  return false;
}

using Formats = data::RegisterFormat;
const Formats gro({.name = "GRO",
                   .summary = "GROMACS structures",
                   .extensions = {".gro"},
                   .summarize = summarize_gro});
const Formats pdb({.name = "PDB",
                   .summary = "wwPDB structures",
                   .extensions = {".pdb", ".ent"},
                   .sniff = is_pdb,
                   .summarize = summarize_structure,
                   .priority = 60});
const Formats mmcif({.name = "mmCIF",
                     .summary = "PDBx/mmCIF structures",
                     .extensions = {".cif", ".mmcif"},
                     .sniff = is_mmcif,
                     .summarize = summarize_structure});
const Formats prmtop({.name = "AMBER topology",
                      .summary = "AMBER and CHAMBER topologies",
                      .extensions = {".prmtop", ".parm7"},
                      .sniff = is_prmtop,
                      .summarize = summarize_prmtop,
                      .priority = 20});
const Formats restart({.name = "AMBER restart",
                       .summary = "AMBER positions, velocities and box",
                       .extensions = {".rst7", ".inpcrd", ".restrt"},
                       .summarize = summarize_restart});
const Formats topology({.name = "GROMACS topology",
                        .summary = "GROMACS topologies, whole",
                        .extensions = {".top"},
                        .summarize = summarize_topology});
const Formats include({.name = "GROMACS include",
                       .summary = "parts of GROMACS topologies",
                       .extensions = {".itp"},
                       .summarize = summarize_include});
const Formats force_field({.name = "OpenMM force field",
                           .summary = "force fields in OpenMM's XML",
                           .extensions = {},
                           .sniff = is_force_field,
                           .summarize = summarize_force_field,
                           .priority = 20});

}  // namespace
}  // namespace tessera::molecular
