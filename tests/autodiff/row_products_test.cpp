// SPDX-License-Identifier: Apache-2.0
//
// Products that runs take in: their rows are made where they are read, to the same bits.
#include "blocks_cases.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/nn.h"
#include "tessera/autodiff/primitive.h"
#include "tessera/autodiff/vectors.h"

#include <array>
#include <atomic>

namespace tessera {
namespace {

/// Products of reals are ours.
bool has_fused_vectors() { return vector_bits() >= 256; }

/// The steps of f when all of it may be joined.
std::size_t steps_of(const FlatFunction& f, const Tensors& x) { return plan_of(f, x, 1).steps(); }

TEST(RowProducts, TakeInTheProductsThatTheyRead) {
  for (const Dtype t : {Dtype::f32, Dtype::f64}) {
    for (const auto& [m, k, n] : {std::array<Index, 3>{700, 64, 64},
                                  {129, 50, 33},
                                  {64, 200, 7},
                                  {1, 64, 300},
                                  {90, 48, 1},
                                  {35, 128, 130},
                                  {15, 1000, 5}}) {
      const Tensors x{numbers({m, k}, t, 1), numbers({k, n}, t, 2), numbers({n}, t, 3),
                      numbers({m, n}, t, 4), numbers({k, m}, t, 5), numbers({n, k}, t, 6)};
      const std::string what = name_of(t) + (" " + to_string(Shape{m, k, n}));
      const auto layer = [](const Tensors& v) { return Tensors{tanh(matmul(v[0], v[1]) + v[2])}; };
      expect_same_bits(layer, x, "a layer, " + what);
      expect_same_bits(
          [](const Tensors& v) { return Tensors{exp(-matmul(transpose(v[4]), v[1])) * v[3]}; }, x,
          "left turned, " + what);
      expect_same_bits(
          [](const Tensors& v) { return Tensors{v[3] - matmul(v[0], transpose(v[5]))}; }, x,
          "right turned, " + what);
      expect_same_bits(
          [](const Tensors& v) {
            const Tensor y = matmul(v[0], v[1]), z = matmul(v[0], transpose(v[5]));
            return Tensors{y, maximum(y + z, 0) * v[3]};
          },
          x, "two, one of them given, " + what);
      expect_same_bits(
          [](const Tensors& v) {
            const Tensor y = matmul(v[0], v[1]), z = softmax(y + v[2], -1);
            return Tensors{z, sum(z * v[3], {0}), sum(y), matmul(transpose(y), z)};
          },
          x, "rows and columns reduced, and read again, " + what);
      expect_same_bits(
          [](const Tensors& v) {
            const Tensor y = matmul(v[0], v[1]);
            return Tensors{y * reverse(y, {0})};
          },
          x, "read in another order, " + what);
      expect_same_bits(
          [&](const Tensors& v) {
            return grad([&](const Tensors& w) {
              return sum(square(matmul(tanh(matmul(v[0], w[0]) + w[1]), transpose(w[0]))));
            })(Tensors{v[1], v[2]});
          },
          x, "gradient, " + what);
      const auto bytes = static_cast<Index>(size_of(t));
      const bool taken = m * n * bytes >= 256 && k * bytes <= 4096;
      EXPECT_EQ(steps_of(layer, x), taken && has_fused_vectors() ? 1 : 2) << what;
    }
  }
}

/// 2 x, whole or row by row.
struct DoubledRows : Linear<DoubledRows> {
  static constexpr const char* name = "doubled_rows";
  static constexpr None flops{"a test's"};
  static constexpr bool leading_batch = true;
  static Types infer(std::span<const Type> in, const Attributes*) { return {in[0]}; }
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    if (in[0] != Dtype::f64) return nullptr;
    return [](Inputs in, Outputs out, const Attributes*) {
      take_rows(*in[0], 0, in[0]->shape[0], static_cast<double*>(out[0]->data), 2);
    };
  }
  static const RowKernel* row_kernel(std::span<const View> in, const Attributes*) {
    static constexpr RowKernel rows{
        [](std::span<const View>) { return sizeof(double); },
        [](Inputs, std::byte* shared) {
          *reinterpret_cast<double*>(shared) = 2;
          rows_made = 0;
        },
        [](Inputs in, const std::byte* shared, Index begin, Index end, void* out) {
          rows_made += end - begin;
          take_rows(*in[0], begin, end, static_cast<double*>(out),
                    *reinterpret_cast<const double*>(shared));
        }};
    return in[0].dtype == Dtype::f64 && in[0].shape.size() == 2 ? &rows : nullptr;
  }
  static void take_rows(const View& x, Index begin, Index end, double* out, double factor) {
    const Index n = x.shape.back();
    const double* const from = static_cast<const double*>(x.data);
    for (Index k = begin * n; k < end * n; ++k) out[k - begin * n] = factor * from[k];
  }
  static void transpose(const Application&, std::span<const bool>, std::span<const Tensor> ct,
                        std::span<Tensor> o) {
    o[0] = 2.0 * ct[0];
  }
  static inline std::atomic<Index> rows_made{0};
};

TEST(RowProducts, TakeInWhatAPrimitiveOfOnesOwnGivesRowByRow) {
  const FlatFunction f = [](const Tensors& x) {
    return Tensors{exp(-apply(primitive<DoubledRows>(), {}, {}, x[0])) * x[1]};
  };
  for (const Index m : {1, 30, 997}) {
    const Tensors x{numbers({m, 70}, Dtype::f64, 1), numbers({m, 70}, Dtype::f64, 2)};
    expect_same_bits(f, x, to_string(Shape{m, 70}));
    const Plan plan = plan_of(f, x, 1);
    EXPECT_EQ(plan.steps(), 1);
    plan.run(x);
    EXPECT_EQ(DoubledRows::rows_made.load(), m);  // each once
  }
}

TEST(RowProducts, TakeInProductsOverLeadingAxes) {
  for (const Dtype t : {Dtype::f32, Dtype::f64}) {
    const Tensors x{numbers({6, 11, 64}, t, 1), numbers({64, 24}, t, 2), numbers({24}, t, 3),
                    numbers({6, 11, 1}, t, 4)};
    const auto f = [](const Tensors& v) { return Tensors{tanh(matmul(v[0], v[1]) + v[2]) * v[3]}; };
    expect_same_bits(f, x);
    EXPECT_EQ(steps_of(f, x), has_fused_vectors() ? 1 : 2);
    expect_same_bits(
        [&](const Tensors& v) {
          return Tensors{vmap([&](Tensor u) { return tanh(matmul(u, v[1]) + v[2]); })(v[0])};
        },
        x);
  }
}

TEST(RowProducts, LeaveProductsOfOtherKindsAlone) {
  const Tensors x{numbers({40, 64}, Dtype::f64, 1), numbers({64, 30}, Dtype::f64, 2)};
  const auto complex = [](const Tensors& v) {
    return Tensors{exp(matmul(cast(v[0], Dtype::c128), cast(v[1], Dtype::c128)))};
  };
  expect_same_bits(complex, x);
  const Tensors none{numbers({0, 64}, Dtype::f64, 1), x[1], numbers({40, 0}, Dtype::f64, 2),
                     numbers({0, 30}, Dtype::f64, 3)};
  expect_same_bits(
      [](const Tensors& v) {
        return Tensors{tanh(matmul(v[0], v[1])), matmul(v[2], v[3]) + 1.0};
      },
      none);
  // What is not finite stays where it was.
  std::vector<double> wild(40 * 64, 0.5);
  wild[70] = std::numeric_limits<double>::infinity();
  wild[200] = std::numeric_limits<double>::quiet_NaN();
  expect_same_bits([](const Tensors& v) { return Tensors{maximum(matmul(v[0], v[1]), 0)}; },
                   {tensor(wild, {40, 64}), x[1]});
}

TEST(RowProducts, WhatAProductIsMadeFromIsNotWrittenOver) {
  for (const Dtype t : {Dtype::f32, Dtype::f64}) {
    const Tensors x{numbers({300, 64}, t, 1), numbers({64, 64}, t, 2)};
    expect_same_bits(
        [](const Tensors& v) {
          Tensor h = v[0];
          for (int k = 0; k < 5; ++k) h = h + tanh(matmul(h, v[1]) - h);
          return Tensors{h};
        },
        x);
  }
}

TEST(RowProducts, NeedNoMemoryForProductsThatStayInside) {
  if (!has_fused_vectors()) GTEST_SKIP() << "products are BLAS's on this processor";
  const Tensors x{numbers({4096, 64}, Dtype::f32, 1), numbers({64, 64}, Dtype::f32, 2)};
  const Plan plan =
      plan_of([](const Tensors& v) { return Tensors{tanh(matmul(v[0], v[1])) * 2.0}; }, x, 1024);
  EXPECT_EQ(plan.steps(), 1);
  EXPECT_LE(plan.arena_bytes(), 64 * 64 * sizeof(float)) << "the packed weights alone";
}

}  // namespace
}  // namespace tessera
