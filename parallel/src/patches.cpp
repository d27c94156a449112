// SPDX-License-Identifier: Apache-2.0
#include "patches.h"

#include "tessera/autodiff/linear_pair.h"

#include <algorithm>

namespace tessera::parallel {
namespace {

struct PatchesAttr {
  PatchesPtr patches;
  TESSERA_ATTRIBUTES(patches)
};

/// f(offset in the whole, offset in the box, length) for the rows of a box along the last axis.
template <class F>
void each_row(const Shape& whole, const Box& b, const F& f) {
  const Shape n = b.extents(), step = row_major(whole);
  const int last = n.size() - 1;
  if (last < 0) return f(Index{0}, Index{0}, Index{1});
  if (b.empty()) return;
  Shape at = b.begin;
  for (Index in_box = 0;; in_box += n[last]) {
    Index offset = 0;
    for (int d = 0; d <= last; ++d) offset += at[d] * step[d];
    f(offset, in_box, n[last]);
    int d = last - 1;
    for (; d >= 0; --d) {
      if (++at[d] < b.end[d]) break;
      at[d] = b.begin[d];
    }
    if (d < 0) return;
  }
}

struct TakePatches {
  static constexpr const char *name = "patches", *transposed_name = "patches_put_back";
  static constexpr std::size_t operands = 1, results = 1;
  static double flops(TypeSpan, TypeSpan, const Attributes*) { return 0; }
  static const Patches& of(const Attributes* a) { return *tessera::get<PatchesAttr>(a).patches; }

  static Types result_types(std::span<const Type> x, const Attributes* a) {
    const Patches& p = of(a);
    Shape s = x[0].shape, tail;
    const int lead = s.size() - p.whole.size();
    for (int d = std::max(lead, 0); d < s.size(); ++d) tail.push_back(s[d]);
    if (lead < 0 || tail != p.whole)
      fail(name, "takes [..., " + to_string(p.whole) + "], got " + to_string(x[0]));
    Shape out;
    for (int d = 0; d < lead; ++d) out.push_back(s[d]);
    out.push_back(p.begin.back());
    return {{x[0].dtype, out}};
  }
  static Types operand_types(std::span<const Type> y, const Attributes* a) {
    const Patches& p = of(a);
    if (y[0].shape.empty() || y[0].shape.back() != p.begin.back() || !contains(kNumber, y[0].dtype))
      fail(transposed_name,
           "takes numbers [..., " + std::to_string(p.begin.back()) + "], got " + to_string(y[0]));
    Shape out = y[0].shape;
    out.erase(out.size() - 1);
    for (const Index n : p.whole) out.push_back(n);
    return {{y[0].dtype, out}};
  }
  static KernelFn kernel(std::span<const Dtype>, const Attributes*) {
    return [](Inputs in, Outputs out, const Attributes* a) {
      visit_dtype(in[0]->dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        const Patches& p = of(a);
        const Index each = p.whole.count(), row = p.begin.back();
        const Index stack = row ? out[0]->count() / row : 0;
        for (Index v = 0; v < stack; ++v)
          for (std::size_t k = 0; k < p.boxes.size(); ++k)
            each_row(p.whole, p.boxes[k], [&](Index from, Index to, Index n) {
              const T* x = static_cast<const T*>(in[0]->data) + v * each + from;
              std::copy(x, x + n, static_cast<T*>(out[0]->data) + v * row + p.begin[k] + to);
            });
      });
    };
  }
  /// Where a box is the first at an element it is put there as it is: a -0 stays one.
  static KernelFn transposed_kernel(std::span<const Dtype>, const Attributes*) {
    return [](Inputs in, Outputs out, const Attributes* a) {
      visit_dtype(in[0]->dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        if constexpr (!std::is_same_v<T, bool>) {
          const Patches& p = of(a);
          const Index each = p.whole.count(), row = p.begin.back();
          const Index stack = each ? out[0]->count() / each : 0;
          std::vector<bool> seen(static_cast<std::size_t>(each));
          T* const y0 = static_cast<T*>(out[0]->data);
          std::fill_n(y0, out[0]->count(), T(0));
          for (std::size_t k = 0; k < p.boxes.size(); ++k)
            each_row(p.whole, p.boxes[k], [&](Index to, Index from, Index n) {
              const auto first = seen.begin() + to;
              const bool none = std::find(first, first + n, true) == first + n;
              for (Index v = 0; v < stack; ++v) {
                const T* x = static_cast<const T*>(in[0]->data) + v * row + p.begin[k] + from;
                T* y = y0 + v * each + to;
                if (none)
                  std::copy(x, x + n, y);
                else
                  for (Index i = 0; i < n; ++i)
                    y[i] = *(first + i) ? static_cast<T>(y[i] + x[i]) : x[i];
              }
              std::fill(first, first + n, true);
            });
        }
      });
    };
  }
};
TESSERA_REGISTER_PAIR(TakePatches);

}  // namespace

PatchesPtr patches(const Shape& whole, std::vector<Box> boxes) {
  Patches p{whole, std::move(boxes), {0}};
  for (const Box& b : p.boxes) p.begin.push_back(p.begin.back() + b.extents().count());
  return std::make_shared<const Patches>(std::move(p));
}
Tensor taken(const PatchesPtr& p, const Tensor& x) {
  return LinearPair<TakePatches>::apply(attributes(PatchesAttr{p}), {x})[0];
}
Tensor put_back(const PatchesPtr& p, const Tensor& row) {
  return LinearPair<TakePatches>::apply_transposed(attributes(PatchesAttr{p}), {row})[0];
}

}  // namespace tessera::parallel
