// SPDX-License-Identifier: Apache-2.0
// The gradient of a step, part by part of its batch.
#pragma once
#include "fit_steps.h"
#include "side_by_side.h"

#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace tessera::solvers::detail {

class StepGradient {
 public:
  using Loss = std::function<Leaves(const Leaves& params, const Leaves& batch)>;
  StepGradient(Loss loss, const TrainedLeaves& leaves, const FitOptions& o);

  /// Of one part of a batch or of all, times its share of the samples: the loss, the gradient of
  /// the trained leaves, and the values that frozen leaves take; and why the loss is not finite.
  struct Of {
    double loss = 0;
    Leaves trained, carried;
    std::string cause;
  };
  /// Of a batch in parts of so many samples, which `next` gives one after the other.
  Of operator()(const Leaves& params, std::span<const Index> sizes,
                const std::function<Leaves()>& next);
  /// Gives frozen leaves the values that they take.
  void carry(const Of& step, Leaves& params) const;

 private:
  using Found = std::pair<std::pair<Tensor, Leaves>, Leaves>;  ///< ((loss, carried), gradient)
  Found recorded(const Leaves& trained, const Leaves& others, const Leaves& batch);

  const Loss loss_;
  const TrainedLeaves& leaves_;
  std::function<Found(const Leaves&, const Leaves&, const Leaves&)> planned_;
  std::vector<std::size_t> carried_;  ///< of the others: those that the loss changes
  std::set<Index> known_;             ///< sizes of parts that have a plan
  int n_workers_;
  SideBySide workers_;
};

}  // namespace tessera::solvers::detail
