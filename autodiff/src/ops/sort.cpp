// SPDX-License-Identifier: Apache-2.0
//
// One primitive, the sorting permutation; sorted values are gathered through it, which also carries
// derivatives.
#include "tessera/autodiff/ops/sort.h"

#include "../core/cost.h"
#include "../kernels/map.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/ops/index.h"
#include "tessera/autodiff/primitive.h"

#include <algorithm>
#include <numeric>

namespace tessera {
namespace {

using namespace kernels;

struct Direction {
  bool descending;
  TESSERA_ATTRIBUTES(descending)
};
struct ArgSort : LeadingBatch {
  static constexpr RuleClass rule = RuleClass::zero;
  static constexpr const char* name = "argsort";
  static double flops(TypeSpan in, TypeSpan, const Attributes*) {
    return detail::count(in[0]) * detail::log2(in[0].shape.back());
  }
  static constexpr DtypeSet dtypes = kReal | kInteger | kBool;
  static Types infer(std::span<const Type> in, const Attributes*) {
    if (in[0].shape.empty() || !contains(dtypes, in[0].dtype))
      fail(name, "needs at least one axis of " + to_string(dtypes) + ", got " + to_string(in[0]));
    return {{Dtype::i64, in[0].shape}};
  }
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    static constexpr auto table = kernel_table<dtypes>([](auto tag) -> KernelFn {
      using T = typename decltype(tag)::type;
      return [](Inputs in, Outputs out, const Attributes* a) {
        const bool descending = get<Direction>(a).descending;
        const Index n = in[0]->shape.back(), rows = n ? in[0]->count() / n : 0;
        const T* x = static_cast<const T*>(in[0]->data);
        auto* o = static_cast<std::int64_t*>(out[0]->data);
        for_rows(rows, n * 8, [&](Index r) {
          const T* row = x + r * n;
          std::int64_t* order = o + r * n;
          std::iota(order, order + n, 0);
          // NaN after everything else, whichever way the rest is ordered.
          std::int64_t* end =
              std::stable_partition(order, order + n, [&](Index i) { return row[i] == row[i]; });
          if (descending)
            std::stable_sort(order, end, [&](Index i, Index k) { return row[i] > row[k]; });
          else
            std::stable_sort(order, end, [&](Index i, Index k) { return row[i] < row[k]; });
        });
      };
    });
    return table[static_cast<int>(in[0])];
  }
};
TESSERA_REGISTER(ArgSort);

/// x with the axis last, and its sorting permutation.
std::pair<Tensor, Tensor> ordered(const Arg& x, int axis, bool descending) {
  const Tensor last = moveaxis(x, axis, -1);
  return {last, apply(primitive<ArgSort>(), attributes(Direction{descending}), x.line, last)};
}

}  // namespace

Tensor argsort(Arg x, int axis, bool descending) {
  return moveaxis(ordered(x, axis, descending).second, -1, axis);
}
Tensor sort(Arg x, int axis, bool descending) {
  const auto [t, order] = ordered(x, axis, descending);
  return moveaxis(gather(t, order, t.ndim() - 1), -1, axis);
}
std::pair<Tensor, Tensor> top_k(Arg x, Index k, int axis) {
  const auto [t, order] = ordered(x, axis, true);
  if (k < 0 || k > t.dim(-1))
    fail("top_k",
         "k = " + std::to_string(k) + " of " + std::to_string(t.dim(-1)) + " elements along axis " +
             std::to_string(axis),
         x.line);
  const Tensor first = slice(order, -1, 0, k);
  return {moveaxis(gather(t, first, t.ndim() - 1), -1, axis), moveaxis(first, -1, axis)};
}

}  // namespace tessera
