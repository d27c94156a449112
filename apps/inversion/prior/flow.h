// SPDX-License-Identifier: Apache-2.0
// The second stage of learning: where among all codes those of sections lie.
#pragma once
#include "inversion/prior/options.h"
#include "tessera/inversion/section_prior.h"

#include <functional>
#include <optional>

namespace tessera::apps::prior {

/// Minus ln of the density of held-out sections' codes, by code, each drawn as the encoder says.
struct FlowGain {
  double before = 0;  ///< under N(0, 1)
  double after = 0;   ///< under the map
};
/// The map between codes and normal numbers, learnt from sections 0, ..., train - 1 of `read`
/// (first, end) -> f32 [sections, rows, columns], chosen by the `validation` behind them. Nothing
/// where `go_on` gave false.
std::optional<std::pair<inversion::CodeFlow, FlowGain>> learnt_flow(
    const inversion::SectionPrior& p, const PriorOptions& o,
    const std::function<Tensor(Index first, Index end)>& read, Index train, Index validation,
    const std::function<bool()>& go_on);

}  // namespace tessera::apps::prior
