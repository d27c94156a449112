// SPDX-License-Identifier: Apache-2.0
// The loop over stages and steps: rows of energies, checkpoints, the log, and the watch for steps
// that go wrong.
#include "molecular/dynamics/run.h"

#include "molecular/dynamics/breakdown.h"
#include "molecular/dynamics/trajectory_files.h"
#include "tessera/data/checkpoint.h"
#include "tessera/data/csv.h"
#include "tessera/data/file_io.h"
#include "tessera/data/log.h"
#include "tessera/data/metrics.h"
#include "tessera/data/progress.h"
#include "tessera/data/run.h"
#include "tessera/data/stop.h"
#include "tessera/molecular/amber.h"
#include "tessera/molecular/explain.h"
#include "tessera/molecular/gromacs.h"
#include "tessera/molecular/stage_run.h"
#include "tessera/molecular/structure_file.h"
#include "tessera/molecular/trajectory.h"
#include "tessera/molecular/virtual_sites.h"
#include "tessera/parallel/communicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace tessera::apps::dynamics {
namespace {

namespace fs = std::filesystem;
constexpr const char* app_name = "molecular.dynamics";
using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point t) {
  return std::chrono::duration<double>(Clock::now() - t).count();
}

/// What `fault` makes of an error of a step; what is no step's passes: bad input, ranks that are
/// lost.
template <class F, class G>
std::optional<data::ExitCode> or_ended(const F& step, const G& fault) {
  try {
    step();
  } catch (const data::InputError&) {
    throw;
  } catch (const parallel::CommunicationFailed&) {
    throw;
  } catch (const Error& e) {
    return fault(e);
  }
  return {};
}

struct StageRunner {
  RunContext& context;
  const Case& c;
  std::size_t index;
  const Stage& stage;
  mol::Frame start;
  mol::StageStart at;
  fs::path folder;
  TrajectoryFiles trajectories;
  std::unique_ptr<mol::StageRun> running;
  std::optional<data::MetricsFile> rows;
  double output_s = 0;

  StageRunner(RunContext& context_, const Case& c_, std::size_t k, mol::Frame start_)
      : context(context_),
        c(c_),
        index(k),
        stage(c_.stages[k]),
        start(std::move(start_)),
        at(stage_start(c_, stage, start)),
        folder(folder_of(context_.folder.path(), k, stage.name)),
        trajectories(context_, c_, stage, at.system, folder) {
    start.step = 0;
  }

  data::Checkpoint checkpoint(std::uint64_t rows_bytes) const {
    data::Checkpoint out;
    out.app = app_name;
    out.step =
        (static_cast<std::uint64_t>(index) << 40) + static_cast<std::uint64_t>(running->step());
    out.config_sha256 = context.manifest.config_sha256;
    out.inputs = c.inputs;
    out.put("stage", static_cast<std::int64_t>(index));
    std::vector<std::int64_t> n_steps;
    for (const Stage& s : c.stages) n_steps.push_back(s.n_steps);
    out.put("n_steps", n_steps);
    out.put("rows_bytes", rows_bytes);
    const auto flat = [](const std::vector<mol::Vec3>& a) {
      std::vector<double> v;
      for (const auto& x : a) v.insert(v.end(), x.begin(), x.end());
      return v;
    };
    out.put("start_x", flat(start.x_nm));
    if (stage.type == StageType::rerun) out.put("start_v", flat(start.v_nm_ps));
    out.put("start_time_ps", start.time_ps);
    out.put("start_box", flat({start.box.edge.begin(), start.box.edge.end()}));
    running->save(out);
    return out;
  }
  /// Does it in the time of files, that of the forces which it asks for apart.
  template <class F>
  void write(F&& what) {
    const auto begin = Clock::now();
    const double forces = running->seconds.forces;
    what();
    output_s += seconds_since(begin) - (running->seconds.forces - forces);
  }
  void save() {
    write([&] {
      const std::uint64_t bytes = rows->sync();
      trajectories.sync();
      data::write_checkpoint(context.folder.checkpoints(), checkpoint(bytes),
                             context.options.keep_checkpoints);
    });
  }
  void row() {
    write([&] { rows->row(running->row()); });
  }
  void write_to_trajectories() {
    write([&] { trajectories.write(*running); });
  }

  /// All atoms of a frame in each of some formats; one that has no place for them is told, not an
  /// end.
  void write_frame(const std::string& name, const mol::Frame& frame,
                   const std::vector<std::string>& formats) const {
    for (const std::string& format : formats) {
      const fs::path path = folder / (name + "." + format);
      try {
        const std::string text =
            format == "rst7"    ? mol::amber_restart(frame, c.system.title)
            : format == "ncrst" ? mol::amber_netcdf_restart(frame, c.system.title)
            : format == "gro"   ? mol::write_gro(c.system, {frame})
            : format == "pdb"   ? mol::pdb_text(mol::structure_of(c.system, frame))
                                : mol::mmcif_text(mol::structure_of(c.system, frame));
        data::write_file_atomically(path, text);
        context.log.info("wrote " + path.string());
      } catch (const data::InputError&) {
        throw;
      } catch (const Error& e) {
        context.log.warning(path.filename().string() + " is not written: " + e.what());
      }
    }
  }

  /// Why a step failed, for people and for a file, and the last frame before it, to be looked at.
  /// `after`: positions in the step that failed; null where there was none.
  data::ExitCode failed(const Error& why, const mol::Frame& last,
                        const mol::Frame* after = nullptr) {
    std::vector<std::string> lines = why_it_failed(c, index, at, start, why, last, after);
    lines.push_back("the last good frame is last_good.* in " + folder.string());
    std::string text;
    for (const std::string& line : lines) {
      context.log.error(line);
      text += line + "\n";
    }
    data::replace_file(folder / "why.txt", text);
    write_frame(
        "last_good", last,
        c.options.output.final.empty() ? std::vector<std::string>{"rst7"} : c.options.output.final);
    return data::ExitCode::blow_up;
  }

  void log_row(const std::vector<double>& values) const {
    const auto& names = running->columns();
    std::string line = fmt::format("{}: step {}", stage.name, running->step());
    for (std::size_t k = 1; k < names.size(); ++k)
      if (names[k] == "time_ps" || names[k] == "potential" || names[k] == "conserved" ||
          names[k] == "temperature_k" || names[k] == "pressure_bar" ||
          names[k] == "largest_force_kj_mol_nm")
        line += fmt::format(", {} {:.7g}", names[k], values[k]);
    context.log.info(line);
  }

  /// Forces at the end of the stage.
  void write_forces() const {
    data::CsvTable table({"atom", "x_kj_mol_nm", "y_kj_mol_nm", "z_kj_mol_nm"});
    std::size_t atom = 0;
    for (const mol::Vec3& f : running->forces().f)
      table.add(++atom).add(f[0]).add(f[1]).add(f[2]).end_row();
    data::write_file_atomically(folder / "forces.csv", table.text());
  }

  static bool due(std::int64_t step, std::int64_t every) { return every > 0 && step % every == 0; }
  /// Whether `report_step` needs the energies of this step.
  bool reported(std::int64_t step) const {
    return stage.type != StageType::dynamics || step == stage.n_steps ||
           due(step, stage.settings.nstenergy) || due(step, stage.settings.nstlog) ||
           (!trajectories.empty() && due(step, stage.settings.nstxout));
  }
  /// What a step that was taken owes to energies.csv, trajectories and the log.
  void report_step() {
    const std::int64_t step = running->step();
    if (due(step, stage.type == StageType::rerun ? 1 : stage.settings.nstenergy) || running->done())
      row();
    if (!trajectories.empty() &&
        due(step, stage.type == StageType::rerun ? 1 : stage.settings.nstxout))
      write_to_trajectories();
    if (due(step, stage.settings.nstlog)) log_row(running->row());
  }

  /// Where the steps under way end: at the next that is reported, after ten at most. It depends on
  /// the number of the step alone, so that a resumed run computes energies where the undisturbed
  /// one does.
  std::int64_t next_stop() const {
    const std::int64_t step = running->step();
    if (stage.type != StageType::dynamics) return step + 1;
    std::int64_t stop = stage.n_steps;
    for (const std::int64_t every :
         {std::int64_t{10}, stage.settings.nstenergy, stage.settings.nstlog,
          trajectories.empty() ? 0 : stage.settings.nstxout})
      if (every > 0) stop = std::min(stop, (step / every + 1) * every);
    return stop;
  }

  /// Whether a longer stage reports its step `n_steps`, too. Where it does not, the last row of
  /// this one is not in the other, and energies are computed in a step where the other computes
  /// none: its state is no beginning of the other's.
  bool ends_in_order() const { return due(stage.n_steps, stage.settings.nstenergy); }
  /// Whether the state behind the last step is what a longer stage goes on from, too.
  bool can_be_extended() const {
    return stage.n_steps > 0 && (ends_in_order() || running->step() < stage.n_steps);
  }

  /// Of the atoms, and of virtual sites where they belong: a file's may lie anywhere.
  std::optional<mol::Overlap> overlap_at_start() const {
    mol::Frame placed = start;
    mol::place_virtual_sites(at.system, placed.x_nm, placed.box);
    return mol::find_overlap(at.system, placed);
  }

  mol::StageRanks stage_ranks() const {
    if (context.ranks.size() == 1) return {};
    return {&context.ranks, context.options.weights, {}};
  }

  /// To the end of the stage.
  data::ExitCode run(const data::Checkpoint* from) {
    data::make_folder(folder);
    running.reset();
    if (const auto overlap =
            from || stage.type == StageType::rerun ? std::nullopt : overlap_at_start()) {
      data::Diagnostic d;
      d.number = 755;
      d.place.file = c.options.structure ? c.options.structure->string() : context.config.path();
      d.message =
          fmt::format("stage '{}' begins with atoms {} and {} {:.4f} nm apart: they overlap",
                      stage.name, mol::name_of_atom(at.system, overlap->a),
                      mol::name_of_atom(at.system, overlap->b), overlap->distance_nm);
      d.hint = "use another structure, or move one of the two atoms";
      throw data::InputError(std::move(d));
    }
    const auto begun = [&] {
      running = mol::begin_stage(stage, at, start, !from, stage_ranks());
      if (from) return;
      rows.emplace(folder / "energies.csv", running->columns());
      row();
      trajectories.create(*running);
      if (!trajectories.empty()) write_to_trajectories();
    };
    if (const auto code = or_ended(begun, [&](const Error& e) { return failed(e, start); }))
      return *code;
    if (from) {
      running->restore(*from);
      rows.emplace(folder / "energies.csv", running->columns(),
                   from->scalar<std::uint64_t>("rows_bytes"));
      trajectories.append(*running);
    }
    data::Progress progress(
        {.style = context.progress_style,
         .phase = c.stages.size() > 1
                      ? fmt::format("{}/{} {}", index + 1, c.stages.size(), stage.name)
                      : stage.name,
         .unit = "steps",
         .total = stage.type == StageType::dynamics ? static_cast<std::uint64_t>(stage.n_steps) : 0,
         .already_done = static_cast<std::uint64_t>(running->step()),
         .heartbeat = context.folder.heartbeat_json()});
    data::Periodic periodic(context.options.checkpoint_every_s);
    const auto begin = Clock::now();
    const std::int64_t begin_step = running->step();
    running->seconds = {};  // what began the stage is no part of its speed
    output_s = 0;
    const auto ns_per_day = [&](double seconds) {
      return static_cast<double>(running->step() - begin_step) * stage.dynamics.dt_ps * 86.4 /
             std::max(seconds, 1e-9);
    };
    const auto broke = [&](const Error& why) {
      progress.finish("failed");
      rows->sync();
      return failed(why, running->last_good(), &running->frame());
    };
    while (!running->done()) {
      const auto ahead = [&] {
        const std::int64_t stop = next_stop();
        if (stop == stage.n_steps && !ends_in_order())
          save();  // what `resume --set nsteps=...` goes on from
        running->advance(stop, reported(stop));
        if (const std::string trouble = running->trouble(); !trouble.empty()) throw Error(trouble);
        report_step();
      };
      if (const auto code = or_ended(ahead, broke)) return *code;
      const auto step = static_cast<std::uint64_t>(running->step());
      if (stage.minimizes())
        progress.update(step, {{"largest_force", running->row()[running->columns().size() - 4]}});
      else if (stage.type == StageType::rerun)
        progress.update(step);
      else
        progress.update(step, {{"ns/day", ns_per_day(seconds_since(begin))}});
      if (running->done()) break;
      if (context.stop.poll() != data::StopReason::none || running->others_want_to_stop()) {
        save();
        progress.finish("stopped");
        return data::ExitCode::stopped_resumable;
      }
      if (periodic.due()) save();
    }
    progress.finish();
    const double seconds = seconds_since(begin);
    rows->sync();
    trajectories.close();
    if (stage.type != StageType::rerun)
      write_frame("final", running->frame(), c.options.output.final);
    if (c.options.output.forces) write_forces();
    if (running->step() > begin_step)
      tell_speed(seconds, stage.type == StageType::dynamics ? ns_per_day(seconds) : 0);
    return data::ExitCode::ok;
  }

  void tell_speed(double seconds, double ns_per_day) {
    if (stage.type == StageType::dynamics) {
      context.log.info(fmt::format("{}: {:.4g} ns/day", stage.name, ns_per_day));
      context.manifest.speeds.emplace_back(stage.name + ".ns_per_day", ns_per_day);
    }
    const mol::StageRun::Seconds& t = running->seconds;
    const double rest = std::max(0.0, seconds - t.forces - t.steps - output_s);
    for (const auto& [part, s] : {std::pair{"forces", t.forces},
                                  {"steps, constraints, baths", t.steps},
                                  {"energies, files", output_s},
                                  {"other", rest}})
      context.log.info(
          fmt::format("  {:<26} {:10.2f} s {:5.1f} %", part, s, 100 * s / std::max(seconds, 1e-9)));
  }
};

/// Rank 0 says to the others which stage begins, and with which frame; -1: none. They hear it.
void tell_stage(parallel::Communicator& ranks, std::int64_t stage, const mol::Frame& start) {
  if (ranks.size() == 1) return;
  std::vector<double> words = {static_cast<double>(stage), start.time_ps};
  for (const mol::Vec3& e : start.box.edge) words.insert(words.end(), e.begin(), e.end());
  ranks.broadcast(parallel::to_bytes(words));
  ranks.broadcast(parallel::to_bytes(start.x_nm));
}
std::int64_t hear_stage(parallel::Communicator& ranks, mol::Frame& start) {
  const double tell = std::exchange(ranks.patience.tell, std::numeric_limits<double>::infinity());
  const auto words = parallel::from_bytes<double>(ranks.broadcast({}));
  ranks.patience.tell = tell;
  start.time_ps = words.at(1);
  for (std::size_t k = 0; k < 9; ++k) start.box.edge[k / 3][k % 3] = words.at(2 + k);
  start.x_nm = parallel::from_bytes<mol::Vec3>(ranks.broadcast({}));
  return static_cast<std::int64_t>(words[0]);
}

/// The frame in which a stage begins; its velocities where a stage behind it takes them.
mol::Frame start_of(const data::Checkpoint& c, const Stage& stage, const mol::Frame& any) {
  mol::Frame out = any;
  out.time_ps = c.scalar<double>("start_time_ps");
  const auto& x = c.array<double>("start_x");
  const auto& box = c.array<double>("start_box");
  if (x.size() != 3 * any.x_nm.size() || box.size() != 9)
    throw Error("[checkpoint] the start of a stage is inconsistent");
  for (std::size_t i = 0; i < x.size(); ++i) out.x_nm[i / 3][i % 3] = x[i];
  for (std::size_t i = 0; i < 9; ++i) out.box.edge[i / 3][i % 3] = box[i];
  if (stage.type == StageType::rerun) {
    const auto& v = c.array<double>("start_v");
    if (!v.empty() && v.size() != x.size())
      throw Error("[checkpoint] the start of a rerun is inconsistent");
    out.v_nm_ps.assign(v.size() / 3, {});
    for (std::size_t i = 0; i < v.size(); ++i) out.v_nm_ps[i / 3][i % 3] = v[i];
  }
  return out;
}

/// What the ranks share of a stage, where it is not its steps.
void tell_division(const StageRunner& r) {
  if (r.context.ranks.size() == 1) return;
  const std::string why = mol::why_not_divided(r.stage, r.at, r.start.box),
                    alone = mol::why_forces_not_divided(r.stage, r.at, r.start.box);
  if (!alone.empty())
    r.context.log.info(fmt::format("stage '{}' runs on rank 0 alone: {}", r.stage.name, alone));
  else if (!why.empty())
    r.context.log.info(
        fmt::format("stage '{}': rank 0 takes its steps, by forces of all: {}", r.stage.name, why));
}

}  // namespace

void help_with_stages(HelpContext& with, const Case& c) {
  const mol::StageRanks ranks{&with.ranks, with.weights, [stop = with.stop] {
                                return stop && stop->poll() != data::StopReason::none;
                              }};
  mol::Frame frame = c.start;
  for (std::int64_t k = hear_stage(with.ranks, frame); k >= 0; k = hear_stage(with.ranks, frame)) {
    const Stage& stage = c.stages.at(static_cast<std::size_t>(k));
    frame.step = 0;
    const mol::StageStart at = stage_start(c, stage, frame);
    mol::help_stage(stage, at, frame, ranks);
  }
}

data::ExitCode run_stages(RunContext& context, const Case& c, std::vector<Summary>& summaries) {
  mol::Frame frame = c.start;
  std::size_t first = 0;
  std::optional<data::LoadedCheckpoint> loaded =
      data::load_newest_checkpoint(context.folder.checkpoints());
  if (loaded) {
    for (const auto& w : loaded->warnings) context.log.warning(data::to_string(w));
    data::check_resumable(loaded->checkpoint, context.manifest, c.inputs);
    first = static_cast<std::size_t>(loaded->checkpoint.scalar<std::int64_t>("stage"));
    if (first >= c.stages.size())
      throw Error("[checkpoint] it is of a stage that the case does not have");
    frame = start_of(loaded->checkpoint, c.stages[first], c.start);
    context.log.info(fmt::format("going on from {}, stage '{}' at step {}",
                                 loaded->path.filename().string(), c.stages[first].name,
                                 loaded->checkpoint.scalar<std::int64_t>("stage_step")));
  }
  for (std::size_t k = first; k < c.stages.size(); ++k) {
    tell_stage(context.ranks, static_cast<std::int64_t>(k), frame);
    StageRunner runner(context, c, k, std::move(frame));
    tell_division(runner);
    const data::ExitCode code = runner.run(loaded ? &loaded->checkpoint : nullptr);
    loaded.reset();
    if (code != data::ExitCode::ok) {
      runner.running.reset();
      tell_stage(context.ranks, -1, {});
      return code;
    }
    // A rerun looks at frames of a file, and moves nothing.
    frame = runner.stage.type == StageType::rerun ? runner.start : runner.running->frame();
    // A run that is killed in the next stage begins that one anew at most; one that has finished
    // can be made longer.
    if (k + 1 < c.stages.size() || runner.can_be_extended()) runner.save();
  }
  tell_stage(context.ranks, -1, {});
  for (std::size_t k = 0; k < c.stages.size(); ++k) {
    const Stage& stage = c.stages[k];
    summaries.push_back(
        summary_of(folder_of(context.folder.path(), k, stage.name), stage, c.system.n_atoms()));
    context.log.info(fmt::format("stage '{}':", stage.name));
    tell(context.log, summaries.back());
  }
  return data::ExitCode::ok;
}

}  // namespace tessera::apps::dynamics
