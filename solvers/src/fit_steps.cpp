// SPDX-License-Identifier: Apache-2.0
#include "fit_steps.h"

#include "tessera/autodiff/ops.h"

#include <algorithm>

namespace tessera::solvers::detail {
namespace {

/// Each leaf has its tensor in each slot: else steps of some leaves have no state of their own.
void check_slots(const OptimizerState& s, const Leaves& params) {
  for (const OptimizerSlot& slot : s.slots) {
    bool fits = slot.leaves.size() == params.size();
    for (std::size_t k = 0; fits && k < params.size(); ++k)
      fits = slot.leaves[k].shape() == params[k].shape();
    if (!fits)
      fail("fit", "rules for leaves take an optimizer that remembers a tensor for each: '" +
                      slot.name + "' is none for each");
  }
}

}  // namespace

TrainedLeaves::TrainedLeaves(const LeafNames& names, const FitOptions& o, const Leaves& params,
                             const OptimizerState& state)
    : groups_(leaf_groups(names, o.rules)) {
  for (const LeafGroup& g : groups_)
    trained_.insert(trained_.end(), g.leaves.begin(), g.leaves.end());
  std::ranges::sort(trained_);
  for (std::size_t k = 0; k < names.size(); ++k)
    if (!std::ranges::binary_search(trained_, k)) frozen_.push_back(k);
  for (LeafGroup& g : groups_)
    for (std::size_t& k : g.leaves)
      k = static_cast<std::size_t>(std::ranges::lower_bound(trained_, k) - trained_.begin());
  if (!frozen_.empty() || groups_.size() > 1) check_slots(state, params);
  const bool decays =
      std::ranges::any_of(groups_, [](const LeafGroup& g) { return g.decay.has_value(); });
  if (!decays) return;
  if (const Optimizer optimizer = o.optimizer(o.rate); !optimizer.with_decay)
    fail("fit", "a rule has a decay, and " + optimizer.name + " knows none");
}

Leaves TrainedLeaves::at(const Leaves& all, const Numbers& which) {
  Leaves some;
  for (const std::size_t k : which) some.push_back(all[k]);
  return some;
}

Leaves TrainedLeaves::joined(const Leaves& trained, const Leaves& others) const {
  Leaves all(trained_.size() + frozen_.size());
  for (std::size_t k = 0; k < trained_.size(); ++k) all[trained_[k]] = trained[k];
  for (std::size_t k = 0; k < frozen_.size(); ++k) all[frozen_[k]] = others[k];
  return all;
}

std::pair<Leaves, OptimizerState> TrainedLeaves::take(Leaves& params, OptimizerState& state) const {
  if (frozen_.empty()) return {std::move(params), std::move(state)};
  const auto taken = [this](Leaves& all) {
    Leaves some;
    for (const std::size_t k : trained_) some.push_back(std::move(all[k]));
    return some;
  };
  OptimizerState some{std::move(state.step), {}};
  for (OptimizerSlot& slot : state.slots) some.slots.push_back({slot.name, taken(slot.leaves)});
  return {taken(params), std::move(some)};
}

void TrainedLeaves::put_back(std::pair<Leaves, OptimizerState> now, Leaves& params,
                             OptimizerState& state) const {
  if (frozen_.empty()) {
    std::tie(params, state) = std::move(now);
    return;
  }
  const auto back = [this](Leaves& some, Leaves& all) {
    for (std::size_t k = 0; k < trained_.size(); ++k) all[trained_[k]] = std::move(some[k]);
  };
  back(now.first, params);
  state.step = std::move(now.second.step);
  for (std::size_t j = 0; j < state.slots.size(); ++j)
    back(now.second.slots[j].leaves, state.slots[j].leaves);
}

std::pair<Leaves, OptimizerState> TrainedLeaves::step(const Leaves& params, const Leaves& gradient,
                                                      const OptimizerState& state,
                                                      const Tensor& factor,
                                                      const FitOptions& o) const {
  const auto optimizer_of = [&](const LeafGroup& g) {
    const Optimizer all = o.optimizer([&](const Tensor& step) {
      const Tensor rate = o.rate(step) * factor;
      return g.rate == 1 ? rate : rate * g.rate;
    });
    return g.decay ? all.with_decay(*g.decay) : all;
  };
  if (groups_.size() == 1) return optimizer_of(groups_[0]).update(params, gradient, state);
  Leaves next = params;
  OptimizerState next_state = state;
  for (const LeafGroup& g : groups_) {
    OptimizerState of_group{state.step, {}};
    for (const OptimizerSlot& slot : state.slots)
      of_group.slots.push_back({slot.name, at(slot.leaves, g.leaves)});
    const auto [p, s] =
        optimizer_of(g).update(at(params, g.leaves), at(gradient, g.leaves), of_group);
    const auto put = [&g](const Leaves& some, Leaves& all) {
      for (std::size_t k = 0; k < g.leaves.size(); ++k) all[g.leaves[k]] = some[k];
    };
    put(p, next);
    next_state.step = s.step;
    for (std::size_t j = 0; j < s.slots.size(); ++j)
      put(s.slots[j].leaves, next_state.slots[j].leaves);
  }
  return {next, next_state};
}

}  // namespace tessera::solvers::detail
