// SPDX-License-Identifier: Apache-2.0
#include "solvers/training/training_state.h"

#include "tessera/autodiff/ops.h"

#include <algorithm>

namespace tessera::apps::training {
namespace {

void put(data::Checkpoint& c, const std::string& name, const Tensor& t) {
  if (t.dtype() == Dtype::f32)
    c.put(name, t.to_vector<float>());
  else
    c.put(name, t.to_vector<double>());
}
Tensor taken(const data::Checkpoint& c, const std::string& name, const Tensor& like) {
  if (like.dtype() == Dtype::f32) return tensor(c.array<float>(name), like.shape());
  return tensor(c.array<double>(name), like.shape());
}

/// Every tensor of a state with its name.
template <class S, class F>
void each_tensor(S& s, const F& f) {
  const LeafNames names = leaf_names(s.params);
  const auto tree = [&](auto& t, const std::string& path) {
    std::size_t k = 0;
    Tree<Network>::visit(t, [&](auto& leaf) { f(path + names[k++], leaf); });
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

}  // namespace

void save_state(const State& s, data::Checkpoint& c) {
  each_tensor(s, [&](const std::string& name, const Tensor& t) { put(c, name, t); });
  each_number(s, [&](const std::string& name, const auto& v) { c.put(name, v); });
  std::vector<double> curves;
  for (const solvers::FitEpoch& e : s.curves) {
    curves.insert(curves.end(), {e.loss, e.validation, e.rate_factor});
    curves.insert(curves.end(), e.metrics.begin(), e.metrics.end());
  }
  const std::uint64_t rows = s.curves.size();
  c.put("curves", curves, {rows, rows ? curves.size() / rows : 0});
}

void load_state(const data::Checkpoint& c, State& s) {
  const bool averages = std::ranges::any_of(
      c.values, [](const auto& value) { return value.first.starts_with("average/"); });
  if (averages) s.average = s.params;
  each_tensor(s, [&](const std::string& name, Tensor& t) { t = taken(c, name, t); });
  each_number(s, [&](const std::string& name, auto& v) {
    v = c.scalar<std::remove_reference_t<decltype(v)>>(name);
  });
  const std::vector<double>& curves = c.array<double>("curves");
  const auto width = static_cast<std::ptrdiff_t>(c.values.at("curves").shape[1]);
  s.curves.clear();
  for (auto row = curves.begin(); row != curves.end(); row += width)
    s.curves.push_back({row[0], row[1], row[2], {row + 3, row + width}});
}

}  // namespace tessera::apps::training
