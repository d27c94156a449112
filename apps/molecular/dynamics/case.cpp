// SPDX-License-Identifier: Apache-2.0
// From the configuration to systems and stages.
#include "molecular/dynamics/case.h"

#include "molecular/dynamics/complaints.h"
#include "molecular/dynamics/expectations.h"
#include "molecular/dynamics/input.h"
#include "molecular/dynamics/stage_of.h"
#include "tessera/molecular/explain.h"
#include "tessera/molecular/trajectory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

namespace tessera::apps::dynamics {
namespace {

bool minimizes(IntegratorChoice i) { return i >= IntegratorChoice::steep; }

/// The topology with the names that a stage defines.
const mol::System& topology_of(const Case& c, const Stage& stage) {
  const auto variant = std::ranges::find(c.variants, stage.settings.define,
                                         &std::pair<std::vector<std::string>, mol::System>::first);
  return variant == c.variants.end() ? c.system : variant->second;
}

struct Maker {
  const data::Config& config;
  Case c;
  std::vector<data::Diagnostic> errors;
  bool has_velocities = false;  ///< the frame in which the next stage begins
  /// Keys that a stage does not read, of each stage: of steps where it takes some, of energies.
  std::vector<std::optional<std::vector<Complaint>>> idle{}, idle_of_energies{};

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
  void tell(std::size_t k, const Complaint& x) {
    if (x.doubt)
      warn(x.number, key_of(k, x.key), x.message, x.hint);
    else
      error(x.number, key_of(k, x.key), x.message, x.hint);
  }
  void stop_at_errors() {
    if (!errors.empty()) throw data::InputError(data::ExitCode::config_invalid, std::move(errors));
  }

  void coulomb_constant() {
    const std::string& word = c.options.coulomb_constant;
    if (const auto value = coulomb_constant_of(word, c.system.coulomb_constant))
      c.system.coulomb_constant = *value;
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

  /// The integrator of a stage, where it is given for all perhaps one of the other type.
  IntegratorChoice integrator_of(std::size_t k, const StageOptions& options, const Settings& s) {
    const bool down = options.type == StageType::minimize;
    const IntegratorChoice usual = down ? IntegratorChoice::l_bfgs : IntegratorChoice::md,
                           given = s.integrator.value_or(usual);
    if (minimizes(given) == down) return given;
    if (options.integrator)
      error(751, key_of(k, "integrator"),
            down ? "this integrator moves in time; the stage is to minimize"
                 : "this integrator minimizes; the stage is one of dynamics");
    return usual;
  }
  /// Its name, for a folder, too.
  std::string name_of(std::size_t k, const StageOptions& options) {
    constexpr const char* types[] = {"dynamics", "minimize", "rerun"};
    constexpr std::size_t longest_name = 100;  // with what is added to it, a file may still have it
    const std::string name =
        options.name.empty() ? types[static_cast<int>(options.type)] : options.name;
    for (const char ch : name)
      if (!std::isalnum(static_cast<unsigned char>(ch)) && ch != '_' && ch != '-') {
        error(751, key_of(k, "name"), "'" + name + "' cannot name a folder",
              "letters, digits, _ and -");
        break;
      }
    if (name.size() > longest_name)
      error(751, key_of(k, "name"),
            fmt::format("a name has at most {} letters, this one {}", longest_name, name.size()),
            "shorten it: files are called by it");
    if (name == "title")
      error(751, key_of(k, "name"),
            "no stage can be called 'title': results.h5 has that of the run",
            "give it another name");
    return name;
  }
  /// The whole steps that come nearest to a time.
  std::int64_t steps_in(std::size_t k, double duration_ps, double dt_ps) {
    constexpr double rounding = 1e-4;  // of quotients up to 1e9, as decimal numbers make them
    const double steps = duration_ps / dt_ps, whole = std::round(steps);
    if (!(whole < 0x1p63)) {
      error(751, key_of(k, "duration"),
            fmt::format("the duration of {:g} ps is {:g} steps of {:g} ps; a stage has fewer than "
                        "{:g}",
                        duration_ps, steps, dt_ps, 0x1p63),
            "a shorter one: it is the time of the atoms, not that of the computer");
      return 0;
    }
    if (whole == 0 && duration_ps > 0)
      error(751, key_of(k, "duration"),
            fmt::format("the duration of {:g} ps is no step of {:g} ps", duration_ps, dt_ps),
            "a longer one, or a shorter dt; nsteps = 0 looks at the start alone");
    else if (std::abs(steps - whole) > rounding)
      warn(757, key_of(k, "duration"),
           fmt::format(
               "{:g} ps are no whole number of steps of {:g} ps: {} steps are taken, {:g} ps",
               duration_ps, dt_ps, whole, whole * dt_ps),
           "a multiple of dt, or nsteps");
    return std::llround(whole);
  }
  std::int64_t steps_of(std::size_t k, const Stage& stage) {
    const Settings& s = stage.settings;
    if (s.nsteps && s.duration)
      error(751, key_of(k, "duration"), "nsteps and duration are both given", "one of them");
    if (stage.type == StageType::rerun) return 0;
    if (s.nsteps) return *s.nsteps;
    if (stage.minimizes()) return 5000;
    if (s.duration) return steps_in(k, in_unit(*s.duration, "ps"), in_unit(s.dt, "ps"));
    error(751, key_of(k, "nsteps"), "stage '" + stage.name + "' has no end",
          "give nsteps or duration");
    return 0;
  }

  void add_stage(std::size_t k, const StageOptions& options) {
    const Settings settings = merged(c.options.common, options);
    const IntegratorChoice integrator = integrator_of(k, options, settings);
    Stage s{stage_of(settings, integrator, c.tail_pairs), settings};
    s.type = options.type;
    s.name = name_of(k, options);
    s.n_steps = steps_of(k, s);
    if (s.type == StageType::rerun) {
      s.frames = options.frames;
      if (!options.posres) s.held.clear();  // where it begins is nothing to frames
    }
    const bool down = s.minimizes(), precise = c.options.precision == Precision::f64;
    s.exact = !down && s.n_steps == 0 && precise;
    s.force_options.precision = precise || down ? mol::Precision::f64 : mol::Precision::mixed;
    s.nonbonded = mol::in_box(s.nonbonded, c.start.box);
    // No two stages share random numbers, nor do those of runs with neighbouring seeds.
    s.dynamics.seed = c.options.seed + (static_cast<std::uint64_t>(k) << 32);
    s.pressure_tensor = c.options.output.pressure_tensor;
    check_stage(k, s, integrator);
    check_files(k, s);
    c.stages.push_back(std::move(s));
  }

  /// Steps that formats of trajectories have no place for.
  void check_files(std::size_t k, const Stage& s) {
    const std::int64_t every = s.settings.nstxout;
    if (s.type != StageType::dynamics || every == 0) return;
    if (s.n_steps / every * every <= std::numeric_limits<std::int32_t>::max()) return;
    for (const std::string& format : c.options.output.trajectory)
      if (format == "xtc" || format == "trr" || format == "dcd")
        return error(
            751, key_of(k, s.settings.nsteps ? "nsteps" : "duration"),
            fmt::format("stage '{}' has {} steps; .{} files have no place for those beyond "
                        "2^31",
                        s.name, s.n_steps, format),
            "output.trajectory = [\"h5md\"] or [\"nc\"], or several stages");
  }

  /// Whether it can be run: what its settings say, then its choices of atoms, then the library.
  void check_stage(std::size_t k, const Stage& s, IntegratorChoice integrator) {
    const std::size_t sound = errors.size();
    const auto given = [&](const char* key) { return at_top(key) || in_stage(k, key); };
    const Asked asked{.settings = s.settings,
                      .type = s.type,
                      .integrator = integrator,
                      .n_steps = s.n_steps,
                      .periodic = mol::is_periodic(c.start.box),
                      .box = c.start.box,
                      .net_charge_e = mol::net_charge_e(c.system),
                      .water_stays_rigid = s.settings.rigid_water == false &&
                                           topology_of(c, s).rigid_waters.size() > 0 &&
                                           !keeps_waters_flexible(topology_of(c, s), s.constraints),
                      .restrained = mol::hold_any(topology_of(c, s).position_restraints),
                      .has_velocities = has_velocities,
                      .given = given};
    const bool steps = s.type == StageType::dynamics && s.n_steps > 0;
    idle.push_back(steps           ? std::optional(idle_keys(asked))
                   : s.minimizes() ? std::optional(idle_keys_of_minimization(asked))
                                   : std::nullopt);
    idle_of_energies.emplace_back(idle_keys_of_energies(asked));
    if (s.type != StageType::rerun) has_velocities = !s.minimizes();
    for (const Complaint& x : complaints_of(asked)) tell(k, x);
    if (errors.size() == sound) check_cut_offs(k, s);
    if (errors.size() == sound && asked.periodic)
      for (const Complaint& x : complaints_of_sum(asked, c.system, s.nonbonded, c.start))
        tell(k, x);
    const bool chosen = check_choices(k, s);
    const mol::ForceFunction none = [](const auto&, const auto&, auto&) {};
    if (s.type == StageType::rerun) {
      data::open_input(s.frames);
      mol::Snapshot first;
      try {
        const auto frames = mol::open_trajectory(s.frames, {.n_atoms = c.system.n_atoms()});
        if (!frames->read(first)) throw Error("there is no frame in " + s.frames.string());
      } catch (const data::InputError&) {
        throw;
      } catch (const Error& e) {
        return error(750, key_of(k, "frames"), e.what());
      }
      first.frame.step = 0;
      std::optional<mol::StageStart> start;
      if (chosen && errors.size() == sound)
        try_steps(k, asked, s, [&](const mol::StageStart& at) { start = at; });
      if (start) mol::check_frame(s, *start, c.start.box, first.frame);
    } else if (s.minimizes() && chosen) {
      try_steps(k, asked, s, [&](const mol::StageStart& at) {
        mol::Minimizer(at.system, none, at.minimization,
                       mol::HessianProduct([](const auto&, const auto&, const auto&, auto&) {}));
      });
    } else if (chosen && errors.size() == sound) {
      try_steps(k, asked, s, [&](const mol::StageStart& at) {
        mol::Integrator(at.system, none, mol::dynamics_of(s, at), none);
      });
    }
  }

  void check_cut_offs(std::size_t k, const Stage& s) {
    try {
      mol::check(s.nonbonded, c.start.box);
    } catch (const Error& e) {
      const bool grid = std::string_view(e.what()).starts_with("[pme]"),
                 split = std::string_view(e.what()).starts_with("[ewald]"),
                 waves = std::string_view(e.what()).starts_with("[ewald_kmax]"),
                 charged = s.settings.coulombtype != CoulombChoice::none;
      const char* key =
          grid    ? (s.settings.fourier_grid != std::array<std::int64_t, 3>{} ? "fourier_grid"
                                                                              : "fourierspacing")
          : split ? (s.settings.ewald_beta > 0 ? "ewald_beta" : "ewald_rtol")
          : waves ? (s.settings.ewald_kmax > 0 ? "ewald_kmax" : "coulombtype")
          : charged && s.settings.rcoulomb > s.settings.rvdw ? "rcoulomb"
                                                             : "rvdw";
      error(752, key_of(k, key), words_of(e));
    }
  }

  /// Whether all choices of atoms can be made, tried at the start of the case.
  bool check_choices(std::size_t k, const Stage& stage) {
    const Settings& o = stage.settings;
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
        attempt(key, [&] {
          const auto atoms = mol::atoms_of(**choice, c.system, c.start);
          if (const auto x = complaint_of_sites(key, c.system, atoms)) tell(k, *x);
        });
    for (const auto& [key, list] : {std::pair{"tc_ref_t", &o.tc_ref_t}, {"tc_tau_t", &o.tc_tau_t}})
      if (!list->empty() && list->size() != o.tc_grps.size())
        error(751, key_of(k, key),
              fmt::format("{} values for {} of tc_grps", list->size(), o.tc_grps.size()));
    if (errors.size() == before)
      attempt("tc_grps",
              [&] { mol::temperature_groups(stage.baths, {}, false, c.system, c.start); });
    return errors.size() == before;
  }
  /// Whether the library makes the steps of a stage, tried at the start of the case.
  template <class Make>
  void try_steps(std::size_t k, const Asked& asked, const Stage& s, Make&& make) {
    try {
      const mol::StageStart at = stage_start(c, s, c.start);
      if (const std::optional<Complaint> x =
              complaint_of_rigid(at.system, topology_of(c, s), c.start, s.settings))
        tell(k, *x);
      else
        make(at);
    } catch (const Error& e) {
      tell(k, complaint_of_fault(words_of(e), asked));
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
  }

  /// Lengths in angstrom for nm, or the other way round: bonds tell.
  void check_unit() const {
    const double times = mol::wrong_unit(c.system, c.start);
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
      c.written = mol::atoms_of(c.options.output.select, c.system, c.start);
    } catch (const data::InputError& e) {
      error(e.findings().front().number, "output.select", e.findings().front().message,
            e.findings().front().hint);
    }
  }

  /// Keys of a GROMACS topology beside another one.
  void doubt_keys() {
    if (c.options.topology && ending(*c.options.topology) == ".top") return;
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

  /// An end for all stages that none of them takes, since each gives its own.
  void doubt_ends() {
    for (const std::string key : {"nsteps", "duration"}) {
      if (!at_top(key)) continue;
      bool taken = false;
      for (std::size_t k = 0; k < c.stages.size(); ++k)
        taken = taken || (!in_stage(k, "nsteps") && !in_stage(k, "duration") &&
                          (c.stages[k].type == StageType::dynamics ||
                           (c.stages[k].minimizes() && key == "nsteps")));
      if (!taken)
        warn(757, key, key + " has no effect: every stage has its own end",
             fmt::format("give it to the stage that is meant, such as stage[{}].{}",
                         c.stages.size() - 1, key));
    }
  }

  /// Ends that a stage gives itself, and does not take.
  void doubt_own_ends() {
    for (std::size_t k = 0; k < c.stages.size(); ++k)
      for (const char* key : {"nsteps", "duration"}) {
        const Stage& s = c.stages[k];
        if (!in_stage(k, key)) continue;
        if (s.type == StageType::rerun)
          warn(757, key_of(k, key),
               fmt::format("{} has no effect in a rerun, which takes all frames", key),
               "leave it out");
        else if (s.minimizes() && key == std::string_view("duration"))
          warn(757, key_of(k, key),
               fmt::format("duration has no effect where a stage minimizes, with at most {} steps",
                           s.n_steps),
               "nsteps");
      }
    for (std::size_t k = 0; k < c.options.expectations.size(); ++k) {
      const ExpectOptions& x = c.options.expectations[k];
      if (x.quantity == "drift" && (x.first || x.last))
        warn(757, fmt::format("expect[{}].{}", k, x.first ? "first" : "last"),
             "a drift is that of the whole stage: it has no first or last value", "leave it out");
    }
  }

  /// Keys that the stages which have them do not read: at the top of a file those that none of them
  /// does, in the words of stages of dynamics where there are some. What looks at a frame alone may
  /// read any.
  void doubt_idle(const std::vector<std::optional<std::vector<Complaint>>>& lists, bool of_steps) {
    const auto reads = [&](std::size_t k, const std::string& key) {
      if (in_stage(k, key) || (of_steps && c.stages[k].type == StageType::rerun)) return false;
      return !lists[k] || std::ranges::find(*lists[k], key, &Complaint::key) == lists[k]->end();
    };
    const bool moves =
        std::ranges::any_of(c.stages, [](const Stage& s) { return s.type == StageType::dynamics; });
    for (std::size_t k = 0; k < c.stages.size(); ++k)
      for (const Complaint& x : lists[k].value_or(std::vector<Complaint>{})) {
        bool read = !in_stage(k, x.key) &&
                    (!at_top(x.key) || (of_steps && moves && c.stages[k].minimizes()));
        for (std::size_t j = 0; j < c.stages.size() && !in_stage(k, x.key); ++j)
          read = read || reads(j, x.key);
        if (!read) warn(x.number, key_of(k, x.key), x.message, x.hint);
      }
  }

  /// Keys of [output] for what no stage has.
  void doubt_output() {
    const auto any = [&](auto&& has) { return std::ranges::any_of(c.stages, has); };
    const bool moves = any([](const Stage&s) { return s.type == StageType::dynamics; }),
               looks = any([](const Stage&s) { return s.type == StageType::rerun; });
    const auto idle = [&](const char* key, const char* why) {
      warn(757, fmt::format("output.{}", key), fmt::format("{} has no effect {}", key, why),
           "leave it out");
    };
    if (c.options.output.pressure_tensor && !(moves && mol::is_periodic(c.start.box)))
      idle("pressure_tensor", "without a stage of dynamics in a box");
    if (c.options.output.velocities && !moves && !looks)
      idle("velocities", "where stages minimize: there are none");
  }

  void doubt_steps() {
    for (std::size_t k = 0; k < c.stages.size(); ++k) {
      const Stage& s = c.stages[k];
      if (s.type != StageType::dynamics || s.n_steps == 0) continue;
      if (const auto x =
              complaint_of_step(stage_start(c, s, c.start).system, s.name, s.dynamics.dt_ps))
        warn(x->number, key_of(k, x->key), x->message, x->hint);
    }
  }
};

}  // namespace

mol::StageStart stage_start(const Case& c, const Stage& stage, const mol::Frame& begin) {
  return mol::stage_start(stage, topology_of(c, stage), c.reference, begin);
}

Case make_case(const data::Config& config) {
  Maker m{config, {}, {}};
  m.c.options = md_options().read(config);
  read_input(config, m.c);
  m.has_velocities = !m.c.start.v_nm_ps.empty();
  if (m.c.options.start_time) m.c.start.time_ps = in_unit(*m.c.options.start_time, "ps");
  m.check_unit();
  m.coulomb_constant();
  for (auto& [names, system] : m.c.variants) system.coulomb_constant = m.c.system.coulomb_constant;
  m.make_stages();
  m.choose_written();
  m.doubt_keys();
  m.stop_at_errors();
  m.errors = unknown_expectations(m.c, config);
  m.stop_at_errors();
  m.doubt_ends();
  m.doubt_own_ends();
  m.doubt_idle(m.idle, true);
  m.doubt_idle(m.idle_of_energies, false);
  m.doubt_output();
  m.doubt_steps();
  m.c.inputs = data::inputs_read();
  return std::move(m.c);
}

}  // namespace tessera::apps::dynamics
