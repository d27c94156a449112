// SPDX-License-Identifier: Apache-2.0
//
// Sums over windows: a linear primitive along the last axis.
#include "tessera/autodiff/ops/window.h"

#include "../base/context.h"
#include "../core/boxes.h"
#include "../core/cost.h"
#include "../core/rules.h"
#include "../kernels/map.h"
#include "../kernels/scalar.h"
#include "operands.h"
#include "tessera/autodiff/ops.h"
#include "windows.h"

namespace tessera {
namespace {

using namespace kernels;

struct WindowAttr {
  Index size, stride, low, high, dilation;
  TESSERA_ATTRIBUTES(size, stride, low, high, dilation)
  Index reach() const { return (size - 1) * dilation; }
  Index count(Index n) const { return up(n + low + high - reach()); }
  /// Results o in [first, last) for which element j of the window lies inside of n elements.
  Index first(Index j) const { return up(low - j * dilation); }
  Index last(Index j, Index n) const {
    const Index end = n - 1 + low - j * dilation;
    return end < 0 ? 0 : std::min(count(n), end / stride + 1);
  }
  /// Of a stretch, the strides that begin in it.
  Index up(Index stretch) const { return stretch <= 0 ? 0 : (stretch - 1) / stride + 1; }
};
constexpr Index kFarthest = Index(1)
                            << 60;  ///< no window reaches farther: sums of such numbers stay whole

Type windowed(const char* op, const Type& x, const WindowAttr& w, DtypeSet dtypes) {
  if (x.shape.empty() || !contains(dtypes, x.dtype))
    fail(op, "needs at least one axis of " + to_string(dtypes) + ", got " + to_string(x));
  Type y = x;
  y.shape[y.shape.size() - 1] = w.count(x.shape.back());
  return y;
}

struct WindowSum : LeadingBatch {
  static constexpr RuleClass rule = RuleClass::linear;
  static constexpr std::uint32_t linear_in = 1u;
  static constexpr const char* name = "window_sum";
  static double flops(TypeSpan, TypeSpan out, const Attributes* a) {
    return detail::count(out[0]) * static_cast<double>(get<WindowAttr>(a).size);
  }
  static Types infer(std::span<const Type> in, const Attributes* a) {
    return {windowed(name, in[0], get<WindowAttr>(a), kNumber)};
  }
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    static constexpr auto table = kernel_table<kNumber>([](auto tag) -> KernelFn {
      using T = typename decltype(tag)::type;
      return [](Inputs in, Outputs out, const Attributes* a) {
        const WindowAttr& w = get<WindowAttr>(a);
        const Index n = in[0]->shape.back(), m = out[0]->shape.back(),
                    rows = m ? out[0]->count() / m : 0;
        for_rows(rows, m * w.size,
                 [&, x0 = static_cast<const T*>(in[0]->data),
                  y0 = static_cast<T*>(out[0]->data)](Index r) {
                   const T* x = x0 + r * n;
                   T* y = y0 + r * m;
                   std::fill(y, y + m, T(0));
                   for (Index j = 0; j < w.size; ++j)
                     for (Index o = w.first(j); o < w.last(j, n); ++o)
                       y[o] = wrapping(y[o], x[o * w.stride + j * w.dilation - w.low],
                                       [](auto p, auto q) { return p + q; });
                 });
      };
    });
    return table[static_cast<int>(in[0])];
  }
  static detail::BoxRule boxes(const detail::BoxWanted& w) {
    const WindowAttr& a = get<WindowAttr>(w.attr);
    Box in = w.box;
    const int last = in.begin.size() - 1;
    const detail::WindowCut c = detail::cut_window(
        a.stride, a.low, a.reach(), {w.box.begin[last], w.box.end[last]}, w.in[0].shape[last]);
    detail::set(in, last, c.of_operand);
    return {w.box, {in}, attributes(WindowAttr{a.size, a.stride, c.low, c.high, a.dilation})};
  }
  /// x[i] meets all y[o] with o stride = i + low - j dilation: the mirrored window over y, spread
  /// out by the stride.
  static void transpose(const Application& a, std::span<const bool>, std::span<const Tensor> ct,
                        std::span<Tensor> o) {
    const WindowAttr& w = a.get<WindowAttr>();
    const Type& x = a.in_types[0];
    const Index n = x.shape.back(), m = ct[0].dim(-1), spread = m ? (m - 1) * w.stride + 1 : 0;
    if (m == 0) {
      o[0] = detail::zeros_of(x);
      return;
    }
    Shape low = Shape::filled(x.shape.size(), 0), high = low, interior = low;
    const int last = x.shape.size() - 1;
    low[last] = w.reach() - w.low, high[last] = n + w.low - spread, interior[last] = w.stride - 1;
    const WindowAttr back{.size = w.size, .stride = 1, .low = 0, .high = 0, .dilation = w.dilation};
    o[0] = apply(primitive<WindowSum>(), attributes(back), detail::context_line(),
                 pad(ct[0], low, high, interior));
  }
};

TESSERA_REGISTER(WindowSum);
TESSERA_BOXES(WindowSum);

Index entry(const Shape& s, int d, Index standard) { return s.empty() ? standard : s[d]; }
WindowAttr along(const Window& w, int d) {
  return {w.size[d], entry(w.stride, d, 1), entry(w.low, d, 0), entry(w.high, d, 0),
          entry(w.dilation, d, 1)};
}

}  // namespace

void detail::check_windows(const char* op, const Tensor& x, const Window& w,
                           const SourceLine& line) {
  const int k = w.size.size();
  bool ok = k > 0 && w.trailing >= 0 && k + w.trailing <= x.ndim();
  for (const Shape* s : {&w.stride, &w.low, &w.high, &w.dilation})
    ok = ok && (s->empty() || s->size() == k);
  for (int d = 0; ok && d < k; ++d) {
    const WindowAttr a = along(w, d);
    ok = a.size >= 1 && a.stride >= 1 && a.dilation >= 1 && a.size - 1 <= kFarthest / a.dilation &&
         a.low >= 0 && a.high >= 0 && a.low <= a.reach() && a.high <= a.reach();
  }
  if (!ok)
    fail(op,
         "the window " + to_string(w.size) + " with strides " + to_string(w.stride) + ", borders " +
             to_string(w.low) + " and " + to_string(w.high) + ", dilation " +
             to_string(w.dilation) + ", trailing axes " + std::to_string(w.trailing) +
             " does not fit " + to_string(x.type()) +
             ": one entry for each axis, sizes, strides and dilations >= 1, borders 0 ... (size - "
             "1) dilation, which is at most 2^60",
         line);
}

// Axis by axis, from the last to the first.
Tensor window_sum(Arg x, const Window& w) {
  const detail::CalledAt called(x.line);
  Tensor y = detail::to_tensor("window_sum", x);
  detail::check_windows("window_sum", y, w, x.line);
  const int k = w.size.size();
  for (int d = k; d-- > 0;) {
    const WindowAttr a = along(w, d);
    if (a.size == 1 && a.stride == 1) continue;
    const int axis = d - k - w.trailing;
    const Tensor last = moveaxis(Arg(y, x.line), axis, -1);
    y = moveaxis(apply(primitive<WindowSum>(), attributes(a), x.line, last), -1, axis);
  }
  return y;
}
Tensor window_mean(Arg x, const Window& w) {
  const detail::CalledAt called(x.line);
  const Tensor t = detail::to_inexact("window_mean", x);
  detail::check_windows("window_mean", t, w, x.line);
  Shape last = t.shape();
  while (last.size() > w.size.size() + w.trailing) last.erase(0);
  Shape inside;  // of x in one window, at most
  for (int d = 0; d < w.size.size(); ++d) inside.push_back(std::min(w.size[d], last[d]));
  const Dtype type = detail::type_of_running_sum(t.dtype(), inside.count());
  const Tensor total = window_sum(Arg(cast(Arg(t, x.line), type), x.line), w);
  return cast(total / window_sum(ones(last, type), w), t.dtype());
}

}  // namespace tessera
