// SPDX-License-Identifier: Apache-2.0
#include "inversion/prior/flow.h"

#include "tessera/autodiff/error.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/ops.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tessera::apps::prior {
namespace {

nn::NormalCode codes_of(const inversion::SectionPrior& p,
                        const std::function<Tensor(Index, Index)>& read, Index count) {
  const auto encode = jit([&p](const Tensor& x) { return p.code_of(x); });
  std::vector<Tensor> mean, log_variance;
  constexpr Index kBatch = 256;
  for (Index k = 0; k < count; k += kBatch) {
    const nn::NormalCode c = encode(read(k, std::min(count, k + kBatch)));
    mean.push_back(c.mean), log_variance.push_back(c.log_variance);
  }
  return {concatenate(mean, 0), concatenate(log_variance, 0)};
}

}  // namespace

std::optional<std::pair<inversion::CodeFlow, FlowGain>> learnt_flow(
    const inversion::SectionPrior& p, const PriorOptions& o,
    const std::function<Tensor(Index first, Index end)>& read, Index train, Index validation,
    const std::function<bool()>& go_on) {
  const nn::NormalCode all = codes_of(p, read, train + validation);
  const auto part = [&](Index first, Index end) {
    return nn::NormalCode{slice(all.mean, 0, first, end), slice(all.log_variance, 0, first, end)};
  };
  const Index batch = std::min<Index>(128, train), steps = (train + batch - 1) / batch;
  const solvers::FitOptions fit{.epochs = o.flow_epochs,
                                .batch = batch,
                                .seed = o.seed + 2,
                                .rate = cosine_rate(1e-3, o.flow_epochs * steps),
                                .clip_norm = 10.0};
  auto state =
      solvers::begin_fit(inversion::code_flow(random_key(o.seed + 2), o.codes,
                                              {.couplings = o.couplings, .width = o.flow_width}),
                         fit);
  bool stopped = false;
  const solvers::FitEnd end = solvers::fit(
      inversion::flow_loss, inversion::flow_loss, state, solvers::in_memory(part(0, train)),
      solvers::in_memory(part(train, train + validation)), fit,
      solvers::GoOn<inversion::CodeFlow>(
          [&](const solvers::FitState<inversion::CodeFlow>&) { return !(stopped = !go_on()); }));
  if (stopped) return std::nullopt;
  if (!end) throw Error("[learnt_flow] " + to_string(end));
  const nn::NormalCode held = part(train, train + validation);
  const double square_of_draw = mean(square(held.mean) + exp(held.log_variance)).item<float>();
  return std::pair(state.best, FlowGain{0.5 * (square_of_draw + std::log(2 * std::numbers::pi)),
                                        state.best_loss});
}

}  // namespace tessera::apps::prior
