// SPDX-License-Identifier: Apache-2.0
//
// Whole networks against PyTorch's values and gradients, their second derivatives, symmetries of
// the network of molecules, and their edges.
#include "error_text.h"
#include "nn_reference.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/nn.h"
#include "tessera/autodiff/optimize.h"

using namespace tessera;
using namespace tessera::testing;

namespace {

/// The network with the operands from `first` on as its parameters.
template <class N>
N with_operands(const N& like, const Tensors& x, std::size_t first) {
  return unflatten_tree(like, Tensors(x.begin() + static_cast<std::ptrdiff_t>(first), x.end()));
}

nn::EdgeNetwork small_edge_network() {
  return nn::edge_network(random_key(1),
                          {.species = 3, .width = 4, .blocks = 2, .basis = 3, .cutoff = 2});
}
auto small_vae() {
  return nn::conv_vae(random_key(1), {.widths = {2, 3}, .lengths = {8}, .codes = 2});
}
template <class T>
Index count_of(const T& tree) {
  Index n = 0;
  for (const Tensor& leaf : flatten_tree(tree)) n += leaf.size();
  return n;
}

std::map<std::string, TensorFunction> networks() {
  std::map<std::string, TensorFunction> f;
  const auto integers = [](const Tensor& t) { return cast(t, Dtype::i64); };
  f["net_gpt"] = [=](const Tensors& x) {
    const auto like = nn::gpt(random_key(1), {5, 4, 2, 2, 4});
    return with_operands(like, x, 1)(integers(x[0]));
  };
  f["net_unet_line"] = [](const Tensors& x) {
    const auto like = nn::unet(random_key(1), 2, 3, {.axes = 1, .widths = {2, 4, 2}, .groups = 1});
    return with_operands(like, x, 1)(x[0]);
  };
  f["net_unet_image"] = [](const Tensors& x) {
    const auto like = nn::unet(random_key(1), 1, 1, {.axes = 2, .widths = {2, 3}, .groups = 1});
    return with_operands(like, x, 1)(x[0]);
  };
  // The reference's noise in place of a sample's.
  const auto code_with = [](const nn::NormalCode& c, const Tensor& noise) {
    return c.mean + exp(0.5 * c.log_variance) * noise;
  };
  f["net_vae_run"] = [=](const Tensors& x) {
    const auto [vae, statistics] = with_operands(small_vae(), x, 2);
    return vae.decode(code_with(vae.encode(x[0], statistics), x[1]), statistics);
  };
  f["net_vae_train"] = [](const Tensors& x) {
    const auto [vae, statistics] = with_operands(small_vae(), x, 2);
    return vae.train(x[0], random_key(1), statistics).y;
  };
  f["net_edge_energy"] = [=](const Tensors& x) {
    return with_operands(small_edge_network(), x, 2)(integers(x[0]), x[1]);
  };
  f["net_edge_forces"] = [=](const Tensors& x) {
    return with_operands(small_edge_network(), x, 2).energy_and_forces(integers(x[0]), x[1]).second;
  };
  return f;
}

/// Rotations about z, then x.
Tensor rotation(double a, double b) {
  const Tensor z = tensor(
      {std::cos(a), -std::sin(a), 0.0, std::sin(a), std::cos(a), 0.0, 0.0, 0.0, 1.0}, {3, 3});
  const Tensor x = tensor(
      {1.0, 0.0, 0.0, 0.0, std::cos(b), -std::sin(b), 0.0, std::sin(b), std::cos(b)}, {3, 3});
  return matmul(x, z);
}

bool all_finite(const Tensor& t) { return cast(all(is_finite(t)), Dtype::f64).item() == 1; }

}  // namespace

TEST(Models, HavePyTorchsValuesAndGradients) { expect_pytorchs(networks(), 1e-12); }

TEST(Models, HaveSecondDerivativesAndBatches) { expect_orders_and_batches(networks()); }

TEST(Gpt, SeesNoLaterWord) {
  const nn::Gpt g = nn::gpt(random_key(1), {.words = 7, .width = 8, .heads = 2, .tokens = 4});
  const Tensor a = g(tensor(std::vector<std::int64_t>{1, 2, 3, 4})),
               b = g(tensor(std::vector<std::int64_t>{1, 2, 6, 0}));
  EXPECT_EQ(slice(a, 0, 0, 2).to_vector(), slice(b, 0, 0, 2).to_vector());
  EXPECT_NE(select(a, 0, 2).to_vector(), select(b, 0, 2).to_vector());
  EXPECT_EQ(g(zeros({2, 1}, Dtype::i64)).shape(), (Shape{2, 1, 7}));
  EXPECT_EQ(g(zeros({0, 3}, Dtype::i64)).shape(), (Shape{0, 3, 7}));
  EXPECT_NE(message_of([&] { g(zeros({5}, Dtype::i64)); }).find("4 positions"), std::string::npos);
  const nn::Gpt none = nn::gpt(random_key(1), {.words = 7, .width = 8, .blocks = 0, .tokens = 4});
  EXPECT_EQ(none.train(zeros({2}, Dtype::i64), random_key(1)).shape(), (Shape{2, 7}));
  EXPECT_EQ(leaf_names(g)[2], "blocks.0.before_attention.gain");
}

TEST(UNet, OfOneToThreeAxes) {
  for (const int axes : {1, 2, 3}) {
    const nn::UNet u = nn::unet(random_key(1), 2, 3, {.axes = axes, .widths = {8, 16}});
    Shape s{1}, wrong{1};
    for (int k = 0; k < axes; ++k) s.push_back(4), wrong.push_back(5);
    s.push_back(2), wrong.push_back(2);
    Shape out = s;
    out[axes + 1] = 3;
    EXPECT_EQ(u(zeros(s)).shape(), out);
    EXPECT_NE(message_of([&] { u(zeros(wrong)); }).find("multiples of 2"), std::string::npos);
    s[0] = out[0] = 0;
    EXPECT_EQ(u(zeros(s)).shape(), out);
  }
  EXPECT_NE(message_of([] { nn::unet(random_key(1), 1, 1, {.widths = {}}); }).find("level"),
            std::string::npos);
}

TEST(ConvVae, TrainsWithItsStatistics) {
  const auto [vae, start] = nn::conv_vae(random_key(1));
  EXPECT_EQ(count_of(vae), 52433);
  EXPECT_EQ(start.size(), 8u);
  const Tensor x = normal(random_key(2), {6, 32});
  const auto one = vae.train(x, random_key(3), start);
  EXPECT_EQ(one.y.shape(), x.shape());
  EXPECT_EQ(one.code.mean.shape(), (Shape{6, 16}));
  // The first layer's are those of its own output: 0.9 of what was, 0.1 of the batch.
  const Tensor first = vae.encoder[0].conv(expand_dims(x, -1));
  EXPECT_LE(deviation(one.statistics[0].mean, 0.1 * mean(first, {0, 1})), 1e-13);
  EXPECT_LE(deviation(one.statistics[0].variance, 0.9 + 0.1 * variance(first, {0, 1}, 1)), 1e-13);
  const auto whole = vae.statistics_of(x);
  EXPECT_LE(deviation(whole[0].mean, mean(first, {0, 1})), 1e-13);
  EXPECT_LE(deviation(whole[0].variance, variance(first, {0, 1}, 1)), 1e-13);
  // With them each sample stands by itself.
  EXPECT_LE(deviation(vae.encode(slice(x, 0, 2, 3), whole).mean,
                      slice(vae.encode(x, whole).mean, 0, 2, 3)),
            1e-13);
  EXPECT_EQ(vae.decode(zeros({0, 16}), whole).shape(), (Shape{0, 32}));
  EXPECT_NE(message_of([&] { vae.encode(zeros({2, 16}), whole); }).find("32"), std::string::npos);
  EXPECT_NE(message_of([&] { vae.encode(x, {}); }).find("8 layers"), std::string::npos);
  EXPECT_NE(message_of([&] { nn::conv_vae(random_key(1), {.lengths = {20}}); }).find("2^levels"),
            std::string::npos);
  // A key for each sample: its draw does not depend on the batch.
  const Tensor keys = split_key(random_key(4), 6);
  const nn::NormalCode third{slice(one.code.mean, 0, 2, 3), slice(one.code.log_variance, 0, 2, 3)};
  EXPECT_EQ(slice(one.code.sample(keys), 0, 2, 3).to_vector(),
            third.sample(slice(keys, 0, 2, 3)).to_vector());
  EXPECT_NE(message_of([&] { third.sample(keys); }).find("a key for each sample of f64[1,16]"),
            std::string::npos);
}

/// Sections: the layers are those of columns along both axes.
TEST(ConvVae, OfMoreAxes) {
  const auto [vae, none] =
      nn::conv_vae(random_key(1), {.widths = {2, 3}, .lengths = {8, 12}, .codes = 5});
  const Tensor x = normal(random_key(2), {4, 8, 12});
  const auto s = vae.statistics_of(x);
  EXPECT_EQ(vae.encode(x, s).mean.shape(), (Shape{4, 5}));
  EXPECT_EQ(vae.decode(zeros({3, 5}), s).shape(), (Shape{3, 8, 12}));
  EXPECT_EQ(vae.decode(zeros({0, 5}), s).shape(), (Shape{0, 8, 12}));
  EXPECT_EQ(vae.encoder[1].conv.w.shape(), (Shape{3, 3, 2, 2}));
  EXPECT_EQ(vae.mean.w.dim(0), 3 * 2 * 3);
  EXPECT_NE(message_of([&] { vae.encode(zeros({2, 8, 8}), s); }).find("8,12]"), std::string::npos);
  EXPECT_NE(message_of([] {
              nn::conv_vae(random_key(1), {.lengths = {32, 4}});
            }).find("2^levels"),
            std::string::npos);
  // Three axes.
  EXPECT_EQ(
      nn::conv_vae(random_key(1), {.lengths = {8, 8, 8}})
          .first.decode(zeros({1, 16}), nn::conv_vae(random_key(1), {.lengths = {8, 8, 8}}).second)
          .shape(),
      (Shape{1, 8, 8, 8}));
}

TEST(ConvVae, AStepCarriesTheStatistics) {
  auto [vae, statistics] = small_vae();
  const Tensor x = normal(random_key(2), {16, 8});
  const Optimizer o = adam(constant_rate(1e-2));
  const auto step =
      jit([&](const nn::ConvVae& v, const nn::ConvVae::Statistics& s, const OptimizerState& state) {
        const auto loss = [&](const nn::ConvVae& n) {
          const auto out = n.train(x, random_key(3), s);
          return std::pair(nn::mean_square(out.y, x), out.statistics);
        };
        const auto [found, g] = value_and_grad(loss)(v);
        const auto [next, moments] = o.update(v, g, state);
        return std::tuple(next, found.second, moments, found.first);
      });
  OptimizerState state = o.init(vae);
  Tensor loss;
  double before = 0;
  for (int k = 0; k < 60; ++k) {
    std::tie(vae, statistics, state, loss) =
        step(std::move(vae), std::move(statistics), std::move(state));
    if (k == 0) before = loss.item();
  }
  EXPECT_LT(loss.item(), 0.9 * before);
  EXPECT_TRUE(all_finite(vae.encode(x, statistics).mean));
}

TEST(EdgeNetwork, IsTheSameFromAllSides) {
  const nn::EdgeNetwork net = small_edge_network();
  const Tensor kinds = tensor(std::vector<std::int64_t>{0, 1, 2, 1, 0});
  const Tensor x = 0.7 * normal(random_key(5), {5, 3});
  const auto [e, f] = net.energy_and_forces(kinds, x);
  const Tensor r = rotation(0.7, 2.1), shift = tensor({3.0, -1.0, 2.0});
  const auto [turned, turned_f] = net.energy_and_forces(kinds, matmul(x, transpose(r)) + shift);
  EXPECT_LE(deviation(turned, e), 1e-13);
  EXPECT_LE(deviation(turned_f, matmul(f, transpose(r))), 1e-12);
  EXPECT_LE(deviation(net(kinds, -x), e), 1e-13);
  const Tensor order = tensor(std::vector<std::int64_t>{3, 0, 4, 2, 1});
  const auto [other, other_f] = net.energy_and_forces(take(kinds, order), take(x, order));
  EXPECT_LE(deviation(other, e), 1e-13);
  EXPECT_LE(deviation(other_f, take(f, order)), 1e-12);
  // No net force, no net torque: sum_i x_i f_i^T is symmetric.
  EXPECT_LE(max(abs(sum(f, {0}))).item(), 1e-13 * max(abs(f)).item() * 5);
  const Tensor m = matmul(transpose(x), f);
  EXPECT_LE(deviation(m, transpose(m)), 1e-12);
  // Atoms beyond the cut-off of all others add what each is alone.
  const Tensor far = concatenate({x, full({1, 3}, 9.0)}, 0);
  const Tensor alone = net(zeros({1}, Dtype::i64), zeros({1, 3}));
  EXPECT_LE(deviation(net(concatenate({kinds, zeros({1}, Dtype::i64)}, 0), far), e + alone), 1e-13);
}

TEST(EdgeNetwork, OfAtomsThatMeetOrAreAlone) {
  const nn::EdgeNetwork net = small_edge_network();
  const auto force_loss = [&](const nn::EdgeNetwork& n, const Tensor& kinds, const Tensor& x) {
    const auto [e, f] = n.energy_and_forces(kinds, x);
    return sum(e) + sum(square(f - 0.1));
  };
  for (const Index n : {0, 1, 3}) {
    const Tensor kinds = zeros({n}, Dtype::i64), x = zeros({n, 3});  // all in one place
    const auto [e, f] = net.energy_and_forces(kinds, x);
    EXPECT_TRUE(all_finite(e) && all_finite(f)) << n;
    EXPECT_EQ(f.to_vector(), std::vector<double>(static_cast<std::size_t>(3 * n), 0.0)) << n;
    const auto by_weights =
        grad([&](const nn::EdgeNetwork& m) { return force_loss(m, kinds, x); })(net);
    for (const Tensor& g : flatten_tree(by_weights)) EXPECT_TRUE(all_finite(g)) << n;
    EXPECT_TRUE(all_finite(grad([&](const Tensor& y) { return force_loss(net, kinds, y); })(x)));
  }
  EXPECT_EQ(net(zeros({0}, Dtype::i64), zeros({0, 3})).item(), 0);
  EXPECT_EQ(net(zeros({2, 1}, Dtype::i64), zeros({2, 1, 3})).shape(), (Shape{2}));
  EXPECT_NE(message_of([&] {
              net(zeros({2}, Dtype::i64), zeros({3, 3}));
            }).find("positions"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              net(zeros({3}, Dtype::i64), zeros({3, 2}));
            }).find("atoms, 3"),
            std::string::npos);
}
