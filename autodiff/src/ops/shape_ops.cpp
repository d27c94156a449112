// SPDX-License-Identifier: Apache-2.0
//
// Rearrangements. All are linear; most are views.
#include "../base/context.h"
#include "../core/boxes.h"
#include "../core/rules.h"
#include "../core/tensor_internal.h"
#include "../kernels/arithmetic.h"
#include "../kernels/copy.h"
#include "axes_attr.h"
#include "forms.h"
#include "maps.h"
#include "tessera/autodiff/ops.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace tessera {
namespace {

using detail::zeros_of;

/// Axis numbers counted from the front, checked.
int axis_of(const char* op, Index axis, int ndim, SourceLine line) {
  if (axis < -ndim || axis >= ndim)
    fail(op, "axis " + std::to_string(axis) + " of a tensor with " + std::to_string(ndim) + " axes",
         line);
  return axis < 0 ? axis + ndim : axis;
}

struct ShapeAttr {
  Shape shape;
  TESSERA_ATTRIBUTES(shape)
};
struct PermutationAttr {
  Shape permutation;
  TESSERA_ATTRIBUTES(permutation)
};

struct Reshape : Linear<Reshape> {
  static constexpr const char* name = "reshape";
  static Types infer(std::span<const Type> in, const Attributes* a) {
    const Shape& s = get<ShapeAttr>(a).shape;
    if (s.count() != in[0].shape.count())
      fail(name, "cannot make " + to_string(s) + " of " + to_string(in[0]));
    return {{in[0].dtype, s}};
  }
  static KernelFn kernel(std::span<const Dtype>, const Attributes*) { return nullptr; }
  static bool view(const View& in, const Attributes* a, View& out) {
    if (!in.contiguous()) return false;
    const Shape& s = get<ShapeAttr>(a).shape;
    out = {in.data, in.dtype, s, row_major(s)};
    return true;
  }
  static void transpose(const Application& a, std::span<const bool>, std::span<const Tensor> ct,
                        std::span<Tensor> o) {
    o[0] = reshape(ct[0], a.in_types[0].shape);
  }
  static void batch(const Application& a, std::span<const bool>, Index n, std::span<Tensor> o) {
    Shape s = a.get<ShapeAttr>().shape;
    s.insert(0, n);
    o[0] = reshape(a.in[0], s);
  }
  /// Axes of operand and result fall into groups of one number of positions.
  static detail::BoxRule boxes(const detail::BoxWanted& w) {
    const Shape &a = w.in[0].shape, &s = w.out.shape;
    Box in = whole_box(a), out = w.box;
    for (int i = 0, j = 0; i < a.size() || j < s.size();) {
      const int i0 = i, j0 = j;
      Index of_in = i < a.size() ? a[i++] : 1, of_out = j < s.size() ? s[j++] : 1;
      while (of_in != of_out) {
        if (of_in < of_out)
          of_in *= a[i++];
        else
          of_out *= s[j++];
      }
      cut_group({a, in, i0, i}, {s, out, j0, j}, of_in);
    }
    return {out, {in}, attributes(ShapeAttr{out.extents()})};
  }
  /// Axes [begin, end) of a shape and a box of it.
  struct Group {
    const Shape& shape;
    Box& box;
    int begin, end;
    /// The axis of most weight that has more than one position; -1: none.
    int first() const {
      for (int d = begin; d < end; ++d)
        if (shape[d] != 1) return d;
      return -1;
    }
    Shape long_axes() const {
      Shape s;
      for (int d = begin; d < end; ++d)
        if (shape[d] != 1) s.push_back(d);
      return s;
    }
  };
  /// The operand's axes follow the box of the result's; where neither is an axis for an axis, both
  /// are cut along their first axes alone.
  static void cut_group(const Group& in, const Group& out, Index n) {
    const Shape p = in.long_axes(), q = out.long_axes();
    bool same = p.size() == q.size();
    for (int k = 0; same && k < p.size(); ++k)
      same = in.shape[static_cast<int>(p[k])] == out.shape[static_cast<int>(q[k])];
    if (same) {
      for (int k = 0; k < p.size(); ++k) {
        const int from = static_cast<int>(q[k]), to = static_cast<int>(p[k]);
        detail::set(in.box, to, {out.box.begin[from], out.box.end[from]});
      }
      return;
    }
    Index begin = 0, last = 0;  // of the positions in row-major order
    for (int d = out.begin; d < out.end; ++d) {
      begin = begin * out.shape[d] + out.box.begin[d];
      last = last * out.shape[d] + out.box.end[d] - 1;
    }
    const Index whole = std::lcm(n / in.shape[in.first()], n / out.shape[out.first()]);
    begin = begin / whole * whole;
    const Index end = (last / whole + 1) * whole;
    for (const Group* g : {&in, &out}) {
      const Index each = n / g->shape[g->first()];
      for (int d = g->begin; d < g->end; ++d) detail::set(g->box, d, {0, g->shape[d]});
      detail::set(g->box, g->first(), {begin / each, end / each});
    }
  }
};

struct Transpose : Linear<Transpose> {
  static constexpr const char* name = "transpose";
  static Types infer(std::span<const Type> in, const Attributes* a) {
    const Shape& p = get<PermutationAttr>(a).permutation;
    Shape s;
    bool seen[kMaxDims] = {};
    for (Index d : p) {
      if (p.size() != in[0].shape.size() || d < 0 || d >= p.size() || seen[d])
        fail(name, to_string(p) + " is not a permutation of the axes of " + to_string(in[0]));
      seen[d] = true;
      s.push_back(in[0].shape[static_cast<int>(d)]);
    }
    if (p.size() != in[0].shape.size())
      fail(name, to_string(p) + " is not a permutation of the axes of " + to_string(in[0]));
    return {{in[0].dtype, s}};
  }
  static KernelFn kernel(std::span<const Dtype>, const Attributes*) { return nullptr; }
  static bool view(const View& in, const Attributes* a, View& out) {
    out = {in.data, in.dtype, {}, {}};
    for (Index d : get<PermutationAttr>(a).permutation) {
      out.shape.push_back(in.shape[static_cast<int>(d)]);
      out.strides.push_back(in.strides[static_cast<int>(d)]);
    }
    return true;
  }
  static void transpose(const Application& a, std::span<const bool>, std::span<const Tensor> ct,
                        std::span<Tensor> o) {
    const Shape& p = a.get<PermutationAttr>().permutation;
    Shape inverse = p;
    for (int d = 0; d < p.size(); ++d) inverse[static_cast<int>(p[d])] = d;
    o[0] = tessera::transpose(ct[0], inverse);
  }
  static void batch(const Application& a, std::span<const bool>, Index, std::span<Tensor> o) {
    Shape p = {0};
    for (Index d : a.get<PermutationAttr>().permutation) p.push_back(d + 1);
    o[0] = tessera::transpose(a.in[0], p);
  }
  static detail::BoxRule boxes(const detail::BoxWanted& w) {
    const Shape& p = get<PermutationAttr>(w.attr).permutation;
    Box in = w.box;
    for (int d = 0; d < p.size(); ++d)
      detail::set(in, static_cast<int>(p[d]), {w.box.begin[d], w.box.end[d]});
    return {w.box, {in}, nullptr};
  }
};

struct BroadcastAttr {
  Shape shape, dims;
  TESSERA_ATTRIBUTES(shape, dims)
};
/// Axis k of the operand becomes axis dims[k]; its transpose is the sum over all that was repeated.
struct Broadcast : Linear<Broadcast> {
  static constexpr const char* name = "broadcast";
  static Types infer(std::span<const Type> in, const Attributes* a) {
    const auto& [shape, dims] = get<BroadcastAttr>(a);
    bool ok = dims.size() == in[0].shape.size();
    for (int k = 0; ok && k < dims.size(); ++k)
      ok = dims[k] >= 0 && dims[k] < shape.size() && (k == 0 || dims[k] > dims[k - 1]) &&
           (in[0].shape[k] == 1 || in[0].shape[k] == shape[static_cast<int>(dims[k])]);
    if (!ok)
      fail(name, "cannot make " + to_string(shape) + " of " + to_string(in[0]) + " along axes " +
                     to_string(dims));
    const Type t{in[0].dtype, shape};
    checked_bytes(name, t);  // a view takes no memory that could run out
    return {t};
  }
  static KernelFn kernel(std::span<const Dtype>, const Attributes*) { return nullptr; }
  static bool view(const View& in, const Attributes* a, View& out) {
    const auto& [shape, dims] = get<BroadcastAttr>(a);
    out = {in.data, in.dtype, shape, Shape::filled(shape.size(), 0)};
    for (int k = 0; k < dims.size(); ++k)
      if (in.shape[k] != 1) out.strides[static_cast<int>(dims[k])] = in.strides[k];
    return true;
  }
  static void transpose(const Application& a, std::span<const bool>, std::span<const Tensor> ct,
                        std::span<Tensor> o) {
    const auto& [shape, dims] = a.get<BroadcastAttr>();
    const Shape& in = a.in_types[0].shape;
    Shape repeated;
    for (int d = 0, k = 0; d < shape.size(); ++d) {
      const bool kept = k < dims.size() && dims[k] == d;
      if (!kept || (in[k] == 1 && shape[d] != 1)) repeated.push_back(d);
      if (kept) ++k;
    }
    const Tensor s = repeated.empty() ? ct[0] : sum(ct[0], repeated);
    o[0] = s.shape() == in ? s : reshape(s, in);
  }
  static void batch(const Application& a, std::span<const bool>, Index n, std::span<Tensor> o) {
    auto [shape, dims] = a.get<BroadcastAttr>();
    shape.insert(0, n);
    for (Index& d : dims) ++d;
    dims.insert(0, 0);
    o[0] = broadcast_in_dim(a.in[0], shape, dims);
  }
  static detail::BoxRule boxes(const detail::BoxWanted& w) {
    const Shape& dims = get<BroadcastAttr>(w.attr).dims;
    Box in = whole_box(w.in[0].shape);
    for (int k = 0; k < dims.size(); ++k) {
      const int d = static_cast<int>(dims[k]);
      if (w.in[0].shape[k] == w.out.shape[d]) detail::set(in, k, {w.box.begin[d], w.box.end[d]});
    }
    return {w.box, {in}, attributes(BroadcastAttr{w.box.extents(), dims})};
  }
};

struct SliceAttr {
  Shape start, stop, step;
  TESSERA_ATTRIBUTES(start, stop, step)
};
struct Slice : Linear<Slice> {
  static constexpr const char* name = "slice";
  static Types infer(std::span<const Type> in, const Attributes* a) {
    const auto& [start, stop, step] = get<SliceAttr>(a);
    Shape s;
    const int n = in[0].shape.size();
    bool ok = start.size() == n && stop.size() == n && step.size() == n;
    for (int d = 0; ok && d < n; ++d) {
      ok = 0 <= start[d] && start[d] <= stop[d] && stop[d] <= in[0].shape[d] && step[d] > 0;
      if (ok) s.push_back(count(start[d], stop[d], step[d]));
    }
    if (!ok)
      fail(name, "start " + to_string(start) + ", stop " + to_string(stop) + ", step " +
                     to_string(step) + " do not fit " + to_string(in[0]));
    return {{in[0].dtype, s}};
  }
  /// Of start, start + step, ... below stop, for steps of any size.
  static Index count(Index start, Index stop, Index step) {
    return start < stop ? (stop - start - 1) / step + 1 : 0;
  }
  static KernelFn kernel(std::span<const Dtype>, const Attributes*) { return nullptr; }
  static bool view(const View& in, const Attributes* a, View& out) {
    const auto& [start, stop, step] = get<SliceAttr>(a);
    out = {in.data, in.dtype, in.shape, in.strides};
    Index offset = 0;
    for (int d = 0; d < in.shape.size(); ++d) {
      offset += start[d] * in.strides[d];
      out.shape[d] = count(start[d], stop[d], step[d]);
      if (out.shape[d] > 1) out.strides[d] = in.strides[d] * step[d];
    }
    if (out.shape.count() > 0)
      out.data = static_cast<std::byte*>(in.data) + offset * static_cast<Index>(size_of(in.dtype));
    return true;
  }
  static void transpose(const Application& a, std::span<const bool>, std::span<const Tensor> ct,
                        std::span<Tensor> o) {
    o[0] = padded(a.in_types[0], a.get<SliceAttr>(), ct[0]);
  }
  /// A slice in its place, zeros elsewhere.
  static Tensor padded(const Type& whole, const SliceAttr& s, const Tensor& ct) {
    Shape high = s.start, interior = s.start;
    for (int d = 0; d < s.start.size(); ++d) {
      const Index n = ct.shape()[d];
      interior[d] = s.step[d] - 1;
      high[d] = whole.shape[d] - s.start[d] - (n ? (n - 1) * s.step[d] + 1 : 0);
    }
    return pad(ct, s.start, high, interior);
  }
  static void batch(const Application& a, std::span<const bool>, Index n, std::span<Tensor> o) {
    auto [start, stop, step] = a.get<SliceAttr>();
    start.insert(0, 0), stop.insert(0, n), step.insert(0, 1);
    o[0] = slice(a.in[0], start, stop, step);
  }
  static detail::BoxRule boxes(const detail::BoxWanted& w) {
    const auto& [start, stop, step] = get<SliceAttr>(w.attr);
    Box in = w.box;
    for (int d = 0; d < start.size(); ++d)
      detail::set(
          in, d,
          {start[d] + w.box.begin[d] * step[d], start[d] + (w.box.end[d] - 1) * step[d] + 1});
    return {w.box, {in}, attributes(SliceAttr{Shape::filled(start.size(), 0), in.extents(), step})};
  }
};

struct Reverse : Linear<Reverse> {
  static constexpr const char* name = "reverse";
  static Types infer(std::span<const Type> in, const Attributes*) { return {in[0]}; }
  static KernelFn kernel(std::span<const Dtype>, const Attributes*) { return nullptr; }
  static bool view(const View& in, const Attributes* a, View& out) {
    out = {in.data, in.dtype, in.shape, in.strides};
    if (in.shape.count() == 0) return true;
    Index offset = 0;
    for (Index axis : get<AxesAttr>(a).axes) {
      const int d = static_cast<int>(axis);
      offset += (in.shape[d] - 1) * in.strides[d];
      out.strides[d] = -in.strides[d];
    }
    out.data = static_cast<std::byte*>(in.data) + offset * static_cast<Index>(size_of(in.dtype));
    return true;
  }
  static void transpose(const Application& a, std::span<const bool>, std::span<const Tensor> ct,
                        std::span<Tensor> o) {
    o[0] = reverse(ct[0], a.get<AxesAttr>().axes);
  }
  static void batch(const Application& a, std::span<const bool>, Index, std::span<Tensor> o) {
    Shape axes = a.get<AxesAttr>().axes;
    for (Index& d : axes) ++d;
    o[0] = reverse(a.in[0], axes);
  }
  static detail::BoxRule boxes(const detail::BoxWanted& w) {
    Box in = w.box;
    for (const Index axis : get<AxesAttr>(w.attr).axes) {
      const int d = static_cast<int>(axis);
      detail::set(in, d, {w.out.shape[d] - w.box.end[d], w.out.shape[d] - w.box.begin[d]});
    }
    return {w.box, {in}, nullptr};
  }
};

struct PadAttr {
  Shape low, high, interior;
  TESSERA_ATTRIBUTES(low, high, interior)
};
/// Operands x and the value around it; linear in both.
struct Pad : Linear<Pad> {
  static constexpr const char* name = "pad";
  static constexpr bool takes_strides = true;
  static Types infer(std::span<const Type> in, const Attributes* a) {
    const auto& [low, high, interior] = get<PadAttr>(a);
    const int n = in[0].shape.size();
    Shape s;
    bool ok = low.size() == n && high.size() == n && interior.size() == n && in[1].shape.empty() &&
              in[1].dtype == in[0].dtype;
    for (int d = 0; ok && d < n; ++d) {
      const Index n = in[0].shape[d];
      Index size = 0;  // (n - 1) interior + n + low + high
      ok = low[d] >= 0 && high[d] >= 0 && interior[d] >= 0 &&
           !__builtin_mul_overflow(std::max<Index>(n - 1, 0), interior[d], &size) &&
           !__builtin_add_overflow(size, n, &size) &&
           !__builtin_add_overflow(size, low[d], &size) &&
           !__builtin_add_overflow(size, high[d], &size);
      s.push_back(size);
    }
    if (!ok)
      fail(name, "low " + to_string(low) + ", high " + to_string(high) + ", interior " +
                     to_string(interior) + " do not fit " + to_string(in[0]));
    return {{in[0].dtype, s}};
  }
  static KernelFn kernel(std::span<const Dtype>, const Attributes*) {
    return [](Inputs in, Outputs out, const Attributes* a) {
      const auto& [low, high, interior] = get<PadAttr>(a);
      View around = *in[1];
      around.shape = out[0]->shape;
      around.strides = Shape::filled(out[0]->shape.size(), 0);
      kernels::copy(around, *out[0]);
      View at = *out[0];
      Index offset = 0;
      for (int d = 0; d < at.shape.size(); ++d) {
        offset += low[d] * at.strides[d];
        at.shape[d] = in[0]->shape[d];
        if (at.shape[d] > 1) at.strides[d] *= interior[d] + 1;
      }
      if (in[0]->count() == 0) return;
      at.data = static_cast<std::byte*>(at.data) + offset * static_cast<Index>(size_of(at.dtype));
      kernels::copy_strided(*in[0], at);
    };
  }
  static void transpose(const Application& a, std::span<const bool> linear,
                        std::span<const Tensor> ct, std::span<Tensor> o) {
    const auto& [low, high, interior] = a.get<PadAttr>();
    const Shape& s = a.in_types[0].shape;
    Shape stop = low, step = low;
    for (int d = 0; d < low.size(); ++d) {
      step[d] = interior[d] + 1;
      stop[d] = s[d] ? low[d] + (s[d] - 1) * step[d] + 1 : low[d];
    }
    const Tensor inner = slice(ct[0], low, stop, step);
    if (linear[0]) o[0] = inner;
    if (linear[1]) o[1] = sum(ct[0]) - sum(inner);
  }
  static void batch(const Application& a, std::span<const bool> batched, Index n,
                    std::span<Tensor> o) {
    auto attr = a.get<PadAttr>();
    for (Shape* s : {&attr.low, &attr.high, &attr.interior}) s->insert(0, 0);
    const Tensor x = detail::with_batch(a.in[0], batched[0], n);
    if (!batched[1]) {
      o[0] = apply(primitive<Pad>(), attributes(attr), detail::context_line(), x, a.in[1]);
      return;
    }
    // A value per batch element: pad with zeros, and choose.
    const Tensor padded = apply(primitive<Pad>(), attributes(attr), detail::context_line(), x,
                                scalar(0.0, x.dtype()));
    const Tensor inside =
        apply(primitive<Pad>(), attributes(attr), detail::context_line(),
              broadcast_to(scalar(1.0, Dtype::boolean), x.shape()), scalar(0.0, Dtype::boolean));
    o[0] = where(inside, padded, broadcast_in_dim(a.in[1], padded.shape(), {0}));
  }
  static detail::BoxRule boxes(const detail::BoxWanted& w) {
    PadAttr a = get<PadAttr>(w.attr);
    Box in = w.box;
    for (int d = 0; d < a.low.size(); ++d) {
      const Index step = a.interior[d] + 1, from = w.box.begin[d] - a.low[d],
                  to = w.box.end[d] - a.low[d];  // position i of the operand lies at i step
      const detail::Stretch s = detail::clipped(
          detail::ceil_of(from, step), detail::floor_of(to - 1, step) + 1, w.in[0].shape[d]);
      detail::set(in, d, s);
      const bool none = s.begin == s.end;
      a.low[d] = none ? to - from : s.begin * step - from;
      a.high[d] = none ? 0 : to - (s.end - 1) * step - 1;
    }
    return {w.box, {in, whole_box({})}, attributes(a)};
  }
};

struct AxisAttr {
  int axis;
  TESSERA_ATTRIBUTES(axis)
};
struct Concatenate : Linear<Concatenate> {
  static constexpr const char* name = "concatenate";
  static constexpr bool takes_strides = true;
  static Types infer(std::span<const Type> in, const Attributes* a) {
    const int axis = get<AxisAttr>(a).axis;
    Type t = in[0];
    for (std::size_t k = 1; k < in.size(); ++k) {
      Shape expect = in[0].shape;
      if (in[k].shape.size() == expect.size()) expect[axis] = in[k].shape[axis];
      if (in[k].dtype != t.dtype || in[k].shape != expect)
        fail(name, to_string(in[0]) + " and " + to_string(in[k]) + " differ beyond axis " +
                       std::to_string(axis));
      if (__builtin_add_overflow(t.shape[axis], in[k].shape[axis], &t.shape[axis]))
        fail(name, to_string(in[0]) + ", " + to_string(in[k]) +
                       ", ... have 2^63 positions or more along axis " + std::to_string(axis));
    }
    return {t};
  }
  static KernelFn kernel(std::span<const Dtype>, const Attributes*) {
    return [](Inputs in, Outputs out, const Attributes* a) {
      const int axis = get<AxisAttr>(a).axis;
      View at = *out[0];
      for (const View* v : in) {
        at.shape[axis] = v->shape[axis];
        if (v->count()) kernels::copy_strided(*v, at);
        at.data = static_cast<std::byte*>(at.data) +
                  v->shape[axis] * at.strides[axis] * static_cast<Index>(size_of(at.dtype));
      }
    };
  }
  static void transpose(const Application& a, std::span<const bool> linear,
                        std::span<const Tensor> ct, std::span<Tensor> o) {
    const int axis = a.get<AxisAttr>().axis;
    Index at = 0;
    for (std::size_t k = 0; k < a.in_types.size(); ++k) {
      const Index n = a.in_types[k].shape[axis];
      if (linear[k]) o[k] = slice(ct[0], axis, at, at + n);
      at += n;
    }
  }
  static void batch(const Application& a, std::span<const bool> batched, Index n,
                    std::span<Tensor> o) {
    std::vector<Tensor> parts;
    for (std::size_t k = 0; k < a.in.size(); ++k)
      parts.push_back(detail::with_batch(a.in[k], batched[k], n));
    o[0] = concatenate(parts, a.get<AxisAttr>().axis + 1, detail::context_line());
  }
  static detail::BoxRule boxes(const detail::BoxWanted& w) {
    const int axis = get<AxisAttr>(w.attr).axis;
    detail::BoxRule r{w.box, {}, nullptr};
    Index at = 0;
    for (const Type& t : w.in) {
      r.operands.push_back(w.box);
      const Index n = t.shape[axis];
      detail::set(r.operands.back(), axis,
                  detail::clipped(w.box.begin[axis] - at, w.box.end[axis] - at, n));
      at += n;
    }
    return r;
  }
};

/// The same values in row-major memory.
struct Copy : Unary<Copy, kernels::body::Copy> {
  static constexpr RuleClass rule = RuleClass::linear;
  static constexpr std::uint32_t linear_in = 1u;
  static void transpose(const Application&, std::span<const bool>, std::span<const Tensor> ct,
                        std::span<Tensor> o) {
    o[0] = ct[0];
  }
};

TESSERA_REGISTER(Reshape);
TESSERA_REGISTER(Transpose);
TESSERA_REGISTER(Broadcast);
TESSERA_REGISTER(Slice);
TESSERA_REGISTER(Reverse);
TESSERA_REGISTER(Pad);
TESSERA_REGISTER(Concatenate);
TESSERA_REGISTER(Copy);
TESSERA_BOXES(Reshape);
TESSERA_BOXES(Transpose);
TESSERA_BOXES(Broadcast);
TESSERA_BOXES(Slice);
TESSERA_BOXES(Reverse);
TESSERA_BOXES(Pad);
TESSERA_BOXES(Concatenate);

/// The one axis along which a slice of whole rows was taken; -1: it is of another kind.
int cut_axis(const Type& whole, const SliceAttr& s) {
  int axis = -1;
  for (int d = 0; d < whole.shape.size(); ++d) {
    if (s.step[d] != 1) return -1;
    if (s.start[d] == 0 && s.stop[d] == whole.shape[d]) continue;
    if (axis >= 0) return -1;
    axis = d;
  }
  return axis;
}

/// Slices along one axis that do not overlap, by where they start.
using Row = std::map<Index, const detail::OfSlice*>;

bool fits(const Row& row, Index start, Index stop, int axis) {
  const auto next = row.lower_bound(start);
  if (next != row.end() && next->first < stop) return false;
  return next == row.begin() ||
         get<SliceAttr>(std::prev(next)->second->slice.get()).stop[axis] <= start;
}

/// Beside each other with zeros between.
Tensor side_by_side(const Type& whole, int axis, const Row& row) {
  std::vector<Tensor> pieces;
  Index end = 0;
  const auto zeros_until = [&](Index at) {
    if (at == end) return;
    Type gap = whole;
    gap.shape[axis] = at - end;
    pieces.push_back(detail::zeros_of(gap));
  };
  for (const auto& [start, p] : row) {
    zeros_until(start);
    pieces.push_back(p->cotangent);
    end = get<SliceAttr>(p->slice.get()).stop[axis];
  }
  zeros_until(whole.shape[axis]);
  return concatenate(pieces, axis, detail::context_line());
}

}  // namespace

namespace detail {

const Primitive& slice_primitive() { return primitive<Slice>(); }

Tensor sum_of_slices(const Type& whole, std::span<const OfSlice> parts) {
  const AtLine at(context(), parts.front().line);
  Tensor total;
  std::map<int, std::vector<Row>> along;  // axis -> its slices, in the order in which they came
  for (const OfSlice& p : parts) {
    const auto& s = get<SliceAttr>(p.slice.get());
    const int d = cut_axis(whole, s);
    if (d < 0 || p.cotangent.size() == 0) {
      if (d < 0 || parts.size() == 1)
        total = add_tangents(total, Slice::padded(whole, s, p.cotangent));
      continue;
    }
    std::vector<Row>& rows = along[d];
    auto row = std::find_if(rows.begin(), rows.end(),
                            [&](const Row& r) { return fits(r, s.start[d], s.stop[d], d); });
    if (row == rows.end()) row = rows.emplace(rows.end());
    row->emplace(s.start[d], &p);
  }
  for (const auto& [axis, rows] : along)
    for (const Row& row : rows) {
      const OfSlice& first = *row.begin()->second;
      total = add_tangents(
          total, row.size() == 1
                     ? Slice::padded(whole, get<SliceAttr>(first.slice.get()), first.cotangent)
                     : side_by_side(whole, axis, row));
    }
  return total;
}

}  // namespace detail

Tensor reshape(Arg x, Shape shape) {
  const Tensor t = detail::to_tensor("reshape", x);
  int open = -1;
  for (int d = 0; d < shape.size(); ++d) {
    if (shape[d] == -1 && open < 0)
      open = d;
    else if (shape[d] < 0)
      fail("reshape", "sizes must not be negative, got " + to_string(shape), x.line);
  }
  if (open >= 0) {
    Shape rest = shape;
    rest.erase(open);
    const Index known = rest.count();
    if (known == 0 || t.size() % known)
      fail("reshape", "cannot make " + to_string(shape) + " of " + to_string(t.type()), x.line);
    shape[open] = t.size() / known;
  }
  if (shape == t.shape()) return t;
  return apply(primitive<Reshape>(), attributes(ShapeAttr{shape}), x.line, t);
}
Tensor flatten(Arg x) { return reshape(x, {-1}); }

Tensor transpose(Arg x, Shape permutation) {
  const Tensor t = detail::to_tensor("transpose", x);
  for (Index& d : permutation)
    if (d < 0) d += t.ndim();
  bool identity = permutation.size() == t.ndim();
  for (int d = 0; identity && d < t.ndim(); ++d) identity = permutation[d] == d;
  return identity
             ? t
             : apply(primitive<Transpose>(), attributes(PermutationAttr{permutation}), x.line, t);
}
Tensor transpose(Arg x) {
  const Tensor t = detail::to_tensor("transpose", x);
  if (t.ndim() < 2)
    fail("transpose", "needs at least two axes, got " + to_string(t.type()), x.line);
  return moveaxis(Arg(t, x.line), -1, -2);
}
Tensor moveaxis(Arg x, int from, int to) {
  const Tensor t = detail::to_tensor("moveaxis", x);
  from = axis_of("moveaxis", from, t.ndim(), x.line),
  to = axis_of("moveaxis", to, t.ndim(), x.line);
  Shape p;
  for (int d = 0; d < t.ndim(); ++d)
    if (d != from) p.push_back(d);
  p.insert(to, from);
  return transpose(Arg(t, x.line), p);
}
Tensor expand_dims(Arg x, int axis) {
  const Tensor t = detail::to_tensor("expand_dims", x);
  axis = axis_of("expand_dims", axis, t.ndim() + 1, x.line);
  Shape s = t.shape();
  s.insert(axis, 1);
  return reshape(Arg(t, x.line), s);
}
Tensor squeeze(Arg x, int axis) {
  const Tensor t = detail::to_tensor("squeeze", x);
  axis = axis_of("squeeze", axis, t.ndim(), x.line);
  Shape s = t.shape();
  if (s[axis] != 1)
    fail("squeeze",
         "axis " + std::to_string(axis) + " of " + to_string(t.type()) + " is not of size 1",
         x.line);
  s.erase(axis);
  return reshape(Arg(t, x.line), s);
}
Tensor broadcast_in_dim(Arg x, const Shape& shape, const Shape& dims) {
  const Tensor t = detail::to_tensor("broadcast", x);
  if (t.shape() == shape) return t;
  return apply(primitive<Broadcast>(), attributes(BroadcastAttr{shape, dims}), x.line, t);
}
Tensor broadcast_to(Arg x, const Shape& shape) {
  const Tensor t = detail::to_tensor("broadcast", x);
  if (t.ndim() > shape.size())
    fail("broadcast", to_string(t.type()) + " has more axes than " + to_string(shape), x.line);
  Shape dims;
  for (int d = 0; d < t.ndim(); ++d) dims.push_back(shape.size() - t.ndim() + d);
  return broadcast_in_dim(Arg(t, x.line), shape, dims);
}
Tensor slice(Arg x, const Shape& start, const Shape& stop, Shape step) {
  const Tensor t = detail::to_tensor("slice", x);
  if (step.empty()) step = Shape::filled(t.ndim(), 1);
  bool whole = start.size() == t.ndim() && stop == t.shape();
  for (int d = 0; whole && d < t.ndim(); ++d) whole = start[d] == 0 && step[d] == 1;
  return whole ? t : apply(primitive<Slice>(), attributes(SliceAttr{start, stop, step}), x.line, t);
}
Tensor slice(Arg x, int axis, Index start, Index stop, Index step) {
  const Tensor t = detail::to_tensor("slice", x);
  axis = axis_of("slice", axis, t.ndim(), x.line);
  const Index n = t.shape()[axis];
  Shape a = Shape::filled(t.ndim(), 0), b = t.shape(), c = Shape::filled(t.ndim(), 1);
  a[axis] = start < 0 ? start + n : start;
  b[axis] = stop < 0 ? stop + n : stop;
  c[axis] = step;
  return slice(Arg(t, x.line), a, b, c);
}
Tensor select(Arg x, int axis, Index position) {
  const Tensor t = detail::to_tensor("select", x);
  axis = axis_of("select", axis, t.ndim(), x.line);
  const Index n = t.shape()[axis];
  if (position < -n || position >= n)
    fail("select",
         "position " + std::to_string(position) + " on axis " + std::to_string(axis) + " of " +
             to_string(t.type()),
         x.line);
  if (position < 0) position += n;
  return squeeze(Arg(slice(Arg(t, x.line), axis, position, position + 1), x.line), axis);
}
Tensor reverse(Arg x, const Shape& axes) {
  const Tensor t = detail::to_tensor("reverse", x);
  Shape a;
  for (Index axis : axes) {
    const int d = axis_of("reverse", axis, t.ndim(), x.line);
    if (std::find(a.begin(), a.end(), d) != a.end())
      fail("reverse", "axes " + to_string(axes) + " of " + to_string(t.type()) + " name one twice",
           x.line);
    a.push_back(d);
  }
  return apply(primitive<Reverse>(), attributes(AxesAttr{a}), x.line, t);
}
Tensor pad(Arg x, const Shape& low, const Shape& high, Shape interior, Literal value) {
  const Tensor t = detail::to_tensor("pad", x);
  if (interior.empty()) interior = Shape::filled(t.ndim(), 0);
  return apply(primitive<Pad>(), attributes(PadAttr{low, high, interior}), x.line, t,
               detail::literal("pad", value, t.dtype(), x.line));
}
Tensor concatenate(const std::vector<Tensor>& parts, int axis, SourceLine line) {
  if (parts.empty()) fail("concatenate", "needs at least one part", line);
  axis = axis_of("concatenate", axis, parts[0].ndim(), line);
  if (parts.size() == 1) return parts[0];
  if (parts.size() >
      32) {  // in two levels, so that no operation has more operands than the engine takes
    std::vector<Tensor> groups;
    for (std::size_t k = 0; k < parts.size(); k += 32)
      groups.push_back(concatenate(
          {parts.begin() + k, parts.begin() + std::min(parts.size(), k + 32)}, axis, line));
    return concatenate(groups, axis, line);
  }
  std::vector<const Tensor*> in;
  for (const Tensor& p : parts) in.push_back(&p);
  return dispatch1(primitive<Concatenate>(), in, attributes(AxisAttr{axis}), line);
}
Tensor stack(const std::vector<Tensor>& parts, int axis, SourceLine line) {
  std::vector<Tensor> wide;
  for (const Tensor& p : parts) wide.push_back(expand_dims(Arg(p, line), axis));
  return concatenate(wide, axis, line);
}
std::vector<Tensor> split(Arg x, int parts, int axis) {
  const Tensor t = detail::to_tensor("split", x);
  axis = axis_of("split", axis, t.ndim(), x.line);
  const Index n = t.shape()[axis];
  if (parts <= 0 || n % parts)
    fail("split",
         "axis of size " + std::to_string(n) + " into " + std::to_string(parts) + " equal parts",
         x.line);
  std::vector<Tensor> out;
  for (Index k = 0; k < parts; ++k)
    out.push_back(slice(Arg(t, x.line), axis, k * (n / parts), (k + 1) * (n / parts)));
  return out;
}
Tensor contiguous(Arg x) {
  const Tensor t = detail::to_tensor("contiguous", x);
  if (!t.is_traced() && t.view().contiguous()) return t;
  return apply(primitive<Copy>(), {}, x.line, t);
}

}  // namespace tessera
