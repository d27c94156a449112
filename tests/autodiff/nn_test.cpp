// SPDX-License-Identifier: Apache-2.0
//
// Layers, activations and losses against PyTorch's values and gradients (references/
// make_nn_reference.py), their second derivatives, and their edges.
#include "tessera/autodiff/nn.h"

#include "error_text.h"
#include "nn_reference.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/optimize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

using namespace tessera;
using namespace tessera::testing;

namespace {

Tensor labels_of(const Tensor& t) { return cast(t, Dtype::i64); }

std::map<std::string, TensorFunction> layers_and_losses() {
  std::map<std::string, TensorFunction> f;
  for (const std::string_view name : nn::activation_names()) {
    const nn::Activation a = *nn::activation_of(name);
    if (a == nn::Activation::identity || a == nn::Activation::sine) continue;
    f.emplace(name, [a](const Tensors& x) { return nn::activate(a, x[0]); });
  }
  f["linear"] = [](const Tensors& x) { return nn::Linear{x[1], x[2]}(x[0]); };
  f["layer_norm"] = [](const Tensors& x) { return nn::LayerNorm{x[1], x[2]}(x[0]); };
  f["group_norm"] = [](const Tensors& x) { return nn::GroupNorm{x[1], x[2], 3}(x[0]); };
  f["batch_norm_train"] = [](const Tensors& x) {
    return nn::BatchNorm{x[1], x[2]}.train(x[0], {zeros({4}), ones({4})}).first;
  };
  f["batch_norm_run"] = [](const Tensors& x) {
    return nn::BatchNorm{x[1], x[2]}(x[0], {x[3], x[4]});
  };
  const auto running = [](const Tensor& x) {
    const auto [layer, statistics] = nn::batch_norm(3);
    return layer.train(x, statistics).second;
  };
  f["running_mean"] = [=](const Tensors& x) {
    return broadcast_to(running(x[0]).mean, x[0].shape());
  };
  f["running_variance"] = [=](const Tensors& x) {
    return broadcast_to(running(x[0]).variance, x[0].shape());
  };
  f["embedding"] = [](const Tensors& x) { return nn::Embedding{x[1]}(labels_of(x[0])); };
  f["mean_square"] = [](const Tensors& x) { return nn::mean_square(x[0], x[1]); };
  f["mean_absolute"] = [](const Tensors& x) { return nn::mean_absolute(x[0], x[1]); };
  f["huber"] = [](const Tensors& x) { return nn::huber(x[0], x[1], 0.7); };
  f["relative_l2"] = [](const Tensors& x) { return nn::relative_l2(x[0], x[1]); };
  f["cross_entropy"] = [](const Tensors& x) { return nn::cross_entropy(x[0], labels_of(x[1])); };
  f["cross_entropy_smooth"] = [](const Tensors& x) {
    return nn::cross_entropy(x[0], labels_of(x[1]), 0.1);
  };
  f["cross_entropy_of"] = [](const Tensors& x) { return nn::cross_entropy_of(x[0], x[1]); };
  f["binary_cross_entropy"] = [](const Tensors& x) { return nn::binary_cross_entropy(x[0], x[1]); };
  f["kl_normal"] = [](const Tensors& x) { return nn::kl_normal(x[0], x[1]); };
  // A layer of these sizes with the weights in place of its own.
  const auto with = [](nn::Conv c, const Tensors& x) {
    c.w = x[1];
    c.b = x.size() > 2 ? std::optional(x[2]) : std::nullopt;
    return c(x[0]);
  };
  const Tensor key = random_key(0);
  f["conv_same"] = [=](const Tensors& x) { return with(nn::conv(key, {5}, 3, 4), x); };
  f["conv_stride"] = [=](const Tensors& x) {
    return with(nn::conv(key, {3, 3}, 2, 3, {.stride = {2, 2}}), x);
  };
  f["conv_groups"] = [=](const Tensors& x) {
    return with(
        nn::conv(key, {2, 3}, 4, 6, {.dilation = {1, 2}, .border = nn::Border::none, .groups = 2}),
        x);
  };
  f["conv_transpose_4"] = [=](const Tensors& x) {
    return with(nn::conv_transpose(key, {4, 4}, 3, 2, {.stride = {2, 2}}), x);
  };
  f["conv_transpose_3"] = [=](const Tensors& x) {
    return with(nn::conv_transpose(key, {3}, 3, 2, {.stride = {2}}), x);
  };
  f["conv_transpose_full"] = [=](const Tensors& x) {
    return with(nn::conv_transpose(key, {3}, 2, 2, {.stride = {3}, .border = nn::Border::none}), x);
  };
  f["max_pool"] = [](const Tensors& x) { return nn::max_pool(x[0], {2, 3}); };
  f["mean_pool"] = [](const Tensors& x) { return nn::mean_pool(x[0], {3}); };
  f["global_mean_pool"] = [](const Tensors& x) { return nn::global_mean_pool(x[0]); };
  f["upsample_nearest"] = [](const Tensors& x) { return nn::upsample_nearest(x[0], {2, 3}); };
  return f;
}

}  // namespace

TEST(Nn, HasPyTorchsValuesAndGradients) { expect_pytorchs(layers_and_losses(), 1e-14); }

TEST(Nn, AllHaveSecondDerivativesAndBatches) {
  // A kink within the step of a difference, and statistics that pass no derivative on.
  expect_orders_and_batches(layers_and_losses(), {"relu", "leaky_relu", "elu", "mean_absolute",
                                                  "huber", "running_mean", "running_variance"});
}

TEST(Activations, AtTheirKinksAndFarOff) {
  const auto slope = [](Tensor (*f)(Arg), double x) { return grad(f)(Tensor(x)).item(); };
  EXPECT_EQ(slope(nn::relu, 0.0), 0);
  EXPECT_EQ(slope(nn::relu, -0.0), 0);
  EXPECT_EQ(slope(nn::elu, 0.0), 1);
  EXPECT_EQ(slope(nn::elu, 1e4), 1);  // e^x overflows there
  EXPECT_EQ(grad([](Tensor x) { return nn::leaky_relu(x, 0.2); })(Tensor(0.0)).item(), 0.2);
  EXPECT_TRUE(std::isnan(nn::relu(Tensor(std::nan(""))).item()));
  EXPECT_TRUE(std::isnan(nn::elu(Tensor(std::nan(""))).item()));
  // x erfc(-x / sqrt 2) / 2 at -10: 50 digits by mpmath, -7.6198530241605260660e-23.
  EXPECT_NEAR(nn::gelu(Tensor(-10.0)).item() / -7.6198530241605260660e-23, 1, 1e-14);
  for (const double x : {-800.0, 800.0})
    for (const std::string_view name : nn::activation_names()) {
      const nn::Activation a = *nn::activation_of(name);
      const auto [y, g] = value_and_grad([a](Tensor t) { return nn::activate(a, t); })(Tensor(x));
      EXPECT_TRUE(std::isfinite(y.item()) && std::isfinite(g.item())) << name << " at " << x;
    }
  for (const std::string_view name : nn::activation_names())
    EXPECT_EQ(nn::name_of(*nn::activation_of(name)), name);
  EXPECT_FALSE(nn::activation_of("Relu").has_value());
}

TEST(Initializers, HaveTheirVariances) {
  const nn::Fans fans{200, 300};
  const struct {
    nn::Initializer draw;
    double variance, bound;  ///< bound 0: normal
  } all[] = {{nn::glorot_uniform(), 2.0 / 500, std::sqrt(6.0 / 500)},
             {nn::glorot_normal(), 2.0 / 500, 0},
             {nn::he_uniform(), 2.0 / 200, std::sqrt(6.0 / 200)},
             {nn::he_normal(), 2.0 / 200, 0},
             {nn::lecun_normal(), 1.0 / 200, 0},
             {nn::fan_in_uniform(), 1.0 / 600, 1 / std::sqrt(200.0)}};
  for (const auto& [draw, expected, bound] : all) {
    const Tensor w = draw(random_key(3), {200, 300}, fans, Dtype::f64);
    // 60,000 draws: standard errors of the variance at most sqrt(2 / 60,000) = 0.6 %.
    EXPECT_NEAR(variance(w).item() / expected, 1, 0.03);
    EXPECT_NEAR(mean(w).item(), 0, 5 * std::sqrt(expected / 60000));
    if (bound > 0) {
      EXPECT_LE(max(abs(w)).item(), bound);
    }
    EXPECT_EQ(draw(random_key(3), {2, 2}, fans, Dtype::f32).dtype(), Dtype::f32);
  }
}

TEST(Mlp, LearnsAndIsATree) {
  const nn::Mlp net = nn::mlp(random_key(1), {2, 16, 16, 1}, {.activation = nn::Activation::tanh});
  EXPECT_EQ(leaf_names(net), (LeafNames{"layers.0.w", "layers.0.b", "layers.1.w", "layers.1.b",
                                        "layers.2.w", "layers.2.b"}));
  const Tensor x = 2.0 * uniform(random_key(2), {200, 2}) - 1.0;
  const Tensor y = expand_dims(select(x, 1, 0) * select(x, 1, 1), 1);
  const Optimizer o = adam(constant_rate(1e-2));
  const auto step = jit([&](nn::Mlp m, OptimizerState s) {
    const auto [l, g] =
        value_and_grad([&](const nn::Mlp& m) { return nn::mean_square(m(x), y); })(m);
    auto [next, state] = o.update(m, g, s);
    return std::tuple(next, state, l);
  });
  nn::Mlp m = net;
  OptimizerState s = o.init(m);
  Tensor loss;
  for (int k = 0; k < 600; ++k) std::tie(m, s, loss) = step(std::move(m), std::move(s));
  EXPECT_LT(loss.item(), 1e-4);  // of a variance of 1/9
  EXPECT_EQ(m.activation, nn::Activation::tanh);

  nn::Linear bare = nn::linear(random_key(1), 3, 2, {.bias = false});
  EXPECT_EQ(leaf_names(bare), LeafNames{"w"});
  EXPECT_EQ(grad([](const nn::Linear& l) {
              return sum(l(ones({4, 3})));
            })(bare)
                .w.to_vector(),
            std::vector<double>(6, 4.0));
  // Zero features, and no rows.
  EXPECT_EQ(nn::linear(random_key(1), 0, 2)(zeros({3, 0})).shape(), (Shape{3, 2}));
  EXPECT_EQ(net(zeros({0, 2})).shape(), (Shape{0, 1}));
  EXPECT_EQ(net(zeros({2})).shape(), (Shape{1}));
}

TEST(Dropout, KeepsTheMeanAndDrawsByItsKey) {
  const Tensor x = ones({200, 300});
  const Tensor y = nn::dropout(x, 0.3, random_key(5));
  EXPECT_NEAR(mean(y).item(), 1, 5 * std::sqrt(0.3 / 0.7 / 60000));
  for (const double v : y.to_vector()) ASSERT_TRUE(v == 0 || v == 1 / 0.7);
  EXPECT_EQ(nn::dropout(x, 0.3, random_key(5)).to_vector(), y.to_vector());
  EXPECT_NE(nn::dropout(x, 0.3, random_key(6)).to_vector(), y.to_vector());
  EXPECT_EQ(nn::dropout(x, 0, random_key(5)).to_vector(), x.to_vector());
  EXPECT_NE(message_of([&] { nn::dropout(x, 1, random_key(5)); }).find("[0, 1)"),
            std::string::npos);
}

// A stack of keys draws a stack of arrays: what is of one shape is drawn from one key.
TEST(Keys, LayersTakeOneEach) {
  const Tensor keys = split_key(random_key(1), 3), x = ones({3, 4});
  const auto refused = [](auto draws) {
    const std::string text = message_of(draws);
    EXPECT_NE(text.find("takes one key, u32[2], got u32[3,2]"), std::string::npos) << text;
  };
  for (const double rate : {0.0, 0.5}) refused([&] { nn::dropout(x, rate, keys); });
  refused([&] { nn::linear(keys, 4, 2); });
  refused([&] { nn::mlp(keys, {4, 2, 1}); });
  refused([&] { nn::embedding(keys, 4, 2); });
  refused([&] { nn::conv(keys, {3}, 1, 1); });
  refused([&] { nn::conv_transpose(keys, {3}, 1, 1); });
  refused([&] { nn::gru(keys, 4, 2); });
  refused([&] { nn::multi_head_attention(keys, 4, 2); });
  refused([&] { nn::transformer_block(keys, 4, 2); });
  refused([&] { nn::transformer_block(random_key(1), 4, 2, 0.5).train(x, keys); });
  refused([&] { nn::gpt(keys); });
  const nn::Gpt g = nn::gpt(random_key(1), {.words = 3, .width = 4, .heads = 2, .blocks = 1});
  refused([&] { g.train(zeros({2}, Dtype::i64), keys); });
  refused([&] { nn::unet(keys, 1, 1); });
  refused([&] { nn::conv_vae(keys); });
  refused([&] { nn::edge_network(keys); });
  refused([&] { nn::sequential(keys, {{.width = 2}}, {4}); });
  const Tensor each = vmap([](Tensor v, Tensor k) { return nn::dropout(v, 0.5, k); })(x, keys);
  EXPECT_EQ(each.shape(), x.shape());
  EXPECT_EQ(select(each, 0, 1).to_vector(),
            nn::dropout(ones({4}), 0.5, select(keys, 0, 1)).to_vector());
}

TEST(Losses, RefuseWhatDoesNotFit) {
  // A column beside a row would be a table of differences, and its mean a number all the same.
  EXPECT_NE(message_of([] {
              nn::mean_square(zeros({4, 1}), zeros({4}));
            }).find("one shape"),
            std::string::npos);
  const Tensor z = zeros({2, 3});
  EXPECT_NE(message_of([&] {
              nn::cross_entropy(z, tensor(std::vector<std::int64_t>{0, 3}));
            }).find("3"),
            std::string::npos);
  EXPECT_NE(message_of([&] { nn::cross_entropy(z, zeros({2})); }).find("labels i32 or i64"),
            std::string::npos);
  EXPECT_NE(message_of([&] { nn::linear(random_key(1), 4, 2)(z); }).find("[..., 4]"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              nn::batch_norm(3).first.train(zeros({1, 3}), {z, z});
            }).find("no variance"),
            std::string::npos);
  EXPECT_NE(message_of([&] { nn::group_norm(2, 3); }).find("3 channels"), std::string::npos);
}

TEST(Losses, OfExtremeLogits) {
  const Tensor z = tensor({800.0, -800.0}, {1, 2});
  const Tensor wrong = tensor(std::vector<std::int64_t>{1}),
               right = tensor(std::vector<std::int64_t>{0});
  EXPECT_EQ(nn::cross_entropy(z, wrong).item(), 1600);
  EXPECT_EQ(nn::cross_entropy(z, right).item(), 0);
  EXPECT_EQ(nn::binary_cross_entropy(tensor({-800.0, 800.0}), tensor({1.0, 0.0})).item(), 800);
  EXPECT_EQ(nn::accuracy(tensor({1.0, 1.0, 0.0, 0.0, 2.0, 2.0}, {2, 3}),
                         tensor(std::vector<std::int32_t>{0, 2}))
                .item(),
            0.5);  // of equal ones the first
  EXPECT_EQ(nn::r_squared(tensor({1.0, 2.0, 3.0}), tensor({1.0, 2.0, 3.0})).item(), 1);
  EXPECT_EQ(nn::r_squared(tensor({2.0, 2.0, 2.0}), tensor({1.0, 2.0, 3.0})).item(), 0);
  // Far-off elements weigh linearly, near ones as squares; the slope is continuous.
  EXPECT_DOUBLE_EQ(nn::huber(tensor({3.0}), tensor({0.0}), 2).item(), 2 * (3 - 1));
  EXPECT_DOUBLE_EQ(nn::huber(tensor({1.0}), tensor({0.0}), 2).item(), 0.5);
}

// A logit of -infinity rules a class out; it has no part in the loss, given by labels or as
// probabilities.
TEST(Losses, ClassesThatAreRuledOutHaveNoPartInCrossEntropies) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  for (const Dtype type : {Dtype::f32, Dtype::f64}) {
    const Tensor z = cast(tensor({1.0, -inf, 2.0, 0.5, 3.0, -2.0}, {2, 3}), type);
    const Tensor p = cast(tensor({1.0, 0.0, 0.0, 0.0, 0.0, 1.0}, {2, 3}), type);
    const Tensor labels = tensor(std::vector<std::int64_t>{0, 2});
    const auto by_label = [&](Tensor x) { return nn::cross_entropy(x, labels); };
    const auto by_share = [&](Tensor x) { return nn::cross_entropy_of(x, p); };
    EXPECT_EQ(cast(by_label(z), Dtype::f64).item(), cast(by_share(z), Dtype::f64).item());
    EXPECT_EQ(to_string(grad(by_label)(z)), to_string(grad(by_share)(z)));
    EXPECT_EQ(cast(nn::cross_entropy_of(z, ones({2, 3}, type)), Dtype::f64).item(), inf);
  }
}

TEST(Losses, HuberIsASquareAtItsLeast) {
  const auto second = [](double y, double delta) {
    return hessian([=](const Tensor& x) {
             return nn::huber(reshape(x, {1}), tensor({2.0}), delta);
           })(tensor(y))
        .item();
  };
  EXPECT_EQ(second(2, 1), 1);
  EXPECT_EQ(second(2.5, 1), 1);
  EXPECT_EQ(second(4, 1), 0);
  EXPECT_EQ(grad([](const Tensor& x) {
              return nn::huber(x, tensor({0.0, 0.0}), 2);
            })(tensor({1.0, -7.0}))
                .to_vector(),
            (std::vector<double>{0.5, -1}));
}
