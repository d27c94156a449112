// SPDX-License-Identifier: Apache-2.0
//
// Training on ranks: the bits of one process, for nets, under vmap, to second order.
#include "tessera/parallel/batches.h"

#include "tessera/autodiff/error.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/nn.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/optimize.h"
#include "tessera/parallel/exchanges.h"

#include <gtest/gtest.h>

#include <cstring>
#include <mutex>

namespace tessera::parallel {
namespace {

using Leaves = std::vector<Tensor>;

template <class T>
bool same_bits_of(const Tensor& a, const Tensor& b) {
  const std::vector<T> x = a.to_vector<T>(), y = b.to_vector<T>();
  return x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0;
}
bool same_bits(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  return a.dtype() == Dtype::f32 ? same_bits_of<float>(a, b) : same_bits_of<double>(a, b);
}

/// What `f` gives on one rank, it gives on each of 2, 3, 5 and 8.
void expect_bits_of_one(const std::function<Leaves(Communicator&)>& f) {
  Communicator one = alone();
  const Leaves want = f(one);
  for (const int ranks : {2, 3, 5, 8})
    run_ranks(ranks, [&](Communicator& c) {
      const Leaves got = f(c);
      if (got.size() != want.size()) throw Error("other results");
      for (std::size_t k = 0; k < got.size(); ++k)
        if (!same_bits(got[k], want[k]))
          throw Error("leaf " + std::to_string(k) + " has other bits on " + std::to_string(ranks));
    });
}

template <class Net, class Loss>
Leaves trained(Communicator& c, Net net, const Loss& loss, const Leaves& batch, int steps) {
  const Optimizer o = adam(constant_rate(1e-2));
  OptimizerState s = o.init(net);
  Tensor last;
  for (int k = 0; k < steps; ++k) {
    auto [l, g] = value_and_grad(data_parallel(c, loss, batch))(net);
    std::tie(net, s) = o.update(net, g, s);
    last = l;
  }
  Leaves out = flatten_tree(net);
  out.push_back(last);
  return out;
}

TEST(Batches, HundredStepsOfAPerceptronHaveTheBitsOfOneRank) {
  const Tensor x = normal(random_key(1), {43, 5}, Dtype::f32), y = sin(sum(x, {1}, true));
  expect_bits_of_one([&](Communicator& c) {
    const nn::Mlp net = nn::mlp(random_key(2), {5, 16, 16, 1}, {.linear = {.dtype = Dtype::f32}});
    const auto loss = [](const nn::Mlp& m, const Leaves& part) {
      return sum(square(m(part[0]) - part[1])) / 43.0;
    };
    return trained(c, net, loss, {x, y}, 100);
  });
}

TEST(Batches, HundredStepsOfAConvolutionalNetHaveTheBitsOfOneRank) {
  struct Net {
    nn::Conv first, last;
    TESSERA_TREE(first, last)
  };
  const Tensor x = normal(random_key(3), {10, 8, 8, 1}, Dtype::f64), y = x * x;
  expect_bits_of_one([&](Communicator& c) {
    const Net net{nn::conv(random_key(4), {3, 3}, 1, 4, {}),
                  nn::conv(random_key(5), {3, 3}, 4, 1, {})};
    const auto loss = [](const Net& m, const Leaves& part) {
      return sum(square(m.last(tanh(m.first(part[0]))) - part[1]));
    };
    return trained(c, net, loss, {x, y}, 100);
  });
}

TEST(Batches, DerivativesAreThoseOfTheWholeLoss) {
  const Tensor x = normal(random_key(6), {24, 3}), w = normal(random_key(7), {3});
  const auto loss = [](const Tensor& v, const Leaves& part) {
    return sum(sin(matmul(part[0], v)));
  };
  const auto whole = [&](const Tensor& v) { return sum(sin(matmul(x, v))); };
  for (const int ranks : {1, 2, 3, 8})
    run_ranks(ranks, [&](Communicator& c) {
      const auto f = data_parallel(c, loss, {x});
      const auto near = [](const Tensor& a, const Tensor& b) {
        if (max(abs(a - b)).item() > 1e-12) throw Error("not the derivative");
      };
      near(f(w), whole(w));
      near(grad(f)(w), grad(whole)(w));
      near(hvp(f, w, Tensor(ones({3}))), hvp(whole, w, Tensor(ones({3}))));
      near(jvp(f, w, Tensor(ones({3}))).second, jvp(whole, w, Tensor(ones({3}))).second);
    });
}

TEST(Batches, SecondOrderAndVmapHaveTheBitsOfOneRank) {
  const Tensor x = normal(random_key(8), {20, 3}), many = normal(random_key(9), {4, 3});
  const auto loss = [](const Tensor& v, const Leaves& part) {
    return sum(exp(sin(matmul(part[0], v))));
  };
  expect_bits_of_one([&](Communicator& c) -> Leaves {
    const auto f = data_parallel(c, loss, {x});
    const auto curvature = [&](const Tensor& v) { return hvp(f, v, Tensor(ones({3}))); };
    const Tensor first = select(many, 0, 0);
    return {vmap(grad(f))(many), curvature(first), vmap(curvature)(many), jit(grad(f))(first),
            jit(curvature)(first)};
  });
}

/// Of the loss k sum over i of (w i)^2, i = 0 ... 15 and k = 3, the derivative is 2 k w 1240: 14880
/// where w = 2, without rounding.
TEST(Batches, KeysCountersAndMasksStandBesideTheWeightsOnAnyRanks) {
  struct Net {
    Tensor weight, key, count, mask;
    TESSERA_TREE(weight, key, count, mask)
  };
  const Tensor x = arange(16, Dtype::f64), key = random_key(10), count = scalar(3, Dtype::i32),
               mask = ones({}, Dtype::boolean), many = normal(random_key(11), {4});
  const auto loss = [](const Net& m, const Leaves& part) {
    const Tensor drawn = 0.0 * uniform(m.key, {});
    return cast(m.count, Dtype::f64) * cast(m.mask, Dtype::f64) *
           (sum(square(part[0] * m.weight)) + drawn);
  };
  const auto gradients = [&](Communicator& c) -> Leaves {
    const auto of_weight = [&](const Tensor& w) {
      return data_parallel(c, loss, {x})(Net{w, key, count, mask});
    };
    return {grad(of_weight)(Tensor(2.0)), vmap(grad(of_weight))(many)};
  };
  Communicator one = alone();
  EXPECT_EQ(gradients(one)[0].item(), 14880.0);
  expect_bits_of_one(gradients);
}

TEST(Batches, RefuseWhatIsNoBatch) {
  Communicator one = alone();
  const auto loss = [](const Tensor& v, const Leaves& part) { return sum(part[0] * v); };
  const Tensor w = Tensor(1.0);
  const auto with = [&](const Leaves& batch, Index parts) {
    return data_parallel(one, loss, batch, parts)(w);
  };
  EXPECT_THROW(with({zeros({7})}, 8), Error);
  EXPECT_THROW(with({zeros({8}), zeros({9})}, 8), Error);
  EXPECT_THROW(with({}, 8), Error);
  EXPECT_THROW(with({zeros({8})}, 0), Error);
  const auto no_scalar = [](const Tensor& v, const Leaves& part) { return part[0] * v; };
  EXPECT_THROW(data_parallel(one, no_scalar, {zeros({8})})(w), Error);
  EXPECT_THROW(run_ranks(3, [&](Communicator& c) { data_parallel(c, loss, {ones({8})}, 2)(w); }),
               Error);
  EXPECT_EQ(with({ones({8})}, 3).item(), 8.0);
}

}  // namespace
}  // namespace tessera::parallel
