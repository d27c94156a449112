// SPDX-License-Identifier: Apache-2.0
// Losses, metrics, schedules and optimizers as the options name them.
#pragma once
#include "solvers/training/run.h"
#include "tessera/solvers/fit.h"

#include <optional>

namespace tessera::apps::training {

struct Pairs {
  Tensor x, y;
  TESSERA_TREE(x, y)
};
using Batch = solvers::Batch<Pairs>;
using State = solvers::FitState<Network>;

/// Inputs as the network takes them; targets as the loss takes them.
Pairs prepared(const Problem& p, const std::vector<std::int64_t>& samples);

/// Of a batch of prepared samples, with what only training has: [[augment]] and dropout; and the
/// network whose batch norms have seen it.
std::pair<Tensor, Network> training_loss(const Problem& p, const Network& net, const Batch& b);
/// Without, and the metrics beside it: accuracy of labels; else the mean relative L2 and the mean
/// square error, both in the targets' own units.
std::pair<Tensor, std::vector<Tensor>> validation_loss(const Problem& p, const Network& net,
                                                       const Batch& b);
/// Names of these metrics as columns, and of those as they are written: a root of mean squares.
std::vector<std::string> metric_names(const Options& o);
std::vector<double> written(const Options& o, const std::vector<double>& metrics);

solvers::FitOptions fit_options(const Problem& p);

/// What early stopping knows after these epochs; the number of the first epoch, from 1, with which
/// it ends the training, where there is one.
solvers::EarlyStopping stopping_after(const Problem& p,
                                      const std::vector<solvers::FitEpoch>& curves);
std::optional<std::int64_t> ended_early(const Problem& p,
                                        const std::vector<solvers::FitEpoch>& curves);

/// Only while it trains: what `fit` calls.
solvers::FitEnd train(const Problem& p, State& s, const solvers::GoOn<Network>& go_on);

}  // namespace tessera::apps::training
