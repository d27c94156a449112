// SPDX-License-Identifier: Apache-2.0
#include "molecular/analysis/tasks.h"
#include "tessera/data/hdf5.h"
#include "tessera/data/input_files.h"
#include "tessera/data/text_file.h"
#include "tessera/molecular/amber.h"
#include "tessera/molecular/elements.h"
#include "tessera/molecular/gromacs.h"
#include "tessera/molecular/groups.h"
#include "tessera/molecular/structure_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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
  a.charge_e.assign(s.n_atoms(), NAN);  // not known: selections that go by them are refused
  a.lj_type.assign(s.n_atoms(), 0);
  return out;
}

/// Atoms as an H5MD file keeps them: atomic numbers, masses, charges, bonds; each a residue of its
/// own, named by its element.
mol::System system_of_h5md(const fs::path& path) {
  const data::H5Limits limits{.being_written = true};
  std::string root;
  bool bonds = false;
  for (const data::H5Object& o : data::list_h5(path, limits)) {
    if (root.empty() && o.path.starts_with("/particles/") && o.path.ends_with("/species"))
      root = o.path.substr(0, o.path.size() - 7);
    bonds |= o.path == "/connectivity/bonds";
  }
  const auto refuse = [&](const std::string& what) {
    throw data::InputError(
        data::Diagnostic{.number = 428, .place = {path.string()}, .message = what});
  };
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
  for (std::int64_t e : integers(names[0]))
    a.element.push_back(e >= 0 && e <= 118 ? static_cast<std::uint8_t>(e) : 0);
  a.mass_amu = reals(names[1]), a.charge_e = reals(names[2]);
  const std::size_t n = a.element.size();
  if (a.mass_amu.size() != n || a.charge_e.size() != n)
    refuse("has species, masses and charges of different numbers of atoms");
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
      if (i < 0 || i == j || static_cast<std::size_t>(j) >= n)
        refuse("has bonds of atoms that are not there");
      s.connectivity.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j)});
    }
    // Some programs write each bond from both of its atoms.
    std::ranges::sort(s.connectivity);
    const auto twice = std::ranges::unique(s.connectivity);
    s.connectivity.erase(twice.begin(), twice.end());
  }
  return s;
}

/// Atoms that a group's selection names; all without one.
mol::Group selected(const AnalysisOptions& o, const data::Config& config, std::size_t k,
                    const mol::System& s) {
  mol::Group out(s.n_atoms());
  std::iota(out.begin(), out.end(), 0);
  if (!o.groups[k].select) return out;
  mol::Snapshot first;
  mol::open_trajectory(o.trajectory[0], {.n_atoms = s.n_atoms(), .positions = true})->read(first);
  try {
    return mol::atoms_of(*o.groups[k].select, s, first.frame);
  } catch (const data::InputError& e) {
    const data::Diagnostic& d = e.findings().front();
    throw data::InputError(
        config.error(d.number, fmt::format("group[{}].select", k), d.message, d.hint),
        data::ExitCode::config_invalid);
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
    in.system = system_of_h5md(o.topology);
  } else if (kind == ".pdb" || kind == ".ent" || kind == ".cif" || kind == ".mmcif") {
    mol::StructureFile f = mol::read_structure(o.topology);
    in.system = system_of(f.structure), in.remarks = std::move(f.remarks);
  } else {
    throw data::InputError(
        config.error(743, "topology",
                     fmt::format("'{}' is no ending of a topology that is read", kind),
                     "give .prmtop, .parm7, .top, .pdb, .cif or .h5md"),
        data::ExitCode::config_invalid);
  }
  if (const auto remark = unbound_hydrogens(o, config, in.system)) in.remarks.push_back(*remark);
  for (const fs::path& p : o.trajectory) data::open_input(p);

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

namespace {
constexpr double one_ps = 1e-12;
constexpr double time_slack_ps = 1e-6;  ///< of sums of steps
/// How far a frame's time may be off a time of [frames]: some formats keep it in single precision.
double slack_at(double bound_ps) { return std::max(time_slack_ps, 0x1p-23 * std::abs(bound_ps)); }

/// Whether an analysis looks at where atoms are, and not at their velocities alone.
bool take_positions(const AnalysisOptions& o) {
  return std::ranges::any_of(o.tasks, [](const TaskOptions& t) { return t.kind != Kind::vacf; });
}

[[noreturn]] void refuse(const data::Config& config, const std::string& key,
                         const std::string& what, const std::string& hint) {
  throw data::InputError(config.error(743, key, what, hint), data::ExitCode::config_invalid);
}
}  // namespace

Beginnings::Beginnings(const AnalysisOptions& o, const data::Config& config, std::size_t n_atoms)
    : options_(o), config_(config) {
  std::size_t with = 0, without = 0;
  bool one_time = true;
  for (std::size_t k = 0; k < o.trajectory.size(); ++k) {
    files_.push_back(of(o.trajectory[k], n_atoms));
    const Beginning& b = files_.back();
    if (b.even)
      without = k + 1;
    else if (b.step_ps)
      with = k + 1;
    one_time = one_time && !b.step_ps && b.first_ps == files_[0].first_ps;
  }
  const auto name = [&](std::size_t k) { return o.trajectory[k - 1].filename().string(); };
  if (with > 0 && without > 0)
    refuse(config, "trajectory",
           fmt::format("the frames of {} have times, those of {} have none", name(with),
                       name(without)),
           "analyse them apart");
  by_number_ = without > 0 || (one_time && o.trajectory.size() > 1);
  const FrameOptions& f = o.frames;
  if (f.spacing && !by_number_ && f.times == Times::file)
    refuse(config, "frames.spacing", "the frames have times of their own", "leave spacing out");
  if (!by_number_ || f.spacing) return;
  if (f.from || f.to)
    refuse(config, f.from ? "frames.from" : "frames.to", "the frames have no times",
           "give frames.spacing");
  for (std::size_t k = 0; k < o.tasks.size(); ++k)
    if (o.tasks[k].kind == Kind::msd || o.tasks[k].kind == Kind::vacf)
      refuse(config, fmt::format("analysis[{}]", k),
             "the frames have no times, which this analysis needs",
             "give frames.spacing, the time between frames");
}

void Frames::anew(std::size_t file, double at_ps) const {
  refuse(config_, "trajectory",
         fmt::format("{} starts again, at {:.6g} ps; the first frame was at {:.6g} ps",
                     options_.trajectory[file].filename().string(), at_ps, *first_ps_),
         "frames.times = \"append\" lets each file go on where the one before has ended; or leave "
         "out what it repeats");
}

Beginnings::Beginning Beginnings::of(const fs::path& file, std::size_t n_atoms) const {
  Beginning out;
  const bool positions = take_positions(options_);
  const auto vacf = std::ranges::find(options_.tasks, Kind::vacf, &TaskOptions::kind);
  const bool both = positions && vacf != options_.tasks.end();
  const auto reader = mol::open_trajectory(file, {.n_atoms = n_atoms,
                                                  .accept_cut_end = options_.frames.accept_cut_end,
                                                  .positions = positions && !both});
  mol::Snapshot s;
  const auto next = [&] {
    while (reader->read(s)) {
      if (!both || !s.frame.x_nm.empty()) return true;
      if (!s.frame.v_nm_ps.empty())  // passed over, vacf would know fewer times than it could
        refuse(config_, fmt::format("analysis[{}]", vacf - options_.tasks.begin()),
               fmt::format("{} has velocities at {:.6g} ps, but no positions, which other analyses "
                           "of this case need",
                           file.filename().string(), s.frame.time_ps),
               "ask for vacf in a case of its own");
    }
    return false;
  };
  if (!next()) return out;
  out.first_ps = s.frame.time_ps;
  while (next()) {
    out.even = s.frame.time_ps == *out.first_ps;
    if (out.even) continue;
    out.step_ps = s.frame.time_ps - *out.first_ps;
    break;
  }
  return out;
}

void Beginnings::check() const {
  if (by_number_ || options_.frames.times == Times::append || !files_[0].first_ps) return;
  bool several = false;  // a single structure before its trajectory is no beginning
  for (std::size_t k = 0; k < files_.size(); ++k) {
    if (several && files_[k].first_ps && *files_[k].first_ps <= *files_[0].first_ps + time_slack_ps)
      refuse(config_, "trajectory",
             fmt::format("{} starts again, at {:.6g} ps",
                         options_.trajectory[k].filename().string(), *files_[k].first_ps),
             "frames.times = \"append\" lets each file go on where the one before has ended; or "
             "leave out what it repeats");
    several = several || files_[k].step_ps;
  }
}

/// The time of a frame among all frames; none: it is left out.
std::optional<double> Frames::time_of(double file_ps) {
  if (beginnings_.by_number())
    return static_cast<double>(number_++) *
           (options_.frames.spacing ? *options_.frames.spacing / one_ps : 1);
  const bool first_of_file = !file_ps_;
  double t = file_ps + shift_ps_;
  if (last_ps_ && t <= *last_ps_ + time_slack_ps) {
    const bool begins =
        first_of_file || (t <= *file_ps_ + time_slack_ps && *last_ps_ > *file_ps_ + time_slack_ps);
    if (begins && options_.frames.times == Times::append) {
      const std::optional<double> step =
          options_.frames.spacing ? *options_.frames.spacing / one_ps : beginnings_.step_ps(file_);
      if (!step || !(*step > 0))
        refuse(config_, "frames.times",
               fmt::format("{} does not say how long after the frames before it begins",
                           options_.trajectory[file_].filename().string()),
               "give frames.spacing");
      shift_ps_ = *last_ps_ + *step - file_ps;
      t = file_ps + shift_ps_;
      file_ps_ = t;
    } else if (t <= *first_ps_ + time_slack_ps && *last_ps_ > *first_ps_ + time_slack_ps) {
      anew(file_, file_ps);
    } else {
      ++left_out_;
      return {};
    }
  }
  if (!file_ps_) file_ps_ = t;
  if (!first_ps_) first_ps_ = t;
  last_ps_ = t;
  return t;
}

bool Frames::read(mol::Snapshot& s) {
  const FrameOptions& f = options_.frames;
  for (; file_ < options_.trajectory.size(); ++file_, reader_.reset()) {
    if (!reader_) {
      reader_ =
          mol::open_trajectory(options_.trajectory[file_], {.n_atoms = n_atoms_,
                                                            .accept_cut_end = f.accept_cut_end,
                                                            .positions = take_positions(options_)});
      shift_ps_ = 0;
      file_ps_.reset();
    }
    while (reader_->read(s)) {
      const std::optional<double> t = time_of(s.frame.time_ps);
      if (!t || (f.from && *t < *f.from / one_ps - slack_at(*f.from / one_ps))) continue;
      if (f.to && *t > *f.to / one_ps + slack_at(*f.to / one_ps)) return false;
      s.frame.time_ps = *t;
      if (seen_++ % f.every == 0) return true;
    }
    if (reader_->cut_end()) remarks_.push_back(*reader_->cut_end());
  }
  return false;
}

}  // namespace tessera::apps::analysis
