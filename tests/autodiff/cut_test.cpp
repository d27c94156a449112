// SPDX-License-Identifier: Apache-2.0
//
// Boxes of results: those of the whole call, for every operation with a rule, at borders and
// between them; and no more of the inputs than is met.
#include "tessera/autodiff/cut.h"

#include "tessera/autodiff/check.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/nn.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/ops/window.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace tessera {
namespace {

using OfImage = std::function<Tensor(const Tensor&)>;

/// Whole numbers, so that sums have the same bits in any order.
Tensor whole_numbers(const Shape& s, std::uint64_t key = 1) {
  return cast(cast(normal(random_key(key), s) * 50.0, Dtype::i64), Dtype::f64);
}
Tensor piece_of(const Tensor& x, const Box& b) {
  return x.ndim() == 0 ? x : contiguous(slice(x, b.begin, b.end));
}
bool bits_agree(const Tensor& a, const Tensor& b) {
  if (a.type() != b.type()) return false;
  const auto x = a.to_vector(), y = b.to_vector();
  return x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(double)) == 0;
}
Graph graph_at(const OfImage& f, const Shape& s) {
  const Type t{Dtype::f64, s};
  return trace([&](const std::vector<Tensor>& x) { return std::vector{f(x[0])}; }, {&t, 1});
}
Tensor of_box(const Cut& c, const Tensor& x) {
  return evaluate(c.graph, c.operands({piece_of(x, c.inputs[0])}))[0];
}

/// f in boxes of its result, chosen by chance, as in the whole; also what every box meets of x,
/// beyond which nothing may change it.
void expect_boxes_of_whole(const OfImage& f, const Shape& s, int tries = 40) {
  const Tensor x = whole_numbers(s), y = f(x);
  const Graph g = graph_at(f, s);
  std::mt19937 chance(7);
  for (int k = 0; k < tries; ++k) {
    Box b = whole_box(y.shape());
    for (int d = 0; d < y.ndim(); ++d) {
      const Index n = y.shape()[d];
      if (n == 0) continue;
      b.begin[d] = static_cast<Index>(chance() % static_cast<unsigned>(n));
      b.end[d] =
          b.begin[d] + 1 + static_cast<Index>(chance() % static_cast<unsigned>(n - b.begin[d]));
      if (chance() % 4 == 0) b.begin[d] = 0;
      if (chance() % 4 == 0) b.end[d] = n;
    }
    const Cut c = cut(g, b, {true});
    EXPECT_TRUE(c.inputs[0].within(whole_box(s)));
    EXPECT_TRUE(bits_agree(of_box(c, x), piece_of(y, b)))
        << to_string(b) << " of " << to_string(y.type()) << ", met: " << to_string(c.inputs[0]);
  }
}

TEST(Cut, RearrangementsAndElementwiseOperations) {
  expect_boxes_of_whole(
      [](const Tensor& x) {
        return transpose(square(x) + 1.0, {2, 0, 1});
      },
      {7, 6, 3});
  expect_boxes_of_whole(
      [](const Tensor& x) {
        return reverse(slice(x, {1, 0}, {9, 7}, {3, 2}), {0});
      },
      {9, 7});
  expect_boxes_of_whole([](const Tensor& x) { return pad(x, {2, 0}, {1, 3}, {0, 2}, 5); }, {4, 5});
  expect_boxes_of_whole(
      [](const Tensor& x) {
        return concatenate({slice(x, 0, 2, 5), x, reverse(x, {0, 1})}, 0);
      },
      {6, 4});
  expect_boxes_of_whole(
      [](const Tensor& x) {
        return x * tensor({1.0, 2.0, 3.0}) + reshape(arange(5, Dtype::f64), {5, 1, 1});
      },
      {5, 4, 3});
  expect_boxes_of_whole([](const Tensor& x) { return where(x > 0.0, x, -2.0 * x); }, {11});
}

TEST(Cut, Reshapes) {
  for (const auto& [from, to] : {std::pair<Shape, Shape>{{12, 5}, {3, 4, 5}},
                                 {{3, 4, 5}, {12, 5}},
                                 {{4, 6}, {8, 3}},
                                 {{6, 4}, {24}},
                                 {{24}, {2, 3, 4}},
                                 {{1, 6, 1, 4}, {6, 4}},
                                 {{6, 4}, {1, 6, 1, 4, 1}},
                                 {{1}, {1, 1}},
                                 {{6, 10}, {4, 15}}})
    expect_boxes_of_whole([to = to](const Tensor& x) { return reshape(x, to); }, from);
}

TEST(Cut, SumsAndProductsKeepTheirAxes) {
  expect_boxes_of_whole([](const Tensor& x) { return sum(x, {1}); }, {5, 4, 3});
  expect_boxes_of_whole([](const Tensor& x) { return max(x, {0, 2}); }, {5, 4, 3});
  expect_boxes_of_whole([](const Tensor& x) { return cast(argmax(x, 1), Dtype::f64); }, {5, 4, 3});
  const Tensor w = whole_numbers({3, 6}, 2);
  expect_boxes_of_whole([&](const Tensor& x) { return matmul(x, w); }, {5, 4, 3});
  expect_boxes_of_whole([](const Tensor& x) { return x - sum(x); }, {5, 4});
}

TEST(Cut, ConvolutionsOfAnyWindow) {
  std::mt19937 chance(3);
  const auto from = [&](Index low, Index high) {
    return low + static_cast<Index>(chance() % static_cast<unsigned>(high - low + 1));
  };
  for (int k = 0; k < 60; ++k) {
    const int d = static_cast<int>(from(1, 3));
    Shape size;
    Convolution how;
    Shape x{from(1, 2)};
    for (int a = 0; a < d; ++a) {
      size.push_back(from(1, 5));
      how.stride.push_back(from(1, 3)), how.dilation.push_back(from(1, 3));
      how.input_dilation.push_back(from(1, 3));
      how.low.push_back(from(-2, 6)), how.high.push_back(from(0, 6));
      x.push_back(from(1, d == 3 ? 6 : 14));
    }
    how.groups = from(1, 2);
    x.push_back(4);
    Shape w = size;
    w.push_back(4 / how.groups), w.push_back(6);
    const Tensor weights = whole_numbers(w, 5);
    expect_boxes_of_whole([&](const Tensor& t) { return convolution(t, weights, how); }, x, 12);
    const Shape y = convolution(zeros(x), weights, how).shape();
    if (y.count() == 0) continue;
    expect_boxes_of_whole(  // the gradient of x is a function of an image, too
        [&](const Tensor& ct) {
          return vjp([&](const Tensor& t) { return convolution(t, weights, how); }, zeros(x))
              .second(ct);
        },
        y, 12);
  }
}

TEST(Cut, PoolsAndInterpolation) {
  for (const Window& w :
       {Window{{3, 2}, {2, 1}, {2, 0}, {1, 1}, {1, 1}, 1}, Window{{2, 2}, {2, 2}, {}, {}, {}, 1},
        Window{{7, 9}, {1, 2}, {3, 4}, {3, 4}, {}, 1},
        Window{{2, 3}, {1, 1}, {1, 2}, {2, 3}, {2, 3}, 1}}) {
    expect_boxes_of_whole([&](const Tensor& x) { return window_max(x, w); }, {9, 13, 2});
    expect_boxes_of_whole([&](const Tensor& x) { return window_min(x, w); }, {9, 13, 2});
    expect_boxes_of_whole([&](const Tensor& x) { return window_sum(x, w); }, {9, 13, 2});
    expect_boxes_of_whole([&](const Tensor& x) { return window_mean(x, w); }, {9, 13, 2});
  }
  expect_boxes_of_whole([](const Tensor& x) { return nn::max_pool(x, {2, 3}); }, {1, 9, 13, 2});
  expect_boxes_of_whole(
      [](const Tensor& x) {
        return 6.0 * nn::mean_pool(x, {2, 3});
      },
      {1, 9, 13, 2});
  expect_boxes_of_whole(
      [](const Tensor& x) {
        return nn::upsample_nearest(x, {3, 2});
      },
      {1, 5, 4, 2});
  // Between neighbours, along positions that are known: x2 of 9 elements.
  const Tensor left = cast(floor(arange(17, Dtype::f64) / 2.0), Dtype::i64),
               right = minimum(left + 1, 8);
  const Tensor t = reshape(arange(17, Dtype::f64) / 2.0 - cast(left, Dtype::f64), {17, 1});
  const auto twice = [&](const Tensor& x) {
    return (1.0 - t) * take(x, left, 0) + t * take(x, right, 0);
  };
  expect_boxes_of_whole(twice, {9, 4});
  const Cut c = cut(graph_at(twice, {9, 4}), {{5, 1}, {8, 3}}, {true});
  EXPECT_EQ(c.inputs[0], (Box{{2, 1}, {5, 3}}));  // left 2, 3, 3; right 3, 4, 4
}

/// Even and wide windows, strides, dilations, pools, and back to the size of the image.
Tensor deep_net(const Tensor& x) {
  Tensor y = convolution(x, whole_numbers({4, 4, 2, 3}, 2), {.low = {1, 1}, .high = {2, 2}});
  y = convolution(y, whole_numbers({3, 3, 3, 4}, 3),
                  {.stride = {2, 2}, .low = {2, 2}, .high = {2, 2}, .dilation = {2, 2}});
  y = nn::relu(y);
  y = nn::max_pool(y, {2, 2});
  y = nn::upsample_nearest(y, {2, 2});
  return convolution(y, whole_numbers({4, 4, 4, 1}, 4),
                     {.low = {2, 2}, .high = {3, 3}, .input_dilation = {2, 2}});
}

TEST(Cut, ANetworkIsThatOfTheWholeAndMeetsNoMore) {
  expect_boxes_of_whole(deep_net, {1, 40, 33, 2}, 60);
  const Graph g = graph_at(deep_net, {1, 40, 33, 2});
  const Tensor x = whole_numbers({1, 40, 33, 2});
  const Box b{{0, 12, 10, 0}, {1, 20, 15, 1}};
  const Cut c = cut(g, b, {true});
  // What lies beyond the box that is met has no part in it.
  const Box met = c.inputs[0];
  EXPECT_NE(met, whole_box(x.shape()));
  Shape high = x.shape();
  for (int d = 0; d < 4; ++d) high[d] -= met.end[d];
  const Tensor spoilt = pad(piece_of(x, met), met.begin, high, {}, std::nan(""));
  EXPECT_TRUE(bits_agree(piece_of(deep_net(spoilt), b), of_box(c, x)));
}

TEST(Cut, WidthsAreThoseOfTheWindows) {
  const auto reach = [](const OfImage& f, const Box& b) {
    return cut(graph_at(f, {1, 100, 100, 1}), b, {true}).inputs[0];
  };
  const Box middle{{0, 40, 50, 0}, {1, 44, 58, 1}};
  const Tensor w = ones({4, 3, 1, 1});
  EXPECT_EQ(reach(
                [&](const Tensor& x) {
                  return convolution(x, w, {.low = {1, 1}, .high = {2, 1}});
                },
                middle),
            (Box{{0, 39, 49, 0}, {1, 46, 59, 1}}));
  EXPECT_EQ(reach(
                [&](const Tensor& x) {
                  return convolution(
                      x, w, {.stride = {2, 2}, .low = {1, 1}, .high = {2, 2}, .dilation = {1, 3}});
                },
                {{0, 0, 10, 0}, {1, 3, 12, 1}}),
            (Box{{0, 0, 19, 0}, {1, 7, 28, 1}}));  // rows -1 ... 6, columns 19 ... 21 + 6
  EXPECT_EQ(reach(
                [&](const Tensor& x) {
                  return nn::max_pool(x, {3, 2});
                },
                {{0, 2, 3, 0}, {1, 4, 5, 1}}),
            (Box{{0, 6, 6, 0}, {1, 12, 10, 1}}));
}

TEST(Cut, Edges) {
  const OfImage f = [](const Tensor& x) {
    return convolution(x, ones({9, 9, 1, 2}), {.low = {4, 4}, .high = {4, 4}});
  };
  expect_boxes_of_whole(f, {1, 1, 1, 1});   // one pixel under a wide window
  expect_boxes_of_whole(f, {1, 2, 30, 1});  // a row
  // No channels: sums of nothing.
  const OfImage none = [](const Tensor& x) {
    return convolution(x, ones({3, 3, 0, 2}), {.low = {1, 1}, .high = {1, 1}});
  };
  expect_boxes_of_whole(none, {1, 4, 5, 0});
  // A box of padding alone.
  expect_boxes_of_whole([](const Tensor& x) { return pad(x, {9}, {9}); }, {2});
  // An image that nothing uses, and an empty box.
  const Cut c = cut(graph_at(
                        [](const Tensor&) {
                          return ones({5, 5});
                        },
                        {4, 4}),
                    {{1, 1}, {2, 3}}, {true});
  EXPECT_TRUE(c.inputs[0].empty());
  EXPECT_TRUE(bits_agree(of_box(c, ones({4, 4})), ones({1, 2})));
  const Cut e = cut(graph_at(f, {1, 4, 4, 1}), {{0, 2, 2, 0}, {1, 2, 4, 2}}, {true});
  EXPECT_EQ(of_box(e, ones({1, 4, 4, 1})).shape(), (Shape{1, 0, 2, 2}));
  // NaN goes where the window meets it.
  Tensor x = ones({1, 9, 9, 1});
  x = where(equal(reshape(arange(81), {1, 9, 9, 1}), 40), std::nan(""), x);
  const OfImage g = [](const Tensor& t) {
    return convolution(t, ones({3, 3, 1, 1}), {.low = {1, 1}, .high = {1, 1}});
  };
  const Tensor y = of_box(cut(graph_at(g, {1, 9, 9, 1}), {{0, 0, 0, 0}, {1, 5, 9, 1}}, {true}), x);
  EXPECT_EQ(sum(cast(not_equal(y, y), Dtype::f64)).item(), 6);
}

TEST(Cut, ConstantsThatRepeatAreKeptOnce) {
  const Tensor bias = whole_numbers({5}, 9);
  const OfImage f = [bias](const Tensor& x) {
    return nn::relu(x + bias) * broadcast_to(2.0, {8, 5});
  };
  expect_boxes_of_whole(f, {8, 5});
  const Cut c = cut(graph_at(f, {8, 5}), {{2, 1}, {6, 4}}, {true});
  ASSERT_EQ(c.captures.size(), c.constants.size());
  Index kept = 0;
  for (const Tensor& t : c.captures) kept = std::max(kept, t.size());
  EXPECT_EQ(kept, 5);
  // Of rows that repeat nothing is asked, then one; an axis without positions stays so.
  const OfImage rows = [bias](const Tensor& x) {
    return concatenate({broadcast_to(bias, {3, 5}), x}, 0);
  };
  expect_boxes_of_whole(rows, {4, 5});
  const OfImage shifted = [](const Tensor& x) { return x + broadcast_to(1.0, {0, 5}); };
  const Cut empty = cut(graph_at(shifted, {0, 5}), whole_box({0, 5}), {true});
  const Tensor none = of_box(empty, zeros({0, 5}));
  EXPECT_EQ(none.shape(), Shape({0, 5}));
}

TEST(Cut, DerivativesAreThoseOfTheBox) {
  const Shape s{1, 12, 11, 2};
  const Graph g = graph_at(deep_net, s);
  const Box b{{0, 2, 3, 0}, {1, 7, 9, 1}};
  const Cut c = cut(g, b, {true});
  const Tensor x = whole_numbers(s), weights = whole_numbers(b.extents(), 9);
  const auto local = [&](const Tensor& v) {
    return sum(weights * square(evaluate(c.graph, c.operands({v}))[0]));
  };
  const auto whole = [&](const Tensor& v) {
    return sum(weights * square(piece_of(deep_net(v), b)));
  };
  const auto at = piece_of(x, c.inputs[0]);
  EXPECT_TRUE(bits_agree(grad(local)(at), piece_of(grad(whole)(x), c.inputs[0])));
  const Tensor v = whole_numbers(s, 4);
  EXPECT_TRUE(bits_agree(hvp(local, at, piece_of(v, c.inputs[0])),
                         piece_of(hvp(whole, x, v), c.inputs[0])));
}

TEST(Cut, WhatHasNoRuleIsNamed) {
  const auto text = [](const OfImage& f, const Shape& s, const Box& b) -> std::string {
    try {
      (void)cut(graph_at(f, s), b, {true});
    } catch (const Error& e) {
      return e.what();
    }
    return {};
  };
  const OfImage sums = [](const Tensor& x) { return cumsum(x, 0) * 2.0; };
  const std::string told = text(sums, {6, 4}, {{1, 0}, {2, 4}});
  EXPECT_NE(told.find("cumsum"), std::string::npos) << told;
  EXPECT_NE(told.find("cut_test.cpp:"), std::string::npos) << told;
  EXPECT_EQ(text(sums, {6, 4}, whole_box({6, 4})), "");  // of the whole there is nothing to cut
  // What does not depend on the image is computed whole.
  const auto scaled = [](const Tensor& x) { return x * cumsum(ones({4}), 0); };
  expect_boxes_of_whole(scaled, {6, 4});
  // A rule of the user's own says nothing of boxes, and is never passed over.
  const OfImage with_rule = [](const Tensor& x) {
    return custom_jvp(
        [](const std::vector<Tensor>& v) { return std::vector{exp(v[0])}; },
        [](const std::vector<Tensor>&, const std::vector<Tensor>& y, const std::vector<Tensor>& t) {
          return std::vector{y[0] * t[0]};
        })({x})[0];
  };
  EXPECT_NE(text(with_rule, {6}, {{1}, {3}}).find("custom_call"), std::string::npos);
  EXPECT_NE(text([](const Tensor& x) { return x; }, {6}, {{3}, {7}}).find("no box"),
            std::string::npos);
  // What takes all of an axis is told.
  const Cut c =
      cut(graph_at([](const Tensor& x) { return x - mean(x); }, {6, 4}), {{0, 0}, {1, 4}}, {true});
  ASSERT_EQ(c.sweeps.size(), 1u);
  EXPECT_EQ(c.sweeps[0].find("reduce_sum, "), 0u) << c.sweeps[0];
}

TEST(Cut, WhatIsUsedOfAnOuterTransformIsRefused) {
  const auto f = [](const Tensor& a) {
    const Graph g = graph_at([&](const Tensor& x) { return a * x; }, {4});
    return sum(of_box(cut(g, {{0}, {2}}, {true}), ones({4})));
  };
  EXPECT_THROW(grad(f)(Tensor(2.0)), Error);
}

}  // namespace
}  // namespace tessera
