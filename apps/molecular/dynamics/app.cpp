// SPDX-License-Identifier: Apache-2.0
// The app molecular.dynamics: molecules and their force field go in, minimized and moved in stages;
// trajectories, energies and their averages come out.
#include "support/app.h"

#include "molecular/dynamics/argon_case.h"
#include "molecular/dynamics/derivatives.h"
#include "molecular/dynamics/expectations.h"
#include "molecular/dynamics/mdp.h"
#include "molecular/dynamics/rerun.h"
#include "molecular/dynamics/run.h"
#include "molecular/dynamics/share_of_rank.h"
#include "support/report.h"
#include "tessera/data/file_io.h"
#include "tessera/data/log.h"
#include "tessera/data/manifest.h"
#include "tessera/data/run.h"
#include "tessera/molecular/amber.h"
#include "tessera/molecular/stage_run.h"
#include "tessera/molecular/trajectory.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

namespace tessera::apps::dynamics {
namespace {

const char* word(mol::Nonbonded::Coulomb c) {
  constexpr const char* words[] = {"none", "cut-off", "reaction-field", "ewald", "pme"};
  return words[static_cast<int>(c)];
}

/// A cut-off as its key has it.
std::string reach_text(double cut_off) {
  return std::isfinite(cut_off) ? fmt::format("{:g} nm", in_unit(cut_off, "nm")) : "inf";
}

/// "; dispersion beyond it by the mean C6 of all pairs"
std::string tail_text(const mol::Nonbonded& o) {
  if (o.tail == mol::Nonbonded::Tail::none) return "";
  constexpr const char* pairs[] = {"all pairs", "pairs that are not excluded", "unordered pairs"};
  return fmt::format(", beyond it by the mean {} of {}",
                     o.tail == mol::Nonbonded::Tail::c6 ? "C6" : "C6 and C12",
                     pairs[static_cast<int>(o.tail_pairs)]);
}

std::string frozen_text(const std::vector<std::array<bool, 3>>& frozen) {
  const auto n = std::ranges::count_if(frozen, [](const auto& f) { return f[0] || f[1] || f[2]; });
  return n > 0 ? fmt::format(", {} frozen", n) : "";
}

/// Bytes of a frame of some atoms. xtc: as many bits a coordinate as the box has steps of its
/// precision, at most.
double frame_bytes(const std::string& format, const Case& c, double atoms, std::size_t columns,
                   bool velocities) {
  const OutputOptions& o = c.options.output;
  const double vectors = 1 + (o.velocities && velocities) + o.forces;
  if (format == "xtc") {
    const auto l =
        mol::is_periodic(c.start.box) ? mol::lengths_nm(c.start.box) : mol::Vec3{10, 10, 10};
    return 92 + atoms * 3 / 8.0 *
                    std::log2(std::max({l[0], l[1], l[2]}) * in_unit(o.xtc_precision, "1/nm") + 2);
  }
  if (format == "dcd") return 80 + 12 * atoms;
  if (format == "nc") return 80 + 12 * vectors * atoms;
  const double doubles = 24 * vectors * atoms;
  return format == "trr"    ? 160 + doubles
         : format == "h5md" ? 200 + doubles + 8.0 * static_cast<double>(columns)
                            : 3000 + doubles + 20 * atoms;  // pvd: lists of points and vertices
}

/// Steps of a stage, or frames of a rerun behind the first one; whether frames have velocities.
struct Length {
  std::int64_t steps = -1;
  bool velocities = false;
};
Length length_of(const Stage& stage) {
  if (stage.type != StageType::rerun) return {stage.n_steps, stage.type == StageType::dynamics};
  Length out;
  const auto reader = mol::open_trajectory(stage.frames, {.positions = true});
  for (mol::Snapshot s; reader->read(s); ++out.steps)
    out.velocities = out.velocities || !s.frame.v_nm_ps.empty();
  return out;
}

/// Of the trajectories and the energies of a stage.
std::uint64_t stage_bytes(const Case& c, const Stage& stage, const Length& length,
                          std::size_t columns) {
  const bool rerun = stage.type == StageType::rerun;  // all frames, forces where they are wanted
  const auto times = [&](std::int64_t every) { return every > 0 ? 1 + length.steps / every : 0; };
  const double atoms =
      static_cast<double>(c.written.empty() ? c.system.n_atoms() : c.written.size());
  double frame = 0;
  for (const std::string& format : c.options.output.trajectory)
    frame += frame_bytes(format, c, atoms, columns, length.velocities);
  const std::int64_t every = !rerun ? stage.settings.nstxout : c.options.output.forces ? 1 : 0;
  return static_cast<std::uint64_t>(static_cast<double>(times(every)) * frame) +
         static_cast<std::uint64_t>(times(rerun ? 1 : stage.settings.nstenergy)) * 16 * columns;
}

CheckReport check(const Case& c) {
  CheckReport report;
  report.findings = c.findings;
  const mol::System& s = c.system;
  report.lines.push_back(
      fmt::format("{} atoms in {} residues, net charge {:.4g} e, k_e {:.9g} kJ/mol nm/e^2",
                  s.n_atoms(), s.residues.size(), mol::net_charge_e(s), s.coulomb_constant));
  if (mol::is_periodic(c.start.box)) {
    const auto l = mol::lengths_nm(c.start.box), a = mol::angles_deg(c.start.box);
    report.lines.push_back(
        fmt::format("box {:.5g} x {:.5g} x {:.5g} nm, angles {:.4g}, {:.4g}, {:.4g} deg", l[0],
                    l[1], l[2], a[0], a[1], a[2]));
  } else {
    report.lines.push_back("no box: vacuum");
  }
  for (const Stage& stage : c.stages) {
    const mol::StageStart at = stage_start(c, stage, c.start);
    const std::string way =
        stage.type == StageType::rerun ? "frames of " + stage.frames.filename().string()
        : stage.minimizes() ? fmt::format("at most {} steps, to forces below {:g} kJ/mol/nm",
                                          stage.n_steps, stage.minimization.force_tolerance)
        : stage.n_steps == 0
            ? "energies and forces of the structure as it is"
            : fmt::format("{} steps of {:g} ps: {:g} ps", stage.n_steps, stage.dynamics.dt_ps,
                          static_cast<double>(stage.n_steps) * stage.dynamics.dt_ps);
    const std::string coulomb = stage.nonbonded.coulomb == mol::Nonbonded::Coulomb::none
                                    ? "no Coulomb"
                                    : fmt::format("Coulomb {} {}", word(stage.nonbonded.coulomb),
                                                  reach_text(stage.settings.rcoulomb));
    report.lines.push_back(fmt::format(
        "{:<12} {}; {}, Lennard-Jones {}{}; {} constraints, {} rigid waters, {} atoms held{}",
        stage.name, way, coulomb, reach_text(stage.settings.rvdw), tail_text(stage.nonbonded),
        at.system.constraints.size(), at.system.rigid_waters.size(),
        at.system.position_restraints.size(), frozen_text(at.minimization.frozen)));
  }
  if (!c.written.empty())
    report.lines.push_back(fmt::format("trajectories hold {} atoms", c.written.size()));
  return report;
}

/// The time of a stage, by a few of its steps from the start of the case.
void estimate_time(const Case& c, const Stage& stage, const mol::StageStart& at, std::int64_t steps,
                   Estimate& e) {
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point t) {
    return std::chrono::duration<double>(Clock::now() - t).count();
  };
  const auto first = Clock::now();
  const std::unique_ptr<mol::StageRun> running = mol::begin_stage(stage, at, c.start);
  e.seconds += since(first);
  const auto begin = Clock::now();
  std::int64_t taken = 0;
  double seconds = 0;
  while (!running->done() && seconds < 0.3) {
    const std::int64_t from = running->step();
    running->advance(
        stage.type == StageType::dynamics ? std::min(stage.n_steps, from + 10) : from + 1, false);
    taken += std::max<std::int64_t>(1, running->step() - from);
    seconds = since(begin);
  }
  if (stage.type == StageType::rerun)
    e.notes.push_back(fmt::format("{}: {} frames", stage.name, steps + 1));
  if (taken == 0) return;
  e.seconds += seconds / static_cast<double>(taken) * static_cast<double>(steps);
  if (stage.minimizes())
    e.notes.push_back(fmt::format("{}: at most {} steps; it ends where it has converged",
                                  stage.name, stage.n_steps));
  else if (stage.type == StageType::dynamics)
    e.notes.push_back(
        fmt::format("{}: {:.4g} ns/day", stage.name,
                    static_cast<double>(taken) * stage.dynamics.dt_ps * 86.4 / seconds));
}

Estimate estimate(const RunOptions& how, const Case& c) {
  const std::uint64_t n = c.system.n_atoms(), state = n * 9 * 8;
  Estimate e;
  e.memory_bytes = {
      {"program", 80u << 20}, {"atoms and terms", n * 2000}, {"neighbours", n * 3000}};
  e.disk_bytes = (static_cast<std::uint64_t>(how.keep_checkpoints) + c.stages.size()) * state;
  // Forces may be beyond all bounds where stages before would have parted atoms.
  const auto known = [&](auto&& find, auto&& tell) {
    try {
      find();
    } catch (const data::InputError&) {
      throw;
    } catch (const Error& w) {
      tell(fmt::format("steps from the start of the case fail ({})", w.what()));
    }
  };
  for (const Stage& stage : c.stages) {
    const mol::StageStart at = stage_start(c, stage, c.start);
    const Length length = length_of(stage);
    e.disk_bytes += stage_bytes(c, stage, length, mol::columns_of(stage, at, c.start.box).size());
    known([&] { estimate_time(c, stage, at, length.steps, e); },
          [&](const std::string& why) {
            e.notes.push_back(fmt::format("{}: its time is not known: {}", stage.name, why));
          });
  }
  known([&] { e.of_rank = share_of_rank(how, c); },
        [](const std::string& why) { throw usage_error("--ranks: " + why, "leave it out"); });
  return e;
}

/// A topology to go on with in another case, where no file has it.
void write_topology(const RunContext& context, const Case& c) {
  if (c.options.topology && !c.options.solvate) return;
  if (c.options.solvate && !c.options.forcefield.empty())
    context.log.info(
        "water and ions that [solvate] adds have parameters and masses of their own: a case that "
        "reads final.pdb with `forcefield` gives them those of its files, and is another system "
        "where they differ");
  const auto path = context.folder.path() / "system.prmtop";
  try {
    data::write_file_atomically(path, mol::amber_topology(c.system, c.start.box));
    context.log.info("wrote " + path.string());
    const bool corrected = std::ranges::any_of(
        c.stages, [](const Stage& s) { return s.nonbonded.tail != mol::Nonbonded::Tail::none; });
    if (corrected && c.tail_pairs != mol::Nonbonded::TailPairs::all)
      context.log.info(fmt::format(
          "a case that goes on with it needs DispCorr_pairs = \"{}\" for the same tail",
          c.tail_pairs == mol::Nonbonded::TailPairs::unordered ? "unordered" : "not-excluded"));
  } catch (const data::InputError&) {
    throw;
  } catch (const Error& e) {
    context.log.info(std::string("system.prmtop is not written: ") + e.what());
  }
}

data::ExitCode run(RunContext& context, const Case& c) {
  context.manifest.seeds = {c.options.seed};
  write_topology(context, c);
  std::vector<Summary> stages;
  const data::ExitCode code = run_stages(context, c, stages);
  if (code != data::ExitCode::ok) return code;
  const auto& path = context.folder.path();
  write_results(path, c, stages);
  if (c.options.output.pictures) draw(context.folder.plots(), stages, c.options.title);
  bool good = true;
  for (const Summary& s : stages) {
    const auto* state = s.energies.find("state");
    using Status = mol::Descent::Status;
    if (state && state->back() != static_cast<double>(Status::converged) &&
        s.energies.columns[0].back() > 0)
      context.log.warning(fmt::format(
          "stage '{}' ended {} with a largest force of {:.4g} kJ/mol/nm, above emtol; to hold a "
          "run "
          "to one, [[expect]] largest_force_kj_mol_nm, last = true, value = 0, within emtol",
          s.name,
          state->back() == static_cast<double>(Status::stuck) ? "where no step leads further down"
                                                              : "after all of its steps",
          s.energies.find("largest_force_kj_mol_nm")->back()));
    if (s.drift) context.manifest.metrics.emplace_back(s.name + ".drift", s.drift->mean);
  }
  for (const Expectation& p : check_expectations(c, stages)) {
    (p.kept ? context.log.info(p.text) : context.log.error(p.text));
    good = good && p.kept;
    context.manifest.metrics.emplace_back(p.name, p.found);
  }
  return good ? data::ExitCode::ok : data::ExitCode::not_converged;
}

PreparedCase prepare(const AppContext& context) {
  const data::Config& config = context.config;
  const auto c = std::make_shared<const Case>(make_case(config));
  return {
      .precision = c->options.precision == Precision::f64 ? "f64" : "mixed",
      .inputs = c->inputs,
      .check = [c] { return check(*c); },
      .estimate = [how = context.options, c] { return estimate(how, *c); },
      .run = [c](RunContext& to) { return run(to, *c); },
      .help = [c](HelpContext& with) { help_with_stages(with, *c); },
      .derivatives = [c] { return derivatives(*c); },
      .against = [&config, c](const data::Checkpoint& from) { return against(config, *c, from); }};
}

std::filesystem::path make_example(const std::filesystem::path& dir, std::uint64_t) {
  const std::filesystem::path file = dir / "argon.toml";
  data::write_file_atomically(file, argon_case);
  return file;
}

std::vector<std::filesystem::path> plot(const std::filesystem::path& run_dir) {
  const data::InputFiles inputs;
  const Case c = make_case(data::read_config(run_dir / "resolved.toml"));
  std::vector<Summary> stages;
  for (std::size_t k = 0; k < c.stages.size(); ++k)
    stages.push_back(
        summary_of(folder_of(run_dir, k, c.stages[k].name), c.stages[k], c.system.n_atoms()));
  return draw(run_dir / "plots", stages, c.options.title);
}

}  // namespace

App app() {
  return {.summary =
              "Molecular dynamics in stages: minimization, heating and dynamics of molecules, "
              "on AMBER, GROMACS or OpenMM input or boxes of its own",
          .options = md_options(),
          .prepare = prepare,
          .make_example = make_example,
          .plot = plot,
          .derivatives = true,
          .rerun = rerun_case,
          .may_change = {"nsteps", "duration", "stage.nsteps", "stage.duration", "nstlog",
                         "stage.nstlog", "output.trajectory", "output.final", "output.pictures",
                         "title", "expect"},
          .importers = {{".mdp", "GROMACS's run parameters", import_mdp}}};
}

}  // namespace tessera::apps::dynamics
