// SPDX-License-Identifier: Apache-2.0
#include "molecular/analysis_tasks.h"
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
    mol::GromacsTopology t = mol::read_top(o.topology);
    in.system = std::move(t.system), in.remarks = std::move(t.remarks);
    for (std::size_t k = 1; k < t.files.size(); ++k) in.files.push_back(data::describe_input(t.files[k]));
  } else if (kind == ".pdb" || kind == ".ent" || kind == ".cif" || kind == ".mmcif") {
    mol::StructureFile f = mol::read_structure(o.topology);
    in.system = system_of(f.structure), in.remarks = std::move(f.remarks);
  } else {
    throw data::InputError(config.error(743, "topology", fmt::format("'{}' is no ending of a topology that is read", kind), "give .prmtop, .parm7, .top, .pdb or .cif"),
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
    for (std::int32_t i : all) {
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
