// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/onnx.h"

#include "error_text.h"
#include "onnx_messages.h"
#include "temp_folder.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/nn.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/ops/window.h"
#include "tessera/data/info.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>

using namespace tessera;
using namespace tessera::data;
using namespace tessera::testing;

namespace {

/// What comes back of f(tree, {x}) written and read, beside f itself; with another batch, too.
template <class P, class F>
void expect_round_trip(const P& tree, const F& f, const Tensor& x, double tolerance,
                       bool any_batch = true) {
  const TempFolder folder;
  const auto path = folder.path() / "f.onnx";
  const OnnxWritten w =
      write_onnx(path, [&](const P& p, const std::vector<Tensor>& in) { return f(p, in[0]); }, tree,
                 {.inputs = {{"x", x.type()}}});
  EXPECT_EQ(w.any_batch, any_batch) << w.why_not;
  const OnnxNetwork net = read_onnx(path);
  for (const Index rows : {x.dim(0), any_batch ? x.dim(0) - 1 : x.dim(0)}) {
    const Tensor in = slice(x, 0, 0, rows);
    const std::vector<Tensor> ours = flatten_tree(f(tree, in)), theirs = net({in});
    ASSERT_EQ(ours.size(), theirs.size());
    for (std::size_t k = 0; k < ours.size(); ++k) {
      ASSERT_EQ(ours[k].type(), theirs[k].type());
      const Tensor a = cast(ours[k], Dtype::f64), b = cast(theirs[k], Dtype::f64);
      if (a.size() == 0) continue;
      EXPECT_LE(max(abs(a - b)).item(), tolerance * std::max(1.0, max(abs(a)).item()));
    }
  }
}
Tensor drawn(const Shape& s, int seed = 1) { return normal(random_key(seed), s); }

}  // namespace

TEST(Onnx, NetworksComeBackAsTheyWere) {
  const Tensor key = random_key(5);
  expect_round_trip(
      nn::mlp(key, {3, 8, 8, 2}), [](const nn::Mlp& m, const Tensor& x) { return m(x); },
      drawn({6, 3}), 1e-14);
  const auto [vae, statistics] = nn::conv_vae(key, {.widths = {4, 8}, .lengths = {8}, .codes = 3});
  using Vae = std::pair<nn::ConvVae, nn::ConvVae::Statistics>;
  expect_round_trip(
      Vae{vae, statistics},
      [](const Vae& v, const Tensor& x) {
        const nn::NormalCode c = v.first.encode(x, v.second);
        return std::vector<Tensor>{v.first.decode(c.mean, v.second), c.log_variance};
      },
      drawn({4, 8}), 1e-12);
  expect_round_trip(
      nn::unet(key, 2, 1, {.widths = {4, 8}, .groups = 2}),
      [](const nn::UNet& u, const Tensor& x) { return u(x); }, drawn({3, 4, 4, 2}), 1e-12);
  expect_round_trip(
      nn::gpt(key, {.words = 11, .width = 8, .heads = 2, .blocks = 1, .tokens = 6}),
      [](const nn::Gpt& g, const Tensor& x) { return g(cast(abs(x * 3), Dtype::i64)); },
      drawn({3, 5}), 1e-12);
}

TEST(Onnx, OperationsComeBackAsTheyWere) {
  const std::vector<Tensor> none;
  const auto check = [&](Tensor (*f)(const Tensor&), const Tensor& x, double tolerance = 1e-14,
                         bool any = true) {
    expect_round_trip(
        none, [f](const std::vector<Tensor>&, const Tensor& x) { return f(x); }, x, tolerance, any);
  };
  const Tensor x = drawn({5, 4, 3}), p = abs(x) + 0.1;
  check([](const Tensor& x) { return exp(x) * log(abs(x) + 1) - sqrt(abs(x)) / rsqrt(abs(x) + 1); },
        x);
  check([](const Tensor& x) { return cbrt(x) + expm1(x) + log1p(abs(x)) + erfc(x) + erf(x); }, x,
        1e-13);
  check([](const Tensor& x) { return sech2(x) + pow(x, 3) + rem(x, 0.3) + floor(x) * ceil(x); }, x,
        1e-13);
  check([](const Tensor& x) { return where(is_finite(x / floor(abs(x))), x, maximum(x, 0.5)); }, x);
  check([](const Tensor& x) { return pow(x, 1.7) + sinh(x) + cosh(x) + tan(x) + asinh(x); }, p,
        1e-13);
  check([](const Tensor& x) { return round(x) + sign(x) + minimum(x, -x) + softplus(x); }, x);
  check([](const Tensor& x) { return cast(logical_xor(x > 0, not_equal(x, 0)), Dtype::i32); }, x);
  check([](const Tensor& x) { return reverse(slice(x, 1, 0, 4, 2), {2}); }, x);
  check([](const Tensor& x) { return pad(transpose(x), {0, 1, 2}, {0, 0, 1}, {}, 7); }, x);
  check([](const Tensor& x) { return concatenate({x, x * 2}, 2); }, x);
  check([](const Tensor& x) { return sum(x, {1}) + max(x, {1}) * min(x, {1}); }, x);
  check([](const Tensor& x) { return mean(x, {0, 2}); }, x, 1e-14, false);
  check([](const Tensor& x) { return cumsum(x, 1, true) + cumsum(x, 2); }, x);
  check([](const Tensor& x) { return argmax(x, 1) + argmin(x * 2, 1); }, x);
  check([](const Tensor& x) { return one_hot(argmax(x, -1), 3); }, x);
  check([](const Tensor& x) { return take_along_axis(x, expand_dims(argmax(x, 1), 1), 1); }, x);
  check([](const Tensor& x) { return matmul(x, transpose(x)); }, x);
  check([](const Tensor& x) { return reshape(x, {-1, 2}); }, drawn({4, 2, 3}));
  check(
      [](const Tensor& x) {
        return reshape(broadcast_to(x, {2, x.dim(0), 3}), {-1});
      },
      drawn({4, 3}));
  check([](const Tensor& x) { return any(x > 0, {1}); }, x);
}

TEST(Onnx, RowsAndColumnsThatRepeatAreWholeInMatrixProducts) {
  using Weights = std::vector<Tensor>;
  const auto check = [](const Weights& p, Tensor (*f)(const Weights&, const Tensor&),
                        const Tensor& x) { expect_round_trip(p, f, x, 1e-14); };
  const Tensor x = drawn({5, 3});
  check(
      {drawn({1, 3})},
      [](const Weights& p, const Tensor& x) {
        return sum(matmul(broadcast_to(p[0], {4, 3}), transpose(x)), {0});
      },
      x);
  check(
      {drawn({3, 1})},
      [](const Weights& p, const Tensor& x) {
        return matmul(x, broadcast_to(p[0], {3, 4}));
      },
      x);
  check(
      {},
      [](const Weights&, const Tensor& x) {
        return matmul(x, broadcast_to(scalar(0.5, Dtype::f64), {3, 4}));
      },
      x);
  // Axes before the matrices repeat by themselves.
  check(
      {drawn({1, 3, 4})}, [](const Weights& p, const Tensor& x) { return matmul(x, p[0]); },
      drawn({5, 2, 3}));
}

TEST(Onnx, ConvolutionsComeBackAsTheyWere) {
  const Tensor key = random_key(2);
  const auto layer = [](const nn::Conv& c, const Tensor& x) { return c(x); };
  const Tensor x = drawn({3, 7, 6, 4});
  for (const nn::Border border : {nn::Border::same, nn::Border::none}) {
    expect_round_trip(nn::conv(key, {3, 2}, 4, 6, {.stride = {2, 1}, .border = border}), layer, x,
                      1e-13);
    expect_round_trip(
        nn::conv(key, {2, 3}, 4, 6, {.dilation = {2, 1}, .border = border, .groups = 2}), layer, x,
        1e-13);
    expect_round_trip(nn::conv_transpose(key, {3, 2}, 4, 6, {.stride = {2, 3}, .border = border}),
                      layer, x, 1e-13);
    expect_round_trip(
        nn::conv_transpose(key, {2, 2}, 4, 6, {.stride = {2, 2}, .border = border, .groups = 2}),
        layer, x, 1e-13);
    expect_round_trip(nn::conv(key, {3}, 4, 2, {.border = border}), layer, drawn({2, 5, 4}), 1e-13);
    expect_round_trip(
        nn::conv_transpose(key, {3, 1, 2}, 4, 2, {.stride = {1, 2, 2}, .border = border}), layer,
        drawn({2, 3, 4, 2, 4}), 1e-13);
  }
  nn::Conv cut = nn::conv(key, {3, 3}, 4, 2);
  cut.how.low = {-1, 2}, cut.how.high = {1, -2};
  expect_round_trip(cut, layer, x, 1e-13);
}

TEST(Onnx, WindowsAndAttentionComeBackAsTheyWere) {
  const std::vector<Tensor> none;
  const auto check = [&](Tensor (*f)(const Tensor&), const Tensor& x) {
    expect_round_trip(
        none, [f](const std::vector<Tensor>&, const Tensor& x) { return f(x); }, x, 1e-13);
  };
  const Tensor x = drawn({3, 6, 5, 4});
  check([](const Tensor& x) { return nn::max_pool(x, {2, 2}); }, x);
  check(
      [](const Tensor& x) {
        return window_max(
            x, {.size = {3, 2}, .stride = {2, 1}, .low = {1, 0}, .high = {0, 1}, .trailing = 1});
      },
      x);
  check([](const Tensor& x) { return window_min(x, {.size = {2}, .dilation = {2}}); }, x);
  // x as queries, keys and values [B, tokens, heads, features].
  check([](const Tensor& x) { return nn::attention(x, x * 0.5, x); }, x);
  check([](const Tensor& x) { return nn::attention(x, x * 0.5, x, {.causal = true}); }, x);
  check(
      [](const Tensor& x) {
        return nn::attention(x, slice(x, 1, 0, 3), slice(x, 1, 0, 3), {.causal = true});
      },
      x);
  check(
      [](const Tensor& x) {
        const Tensor seen = arange(6) > expand_dims(arange(6), 1);  // the last query sees nothing
        return nn::attention(x, x, x, {.mask = seen});
      },
      x);
  check(
      [](const Tensor& x) {
        return nn::attention(x, x, x, {.mask = 0.1 * expand_dims(arange(6, Dtype::f64), 1)});
      },
      x);
}

TEST(Onnx, WhatIsWrittenSaysWhatItIs) {
  const TempFolder folder;
  const auto path = folder.path() / "m.onnx";
  const nn::Mlp net = nn::mlp(random_key(1), {3, 4, 2}, {.linear = {.dtype = Dtype::f32}});
  const OnnxWritten w =
      write_onnx(path, [](const nn::Mlp& m, const std::vector<Tensor>& x) { return m(x[0]); }, net,
                 {.inputs = {{"designs", {Dtype::f32, {1, 3}}}},
                  .outputs = {"responses"},
                  .metadata = {{"a", "b"}}});
  EXPECT_TRUE(w.any_batch);
  const OnnxNetwork read = read_onnx(path);
  EXPECT_EQ(leaf_names(read), leaf_names(net));
  EXPECT_EQ(read.outputs(), std::vector<std::string>{"responses"});
  ASSERT_EQ(read.inputs().size(), 1u);
  EXPECT_EQ(read.inputs()[0].name, "designs");
  EXPECT_EQ(read.inputs()[0].shape, (std::vector<Index>{-1, 3}));
  const std::string facts = to_text(info(path));
  for (const char* part : {"designs: FLOAT, batch x 3", "responses: FLOAT, batch x 2",
                           "standard: 17", "layers.0.w: FLOAT, 3 x 4", "a: b", "MatMul: 2"})
    EXPECT_NE(facts.find(part), std::string::npos) << part << " in\n" << facts;
}

TEST(Onnx, AFunctionOfTheBatchIsWrittenForOne) {
  const TempFolder folder;
  const auto path = folder.path() / "m.onnx";
  const auto centred = [](const std::vector<Tensor>&, const std::vector<Tensor>& x) {
    return x[0] - mean(x[0], {0}, true);
  };
  const OnnxWritten w =
      write_onnx(path, centred, std::vector<Tensor>{}, {.inputs = {{"x", {Dtype::f64, {4, 2}}}}});
  EXPECT_FALSE(w.any_batch);
  EXPECT_FALSE(w.why_not.empty());
  const OnnxNetwork net = read_onnx(path);
  const Tensor x = drawn({4, 2});
  EXPECT_LT(max(abs(net({x})[0] - centred({}, {x}))).item(), 1e-15);
  EXPECT_THROW(net({drawn({5, 2})}), Error);
}

TEST(Onnx, WhatOnnxLacksIsRefusedWithItsLine) {
  const TempFolder folder;
  const auto path = folder.path() / "m.onnx";
  const auto refused = [&](const auto& f, const char* part) {
    const std::string text = message_of([&] {
      write_onnx(path,
                 [&](const std::vector<Tensor>&, const std::vector<Tensor>& x) { return f(x[0]); },
                 std::vector<Tensor>{}, {.inputs = {{"x", {Dtype::f64, {4, 2}}}}});
    });
    EXPECT_NE(text.find(part), std::string::npos) << text;
    EXPECT_FALSE(std::filesystem::exists(path));
  };
  refused([](const Tensor& x) { return argsort(x, 1); }, "argsort at onnx_test.cpp:");
  refused([](const Tensor& x) { return lgamma(x); }, "lgamma at onnx_test.cpp:");
  refused([](const Tensor& x) { return real(complex(x, x)); }, "complex");
  refused([](const Tensor& x) { return pad(x, {0, 0}, {0, 0}, {1, 0}); }, "between");
  EXPECT_THROW(
      write_onnx(
          path,
          [](const std::vector<Tensor>& p, const std::vector<Tensor>& x) { return x[0] + p[0]; },
          std::vector<Tensor>{drawn({2})}, {.inputs = {{"0", {Dtype::f64, {4, 2}}}}}),
      Error);
}

TEST(Onnx, ResultsWithoutNamesTakeNoneOfOthers) {
  const TempFolder folder;
  const auto path = folder.path() / "m.onnx";
  const auto write = [&](const std::string& input, const std::vector<std::string>& outputs) {
    write_onnx(
        path, [](const std::vector<Tensor>&, const std::vector<Tensor>& x) { return 2 * x[0]; },
        std::vector<Tensor>{}, {.inputs = {{input, {Dtype::f64, {4, 2}}}}, .outputs = outputs});
  };
  const std::string text = message_of([&] { write("y", {}); });
  EXPECT_NE(text.find("two values are called 'y'"), std::string::npos) << text;
  EXPECT_FALSE(std::filesystem::exists(path));
  write("y", {"z"});
  EXPECT_EQ(read_onnx(path).outputs(), std::vector<std::string>{"z"});
}

TEST(Onnx, ANetworkThatWasReadTrainsAndCompiles) {
  const std::vector<float> w = {1, 2, 3, 4};
  const OnnxNetwork net = read_model(onnx_model(onnx_tensor("w", {2, 2}, 1, raw_floats(w)) + kX +
                                                kY + onnx_node("MatMul", {"x", "w"}, {"z"}) +
                                                onnx_node("Relu", {"z"}, {"y"})));
  EXPECT_EQ(leaf_names(net), LeafNames{"w"});
  const Tensor x = cast(drawn({5, 2}), Dtype::f32);
  const auto loss = [&](const OnnxNetwork& n) { return sum(square(n({x})[0])); };
  const Tensor expected = nn::relu(matmul(x, net.weights[0].values));
  EXPECT_EQ(net({x})[0].to_vector<float>(), expected.to_vector<float>());
  const auto [l, g] = value_and_grad(loss)(net);
  const Tensor by_hand = matmul(transpose(x), 2 * expected);
  EXPECT_LT(max(abs(g.weights[0].values - by_hand)).item<float>(), 1e-4f);
  const auto planned = jit(value_and_grad(loss));
  EXPECT_EQ(planned(net).second.weights[0].values.to_vector<float>(),
            g.weights[0].values.to_vector<float>());
}

TEST(Onnx, MalformedFilesAreRefusedWithTheirPlace) {
  const std::string relu = onnx_node("Relu", {"x"}, {"y"}), good = onnx_model(kX + kY + relu);
  EXPECT_EQ(read_model(good).outputs().size(), 1u);
  expect_onnx_refused(439, "\x08\x08", "expected a graph");
  for (std::size_t n = 1; n < good.size(); ++n) {  // cut anywhere
    const Diagnostic d = fault([&] { read_model(good.substr(0, n)); });
    EXPECT_TRUE(d.number == 439 || d.number == 441) << n << to_string(d);
  }
  expect_onnx_refused(439, good + "\x0f", "of kind 7");
  expect_onnx_refused(439, good + std::string("\x00", 1), "number of a field");
  expect_onnx_refused(439, good + "\x08" + std::string(10, '\xff') + "\x01", "64 bits");
  expect_onnx_refused(439, good + bytes_field(7, ""), "second");
  expect_onnx_refused(439, number_field(7, 3), "bytes");
  expect_onnx_refused(439, onnx_model(kX + kY), "makes the result 'y'");
  expect_onnx_refused(439, onnx_model(kX + kY + relu + relu), "made twice");
  expect_onnx_refused(
      439, onnx_model(kX + kY + onnx_node("Relu", {"z"}, {"y"}) + onnx_node("Relu", {"y"}, {"z"})),
      "takes 'z'");
  expect_onnx_refused(439, onnx_model(kX + kY + onnx_node("Add", {"x"}, {"y"})), "1 operands");
  expect_onnx_refused(439, onnx_model(kX + kY + relu).substr(0, good.size() - 4),
                      "version of its operators");
  // Tensors.
  const auto with = [&](const std::string& t) {
    return onnx_model(t + kX + kY + onnx_node("Add", {"x", "w"}, {"y"}));
  };
  expect_onnx_refused(439, with(onnx_tensor("w", {2}, 1, raw_floats({1}))),
                      "takes 8 bytes, its data has 4");
  expect_onnx_refused(439, with(onnx_tensor("w", {3}, 1, bytes_field(4, std::string(8, '\0')))),
                      "found 2");
  expect_onnx_refused(439, with(onnx_tensor("w", {1}, 1, bytes_field(4, std::string(8, '\0')))),
                      "more elements");
  expect_onnx_refused(439, with(onnx_tensor("w", {1u << 31, 1u << 31}, 1, "")), "2^58");
  expect_onnx_refused(439, with(onnx_tensor("w", {~0ull}, 1, "")), "an axis of -1");
  expect_onnx_refused(439, with(onnx_tensor("w", {1000000000}, 1, "")), "found 0");
  expect_onnx_refused(439, with(onnx_tensor("w", std::vector<std::uint64_t>(9, 1), 1, "")),
                      "8 axes");
  expect_onnx_refused(441, with(onnx_tensor("w", {1}, 10, "")), "FLOAT16");
  expect_onnx_refused(441, with(onnx_tensor("w", {1}, 8, "")), "STRING");
  // Depth.
  std::string deep = relu;
  for (int k = 0; k < 40; ++k) {
    const std::string a =
        bytes_field(1, "then_branch") + bytes_field(6, deep) + number_field(20, 5);
    deep = onnx_node("If", {"x"}, {"y"}, bytes_field(5, a));
  }
  expect_onnx_refused(439, onnx_model(kX + kY + deep), "nested deeper");
  // Many small parts.
  std::string nodes;
  for (int k = 0; k < 400000; ++k) nodes += std::string("\x0a\x03\x22\x01\x41", 5);
  expect_onnx_refused(439, onnx_model(kX + kY + nodes), "so many parts");
}

TEST(Onnx, WhatIsNotReadIsRefusedByItsName) {
  const auto graph = [](const std::string& node) { return onnx_model(kX + kY + node); };
  expect_onnx_refused(441, graph(onnx_node("StringNormalizer", {"x"}, {"y"})), "StringNormalizer");
  expect_onnx_refused(441, graph(onnx_node("Relu", {"x"}, {"y"}, "", "com.maker")), "com.maker");
  const std::string odd =
      bytes_field(5, bytes_field(1, "sharpness") + number_field(3, 1) + number_field(20, 2));
  expect_onnx_refused(441, graph(onnx_node("Relu", {"x"}, {"y"}, odd)), "sharpness");
  expect_onnx_refused(441, graph(onnx_node("MaxPool", {"x"}, {"y", "i"})), "result number 1");
  expect_onnx_refused(441, onnx_model(kX + kY + onnx_node("Relu", {"x"}, {"y"}), 21), "version 21");
  expect_onnx_refused(
      441, onnx_model(onnx_value(11, "x", {2}, 10) + kY + onnx_node("Relu", {"x"}, {"y"})),
      "FLOAT16");
}

TEST(Onnx, WeightsInASecondFileLieInTheFolder) {
  const TempFolder folder;
  std::filesystem::create_directories(folder.path() / "in");
  const std::vector<float> w = {1, 2, 3};
  const std::string data(reinterpret_cast<const char*>(w.data()), 12);
  folder.write("outside.bin", data);
  folder.write("in/w.bin", data);
  std::filesystem::create_symlink("../outside.bin", folder.path() / "in" / "link.bin");
  const auto read = [&](const std::string& location, const std::string& offset,
                        const std::string& length) {
    const auto entry = [](const std::string& k, const std::string& v) {
      return bytes_field(13, bytes_field(1, k) + bytes_field(2, v));
    };
    std::string more = entry("location", location) + number_field(14, 1);
    if (!offset.empty()) more += entry("offset", offset);
    if (!length.empty()) more += entry("length", length);
    return read_onnx(folder.write("in/m.onnx", onnx_model(onnx_tensor("w", {2}, 1, more) + kX + kY +
                                                          onnx_node("Add", {"x", "w"}, {"y"}))));
  };
  EXPECT_EQ(read("w.bin", "4", "8").weights[0].values.to_vector<float>(),
            (std::vector<float>{2, 3}));
  const auto refused = [&](const std::string& location, const std::string& offset,
                           const std::string& length, const char* part) {
    const Diagnostic d = fault([&] { read(location, offset, length); });
    EXPECT_EQ(d.number, 439) << to_string(d);
    EXPECT_NE(d.message.find(part), std::string::npos) << to_string(d);
  };
  refused("../outside.bin", "", "", "leads out");
  refused((folder.path() / "outside.bin").string(), "", "", "leads out");
  refused("link.bin", "", "", "leads out");
  refused("w.bin", "8", "", "which has 12");
  refused("w.bin", "18446744073709551615", "", "which has 12");
  refused("w.bin", "-1", "", "to be a number");
  refused("w.bin", "", "4", "'length' is 4");
  refused("", "", "", "without 'location'");
  EXPECT_EQ(fault([&] { read("none.bin", "", ""); }).number, 401);
  EXPECT_EQ(fault([&] { read(".", "", ""); }).number, 402);
}

TEST(Onnx, ResultsThatDoNotFitInMemoryAreRefusedBeforeTheyAreMade) {
  const auto run = [](const std::string& op, std::int64_t n, const std::vector<std::string>& in,
                      const std::string& attributes = "") {
    const std::string number =
        onnx_tensor("n", {1}, 7, bytes_field(9, {reinterpret_cast<const char*>(&n), sizeof n}));
    const OnnxNetwork net =
        read_model(onnx_model(number + kX + kY + onnx_node(op, in, {"z"}, attributes) +
                              onnx_node("Identity", {"z"}, {"y"})));
    return fault([&] { net({zeros({1, 2}, Dtype::f32)}); }).number;
  };
  const std::int64_t many = std::int64_t{1} << 40;
  EXPECT_EQ(run("ConstantOfShape", many, {"n"}), 403);
  EXPECT_EQ(run("OneHot", many, {"n", "n", "x"}), 403);
  EXPECT_EQ(run("Expand", many, {"n", "n"}), 403);
  EXPECT_EQ(run("Range", many, {"n", "n", "n"}), 0);  // empty
}

TEST(Onnx, ThePageListsWhatIsRead) {
  std::ifstream in(std::filesystem::path(TESSERA_SOURCE_DIR) / "docs/reference/onnx.md");
  const std::string page(std::istreambuf_iterator<char>(in), {}), mark = "<!-- operators -->";
  std::string expected;
  for (const std::string& op : onnx_operators())
    expected += (expected.empty() ? "`" : ", `") + op + "`";
  std::string listed = page.substr(std::min(page.find(mark) + mark.size(), page.size()));
  listed = listed.substr(0, listed.find(mark));
  std::replace(listed.begin(), listed.end(), '\n', ' ');
  EXPECT_EQ(listed, " " + expected + " ");
}

TEST(Onnx, ShapesThatDoNotFitSayTheNode) {
  const OnnxNetwork net =
      read_model(onnx_model(onnx_tensor("w", {3, 2}, 1, raw_floats({1, 2, 3, 4, 5, 6})) + kX + kY +
                            onnx_node("MatMul", {"x", "w"}, {"y"})));
  const std::string text = message_of([&] { net({zeros({4, 2}, Dtype::f32)}); });
  EXPECT_NE(text.find("MatMul"), std::string::npos) << text;
  EXPECT_THROW(net({zeros({4, 2})}), Error);
  EXPECT_THROW(net({zeros({4, 3}, Dtype::f32)}), Error);
  EXPECT_THROW(net({}), Error);
}
