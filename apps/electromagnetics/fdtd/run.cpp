// SPDX-License-Identifier: Apache-2.0
// The loop in time: records to monitors, the stop rule, checkpoints, and the watch for growth.
#include "electromagnetics/fdtd/run.h"

#include "electromagnetics/fdtd/antenna.h"
#include "electromagnetics/fdtd/derivative_passes.h"
#include "electromagnetics/fdtd/run_end.h"
#include "electromagnetics/fdtd/run_results.h"
#include "electromagnetics/fdtd/scattering.h"
#include "electromagnetics/fdtd/shards.h"
#include "electromagnetics/fdtd/slopes.h"
#include "electromagnetics/fdtd/time_loop.h"
#include "tessera/data/checkpoint.h"
#include "tessera/data/log.h"
#include "tessera/data/metrics.h"
#include "tessera/data/progress.h"
#include "tessera/data/run.h"
#include "tessera/data/stop.h"
#include "tessera/electromagnetics/energy_watch.h"
#include "tessera/parallel/communicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <numeric>

namespace tessera::apps::fdtd {
namespace {

namespace em = electromagnetics;

/// Tells the other ranks which run comes next, where there are several runs and ranks share them.
class Turns {
 public:
  Turns(const MonitoredCase& made, parallel::Communicator& ranks,
        const std::vector<double>& weights)
      : ranks_(made.runs() > 1 && cut_of(made.c, ranks, weights).ranks ? &ranks : nullptr) {}
  ~Turns() {
    // After a failure the others are ended otherwise.
    if (std::uncaught_exceptions() == exceptions_) try {
        tell(-1);
      } catch (const Error&) {
      }
  }
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;
  void begin(std::size_t run) { tell(static_cast<std::int64_t>(run)); }

  /// On another rank: the next run; nothing after the last.
  static std::optional<std::size_t> next(parallel::Communicator& ranks) {
    std::int64_t run = -1;
    const parallel::Bytes told = ranks.broadcast({});
    std::memcpy(&run, told.data(), std::min(told.size(), sizeof run));
    return run < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(run));
  }

 private:
  void tell(std::int64_t run) {
    if (!ranks_) return;
    parallel::Bytes bytes(sizeof run);
    std::memcpy(bytes.data(), &run, sizeof run);
    ranks_->broadcast(std::move(bytes));
  }
  parallel::Communicator* ranks_;
  int exceptions_ = std::uncaught_exceptions();
};

/// Steps the runs of a case, one after the other.
class Stepping {
 public:
  Stepping(RunContext& context, MonitoredCase& made)
      : context_(context),
        made_(made),
        c_(made.c),
        turns_(made, context.ranks, context.options.weights) {}

  /// Begins, or goes on from the newest checkpoint.
  void begin() {
    begin_run(0);
    const Case& c = c_;
    const auto traffic = now_->run->scheme().traffic();
    context_.log.info(fmt::format(
        "{} x {} x {} cells, time step {:.4g} s ({:.3g} of the limit), {:.3g} GB, {:.0f} "
        "bytes a cell and step unfused, {:.0f} fused",
        c.grid.cells(0), c.grid.cells(1), c.grid.cells(2), c.dt_s, c.dt_s / c.stable_dt_s,
        static_cast<double>(now_->run->scheme().memory_bytes()) / 1e9,
        traffic.unfused_bytes_per_cell, traffic.fused_bytes_per_cell));
    if (context_.ranks.size() > 1 && !now_->run->is_cut())
      context_.log.warning(fmt::format("{} ranks, but {}: rank 0 runs it alone",
                                       context_.ranks.size(),
                                       c.wires ? "wires between lines of the grid go by one process"
                                               : "neither y nor z has a cell for each"));
    const auto& checkpoints = context_.folder.checkpoints();
    const auto load = [&](const data::Checkpoint& from) {
      data::check_resumable(from, context_.manifest, c.inputs);
      const auto run = from.has("run") ? from.scalar<std::uint64_t>("run") : 0;
      if (run >= made_.runs()) throw Error("[checkpoint] is of a run that the case has not");
      if (run != now_->number) begin_run(run);
      load_fields(*now_->run, checkpoints, from);
    };
    if (auto loaded = data::load_newest_checkpoint(checkpoints, load)) {
      for (const auto& w : loaded->warnings) context_.log.warning(data::to_string(w));
      now_->restore(loaded->checkpoint);
      passes_ = load_passes(loaded->checkpoint);
      for (std::size_t k = 0; k <= now_->number; ++k) take_reference_off(k);
      ended_ = ended_runs(loaded->checkpoint);
      context_.log.info(fmt::format("going on from {} at step {}{}",
                                    loaded->path.filename().string(), now_->run->step(),
                                    of_run(" of the run ")));
    }
    const bool further = now_->run->step() > 0 || now_->number > 0;
    std::vector<std::string> columns{"step", "time_s", "energy_j", "decay_db"};
    if (made_.runs() > 1) columns.insert(columns.begin(), "run");
    if (further)
      metrics_.emplace(context_.folder.metrics_csv(), columns, now_->metrics_bytes);
    else
      metrics_.emplace(context_.folder.metrics_csv(), columns);
  }

  /// Goes on with the next run; false: there is none.
  bool next() {
    if (ended_.size() >= made_.runs()) return false;
    if (ended_.size() > now_->number) {
      const std::uint64_t bytes = now_->metrics_bytes;
      begin_run(ended_.size());
      now_->metrics_bytes = bytes;
      take_reference_off(now_->number);
    }
    return true;
  }

  /// To the end of the run.
  data::ExitCode step() {
    TimeLoop& s = *now_;
    const double cells = static_cast<double>(c_.grid.cell_count());
    data::Progress progress({.style = context_.progress_style,
                             .phase = "step" + of_run(" of "),
                             .unit = "steps",
                             .total = static_cast<std::uint64_t>(s.end.last_step),
                             .already_done = static_cast<std::uint64_t>(s.run->step()),
                             .heartbeat = context_.folder.heartbeat_json()});
    const auto begin = std::chrono::steady_clock::now();
    const std::int64_t begin_step = s.run->step();
    bool grown = false;
    if (!s.has_ended()) passes_.clear();  // they are of a nearer end
    while (!s.has_ended()) {
      const std::int64_t to_check = s.end.check_steps - s.run->step() % s.end.check_steps,
                         piece = std::max<std::int64_t>(
                             s.run->is_cut() ? 64 : 16,
                             4000000 / static_cast<std::int64_t>(cells + 1) * 16);
      std::int64_t n = std::min({to_check, piece, s.steps_to_look()});
      if (s.end.last_step > 0) n = std::min(n, s.end.last_step - s.run->step());
      s.advance(n);
      if (s.run->step() % s.end.check_steps == 0) {
        grown = s.grows_at_check();
        const double db = s.energy.fallen_db();
        row(db);
        progress.update(static_cast<std::uint64_t>(s.run->step()), {{"decay_db", db}});
      } else {
        if (std::binary_search(s.looks.begin(), s.looks.end(), s.run->step()))
          s.energy.look(*s.run);
        if (s.has_ended()) grown = s.grows_at_end();
        progress.update(static_cast<std::uint64_t>(s.run->step()));
      }
      if (grown || s.has_ended()) break;
      if (s.run->others_want_to_stop()) std::raise(SIGTERM);  // as if it had come to this rank
      if (context_.stop.poll() != data::StopReason::none) {
        save();
        progress.finish("stopped");
        return data::ExitCode::stopped_resumable;
      }
      if (periodic_.due()) save();
    }
    progress.finish(grown ? "failed" : "finished");
    if (grown) {
      for (const std::string& line : growth(c_, *s.run, s.energy)) context_.log.error(line);
      return data::ExitCode::blow_up;
    }
    metrics_->sync();
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    // What `resume --set run.stop...` and what differentiates go on from; other steps that are made
    // anew in less time need no file of all fields.
    const bool differentiates =
        s.number + 1 == made_.runs() && (c_.derivatives || !c_.shape_derivatives.empty());
    if (s.run->step() > begin_step && (seconds > 10 || differentiates)) save();
    if (made_.runs() > 1) ended_.push_back(s.standing());
    context_.log.info(fmt::format(
        "{}{} steps, {:.4g} s of simulated time, {:.1f} Mcells/s",
        made_.name_of(s.number).empty() ? "" : made_.name_of(s.number) + ": ", s.run->step(),
        s.run->time_s(), static_cast<double>(s.run->step() - begin_step) * cells / seconds / 1e6));
    return data::ExitCode::ok;
  }

  TimeLoop& now() { return *now_; }
  /// Passes of derivatives that have ended.
  std::vector<Pass>& passes() { return passes_; }
  /// Of each run.
  std::vector<std::int64_t> steps() const {
    if (made_.runs() == 1) return {now_->run->step()};
    std::vector<std::int64_t> out;
    for (const Standing& s : ended_) out.push_back(s.step);
    return out;
  }
  void save() {
    TimeLoop& s = *now_;
    s.metrics_bytes = metrics_->sync();
    data::Checkpoint now =
        s.checkpoint({ended_.begin(), ended_.begin() + static_cast<std::ptrdiff_t>(s.number)});
    if (!passes_.empty()) save_passes(passes_, now);
    save_fields(*s.run, context_.folder.checkpoints(), now);
    data::write_checkpoint(context_.folder.checkpoints(), now, context_.options.keep_checkpoints);
  }

 private:
  /// The reference has ended where its case begins.
  void take_reference_off(std::size_t run) {
    if (made_.is_reference(run)) return;
    for (const auto& m : made_.of_run(run))
      if (const Monitor* former = made_.reference_for(*m, run)) m->take_off(*former);
  }
  void begin_run(std::size_t number) {
    now_.reset();  // ends what other ranks do for it
    turns_.begin(number);
    now_ = std::make_unique<TimeLoop>(context_, made_, number);
  }
  /// " of 2/4, left", where there are several runs.
  std::string of_run(const std::string& before) const {
    if (made_.runs() == 1) return {};
    const std::string name = made_.name_of(now_->number);
    return fmt::format("{}{}/{}{}{}", before, now_->number + 1, made_.runs(),
                       name.empty() ? "" : ", ", name);
  }
  void row(double db) {
    const TimeLoop& s = *now_;
    std::vector<double> values{static_cast<double>(s.run->step()), s.run->time_s(),
                               s.energy.energy_j, db};
    if (made_.runs() > 1) values.insert(values.begin(), static_cast<double>(s.number + 1));
    metrics_->row(values);
  }
  RunContext& context_;
  MonitoredCase& made_;
  const Case& c_;
  Turns turns_;  // ends after the last run
  std::unique_ptr<TimeLoop> now_;
  std::vector<Standing> ended_;
  std::vector<Pass> passes_;
  std::optional<data::MetricsFile> metrics_;
  data::Periodic periodic_{context_.options.checkpoint_every_s};
};

void help_with_run(HelpContext& with, MonitoredCase& made, std::size_t number) {
  em::TimeDomain run =
      make_run(made, number, make_injections(made.case_of(number), made.excitation_of(number)),
               with.ranks, with.weights);
  if (made.runs() == 1)
    for (std::unique_ptr<Monitor>& m : made.monitors)  // rank 0 has what they record
      if (!made.c.shape_derivatives.count(m->options().name)) m.reset();
  const auto stops = [stop = with.stop] { return stop && stop->poll() != data::StopReason::none; };
  run.help(stops, [&](em::TimeDomain& own, const std::vector<std::byte>& told) {
    const auto done = work_on_slopes(made, own, told, [&] { return !stops(); });
    return done ? *done : work_on_fields(own, told);
  });
}

}  // namespace

void help_with_steps(HelpContext& with, MonitoredCase& made) {
  if (made.runs() == 1) return help_with_run(with, made, 0);
  if (!cut_of(made.c, with.ranks, with.weights).ranks) return;
  while (const auto run = Turns::next(with.ranks)) help_with_run(with, made, *run);
}

data::ExitCode step_case(RunContext& context, MonitoredCase& made, Results& results) {
  const Case& c = made.c;
  Stepping stepping(context, made);
  const auto save = [&] { stepping.save(); };
  stepping.begin();
  while (stepping.next()) {
    if (const data::ExitCode code = stepping.step(); code != data::ExitCode::ok) return code;
    if (made.runs() > 1) continue;
    if (const data::ExitCode code = differentiate(context, made, *stepping.now().run, save);
        code != data::ExitCode::ok)
      return code;
    break;
  }
  const std::vector<std::int64_t> steps = stepping.steps();
  std::int64_t all = 0;
  for (const std::int64_t n : steps) all += n;
  context.manifest.metrics = {{"cells", static_cast<double>(c.grid.cell_count())},
                              {"steps", static_cast<double>(all)},
                              {"dt_s", c.dt_s},
                              {"time_s", static_cast<double>(all) * c.dt_s}};
  for (std::size_t k = 0; k < steps.size(); ++k)
    results_of_run(context, made, k, static_cast<double>(steps[k]) * c.dt_s, results);
  add_port_results(made, context.log, results);
  add_arrays(made, context.log, results);
  return differentiate_in_passes(context, made, steps, stepping.passes(), save, results);
}

}  // namespace tessera::apps::fdtd
