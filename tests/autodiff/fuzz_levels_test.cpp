// SPDX-License-Identifier: Apache-2.0
//
// Random functions of what networks are made of, with their gradients: without jit, at O0, and at
// O1, of steps joined from one element on and of as many as usual, arguments given away or not, all
// give the same bits. TESSERA_FUZZ_LEVELS sets the number of functions, TESSERA_FUZZ_SEED the
// first.
#include "random_networks.h"
#include "same_bits.h"
#include "tessera/autodiff/jit.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

namespace tessera {
namespace {

using namespace fuzz;

/// Values of f and its gradient for random cotangents.
FlatFunction with_gradient(const FlatFunction& f, std::uint64_t seed) {
  return [f, seed](const Tensors& x) {
    const detail::Linearized l = detail::linearize_flat("vjp", f, x);
    Tensors all = l.values;
    for (const Tensor& t : detail::pull(l, random_like(l.values, seed))) all.push_back(t);
    return all;
  };
}

/// Same bits, but any NaN for a NaN.
bool same_but_for_nans(const Tensor& a, const Tensor& b) {
  if (same_bits(a, b)) return true;
  if (a.type() != b.type() || !is_inexact(a.dtype())) return false;
  const auto numbers = [](const Tensor& t) {
    const Tensor real_ones = is_complex(t.dtype()) ? stack({real(t), imag(t)}) : t;
    return where(equal(real_ones, real_ones), real_ones, 0.0);
  };
  return same_bits(numbers(a), numbers(b));
}

std::uint64_t asked(const char* name, std::uint64_t otherwise) {
  const char* s = std::getenv(name);
  return s ? std::strtoull(s, nullptr, 10) : otherwise;
}

TEST(LevelsFuzz, NetworksGiveTheSameBits) {
  const std::uint64_t graphs = asked("TESSERA_FUZZ_LEVELS", 300),
                      first = asked("TESSERA_FUZZ_SEED", 1);
  std::size_t operations = 0, failures = 0, numbers = 0, refused = 0;
  for (std::uint64_t seed = first; seed < first + graphs && failures < 10; ++seed) {
    Rng rng(seed * 104729);
    const bool large = seed % 4 == 0;  // blocks, vectors, shares of threads, and rests of them
    Tensors x;
    for (Index k = 0, n = 1 + below_of(rng, 2); k < n; ++k) {
      Shape s;
      for (Index d = below_of(rng, 10) ? 1 + below_of(rng, 3) : 0; d > 0; --d)
        s.push_back(1 + below_of(rng, large ? 40 : 4));
      const Index kind = below_of(rng, 8);
      x.push_back(random_tensor({kind < 4    ? Dtype::f32
                                 : kind < 7  ? Dtype::f64
                                 : seed % 2u ? Dtype::c64
                                             : Dtype::c128,
                                 s},
                                rng));
    }
    const auto copies = [&x] {
      Tensors all;
      for (const Tensor& t : x) {
        all.push_back(empty(t.type()));
        std::memcpy(all.back().view().data, contiguous(t).view().data,
                    static_cast<std::size_t>(t.size()) * size_of(t.dtype()));
      }
      return all;
    };
    const FlatFunction f = with_gradient(random_network(seed, large ? 30000 : 100), seed);
    const auto told = [&](const char* what, const Tensors& found, const Tensors& want) {
      for (std::size_t k = 0; k < want.size(); ++k)
        if (k >= found.size() || !same_but_for_nans(found[k], want[k])) {
          ADD_FAILURE() << "seed " << seed << ": " << what << " gives other bits in result " << k;
          ++failures;
          return;
        }
    };
    Tensors want;
    try {
      want = f(x);
    } catch (const Error&) {  // a check within it: nobody gets further
      EXPECT_THROW(jit(f, {.level = Level::O0})(x), Error) << "seed " << seed;
      EXPECT_THROW(jit(f)(x), Error) << "seed " << seed;
      ++refused;
      continue;
    }
    try {
      for (const Tensor& t : want) numbers += static_cast<std::size_t>(t.size());
      told("O0", jit(f, {.level = Level::O0})(x), want);
      const auto planned = jit(f);
      told("O1", planned(x), want);
      told("O1, arguments given away,", planned(copies()), want);
      std::vector<Type> types;
      for (const Tensor& t : x) types.push_back(t.type());
      const Graph graph = simplify(trace(f, types));
      operations += graph.equations.size();
      const Plan joined(graph, 1);
      told("O1, steps joined from one element on,", joined.run(x), want);
      told("O1, so, arguments given away,", joined.run(copies()), want);
    } catch (const std::exception& e) {
      ADD_FAILURE() << "seed " << seed << ": " << e.what();
      ++failures;
    }
  }
  std::printf("  %llu functions with gradients, %zu operations, %zu numbers, each 6 ways\n",
              static_cast<unsigned long long>(graphs), operations, numbers);
  RecordProperty("graphs", static_cast<int>(graphs));
  EXPECT_GT(operations, 20 * graphs);
  EXPECT_LE(refused, graphs / 100);
}

}  // namespace
}  // namespace tessera
