// SPDX-License-Identifier: Apache-2.0
#include "molecular/analysis/tasks.h"
#include "tessera/data/input_files.h"
#include "tessera/data/text_file.h"
#include "tessera/molecular/amber.h"
#include "tessera/molecular/elements.h"
#include "tessera/molecular/gromacs.h"
#include "tessera/molecular/groups.h"
#include "tessera/molecular/h5md_topology.h"
#include "tessera/molecular/structure_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

namespace tessera::apps::analysis {
namespace {

namespace fs = std::filesystem;

/// ".prmtop" of "x.prmtop.gz".
std::string ending(const fs::path& path) {
  std::string out =
      path.extension() == ".gz" ? path.stem().extension().string() : path.extension().string();
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// Atoms that a group's selection names; all without one.
mol::Group selected(const AnalysisOptions& o, const data::Config& config, std::size_t k,
                    const mol::System& s) {
  mol::Group out(s.n_atoms());
  std::iota(out.begin(), out.end(), 0);
  if (!o.groups[k].select) return out;
  mol::Snapshot first;
  for (const fs::path& p : o.trajectory)
    if (mol::open_trajectory(p, {.n_atoms = s.n_atoms(), .positions = true})->read(first)) break;
  const auto refusal = [&](int number, const std::string& message, const std::string& hint) {
    return data::InputError(config.error(number, fmt::format("group[{}].select", k), message, hint),
                            data::ExitCode::config_invalid);
  };
  try {
    return mol::atoms_of(*o.groups[k].select, s, first.frame);
  } catch (const data::InputError& e) {
    const data::Diagnostic& d = e.findings().front();
    throw refusal(d.number, d.message, d.hint);
  } catch (const Error&) {
    if (!first.frame.x_nm.empty()) throw;
    throw refusal(743, "it asks where atoms are, and there is no frame that tells",
                  "a trajectory with positions, or a selection by names");
  }
}

/// What a structure file says nothing of: which atom bears a hydrogen of a residue that is not
/// known by its name.
std::optional<data::Diagnostic> unbound_hydrogens(const AnalysisOptions& o,
                                                  const data::Config& config,
                                                  const mol::System& s) {
  const auto task = std::ranges::find(o.tasks, Kind::hydrogen_bonds, &TaskOptions::kind);
  if (task == o.tasks.end() || s.connectivity.empty()) return {};
  std::vector<bool> bound(s.n_atoms(), false);
  for (const auto& [i, j] : s.connectivity)
    bound[static_cast<std::size_t>(i)] = bound[static_cast<std::size_t>(j)] = true;
  std::size_t hydrogens = 0, first = 0, n = 0;
  for (std::size_t i = 0; i < s.n_atoms(); ++i) {
    if (s.atoms.element[i] != 1) continue;
    ++hydrogens;
    if (!bound[i] && n++ == 0) first = i;
  }
  if (n == 0) return {};
  data::Diagnostic d = config.error(
      743, fmt::format("analysis[{}]", task - o.tasks.begin()),
      fmt::format("{} of {} hydrogens have no bond in {}, the first is atom {}: none of their "
                  "hydrogen bonds are counted",
                  n, hydrogens, o.topology.filename().string(), first + 1),
      "give a .top or .prmtop, or CONECT records of their residues");
  d.severity = data::Severity::warning;
  return d;
}

/// Where a structure file has no bonds of atoms that share a residue, each is a molecule of its
/// own.
std::optional<data::Diagnostic> unbound_molecules(const AnalysisOptions& o,
                                                  const data::Config& config,
                                                  const mol::System& s) {
  const auto task = std::ranges::find_if(o.tasks, [](const TaskOptions& t) {
    return (t.kind == Kind::rdf && !t.same_molecule) || (t.kind == Kind::msd && t.molecules);
  });
  if (task == o.tasks.end()) return {};
  std::vector<bool> bound(s.n_atoms(), false);
  for (const auto& [i, j] : s.connectivity)
    bound[static_cast<std::size_t>(i)] = bound[static_cast<std::size_t>(j)] = true;
  std::vector<std::size_t> atoms(s.residues.size(), 0);
  for (const std::int32_t r : s.atoms.residue) ++atoms[static_cast<std::size_t>(r)];
  std::size_t first = 0, n = 0;
  for (std::size_t i = 0; i < s.n_atoms(); ++i)
    if (!bound[i] && atoms[static_cast<std::size_t>(s.atoms.residue[i])] > 1 && n++ == 0) first = i;
  if (n == 0) return {};
  data::Diagnostic d = config.error(
      743, fmt::format("analysis[{}]", task - o.tasks.begin()),
      fmt::format("{} atoms of residues of several have no bond in {}, the first is atom {}: each "
                  "is taken for a molecule",
                  n, o.topology.filename().string(), first + 1),
      "give a .top or .prmtop, or CONECT records of their residues");
  d.severity = data::Severity::warning;
  return d;
}

bool among(const std::vector<std::string>& list, const std::string& name) {
  return list.empty() || std::find(list.begin(), list.end(), name) != list.end();
}

}  // namespace

Input read_input(const AnalysisOptions& o, const data::Config& config) {
  Input in;
  data::open_input(o.topology);
  const std::string kind = ending(o.topology);
  if (kind == ".prmtop" || kind == ".parm7" || kind == ".top7") {
    mol::AmberTopology t = mol::read_amber_topology(data::read_text_file(o.topology));
    in.system = std::move(t.system), in.remarks = std::move(t.remarks);
  } else if (kind == ".top") {
    mol::GromacsTopology t =
        mol::read_top(o.topology, {.include_folders = o.include_folders, .needs_reference = false});
    in.system = std::move(t.system), in.remarks = std::move(t.remarks);
  } else if (kind == ".h5md" || kind == ".h5") {
    in.system = mol::read_h5md_topology(o.topology);
  } else if (kind == ".pdb" || kind == ".ent" || kind == ".cif" || kind == ".mmcif") {
    mol::StructureFile f = mol::read_structure(o.topology);
    in.system = mol::system_of(f.structure), in.remarks = std::move(f.remarks);
    if (const auto remark = unbound_molecules(o, config, in.system)) in.remarks.push_back(*remark);
  } else {
    throw data::InputError(
        config.error(743, "topology",
                     fmt::format("'{}' is no ending of a topology that is read", kind),
                     "give .prmtop, .parm7, .top, .pdb, .cif or .h5md"),
        data::ExitCode::config_invalid);
  }
  if (const auto remark = unbound_hydrogens(o, config, in.system)) in.remarks.push_back(*remark);
  for (std::size_t k = 0; k < o.trajectory.size(); ++k) {
    if (!mol::is_trajectory(o.trajectory[k]))
      throw data::InputError(
          config.error(743, fmt::format("trajectory[{}]", k),
                       fmt::format("'{}' is no ending of a trajectory that is read",
                                   o.trajectory[k].extension().string()),
                       "give " + mol::trajectory_endings() + ", unpacked"),
          data::ExitCode::config_invalid);
    data::open_input(o.trajectory[k]);
  }

  const mol::Atoms& a = in.system.atoms;
  mol::Group all(in.system.n_atoms());
  std::iota(all.begin(), all.end(), 0);
  in.groups["all"] = all;
  for (std::size_t k = 0; k < o.groups.size(); ++k) {
    const GroupOptions& g = o.groups[k];
    mol::Group& to = in.groups[g.name];
    if (g.range && static_cast<std::size_t>((*g.range)[1]) > in.system.n_atoms())
      throw data::InputError(
          config.error(743, fmt::format("group[{}].range", k),
                       fmt::format("the range ends at atom {}, the topology has {}", (*g.range)[1],
                                   in.system.n_atoms())),
          data::ExitCode::config_invalid);
    for (std::int32_t i : selected(o, config, k, in.system)) {
      const auto n = static_cast<std::size_t>(i);
      if (g.range && (i + 1 < (*g.range)[0] || i + 1 > (*g.range)[1])) continue;
      const std::string residue =
          in.system.residues.empty()
              ? ""
              : in.system.residues[static_cast<std::size_t>(a.residue[n])].name;
      if (among(g.atoms, a.name[n]) && among(g.residues, residue) &&
          among(g.elements, std::string(mol::symbol_of(a.element[n]))))
        to.push_back(i);
    }
    if (to.empty())
      throw data::InputError(
          config.error(743, fmt::format("group[{}]", k),
                       fmt::format("no atom of {} belongs to the group '{}'",
                                   o.topology.filename().string(), g.name),
                       "names are case-sensitive; an atom has to meet every key"),
          data::ExitCode::config_invalid);
  }
  return in;
}

}  // namespace tessera::apps::analysis
