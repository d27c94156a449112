// SPDX-License-Identifier: Apache-2.0
// How far predictions are from what is known.
#pragma once
#include "tessera/autodiff/tensor.h"

#include <cstdint>
#include <vector>

namespace tessera::apps::training {

/// Of predictions y and targets t of real numbers [n, ...], in their own units.
struct RealErrors {
  double relative_l2 = 0;  ///< mean over the samples of |y - t| / |t|
  double rmse = 0, r2 = 0, largest = 0;
  std::vector<double> of_sample;  ///< |y - t| / |t|
};
RealErrors real_errors(const Tensor& predicted, const Tensor& target);

/// Of logits [n..., classes] and labels [n...].
struct LabelErrors {
  double accuracy = 0, cross_entropy = 0;
  std::vector<std::int64_t> predicted, known;
  std::int64_t classes = 0;
  /// Labels by what was predicted: [known, predicted].
  std::vector<std::int64_t> confusion;
};
LabelErrors label_errors(const Tensor& logits, const Tensor& labels);

}  // namespace tessera::apps::training
