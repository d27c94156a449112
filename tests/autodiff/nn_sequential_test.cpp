// SPDX-License-Identifier: Apache-2.0
//
// Networks as lists of layers: the same bits as their layers one after another, shapes that are
// told before anything is made, dropout by a sample's own key.
#include "error_text.h"
#include "same_bits.h"
#include "tessera/autodiff/check.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/nn.h"
#include "tessera/autodiff/ops.h"

#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::nn;
using tessera::testing::message_of;

namespace {

std::vector<LayerSpec> a_list_of_layers() {
  return {{.kind = LayerKind::linear, .width = 6},
          {.kind = LayerKind::activation, .activation = Activation::tanh},
          {.kind = LayerKind::layer_norm},
          {.kind = LayerKind::linear, .width = 6, .bias = false},
          {.kind = LayerKind::add, .with = 1},
          {.kind = LayerKind::concat, .with = -1},
          {.kind = LayerKind::dropout, .rate = 0.4},
          {.kind = LayerKind::reshape, .shape = {3, 3}},
          {.kind = LayerKind::group_norm, .groups = 3},
          {.kind = LayerKind::flatten},
          {.kind = LayerKind::linear, .width = 2}};
}

TEST(Sequential, IsItsLayersOneAfterAnother) {
  const Sequential net = sequential(random_key(3), a_list_of_layers(), {3});
  const Tensor x = normal(random_key(4), {5, 3});
  const auto linear_at = [&](std::size_t k) { return std::get<nn::Linear>(net.layers[k]); };
  const Tensor a = tanh(linear_at(0)(x));
  const Tensor b =
      concatenate({linear_at(3)(std::get<nn::LayerNorm>(net.layers[2])(a)) + a, x}, -1);
  const Tensor c = std::get<nn::GroupNorm>(net.layers[8])(reshape(b, {5, 3, 3}));
  const Tensor y = linear_at(10)(reshape(c, {5, 9}));
  EXPECT_TRUE(same_bits(net(x), y));
  EXPECT_TRUE(
      same_bits(jit([&](const Sequential& m, const Tensor& t) { return m(t); })(net, x), y));
}

TEST(Sequential, BatchNormsSeeInTrainingAlone) {
  const std::vector<LayerSpec> layers = {{.kind = LayerKind::conv, .width = 3, .size = {3}},
                                         {.kind = LayerKind::batch_norm},
                                         {.kind = LayerKind::dropout, .rate = 0.5},
                                         {.kind = LayerKind::batch_norm}};
  const Sequential net = sequential(random_key(3), layers, {8, 2});
  EXPECT_TRUE(net.has_running_norms());
  EXPECT_FALSE(sequential(random_key(3), a_list_of_layers(), {3}).has_running_norms());
  EXPECT_EQ(leaf_names(net)[4], "layers.1.seen.mean");
  const Tensor x = normal(random_key(4), {5, 8, 2}), keys = split_key(random_key(5), 5);
  const auto [y, moved] = net.seeing(x, keys);
  EXPECT_TRUE(same_bits(y, net.train(x, keys)));
  const auto norm = [](const Sequential& n, std::size_t k) {
    return std::get<RunningNorm>(n.layers[k]);
  };
  const Tensor z = std::get<nn::Conv>(net.layers[0])(x);
  const auto [first, seen] = norm(net, 1).norm.train(z, norm(net, 1).seen);
  EXPECT_TRUE(same_bits(norm(moved, 1).seen.mean, seen.mean));
  EXPECT_TRUE(same_bits(norm(moved, 1).seen.variance, seen.variance));
  EXPECT_FALSE(same_bits(norm(moved, 3).seen.variance, norm(net, 3).seen.variance));
  // Else they norm by what they have seen.
  EXPECT_TRUE(
      same_bits(moved(x), norm(moved, 3).norm(norm(moved, 1).norm(z, seen), norm(moved, 3).seen)));
  EXPECT_NE(message_of([] {
              sequential(random_key(1), {{.kind = LayerKind::batch_norm}}, {});
            }).find("layer 0 (batch_norm): takes [..., channels]"),
            std::string::npos);
}

TEST(Sequential, NamesItsLeavesByTheNumbersOfItsLayers) {
  const LeafNames names = leaf_names(sequential(random_key(3), a_list_of_layers(), {3}));
  EXPECT_EQ(names,
            (LeafNames{"layers.0.w", "layers.0.b", "layers.2.gain", "layers.2.bias", "layers.3.w",
                       "layers.8.gain", "layers.8.bias", "layers.10.w", "layers.10.b"}));
}

TEST(Sequential, HasDerivativesOfTwoOrders) {
  const std::vector<LayerSpec> layers = a_list_of_layers();
  const Sequential net = sequential(random_key(5), layers, {3});
  const Tensor x = normal(random_key(6), {4, 3}), keys = split_key(random_key(7), 4);
  const auto f = [&](const Sequential& m) { return sum(square(m.train(x, keys))); };
  const CheckReport r = gradcheck(f, net, {.order = 2});
  EXPECT_TRUE(r) << to_string(r);
}

TEST(Sequential, DropsBySampleWhateverTheBatch) {
  const Sequential net = sequential(
      random_key(1),
      {{.kind = LayerKind::dropout, .rate = 0.25}, {.kind = LayerKind::dropout, .rate = 0.5}},
      {1000});
  const Tensor keys = split_key(random_key(2), 6), x = ones({6, 1000});
  const Tensor all = net.train(x, keys);
  EXPECT_TRUE(same_bits(net(x), x));
  for (Index k = 0; k < 6; ++k)
    EXPECT_TRUE(
        same_bits(net.train(slice(x, {k, 0}, {k + 1, 1000}), slice(keys, {k, 0}, {k + 1, 2})),
                  slice(all, {k, 0}, {k + 1, 1000})));
  // What stays is x / (0.75 * 0.5), in a share of 0.375 of 6,000: standard deviation 0.0063. The
  // two layers draw apart.
  const Tensor kept = cast(all > 0, Dtype::f64);
  EXPECT_NEAR(mean(kept).item(), 0.375, 5 * 0.0063);
  EXPECT_DOUBLE_EQ(max(all).item(), 1 / 0.375);
  // One key for all, and keys of other samples.
  for (const Tensor& other : {random_key(2), split_key(random_key(2), 5)})
    EXPECT_NE(message_of([&] { net.train(x, other); }).find("a key for each sample of f64[6,1000]"),
              std::string::npos);
}

/// Every kind that reads windows, with the shapes that it really gives.
TEST(Sequential, ConvolvesPoolsAndSpreads) {
  using Kind = LayerKind;
  const std::vector<LayerSpec> layers = {
      {.kind = Kind::conv, .width = 4, .size = {3, 2}, .stride = {2, 1}},
      {.kind = Kind::conv_transpose, .width = 4, .groups = 2, .size = {4, 3}, .stride = {2, 3}},
      {.kind = Kind::max_pool, .size = {2, 2}},
      {.kind = Kind::upsample, .size = {3, 2}},
      {.kind = Kind::conv, .width = 2, .size = {3, 3}, .dilation = {2, 1}, .border = Border::none},
      {.kind = Kind::conv_transpose,
       .width = 3,
       .size = {2, 2},
       .stride = {3, 1},
       .border = Border::none},
      {.kind = Kind::mean_pool, .size = {4, 1}},
      {.kind = Kind::global_mean_pool}};
  const std::vector<Shape> shapes = shapes_of(layers, {7, 6, 3});
  Tensor x = normal(random_key(8), {2, 7, 6, 3});
  const Sequential net = sequential(random_key(9), layers, {7, 6, 3});
  for (std::size_t k = 0; k < layers.size(); ++k) {
    x = Sequential{{net.layers[k]}}(x);
    Shape expected{2};
    for (const Index n : shapes[k + 1]) expected.push_back(n);
    EXPECT_EQ(x.shape(), expected) << "layer " << k;
  }
  EXPECT_EQ(leaf_names(net).front(), "layers.0.w");
  const auto why = [](const LayerSpec& l) {
    return message_of([&] { shapes_of({l}, {4, 4, 2}); });
  };
  EXPECT_EQ(why({.kind = Kind::conv, .size = {5, 1}, .border = Border::none}),
            "layer 0 (conv): a window of [5,1] does not fit, a sample is [4,4,2]");
  EXPECT_EQ(why({.kind = Kind::max_pool, .size = {2}}),
            "layer 0 (max_pool): a window of [2] takes samples of 1 axes and the channels, a "
            "sample is [4,4,2]");
  EXPECT_EQ(why({.kind = Kind::conv, .width = 3, .groups = 2, .size = {1, 1}}),
            "layer 0 (conv): 2 channels in and 3 out are not 2 groups of one size");
  EXPECT_EQ(why({.kind = Kind::conv, .size = {3, 3}, .stride = {2}}),
            "layer 0 (conv): a stride or dilation of [2] beside a window of [3,3]");
}

TEST(Sequential, OfNoLayersAndOfNoSamples) {
  const Sequential none = sequential(random_key(1), {}, {2});
  EXPECT_TRUE(same_bits(none(ones({3, 2})), ones({3, 2})));
  const Sequential net = sequential(random_key(1), a_list_of_layers(), {3});
  EXPECT_EQ(net(zeros({0, 3})).shape(), (Shape{0, 2}));
}

TEST(Sequential, SaysWhichLayerDoesNotFit) {
  const auto why = [](const std::vector<LayerSpec>& layers, const Shape& sample) {
    return message_of([&] { shapes_of(layers, sample); });
  };
  EXPECT_EQ(shapes_of(a_list_of_layers(), {3}).back(), Shape{2});
  EXPECT_EQ(
      why({{.kind = LayerKind::flatten}, {.kind = LayerKind::reshape, .shape = {4, 2}}}, {3, 3}),
      "layer 1 (reshape): [4,2] has 8 elements, a sample is [9]");
  EXPECT_EQ(why({{.kind = LayerKind::linear}}, {}),
            "layer 0 (linear): takes [..., features], a sample is []");
  EXPECT_EQ(why({{.kind = LayerKind::linear, .width = 0}}, {3}), "layer 0 (linear): a width of 0");
  EXPECT_EQ(why({{.kind = LayerKind::group_norm, .groups = 2}}, {3}),
            "layer 0 (group_norm): 3 channels are not 2 groups of one size");
  EXPECT_EQ(why({{.kind = LayerKind::linear, .width = 2}, {.kind = LayerKind::add}}, {3}),
            "layer 1 (add): samples of one shape are added, not [2] and [3]");
  EXPECT_EQ(why({{.kind = LayerKind::add, .with = 0}}, {3}),
            "layer 0 (add): layer 0 does not come before it");
  EXPECT_EQ(why({{.kind = LayerKind::dropout, .rate = 1}}, {3}),
            "layer 0 (dropout): a rate of 1.000000 is not in [0, 1)");
}

}  // namespace
