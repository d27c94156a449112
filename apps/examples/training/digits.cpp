// SPDX-License-Identifier: Apache-2.0
// digits.toml by calls of the library: `example_training_digits digits.npz weights.safetensors`
// writes the weights of `tessera run`, bit for bit. Without a file it tells bright from dark.
#include "tessera/autodiff/nn.h"
#include "tessera/autodiff/ops.h"
#include "tessera/data/arrays.h"
#include "tessera/data/safetensors.h"
#include "tessera/data/split.h"
#include "tessera/data/transforms.h"
#include "tessera/solvers/fit.h"

#include <iostream>

using namespace tessera;
using Kind = nn::LayerKind;
struct Pictures {
  Tensor x, labels;
  TESSERA_TREE(x, labels)
};
using Batch = solvers::Batch<Pictures>;

int main(int argc, char** argv) {
  const Tensor bright = cast(uniform(random_key(6), {300, 1, 1, 1}) < 0.5, Dtype::f64);
  const Tensor images = argc > 1 ? data::read_array(argv[1], "images")
                                 : uniform(random_key(5), {300, 8, 8, 1}) + 0.2 * bright;
  const Tensor labels =
      argc > 1 ? data::read_array(argv[1], "labels") : cast(reshape(bright, {300}), Dtype::i64);

  const data::Split split = data::split_at_random(images.dim(0), {0.1, 0.2003}, 1);
  const data::Transforms range =
      data::fit_transforms({{.kind = data::TransformKind::range, .together = true}},
                           take(images, tensor(split.train), 0));
  const auto part = [&](const std::vector<Index>& which) {
    const Tensor x = range.apply(take(images, tensor(which), 0));
    return Pictures{cast(x, Dtype::f32), take(labels, tensor(which), 0)};
  };

  const nn::LayerSpec relu{.kind = Kind::activation}, pool{.kind = Kind::max_pool, .size = {2, 2}},
      narrow{.kind = Kind::conv, .width = 32, .size = {3, 3}},
      wide{.kind = Kind::conv, .width = 64, .size = {3, 3}};
  const nn::Sequential start = nn::sequential(random_key(1),
                                              {narrow,
                                               relu,
                                               narrow,
                                               relu,
                                               pool,
                                               {.kind = Kind::dropout, .rate = 0.25},
                                               wide,
                                               relu,
                                               pool,
                                               {.kind = Kind::flatten},
                                               {.kind = Kind::dropout, .rate = 0.5},
                                               {.width = 128},
                                               relu,
                                               {.width = 10}},
                                              {8, 8, 1}, {.dtype = Dtype::f32});
  const auto loss = [](const nn::Sequential& m, const Batch& b) {
    return nn::cross_entropy(m.train(b.data.x, b.keys), b.data.labels);
  };
  const auto validate = [](const nn::Sequential& m, const Batch& b) {
    return nn::cross_entropy(m(b.data.x), b.data.labels);
  };
  const Index steps = (std::ssize(split.train) + 63) / 64;
  const solvers::FitOptions o{
      .epochs = 60, .batch = 64, .rate = cosine_rate(2e-3, 60 * steps, 0.01)};
  auto state = solvers::begin_fit(start, o);
  solvers::fit(loss, validate, state, solvers::in_memory(part(split.train)),
               solvers::in_memory(part(split.validation)), o);

  const Pictures test = part(split.test);
  const double accuracy = nn::accuracy(state.best(test.x), test.labels).item();
  std::cout << "accuracy " << accuracy << ", best epoch " << state.best_epoch + 1 << "\n";
  if (argc > 2) data::write_safetensors(argv[2], data::named_leaves(state.best));
  return accuracy > 0.9 ? 0 : 1;
}
