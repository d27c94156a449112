// SPDX-License-Identifier: Apache-2.0
//
// The recurrent layer against PyTorch's values and gradients, its second derivatives and edges.
#include "error_text.h"
#include "nn_reference.h"
#include "tessera/autodiff/nn.h"

using namespace tessera;
using namespace tessera::testing;

namespace {

std::map<std::string, TensorFunction> recurrent_layers() {
  return {{"gru", [](const Tensors& x) {
             return nn::Gru{{x[2], x[3]}, {x[4], x[5]}}(x[0], x[1]).first;
           }}};
}

}  // namespace

TEST(Gru, HasPyTorchsValuesAndGradients) { expect_pytorchs(recurrent_layers(), 1e-13); }

TEST(Gru, HasSecondDerivativesAndBatches) { expect_orders_and_batches(recurrent_layers()); }

TEST(Gru, OfFewSteps) {
  const nn::Gru g = nn::gru(random_key(1), 3, 2);
  const Tensor x = normal(random_key(2), {4, 5, 3});
  const auto [all, end] = g(x);
  EXPECT_EQ(end.to_vector(), select(all, 1, 4).to_vector());
  // One step is the first of many; two runs in turn are one.
  EXPECT_LE(deviation(g(slice(x, 1, 0, 1)).first, slice(all, 1, 0, 1)), 1e-15);
  const Tensor half = g(slice(x, 1, 0, 2)).second;
  EXPECT_LE(deviation(g(slice(x, 1, 2, 5), half).second, end), 1e-15);
  const auto [none, start] = g(zeros({4, 0, 3}));
  EXPECT_EQ(none.shape(), (Shape{4, 0, 2}));
  EXPECT_EQ(start.to_vector(), std::vector<double>(8, 0.0));
  EXPECT_EQ(g(zeros({0, 5, 3})).first.shape(), (Shape{0, 5, 2}));
  EXPECT_EQ(g(zeros({5, 3})).second.shape(), (Shape{2}));
  EXPECT_NE(message_of([&] { g(zeros({5, 2})); }).find("[..., steps, 3]"), std::string::npos);
}
