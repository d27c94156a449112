// SPDX-License-Identifier: Apache-2.0
//
// Convolutions beside PyTorch's (references/make_convolution_reference.py), beside a loop of its
// own, and beside what else they are: matrix products, window sums, Fourier products.
#include "tessera/autodiff/ops/convolution.h"

#include "csv_cells.h"
#include "error_text.h"
#include "same_bits.h"
#include "tessera/autodiff/check.h"
#include "tessera/autodiff/jet.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/ops/window.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace tessera {
namespace {

using testing::message_of;

Tensor waves(const Shape& s, double step, Dtype t = Dtype::f64) {
  const Tensor k = arange(s.count(), Dtype::f64);
  const Tensor v = sin(step * (k + 1.0));
  return reshape(is_complex(t) ? cast(complex(v, cos(1.7 * step * k)), t) : cast(v, t), s);
}
double gap(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape()) return INFINITY;
  return a.size() == 0 ? 0 : (max(abs(a - b)) / (max(abs(b)) + 1e-300)).item();
}

/// Of a real scalar of two tensors.
template <class F>
std::pair<Tensor, Tensor> gradients_of(const F& f, const Tensor& u, const Tensor& v) {
  const auto [y, back] = vjp(f, u, v);
  const auto [gu, gv] = back(ones({}, y.dtype()));
  return {gu, gv};
}

TEST(Convolution, IsPyTorchs) {
  std::map<std::string, std::map<std::string, std::vector<double>>> cases;
  for (const auto& cells : csv_cells(std::string(TESSERA_SOURCE_DIR) +
                                     "/tests/autodiff/references/convolution_reference.csv")) {
    std::vector<double>& v = cases[cells[0]][cells[1]];
    for (std::size_t k = 2; k < cells.size(); ++k) v.push_back(std::stod(cells[k]));
  }
  EXPECT_EQ(cases.size(), 8u);
  for (auto& [name, r] : cases) {
    const auto shape = [&r = r](const char* what) {
      Shape s;
      for (double v : r[what]) s.push_back(static_cast<Index>(v));
      return s;
    };
    const Convolution c{shape("stride"),         shape("low"),
                        shape("high"),           shape("dilation"),
                        shape("input_dilation"), static_cast<Index>(r["groups"][0])};
    const Tensor x = tensor(r["x"], shape("shape_x")), w = tensor(r["w"], shape("shape_w")),
                 y = convolution(x, w, c), of_y = tensor(r["c"], y.shape());
    // Sums of at most 100 terms in another order.
    EXPECT_LE(gap(y, tensor(r["y"], y.shape())), 1e-14) << name;
    const auto [gx, gw] =
        gradients_of([&](Tensor u, Tensor v) { return sum(of_y * convolution(u, v, c)); }, x, w);
    EXPECT_LE(gap(gx, tensor(r["gx"], x.shape())), 1e-14) << name;
    EXPECT_LE(gap(gw, tensor(r["gw"], w.shape())), 1e-14) << name;
  }
}

TEST(Convolution, BordersMayDifferAndCutOff) {
  const Tensor x = tensor({1.0, 2.0, 3.0, 4.0}, {4, 1}), w = tensor({1.0, 10.0}, {2, 1, 1});
  const auto values = [&](const Convolution& c) { return convolution(x, w, c).to_vector(); };
  using V = std::vector<double>;
  EXPECT_EQ(values({}), (V{21, 32, 43}));
  EXPECT_EQ(values({.low = {1}, .high = {2}}), (V{10, 21, 32, 43, 4, 0}));
  EXPECT_EQ(values({.low = {-1}, .high = {1}}), (V{32, 43, 4}));
  EXPECT_EQ(values({.low = {-1}, .high = {-1}}), (V{32}));
  EXPECT_EQ(values({.stride = {2}, .low = {1}}), (V{10, 32}));
  EXPECT_EQ(values({.dilation = {3}}), (V{41}));
  EXPECT_EQ(values({.dilation = {4}}), V{});
  EXPECT_EQ(values({.input_dilation = {2}}), (V{1, 20, 2, 30, 3, 40}));
  EXPECT_EQ(values({.stride = {2}, .low = {-8}, .high = {16}}), (V(6, 0.0)));
}

TEST(Convolution, OfOnePositionIsAProduct) {
  for (const Dtype t : {Dtype::f32, Dtype::f64}) {
    const Tensor x = waves({3, 5, 4, 7}, 0.3, t), w = waves({1, 1, 7, 6}, 0.7, t);
    EXPECT_TRUE(same_bits(convolution(x, w), matmul(x, reshape(w, {7, 6}))));
  }
}

TEST(Convolution, OfOnesIsAWindowSum) {
  const Tensor x = waves({2, 9, 8}, 0.9);
  const Window window{
      .size = {3, 2}, .stride = {2, 3}, .low = {1, 1}, .high = {2, 0}, .dilation = {2, 1}};
  const Tensor y = convolution(expand_dims(x, -1), ones({3, 2, 1, 1}),
                               {window.stride, window.low, window.high, window.dilation});
  EXPECT_LE(gap(squeeze(y, -1), window_sum(x, window)), 1e-15);
}

const Convolution kKinds[] = {
    {},
    {.stride = {2, 1}, .low = {1, -1}, .high = {0, 2}},
    {.low = {2, 1}, .high = {2, 1}, .dilation = {2, 1}},
    {.stride = {1, 3}, .low = {2, 2}, .high = {3, 1}, .input_dilation = {2, 2}},
    {.stride = {3, 2}, .low = {1, 0}, .dilation = {1, 2}, .input_dilation = {2, 3}, .groups = 2},
    {.low = {1, 1}, .high = {1, 1}, .groups = 4}};

Shape weights_for(const Convolution& c, Index channels, Index out) {
  return {3, 2, channels / c.groups, out};
}

TEST(Convolution, DerivativesOfBothOperandsToSecondOrder) {
  for (const Convolution& c : kKinds)
    for (const Dtype t : {Dtype::f64, Dtype::c128}) {
      const std::tuple xw(waves({2, 5, 4, 4}, 0.37, t), waves(weights_for(c, 4, 4), 0.53, t));
      const auto f = [&](Tensor x, Tensor w) { return convolution(x * x, w, c); };
      const CheckReport adjoint = transpose_check(f, xw, {.order = 2, .rtol = 1e-12});
      EXPECT_TRUE(adjoint) << to_string(adjoint);
      const CheckReport differences = gradcheck(f, xw, {.order = 2, .directions = 2});
      EXPECT_TRUE(differences) << to_string(differences);
    }
}

TEST(Convolution, MapsOverEitherOperandAndBoth) {
  for (const Convolution& c : kKinds) {
    const std::tuple xw(waves({2, 5, 4, 4}, 0.3), waves(weights_for(c, 4, 8), 0.6));
    const CheckReport r = vmap_check([&](Tensor x, Tensor w) { return convolution(x, w, c); }, xw,
                                     {.order = 2, .rtol = 1e-13});
    EXPECT_TRUE(r) << to_string(r);
  }
  // Bits, of values and of both gradients; a map in a map.
  const Convolution c{.stride = {2}, .low = {2}, .high = {1}};
  const Tensor x = waves({3, 2, 2, 40, 5}, 0.31, Dtype::f32),
               w = waves({3, 2, 4, 5, 6}, 0.17, Dtype::f32);
  const auto gradients = [&](Tensor u, Tensor v) {
    return gradients_of([&](Tensor a, Tensor b) { return sum(square(convolution(a, b, c))); }, u,
                        v);
  };
  const auto all = vmap(vmap(gradients))(x, w);
  const auto one = gradients(select(select(x, 0, 2), 0, 1), select(select(w, 0, 2), 0, 1));
  EXPECT_TRUE(same_bits(select(select(all.first, 0, 2), 0, 1), one.first));
  EXPECT_TRUE(same_bits(select(select(all.second, 0, 2), 0, 1), one.second));
}

TEST(Convolution, TaylorModeIsNestedDerivatives) {
  const Convolution c = kKinds[3];
  const auto f = [&](Tensor x) {
    return convolution(sin(x), waves(weights_for(c, 4, 3), 0.7) * sum(x), c);
  };
  const CheckReport r = jetcheck(f, waves({1, 4, 4, 4}, 0.9), waves({1, 4, 4, 4}, 0.4), 3);
  EXPECT_TRUE(r) << to_string(r);
}

TEST(Convolution, ViewsAreReadWhereTheyAre) {
  const Convolution c{.stride = {2, 1}, .low = {1, 1}, .high = {1, 0}};
  const Tensor x = waves({9, 4, 8, 2}, 0.37), w = waves({6, 4, 3, 2}, 0.53);
  const Tensor seen = reverse(slice(transpose(x, {1, 2, 0, 3}), 1, 1, 7), {1});  // [4, 6, 9, 2]
  const Tensor kernel = transpose(w, {3, 2, 1, 0});                              // [2, 3, 4, 6]
  const Tensor last = transpose(x, {1, 3, 2, 0});                                // channels apart
  const auto both = [&](const Tensor& u, const Tensor& v) {
    return vjp([&](Tensor a, Tensor b) { return convolution(a, b, c); }, u, v);
  };
  for (const auto& [u, v] :
       {std::pair{seen, slice(kernel, 2, 0, 2)},
        std::pair{last, broadcast_to(slice(waves({2, 3, 1, 5}, 0.2), 3, 1, 4), {2, 3, 9, 3})}}) {
    const Tensor y = convolution(u, v, c);
    EXPECT_TRUE(same_bits(y, convolution(contiguous(u), contiguous(v), c)));
    const auto [value, back] = both(u, v);
    const auto [dense_value, dense_back] = both(contiguous(u), contiguous(v));
    const Tensor ct = transpose(waves({y.dim(0), y.dim(1), y.dim(3), y.dim(2)}, 0.11));
    const auto [gx, gw] = back(ct);
    const auto [hx, hw] = dense_back(contiguous(ct));
    EXPECT_TRUE(same_bits(gx, hx) && same_bits(gw, hw));
  }
}

TEST(Convolution, NothingToSum) {
  const auto shape_of = [](Shape x, Shape w, const Convolution& c = {}) {
    const Tensor u = ones(x), v = ones(w), y = convolution(u, v, c);
    const auto [gx, gw] =
        gradients_of([&](Tensor a, Tensor b) { return sum(convolution(a, b, c)); }, u, v);
    EXPECT_EQ(gx.shape(), x);
    EXPECT_EQ(gw.shape(), w);
    if (y.size()) {
      EXPECT_EQ(max(abs(y)).item(), 0);
    }
    return y.shape();
  };
  EXPECT_EQ(shape_of({0, 5, 2}, {3, 2, 4}), (Shape{0, 3, 4}));           // no batch
  EXPECT_EQ(shape_of({2, 2, 5, 2}, {3, 3, 2, 4}), (Shape{2, 0, 3, 4}));  // window too long
  EXPECT_EQ(shape_of({2, 5, 0}, {3, 0, 4}), (Shape{2, 3, 4}));           // no channels
  EXPECT_EQ(shape_of({2, 5, 3}, {3, 3, 0}), (Shape{2, 3, 0}));
  EXPECT_EQ(shape_of({0, 3}, {3, 3, 2}, {.low = {2}, .high = {2}}), (Shape{2, 2}));  // no positions
  EXPECT_EQ(shape_of({4, 3}, {0, 3, 2}), (Shape{4, 2}));                             // no window
  EXPECT_EQ(shape_of({4, 3}, {2, 3, 2}, {.low = {9}, .high = {-4}}), (Shape{8, 2}));  // all border
}

TEST(Convolution, FarStridesAndBorders) {
  constexpr Index far = Index{1} << 60;
  const Tensor x = tensor({1.0, 2.0}, {2, 1}), w = tensor({3.0, 5.0}, {2, 1, 1});
  EXPECT_EQ(convolution(x, w, {.stride = {far}}).to_vector(), (std::vector<double>{13}));
  EXPECT_EQ(convolution(x, w, {.stride = {far}, .high = {far}}).to_vector(),
            (std::vector<double>{13, 0}));
  EXPECT_EQ(convolution(x, w, {.low = {far - 1}, .high = {2 - far}}).to_vector(),
            (std::vector<double>{0, 0}));
  EXPECT_EQ(convolution(x, w, {.stride = {far / 2}, .input_dilation = {far / 2}}).to_vector(),
            (std::vector<double>{3}));
  EXPECT_EQ(
      grad([&](Tensor t) { return sum(convolution(t, w, {.stride = {far}})); })(x).to_vector(),
      (std::vector<double>{3, 5}));
  EXPECT_THROW(convolution(x, w, {.stride = {far + 1}}), Error);
  EXPECT_THROW(convolution(x, w, {.dilation = {far}}), Error);
  EXPECT_THROW(convolution(x, w, {.low = {far}}), Error);  // more results than there is memory
}

TEST(Convolution, WhatDoesNotFitThrows) {
  const Tensor x = ones({2, 5, 3}), w = ones({3, 3, 4});
  const auto says = [](auto&& f, const char* text) {
    const std::string m = message_of(f);
    EXPECT_NE(m.find("[convolution]"), std::string::npos) << m;
    EXPECT_NE(m.find(text), std::string::npos) << m;
  };
  says([&] { convolution(x, ones({3, 2, 4})); }, "f64[2,5,3] and w f64[3,2,4]");
  says([&] { convolution(x, w, {.groups = 3}); }, "3 groups");
  says([&] { convolution(ones({2, 5, 6}), ones({3, 2, 4}), {.groups = 3}); }, "3 groups");
  says([&] { convolution(x, w, {.groups = 0}); }, "0 groups");
  says([&] { convolution(x, ones({3, 4})); }, "1 to 3 axes");
  says([&] { convolution(ones({3}), w); }, "1 to 3 axes");
  says([&] { convolution(x, w, {.stride = {1, 1}}); }, "each of the 1 axes");
  says([&] { convolution(x, w, {.stride = {0}}); }, "axis 0");
  says([&] { convolution(x, w, {.dilation = {-1}}); }, "axis 0");
  says([&] { convolution(cast(x, Dtype::i64), cast(w, Dtype::i64)); }, "use cast");
  says([&] { convolution(x, cast(w, Dtype::i64)); }, "use cast");
}

TEST(Convolution, TakesTheWiderType) {
  EXPECT_EQ(convolution(ones({4, 1}, Dtype::f32), ones({2, 1, 1})).dtype(), Dtype::f64);
  EXPECT_EQ(convolution(ones({4, 1}, Dtype::c64), ones({2, 1, 1})).dtype(), Dtype::c128);
  EXPECT_EQ(convolution(ones({4, 1}, Dtype::f32), ones({2, 1, 1}, Dtype::f32)).dtype(), Dtype::f32);
}

TEST(Convolution, PlansGiveTheSameBits) {
  const Convolution c = kKinds[4];
  const auto f = [&](Tensor x, Tensor w) {
    const auto [gx, gw] =
        gradients_of([&](Tensor a, Tensor b) { return sum(square(convolution(a, b, c))); }, x, w);
    return std::pair(gx * 2.0, gw);
  };
  const Tensor x = waves({2, 5, 4, 4}, 0.37), w = waves(weights_for(c, 4, 4), 0.53);
  const auto eager = f(x, w), planned = jit(f)(x, w);
  EXPECT_TRUE(same_bits(eager.first, planned.first) && same_bits(eager.second, planned.second));
}

}  // namespace
}  // namespace tessera
