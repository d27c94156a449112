// SPDX-License-Identifier: Apache-2.0
#include "molecular/analysis_tasks.h"
#include "molecular/md_groups.h"
#include "tessera/data/hdf5.h"
#include "tessera/data/text_file.h"
#include "tessera/molecular/amber.h"
#include "tessera/molecular/elements.h"
#include "tessera/molecular/gromacs.h"
#include "tessera/molecular/structure_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace tessera::apps::analysis {
namespace {

namespace fs = std::filesystem;

/// ".prmtop" of "x.prmtop.gz".
std::string ending(const fs::path& path) {
  std::string out = path.extension() == ".gz" ? path.stem().extension().string() : path.extension().string();
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

mol::System system_of(const mol::Structure& s) {
  mol::System out;
  out.title = s.title;
  out.residues = s.residues;
  out.connectivity = s.bonds;
  mol::Atoms& a = out.atoms;
  a.name = a.type = s.name;
  a.element = s.element;
  a.residue = s.residue;
  for (std::uint8_t e : s.element) a.mass_amu.push_back(mol::mass_of(e));
  a.charge_e.assign(s.n_atoms(), 0);
  a.lj_type.assign(s.n_atoms(), 0);
  return out;
}

/// Atoms as an H5MD file keeps them: atomic numbers, masses, charges, bonds; each a residue of its own, named by its element.
mol::System system_of_h5md(const fs::path& path) {
  const data::H5Limits limits{.being_written = true};
  std::string root;
  bool bonds = false;
  for (const data::H5Object& o : data::list_h5(path, limits)) {
    if (root.empty() && o.path.starts_with("/particles/") && o.path.ends_with("/species")) root = o.path.substr(0, o.path.size() - 7);
    bonds |= o.path == "/connectivity/bonds";
  }
  const auto refuse = [&](const std::string& what) { throw data::InputError(data::Diagnostic{.number = 428, .place = {path.string()}, .message = what}); };
  if (root.empty()) refuse("has no particles/*/species: it cannot serve as a topology");
  std::vector<std::string> names = {root + "species", root + "mass", root + "charge"};
  if (bonds) names.push_back("/connectivity/bonds");
  const auto arrays = data::read_h5(path, names, limits);
  const auto integers = [&](const std::string& name) {
    const auto* v = std::get_if<std::vector<std::int64_t>>(&arrays.at(name).data);
    if (!v) refuse(name + " are no integers");
    return *v;
  };
  const auto reals = [&](const std::string& name) {
    const auto* v = std::get_if<std::vector<double>>(&arrays.at(name).data);
    if (!v) refuse(name + " are no float64 numbers");
    return *v;
  };
  mol::System s;
  mol::Atoms& a = s.atoms;
  for (std::int64_t e : integers(names[0])) a.element.push_back(e >= 0 && e <= 118 ? static_cast<std::uint8_t>(e) : 0);
  a.mass_amu = reals(names[1]), a.charge_e = reals(names[2]);
  const std::size_t n = a.element.size();
  if (a.mass_amu.size() != n || a.charge_e.size() != n) refuse("has species, masses and charges of different numbers of atoms");
  a.lj_type.assign(n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    a.name.emplace_back(mol::symbol_of(a.element[i]));
    a.residue.push_back(static_cast<std::int32_t>(i));
    s.residues.push_back({a.name.back(), std::to_string(i + 1), "", ""});
  }
  a.type = a.name;
  if (bonds) {
    const std::vector<std::int64_t> pairs = integers("/connectivity/bonds");
    for (std::size_t k = 0; k + 1 < pairs.size(); k += 2) {
      const auto [i, j] = std::minmax(pairs[k], pairs[k + 1]);
      if (i < 0 || i == j || static_cast<std::size_t>(j) >= n) refuse("has bonds of atoms that are not there");
      s.connectivity.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j)});
    }
  }
  return s;
}

/// Atoms that a group's selection names; all without one.
mol::Group selected(const AnalysisOptions& o, const data::Config& config, std::size_t k, const mol::System& s) {
  mol::Group out(s.n_atoms());
  std::iota(out.begin(), out.end(), 0);
  if (!o.groups[k].select) return out;
  mol::Snapshot first;
  mol::open_trajectory(o.trajectory[0], {.n_atoms = s.n_atoms()})->read(first);
  try {
    return md::atoms_of(*o.groups[k].select, s, first.frame);
  } catch (const data::InputError& e) {
    const data::Diagnostic& d = e.findings().front();
    throw data::InputError(config.error(d.number, fmt::format("group[{}].select", k), d.message, d.hint), data::ExitCode::config_invalid);
  }
}

bool among(const std::vector<std::string>& list, const std::string& name) { return list.empty() || std::find(list.begin(), list.end(), name) != list.end(); }

}  // namespace

Input read_input(const AnalysisOptions& o, const data::Config& config) {
  Input in;
  in.files.push_back(data::describe_input(o.topology));
  const std::string kind = ending(o.topology);
  if (kind == ".prmtop" || kind == ".parm7" || kind == ".top7") {
    mol::AmberTopology t = mol::read_amber_topology(data::read_text_file(o.topology));
    in.system = std::move(t.system), in.remarks = std::move(t.remarks);
  } else if (kind == ".top") {
    mol::GromacsTopology t = mol::read_top(o.topology, {.include_folders = o.include_folders});
    in.system = std::move(t.system), in.remarks = std::move(t.remarks);
    for (std::size_t k = 1; k < t.files.size(); ++k) in.files.push_back(data::describe_input(t.files[k]));
  } else if (kind == ".h5md" || kind == ".h5") {
    in.system = system_of_h5md(o.topology);
  } else if (kind == ".pdb" || kind == ".ent" || kind == ".cif" || kind == ".mmcif") {
    mol::StructureFile f = mol::read_structure(o.topology);
    in.system = system_of(f.structure), in.remarks = std::move(f.remarks);
  } else {
    throw data::InputError(config.error(743, "topology", fmt::format("'{}' is no ending of a topology that is read", kind), "give .prmtop, .parm7, .top, .pdb, .cif or .h5md"),
                           data::ExitCode::config_invalid);
  }
  for (const fs::path& p : o.trajectory) in.files.push_back(data::describe_input(p));

  const mol::Atoms& a = in.system.atoms;
  mol::Group all(in.system.n_atoms());
  std::iota(all.begin(), all.end(), 0);
  in.groups["all"] = all;
  for (std::size_t k = 0; k < o.groups.size(); ++k) {
    const GroupOptions& g = o.groups[k];
    mol::Group& to = in.groups[g.name];
    if (g.range && static_cast<std::size_t>((*g.range)[1]) > in.system.n_atoms())
      throw data::InputError(config.error(743, fmt::format("group[{}].range", k), fmt::format("the range ends at atom {}, the topology has {}", (*g.range)[1], in.system.n_atoms())), data::ExitCode::config_invalid);
    for (std::int32_t i : selected(o, config, k, in.system)) {
      const auto n = static_cast<std::size_t>(i);
      if (g.range && (i + 1 < (*g.range)[0] || i + 1 > (*g.range)[1])) continue;
      const std::string residue = in.system.residues.empty() ? "" : in.system.residues[static_cast<std::size_t>(a.residue[n])].name;
      if (among(g.atoms, a.name[n]) && among(g.residues, residue) && among(g.elements, std::string(mol::symbol_of(a.element[n])))) to.push_back(i);
    }
    if (to.empty())
      throw data::InputError(config.error(743, fmt::format("group[{}]", k), fmt::format("no atom of {} belongs to the group '{}'", o.topology.filename().string(), g.name),
                                          "names are case-sensitive; an atom has to meet every key"),
                             data::ExitCode::config_invalid);
  }
  return in;
}

Frames::Frames(const AnalysisOptions& o, std::size_t n_atoms) : options_(o), n_atoms_(n_atoms) {}

bool Frames::read(mol::Snapshot& s) {
  constexpr double ps = 1e-12, slack = 1e-6;
  const FrameOptions& f = options_.frames;
  for (; file_ < options_.trajectory.size(); ++file_, reader_.reset()) {
    if (!reader_) reader_ = mol::open_trajectory(options_.trajectory[file_], {.n_atoms = n_atoms_, .accept_cut_end = f.accept_cut_end});
    while (reader_->read(s)) {
      const double t = s.frame.time_ps;
      if ((last_ps_ && t <= *last_ps_ + slack) || (f.from && t < *f.from / ps - slack)) continue;
      if (f.to && t > *f.to / ps + slack) return false;
      last_ps_ = t;
      if (seen_++ % f.every == 0) return true;
    }
    if (reader_->cut_end()) remarks_.push_back(*reader_->cut_end());
  }
  return false;
}

}  // namespace tessera::apps::analysis
