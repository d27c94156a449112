// SPDX-License-Identifier: Apache-2.0
// The state of a training by `solvers::fit` in a checkpoint, every leaf by its name.
#pragma once
#include "tessera/data/checkpoint.h"
#include "tessera/solvers/fit.h"

#include <algorithm>
#include <string>
#include <vector>

namespace tessera::apps::fitting {

std::vector<solvers::FitEpoch> curves_in(const data::Checkpoint& c);

namespace detail {

void put(data::Checkpoint& c, const std::string& name, const Tensor& t);
Tensor taken(const data::Checkpoint& c, const std::string& name, const Tensor& like);
void put_curves(data::Checkpoint& c, const std::vector<solvers::FitEpoch>& curves);

/// Every tensor of a state with its name.
template <IsTree P, class S, class F>
void each_tensor(S& s, const F& f) {
  const LeafNames names = leaf_names(s.params);
  const auto tree = [&](auto& t, const std::string& path) {
    std::size_t k = 0;
    Tree<P>::visit(t, [&](auto& leaf) { f(path + names[k++], leaf); });
  };
  tree(s.params, "params/"), tree(s.best, "best/");
  if (s.average) tree(*s.average, "average/");
  f("optimizer/step", s.optimizer.step);
  for (auto& slot : s.optimizer.slots)
    for (std::size_t k = 0; k < slot.leaves.size(); ++k)
      f("optimizer/" + slot.name + "/" + std::to_string(k), slot.leaves[k]);
}

/// Every other number.
template <class S, class F>
void each_number(S& s, const F& f) {
  f("epoch", s.epoch), f("step", s.step), f("loss_sum", s.loss_sum);
  f("plateau/factor", s.plateau.factor), f("plateau/best", s.plateau.best);
  f("plateau/bad_epochs", s.plateau.bad_epochs), f("plateau/cooldown", s.plateau.cooldown);
  f("stopping/best", s.stopping.best), f("stopping/best_epoch", s.stopping.best_epoch);
  f("stopping/epoch", s.stopping.epoch), f("stopping/waited", s.stopping.waited);
  f("best_loss", s.best_loss), f("best_epoch", s.best_epoch), f("averaged", s.averaged);
}

}  // namespace detail

template <IsTree P>
void save_state(const solvers::FitState<P>& s, data::Checkpoint& c) {
  detail::each_tensor<P>(
      s, [&](const std::string& name, const Tensor& t) { detail::put(c, name, t); });
  detail::each_number(s, [&](const std::string& name, const auto& v) { c.put(name, v); });
  detail::put_curves(c, s.curves);
}

/// Into a state that was begun for the same case.
template <IsTree P>
void load_state(const data::Checkpoint& c, solvers::FitState<P>& s) {
  const bool averages = std::any_of(c.values.begin(), c.values.end(), [](const auto& value) {
    return value.first.starts_with("average/");
  });
  if (averages) s.average = s.params;
  detail::each_tensor<P>(
      s, [&](const std::string& name, Tensor& t) { t = detail::taken(c, name, t); });
  detail::each_number(s, [&](const std::string& name, auto& v) {
    v = c.scalar<std::remove_reference_t<decltype(v)>>(name);
  });
  s.curves = curves_in(c);
}

}  // namespace tessera::apps::fitting
