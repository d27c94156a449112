// SPDX-License-Identifier: Apache-2.0
#include "solvers/training/errors.h"

#include "tessera/autodiff/nn/losses.h"
#include "tessera/autodiff/ops.h"

namespace tessera::apps::training {

RealErrors real_errors(const Tensor& predicted, const Tensor& target) {
  const Index n = target.dim(0), each = n ? target.size() / n : 0;
  const Tensor y = reshape(predicted, {n, each}), t = reshape(target, {n, each});
  const Tensor off = y - t;
  const Tensor of_sample = sqrt(sum(square(off), {1}) / sum(square(t), {1}));
  return {.relative_l2 = mean(of_sample).item(),
          .rmse = sqrt(mean(square(off))).item(),
          .r2 = nn::r_squared(y, t).item(),
          .largest = max(abs(off)).item(),
          .of_sample = of_sample.to_vector<double>()};
}

LabelErrors label_errors(const Tensor& logits, const Tensor& labels) {
  LabelErrors e{.classes = logits.dim(-1)};
  const Tensor guess = argmax(logits, -1);
  e.predicted = cast(guess, Dtype::i64).to_vector<Index>();
  e.known = labels.to_vector<Index>();
  e.accuracy = nn::accuracy(logits, labels).item();
  e.cross_entropy = nn::cross_entropy(logits, labels).item();
  e.confusion.resize(static_cast<std::size_t>(e.classes * e.classes));
  for (std::size_t k = 0; k < e.known.size(); ++k)
    ++e.confusion[static_cast<std::size_t>(e.known[k] * e.classes + e.predicted[k])];
  return e;
}

}  // namespace tessera::apps::training
