// SPDX-License-Identifier: Apache-2.0
//
// What a call of a plan allocates: its results and lists of handles of arguments and results, as
// many as these have leaves, and nothing for what lies between. Counted by this program's own
// operator new.
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/ops/attention.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they have their own

namespace {
thread_local long allocations = 0;

void* counted(std::size_t bytes, std::size_t alignment) {
  ++allocations;
  void* const p =
      alignment ? std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment)
                : std::malloc(bytes ? bytes : 1);
  if (!p) throw std::bad_alloc();
  return p;
}
}  // namespace

void* operator new(std::size_t bytes) { return counted(bytes, 0); }
void* operator new(std::size_t bytes, std::align_val_t a) {
  return counted(bytes, static_cast<std::size_t>(a));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

using namespace tessera;

namespace {

/// Of the fourth call on one thread; all that is kept for the next call is there by then.
template <class F, class... X>
long allocations_of_a_call(const F& f, const X&... x) {
  const int threads = num_threads();
  set_num_threads(1);
  for (int k = 0; k < 3; ++k) f(x...);
  const long before = allocations;
  f(x...);
  const long made = allocations - before;
  set_num_threads(threads);
  return made;
}

}  // namespace

TEST(Allocations, OfAPlannedCallDoNotGrowWithItsSteps) {
  const Tensor x = reshape(sin(arange(128 * 128, Dtype::f64)), {128, 128});
  const auto chain_of = [](int links) {
    return jit([links](Tensor y) {
      for (int k = 0; k < links; ++k) y = tanh(matmul(y, y) + y) * 0.5 - sum(y, {0});
      return y;
    });
  };
  const long few = allocations_of_a_call(chain_of(2), x),
             many = allocations_of_a_call(chain_of(50), x);
  EXPECT_EQ(few, many);
  EXPECT_LE(many, 12);
}

TEST(Allocations, OfAPlannedGradientAreTheListsOfItsHandles) {
  const auto wave = [](const Shape& s) { return reshape(sin(arange(s.count(), Dtype::f64)), s); };
  const std::vector<Tensor> p = {wave({60, 100}), wave({100}),     wave({100, 100}),
                                 wave({100}),     wave({100, 10}), wave({10})};
  const auto loss = [](const std::vector<Tensor>& q, Tensor u, Tensor v) {
    for (std::size_t k = 0; k < 3; ++k) {
      u = matmul(u, q[2 * k]) + q[2 * k + 1];
      if (k < 2) u = tanh(u);
    }
    return mean(square(u - v));
  };
  const auto planned = jit([loss](const std::vector<Tensor>& q, Tensor u, Tensor v) {
    return value_and_grad(loss)(q, u, v);
  });
  const long made = allocations_of_a_call(planned, p, wave({200, 60}), wave({200, 10}));
  RecordProperty("planned_gradient_allocations", std::to_string(made));
  EXPECT_LE(made, 40);  // 8 arguments and 7 results, flattened and put together again; 105 before
                        // loops of joined operations kept their lists
}

TEST(Allocations, OfAttentionDoNotGrowWithItsLayers) {
  const Tensor x = reshape(sin(arange(70 * 2 * 8, Dtype::f64)), {70, 2, 8});
  const auto gradient_of = [](int layers) {
    return jit(grad([layers](Tensor y) {
      for (int k = 0; k < layers; ++k) y = attention(y, y, y, {.causal = true});
      return sum(y);
    }));
  };
  EXPECT_EQ(allocations_of_a_call(gradient_of(1), x), allocations_of_a_call(gradient_of(6), x));
}

#endif
