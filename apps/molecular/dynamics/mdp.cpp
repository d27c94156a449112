// SPDX-License-Identifier: Apache-2.0
#include "molecular/dynamics/mdp.h"

#include "molecular/dynamics/complaints.h"
#include "tessera/molecular/gromacs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

namespace tessera::apps::dynamics {
namespace {

namespace fs = std::filesystem;

std::string in_quotes(std::string_view s) {
  std::string out = "\"";
  for (const char c : s) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}
template <class Values, class Word>
std::string list_of(const Values& values, Word&& word) {
  std::string s;
  for (const auto& v : values) s += (s.empty() ? "" : ", ") + std::string(word(v));
  return "[" + s + "]";
}

/// The words of our options for what the library has.
template <class Enum, std::size_t N>
std::string word_of(const char* const (&words)[N], Enum value) {
  return in_quotes(words[static_cast<std::size_t>(value)]);
}
constexpr const char* coulomb_types[] = {"none", "cut-off", "reaction-field", "ewald", "pme"};
constexpr const char* pair_modifiers[] = {"none", "potential-shift", "force-switch",
                                          "potential-switch", "force-shift"};
constexpr const char* tails[] = {"no", "EnerPres", "AllEnerPres"};
constexpr const char* rigid_bonds[] = {"none", "h-bonds", "all-bonds", "h-angles"};
constexpr const char* schemes[] = {"md-vv", "md", "sd"};
constexpr const char* methods[] = {"steep", "l-bfgs", "fire", "newton-cg"};
constexpr const char* removals[] = {"none", "linear", "angular"};
constexpr const char* thermostats[] = {"no", "v-rescale", "nose-hoover", "andersen", "berendsen"};
constexpr const char* barostats[] = {"no", "c-rescale", "parrinello-rahman", "monte-carlo",
                                     "berendsen"};
constexpr const char* scalings[] = {"isotropic", "semiisotropic", "anisotropic"};
constexpr const char* restraint_scalings[] = {"no", "all", "com"};

/// A case, written key by key.
struct CaseText {
  const mol::Mdp& mdp;
  bool flexible_waters;
  const mol::Stage& stage = mdp.stage;
  std::string out{};

  void heading(const char* text) { out += fmt::format("\n# {}\n", text); }
  template <class T>
  void line(std::string_view key, const T& value) {
    out += fmt::format("{} = {}\n", key, value);
  }
  static std::string quantity(double value, const char* unit) {
    return std::isinf(value) ? "\"inf\"" : fmt::format("\"{} {}\"", value, unit);
  }
  template <class Values>
  static std::string quantities(const Values& values, const char* unit) {
    return list_of(values, [&](double v) { return quantity(v, unit); });
  }
  /// Of directions that scale together one value.
  std::string along(const mol::Vec3& v, const char* unit) const {
    return stage.dynamics.scaling == mol::Dynamics::Scaling::isotropic ? quantity(v[0], unit)
                                                                       : quantities(v, unit);
  }

  void files(const std::string& topology, const std::string& structure) {
    line("app", in_quotes("molecular.dynamics"));
    line("topology", in_quotes(topology));
    line("structure", in_quotes(structure));
    if (!mdp.defines.empty()) line("define", list_of(mdp.defines, in_quotes));
    if (!mdp.include_folders.empty())
      line("include_folders", list_of(mdp.include_folders, in_quotes));
    line("start_time", quantity(mdp.start_ps, "ps"));  // else the structure's counts
  }

  void interactions() {
    using N = mol::Nonbonded;
    const N& n = stage.nonbonded;
    heading("The interactions.");
    line("coulombtype", word_of(coulomb_types, n.coulomb));
    line("rcoulomb", quantity(n.cutoff_coulomb_nm, "nm"));
    const bool field = n.coulomb == N::Coulomb::reaction_field;  // which is 0 there by itself
    if (!field) line("coulomb_modifier", word_of(pair_modifiers, n.coulomb_modifier));
    line("epsilon_r", n.epsilon_r);
    if (field) line("epsilon_rf", n.epsilon_rf);
    if (n.coulomb == N::Coulomb::pme || n.coulomb == N::Coulomb::ewald)
      line("ewald_rtol", n.ewald_rtol);
    if (n.coulomb == N::Coulomb::pme) {
      if (n.fourier_grid != std::array<int, 3>{})
        line("fourier_grid", list_of(n.fourier_grid, [](int k) { return std::to_string(k); }));
      if (std::ranges::any_of(n.fourier_grid, [](int k) { return k == 0; }))
        line("fourierspacing", quantity(n.fourier_spacing_nm, "nm"));
      line("pme_order", n.pme_order);
    }
    line("vdw_modifier", word_of(pair_modifiers, n.lj_modifier));
    line("rvdw", quantity(n.cutoff_lj_nm, "nm"));
    if (n.lj_modifier == N::Modifier::force_switch ||
        n.lj_modifier == N::Modifier::potential_switch)
      line("rvdw_switch", quantity(n.lj_switch_nm, "nm"));
    line("DispCorr", word_of(tails, n.tail));
    line("constraints", word_of(rigid_bonds, stage.constraints));
    if (flexible_waters)
      line("rigid_water", "false  # those that the topology makes rigid stay so");
    if (!mdp.periodic) line("box", in_quotes("none"));
  }

  void output() {
    const mol::MdpOutput& o = mdp.output;
    heading("What is written.");
    line("nstlog", o.log_every);
    line("nstenergy", o.energies_every);
    line("nstxout", o.frames_every);
    if (o.frames_every > 0)
      line("output.trajectory", o.compressed && o.full ? "[\"xtc\", \"trr\"]"
                                : o.full               ? "[\"trr\"]"
                                                       : "[\"xtc\"]");
    if (o.velocities) line("output.velocities", true);
    if (o.forces) line("output.forces", true);
    if (!o.atoms.empty()) line("output.select", in_quotes(o.atoms));
    if (o.compressed) line("output.xtc_precision", quantity(o.xtc_precision, "1/nm"));
    if (mdp.seed) line("seed", *mdp.seed);
  }

  void run() {
    heading("The run.");
    out += "[[stage]]\n";
    line("name", in_quotes(stage.name));
    line("type", in_quotes(stage.minimizes() ? "minimize" : "dynamics"));
    line("integrator", stage.minimizes() ? word_of(methods, stage.minimization.method)
                                         : word_of(schemes, stage.dynamics.scheme));
    line("nsteps", stage.n_steps);
    const mol::FrozenGroups& f = stage.frozen;
    for (const auto& [key, group] :
         {std::pair{"freeze_x", &f.x}, {"freeze_y", &f.y}, {"freeze_z", &f.z}, {"freeze", &f.all}})
      if (!group->empty()) line(key, in_quotes(*group));
    if (stage.minimizes()) {
      line("emtol", quantity(stage.minimization.force_tolerance, "kJ/mol/nm"));
      line("emstep", quantity(stage.minimization.first_move_nm, "nm"));
    } else {
      dynamics();
    }
  }

  void dynamics() {
    const mol::Dynamics& o = stage.dynamics;
    line("dt", quantity(o.dt_ps, "ps"));
    line("gen_vel", stage.draws_velocities.value_or(false));
    if (stage.drawn_temperature_k) line("gen_temp", quantity(*stage.drawn_temperature_k, "K"));
    const mol::FrozenGroups& f = stage.frozen;
    const bool stays = o.scheme == mol::Dynamics::Scheme::langevin ||
                       o.thermostat == mol::Dynamics::Thermostat::andersen ||
                       !(f.all.empty() && f.x.empty() && f.y.empty() && f.z.empty());
    line("comm_mode", stays ? in_quotes("none") : word_of(removals, o.centre_of_mass_removal));
    if (!stays && o.centre_of_mass_removal_every > 0)
      line("nstcomm", o.centre_of_mass_removal_every);
    if (o.slow_every > 1) {
      line("mts", true);
      line("mts_level2_factor", o.slow_every);
    }
    thermostat();
    barostat();
  }

  void thermostat() {
    const mol::Dynamics& o = stage.dynamics;
    const bool langevin = o.scheme == mol::Dynamics::Scheme::langevin;
    if (!langevin) line("tcoupl", word_of(thermostats, o.thermostat));
    if (!langevin && o.thermostat == mol::Dynamics::Thermostat::none) {
      if (o.barostat == mol::Dynamics::Barostat::c_rescale)  // whose noise has a temperature
        line("ref_t", quantity(o.temperature_k, "K"));
      return;
    }
    if (stage.baths.empty()) {
      line("tau_t", quantity(o.tau_t_ps, "ps"));
    } else {
      using Bath = mol::BathGroup;
      line("tc_grps", list_of(stage.baths, [](const Bath& b) { return in_quotes(b.atoms); }));
      line("tc_tau_t",
           list_of(stage.baths, [](const Bath& b) { return quantity(b.tau_t_ps, "ps"); }));
      line("tc_ref_t",
           list_of(stage.baths, [](const Bath& b) { return quantity(b.temperature_k, "K"); }));
    }
    line("ref_t", quantity(o.temperature_k, "K"));
    if (o.annealing.empty()) return;
    using Point = std::array<double, 2>;
    line("annealing_time",
         list_of(o.annealing, [](const Point& p) { return quantity(p[0], "ps"); }));
    line("annealing_temp",
         list_of(o.annealing, [](const Point& p) { return quantity(p[1], "K"); }));
  }

  void barostat() {
    const mol::Dynamics& o = stage.dynamics;
    const bool moves = o.barostat != mol::Dynamics::Barostat::none;
    if (moves || stage.restraint_scaling != mol::RestraintScaling::none)
      line("refcoord_scaling", word_of(restraint_scalings, stage.restraint_scaling));
    line("pcoupl", word_of(barostats, o.barostat));
    if (!moves) return;
    line("pcoupltype", word_of(scalings, o.scaling));
    line("tau_p", quantity(o.tau_p_ps, "ps"));
    line("ref_p", along(o.pressure_bar, "bar"));
    line("compressibility", along(o.compressibility_per_bar, "1/bar"));
    if (o.barostat != mol::Dynamics::Barostat::parrinello_rahman)
      line("nstpcouple", o.barostat_every);
  }
};

/// The one file of this ending in a folder, else the usual name.
std::string beside(const fs::path& folder, const char* ending, const char* usual) {
  std::string found;
  std::error_code failed;
  if (fs::exists(folder / usual, failed)) return usual;
  for (const auto& entry : fs::directory_iterator(folder, failed))
    if (entry.path().extension() == ending) {
      if (!found.empty()) return usual;
      found = entry.path().filename().string();
    }
  return found.empty() ? usual : found;
}

/// Whether the rigid bonds of the file could take waters with them that the topology leaves
/// flexible; where it cannot be read, they could.
bool may_have_flexible_waters(const mol::Mdp& mdp, const fs::path& folder,
                              const std::string& topology) {
  if (mdp.stage.constraints == mol::Rigid::none) return false;
  mol::TopologyOptions o{.defines = mdp.defines, .needs_reference = false};
  for (const std::string& in : mdp.include_folders) o.include_folders.push_back(folder / in);
  try {
    return keeps_waters_flexible(mol::read_top(folder / topology, o).system, mdp.stage.constraints);
  } catch (const Error&) {
    return true;
  }
}

/// The name of what lies in `folder`, or is absolute, in a file that lies in `home`.
std::string seen_from(const fs::path& home, const fs::path& folder, const std::string& name) {
  const auto whole = [](const fs::path& p) { return fs::absolute(p / "x").lexically_normal(); };
  const fs::path here = whole(home).parent_path(), there = whole(folder).parent_path();
  if (here == there || fs::path(name).is_absolute()) return name;
  return (there / name).lexically_normal().lexically_relative(here).string();
}

}  // namespace

std::string case_text(const mol::Mdp& mdp, const std::string& topology,
                      const std::string& structure, bool flexible_waters) {
  CaseText c{mdp, flexible_waters};
  c.files(topology, structure);
  c.interactions();
  c.output();
  c.run();
  return std::move(c.out);
}

Imported import_mdp(const fs::path& path, const fs::path& case_folder) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const std::string topology = beside(folder, ".top", "topol.top"),
                    structure = beside(folder, ".gro", "conf.gro"),
                    index = beside(folder, ".ndx", "index.ndx");
  mol::MdpGroups groups;
  std::error_code failed;
  if (fs::exists(folder / index, failed)) {
    groups.file = index;
    groups.index = mol::read_index(data::read_text_file(folder / index));
  } else if (fs::exists(folder / structure, failed)) {
    for (const mol::Residue& r : mol::read_gro(data::read_text_file(folder / structure)).residues)
      groups.residues.insert(r.name);
  }
  mol::Mdp mdp = mol::read_mdp(data::read_text_file(path), groups);
  mdp.stage.name = path.stem().string().substr(0, 100);  // what a stage may be called
  for (char& c : mdp.stage.name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-') c = '_';
  if (mdp.stage.name == "title") mdp.stage.name += '_';  // results.h5 has the run's by this name
  const bool flexible_waters = may_have_flexible_waters(mdp, folder, topology);
  for (std::string& in : mdp.include_folders) in = seen_from(case_folder, folder, in);
  return {case_text(mdp, seen_from(case_folder, folder, topology),
                    seen_from(case_folder, folder, structure), flexible_waters),
          std::move(mdp.remarks)};
}

}  // namespace tessera::apps::dynamics
