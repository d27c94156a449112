// SPDX-License-Identifier: Apache-2.0
// The leaves of a training that its steps change.
#pragma once
#include "tessera/solvers/fit.h"

namespace tessera::solvers::detail {

/// Takes the trained leaves out of all, and puts them back.
class TrainedLeaves {
 public:
  /// Throws for rules that do not fit the names or the optimizer.
  TrainedLeaves(const LeafNames& names, const FitOptions& o, const Leaves& params,
                const OptimizerState& state);

  Leaves of(const Leaves& all) const { return at(all, trained_); }
  Leaves others(const Leaves& all) const { return at(all, frozen_); }
  /// All of them again.
  Leaves joined(const Leaves& trained, const Leaves& others) const;

  /// Parameters and state of the trained leaves, taken out: nobody else has them.
  std::pair<Leaves, OptimizerState> take(Leaves& params, OptimizerState& state) const;
  void put_back(std::pair<Leaves, OptimizerState> now, Leaves& params, OptimizerState& state) const;

  /// One step of the trained leaves, at the rate of `o` times `factor`.
  std::pair<Leaves, OptimizerState> step(const Leaves& params, const Leaves& gradient,
                                         const OptimizerState& state, const Tensor& factor,
                                         const FitOptions& o) const;

 private:
  using Numbers = std::vector<std::size_t>;
  static Leaves at(const Leaves& all, const Numbers& which);

  Numbers trained_, frozen_;
  std::vector<LeafGroup> groups_;  ///< which count the trained leaves alone
};

}  // namespace tessera::solvers::detail
