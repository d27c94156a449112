// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/fdtd/time_loop.h"

#include "electromagnetics/fdtd/run_end.h"
#include "tessera/data/log.h"
#include "tessera/parallel/communicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tessera::apps::fdtd {
namespace {

namespace em = electromagnetics;

/// Below its peak the energy has left: a transform that has seen nothing will see nothing.
constexpr double kNothingComesDb = 60;

/// Of the two between looks at the energy while sources are loud: the power of a pulse of all
/// the band, from zero on, is within 1 dB of its peak for 0.7 periods.
std::int64_t steps_of_looks(const Case& c) {
  return std::max<std::int64_t>(1, std::llround(0.25 * shortest_period(c) / c.dt_s));
}

/// Of a monitor in a checkpoint.
std::string prefix_of(std::size_t run, std::size_t monitor) {
  return run == 0 ? fmt::format("monitor/{}/", monitor)
                  : fmt::format("run/{}/monitor/{}/", run, monitor);
}

constexpr std::size_t kNumbersOfStanding = 6;
std::vector<double> numbers_of(const std::vector<Standing>& runs) {
  std::vector<double> out;
  for (const Standing& s : runs)
    for (const double x : {static_cast<double>(s.step), s.last.energy_j, s.last.change,
                           s.before.energy_j, s.before.change, s.peak_j})
      out.push_back(x);
  return out;
}

/// Of one of the case's runs.
EndRule end_rule(const MonitoredCase& made, std::size_t number) {
  const Case& c = made.case_of(number);
  double sources_end = 0;
  for (const em::Injection& s : make_injections(c, made.excitation_of(number)))
    sources_end = std::max(sources_end, s.end_s);
  return {c.options.run.stop, steps_between_checks(c), fixed_end(c, sources_end)};
}

}  // namespace

em::GridCut cut_of(const Case& c, parallel::Communicator& ranks,
                   const std::vector<double>& weights) {
  return c.wires ? em::GridCut{} : em::cut_grid(c.grid, ranks, weights);
}

em::TimeDomain make_run(const MonitoredCase& made, std::size_t number,
                        std::vector<em::Injection> sources, parallel::Communicator& ranks,
                        const std::vector<double>& weights) {
  std::vector<em::Edge> recorded;
  for (const auto& m : made.of_run(number))
    recorded.insert(recorded.end(), m->edges().begin(), m->edges().end());
  const Case& c = made.case_of(number);
  em::GridCut cut = cut_of(c, ranks, weights);
  em::YeeModel model = make_model(c, em::slab_of(c.faces, cut));
  return {std::move(model), std::move(sources), std::move(recorded), std::move(cut)};
}

TimeLoop::TimeLoop(RunContext& context_, MonitoredCase& made_, std::size_t number_)
    : context(context_),
      made(made_),
      c(made.case_of(number_)),
      number(number_),
      monitors(made.of_run(number)) {
  std::int64_t columns = 0;
  for (const auto& m : monitors) {
    first.push_back(columns);
    columns += static_cast<std::int64_t>(m->edges().size());
  }
  std::vector<em::Injection> sources = make_injections(c, made.excitation_of(number));
  for (const em::Injection& s : sources) sources_end = std::max(sources_end, s.end_s);
  end = {c.options.run.stop, steps_between_checks(c), fixed_end(c, sources_end)};
  looks = em::loud_steps(sources, c.dt_s, steps_of_looks(c), end.last_step);
  run.emplace(make_run(made, number, std::move(sources), context.ranks, context.options.weights));
  span = still_span(c, end.check_steps);
}

std::int64_t TimeLoop::steps_to_look() const {
  const auto next = std::upper_bound(looks.begin(), looks.end(), run->step());
  return next == looks.end() ? end.check_steps : *next - run->step();
}

void TimeLoop::advance(std::int64_t n) {
  run->advance(n, [&](const em::Records& r) {
    for (std::size_t m = 0; m < monitors.size(); ++m)
      monitors[m]->observe(
          r.columns(first[m], static_cast<std::int64_t>(monitors[m]->edges().size())));
  });
}

data::Checkpoint TimeLoop::checkpoint(const std::vector<Standing>& ended) const {
  data::Checkpoint out;
  out.app = "electromagnetics.fdtd";
  std::int64_t all_steps = run->step();
  for (const Standing& s : ended) all_steps += s.step;
  out.step = static_cast<std::uint64_t>(all_steps);
  if (made.runs() > 1) {
    out.put("run", static_cast<std::uint64_t>(number));
    out.put("run_step", run->step());
    out.put("ended", numbers_of(ended));
    for (std::size_t k = 0; k < number; ++k) save_monitors(out, k);
  }
  out.config_sha256 = context.manifest.config_sha256;
  out.inputs = c.inputs;
  out.put("peak_energy", energy.peak_j);
  out.put("least_energy", energy.least_stored_j);
  out.put("explained", std::vector<double>{energy.explained_j, run->given_j() - energy.given_j});
  out.put("spans", std::vector<double>{energy.span_j, energy.former_span_j,
                                       static_cast<double>(energy.span_begin),
                                       told_that_it_stays ? 1.0 : 0.0});
  out.put("norms", norms);
  out.put("seen", std::vector<double>{last.energy_j, last.change, before.energy_j, before.change});
  if (c.wires) out.put("wires", run->wire_state());
  out.put("metrics_bytes", metrics_bytes);
  save_monitors(out, number);
  return out;
}

void TimeLoop::save_monitors(data::Checkpoint& out, std::size_t of_run) const {
  const Monitors& all = made.of_run(of_run);
  for (std::size_t m = 0; m < all.size(); ++m) all[m]->save(out, prefix_of(of_run, m));
}

void TimeLoop::restore(const data::Checkpoint& in) {
  energy.peak_j = in.scalar<double>("peak_energy");
  energy.least_stored_j = in.scalar<double>("least_energy");
  energy.explained_j = std::max(energy.least_stored_j, 0.0), energy.given_j = -INFINITY;
  if (in.has("explained")) {
    const auto explained = in.array<double>("explained");
    energy.explained_j = explained.at(0);
    if (std::isfinite(explained.at(1))) energy.given_j = -explained.at(1);
  }
  const auto spans = in.array<double>("spans");
  energy.span_j = spans.at(0), energy.former_span_j = spans.at(1);
  energy.span_begin = static_cast<std::int64_t>(spans.at(2));
  told_that_it_stays = spans.at(3) != 0;
  norms = in.array<double>("norms");
  const auto seen = in.array<double>("seen");
  last = {seen.at(0), seen.at(1)}, before = {seen.at(2), seen.at(3)};
  if (c.wires) run->set_wire_state(in.array<double>("wires"));
  metrics_bytes = in.scalar<std::uint64_t>("metrics_bytes");
  for (std::size_t k = 0; k <= number; ++k) {
    const Monitors& all = made.of_run(k);
    for (std::size_t m = 0; m < all.size(); ++m) all[m]->load(in, prefix_of(k, m));
  }
}

bool TimeLoop::grows_at_check() {
  if (energy.grows(*run)) return true;
  if (run->time_s() < sources_end) return false;
  before = {std::min(before.energy_j, last.energy_j), std::min(before.change, last.change)};
  last = {energy.left_j(), change_of_transforms()};
  const StopOptions& stop = c.options.run.stop;
  const bool done = stop.decay_db && energy.has_fallen(*stop.decay_db);
  if (energy.stays(run->step(), span) && stop.decay_db && !done && !told_that_it_stays) {
    const std::string name = made.name_of(number);
    context.log.warning((name.empty() ? name : name + ": ") + stays(c, *run, energy, span));
    told_that_it_stays = true;
  }
  return false;
}

bool TimeLoop::grows_at_end() {
  em::EnergyWatch seen = energy;
  const bool grown = seen.grows(*run);
  if (grown) energy = seen;
  return grown;
}

double TimeLoop::change_of_transforms() {
  if (!c.options.run.stop.dft_tolerance) return INFINITY;
  std::vector<double> now;
  for (const auto& m : monitors)
    if (const auto s = m->settling()) now.push_back(*s);
  double change = now.empty() || now.size() != norms.size() ? INFINITY : 0;
  for (std::size_t i = 0; i < now.size() && i < norms.size(); ++i)
    change = std::max(change, now[i] > 0 ? std::abs(now[i] - norms[i]) / now[i]
                              : energy.has_fallen(kNothingComesDb) ? 0.0
                                                                   : INFINITY);
  norms = std::move(now);
  return change;
}

double shortest_period(const Case& c) {
  return c.frequency_max > 0 ? 1 / c.frequency_max : 100 * c.dt_s;
}

std::int64_t steps_between_checks(const Case& c) {
  return std::max<std::int64_t>(
      16, std::llround(c.options.run.stop.check_every.value_or(10 * shortest_period(c)) / c.dt_s));
}

std::int64_t fixed_end(const Case& c, double sources_end_s) {
  return em::fixed_end(run_end(c.options.run.stop), sources_end_s, c.dt_s).value_or(0);
}

std::vector<Standing> ended_runs(const data::Checkpoint& from) {
  std::vector<Standing> out;
  if (!from.has("ended")) return out;
  const auto& all = from.array<double>("ended");
  for (std::size_t n = 0; n + kNumbersOfStanding <= all.size(); n += kNumbersOfStanding)
    out.push_back({static_cast<std::int64_t>(all[n]),
                   {all[n + 1], all[n + 2]},
                   {all[n + 3], all[n + 4]},
                   all[n + 5]});
  return out;
}

std::vector<data::Diagnostic> against(const data::Config& config, const MonitoredCase& made,
                                      const data::Checkpoint& from) {
  std::vector<Standing> runs = ended_runs(from);
  const std::size_t now = runs.size();  // its fields are in the checkpoint, those of others gone
  const auto& seen = from.array<double>("seen");
  runs.push_back({from.has("run_step") ? from.scalar<std::int64_t>("run_step")
                                       : static_cast<std::int64_t>(from.step),
                  {seen.at(0), seen.at(1)},
                  {seen.at(2), seen.at(3)},
                  from.scalar<double>("peak_energy")});
  for (std::size_t k = 0; k < std::min(runs.size(), made.runs()); ++k) {
    const Standing& run = runs[k];
    const EndRule rule = end_rule(made, k);
    const auto refused = [&](std::string message, const char* hint) {
      return std::vector{
          config.error(436, "run.stop", std::move(message),
                       k < now ? "a new run: all runs of a case have one end" : hint)};
    };
    const std::string name = made.name_of(k),
                      where = fmt::format("the run{} {} {}{}", name.empty() ? "" : " of " + name,
                                          k < now ? "has ended at step" : "is at step", run.step,
                                          k < now ? "" : " already");
    if (rule.last_step > 0 && rule.last_step < run.step)
      return refused(fmt::format("{}, past its end at {}", where, rule.last_step),
                     "an end further off");
    if (rule.is_passed(run))
      return refused(where + ", and fulfils what would end it since an earlier check",
                     "a larger decay_db, a smaller dft_tolerance");
    if (k < now && !rule.ends(run))
      return refused(where + ", and with this end it would go on: its fields are gone", "");
    const Monitors& monitors = made.of_run(k);
    for (std::size_t m = 0; m < monitors.size(); ++m) {
      const std::string every = prefix_of(k, m) + "every";
      const auto transform = monitors[m]->transform();
      if (transform && from.has(every) && from.scalar<std::int64_t>(every) > transform->every)
        return refused(
            fmt::format("transforms have added every {}th step, and with this end, which cuts a "
                        "pulse short, they want every {}th",
                        from.scalar<std::int64_t>(every), transform->every),
            "an end behind the pulses, or a new run");
    }
  }
  return {};
}

}  // namespace tessera::apps::fdtd
