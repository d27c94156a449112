// SPDX-License-Identifier: Apache-2.0
// Single nodes of foreign files: what they make, and what is refused of them.
#include "onnx_messages.h"
#include "tessera/autodiff/ops.h"
#include "tessera/data/onnx.h"

#include <gtest/gtest.h>

#include <limits>

using namespace tessera;
using namespace tessera::data;
using namespace tessera::testing;

namespace {

std::string onnx_integers(const std::string& name, const std::vector<std::uint64_t>& dims,
                          const std::vector<std::int64_t>& v) {
  return onnx_tensor(name, dims, 7,
                     bytes_field(9, {reinterpret_cast<const char*>(v.data()), 8 * v.size()}));
}
std::vector<float> answer_of(const std::string& graph, const Tensor& x) {
  return read_model(onnx_model(graph))({x})[0].to_vector<float>();
}

}  // namespace

// 0.7 of f32 lies below 0.7: its tenfold is 7 in single precision alone.
TEST(OnnxNodes, LengthsByScalesAreThoseOfSinglePrecision) {
  const auto resized = [](float scale, const std::string& attributes) {
    const std::string graph = onnx_tensor("s", {2}, 1, raw_floats({1, scale})) +
                              onnx_value(11, "x", {-1, 10}) + onnx_value(12, "y", {-1, -1}) +
                              onnx_node("Resize", {"x", "", "s"}, {"y"}, attributes);
    return answer_of(graph, reshape(arange(10, Dtype::f32), {1, 10}));
  };
  EXPECT_EQ(resized(0.7F, "").size(), 7u);
  EXPECT_EQ(resized(0.9F, "").size(), 9u);
  EXPECT_EQ(resized(1.4F, "").size(), 14u);
  EXPECT_EQ(resized(1.9F, "").size(), 19u);
  EXPECT_EQ(resized(0.75F, "").size(), 7u);
  const std::vector<float> corners =
      resized(0.7F, onnx_text("mode", "linear") +
                        onnx_text("coordinate_transformation_mode", "align_corners"));
  ASSERT_EQ(corners.size(), 7u);
  EXPECT_EQ(corners.front(), 0);
  EXPECT_EQ(corners.back(), 9);
}

TEST(OnnxNodes, RunningSumsWithoutTheElementLoseNothing) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  const auto summed = [](const std::vector<float>& x, const std::string& attributes) {
    const std::string graph = onnx_integers("a", {}, {0}) + onnx_value(11, "x", {-1}) +
                              onnx_value(12, "y", {-1}) +
                              onnx_node("CumSum", {"x", "a"}, {"y"}, attributes);
    return answer_of(graph, tensor(x));
  };
  const std::string exclusive = onnx_number("exclusive", 1);
  EXPECT_EQ(summed({1, 1e8F, inf}, exclusive), (std::vector<float>{0, 1, 1e8F}));
  EXPECT_EQ(summed({inf, 1e8F, 1}, exclusive + onnx_number("reverse", 1)),
            (std::vector<float>{1e8F, 1, 0}));
  EXPECT_EQ(summed({5}, exclusive), std::vector<float>{0});
  EXPECT_TRUE(summed({}, exclusive).empty());
}

TEST(OnnxNodes, ABranchHasAsManyResultsAsItsNode) {
  const auto model = [](const std::vector<std::string>& results) {
    const std::string branch = onnx_node("Relu", {"x"}, {"t"}) + onnx_value(12, "t", {-1, 2});
    return onnx_model(
        onnx_tensor("c", {}, 9, bytes_field(9, std::string(1, '\1'))) + kX + kY +
        onnx_node("If", {"c"}, results,
                  onnx_graph("then_branch", branch) + onnx_graph("else_branch", branch)) +
        onnx_node("Identity", {results.back()}, {"y"}));
  };
  const Tensor x = tensor(std::vector<float>{-1, 2}, {1, 2});
  EXPECT_EQ(read_model(model({"a"}))({x})[0].to_vector<float>(), (std::vector<float>{0, 2}));
  expect_onnx_refused(439, model({"a", "b"}), "'then_branch' has 1 results, expected 2");
}

TEST(OnnxNodes, OperandsThatRepeatBeyondTheMemoryAreRefused) {
  constexpr std::uint64_t n = 300000;  // n x n elements take 360 GB
  const auto refusal = [](const std::string& op, const std::vector<std::string>& in,
                          const std::string& attributes = "") {
    const std::string w = raw_floats(std::vector<float>(n, 1.0F));
    const std::string graph =
        onnx_tensor("a", {n, 1}, 1, w) + onnx_tensor("b", {1, n}, 1, w) +
        onnx_tensor("c", {}, 9, bytes_field(9, std::string(1, '\1'))) +
        onnx_integers("i", {n}, std::vector<std::int64_t>(n, 0)) +
        onnx_tensor("p", {1, 1, 4, 4}, 1, raw_floats(std::vector<float>(16, 1.0F))) +
        onnx_tensor("k", {1, 1, 1, 1}, 1, raw_floats({1})) + kX + kY +
        onnx_node(op, in, {"z"}, attributes) + onnx_node("Identity", {"z"}, {"y"});
    const OnnxNetwork net = read_model(onnx_model(graph));
    return fault([&] { net({zeros({1, 2}, Dtype::f32)}); }).number;
  };
  for (const char* op : {"Add", "Pow", "Max", "Less", "MatMul", "Gemm", "LayerNormalization"})
    EXPECT_EQ(refusal(op, {"a", "b"}), 403) << op;
  EXPECT_EQ(refusal("Where", {"c", "a", "b"}), 403);
  EXPECT_EQ(refusal("Gather", {"b", "i"}), 403);
  EXPECT_EQ(refusal("Einsum", {"a", "b"}, onnx_text("equation", "ij,jk->ik")), 403);
  const std::uint64_t far = std::uint64_t{1} << 31;
  const std::string pads = onnx_numbers("pads", {far, far, far, far}),
                    one = onnx_numbers("kernel_shape", {1, 1});
  EXPECT_EQ(refusal("Conv", {"p", "k"}, pads), 403);
  EXPECT_EQ(refusal("ConvTranspose", {"p", "k"}, onnx_numbers("strides", {far, far})), 403);
  EXPECT_EQ(refusal("MaxPool", {"p"}, pads + one), 403);
  EXPECT_EQ(refusal("AveragePool", {"p"}, pads + one + onnx_number("count_include_pad", 1)), 403);
}
