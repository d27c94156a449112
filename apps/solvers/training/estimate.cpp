// SPDX-License-Identifier: Apache-2.0
#include "solvers/training/estimate.h"

#include "solvers/training/steps.h"
#include "support/report.h"
#include "tessera/autodiff/dryrun.h"
#include "tessera/autodiff/optimize.h"
#include "tessera/data/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

namespace tessera::apps::training {
namespace {

double bytes_of(const Tensor& t) {
  return static_cast<double>(t.size()) * static_cast<double>(size_of(t.dtype()));
}
template <class T>
double bytes_of_all(const T& tree) {
  double all = 0;
  for (const Tensor& t : flatten_tree(tree)) all += bytes_of(t);
  return all;
}

/// Stand-ins for `n` of the samples as they are trained on.
Batch batch_of(const Problem& p, std::int64_t n) {
  const std::vector<std::int64_t> first{p.split.train.front()};
  Pairs one = prepared(p, first);
  const auto rows = [n](const Tensor& t) {
    Shape s = t.shape();
    s[0] = n;
    return stand_in({t.dtype(), s});
  };
  return {{rows(one.x), rows(one.y)}, stand_in({Dtype::u32, {n, 2}})};
}

DryRun priced_step(const Problem& p, const Batch& batch) {
  const auto step = [&p](const Network& net, const Batch& b) {
    return value_and_grad([&](const Network& n) { return training_loss(p, n, b).first; })(net);
  };
  return dryrun(step, named("weights", p.model.network), named("batch", batch));
}

/// What a step and an epoch take, s.
struct Pace {
  double step, epoch;
};
/// Part of an epoch is judging: a third of the work of a step for each sample.
Pace of_steps(const Problem& p, double step) {
  const double n = static_cast<double>(p.split.train.size()),
               judged = static_cast<double>(p.split.validation.size()) / 3;
  return {step, step * (n + judged) / n * static_cast<double>(p.steps())};
}

/// By steps that are taken, for a second and at least 30: by whole epochs, where there were some,
/// or by the step in the middle.
Pace timed(const Problem& p) {
  constexpr double kEnough = 1, kLongest = 15;  // s
  constexpr std::size_t kSteps = 30;
  State s = solvers::begin_fit(p.model.network, fit_options(p));
  using Clock = std::chrono::steady_clock;
  std::vector<Clock::time_point> at{Clock::now()};  // the begin, and after each step
  const auto between = [&](std::size_t i, std::size_t k) {
    return std::chrono::duration<double>(at[k] - at[i]).count();
  };
  train(p, s, [&](const State&) {
    at.push_back(Clock::now());
    const double taken = between(0, at.size() - 1);
    return taken < kLongest && (taken < kEnough || at.size() <= kSteps);
  });
  const std::size_t steps = at.size() - 1, per_epoch = static_cast<std::size_t>(p.steps()),
                    epochs = steps / per_epoch;
  std::vector<double> each;
  for (std::size_t k = 0; k < steps; ++k) each.push_back(between(k, k + 1));
  if (each.empty()) return {0, 0};
  const auto middle = each.begin() + static_cast<std::ptrdiff_t>(each.size() / 2);
  std::nth_element(each.begin(), middle, each.end());
  Pace pace = of_steps(p, *middle);
  if (epochs > 2)  // the first makes the plans
    pace.epoch = between(per_epoch, epochs * per_epoch) / static_cast<double>(epochs - 1);
  return pace;
}

/// Layer by layer, then what is none.
std::vector<std::vector<std::string>> table_of(const Problem& p, const DryRun& d) {
  std::vector<std::vector<std::string>> table{
      {"part", "gives", "weights", "arithmetic", "kept", "time"}};
  const LeafNames names = leaf_names(p.model.network);
  const std::vector<Tensor> leaves = flatten_tree(p.model.network);
  std::map<std::string, const DryRun::Line*> lines;
  for (const DryRun::Line& l : d.lines) lines[l.line] = &l;
  const auto row = [&](const std::string& what, const std::string& gives,
                       const std::string& weights, const DryRun::Line* l) {
    table.push_back({what, gives, weights, l ? fmt::format("{:.3g} Mflop", l->flops * 1e-6) : "",
                     l && l->kept > 0 ? bytes_text(l->kept) : "",
                     l ? fmt::format("{:.1f} %", 100 * l->seconds / d.seconds) : ""});
  };
  const auto* layers = std::get_if<nn::Sequential>(&p.model.network.is);
  const std::vector<std::string> parts =
      layers ? nn::part_names(*layers) : std::vector<std::string>();
  for (std::size_t k = 0; k < parts.size(); ++k) {
    Index weights = 0;
    const std::string begin = "layers." + std::to_string(k) + ".";
    for (std::size_t n = 0; n < names.size(); ++n)
      if (names[n].starts_with(begin)) weights += leaves[n].size();
    const auto it = lines.find(parts[k]);
    row(parts[k], to_string(p.model.shapes[k + 1]), weights ? std::to_string(weights) : "",
        it == lines.end() ? nullptr : it->second);
    if (it != lines.end()) lines.erase(it);
  }
  for (const DryRun::Line& l : d.lines)
    if (lines.contains(l.line)) row(l.line, "", "", &l);
  return table;
}

}  // namespace

Estimate estimate_training(const Problem& p) {
  const TrainingOptions& o = p.options.training;
  const auto n_train = static_cast<std::int64_t>(p.split.train.size());
  const std::int64_t batch = std::min(o.batch, n_train), parts = std::min(o.parts, batch);
  const Batch part = batch_of(p, (batch + parts - 1) / parts);
  const DryRun d = priced_step(p, part);
  const double weights = bytes_of_all(p.model.network),
               moments = bytes_of_all(fit_options(p)
                                          .optimizer(constant_rate(o.rate))
                                          .init(stand_ins(p.model.network)));
  const auto whole = [](double bytes) { return static_cast<std::uint64_t>(bytes); };
  Estimate e;
  e.memory_bytes = {{"program", 80u << 20}, {"weights", whole(2 * weights)}};  // and the best ones
  if (o.average) e.memory_bytes.emplace_back("average", whole(weights));
  e.memory_bytes.emplace_back("moments", whole(moments));
  const std::int64_t side_by_side = std::min(o.workers, parts);  // each has a part of its own
  double between = 0;
  for (const DryRun::Item& i : d.memory)
    if (i.what == "kept values")
      e.memory_bytes.emplace_back(i.what, whole(i.bytes * static_cast<double>(side_by_side)));
    else if (i.what == "gradients" || i.what == "temporaries" || i.what == "workspace" ||
             i.what == "gaps")
      between += i.bytes;
  e.memory_bytes.emplace_back("gradients", whole(weights * static_cast<double>(parts)));
  e.memory_bytes.emplace_back("temporaries", whole(between * static_cast<double>(side_by_side)));
  const std::int64_t read = side_by_side > 1 ? parts : 1;
  e.memory_bytes.emplace_back("batches",
                              whole(bytes_of_all(part) * static_cast<double>(read + o.loaders)));
  e.memory_bytes.emplace_back(
      "samples", whole(2 * (bytes_of(p.samples.inputs) + bytes_of(p.samples.targets))));
  e.disk_bytes = whole(3 * weights + 3 * (2 * weights + moments) + 2 * bytes_of(p.samples.targets));

  std::uint64_t memory = 0;
  for (const auto& [what, bytes] : e.memory_bytes) memory += bytes;
  const double by_roofline = d.seconds * static_cast<double>(parts);
  const std::uint64_t free = data::memory_free();
  const bool takes_some = (free == 0 || memory < free) && by_roofline < 5;
  const Pace pace = takes_some ? timed(p) : of_steps(p, by_roofline);
  e.seconds = pace.epoch * static_cast<double>(o.epochs);
  e.notes.push_back(fmt::format(
      "a step of {} samples takes {:.3g} s{}; {} steps an epoch, {:.3g} s", batch, pace.step,
      takes_some ? "" : " by the roofline, as it was not tried", p.steps(), pace.epoch));
  e.notes.push_back(fmt::format("{:.3g} Gflop a step, {:.3g} of it in products",
                                1e-9 * d.flops * static_cast<double>(parts),
                                1e-9 * d.products * static_cast<double>(parts)));
  e.notes.insert(e.notes.end(), d.notes.begin(), d.notes.end());
  e.table = table_of(p, d);
  return e;
}

}  // namespace tessera::apps::training
