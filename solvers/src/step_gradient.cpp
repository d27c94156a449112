// SPDX-License-Identifier: Apache-2.0
#include "step_gradient.h"

#include "tessera/autodiff/ops.h"

#include <algorithm>
#include <cmath>

namespace tessera::solvers::detail {
namespace {

/// a_0 + a_1 + ... by one binary tree over the parts [0, n): halves, the larger one first.
Leaves tree_sum(std::vector<Leaves>& parts, std::size_t begin, std::size_t end) {
  if (end - begin == 1) return std::move(parts[begin]);
  const std::size_t middle = begin + (end - begin + 1) / 2;
  Leaves a = tree_sum(parts, begin, middle), b = tree_sum(parts, middle, end);
  for (std::size_t k = 0; k < a.size(); ++k) a[k] = a[k] + b[k];
  return a;
}

StepGradient::Of summed(std::vector<StepGradient::Of> parts) {
  StepGradient::Of all;
  std::vector<Leaves> gradients, carried;
  for (StepGradient::Of& p : parts) {
    all.loss += p.loss;
    gradients.push_back(std::move(p.trained)), carried.push_back(std::move(p.carried));
    if (all.cause.empty()) all.cause = std::move(p.cause);
  }
  all.trained = tree_sum(gradients, 0, gradients.size());
  all.carried = tree_sum(carried, 0, carried.size());
  return all;
}

/// The operation of the loss that first gives NaN (an infinity, where the loss is one).
std::string cause_of(const std::function<Leaves(const Leaves&, const Leaves&)>& loss, double value,
                     const Leaves& params, const Leaves& batch) {
  const auto finite = [](const Leaves& leaves) {
    return std::ranges::all_of(leaves, [](const Tensor& t) {
      return !is_inexact(t.dtype()) || all(is_finite(t)).item<bool>();
    });
  };
  if (!finite(batch)) return "a number of the samples is not finite";
  if (!finite(params)) return "a parameter is not finite";
  try {
    jit(loss, {.level = Level::O0, .trap = std::isnan(value) ? Trap::nan : Trap::not_finite})(
        params, batch);
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

}  // namespace

StepGradient::StepGradient(Loss loss, const TrainedLeaves& leaves, const FitOptions& o)
    : loss_(std::move(loss)),
      leaves_(leaves),
      planned_(jit([this](const Leaves& trained, const Leaves& others, const Leaves& batch) {
        return recorded(trained, others, batch);
      })),
      n_workers_(o.workers),
      workers_(o.workers) {}

StepGradient::Found StepGradient::recorded(const Leaves& trained, const Leaves& others,
                                           const Leaves& batch) {
  return value_and_grad([&](const Leaves& p) {
    const Leaves found = loss_(leaves_.joined(p, others), batch);
    Leaves moved;
    if (found.size() > 1) {
      const Leaves now = leaves_.others({found.begin() + 1, found.end()});
      carried_.clear();
      for (std::size_t k = 0; k < now.size(); ++k)
        if (now[k].impl() != others[k].impl()) carried_.push_back(k), moved.push_back(now[k]);
    }
    return std::pair(found.front(), moved);
  })(trained);
}

StepGradient::Of StepGradient::operator()(const Leaves& params, std::span<const Index> sizes,
                                          const std::function<Leaves()>& next) {
  const Leaves trained = leaves_.of(params), others = leaves_.others(params);
  Index samples = 0;
  for (const Index n : sizes) samples += n;
  std::vector<Leaves> batch(sizes.size());
  std::vector<Of> done(sizes.size());
  const auto take = [&](std::size_t k) {
    auto [values, g] = planned_(trained, others, batch[k]);
    const double share = static_cast<double>(sizes[k]) / static_cast<double>(samples);
    if (sizes.size() > 1)
      for (Leaves* all : {&g, &values.second})
        for (Tensor& leaf : *all) leaf = leaf * share;
    const double found = cast(values.first, Dtype::f64).item();
    done[k] = {share * found, std::move(g), std::move(values.second), {}};
    if (!std::isfinite(found)) done[k].cause = cause_of(loss_, found, params, batch[k]);
    batch[k].clear();
  };
  std::vector<std::size_t> rest;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    batch[k] = next();
    // What is new is recorded, by one thread alone.
    if (n_workers_ == 1 || known_.insert(sizes[k]).second)
      take(k);
    else
      rest.push_back(k);
  }
  workers_.run(rest.size(), [&](std::size_t k) { take(rest[k]); });
  return summed(std::move(done));
}

void StepGradient::carry(const Of& step, Leaves& params) const {
  if (step.carried.empty()) return;
  Leaves others = leaves_.others(params);
  for (std::size_t k = 0; k < carried_.size(); ++k) others[carried_[k]] = step.carried[k];
  params = leaves_.joined(leaves_.of(params), others);
}

}  // namespace tessera::solvers::detail
