// SPDX-License-Identifier: Apache-2.0
// The loop in time: records to monitors, the stop rule, checkpoints, and the watch for growth.
#include "electromagnetics/fdtd/run.h"

#include "electromagnetics/fdtd/shards.h"
#include "electromagnetics/fdtd/slopes.h"
#include "electromagnetics/fdtd/unfaded.h"
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

namespace tessera::apps::fdtd {
namespace {

namespace em = electromagnetics;

/// Below its peak the energy has left: a transform that has seen nothing will see nothing.
constexpr double kNothingComesDb = 60;

/// On the ranks that it can be cut over.
em::TimeDomain make_run(const MonitoredCase& made, parallel::Communicator& ranks,
                        const std::vector<double>& weights) {
  std::vector<em::Edge> recorded;
  for (const auto& m : made.monitors)
    recorded.insert(recorded.end(), m->edges().begin(), m->edges().end());
  em::GridCut cut = em::cut_grid(made.c.grid, ranks, weights);
  em::YeeModel model = make_model(made.c, em::slab_of(made.c.faces, cut));
  return {std::move(model), make_injections(made.c), std::move(recorded), std::move(cut)};
}

struct TimeLoop {
  RunContext& context;
  const Case& c;
  std::vector<std::unique_ptr<Monitor>>& monitors;
  std::vector<std::int64_t> first;  ///< column of each monitor
  std::optional<em::TimeDomain> run;
  std::int64_t check_steps = 1, last_step = 0;  ///< 0: no fixed end
  double sources_end = 0;
  em::EnergyWatch energy;
  std::vector<double> norms;  ///< of the transforms at the last check
  std::uint64_t metrics_bytes = 0;

  TimeLoop(RunContext& context_, MonitoredCase& made)
      : context(context_), c(made.c), monitors(made.monitors) {
    std::int64_t columns = 0;
    for (const auto& m : monitors) {
      first.push_back(columns);
      columns += static_cast<std::int64_t>(m->edges().size());
    }
    run.emplace(make_run(made, context.ranks, context.options.weights));
    sources_end = run->sources_end_s();
    last_step = fixed_end(c, sources_end);
    check_steps = steps_between_checks(c);
  }

  void advance(std::int64_t n) {
    run->advance(n, [&](const em::Records& r) {
      for (std::size_t m = 0; m < monitors.size(); ++m)
        monitors[m]->observe(
            r.columns(first[m], static_cast<std::int64_t>(monitors[m]->edges().size())));
    });
  }

  /// All but the fields.
  data::Checkpoint checkpoint() const {
    data::Checkpoint out;
    out.app = "electromagnetics.fdtd";
    out.step = static_cast<std::uint64_t>(run->step());
    out.config_sha256 = context.manifest.config_sha256;
    out.inputs = c.inputs;
    out.put("peak_energy", energy.peak_j);
    out.put("least_energy", energy.least_stored_j);
    out.put("norms", norms);
    out.put("metrics_bytes", metrics_bytes);
    for (std::size_t m = 0; m < monitors.size(); ++m)
      monitors[m]->save(out, fmt::format("monitor/{}/", m));
    return out;
  }
  /// All but the fields.
  void restore(const data::Checkpoint& in) {
    energy.peak_j = in.scalar<double>("peak_energy");
    energy.least_stored_j = in.scalar<double>("least_energy");
    norms = in.array<double>("norms");
    metrics_bytes = in.scalar<std::uint64_t>("metrics_bytes");
    for (std::size_t m = 0; m < monitors.size(); ++m)
      monitors[m]->load(in, fmt::format("monitor/{}/", m));
  }

  /// "Ez at (1e-06, 2e-06, 0) m, cell (3, 4, 0), in 'gold', inside the absorbing layer of x" where
  /// the field is largest.
  std::string where_it_grows() const {
    const em::TimeDomain::Peak p = run->peak();
    const auto at = c.grid.position(p.edge);
    const em::Medium& m = c.media[static_cast<std::size_t>(em::medium_at(c.scene, at))];
    std::string layer;
    const int cell[3] = {p.edge.i, p.edge.j, p.edge.k};
    for (int d = 0; d < 3; ++d) {
      const int low = layer_cells(c, d, false), high = layer_cells(c, d, true);
      if ((low > 0 && cell[d] <= low) || (high > 0 && cell[d] >= c.grid.cells(d) - high))
        layer += "xyz"[d];
    }
    return fmt::format("{} at ({:.4g}, {:.4g}, {:.4g}) m, cell ({}, {}, {}), in '{}', {}",
                       em::name_of(p.edge.component), at[0], at[1], at[2], cell[0], cell[1],
                       cell[2], m.name,
                       layer.empty() ? "outside of the absorbing layers"
                                     : "inside the absorbing layer across " + layer);
  }

  /// Whether the stop rule is fulfilled; `grown` is set where the run cannot be trusted.
  bool at_check(bool& grown) {
    grown = energy.grows(*run);
    if (grown || run->time_s() < sources_end) return false;
    const StopOptions& stop = c.options.run.stop;
    bool done = stop.decay_db && energy.has_fallen(*stop.decay_db);
    if (stop.dft_tolerance) {
      std::vector<double> now;
      for (const auto& m : monitors)
        if (const auto s = m->settling()) now.push_back(*s);
      bool settled = !now.empty() && now.size() == norms.size();
      for (std::size_t i = 0; settled && i < now.size(); ++i)
        settled = now[i] > 0 ? std::abs(now[i] - norms[i]) <= *stop.dft_tolerance * now[i]
                             : energy.has_fallen(kNothingComesDb);
      norms = now;
      done = done || settled;
    }
    return done;
  }
};

}  // namespace

std::int64_t steps_between_checks(const Case& c) {
  const double period = c.frequency_max > 0 ? 1 / c.frequency_max : 100 * c.dt_s;
  return std::max<std::int64_t>(
      16, std::llround(c.options.run.stop.check_every.value_or(10 * period) / c.dt_s));
}

void help_with_steps(HelpContext& with, MonitoredCase& made) {
  em::TimeDomain run = make_run(made, with.ranks, with.weights);
  for (std::unique_ptr<Monitor>& m : made.monitors)  // rank 0 has what they record
    if (m->options().derivatives.empty()) m.reset();
  const auto stops = [stop = with.stop] { return stop && stop->poll() != data::StopReason::none; };
  run.help(stops, [&](em::TimeDomain& own, const std::vector<std::byte>& told) {
    const auto done = work_on_slopes(made, own, told, [&] { return !stops(); });
    return done ? *done : work_on_fields(own, told);
  });
}

std::int64_t fixed_end(const Case& c, double sources_end_s) {
  return em::fixed_end(run_end(c.options.run.stop), sources_end_s, c.dt_s).value_or(0);
}

std::vector<data::Diagnostic> against(const data::Config& config, const Case& c,
                                      const data::Checkpoint& from) {
  double sources_end = 0;
  for (const em::Injection& s : make_injections(c)) sources_end = std::max(sources_end, s.end_s);
  const std::int64_t last = fixed_end(c, sources_end);
  if (last == 0 || last >= static_cast<std::int64_t>(from.step)) return {};
  return {config.error(
      436, "run.stop",
      fmt::format("the run is at step {} already, past its end at {}", from.step, last),
      "an end further off")};
}

data::ExitCode step_case(RunContext& context, MonitoredCase& made, Results& results) {
  const Case& c = made.c;
  TimeLoop s(context, made);
  if (context.ranks.size() > 1 && !s.run->is_cut())
    context.log.warning(
        fmt::format("{} ranks, but neither y nor z has a cell for each: rank 0 runs it alone",
                    context.ranks.size()));
  const auto traffic = s.run->scheme().traffic();
  context.log.info(
      fmt::format("{} x {} x {} cells, time step {:.4g} s ({:.3g} of the limit), {:.3g} GB, {:.0f} "
                  "bytes a cell and step unfused, {:.0f} fused",
                  c.grid.cells(0), c.grid.cells(1), c.grid.cells(2), c.dt_s, c.dt_s / c.stable_dt_s,
                  static_cast<double>(s.run->scheme().memory_bytes()) / 1e9,
                  traffic.unfused_bytes_per_cell, traffic.fused_bytes_per_cell));
  const auto& checkpoints = context.folder.checkpoints();
  const auto load = [&](const data::Checkpoint& from) {
    data::check_resumable(from, context.manifest, c.inputs);
    load_fields(*s.run, checkpoints, from);
  };
  if (auto loaded = data::load_newest_checkpoint(checkpoints, load)) {
    for (const auto& w : loaded->warnings) context.log.warning(data::to_string(w));
    s.restore(loaded->checkpoint);
    context.log.info(fmt::format("going on from {} at step {}", loaded->path.filename().string(),
                                 s.run->step()));
  }
  const std::vector<std::string> columns{"step", "time_s", "energy_j", "decay_db"};
  std::optional<data::MetricsFile> metrics;
  if (s.run->step() > 0)
    metrics.emplace(context.folder.metrics_csv(), columns, s.metrics_bytes);
  else
    metrics.emplace(context.folder.metrics_csv(), columns);

  const double cells = static_cast<double>(c.grid.cell_count());
  data::Progress progress({.style = context.progress_style,
                           .phase = "step",
                           .unit = "steps",
                           .total = static_cast<std::uint64_t>(s.last_step),
                           .already_done = static_cast<std::uint64_t>(s.run->step()),
                           .heartbeat = context.folder.heartbeat_json()});
  const auto save = [&] {
    s.metrics_bytes = metrics->sync();
    data::Checkpoint now = s.checkpoint();
    save_fields(*s.run, checkpoints, now);
    data::write_checkpoint(checkpoints, now, context.options.keep_checkpoints);
  };
  data::Periodic periodic(context.options.checkpoint_every_s);
  const auto begin = std::chrono::steady_clock::now();
  const std::int64_t begin_step = s.run->step();
  bool done = s.last_step > 0 && s.run->step() >= s.last_step, grown = false;
  while (!done && !grown) {
    const std::int64_t to_check = s.check_steps - s.run->step() % s.check_steps,
                       piece = std::max<std::int64_t>(
                           s.run->is_cut() ? 64 : 16,
                           4000000 / static_cast<std::int64_t>(cells + 1) * 16);
    std::int64_t n = std::min(to_check, piece);
    if (s.last_step > 0) n = std::min(n, s.last_step - s.run->step());
    s.advance(n);
    if (s.run->step() % s.check_steps == 0) {
      done = s.at_check(grown);
      const double db = s.energy.fallen_db();
      const double row[] = {static_cast<double>(s.run->step()), s.run->time_s(), s.energy.energy_j,
                            db};
      metrics->row(row);
      progress.update(static_cast<std::uint64_t>(s.run->step()), {{"decay_db", db}});
    } else {
      progress.update(static_cast<std::uint64_t>(s.run->step()));
    }
    done = done || (s.last_step > 0 && s.run->step() >= s.last_step);
    if (done || grown) break;
    if (s.run->others_want_to_stop()) std::raise(SIGTERM);  // as if it had come to this rank
    if (context.stop.poll() != data::StopReason::none) {
      save();
      progress.finish("stopped");
      return data::ExitCode::stopped_resumable;
    }
    if (periodic.due()) save();
  }
  progress.finish(grown ? "failed" : "finished");
  if (grown) {
    const std::string least =
        s.energy.least_stored_j > 0
            ? fmt::format(", after a least of {:.3g} J", s.energy.least_stored_j)
            : "";
    context.log.error(fmt::format(
        "the fields grow without limit: at step {} the energy is {:.3g} J{}; the "
        "largest field is {}",
        s.run->step(), std::max(s.energy.energy_j, s.energy.stored_j), least, s.where_it_grows()));
    context.log.error(
        "what makes fields grow: an active medium; a film or surface of negative permittivity that "
        "runs through a pml, which amplifies its backward waves (let that face be boundary.x = "
        "\"absorber\"); or a guide whose evanescent tail reaches a layer (move the layer away by a "
        "wavelength, or raise pml.cells)");
    return data::ExitCode::blow_up;
  }
  metrics->sync();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  // What `resume --set run.stop...` goes on from; steps that are made anew in less time need no
  // file of all fields.
  if (seconds > 10) save();
  context.log.info(fmt::format(
      "{} steps, {:.4g} s of simulated time, {:.1f} Mcells/s", s.run->step(), s.run->time_s(),
      static_cast<double>(s.run->step() - begin_step) * cells / seconds / 1e6));
  if (const data::ExitCode code = differentiate(context, made, *s.run, save);
      code != data::ExitCode::ok)
    return code;
  auto& told = context.manifest.metrics;
  told = {{"cells", cells},
          {"steps", static_cast<double>(s.run->step())},
          {"dt_s", c.dt_s},
          {"time_s", s.run->time_s()}};
  const bool cut_short = std::isfinite(s.sources_end) && s.run->time_s() < s.sources_end;
  if (cut_short)
    context.log.warning(
        fmt::format("the run ended at {:.4g} s, before its sources did, at {:.4g} s: spectra are "
                    "those of pulses cut short; let it run longer (run.stop)",
                    s.run->time_s(), s.sources_end));
  for (const auto& m : s.monitors) {
    results.push_back(m->result());
    const auto fading = m->fading();
    if (!fading) continue;
    results.back().fallen_db = fading->fallen_db;
    told.emplace_back(m->options().name + ".fallen_db", fading->fallen_db);
    if (const std::string text = unfaded(m->options().name, *fading, s.run->time_s(), c.dt_s);
        !text.empty() && !cut_short)
      context.log.warning(text);
  }
  for (std::size_t m = 0; m < results.size(); ++m) s.monitors[m]->relate(results[m], results);
  return data::ExitCode::ok;
}

}  // namespace tessera::apps::fdtd
