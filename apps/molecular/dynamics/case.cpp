// SPDX-License-Identifier: Apache-2.0
// From the configuration to systems and stages.
#include "molecular/dynamics/case.h"

#include "molecular/dynamics/complaints.h"
#include "molecular/dynamics/explain.h"
#include "molecular/dynamics/groups.h"
#include "molecular/dynamics/input.h"
#include "tessera/molecular/constraints.h"
#include "tessera/molecular/trajectory.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace tessera::apps::dynamics {
namespace {

constexpr double everywhere_nm = 1e6;  ///< a cut-off that nothing in vacuum reaches

bool minimizes(IntegratorChoice i) { return i >= IntegratorChoice::steep; }

mol::Nonbonded nonbonded_of(const Settings& s, bool periodic, mol::Nonbonded::TailPairs of_input) {
  using N = mol::Nonbonded;
  constexpr N::Coulomb coulomb[] = {N::Coulomb::pme, N::Coulomb::ewald, N::Coulomb::reaction_field,
                                    N::Coulomb::cutoff, N::Coulomb::none};
  constexpr N::Modifier modifier[] = {N::Modifier::none, N::Modifier::potential_shift,
                                      N::Modifier::force_switch, N::Modifier::potential_switch,
                                      N::Modifier::linear_force_shift};
  constexpr N::Tail tail[] = {N::Tail::none, N::Tail::c6, N::Tail::c6_c12};
  N o;
  o.coulomb = coulomb[static_cast<int>(s.coulombtype)];
  constexpr N::Modifier coulomb_modifier[] = {N::Modifier::none, N::Modifier::potential_shift,
                                              N::Modifier::linear_force_shift};
  o.coulomb_modifier = coulomb_modifier[static_cast<int>(s.coulomb_modifier)];
  o.lj_modifier = modifier[static_cast<int>(s.vdw_modifier)];
  o.tail = tail[static_cast<int>(s.dispersion)];
  constexpr N::TailPairs pairs[] = {N::TailPairs::all, N::TailPairs::all,
                                    N::TailPairs::not_excluded, N::TailPairs::unordered};
  o.tail_pairs = s.dispersion_pairs == DispersionPairs::input
                     ? of_input
                     : pairs[static_cast<int>(s.dispersion_pairs)];
  o.cutoff_coulomb_nm = in_unit(s.rcoulomb, "nm");
  o.cutoff_lj_nm = in_unit(s.rvdw, "nm");
  o.lj_switch_nm = in_unit(s.rvdw_switch.value_or(0), "nm");
  if (!periodic && std::isinf(o.cutoff_coulomb_nm)) {
    o.cutoff_coulomb_nm = everywhere_nm;
    o.coulomb_modifier = N::Modifier::none;
  }
  if (!periodic && std::isinf(o.cutoff_lj_nm)) {
    o.cutoff_lj_nm = everywhere_nm;
    o.lj_modifier = N::Modifier::none;
  }
  o.epsilon_r = s.epsilon_r;
  o.epsilon_rf = s.epsilon_rf;
  o.reaction_field_of_excluded = s.reaction_field_of_excluded;
  o.ewald_rtol = s.ewald_rtol;
  o.ewald_beta = in_unit(s.ewald_beta, "1/nm");
  o.ewald_kmax = in_unit(s.ewald_kmax, "1/nm");
  o.pme_order = static_cast<int>(s.pme_order);
  o.fourier_spacing_nm = in_unit(s.fourierspacing, "nm");
  for (std::size_t k = 0; k < 3; ++k) o.fourier_grid[k] = static_cast<int>(s.fourier_grid[k]);
  return o;
}

mol::Dynamics dynamics_of(const Settings& s, IntegratorChoice integrator, std::uint64_t seed) {
  using D = mol::Dynamics;
  constexpr D::Thermostat thermostat[] = {D::Thermostat::none, D::Thermostat::v_rescale,
                                          D::Thermostat::nose_hoover, D::Thermostat::andersen,
                                          D::Thermostat::berendsen};
  D o;
  o.scheme = integrator == IntegratorChoice::sd      ? D::Scheme::langevin
             : integrator == IntegratorChoice::md_vv ? D::Scheme::velocity_verlet
                                                     : D::Scheme::leap_frog;
  constexpr D::Barostat barostat[] = {D::Barostat::none, D::Barostat::c_rescale,
                                      D::Barostat::parrinello_rahman, D::Barostat::monte_carlo,
                                      D::Barostat::berendsen};
  constexpr D::Scaling scaling[] = {D::Scaling::isotropic, D::Scaling::semi_isotropic,
                                    D::Scaling::anisotropic};
  constexpr D::CentreOfMassRemoval removal[] = {D::CentreOfMassRemoval::linear,
                                                D::CentreOfMassRemoval::angular,
                                                D::CentreOfMassRemoval::none};
  o.barostat = barostat[static_cast<int>(s.pcoupl)];
  o.scaling = scaling[static_cast<int>(s.pcoupltype)];
  o.tau_p_ps = in_unit(s.tau_p, "ps");
  for (std::size_t a = 0; a < 3; ++a) {
    o.pressure_bar[a] = in_unit(s.ref_p[a], "bar");
    o.compressibility_per_bar[a] = in_unit(s.compressibility[a], "1/bar");
  }
  o.barostat_every = s.nstpcouple;
  o.centre_of_mass_removal = removal[static_cast<int>(s.comm_mode)];
  o.dt_ps = in_unit(s.dt, "ps");
  o.temperature_k = s.ref_t;
  o.tau_t_ps = in_unit(s.tau_t, "ps");
  o.friction_per_ps = 1 / o.tau_t_ps;
  if (integrator != IntegratorChoice::sd) o.thermostat = thermostat[static_cast<int>(s.tcoupl)];
  o.centre_of_mass_removal_every = s.comm_mode == CentreChoice::none ? 0 : s.nstcomm;
  o.slow_every = s.mts ? s.mts_level2_factor : 1;
  o.seed = seed;
  return o;
}

mol::Minimization minimization_of(const Settings& s, IntegratorChoice integrator) {
  using M = mol::Minimization;
  M o;
  o.method = integrator == IntegratorChoice::steep       ? M::Method::steepest_descent
             : integrator == IntegratorChoice::fire      ? M::Method::fire
             : integrator == IntegratorChoice::newton_cg ? M::Method::newton_cg
                                                         : M::Method::lbfgs;
  o.force_tolerance = in_unit(s.emtol, "kJ/mol/nm");
  o.first_move_nm = in_unit(s.emstep, "nm");
  return o;
}

/// The topology with the names that a stage defines.
const mol::System& topology_of(const Case& c, const Stage& stage) {
  const auto variant = std::ranges::find(c.variants, stage.settings.define,
                                         &std::pair<std::vector<std::string>, mol::System>::first);
  return variant == c.variants.end() ? c.system : variant->second;
}

/// Springs on atoms at their positions.
void restrain(mol::System& system, const mol::Frame& at, double k,
              const std::vector<std::int32_t>& atoms) {
  for (const std::int32_t atom : atoms) {
    const auto i = static_cast<std::size_t>(atom);
    if (!(system.atoms.mass_amu[i] > 0)) continue;
    const mol::Vec3& x = at.x_nm[i];
    system.position_restraints.atoms.push_back({atom});
    system.position_restraints.row.push_back(
        static_cast<std::int32_t>(system.position_restraints.rows.size()));
    system.position_restraints.rows.push_back({k, k, k, x[0], x[1], x[2]});
  }
}

struct Maker {
  const data::Config& config;
  Case c;
  std::vector<data::Diagnostic> errors;

  /// What is wrong at the top of a file, or by default, is so for every stage, and told once.
  void tell(std::vector<data::Diagnostic>& list, const std::string& key, data::Diagnostic d) {
    const bool by_default = key.starts_with("stage[") && key.find('.') == std::string::npos;
    if (std::ranges::none_of(list, [&](const data::Diagnostic& e) {
          return e.number == d.number && e.message == d.message &&
                 (by_default || e.place.line == d.place.line);
        }))
      list.push_back(std::move(d));
  }
  void error(int number, const std::string& key, std::string message, std::string hint = {}) {
    tell(errors, key, config.error(number, key, std::move(message), std::move(hint)));
  }
  void warn(int number, const std::string& key, std::string message, std::string hint = {}) {
    data::Diagnostic d = config.error(number, key, std::move(message), std::move(hint));
    d.severity = data::Severity::warning;
    tell(c.findings, key, std::move(d));
  }
  void stop_at_errors() {
    if (!errors.empty()) throw data::InputError(data::ExitCode::config_invalid, std::move(errors));
  }

  void coulomb_constant() {
    const std::string& word = c.options.coulomb_constant;
    double value = 0;
    const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (word == "file") return;
    if (word == "amber")
      c.system.coulomb_constant = mol::coulomb_amber;
    else if (word == "charmm")
      c.system.coulomb_constant = mol::coulomb_charmm;
    else if (word == "codata_2018")
      c.system.coulomb_constant = mol::coulomb_codata_2018;
    else if (fault == std::errc() && end == word.data() + word.size() && value > 0)
      c.system.coulomb_constant = value;
    else
      error(751, "coulomb_constant",
            "'" + word.substr(0, 40) + "' is neither a name nor a positive number",
            "file, amber, charmm, codata_2018, or kJ/mol nm/e^2");
  }

  bool at_top(const std::string& key) const { return data::find(config.table(), key) != nullptr; }
  bool in_stage(std::size_t k, const std::string& key) const {
    const data::Member* stages = data::find(config.table(), "stage");
    const auto* list = stages ? stages->value.get<data::Array>() : nullptr;
    const auto* table = list && k < list->size() ? (*list)[k].get<data::Table>() : nullptr;
    return table && data::find(*table, key);
  }
  /// Key of a stage's setting: where it is given; where it is not, the stage, or the case.
  std::string key_of(std::size_t k, const std::string& key) const {
    const std::string stage = fmt::format("stage[{}]", k);
    return in_stage(k, key)           ? stage + "." + key
           : at_top(key)              ? key
           : c.options.stages.empty() ? "app"
                                      : stage;
  }

  void add_stage(std::size_t k, const StageOptions& options) {
    Stage s;
    s.settings = merged(c.options.common, options);
    s.type = options.type;
    const bool down = s.minimizes();
    IntegratorChoice integrator =
        s.settings.integrator.value_or(down ? IntegratorChoice::l_bfgs : IntegratorChoice::md);
    if (minimizes(integrator) != down) {
      if (options.integrator)
        error(751, key_of(k, "integrator"),
              down ? "this integrator moves in time; the stage is to minimize"
                   : "this integrator minimizes; the stage is one of dynamics");
      integrator = down ? IntegratorChoice::l_bfgs : IntegratorChoice::md;
    }
    constexpr const char* types[] = {"dynamics", "minimize", "rerun"};
    s.name = options.name.empty() ? types[static_cast<int>(s.type)] : options.name;
    for (const char ch : s.name)
      if (!std::isalnum(static_cast<unsigned char>(ch)) && ch != '_' && ch != '-') {
        error(751, key_of(k, "name"), "'" + s.name + "' cannot name a folder",
              "letters, digits, _ and -");
        break;
      }
    if (s.settings.nsteps && s.settings.duration)
      error(751, key_of(k, "duration"), "nsteps and duration are both given", "one of them");
    const double dt = in_unit(s.settings.dt, "ps");
    if (s.type == StageType::rerun)
      s.frames = options.frames;
    else if (s.settings.nsteps)
      s.n_steps = *s.settings.nsteps;
    else if (down)
      s.n_steps = 5000;
    else if (s.settings.duration)
      s.n_steps = std::llround(in_unit(*s.settings.duration, "ps") / dt);
    else
      error(751, key_of(k, "nsteps"), "stage '" + s.name + "' has no end",
            "give nsteps or duration");
    s.exact = !down && s.n_steps == 0 && c.options.precision == Precision::f64;
    s.force_options.precision =
        c.options.precision == Precision::f64 || down ? mol::Precision::f64 : mol::Precision::mixed;
    s.nonbonded = nonbonded_of(s.settings, mol::is_periodic(c.start.box), c.tail_pairs);
    const std::size_t sound = errors.size();
    const auto given = [&](const char* key) { return at_top(key) || in_stage(k, key); };
    const Asked asked{.settings = s.settings,
                      .type = s.type,
                      .integrator = integrator,
                      .n_steps = s.n_steps,
                      .periodic = mol::is_periodic(c.start.box),
                      .net_charge_e = mol::net_charge_e(c.system),
                      .water_is_rigid = topology_of(c, s).rigid_waters.size() > 0,
                      .given = given};
    for (const Complaint& x : complaints_of(asked))
      if (x.doubt)
        warn(x.number, key_of(k, x.key), x.message, x.hint);
      else
        error(x.number, key_of(k, x.key), x.message, x.hint);
    if (errors.size() == sound) check_cut_offs(k, s);
    const bool chosen = check_choices(k, s.settings);
    if (s.type == StageType::rerun) {
      data::open_input(s.frames);
      try {
        mol::open_trajectory(s.frames, {.n_atoms = c.system.n_atoms()});
      } catch (const data::InputError&) {
        throw;
      } catch (const Error& e) {
        error(750, key_of(k, "frames"), e.what());
      }
    } else if (down) {
      s.minimization = minimization_of(s.settings, integrator);
      if (chosen)
        try_steps(k, asked, s, [&](const mol::System& system) {
          mol::Minimizer(system, mol::ForceFunction([](const auto&, const auto&, auto&) {}),
                         minimization_at(c, s, c.start),
                         mol::HessianProduct([](const auto&, const auto&, const auto&, auto&) {}));
        });
    } else if (chosen) {
      // No two stages share random numbers, nor do those of runs with neighbouring seeds.
      s.dynamics = dynamics_of(s.settings, integrator,
                               c.options.seed + (static_cast<std::uint64_t>(k) << 32));
      const mol::ForceFunction none = [](const auto&, const auto&, auto&) {};
      if (errors.size() == sound)
        try_steps(k, asked, s, [&](const mol::System& system) {
          mol::Integrator(system, none, dynamics_at(c, s, c.start), none);
        });
      if (s.n_steps == 0) {  // no step follows: kinetic energy and pressure are those of the
                             // velocities as they are
        s.dynamics.scheme = mol::Dynamics::Scheme::velocity_verlet;
        s.dynamics.slow_every = 1;
        s.dynamics.dt_ps = 1e-12;
        s.dynamics.as_they_are = true;
        if (c.system.n_atoms() == 1)
          s.dynamics.centre_of_mass_removal =
              mol::Dynamics::CentreOfMassRemoval::none;  // its motion is all there is
      }
    }
    c.stages.push_back(std::move(s));
  }

  /// A message of the library without its name.
  static std::string words_of(const Error& e) {
    const std::string_view text = e.what();
    const std::size_t end = text.starts_with('[') ? text.find("] ") : std::string_view::npos;
    return std::string(end == std::string_view::npos ? text : text.substr(end + 2));
  }
  void check_cut_offs(std::size_t k, const Stage& s) {
    try {
      mol::check(s.nonbonded, c.start.box);
    } catch (const Error& e) {
      const bool grid = std::string_view(e.what()).starts_with("[pme]"),
                 charged = s.settings.coulombtype != CoulombChoice::none;
      const char* key =
          grid ? (s.settings.fourier_grid != std::array<std::int64_t, 3>{} ? "fourier_grid"
                                                                           : "fourierspacing")
          : charged && s.settings.rcoulomb > s.settings.rvdw ? "rcoulomb"
                                                             : "rvdw";
      error(752, key_of(k, key), words_of(e));
    }
  }

  /// Whether all choices of atoms can be made, tried at the start of the case.
  bool check_choices(std::size_t k, const Settings& o) {
    const std::size_t before = errors.size();
    const auto attempt = [&](const std::string& key, auto&& choose) {
      try {
        choose();
      } catch (const data::InputError& e) {
        const data::Diagnostic& d = e.findings().front();
        error(d.number, key_of(k, key), d.message, d.hint);
      }
    };
    for (const auto& [key, choice] : {std::pair{"posres", &o.posres},
                                      {"freeze", &o.freeze},
                                      {"freeze_x", &o.freeze_x},
                                      {"freeze_y", &o.freeze_y},
                                      {"freeze_z", &o.freeze_z}})
      if (*choice && **choice != "none")
        attempt(key, [&] { atoms_of(**choice, c.system, c.start); });
    for (const auto& [key, list] : {std::pair{"tc_ref_t", &o.tc_ref_t}, {"tc_tau_t", &o.tc_tau_t}})
      if (!list->empty() && list->size() != o.tc_grps.size())
        error(751, key_of(k, key),
              fmt::format("{} values for {} of tc_grps", list->size(), o.tc_grps.size()));
    if (errors.size() == before) attempt("tc_grps", [&] { baths_of(o, {}, c.system, c.start); });
    return errors.size() == before;
  }
  /// Whether the library makes the steps of a stage, tried at the start of the case.
  template <class Make>
  void try_steps(std::size_t k, const Asked& asked, const Stage& s, Make&& make) {
    const auto tell = [&](const Complaint& x) {
      error(x.number, key_of(k, x.key), x.message, x.hint);
    };
    try {
      const mol::System system = system_of(c, s, c.start);
      if (const std::optional<Complaint> x = complaint_of_rigid(system, c.start, s.settings))
        tell(*x);
      else
        make(system);
    } catch (const Error& e) {
      tell(complaint_of_fault(words_of(e), asked));
    }
  }

  void make_stages() {
    std::vector<StageOptions> stages = c.options.stages;
    if (stages.empty()) {
      stages.emplace_back();
      if (c.options.common.integrator && minimizes(*c.options.common.integrator))
        stages[0].type = StageType::minimize;
    }
    for (std::size_t k = 0; k < stages.size(); ++k) add_stage(k, stages[k]);
    for (std::size_t k = 0; k < c.stages.size(); ++k)
      for (std::size_t j = 0; j < k; ++j)
        if (c.stages[j].name == c.stages[k].name) {
          error(751, key_of(k, "name"), "two stages are named '" + c.stages[k].name + "'",
                "give each a name");
          j = k;
        }
    for (std::size_t k = 0; k < c.options.expectations.size(); ++k) {
      const std::string& name = c.options.expectations[k].stage;
      if (!name.empty() &&
          std::ranges::none_of(c.stages, [&](const Stage& s) { return s.name == name; }))
        error(751, fmt::format("expect[{}].stage", k), "there is no stage '" + name + "'");
    }
  }

  /// Lengths in angstrom for nm, or the other way round: bonds tell.
  void check_unit() const {
    const double times = wrong_unit(c.system, c.start);
    if (times == 1) return;
    data::Diagnostic d;
    d.number = 756;
    d.place.file = c.options.structure ? c.options.structure->string() : config.path();
    d.message = times > 1 ? "bonds are about ten times as long as the force field has them"
                          : "bonds are about a tenth as long as the force field has them";
    d.hint = times > 1
                 ? "are these lengths in angstrom where the format has nm (.gro)?"
                 : "are these lengths in nm where the format has angstrom (.pdb, .rst7, .xyz)?";
    throw data::InputError(std::move(d));
  }

  void choose_written() {
    if (c.options.output.select == "all") return;
    try {
      c.written = atoms_of(c.options.output.select, c.system, c.start);
    } catch (const data::InputError& e) {
      error(e.findings().front().number, "output.select", e.findings().front().message,
            e.findings().front().hint);
    }
  }

  /// Keys of a GROMACS topology beside another one.
  void doubt_keys() {
    std::string ending =
        c.options.topology ? c.options.topology->extension().string() : std::string();
    if (ending == ".gz") ending = c.options.topology->stem().extension();
    if (ending == ".top") return;
    const auto without = [&](const std::string& key) {
      warn(757, key,
           key.substr(key.rfind('.') + 1) + " has no effect without a GROMACS topology (.top)",
           "leave it out");
    };
    if (!c.options.include_folders.empty()) without("include_folders");
    if (!c.options.common.define.empty()) without("define");
    for (std::size_t k = 0; k < c.options.stages.size(); ++k)
      if (c.options.stages[k].define && !c.options.stages[k].define->empty())
        without(fmt::format("stage[{}].define", k));
  }

  /// Two steps of the fastest bond or less are no dynamics; GROMACS warns below ten.
  void doubt_steps() {
    for (std::size_t k = 0; k < c.stages.size(); ++k) {
      const Stage& s = c.stages[k];
      if (s.type != StageType::dynamics || s.n_steps == 0) continue;
      const mol::System system = system_of(c, s, c.start);
      double shortest = INFINITY;
      std::size_t at = 0;
      for (std::size_t b = 0; b < system.bonds.size(); ++b) {
        const auto& [i, j] = system.bonds.atoms[b];
        const double mi = system.atoms.mass_amu[static_cast<std::size_t>(i)],
                     mj = system.atoms.mass_amu[static_cast<std::size_t>(j)],
                     k_bond = system.bonds.rows[static_cast<std::size_t>(system.bonds.row[b])][1];
        if (!(mi > 0 && mj > 0 && k_bond > 0)) continue;
        const double period = 2 * std::acos(-1.0) * std::sqrt(mi * mj / (mi + mj) / k_bond);
        if (period < shortest) {
          shortest = period;
          at = b;
        }
      }
      if (s.dynamics.dt_ps * 10 > shortest) {
        const auto [i, j] = system.bonds.atoms[at];
        warn(753, key_of(k, "dt"),
             fmt::format("stage '{}': the bond of atoms {} and {} swings in {:.2f} fs, less than "
                         "ten steps of {:g} fs",
                         s.name, name_of_atom(system, i), name_of_atom(system, j), 1e3 * shortest,
                         1e3 * s.dynamics.dt_ps) +
                 (s.dynamics.dt_ps * std::acos(-1.0) > shortest
                      ? ": above 1/pi of its period no step is stable, and the run will fail"
                      : ""),
             "a shorter dt, or constraints = \"h-bonds\"");
      }
    }
  }
};

}  // namespace

std::string name_of_atom(const mol::System& s, std::int32_t atom) {
  const auto i = static_cast<std::size_t>(atom);
  const mol::Residue& r = s.residues[static_cast<std::size_t>(s.atoms.residue[i])];
  return fmt::format("{} ({} of {} {})", i + 1, s.atoms.name[i], r.name, r.number);
}

mol::Dynamics dynamics_at(const Case& c, const Stage& stage, const mol::Frame& start) {
  const Settings& s = stage.settings;
  const double begin_ps = start.time_ps;
  mol::Dynamics out = stage.dynamics;
  if (s.heat_from) out.annealing = {{begin_ps, *s.heat_from}};
  if (s.heat_from && stage.n_steps > 0)
    out.annealing.push_back({begin_ps + static_cast<double>(stage.n_steps) * out.dt_ps, s.ref_t});
  if (s.annealing_time)
    for (std::size_t k = 0; k < s.annealing_time->size(); ++k)
      out.annealing.push_back(
          {begin_ps + in_unit((*s.annealing_time)[k], "ps"), s.annealing_temp->at(k)});
  out.groups = baths_of(s, out, c.system, start);
  out.frozen = frozen_atoms(s, c.system, start);
  return out;
}

mol::RestraintScaling restraint_scaling(const Settings& settings) {
  constexpr mol::RestraintScaling scaling[] = {
      mol::RestraintScaling::none, mol::RestraintScaling::all, mol::RestraintScaling::centre};
  return scaling[static_cast<int>(settings.refcoord_scaling)];
}

std::size_t restraints_of_topology(const Case& c, const Stage& stage) {
  return topology_of(c, stage).position_restraints.size();
}

mol::Minimization minimization_at(const Case& c, const Stage& stage, const mol::Frame& start) {
  mol::Minimization out = stage.minimization;
  out.frozen = frozen_atoms(stage.settings, c.system, start);
  return out;
}

mol::System system_of(const Case& c, const Stage& stage, const mol::Frame& start) {
  constexpr mol::Rigid rigid[] = {mol::Rigid::none, mol::Rigid::h_bonds, mol::Rigid::all_bonds,
                                  mol::Rigid::h_angles};
  const Settings& s = stage.settings;
  const bool rigid_water = s.rigid_water.value_or(s.constraints != ConstraintChoice::none);
  mol::System system = topology_of(c, stage);
  if (mol::is_periodic(start.box) && mol::is_periodic(c.start.box))
    system.position_restraints = mol::moved_with_box(std::move(system.position_restraints),
                                                     c.start.box, start.box, restraint_scaling(s));
  if (s.constraints != ConstraintChoice::none || rigid_water)
    system =
        mol::constrained(std::move(system), rigid[static_cast<int>(s.constraints)], rigid_water);
  if (stage.type == StageType::rerun) {  // atoms are looked at where they are
    system.constraints = {};
    system.rigid_waters = {};
  } else {
    system = without_frozen_bonds(std::move(system), frozen_atoms(s, c.system, start));
  }
  if (s.hydrogen_mass)
    system = mol::heavy_hydrogens(std::move(system), in_unit(*s.hydrogen_mass, "amu"));
  if (const std::string choice = s.posres.value_or("none"); choice != "none")
    restrain(system, start, in_unit(s.posres_k, "kJ/mol/nm^2"), atoms_of(choice, system, start));
  return system;
}

Case make_case(const data::Config& config) {
  Maker m{config, {}, {}};
  m.c.options = md_options().read(config);
  read_input(config, m.c);
  if (m.c.options.start_time) m.c.start.time_ps = in_unit(*m.c.options.start_time, "ps");
  m.check_unit();
  m.coulomb_constant();
  for (auto& [names, system] : m.c.variants) system.coulomb_constant = m.c.system.coulomb_constant;
  m.make_stages();
  m.choose_written();
  m.doubt_keys();
  m.stop_at_errors();
  m.doubt_steps();
  m.c.inputs = data::inputs_read();
  return std::move(m.c);
}

}  // namespace tessera::apps::dynamics
