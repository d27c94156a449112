// SPDX-License-Identifier: Apache-2.0
//
// Runs of element-wise steps that a plan takes block by block: the same bits as one kernel after
// the other, for every layout of the operands, element type, number of threads and place of the
// results.
#include "blocks_cases.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/jet.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/loops.h"
#include "tessera/autodiff/memory.h"
#include "tessera/autodiff/nn.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/ops/flow.h"
#include "tessera/autodiff/primitive.h"
#include "tessera/autodiff/vectors.h"

#include <gtest/gtest.h>

#include <limits>

namespace tessera {
namespace {

TEST(Blocks, OfEveryLayoutOfOperands) {
  for (const Shape& shape : {Shape{5000}, Shape{1}, Shape{70, 90}, Shape{3, 2, 2000},
                             Shape{2, 40, 1, 60}, Shape{9000, 2}, Shape{64, 64}}) {
    for (const Dtype t : {Dtype::f64, Dtype::f32}) {
      const Tensor a = numbers(shape, t, 1), b = numbers(shape, t, 2), number = numbers({}, t, 3);
      const Tensor row = numbers({shape.back()}, t, 4);
      Shape first = shape;
      for (int d = 1; d < first.size(); ++d) first[d] = 1;
      const Tensor column = numbers(first, t, 5);
      expect_same_bits(
          [&](const Tensors& x) {
            const Tensor u = x[0] * x[1] + row, v = tanh(u) * number - column * x[0];
            const Tensor w = u * v + x[1] * number - v * v, turned = reverse(x[0], {0}) * w + w;
            return Tensors{turned - u, exp(-w * w) * row};
          },
          {a, b}, to_string(shape) + " " + name_of(t));
    }
  }
}

TEST(Blocks, OfOperandsInShortStretches) {
  for (const Shape& shape : {Shape{4, 1000, 5}, Shape{3, 37, 16}, Shape{700, 2}, Shape{2, 90, 3, 7},
                             Shape{5, 3, 255}, Shape{1, 4097, 3}, Shape{2, 1, 600, 1, 4}}) {
    for (const Dtype t : {Dtype::f32, Dtype::f64}) {
      const int nd = shape.size();
      Shape wide = shape, per_sample = Shape::filled(nd, 1), turned = shape;
      wide[nd - 1] *= 2;
      per_sample[0] = shape[0], per_sample[nd - 1] = shape.back();
      std::swap(turned[nd - 1], turned[nd - 2]);
      Shape begin = Shape::filled(nd, 0), end = shape;
      begin[nd - 1] = shape.back() / 2, end[nd - 1] = begin[nd - 1] + shape.back();
      const Tensors x{numbers(shape, t, 1), numbers({shape.back()}, t, 2),
                      numbers(per_sample, t, 3), numbers(wide, t, 4), numbers(turned, t, 5)};
      const std::string what = to_string(shape) + " " + name_of(t);
      const auto part = [&](const Tensor& y) { return slice(y, begin, end); };
      expect_same_bits(
          [&](const Tensors& x) {
            const Tensor u = (x[0] - x[2]) * x[1] + part(x[3]), v = moveaxis(x[4], -1, -2) * u;
            const Tensor small = part(x[3]) > x[1], z = complex(v, u) * complex(x[1], x[1]);
            return Tensors{where(small, u, v * x[2]), tanh(v) - x[2], real(z) * imag(z) + x[0],
                           cast(floor(v * 10), Dtype::i32) * cast(floor(x[1] * 3), Dtype::i32)};
          },
          x, what);
      // Each by itself: runs of one.
      expect_same_bits(
          [&](const Tensors& x) {
            return Tensors{matmul(x[0] + x[1], ones({shape.back(), 2}, t)), sum(x[0] * x[2], {0}),
                           logical_not(part(x[3]) > x[1]), exp(moveaxis(x[4], -1, -2))};
          },
          x, what);
    }
  }
}

TEST(Blocks, OfWhatARunMakesAndReadsTurned) {
  const Tensor a = numbers({80, 80}, Dtype::f64, 6);
  expect_same_bits(
      [](const Tensors& x) {
        const Tensor u = x[0] * x[0] + 1.0,
                     v = transpose(u) * x[0] + u;  // needs all of u before its first element
        return Tensors{sin(v) - transpose(v) * u};
      },
      {a});
  expect_same_bits(
      [](const Tensors& x) {
        const Tensor u = exp(x[0]) - 1.0;
        return Tensors{sum(u * u + x[0], {0}) * 2.0 + sum(u, {1}),
                       reshape(u, {6400}) * 3.0 + reshape(x[0], {6400})};
      },
      {a});
}

TEST(Blocks, OfMixedElementTypes) {
  const Tensor a = numbers({50, 70}, Dtype::f64, 7), b = numbers({50, 70}, Dtype::f32, 8);
  expect_same_bits(
      [](const Tensors& x) {
        const Tensor big = x[0] > 0.25, z = complex(x[0], cast(x[1], Dtype::f64)),
                     w = z * z + conj(z) * 2.0;
        const Tensor n = cast(floor(x[0] * 10.0), Dtype::i64);
        return Tensors{where(big, real(w) * x[0] + imag(w), cast(n * n + n, Dtype::f64)),
                       logical_not(big), w - z * w, cast(n, Dtype::f32) * x[1] + x[1]};
      },
      {a, b});
}

TEST(Blocks, OfSumsOfEveryKindOfTerm) {
  const Shape shape{41, 53};  // tails of every loop
  for (const Dtype t : {Dtype::f64, Dtype::f32}) {
    Tensors x;
    for (unsigned k = 0; k < 6; ++k) x.push_back(numbers(shape, t, 10 + k));
    const Tensor c = numbers({}, t, 20);
    expect_same_bits(
        [&](const Tensors& x) {
          return Tensors{
              x[0] * x[1] + x[2] * x[3] + x[4] * x[5],      // all products
              x[0] - x[1] * x[2] - x[3] + c - x[4] * c,     // from a value; numbers; differences
              c + x[0] * x[0],                              // from a number
              x[5] - (x[0] * x[1] + x[2]),                  // a sum that is taken off stays its own
              (x[0] * x[1] + x[2]) + (x[3] * x[4] + x[5]),  // two sums
              (x[0] * x[1] - x[2]) * x[3] + x[0] * (x[1] * x[2]),
              c * c + x[0] * c,
          };
        },
        x, name_of(t));
    // A product that others read too.
    expect_same_bits(
        [&](const Tensors& x) {
          const Tensor p = x[0] * x[1];
          return Tensors{p + x[2] * p, p - p * p, p + p};
        },
        x);
  }
}

TEST(Blocks, SumsKeepTheSignOfARepeatedZero) {
  // -0 + (-0) is -0, of which 1 / y makes -inf; -0 - 0 is -0 too, -0 - (-0) is 0.
  for (const Dtype t : {Dtype::f64, Dtype::f32}) {
    const Shape shape{3001};
    const Tensor a = neg(ones(shape, t)), b = zeros(shape, t);
    for (const double zero : {0.0, -0.0}) {
      const Tensor c = broadcast_to(scalar(zero, t), shape);
      expect_same_bits([&](const Tensors& x) { return Tensors{1.0 / (c + x[0] * x[1])}; }, {a, b});
      expect_same_bits([&](const Tensors& x) { return Tensors{1.0 / (x[0] * x[1] - c)}; }, {a, b});
      expect_same_bits([&](const Tensors& x) { return Tensors{1.0 / (c - x[0] * x[1])}; }, {a, b});
    }
  }
}

/// A primitive of a user's own that happens to have the name of one of the engine's.
template <class P, int N>
struct Namesake : Elementwise<P, N> {
  static constexpr RuleClass rule = RuleClass::hand;
  static constexpr DtypeSet dtypes = kReal;
  static constexpr None transpose{"it is not linear"};
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    if (in[0] != Dtype::f64) return nullptr;
    return [](Inputs in, Outputs out, const Attributes*) {
      const Shape& shape = out[0]->shape;
      for (Index i = 0; i < shape.count(); ++i) {
        const auto at = [&](const View& v) -> double& {
          Index offset = 0, rest = i;
          for (int d = shape.size(); d-- > 0; rest /= shape[d])
            offset += rest % shape[d] * v.strides[d];
          return static_cast<double*>(v.data)[offset];
        };
        at(*out[0]) = P::eval(at(*in[0]), at(*in[N - 1]));
      }
    };
  }
  static void jvp(const Application&, std::span<const Tensor>, std::span<Tensor>) {}
};
struct NotMul : Namesake<NotMul, 2> {
  static constexpr const char* name = "mul";
  static double eval(double x, double y) { return x * y + 1; }
};
struct NotExp : Namesake<NotExp, 1> {
  static constexpr const char* name = "exp";
  static double eval(double x, double) { return 0.5 * x + 1; }
};
Tensor not_mul(const Tensor& x, const Tensor& y) {
  return apply(primitive<NotMul>(), {}, {}, x, y);
}
Tensor not_exp(const Tensor& x) { return apply(primitive<NotExp>(), {}, {}, x); }

TEST(Blocks, APrimitiveIsNotKnownByItsName) {
  const Tensor a = numbers({3000}, Dtype::f64, 1), b = numbers({3000}, Dtype::f64, 2),
               c = numbers({3000}, Dtype::f64, 3);
  expect_same_bits(
      [](const Tensors& x) {
        return Tensors{x[2] + not_mul(x[0], x[1]), not_mul(x[0], x[2]) - x[1] * x[2]};
      },
      {a, b, c});
  // Single numbers in a loop: 2, 2, 2, ... and 0, 1, 2, ...
  const auto steps = [](Tensor x) {
    return fori_loop(
        5, [](Tensor, Tensor v) { return not_exp(v); }, x);
  };
  EXPECT_EQ(steps(Tensor(2.0)).item(), 2);
  EXPECT_EQ(fori_loop(
                3, [](Tensor, Tensor v) { return not_mul(v, ones({})); }, Tensor(0.0))
                .item(),
            3);
}

TEST(Blocks, SumsRoundEveryProduct) {
  // (1 + e)^2 - 1 - 2 e = e^2 exactly; with each product rounded it is 0 for e = 2^-30.
  const double e = 0x1p-30;
  const Tensor x = full({4000}, 1 + e), y = full({4000}, 1 + 2 * e);
  const auto f = jit([](Tensor x, Tensor y) { return x * x - y; });
  EXPECT_EQ(max(abs(f(x, y))).item(), 0.0);
}

TEST(Blocks, WriteOverOperandsThatAreNotReadAfter) {
  // Matrix products between the runs: their results die in the next run, at its begin, its end, or
  // in its sums.
  const Tensor a = numbers({60, 60}, Dtype::f64, 30), b = numbers({60, 60}, Dtype::f64, 31);
  expect_same_bits(
      [](const Tensors& x) {
        const Tensor m = matmul(x[0], x[1]), n = matmul(x[1], x[0]);
        const Tensor p = m * n, q = sin(x[0]), r = q + p,
                     s = r * m;  // the product is put into the sum after q
        const Tensor u = matmul(r, q), v = matmul(s, r);
        return Tensors{u * v + u, v - u * u, matmul(u, v) * u - v};
      },
      {a, b});
}

TEST(Blocks, OfJetsAndGradients) {
  const Tensor x = numbers({40, 30}, Dtype::f64, 40), v = numbers({40, 30}, Dtype::f64, 41),
               w = numbers({30, 30}, Dtype::f64, 42);
  const auto net = [&](Tensor u) { return tanh(matmul(sin(matmul(u, w)) * u, w)) * logistic(u); };
  expect_same_bits([&](const Tensors& in) { return jet(net, 6)(in[0], in[1]); }, {x, v});
  expect_same_bits(
      [&](const Tensors& in) {
        return Tensors{grad([&](Tensor u) {
          return sum(square(grad([&](Tensor z) { return sum(net(z)); })(u) * in[1]));
        })(in[0])};
      },
      {x, v});
}

TEST(Blocks, OfRandomExpressions) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937_64 random(seed);
    const Shape shape{Index(3 + random() % 60), Index(1 + random() % 90)};
    const Tensors x{numbers(shape, Dtype::f64, seed), numbers(shape, Dtype::f64, seed + 1),
                    numbers({shape[1]}, Dtype::f64, seed + 2),
                    numbers({shape[0], 1}, Dtype::f64, seed + 3)};
    expect_same_bits(
        [&, seed](const Tensors& in) {
          std::mt19937_64 random(seed + 100);
          Tensors pool = in;
          Tensors out;
          for (int k = 0; k < 40; ++k) {
            const Tensor &a = pool[random() % pool.size()], &b = pool[random() % pool.size()];
            switch (random() % 8) {
              case 0:
              case 1:
                pool.push_back(a * b);
                break;
              case 2:
              case 3:
                pool.push_back(a + b);
                break;
              case 4:
                pool.push_back(a - b);
                break;
              case 5:
                pool.push_back(tanh(a));
                break;
              case 6:
                pool.push_back(where(a > b, a, b * 0.5));
                break;
              default:
                pool.push_back(a * 0.75 + b);
            }
            if (random() % 7 == 0) out.push_back(pool.back());
          }
          out.push_back(pool.back());
          return out;
        },
        x, "seed " + std::to_string(seed));
  }
}

TEST(Blocks, StepsThatDoNotWaitForEachOtherRunSideBySide) {
  // Eight chains, recorded one after the other: each product of one waits for the sums of the one
  // before.
  Tensors x;
  for (unsigned k = 0; k < 9; ++k) x.push_back(numbers({96, 96}, Dtype::f64, 50 + k));
  const auto chains = [](const Tensors& in) {
    Tensors out;
    for (std::size_t k = 1; k < in.size(); ++k) {
      Tensor u = in[k];
      for (int layer = 0; layer < 4; ++layer) {
        const Tensor v = matmul(u, in[0]) * 0.1;
        u = tanh(v) + v * v * in[k];
      }
      out.push_back(u + transpose(u));
    }
    return out;
  };
  expect_same_bits(chains, x);
  const Plan plan = plan_of(chains, x, 1024);
  // 8 products and one joined step a layer, and one at the end.
  EXPECT_LE(plan.steps(), 8u * 4u + 4u + 1u);
}

TEST(Blocks, SideBySideIsNotTakenWhereItNeedsMuchMoreMemory) {
  const Tensor x =
      ones({1000, 1000});  // 8 MB; twenty branches of them one after the other need few at a time
  const auto f = [](const Tensors& in) {
    Tensor total(0.0);
    for (int k = 0; k < 20; ++k) total = total + sum(matmul(sin(in[0] * (1.0 + k)), in[0]));
    return Tensors{total};
  };
  EXPECT_LE(plan_of(f, {x}, 1024).arena_bytes(), 50'000'000u);
}

// A plan knows the memory of its arguments by their types alone: others would be read beyond their
// end.
TEST(Blocks, APlanTakesWhatItWasMadeFor) {
  const Plan plan =
      plan_of([](const Tensors& x) { return Tensors{x[0] + x[1]}; }, {ones({4}), ones({4})}, 1);
  EXPECT_EQ(plan.run(Tensors{ones({4}), ones({4})})[0].to_vector()[3], 2);
  EXPECT_THROW(plan.run(Tensors{ones({4}), ones({2})}), Error);
  EXPECT_THROW(plan.run(Tensors{ones({4}), ones({4}, Dtype::f32)}), Error);
  EXPECT_THROW(plan.run(Tensors{ones({4})}), Error);
}

TEST(Blocks, WhatNobodyReadsIsNotRun) {
  const Tensors x = {numbers({30, 30}, Dtype::f64, 1)};
  const std::vector<Type> types = {x[0].type()};
  const Graph whole = trace(
      [](const Tensors& x) {
        const Tensor unread = sin(exp(x[0]) + x[0]) * x[0];
        (void)unread;
        return Tensors{sum(x[0])};
      },
      types);
  EXPECT_TRUE(same_bits(Plan(whole, 1).run(x)[0], sum(x[0])));
  EXPECT_EQ(Plan(whole, 1).steps(), 1u);
}

TEST(Blocks, BarriersKeepTheirOrder) {
  const Tensor x = ones({2000});
  expect_same_bits(
      [](const Tensors& in) {
        const Tensor a = exp(in[0]), b = sin(barrier(in[0], {a})) * 2.0;
        return Tensors{a * b + in[0]};
      },
      {x});
}

/// The same bits, but any NaN for a NaN: which of two a sum keeps is the processor's choice.
Tensors without_signs_of_nans(Tensors all) {
  for (Tensor& t : all)
    if (is_float(t.dtype())) t = where(equal(t, t), t, std::numeric_limits<double>::quiet_NaN());
  return all;
}

TEST(Blocks, GoOnThroughReductions) {
  for (const Index n :
       {Index{1}, Index{2}, Index{7}, Index{511}, Index{512}, Index{513}, Index{5000}})
    for (const Shape& shape :
         {Shape{n}, Shape{n, 1}, Shape{n, 3}, Shape{n, 16}, Shape{3, n}, Shape{1, n},
          Shape{2, n, 5}, Shape{40, n, 2}, Shape{2, 3, n}, Shape{2, n, 1, 4}})
      for (const Dtype t : {Dtype::f32, Dtype::f64, Dtype::c64}) {
        if (shape.count() > 100'000 || (t != Dtype::f32 && shape.count() > 20'000)) continue;
        expect_same_bits(
            [](const Tensors& x) {
              const Tensor u = x[0] * x[1] + x[0], v = u * 0.5 - x[1];
              Tensors out{v, sum(u), sum(u * v)};  // what others read, too; what nobody else reads
              for (int d = 0; d < u.ndim(); ++d) {
                out.push_back(sum(u, {d}));
                out.push_back(sum(v * v, {d}));
                if (d > 0) out.push_back(sum(u, {d - 1, d}));
              }
              out.push_back(sum_product(u, v, {0}));
              out.push_back(sum_product(x[0], x[1], {0}));
              out.push_back(sum(x[1], {u.ndim() - 1}));
              if (!is_complex(u.dtype())) {
                out.push_back(max(v));
                out.push_back(min(u, {0}));
                out.push_back(max(u, {u.ndim() - 1}));
              }
              return out;
            },
            {numbers(shape, t, 1), numbers(shape, t, 2)}, to_string(shape) + " " + name_of(t));
      }
}

TEST(Blocks, ReduceIntegersAndFlags) {
  for (const Shape& shape : {Shape{4000}, Shape{600, 9}, Shape{2, 3000, 3}})
    expect_same_bits(
        [](const Tensors& x) {
          const Tensor n = cast(floor(x[0] * 1e9), Dtype::i32), big = x[0] > 1.5;
          const Tensor m = n * n - cast(x[0], Dtype::i32);  // wraps around
          return Tensors{sum(m),
                         sum(m, {0}),
                         max(m, {0}),
                         min(n),
                         any(big, {0}),
                         all(logical_not(big)),
                         sum(cast(big, Dtype::i64), {0}),
                         sum(cast(m, Dtype::i64))};
        },
        {numbers(shape, Dtype::f64, 3)}, to_string(shape));
}

TEST(Blocks, ReduceNothingNaNsAndMinusZeros) {
  for (const Shape& shape : {Shape{0}, Shape{0, 3}, Shape{3, 0}, Shape{2, 0, 5}})
    expect_same_bits(
        [](const Tensors& x) {
          const Tensor u = x[0] * 2.0 + 1.0;
          return Tensors{u, sum(u), sum(u, {0}), sum(u * u, {u.ndim() - 1})};
        },
        {zeros(shape)}, to_string(shape));
  for (const Dtype t : {Dtype::f32, Dtype::f64})
    for (const double special : {-0.0, std::numeric_limits<double>::quiet_NaN(),
                                 std::numeric_limits<double>::infinity()}) {
      const Tensor few = where(numbers({3000, 4}, t, 4) > 2.0, special, -zeros({3000, 4}, t));
      expect_same_bits(
          [](const Tensors& x) {
            const Tensor u = x[0] * 1.0;
            return without_signs_of_nans({sum(u), sum(u, {0}), sum(u, {1}), max(u), max(u, {0}),
                                          min(u, {1}), 1.0 / sum(u * u, {0})});
          },
          {few});
    }
}

TEST(Blocks, ReduceWhatIsReshapedSlicedAndRepeated) {
  for (const Dtype t : {Dtype::f32, Dtype::f64}) {
    const Tensors x{numbers({4, 20, 30, 8}, t, 1), numbers({4, 20, 30, 16}, t, 2),
                    numbers({8}, t, 3), numbers({20, 30, 4, 8}, t, 4)};
    expect_same_bits(
        [](const Tensors& x) {
          const Tensor part = slice(x[1], -1, 4, 12), u = x[0] * x[2] + part;
          const Tensor rows = reshape(u, {4, 600, 8}), wide = broadcast_to(x[2], u.shape());
          return Tensors{u,
                         sum(rows, {1}),
                         sum(rows * rows, {0, 1}),
                         sum(part, {0, 1, 2}),
                         sum(part, {3}),
                         sum(wide),
                         sum(wide * u, {0}),
                         sum(reshape(u, {80, 240}), {1}),
                         sum(moveaxis(x[3], 2, 0) * u, {1, 2}),
                         sum(moveaxis(x[3], 2, 0), {1, 2}),
                         sum(u, {0, 2}),  // no neighbours
                         sum_product(reshape(u, {2400, 8}), reshape(part, {2400, 8}), {0})};
        },
        x, name_of(t));
  }
}

TEST(Blocks, GoOnBehindReductionsOfRows) {
  for (const Index n : {Index{1}, Index{2}, Index{7}, Index{64}, Index{511}, Index{512}, Index{513},
                        Index{4096}, Index{4097}, Index{5000}})
    for (const Shape& shape : {Shape{1, n}, Shape{9, n}, Shape{40, n}, Shape{700, n},
                               Shape{3, 5, n}, Shape{6, n, 1}, Shape{n}})
      for (const Dtype t : {Dtype::f32, Dtype::f64, Dtype::c64}) {
        if (shape.count() > 50'000 || (t != Dtype::f32 && shape.count() > 10'000)) continue;
        Shape column = shape;
        const int axis =
            shape.back() == 1 && shape.size() > 1 ? shape.size() - 2 : shape.size() - 1;
        column[axis] = 1;
        expect_same_bits(
            [&](const Tensors& x) {
              const Tensor u = x[0] * x[1], m = mean(u, {axis}, true), c = u - m;
              const Tensor v = mean(c * c, {axis}, true) * x[2] + 0.5, y = c / v;
              Tensors out{y, v, sum(y * x[0], {axis}), sum(y), m * x[2]};
              if (!is_complex(u.dtype())) {
                out.push_back(softmax(u, axis));
                out.push_back(log_softmax(x[0], axis));
                out.push_back(y * max(x[1], {axis}, true));  // of what the run only reads
                out.push_back(where(u > m, u, min(u, {axis}, true)));
              }
              if (u.ndim() > 1) {
                out.push_back(sum(y, {0}));  // columns of whole rows
                out.push_back(sum(y * y, {0}) + sum(c, {0}));
              }
              return out;
            },
            {numbers(shape, t, 1), numbers(shape, t, 2), numbers(column, t, 3)},
            to_string(shape) + " " + name_of(t));
      }
}

TEST(Blocks, RowsOfSeveralAxesAndOfSeveralLengths) {
  for (const Dtype t : {Dtype::f32, Dtype::f64})
    expect_same_bits(
        [](const Tensors& x) {
          const Tensor u = x[0] + x[1] * x[2];
          const Tensor a = u - mean(u, {2, 3}, true), b = a * sum(a * a, {3}, true);
          const Tensor c = b / sum(abs(b), {1, 2, 3}, true), d = moveaxis(c, 1, 2);
          const Tensor rows = reshape(c, {40, 72}), e = rows - max(rows, {1}, true);
          return Tensors{a,          b, c, d - mean(d, {2, 3}, true), exp(e) * sum(e, {1}, true),
                         sum(e, {0})};
        },
        {numbers({10, 4, 12, 6}, t, 1), numbers({12, 1}, t, 2), numbers({10, 4, 12, 6}, t, 3)},
        name_of(t));
}

TEST(Blocks, GoOnBehindReshapes) {
  for (const Dtype t : {Dtype::f32, Dtype::f64}) {
    const Tensors x{numbers({6, 8, 10, 4}, t, 1), numbers({6, 1, 4}, t, 2), numbers({480, 4}, t, 3),
                    numbers({6, 10, 8, 4}, t, 4), numbers({6, 80, 8}, t, 5)};
    expect_same_bits(
        [](const Tensors& x) {
          const Tensor u = moveaxis(x[3], 1, 2) * x[0], rows = reshape(u, {6, 80, 4}) - x[1];
          const Tensor part = rows + slice(x[4], -1, 2, 6), flat = reshape(part, {480, 4}) * x[2],
                       v = reshape(flat, {6, 8, 10, 4}) + u;
          const Tensor other = reshape(v, {6, 5, 16, 4}) * 3.0;  // no split of the others
          return Tensors{sum(rows, {1}),
                         flat,
                         v,
                         sum(reshape(v, {48, 10, 4}), {1}),
                         softmax(reshape(v, {48, 40}), -1),
                         other + 1.0};
        },
        x, name_of(t));
    // Rows of 16 that are not axes of [2400, 12].
    expect_same_bits(
        [](const Tensors& x) {
          const Tensor u = slice(x[0], -1, 3, 15) * x[1],
                       m = mean(reshape(u, {1800, 16}), {1}, true);
          return Tensors{u, m * m, reshape(u, {1800, 16}) - m};
        },
        {numbers({2400, 20}, t, 6), numbers({2400, 12}, t, 7)}, name_of(t));
    const auto f = [](const Tensors& x) {
      const Tensor u = tanh(x[0]), rows = reshape(u, {6, 80, 4}) - x[1];
      return Tensors{sum(reshape(rows, {480, 4}) * x[2], {0}), reshape(rows, {6, 8, 10, 4}) * u};
    };
    expect_same_bits(f, x);
    EXPECT_EQ(plan_of(f, x, 1024).steps(), 1u);
  }
}

TEST(Blocks, RowsOfInfinitiesAndNaNs) {
  for (const Dtype t : {Dtype::f32, Dtype::f64})
    for (const double special :
         {-std::numeric_limits<double>::infinity(), -0.0, std::numeric_limits<double>::infinity(),
          std::numeric_limits<double>::quiet_NaN()}) {
      const Tensor column = reshape(arange(200, Dtype::f64), {200, 1});
      const Tensor few = where(logical_or(numbers({200, 30}, t, 4) > 2.0, column < 3.0), special,
                               numbers({200, 30}, t, 5));
      expect_same_bits(
          [](const Tensors& x) {
            const Tensor g = grad([](Tensor u) { return sum(square(softmax(u, -1))); })(x[0]);
            return without_signs_of_nans(
                {softmax(x[0], -1), log_softmax(x[0] * 1.0, -1), g, x[0] - mean(x[0], {1}, true)});
          },
          {few});
    }
}

TEST(Blocks, SoftmaxNormsAndTheirGradientsAreOneStep) {
  const Tensor x = numbers({300, 40}, Dtype::f64, 1), w = numbers({40}, Dtype::f64, 2);
  const auto steps = [&](const FlatFunction& f) {
    expect_same_bits(f, {x, w});
    EXPECT_EQ(plan_of(f, {x, w}, 1024).arena_bytes(), 0u);
    return plan_of(f, {x, w}, 1024).steps();
  };
  const auto norm = [](const Tensor& u, const Tensor& gain) {
    return nn::LayerNorm{gain, gain, 1e-5}(u);
  };
  EXPECT_EQ(steps([](const Tensors& in) { return Tensors{softmax(in[0], -1)}; }), 1u);
  EXPECT_EQ(steps([](const Tensors& in) { return Tensors{log_softmax(in[0], -1)}; }), 1u);
  EXPECT_EQ(steps([&](const Tensors& in) { return Tensors{norm(in[0], in[1])}; }), 1u);
  EXPECT_EQ(steps([&](const Tensors& in) {
              return Tensors{grad([&](Tensor u) { return sum(square(norm(u, in[1]))); })(in[0])};
            }),
            1u);
}

TEST(Blocks, GradientsOfNormsAndLosses) {
  for (const Dtype t : {Dtype::f32, Dtype::f64}) {
    const Tensor labels = cast(floor(uniform(random_key(3), {3, 70}) * 50.0), Dtype::i64);
    const auto loss = [&](const Tensor& x, const Tensor& gain) {
      const Tensor rows = nn::LayerNorm{gain, gain * 0.5, 1e-5}(x);
      const Tensor groups = nn::GroupNorm{gain, gain * 0.25, 5, 1e-5}(softplus(rows));
      return nn::cross_entropy(groups * x, labels) + nn::mean_square(softmax(rows, -1), x) +
             mean(square(softmax(groups, 1)));
    };
    expect_same_bits(
        [&](const Tensors& x) {
          const auto [value, g] =
              value_and_grad([&](const Tensors& in) { return loss(in[0], in[1]); })(x);
          return Tensors{value, g[0], g[1]};
        },
        {numbers({3, 70, 50}, t, 5), numbers({50}, t, 6)}, name_of(t));
  }
}

TEST(Blocks, WhatOnlyAReductionReadsTakesNoMemory) {
  const Tensor x = ones({4000, 30});
  const auto f = [](const Tensors& x) {
    const Tensor u = sin(x[0]) * x[0];
    return Tensors{sum(u), sum(u, {0}), sum(u * u, {1})};
  };
  EXPECT_EQ(plan_of(f, {x}, 1024).steps(), 1u);
  // Sums of 512: 235 of all elements, 8 of each column; in whole lines.
  EXPECT_EQ(plan_of(f, {x}, 1024).arena_bytes(), (235 * 8 + 40) + 8 * 30 * 8u);
  EXPECT_GE(plan_of(f, {x}, Index{1} << 60).arena_bytes(), 8u * 120'000u);
}

TEST(Blocks, ReductionsOfWhatNobodyElseReadsAreStepsOfTheirOwn) {
  const Tensors x{ones({400, 300}), ones({400, 300})};
  const auto f = [](const Tensors& x) { return Tensors{sum(x[0]), sin(x[1]) * x[1]}; };
  expect_same_bits(f, x);
  EXPECT_EQ(plan_of(f, x, 1024).steps(), 2u);
}

TEST(Blocks, ReductionsThatThreadsCannotShareComeBehindMuchWork) {
  // A column of 256 is one block of its sum: nobody could begin in its middle.
  const Tensors x{numbers({256, 32}, Dtype::f64, 1), numbers({32}, Dtype::f64, 2)};
  const auto after = [](int operations, bool keep) {
    return [=](const Tensors& in) {
      Tensor u = in[0] * in[1];
      for (int k = 1; k < operations; ++k) u = k % 2 ? tanh(u) : u * in[1];
      Tensors out{sum(u, {0}), sum(u)};  // all in one are 16 blocks
      if (keep) out.push_back(u);
      return out;
    };
  };
  for (const bool keep : {false, true}) {
    expect_same_bits(after(1, keep), x);
    expect_same_bits(after(12, keep), x);
    EXPECT_EQ(plan_of(after(1, keep), x, 1024).steps(), 1u);
    EXPECT_EQ(plan_of(after(12, keep), x, 1024).steps(), 2u);
  }
}

TEST(Blocks, NeedNoMemoryForWhatStaysInside) {
  const Tensor x = ones({100'000});
  const auto f = [](const Tensors& x) {
    Tensor u = x[0];
    std::vector<Tensor> all{u};
    for (int k = 0; k < 8; ++k) all.push_back(sin(all.back() * 0.5));
    for (const Tensor& t : all) u = u * t;  // all of them are alive at once
    return Tensors{u};
  };
  EXPECT_EQ(plan_of(f, {x}, 1024).arena_bytes(), 0u);
  EXPECT_GE(plan_of(f, {x}, Index{1} << 60).arena_bytes(), 8u * 800'000u);
  EXPECT_EQ(plan_of(f, {x}, 1024).steps(), 1u);
}

}  // namespace
}  // namespace tessera
