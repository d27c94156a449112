// SPDX-License-Identifier: Apache-2.0
//
// Attention in blocks beside attention that holds all scores, at the lengths and sizes at which
// blocks end; its memory; batches, plans, numbers that are none.
#include "tessera/autodiff/ops/attention.h"

#include "error_text.h"
#include "same_bits.h"
#include "tessera/autodiff/check.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/jet.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/memory.h"
#include "tessera/autodiff/ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace tessera {
namespace {

using testing::message_of;
using Tensors = std::vector<Tensor>;

/// The same, with a mask of numbers, which takes the other way.
AttentionOptions with_scores(const AttentionOptions& o, Dtype t) {
  return {o.causal,
          o.mask ? where(*o.mask, zeros({}, t), full({}, -INFINITY, t)) : zeros({1, 1}, t)};
}
FlatFunction attention_with(const AttentionOptions& o) {
  return [o](const Tensors& x) {
    const AttentionPart r = attention_part(x[0], x[1], x[2], o);
    return Tensors{r.y, r.log_sum};
  };
}
std::vector<double> in_f64(const Tensor& t) { return cast(t, Dtype::f64).to_vector(); }
/// Largest difference over the largest modulus; equal infinities differ by 0.
double apart(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.type(), b.type());
  const std::vector<double> x = in_f64(a), y = in_f64(b);
  double most = 0, scale = 1e-300;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] == y[i] && std::isinf(x[i])) continue;
    if (!(std::abs(x[i] - y[i]) <= most)) most = std::abs(x[i] - y[i]);
    scale = std::max(scale, std::abs(y[i]));
  }
  return most / scale;
}

struct Sizes {
  Index n, m, d, e;
};
std::string text(const Sizes& s) {
  return std::to_string(s.n) + " queries, " + std::to_string(s.m) + " keys, features " +
         std::to_string(s.d) + " and " + std::to_string(s.e);
}
Tensors operands(const Sizes& s, Dtype t, std::uint64_t seed, Index heads = 2) {
  const auto of = [&](std::uint64_t k, Index tokens, Index features) {
    return cast(normal(random_key(10 * seed + k), {tokens, heads, features}), t);
  };
  return {of(1, s.n, s.d), of(2, s.m, s.d), of(3, s.m, s.e)};
}
/// Values, tangents and gradients of all operands, cotangents of L 0 where a query sees nothing.
Tensors everything(const AttentionOptions& o, const Tensors& x, const Tensors& t) {
  const FlatFunction f = attention_with(o);
  const auto [y, ty] = detail::jvp_flat(f, x, t);
  const Tensor u = cos(arange(y[0].size(), Dtype::f64) * 0.7),
               w = sin(arange(y[1].size(), Dtype::f64) * 1.3);
  const Tensors g = detail::pull(
      detail::linearize_flat("vjp", f, x),
      {cast(reshape(u, y[0].shape()), x[0].dtype()), cast(reshape(w, y[1].shape()), x[0].dtype())});
  Tensors all = y;
  all.insert(all.end(), ty.begin(), ty.end());
  all.insert(all.end(), g.begin(), g.end());
  return all;
}
/// In units of epsilon.
void expect_as_by_scores(const AttentionOptions& o, const Sizes& s, Dtype t, double tolerance) {
  SCOPED_TRACE(text(s) + (o.causal ? ", causal" : "") + (o.mask ? ", masked" : ""));
  const Tensors x = operands(s, t, 1), moving = operands(s, t, 2);
  const Tensors got = everything(o, x, moving), want = everything(with_scores(o, t), x, moving);
  const double epsilon = t == Dtype::f32 ? 1.2e-7 : 2.3e-16;
  for (std::size_t k = 0; k < got.size(); ++k)
    EXPECT_LE(apart(got[k], want[k]), tolerance * epsilon) << "result " << k;
}

TEST(AttentionBlocks, InBlocksIsAttentionByScoresWhereverBlocksEnd) {
  // Blocks have 256 and 128 keys, 128 and 256 queries, groups of 64; tiles 2 to 32 features.
  const Sizes sizes[] = {{1, 1, 1, 1},       {3, 5, 3, 2},       {63, 64, 64, 80},
                         {65, 63, 1, 3},     {128, 129, 16, 17}, {129, 256, 8, 33},
                         {257, 257, 80, 64}, {300, 513, 5, 128}, {513, 300, 128, 1},
                         {64, 1, 2, 7},      {1, 300, 31, 4}};
  for (const Sizes& s : sizes)
    for (const Dtype t : {Dtype::f64, Dtype::f32})
      for (const bool causal : {false, true}) expect_as_by_scores({.causal = causal}, s, t, 64);
}

TEST(AttentionBlocks, InBlocksTakesMasksThatBroadcast) {
  const Sizes s{130, 257, 6, 3};
  const auto drawn = [](std::uint64_t seed, const Shape& shape) {
    return normal(random_key(seed), shape) > 0.5;
  };
  for (const Tensor& mask :
       {drawn(1, {130, 257}), drawn(2, {2, 1, 257}), drawn(3, {2, 130, 1}), drawn(4, {257}),
        drawn(5, {}), drawn(6, {3, 1, 130, 257}), drawn(7, {130, 1})})
    for (const bool causal : {false, true})
      expect_as_by_scores({.causal = causal, .mask = mask}, s, Dtype::f64, 64);
}

TEST(AttentionBlocks, HasNothingForQueriesThatSeeNothing) {
  const Sizes s{200, 130, 4, 3};  // causal: 70 queries lie before all keys
  const Tensors x = operands(s, Dtype::f64, 1), t = operands(s, Dtype::f64, 2);
  const Tensors r = everything({.causal = true}, x, t);
  EXPECT_EQ(slice(r[0], 0, 0, 70).to_vector(), std::vector<double>(70 * 2 * 3, 0.0));
  EXPECT_EQ(slice(r[1], 1, 0, 70).to_vector(), std::vector<double>(2 * 70, -INFINITY));
  for (std::size_t k = 2; k < r.size(); ++k)
    for (double value : r[k].to_vector()) EXPECT_TRUE(std::isfinite(value)) << "result " << k;
  EXPECT_EQ(slice(r[4], 0, 0, 70).to_vector(), std::vector<double>(70 * 2 * 4, 0.0));
  const Tensors none =
      everything({}, operands({3, 0, 4, 2}, Dtype::f64, 1), operands({3, 0, 4, 2}, Dtype::f64, 2));
  EXPECT_EQ(none[0].to_vector(), std::vector<double>(12, 0.0));
  EXPECT_EQ(none[1].to_vector(), std::vector<double>(6, -INFINITY));
  EXPECT_EQ(none[4].to_vector(), std::vector<double>(24, 0.0));
  EXPECT_EQ(none[6].shape(), (Shape{0, 2, 2}));
  const Tensors idle =
      everything({}, operands({0, 3, 4, 2}, Dtype::f64, 1), operands({0, 3, 4, 2}, Dtype::f64, 2));
  EXPECT_EQ(idle[0].shape(), (Shape{0, 2, 2}));
  EXPECT_EQ(idle[5].to_vector(), std::vector<double>(24, 0.0));
  EXPECT_EQ(attention(zeros({2, 3, 1, 0}), zeros({2, 4, 1, 0}), ones({4, 1, 2})).to_vector(),
            std::vector<double>(12, 1.0));  // no features: all keys alike
}

TEST(AttentionBlocks, OfHugeScoresAndNumbersThatAreNone) {
  for (const Dtype t : {Dtype::f32, Dtype::f64}) {
    const auto of = [&](const std::vector<double>& v) {
      return cast(tensor(v, {static_cast<Index>(v.size()), 1, 1}), t);
    };
    // The key with the largest score takes all; the shift of scores does not matter.
    const Tensor far = attention(of({1e6, -1e6}), of({-1e6, 3e6, 2e6}), of({1, 2, 4}));
    EXPECT_EQ(in_f64(far), (std::vector<double>{2, 1}));
    const AttentionPart low = attention_part(of({1}), of({-700, -701}), of({1, 1}));
    EXPECT_NEAR(in_f64(low.log_sum)[0], -700 + std::log1p(std::exp(-1.0)), 1e-4);
    // A query that is no number is alone with it; a key is everybody's who sees it.
    const Tensor y = attention(of({NAN, 1}), of({1, 2}), of({3, 4}));
    EXPECT_TRUE(std::isnan(in_f64(y)[0]));
    EXPECT_TRUE(std::isfinite(in_f64(y)[1]));
    const Tensor z = attention(of({1, 1}), of({1, NAN}), of({3, 4}), {.causal = true});
    EXPECT_EQ(in_f64(z)[0], 3);
    EXPECT_TRUE(std::isnan(in_f64(z)[1]));
  }
}

TEST(AttentionBlocks, OfPartsOfTheKeysJoins) {
  const Tensors x = operands({20, 300, 8, 5}, Dtype::f64, 1);
  const AttentionPart all = attention_part(x[0], x[1], x[2]);
  const auto part = [&](Index from, Index to) {
    return attention_part(x[0], slice(x[1], 0, from, to), slice(x[2], 0, from, to));
  };
  const AttentionPart a = part(0, 77), b = part(77, 300);
  const Tensor largest = maximum(a.log_sum, b.log_sum),
               l = largest + log(exp(a.log_sum - largest) + exp(b.log_sum - largest));
  const auto share = [&](const AttentionPart& p) {
    return p.y * expand_dims(transpose(exp(p.log_sum - l)), 2);
  };
  EXPECT_LE(apart(l, all.log_sum), 1e-15);
  EXPECT_LE(apart(share(a) + share(b), all.y), 1e-15);
}

TEST(AttentionBlocks, BroadcastsAndMapsOverLeadingAxes) {
  const Tensor q = normal(random_key(1), {3, 1, 70, 2, 4}),
               k = normal(random_key(2), {5, 80, 2, 4}), v = normal(random_key(3), {80, 2, 6});
  const AttentionOptions o{.causal = true};
  const Tensor y = attention(q, k, v, o);
  ASSERT_EQ(y.shape(), (Shape{3, 5, 70, 2, 6}));
  for (Index i = 0; i < 3; ++i)
    for (Index j = 0; j < 5; ++j)
      EXPECT_TRUE(same_bits(select(select(y, 0, i), 0, j),
                            attention(select(select(q, 0, i), 0, 0), select(k, 0, j), v, o)));
  const Tensor mapped = vmap([&](Tensor q) {
    return vmap([&](Tensor k) { return attention(select(q, 0, 0), k, v, o); })(k);
  })(q);
  EXPECT_TRUE(same_bits(mapped, y));
  // Operands of any strides: heads before tokens, features first.
  const Tensor turned = contiguous(moveaxis(q, -2, 0)), last = contiguous(moveaxis(v, -1, 0));
  EXPECT_TRUE(same_bits(attention(moveaxis(turned, 0, -2), k, moveaxis(last, 0, -1), o), y));
  const auto f = [&](Tensor q, Tensor k) { return sum(sin(attention(q, k, v, o))); };
  EXPECT_TRUE(same_bits(grad(f)(moveaxis(turned, 0, -2), k), grad(f)(q, k)));
}

TEST(AttentionBlocks, PlannedHasTheBitsOfEager) {
  const Tensors x = operands({140, 200, 5, 4}, Dtype::f32, 1);
  const Tensor mask = normal(random_key(9), {140, 200}) > 0;
  const auto f = [&](const Tensors& x) {
    return sum(square(attention(x[0], x[1], x[2], {.causal = true, .mask = mask})));
  };
  const auto both = value_and_grad(f);
  const auto planned = jit(both);
  const auto [value, g] = both(x);
  for (int k = 0; k < 3; ++k) {
    const auto [again, h] = planned(x);
    EXPECT_TRUE(same_bits(again, value));
    for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(same_bits(h[i], g[i]));
  }
}

TEST(AttentionBlocks, HoldsNoScores) {
  constexpr Index n = 3000;
  const Tensors x = operands({n, n, 16, 16}, Dtype::f32, 1),
                t = operands({n, n, 16, 16}, Dtype::f32, 2);
  const std::size_t one = static_cast<std::size_t>(x[0].size()) * 4;
  for (const bool causal : {false, true}) {
    reset_peak_memory();
    const std::size_t before = memory_stats().peak;
    const FlatFunction f = attention_with({.causal = causal});
    detail::jvp_flat(f, x, t);
    detail::pull(detail::linearize_flat("vjp", f, x), {t[0], Tensor()});
    EXPECT_LE(memory_stats().peak - before, 8 * one);  // one matrix of scores: 187 of them
  }
}

TEST(AttentionBlocks, OfBlocksHasSecondDerivativesAndSeries) {
  const Tensors x = operands({66, 70, 2, 3}, Dtype::f64, 1, 1);
  const auto f = [](const Tensors& x) {
    const AttentionPart r = attention_part(x[0], x[1], x[2], {.causal = true});
    return Tensors{r.y, r.log_sum};
  };
  EXPECT_TRUE(detail::gradcheck_flat(f, x, {.order = 2, .directions = 1}));
  EXPECT_TRUE(detail::transpose_check_flat(f, x, {.order = 2, .directions = 1, .atol = 1e-13}));
  // d^2/dt^2 along a line: twice the second coefficient.
  const Tensor t = normal(random_key(7), x[0].shape());
  const auto along = [&](Tensor s) { return sum(f({x[0] + s * t, x[1], x[2]})[0]); };
  const auto series = jet(along, 2)(Tensor(0.0), Tensor(1.0));
  EXPECT_NEAR(2 * series[2].item(), grad(grad(along))(Tensor(0.0)).item(), 1e-11);
}

TEST(AttentionBlocks, NamesWhatDoesNotFit) {
  const Tensor x = zeros({3, 2, 4});
  const auto says = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  says(message_of([&] { attention(x, x, zeros({2, 4})); }), "v has axes [..., tokens, heads");
  says(message_of([&] { attention(x, zeros({3, 1, 4}), x); }), "differ: f64[3,2,4], f64[3,1,4]");
  says(message_of([&] { attention(cast(x, Dtype::c128), x, x); }), "use cast");
  says(
      message_of([&] { attention(cast(x, Dtype::i32), cast(x, Dtype::i32), cast(x, Dtype::i32)); }),
      "use cast");
  says(message_of([&] {
         attention(zeros({2, 3, 2, 4}), zeros({5, 3, 2, 4}), x);
       }),
       "do not broadcast");
  EXPECT_EQ(attention(cast(x, Dtype::f32), x, x).dtype(), Dtype::f64);
}

// Of one query and a mask for six there is one result, not six.
TEST(AttentionBlocks, AMaskAddsNoHeadsQueriesOrKeys) {
  const Tensor q = ones({2, 1, 3}), k = ones({4, 1, 3}), v = ones({4, 1, 2});
  for (const Dtype t : {Dtype::f64, Dtype::boolean}) {
    const auto under = [&](const Tensor& q, const Shape& s) {
      return attention(q, k, v, {.mask = cast(ones(s), t)});
    };
    for (const Shape& s : {Shape{5, 2, 4}, Shape{6, 4}, Shape{2, 5}, Shape{3}}) {
      const std::string text = message_of([&] { under(q, s); });
      EXPECT_NE(text.find("[attention] a mask has axes [..., heads, queries, keys], here [..., "
                          "1,2,4] or 1 in their place, got " +
                          to_string(Type{t, s})),
                std::string::npos)
          << text;
    }
    EXPECT_NE(message_of([&] {
                under(slice(q, 0, 0, 1), {6, 4});
              }).find("1,1,4]"),
              std::string::npos);
    EXPECT_EQ(under(q, {3, 1, 1, 4}).shape(), (Shape{3, 2, 1, 2}));
    EXPECT_EQ(under(q, {2, 1}).shape(), (Shape{2, 1, 2}));
  }
}

TEST(AttentionBlocks, AMaskOfAnotherPrecisionChangesNone) {
  const Tensor q = cast(ones({2, 1, 4}), Dtype::f32);
  EXPECT_EQ(attention(q, q, q, {.mask = zeros({2, 2})}).dtype(), Dtype::f32);
  const std::string refused = message_of([&] {
    attention(q, q, q, {.mask = cast(zeros({2, 2}), Dtype::c128)});
  });
  EXPECT_NE(refused.find("a mask is of truth values or real numbers"), std::string::npos)
      << refused;
}

}  // namespace
}  // namespace tessera
