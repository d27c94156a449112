// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/ops/cumulative.h"

#include "../base/context.h"
#include "../base/scratch.h"
#include "../core/cost.h"
#include "../core/rules.h"
#include "../kernels/map.h"
#include "../kernels/scalar.h"
#include "operands.h"
#include "tessera/autodiff/ops.h"

#include <utility>
#include <vector>

namespace tessera {
namespace {

using namespace kernels;

struct Backwards {
  bool reverse;
  TESSERA_ATTRIBUTES(reverse)
};

/// Running sums along the last axis, by eights: groups of 8 are summed from their beginning, the
/// sums of groups run in the same way, and what comes before a group is added to each of its sums.
/// No sum has more than 8 log_8 n roundings behind it. Blocks of 512 are three such levels, which
/// run side by side.
struct CumSum : LeadingBatch {
  static constexpr RuleClass rule = RuleClass::linear;
  static constexpr std::uint32_t linear_in = 1u;
  static constexpr const char* name = "cumsum";
  static double flops(TypeSpan in, TypeSpan, const Attributes*) { return detail::count(in[0]); }
  static Types infer(std::span<const Type> in, const Attributes*) {
    if (in[0].shape.empty() || !contains(kNumber, in[0].dtype))
      fail(name, "needs at least one axis of numbers, got " + to_string(in[0]));
    return {in[0]};
  }
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    static constexpr auto table = kernel_table<kNumber>([](auto tag) -> KernelFn {
      using T = typename decltype(tag)::type;
      return [](Inputs in, Outputs out, const Attributes* a) {
        const Index n = in[0]->shape.back(), rows = n ? in[0]->count() / n : 0;
        const T* x = static_cast<const T*>(in[0]->data);
        T* o = static_cast<T*>(out[0]->data);
        const bool reverse = get<Backwards>(a).reverse;
        for_rows(rows, n, [&](Index r) {
          if (reverse)
            row<-1>(x + (r + 1) * n - 1, o + (r + 1) * n - 1, n);
          else
            row<1>(x + r * n, o + r * n, n);
        });
      };
    });
    return table[static_cast<int>(in[0])];
  }
  static std::size_t workspace(std::span<const View> in, std::span<const View>, const Attributes*) {
    const Index n = in[0].shape.back(), rows = n ? in[0].count() / n : 0;
    std::size_t each = 0;
    for (Index m = (n + kBlock - 1) / kBlock; m > 1; m = (m + kGroup - 1) / kGroup)
      each += detail::whole_lines(static_cast<std::size_t>(m) * size_of(in[0].dtype));
    return static_cast<std::size_t>(std::min<Index>(rows, num_threads())) * each;
  }
  template <class T>
  static T plus(T x, T y) {
    return wrapping(x, y, [](auto a, auto b) { return a + b; });
  }
  /// From x[0] and o[0] on, in steps of 1 or -1.
  template <Index step, class T>
  static void row(const T* x, T* o, Index n) {
    const Index blocks = (n + kBlock - 1) / kBlock;
    for_rows(blocks, kBlock, [&](Index b) {
      const Index begin = b * kBlock;
      block<step>(x + step * begin, o + step * begin, std::min(kBlock, n - begin));
    });
    if (blocks < 2) return;
    detail::ScratchArray<T> lead(static_cast<std::size_t>(blocks));
    for (Index b = 0; b < blocks; ++b) lead[b] = o[step * (std::min(n, (b + 1) * kBlock) - 1)];
    sums_before(lead.data(), blocks);
    for_rows(blocks, kBlock, [&](Index b) {
      if (b == 0) return;
      for (Index i = b * kBlock; i < std::min(n, (b + 1) * kBlock); ++i)
        o[step * i] = plus(lead[b], o[step * i]);
    });
  }
  static constexpr Index kBlock = 512, kGroup = 8;
  /// At most 512 elements. Before a group come the eights before its own, `above`, and the groups
  /// of its own eight.
  template <Index step, class T>
  static void block(const T* x, T* o, Index n) {
    T above(0), eight(0);
    Index begin = 0;
    auto group = [&](Index count) TESSERA_INLINE {
      if (begin % (kGroup * kGroup) == 0) above = plus(above, eight), eight = T(0);
      const T before = plus(above, eight);
      T s(0);
      for (Index i = begin; i < begin + count; ++i) {
        s = plus(s, x[step * i]);
        o[step * i] = plus(before, s);
      }
      eight = plus(eight, s);
    };
    for (; begin + kGroup <= n; begin += kGroup) group(kGroup);
    group(n - begin);
  }
  /// t_i becomes t_0 + ... + t_(i-1), by eights.
  template <class T>
  static void sums_before(T* t, Index n) {
    const Index groups = (n + kGroup - 1) / kGroup;
    detail::ScratchArray<T> lead(groups > 1 ? static_cast<std::size_t>(groups) : 0);
    for (Index g = 0; g < groups; ++g) {
      T s(0);
      for (Index i = g * kGroup; i < std::min(n, (g + 1) * kGroup); ++i)
        s = plus(std::exchange(t[i], s), s);
      if (groups > 1) lead[g] = s;
    }
    if (groups < 2) return;
    sums_before(lead.data(), groups);
    for (Index i = kGroup; i < n; ++i) t[i] = plus(lead[i / kGroup], t[i]);
  }
  static void transpose(const Application& a, std::span<const bool>, std::span<const Tensor> ct,
                        std::span<Tensor> o) {
    o[0] = apply(primitive<CumSum>(), attributes(Backwards{!a.get<Backwards>().reverse}),
                 detail::context_line(), ct[0]);
  }
};
TESSERA_REGISTER(CumSum);

/// Hillis & Steele's scan: after step s every element combines the 2s elements that end at it; log2
/// n steps of element-wise operations, differentiable to any order.
template <class F>
Tensor scan(const char* op, const Arg& x, DtypeSet dtypes, int axis, bool backwards, F combine) {
  const detail::CalledAt called(x.line);
  const Tensor t = detail::to_tensor(op, x);
  if (t.ndim() == 0 || !contains(dtypes, t.dtype()))
    fail(op, "needs at least one axis of " + to_string(dtypes) + ", got " + to_string(t.type()),
         x.line);
  Tensor y = moveaxis(Arg(t, x.line), axis, -1);
  const Shape last = {y.ndim() - 1};
  if (backwards) y = reverse(y, last);
  const Index n = y.dim(-1);
  for (Index s = 1; s < n; s *= 2)
    y = concatenate({slice(y, -1, 0, s), combine(slice(y, -1, 0, n - s), slice(y, -1, s, n))}, -1);
  if (backwards) y = reverse(y, last);
  return moveaxis(y, -1, axis);
}
Tensor is_nan(const Tensor& x) { return not_equal(x, x); }
bool is_bool(const Arg& x) {
  return x.tensor && x.tensor->defined() && x.tensor->dtype() == Dtype::boolean;
}

}  // namespace

Tensor cumsum(Arg x, int axis, bool reverse) {
  const Tensor t = detail::to_summands(CumSum::name, x), last = moveaxis(Arg(t, x.line), axis, -1);
  return moveaxis(apply(primitive<CumSum>(), attributes(Backwards{reverse}), x.line, last), -1,
                  axis);
}
Tensor cumprod(Arg x, int axis, bool reverse) {
  const Tensor t = detail::to_summands("cumprod", x);
  return scan("cumprod", Arg(t, x.line), kNumber, axis, reverse,
              [](const Tensor& early, const Tensor& late) { return early * late; });
}
Tensor cummax(Arg x, int axis, bool reverse) {
  if (is_bool(x))
    return cast(cummax(Arg(cast(x, Dtype::u8), x.line), axis, reverse), Dtype::boolean);
  return scan("cummax", x, kReal | kInteger, axis, reverse,
              [](const Tensor& early, const Tensor& late) {
                return where(logical_or(less(early, late), is_nan(late)), late, early);
              });
}
Tensor cummin(Arg x, int axis, bool reverse) {
  if (is_bool(x))
    return cast(cummin(Arg(cast(x, Dtype::u8), x.line), axis, reverse), Dtype::boolean);
  return scan("cummin", x, kReal | kInteger, axis, reverse,
              [](const Tensor& early, const Tensor& late) {
                return where(logical_or(less(late, early), is_nan(late)), late, early);
              });
}
/// log(e^a + e^b) = h + log(1 + e^(l - h)) with the higher h and the lower l; -inf where both are.
Tensor cumlogsumexp(Arg x, int axis, bool reverse) {
  return scan("cumlogsumexp", x, kReal, axis, reverse, [](const Tensor& a, const Tensor& b) {
    const Tensor swapped = a < b, h = where(swapped, b, a), l = where(swapped, a, b);
    const Tensor infinite =
        logical_and(equal(h, l), logical_not(is_finite(h)));  // l - h would be NaN
    return h + softplus(where(infinite, 0.0, l - h));
  });
}

}  // namespace tessera
