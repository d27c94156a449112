// SPDX-License-Identifier: Apache-2.0
//
// Training: parameters of any function of a tree, fitted to samples batch by batch.
//
//   const auto loss = [](const nn::Mlp& m, const Batch<Pairs>& b) {
//     return nn::mean_square(m(b.data.x), b.data.y);       // a mean over the samples
//   };
//   FitOptions o{.epochs = 50, .rate = cosine_rate(1e-3, 50 * 20), .early_stopping = {{}}};
//   auto state = begin_fit(nn::mlp(random_key(1), {3, 32, 1}), o);
//   const FitEnd end = fit(loss, state, in_memory(train), in_memory(validation), o);
//   state.best                                             // parameters of the best epoch
//
// All that changes is in the state: who keeps it, after any step, goes on from there to the same
// bits. Order and keys of the samples are functions of seed, epoch and sample, whatever the number
// of threads and loaders. Nothing is chosen by the samples that are tested on: give `fit` none of
// them.
#pragma once
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/ops/random.h"
#include "tessera/autodiff/optimize.h"
#include "tessera/solvers/averages.h"
#include "tessera/solvers/leaf_rules.h"
#include "tessera/solvers/stopping.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tessera::solvers {

/// Samples by number, in [0, count): a tree of tensors whose first axis is the samples. With
/// FitOptions::loaders `read` is called by several threads at once.
template <IsTree B>
struct Samples {
  Index count = 0;
  std::function<B(std::span<const Index> samples)> read;
};
/// All samples as one tree; the first axes of its leaves are equal, else it throws.
template <IsTree B>
Samples<B> in_memory(B all);

/// What a loss sees: some samples, and a key u32 [samples, 2] for each, for dropout and noise.
template <IsTree B>
struct Batch {
  B data;
  Tensor keys;
  TESSERA_TREE(data, keys)
};

struct FitOptions {
  Index epochs = 100;
  Index batch = 32;  ///< samples of a step; the last one of an epoch takes what is left
  /// A step's samples are cut into that many; the gradients of the parts, weighted by their
  /// samples, are summed by one binary tree.
  Index parts = 1;
  /// Workers that take the parts of a batch side by side and share out the caller's threads; 1: the
  /// caller takes them in turn. Results do not depend on it.
  int workers = 1;
  std::uint64_t seed = 1;
  bool shuffle = true;
  int loaders = 0;  ///< threads that read ahead, one batch each at a time; 0: the caller's reads
  std::function<Optimizer(Schedule)> optimizer = [](Schedule rate) { return adam(rate); };
  Schedule rate = constant_rate(1e-3);   ///< by steps
  std::vector<LeafRule> rules = {};      ///< what is different for leaves of some names
  std::optional<double> clip_norm = {};  ///< of the gradient of the trained leaves (clip_by_norm)
  std::optional<AverageOptions> average = {};  ///< of the parameters, which validation then takes
  std::optional<PlateauOptions> plateau = {};
  std::optional<EarlyStoppingOptions> early_stopping = {};
};

/// The curves, an epoch a row.
struct FitEpoch {
  double loss = 0;         ///< mean over the samples, of each with the parameters at its step
  double validation = 0;   ///< mean over the validation's samples at the end; NaN without any
  double rate_factor = 1;  ///< by the plateaus so far
  std::vector<double> metrics = {};  ///< what `validate` gives beside, means over the samples
};

template <IsTree P>
struct FitState {
  P params;
  OptimizerState optimizer;
  Index epoch = 0, step = 0;  ///< steps within the epoch
  double loss_sum = 0;        ///< over the samples of the epoch so far
  Plateau plateau;
  EarlyStopping stopping;
  P best;  ///< of the epoch with the least validation (training) loss; averaged, where they are
  double best_loss = std::numeric_limits<double>::infinity();
  Index best_epoch = -1;
  std::vector<FitEpoch> curves = {};
  std::optional<P> average = {};  ///< nothing without FitOptions::average, or before its first
  Index averaged = 0;             ///< how many parameters are in it
};
template <IsTree P>
FitState<P> begin_fit(const P& params, const FitOptions& o) {
  return {params, o.optimizer(o.rate).init(params), 0, 0, 0, {}, {}, params};
}

struct FitEnd {
  enum class Reason {
    all_epochs,
    early,       ///< by early_stopping
    not_finite,  ///< the loss of `samples` at `step` of `epoch`; the parameters are those before
    stopped      ///< `go_on` gave false
  } reason = Reason::all_epochs;
  Index epoch = 0, step = 0;
  std::vector<Index> samples = {};
  std::string cause = {};  ///< of not_finite: the operation that first gave such a number, its line
  explicit operator bool() const { return reason != Reason::not_finite; }
};
std::string to_string(const FitEnd& end);

/// What is asked after each step and each epoch: false ends the training, which may go on later.
template <IsTree P>
using GoOn = std::function<bool(const FitState<P>&)>;

namespace detail {
using Leaves = std::vector<Tensor>;
Samples<Leaves> checked_in_memory(Leaves all);
/// The loss gives itself, and behind it nothing or leaves like the parameters.
FitEnd fit_flat(const std::function<Leaves(const Leaves& params, const Leaves& batch)>& loss,
                const std::function<Leaves(const Leaves& params, const Leaves& batch)>& validate,
                FitState<Leaves>& s, const LeafNames& names, const Samples<Leaves>& train,
                const Samples<Leaves>& validation, const FitOptions& o, const GoOn<Leaves>& go_on);

template <IsTree P, IsTree Q, class F, class G>
FitState<Q> with_params(FitState<P> s, const F& params, const G& best) {
  return {params(std::move(s.params)),
          std::move(s.optimizer),
          s.epoch,
          s.step,
          s.loss_sum,
          s.plateau,
          s.stopping,
          best(std::move(s.best)),
          s.best_loss,
          s.best_epoch,
          std::move(s.curves),
          s.average ? std::optional<Q>(best(*std::move(s.average))) : std::nullopt,
          s.averaged};
}
}  // namespace detail

/// Goes on with `state` until its epochs are done. `loss` and `validate` are functions of
/// parameters and a Batch that give a real scalar, a mean over the samples, or a pair whose first
/// it is; of `validate` the second is a tree of real scalars, too, which the curves keep as
/// metrics. `validate` leaves out what only training has, such as dropout. Leaves that a rule
/// freezes keep their bits; the loss is not differentiated in them. Where the second of a loss is a
/// tree like the parameters, frozen leaves that it changes take their values from it at each step
/// (of parts, the mean by their samples): what a network has seen, as the running statistics of
/// batch norm. Throws for no samples, for
/// options out of their range, for rules that name no leaf, and what a reader throws.
template <class L, class V, IsTree P, IsTree B>
FitEnd fit(const L& loss, const V& validate, FitState<P>& state, const Samples<B>& train,
           const Samples<B>& validation, const FitOptions& o, const GoOn<P>& go_on = {}) {
  using detail::Leaves;
  const P like = state.params;
  const auto tree = [&like](const Leaves& leaves) { return unflatten_tree(like, leaves); };
  // Batches are built by a first one, whose tensors are not kept.
  const auto one = [](const Samples<B>& s) {
    if (s.count < 1) return std::optional<B>();
    const Index first[] = {0};
    B b = s.read(first);
    return std::optional<B>(unflatten_tree(b, Leaves(flatten_tree(b).size())));
  };
  const std::optional<B> form = one(train);
  const auto on_leaves = [&](const auto& f) {
    return [&f, &tree, &form](const Leaves& params, const Leaves& batch) {
      const Leaves data(batch.begin(), batch.end() - 1);
      return f(tree(params), Batch<B>{unflatten_tree(*form, data), batch.back()});
    };
  };
  const auto loss_leaves = [f = on_leaves(loss)](const Leaves& params, const Leaves& batch) {
    const auto y = f(params, batch);
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(y)>, std::pair<Tensor, P>>)
      return flatten_tree(y);
    else
      return Leaves{flatten_tree(y).front()};
  };
  const auto judged = [f = on_leaves(validate)](const Leaves& params, const Leaves& batch) {
    const auto y = f(params, batch);
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(y)>, std::pair<Tensor, P>>)
      return Leaves{y.first};
    else
      return flatten_tree(y);
  };
  const auto reader = [](const Samples<B>& s) {
    return Samples<Leaves>{
        s.count, [&s](std::span<const Index> which) { return flatten_tree(s.read(which)); }};
  };
  const auto leaves_of = [](P p) { return flatten_tree(p); };
  FitState<Leaves> s = detail::with_params<P, Leaves>(std::move(state), leaves_of, leaves_of);
  GoOn<Leaves> ask;
  if (go_on)
    ask = [&](const FitState<Leaves>& now) {
      return go_on(detail::with_params<Leaves, P>(now, tree, tree));
    };
  const auto give_back = [&] { state = detail::with_params<Leaves, P>(std::move(s), tree, tree); };
  FitEnd end;
  try {
    end = detail::fit_flat(loss_leaves, judged, s, leaf_names(like), reader(train),
                           reader(validation), o, ask);
  } catch (...) {
    give_back();
    throw;
  }
  give_back();
  return end;
}
template <class L, IsTree P, IsTree B>
FitEnd fit(const L& loss, FitState<P>& state, const Samples<B>& train, const Samples<B>& validation,
           const FitOptions& o, const GoOn<P>& go_on = {}) {
  return fit(loss, loss, state, train, validation, o, go_on);
}

template <IsTree B>
Samples<B> in_memory(B all) {
  const Samples<detail::Leaves> flat = detail::checked_in_memory(flatten_tree(all));
  return {flat.count, [all = std::move(all), flat](std::span<const Index> samples) {
            return unflatten_tree(all, flat.read(samples));
          }};
}

}  // namespace tessera::solvers
