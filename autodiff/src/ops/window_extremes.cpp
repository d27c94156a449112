// SPDX-License-Identifier: Apache-2.0
//
// The largest and smallest of windows: one pass finds their places, through which values and
// derivatives are picked. x [B..., n_1, ..., n_k, C...], places i32 [B..., m_1, ..., m_k, C...],
// each the number of an element of [n_1, ..., n_k] in row-major order:
//
//   pick: y[b, o, c] = x[b, place[b, o, c], c]     put, its transpose: x[b, place, c] += y[b, o, c]
//
// Sums of put run over o in row-major order.
#include "../base/context.h"
#include "../core/boxes.h"
#include "../core/cost.h"
#include "../core/rules.h"
#include "../kernels/map.h"
#include "../kernels/scalar.h"
#include "operands.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/ops/window.h"
#include "windows.h"

#include <algorithm>
#include <limits>

namespace tessera {
namespace {

using namespace kernels;

/// An entry for each of k axes, and how many axes C... has.
struct WindowsAttr {
  Shape size, stride, low, high, dilation;
  int trailing;
  Shape extent = {};  ///< of put: n_1, ..., n_k
  TESSERA_ATTRIBUTES(size, stride, low, high, dilation, trailing, extent)

  int axes() const { return size.size(); }
  Index reach(int d) const { return (size[d] - 1) * dilation[d]; }
  Index count(int d, Index n) const {
    const Index room = n + low[d] + high[d] - reach(d);
    return room <= 0 ? 0 : (room - 1) / stride[d] + 1;
  }
};

/// Sizes of x and of the results, flattened.
struct Blocks {
  Index outer = 1, channels = 1;
  Shape n, m;
  Blocks(const Shape& x, const Shape& places, const WindowsAttr& a) {
    const int first = x.size() - a.trailing - a.axes();
    for (int d = 0; d < first; ++d) outer *= x[d];
    for (int d = first; d < first + a.axes(); ++d) n.push_back(x[d]), m.push_back(places[d]);
    for (int d = first + a.axes(); d < x.size(); ++d) channels *= x[d];
  }
};

/// f(result number, where its window begins along each axis) for the results of block b whose first
/// place is o.
template <class F>
void each_result(const Blocks& s, const WindowsAttr& a, Index b, Index o, const F& f) {
  const int k = a.axes();
  Index at[kMaxDims] = {o}, begin[kMaxDims];
  const Index rest = s.m.count() / s.m[0];
  for (Index r = 0; r < rest; ++r) {
    for (int d = 0; d < k; ++d) begin[d] = at[d] * a.stride[d] - a.low[d];
    f((b * s.m[0] + o) * rest + r, begin);
    for (int d = k; --d > 0;) {
      if (++at[d] < s.m[d]) break;
      at[d] = 0;
    }
  }
}

/// f(element number) for the elements of a window that begins there, in row-major order.
template <class F>
void each_element(const Blocks& s, const WindowsAttr& a, const Index* begin, const F& f) {
  const int k = a.axes();
  Index from[kMaxDims], to[kMaxDims], at[kMaxDims];
  for (int d = 0; d < k; ++d) {
    const Index e = a.dilation[d], lacking = -begin[d];
    from[d] = lacking <= 0 ? 0 : (lacking + e - 1) / e;
    to[d] = begin[d] >= s.n[d] ? 0 : std::min(a.size[d], (s.n[d] - 1 - begin[d]) / e + 1);
    if (from[d] >= to[d]) return;
    at[d] = from[d];
  }
  for (;;) {
    Index row = 0;
    for (int d = 0; d + 1 < k; ++d) row = row * s.n[d] + begin[d] + at[d] * a.dilation[d];
    row = row * s.n[k - 1] + begin[k - 1];
    for (Index j = from[k - 1]; j < to[k - 1]; ++j) f(row + j * a.dilation[k - 1]);
    int d = k - 1;
    while (--d >= 0 && ++at[d] == to[d]) at[d] = from[d];
    if (d < 0) return;
  }
}

/// The elements that windows of a box of results meet, and the windows there.
std::pair<Box, WindowsAttr> elements_of(const detail::BoxWanted& w) {
  WindowsAttr a = get<WindowsAttr>(w.attr);
  Box in = w.box;
  for (int k = 0; k < a.axes(); ++k) {
    const int d = in.begin.size() - a.trailing - a.axes() + k;
    const detail::WindowCut c = detail::cut_window(
        a.stride[k], a.low[k], a.reach(k), {w.box.begin[d], w.box.end[d]}, w.in[0].shape[d]);
    detail::set(in, d, c.of_operand);
    a.low[k] = c.low, a.high[k] = c.high;
  }
  return {in, a};
}

template <class P, class T>
bool goes_before(T x, T best) {
  return P::better(x, best) | ((x != x) & (best == best));  // the first NaN
}

template <class P, class T>
void find_places(const Blocks& s, const WindowsAttr& a, const T* x, std::int32_t* y) {
  const Index block = s.n.count(), c = s.channels, rest = s.m.count() / s.m[0];
  constexpr Index kChunk = 64;  // channels whose best so far stay in registers or near
  for_rows(s.outer * s.m[0], rest * c * a.size.count(), [&](Index row) {
    const Index b = row / s.m[0];
    const T* x0 = x + b * block * c;
    each_result(s, a, b, row % s.m[0], [&](Index result, const Index* begin) {
      std::int32_t* place = y + result * c;
      if (c == 1) {
        T best{};
        Index found = -1;
        each_element(s, a, begin, [&](Index i) {
          if (found < 0 || goes_before<P>(x0[i], best)) best = x0[i], found = i;
        });
        *place = static_cast<std::int32_t>(found);
        return;
      }
      for (Index first = 0; first < c; first += kChunk) {
        const Index n = std::min(kChunk, c - first);
        T best[kChunk];
        std::int32_t at[kChunk];
        bool any = false;
        each_element(s, a, begin, [&](Index i) {
          const T* v = x0 + i * c + first;
          const auto number = static_cast<std::int32_t>(i);
          if (!any) {
            any = true;
            for (Index k = 0; k < n; ++k) best[k] = v[k], at[k] = number;
            return;
          }
          for (Index k = 0; k < n; ++k) {
            const bool better = goes_before<P>(v[k], best[k]);
            best[k] = better ? v[k] : best[k];
            at[k] = better ? number : at[k];
          }
        });
        std::copy(at, at + n, place + first);
      }
    });
  });
}

template <class P>
struct WindowPlace : LeadingBatch {
  static constexpr RuleClass rule = RuleClass::zero;
  static detail::BoxRule boxes(const detail::BoxWanted& w) {
    const auto [in, a] = elements_of(w);
    return {w.box, {in}, attributes(a)};
  }
  static constexpr DtypeSet dtypes = kReal | kInteger;
  static double flops(TypeSpan, TypeSpan out, const Attributes* a) {
    return detail::count(out[0]) * static_cast<double>(get<WindowsAttr>(a).size.count());
  }
  static Types infer(std::span<const Type> in, const Attributes* attr) {
    const WindowsAttr& a = get<WindowsAttr>(attr);
    if (!contains(dtypes, in[0].dtype))
      fail(P::name, "needs " + to_string(dtypes) + ", got " + to_string(in[0]));
    Type y{Dtype::i32, in[0].shape};
    Index block = 1;
    for (int d = 0; d < a.axes(); ++d) {
      Index& n = y.shape[y.shape.size() - a.trailing - a.axes() + d];
      const Index m = a.count(d, n);
      for (Index o = 0; o < m; ++o) {
        const Index begin = o * a.stride[d] - a.low[d], e = a.dilation[d];
        const Index first = begin < 0 ? (-begin + e - 1) / e : 0;
        if (first >= a.size[d] || begin + first * e >= n)
          fail(P::name, "window " + std::to_string(o) + " of " + to_string(in[0]) +
                            " holds no element; make the border narrower");
      }
      block *= n;
      n = m;
    }
    if (block > std::numeric_limits<std::int32_t>::max())
      fail(P::name, to_string(in[0]) + " has more than 2^31 elements along the windows' axes");
    return {y};
  }
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    static constexpr auto table = kernel_table<dtypes>([](auto tag) -> KernelFn {
      using T = typename decltype(tag)::type;
      return [](Inputs in, Outputs out, const Attributes* attr) {
        if (out[0]->count() == 0) return;
        const WindowsAttr& a = get<WindowsAttr>(attr);
        find_places<P>(Blocks(in[0]->shape, out[0]->shape, a), a,
                       static_cast<const T*>(in[0]->data),
                       static_cast<std::int32_t*>(out[0]->data));
      };
    });
    return table[static_cast<int>(in[0])];
  }
};
struct WindowArgMax : WindowPlace<WindowArgMax> {
  static constexpr const char* name = "window_argmax";
  template <class T>
  static bool better(T x, T y) {
    return x > y;
  }
};
struct WindowArgMin : WindowPlace<WindowArgMin> {
  static constexpr const char* name = "window_argmin";
  template <class T>
  static bool better(T x, T y) {
    return x < y;
  }
};

struct WindowPut;

struct WindowPick : LeadingBatch {
  static constexpr RuleClass rule = RuleClass::linear;
  static constexpr std::uint32_t linear_in = 1u;
  static constexpr const char* name = "window_pick";
  static double flops(TypeSpan, TypeSpan, const Attributes*) { return 0; }
  static Types infer(std::span<const Type> in, const Attributes*) {
    return {{in[0].dtype, in[1].shape}};
  }
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    static constexpr auto table = kernel_table<kNumber>([](auto tag) -> KernelFn {
      using T = typename decltype(tag)::type;
      return [](Inputs in, Outputs out, const Attributes* attr) {
        if (out[0]->count() == 0) return;
        const WindowsAttr& a = get<WindowsAttr>(attr);
        const Blocks s(in[0]->shape, in[1]->shape, a);
        const Index block = s.n.count(), results = s.m.count(), c = s.channels;
        const T* x = static_cast<const T*>(in[0]->data);
        const auto* place = static_cast<const std::int32_t*>(in[1]->data);
        T* y = static_cast<T*>(out[0]->data);
        for_rows(s.outer * results, c, [&](Index r) {
          const T* x0 = x + r / results * block * c;
          for (Index k = 0; k < c; ++k) y[r * c + k] = x0[place[r * c + k] * c + k];
        });
      };
    });
    return table[static_cast<int>(in[0])];
  }
  static void transpose(const Application& a, std::span<const bool>, std::span<const Tensor> ct,
                        std::span<Tensor> o);
  /// Places are numbers of elements of the box that they were found in, which has to be this one.
  static detail::BoxRule boxes(const detail::BoxWanted& w) {
    const auto [in, a] = elements_of(w);
    detail::BoxRule r{w.box, {in, w.box}, attributes(a)};
    r.exactly = 1;
    return r;
  }
};

/// y and places to x, whose block is `extent`.
struct WindowPut : LeadingBatch {
  static constexpr RuleClass rule = RuleClass::linear;
  static constexpr std::uint32_t linear_in = 1u;
  static constexpr const char* name = "window_put";
  static double flops(TypeSpan in, TypeSpan, const Attributes*) { return detail::count(in[0]); }
  static Types infer(std::span<const Type> in, const Attributes* attr) {
    const WindowsAttr& a = get<WindowsAttr>(attr);
    Type x = in[0];
    for (int d = 0; d < a.axes(); ++d)
      x.shape[x.shape.size() - a.trailing - a.axes() + d] = a.extent[d];
    return {x};
  }
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    static constexpr auto table = kernel_table<kNumber>([](auto tag) -> KernelFn {
      using T = typename decltype(tag)::type;
      return [](Inputs in, Outputs out, const Attributes* attr) {
        const WindowsAttr& a = get<WindowsAttr>(attr);
        const Blocks s(out[0]->shape, in[0]->shape, a);
        const Index block = s.n.count() * s.channels, results = s.m.count(), c = s.channels;
        const T* y = static_cast<const T*>(in[0]->data);
        const auto* place = static_cast<const std::int32_t*>(in[1]->data);
        T* x = static_cast<T*>(out[0]->data);
        for_rows(s.outer, block,
                 [&](Index b) { std::fill(x + b * block, x + (b + 1) * block, T(0)); });
        if (results == 0) return;
        // Windows that do not overlap along the first axis have no element in common.
        const Index slices = a.stride[0] > a.reach(0) ? s.m[0] : 1, each = results / slices;
        for_rows(s.outer * slices, each * c * 4, [&](Index row) {
          T* x0 = x + row / slices * block;
          for (Index r = row * each; r < (row + 1) * each; ++r)
            for (Index k = 0; k < c; ++k) {
              T& to = x0[place[r * c + k] * c + k];
              to = wrapping(to, y[r * c + k], [](auto p, auto q) { return p + q; });
            }
        });
      };
    });
    return table[static_cast<int>(in[0])];
  }
  static void transpose(const Application& a, std::span<const bool>, std::span<const Tensor> ct,
                        std::span<Tensor> o) {
    o[0] = apply(primitive<WindowPick>(), attributes(a.get<WindowsAttr>()), detail::context_line(),
                 ct[0], a.in[1]);
  }
};
void WindowPick::transpose(const Application& a, std::span<const bool>, std::span<const Tensor> ct,
                           std::span<Tensor> o) {
  WindowsAttr put = a.get<WindowsAttr>();
  const Shape& x = a.in_types[0].shape;
  put.extent = {};
  for (int d = 0; d < put.axes(); ++d)
    put.extent.push_back(x[x.size() - put.trailing - put.axes() + d]);
  o[0] = apply(primitive<WindowPut>(), attributes(put), detail::context_line(), ct[0], a.in[1]);
}
TESSERA_REGISTER(WindowArgMax);
TESSERA_REGISTER(WindowArgMin);
TESSERA_REGISTER(WindowPick);
TESSERA_REGISTER(WindowPut);
TESSERA_BOXES(WindowArgMax);
TESSERA_BOXES(WindowArgMin);
TESSERA_BOXES(WindowPick);

/// Axes [from, to) of the windows at once.
template <class P>
Tensor extreme_of(const Tensor& x, const Window& w, int from, int to, const SourceLine& line) {
  const int k = w.size.size();
  const auto part = [&](const Shape& s, Index standard) {
    Shape p;
    for (int d = from; d < to; ++d) p.push_back(s.empty() ? standard : s[d]);
    return p;
  };
  const WindowsAttr a{part(w.size, 1), part(w.stride, 1),   part(w.low, 0),
                      part(w.high, 0), part(w.dilation, 1), w.trailing + k - to};
  const Tensor place = apply(primitive<P>(), attributes(a), line, x);
  return apply(primitive<WindowPick>(), attributes(a), line, x, place);
}
template <class P>
Tensor extreme(const char* op, const Arg& x, const Window& w) {
  const detail::CalledAt called(x.line);
  Tensor y = detail::to_tensor(op, x);
  detail::check_windows(op, y, w, x.line);
  const int k = w.size.size();
  constexpr Index kAtOnce = 32;  // elements of a window above which axis after axis costs less
  Index elements = 1;
  for (const Index n : w.size) elements *= std::min(n, kAtOnce + 1);
  if (elements <= kAtOnce) return extreme_of<P>(y, w, 0, k, x.line);
  for (int d = k; d-- > 0;) y = extreme_of<P>(y, w, d, d + 1, x.line);
  return y;
}

}  // namespace

Tensor window_max(Arg x, const Window& w) { return extreme<WindowArgMax>("window_max", x, w); }
Tensor window_min(Arg x, const Window& w) { return extreme<WindowArgMin>("window_min", x, w); }

}  // namespace tessera
