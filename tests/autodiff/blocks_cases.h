// SPDX-License-Identifier: Apache-2.0
//
// Plans of functions, and whether they give the bits of the functions, with and without joined
// steps.
#pragma once
#include "same_bits.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/graph.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/ops.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace tessera {

using Tensors = std::vector<Tensor>;

inline Plan plan_of(const FlatFunction& f, const Tensors& x, Index join_from) {
  std::vector<Type> types;
  for (const Tensor& t : x) types.push_back(t.type());
  return Plan(simplify(trace(f, types)), join_from);
}

/// f by itself, planned with and without joined steps, on 1, 2 and 3 threads, twice each.
inline void expect_same_bits(const FlatFunction& f, const Tensors& x,
                             const std::string& what = "") {
  SCOPED_TRACE(what);
  const Tensors want = f(x);
  const int before = num_threads();
  for (const Index join_from : {Index{1}, Index{1024}, Index{1} << 60}) {
    const Plan plan = plan_of(f, x, join_from);
    for (const int threads : {1, 2, 3, 1}) {
      set_num_threads(threads);
      const Tensors got = plan.run(x);
      for (std::size_t k = 0; k < want.size(); ++k)
        EXPECT_TRUE(same_bits(got[k], want[k]))
            << "result " << k << ", from " << join_from << ", threads " << threads;
    }
  }
  set_num_threads(before);
}

inline Tensor numbers(Shape shape, Dtype t, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> v(static_cast<std::size_t>(shape.count()));
  for (double& e : v) e = normal(random);
  return cast(tensor(v, shape), t);
}

}  // namespace tessera
