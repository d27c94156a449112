// SPDX-License-Identifier: Apache-2.0
//
// Attention and transformer blocks against PyTorch's values and gradients, their second
// derivatives, and rows and tokens that see nothing.
#include "error_text.h"
#include "nn_reference.h"
#include "tessera/autodiff/nn.h"

using namespace tessera;
using namespace tessera::testing;

namespace {

/// Rows from `first` of the triangle whose row i sees 0 ... i.
Tensor rows_of_triangle(Index n, Index first) {
  return arange(n) <= expand_dims(arange(n - first) + first, 1);
}

std::map<std::string, TensorFunction> attentions() {
  std::map<std::string, TensorFunction> f;
  f["attention_plain"] = [](const Tensors& x) { return nn::attention(x[0], x[1], x[2]); };
  for (const char* name : {"attention_causal", "attention_cached"})
    f[name] = [](const Tensors& x) { return nn::attention(x[0], x[1], x[2], {.causal = true}); };
  f["attention_boolean"] = [](const Tensors& x) {
    const Tensor sees = tensor({1, 0, 1, 0, 1, 1, 1, 1, 1, 0, 0, 1}, {4, 3});
    return nn::attention(x[0], x[1], x[2], {.mask = not_equal(sees, 0)});
  };
  f["attention_added"] = [](const Tensors& x) {
    return nn::attention(x[0], x[1], x[2], {.mask = x[3]});
  };
  const auto layer = [](const Tensors& x, std::size_t k) {
    return nn::MultiHeadAttention{{x[k], x[k + 1]}, {x[k + 2], x[k + 3]}, 2};
  };
  f["attention_self"] = [=](const Tensors& x) { return layer(x, 1)(x[0]); };
  f["attention_cross"] = [=](const Tensors& x) {
    return layer(x, 2)(x[0], x[1], {.mask = rows_of_triangle(4, 1)});
  };
  f["attention_block"] = [](const Tensors& x) {
    const auto like = nn::transformer_block(random_key(1), 4, 2);
    return unflatten_tree(like, Tensors(x.begin() + 1, x.end()))(x[0], {.causal = true});
  };
  return f;
}

}  // namespace

TEST(Attention, HasPyTorchsValuesAndGradients) { expect_pytorchs(attentions(), 1e-13); }

TEST(Attention, HasSecondDerivativesAndBatches) { expect_orders_and_batches(attentions()); }

TEST(Attention, OfRowsThatSeeNothing) {
  const Tensor q = normal(random_key(1), {3, 2, 4}), k = normal(random_key(2), {5, 2, 4}),
               v = normal(random_key(3), {5, 2, 2});
  // Row 1 sees nothing, by either mask; the others are as without it.
  const Tensor sees = not_equal(arange(3), 1);
  const Tensor none = expand_dims(sees, 1), minus = where(none, 0.0, -INFINITY);
  const Tensor free = nn::attention(q, k, v);
  for (const Tensor& mask : {none, minus}) {
    const auto f = [&](const Tensors& x) {
      return nn::attention(x[0], x[1], x[2], {.mask = mask});
    };
    const Tensor y = f({q, k, v});
    EXPECT_EQ(select(y, 0, 1).to_vector(), std::vector<double>(4, 0.0));
    EXPECT_LE(deviation(select(y, 0, 2), select(free, 0, 2)), 1e-15);  // numbers: by all scores
    const CheckReport report = gradcheck(f, Tensors{q, k, v}, {.order = 2});
    EXPECT_TRUE(report) << to_string(report);
    const Tensors g = grad([&](const Tensors& x) { return sum(square(f(x))); })(Tensors{q, k, v});
    EXPECT_EQ(select(g[0], 0, 1).to_vector(), std::vector<double>(8, 0.0));
  }
  // Fewer keys than queries: the first query lies before all keys.
  const Tensor late = nn::attention(q, slice(k, 0, 0, 2), slice(v, 0, 0, 2), {.causal = true});
  EXPECT_EQ(select(late, 0, 0).to_vector(), std::vector<double>(4, 0.0));
  EXPECT_LE(deviation(select(late, 0, 1), select(v, 0, 0)), 1e-15);
}

TEST(Attention, OfFewTokens) {
  const Tensor one = normal(random_key(1), {1, 2, 4});
  EXPECT_LE(deviation(nn::attention(one, one, one, {.causal = true}), one), 1e-15);
  EXPECT_EQ(nn::attention(zeros({3, 2, 4}), zeros({0, 2, 4}), zeros({0, 2, 5})).to_vector(),
            std::vector<double>(30, 0.0));
  EXPECT_EQ(nn::attention(zeros({0, 2, 4}), one, one).shape(), (Shape{0, 2, 4}));
  const auto block = nn::transformer_block(random_key(1), 4, 1);
  EXPECT_EQ(block(zeros({0, 3, 4})).shape(), (Shape{0, 3, 4}));
  EXPECT_EQ(block(zeros({3, 4})).shape(), (Shape{3, 4}));
  // Large scores do not overflow: the key that points with the query takes all.
  const Tensor q = full({1, 1, 1}, 1e3), k = tensor({1e3, -1e3}, {2, 1, 1});
  EXPECT_EQ(nn::attention(q, k, tensor({2.0, 7.0}, {2, 1, 1})).item(), 2);
}

TEST(Attention, RefusesWhatDoesNotFit) {
  EXPECT_NE(message_of([] { nn::multi_head_attention(random_key(1), 6, 4); }).find("4 heads"),
            std::string::npos);
  const Tensor x = zeros({3, 2, 4});
  EXPECT_NE(message_of([&] {
              nn::attention(x, zeros({3, 2, 5}), x);
            }).find("differ"),
            std::string::npos);
  EXPECT_NE(message_of([&] { nn::attention(zeros({4}), x, x); }).find("[..., tokens, heads"),
            std::string::npos);
  EXPECT_NE(message_of([] { nn::sinusoidal_positions(4, 3); }).find("even"), std::string::npos);
  const nn::PositionEmbedding two{zeros({2, 4})};
  EXPECT_NE(message_of([&] { two(zeros({3, 4})); }).find("2 positions"), std::string::npos);
}

TEST(Attention, DropsByItsKeyAndKnowsPositions) {
  const auto block = nn::transformer_block(random_key(1), 4, 2, 0.5);
  const Tensor x = normal(random_key(2), {3, 4});
  EXPECT_EQ(block.train(x, random_key(3)).to_vector(), block.train(x, random_key(3)).to_vector());
  EXPECT_NE(block.train(x, random_key(3)).to_vector(), block.train(x, random_key(4)).to_vector());
  auto without = block;
  without.dropout = 0;
  EXPECT_EQ(without.train(x, random_key(3)).to_vector(), without(x).to_vector());
  const Tensor p = nn::sinusoidal_positions(3, 4);
  EXPECT_EQ(select(p, 0, 0).to_vector(), (std::vector<double>{0, 1, 0, 1}));
  const std::vector<double> last = {std::sin(2.0), std::cos(2.0), std::sin(0.02), std::cos(0.02)};
  EXPECT_LE(deviation(select(p, 0, 2), tensor(last)), 1e-15);
}
