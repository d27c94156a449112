// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/ops/reduce.h"

#include "../base/context.h"
#include "../core/boxes.h"
#include "../core/cost.h"
#include "../core/rules.h"
#include "../core/tensor_internal.h"
#include "../kernels/copy.h"
#include "../kernels/reduce.h"
#include "../kernels/running_fold.h"
#include "../kernels/scalar.h"
#include "axes_attr.h"
#include "forms.h"
#include "operands.h"
#include "tessera/autodiff/ops.h"

#include <limits>

namespace tessera {
namespace {

using namespace kernels;

bool is_in(const Shape& axes, Index d) {
  return std::find(axes.begin(), axes.end(), d) != axes.end();
}

Shape kept_axes(const Shape& axes, int ndim) {
  Shape kept;
  for (int d = 0; d < ndim; ++d)
    if (!is_in(axes, d)) kept.push_back(d);
  return kept;
}

template <class T>
struct RealPart {
  using type = T;
};
template <class T>
struct RealPart<std::complex<T>> {
  using type = T;
};
template <class T>
using real_part_t = typename RealPart<T>::type;

/// Reduced axes whole, the others as those of the result.
detail::BoxRule boxes_of_reduction(const detail::BoxWanted& w, const Shape& axes) {
  Box in = whole_box(w.in[0].shape);
  int d = 0;
  for (const Index kept : kept_axes(axes, w.in[0].shape.size())) {
    detail::set(in, static_cast<int>(kept), {w.box.begin[d], w.box.end[d]});
    ++d;
  }
  detail::BoxRule r{w.box, std::vector<Box>(w.in.size(), in), nullptr};
  r.sweeps = true;
  return r;
}

template <class P, DtypeSet S>
struct Reduction {
  static constexpr DtypeSet dtypes = S;
  static constexpr bool takes_strides = true;
  static Types infer(std::span<const Type> in, const Attributes* a) {
    const Shape& axes = get<AxesAttr>(a).axes;
    Shape s;
    for (Index d : kept_axes(axes, in[0].shape.size()))
      s.push_back(in[0].shape[static_cast<int>(d)]);
    for (Index d : axes)
      if (!P::has_identity && in[0].shape[static_cast<int>(d)] == 0)
        fail(P::name,
             "an empty axis " + std::to_string(d) + " of " + to_string(in[0]) + " has no extreme");
    if (!contains(S, in[0].dtype))
      fail(P::name, "not defined for " + to_string(in[0]) + "; it takes " + to_string(S));
    return {{in[0].dtype, s}};
  }
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    static constexpr auto table = kernel_table<S>([](auto tag) -> KernelFn {
      using T = typename decltype(tag)::type;
      return [](Inputs in, Outputs out, const Attributes* a) {
        const Shape& axes = get<AxesAttr>(a).axes;
        const View v = kept_first(*in[0], axes);
        T* o = static_cast<T*>(out[0]->data);
        static constexpr Fold<T> op =
            fold_of(P::template identity<T>(), [](T x, T y) { return P::combine(x, y); });
        if (reduce(op, v, axes.size(), o)) return;
        reduce(op, PackedCopy(v).view(), axes.size(), o);
      };
    });
    return table[static_cast<int>(in[0])];
  }
  static detail::BoxRule boxes(const detail::BoxWanted& w) {
    return boxes_of_reduction(w, get<AxesAttr>(w.attr).axes);
  }
  static View kept_first(const View& x, const Shape& axes) {
    View v = x;
    v.shape = v.strides = {};
    const auto take = [&](Index d) {
      v.shape.push_back(x.shape[static_cast<int>(d)]);
      v.strides.push_back(x.strides[static_cast<int>(d)]);
    };
    for (Index d : kept_axes(axes, x.shape.size())) take(d);
    for (Index d : axes) take(d);
    return v;
  }
  static std::size_t workspace(std::span<const View> in, std::span<const View>,
                               const Attributes* a) {
    const Shape& axes = get<AxesAttr>(a).axes;
    return with_type<S>(in[0].dtype, [&](auto tag) {
      return reduce_workspace<typename decltype(tag)::type>(kept_first(in[0], axes), axes.size());
    });
  }
  /// A sum of complex numbers is that of their parts.
  template <class T>
  static const RunningFold* running_of() {
    using R = real_part_t<T>;
    static constexpr RunningFold fold = running_fold_of<R, sizeof(T) / sizeof(R)>(
        [] { return P::template identity<R>(); },
        [](auto x, auto y) TESSERA_INLINE { return P::combine(x, y); });
    return &fold;
  }
  static const RunningFold* running(Dtype t) {
    return with_type<S>(t, [](auto tag) { return running_of<typename decltype(tag)::type>(); });
  }
  static void batch(const Application& a, std::span<const bool>, Index, std::span<Tensor> o) {
    Shape axes = a.get<AxesAttr>().axes;
    for (Index& d : axes) ++d;
    o[0] = apply(primitive<P>(), attributes(AxesAttr{axes}), detail::context_line(), a.in[0]);
  }
};

struct ReduceSum : Reduction<ReduceSum, kNumber> {
  static constexpr RuleClass rule = RuleClass::linear;
  static constexpr std::uint32_t linear_in = 1u;
  static constexpr const char* name = "reduce_sum";
  static double flops(TypeSpan in, TypeSpan, const Attributes*) { return detail::count(in[0]); }
  static constexpr bool has_identity = true;
  template <class T>
  static constexpr T identity() {
    return T(0);
  }
  template <class T>
  static T combine(T x, T y) {
    return wrapping(x, y, [](auto a, auto b) { return a + b; });
  }
  static void transpose(const Application& a, std::span<const bool>, std::span<const Tensor> ct,
                        std::span<Tensor> o) {
    const Shape& in = a.in_types[0].shape;
    o[0] = broadcast_in_dim(ct[0], in, kept_axes(a.get<AxesAttr>().axes, in.size()));
  }
};

/// sum of a o b over leading axes, in the order of reduce_sum(mul(a, b)), without the product in
/// memory.
struct SumProduct : Bilinear<SumProduct> {
  static constexpr const char* name = "sum_product";
  static double flops(TypeSpan in, TypeSpan, const Attributes*) {
    return detail::multiply_adds(in[0], detail::count(in[0]));
  }
  static constexpr bool takes_strides = true;
  static Types infer(std::span<const Type> in, const Attributes* a) {
    if (in.size() != 2 || in[0] != in[1] || !contains(kInexact, in[0].dtype))
      fail(name, "needs two operands of one floating type and shape");
    return ReduceSum::infer(in.first(1), a);
  }
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    static constexpr auto table = kernel_table<kInexact>([](auto tag) -> KernelFn {
      using T = typename decltype(tag)::type;
      return [](Inputs in, Outputs out, const Attributes* attr) {
        const View &a = *in[0], &b = *in[1];
        if (by_rows(a, b, get<AxesAttr>(attr).axes))
          return sum_products<T>(static_cast<const T*>(a.data), a.strides[0],
                                 static_cast<const T*>(b.data), b.strides[0], a.shape[0],
                                 a.count() / a.shape[0], static_cast<T*>(out[0]->data),
                                 [](T x, T y) { return ReduceSum::combine(x, y); });
        detail::ScratchArray<T> memory(static_cast<std::size_t>(a.count()));
        const View product{memory.data(), a.dtype, a.shape, row_major(a.shape)};
        map2<T, T>(a, b, product, [](T x, T y) TESSERA_INLINE { return multiply(x, y); });
        const View* operand = &product;
        ReduceSum::kernel({&a.dtype, 1}, attr)({&operand, 1}, out, attr);
      };
    });
    return table[static_cast<int>(in[0])];
  }
  static detail::BoxRule boxes(const detail::BoxWanted& w) {
    return boxes_of_reduction(w, get<AxesAttr>(w.attr).axes);
  }
  /// The sum is over the leading axis, and what lies behind it is dense.
  static bool by_rows(const View& a, const View& b, const Shape& axes) {
    if (axes.size() != 1 || axes[0] != 0 || a.shape.size() < 2 || a.shape[0] <= 1 ||
        a.count() / a.shape[0] <= 1)
      return false;
    const auto rows_contiguous = [](View v) {
      v.shape.erase(0), v.strides.erase(0);
      return v.contiguous();
    };
    return rows_contiguous(a) && rows_contiguous(b);
  }
  static std::size_t workspace(std::span<const View> in, std::span<const View>,
                               const Attributes* attr) {
    const View& a = in[0];
    const bool rows = by_rows(a, in[1], get<AxesAttr>(attr).axes);
    return with_type<kInexact>(a.dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if (rows) return sum_products_workspace<T>(a.shape[0], a.count() / a.shape[0]);
      const View product{nullptr, a.dtype, a.shape, row_major(a.shape)};
      return detail::scratch_bytes<T>(a.count()) + ReduceSum::workspace({&product, 1}, {}, attr);
    });
  }
  static void transpose(const Application& a, std::span<const bool> linear,
                        std::span<const Tensor> ct, std::span<Tensor> o) {
    if (linear[0] && linear[1])
      detail::no_rule(name, "transpose", "it is not linear in both operands together");
    const Shape& in = a.in_types[0].shape;
    const Tensor wide = broadcast_in_dim(ct[0], in, kept_axes(a.get<AxesAttr>().axes, in.size()));
    if (linear[0]) o[0] = mul(wide, conj(a.in[1]));
    if (linear[1]) o[1] = mul(conj(a.in[0]), wide);
  }
  static void batch(const Application& a, std::span<const bool> batched, Index n,
                    std::span<Tensor> o) {
    Shape axes = a.get<AxesAttr>().axes;
    for (Index& d : axes) ++d;
    o[0] = apply(primitive<SumProduct>(), attributes(AxesAttr{axes}), detail::context_line(),
                 detail::with_batch(a.in[0], batched[0], n),
                 detail::with_batch(a.in[1], batched[1], n));
  }
};

/// The derivative goes to the first extreme element, in row-major order of the reduced axes; the
/// first NaN is one.
template <class P>
struct Extreme : Reduction<P, kReal | kInteger | kBool> {
  static constexpr RuleClass rule = RuleClass::hand;
  static constexpr bool has_identity = false;
  static constexpr None transpose{"it is not linear"};
  static double flops(TypeSpan in, TypeSpan, const Attributes*) { return detail::count(in[0]); }
  static void jvp(const Application& a, std::span<const Tensor> t, std::span<Tensor> o) {
    if (!t[0].defined()) return;
    const Tensor& x = a.in[0];
    const Shape& axes = a.get<AxesAttr>().axes;
    Shape reduced;
    for (Index d : axes) reduced.push_back(x.shape()[static_cast<int>(d)]);
    const Tensor position =
        broadcast_in_dim(reshape(arange(reduced.count()), reduced), x.shape(), axes);
    const Tensor hit =
        detail::is_value(x, broadcast_in_dim(a.out[0], x.shape(), kept_axes(axes, x.ndim())));
    const Tensor first =
        min(where(hit, position, static_cast<std::int64_t>(reduced.count())), axes, true);
    o[0] = sum(where(equal(position, first), t[0], detail::zeros_of(x.type())), axes);
  }
};
struct ReduceMax : Extreme<ReduceMax> {
  static constexpr const char* name = "reduce_max";
  template <class T>
  static constexpr T identity() {
    return std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity()
                                       : std::numeric_limits<T>::lowest();
  }
  template <class T>
  static T combine(T x, T y) {
    return x != x ? x : y != y ? y : x < y ? y : x;
  }
};
struct ReduceMin : Extreme<ReduceMin> {
  static constexpr const char* name = "reduce_min";
  template <class T>
  static constexpr T identity() {
    return std::is_floating_point_v<T> ? std::numeric_limits<T>::infinity()
                                       : std::numeric_limits<T>::max();
  }
  template <class T>
  static T combine(T x, T y) {
    return x != x ? x : y != y ? y : y < x ? y : x;
  }
};

/// Position of the extreme along the last axis.
template <class P>
struct ArgExtreme : LeadingBatch {
  static constexpr RuleClass rule = RuleClass::zero;
  static Types infer(std::span<const Type> in, const Attributes*) {
    if (in[0].shape.empty() || in[0].shape.back() == 0)
      fail(P::name, "needs elements along its axis, got " + to_string(in[0]));
    if (!contains(kReal | kInteger | kBool, in[0].dtype))
      fail(P::name, "not defined for " + to_string(in[0]));
    Shape s = in[0].shape;
    s.erase(s.size() - 1);
    return {{Dtype::i64, s}};
  }
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    static constexpr auto table = kernel_table<kReal | kInteger | kBool>([](auto tag) -> KernelFn {
      using T = typename decltype(tag)::type;
      return [](Inputs in, Outputs out, const Attributes*) {
        const Index n = in[0]->shape.back(), rows = n ? in[0]->count() / n : 0;
        const T* x = static_cast<const T*>(in[0]->data);
        auto* o = static_cast<std::int64_t*>(out[0]->data);
        for_rows(rows, n, [&](Index r) {
          const T* row = x + r * n;
          Index best = 0;
          for (Index i = 1; i < n && row[best] == row[best]; ++i)
            if (row[i] != row[i] || P::better(row[i], row[best])) best = i;
          o[r] = best;
        });
      };
    });
    return table[static_cast<int>(in[0])];
  }
  static detail::BoxRule boxes(const detail::BoxWanted& w) {
    return boxes_of_reduction(w, {w.in[0].shape.size() - 1});
  }
};
struct ArgMax : ArgExtreme<ArgMax> {
  static constexpr const char* name = "argmax";
  template <class T>
  static bool better(T x, T y) {
    return x > y;
  }
};
struct ArgMin : ArgExtreme<ArgMin> {
  static constexpr const char* name = "argmin";
  template <class T>
  static bool better(T x, T y) {
    return x < y;
  }
};

TESSERA_REGISTER(ReduceSum);
TESSERA_REGISTER(SumProduct);
TESSERA_REGISTER(ReduceMax);
TESSERA_REGISTER(ReduceMin);
TESSERA_REGISTER(ArgMax);
TESSERA_REGISTER(ArgMin);
TESSERA_BOXES(ReduceSum);
TESSERA_BOXES(SumProduct);
TESSERA_BOXES(ReduceMax);
TESSERA_BOXES(ReduceMin);
TESSERA_BOXES(ArgMax);
TESSERA_BOXES(ArgMin);

}  // namespace

const RunningFold* detail::running_fold(const Primitive& p, Dtype t) {
  if (&p == &primitive<ReduceSum>() || &p == &primitive<SumProduct>()) return ReduceSum::running(t);
  if (&p == &primitive<ReduceMax>()) return ReduceMax::running(t);
  if (&p == &primitive<ReduceMin>()) return ReduceMin::running(t);
  return nullptr;
}

namespace {

/// Axes counted from the front, rising, each once.
Shape normal_axes(const char* op, const Tensor& t, const Shape& axes, SourceLine line) {
  bool chosen[kMaxDims] = {};
  for (Index d : axes) {
    if (d < -t.ndim() || d >= t.ndim() || chosen[d < 0 ? d + t.ndim() : d])
      fail(op, "axes " + to_string(axes) + " of " + to_string(t.type()), line);
    chosen[d < 0 ? d + t.ndim() : d] = true;
  }
  Shape out;
  for (int d = 0; d < t.ndim(); ++d)
    if (chosen[d]) out.push_back(d);
  return out;
}
Shape all_axes(const Arg& x) {
  const detail::CalledAt called(x.line);
  Shape s;
  if (x.tensor)
    for (int d = 0; d < x.tensor->ndim(); ++d) s.push_back(d);
  return s;
}
/// Of `full` without its `axes`, which are rising, or with 1 in their place.
Shape reduced_shape(const Shape& full, const Shape& axes, bool keep_dims) {
  Shape s;
  for (int d = 0; d < full.size(); ++d) {
    if (!is_in(axes, d))
      s.push_back(full[d]);
    else if (keep_dims)
      s.push_back(1);
  }
  return s;
}
template <class P>
Tensor reduction(const Arg& x, const Shape& axes, bool keep_dims) {
  const detail::CalledAt called(x.line);
  const Tensor t = detail::to_tensor(P::name, x);
  const Shape a = normal_axes(P::name, t, axes, x.line);
  const Tensor r = a.empty() ? t : apply(primitive<P>(), attributes(AxesAttr{a}), x.line, t);
  return keep_dims ? reshape(r, reduced_shape(t.shape(), a, true)) : r;
}

}  // namespace

Tensor detail::is_value(const Tensor& x, const Tensor& y) {
  return logical_or(equal(x, y), not_equal(x, x));
}

Tensor sum(Arg x, const Shape& axes, bool keep_dims) {
  const detail::CalledAt called(x.line);
  const Tensor t = detail::to_summands(ReduceSum::name, x);
  return reduction<ReduceSum>(Arg(t, x.line), axes, keep_dims);
}
Tensor sum_product(Arg a, Arg b, const Shape& axes) {
  const detail::CalledAt called(a.line);
  auto [x, y] = detail::meet("sum_product", a, b);
  if (!is_inexact(x.dtype()))
    fail("sum_product", "takes floats and complex numbers, got " + to_string(x.type()), a.line);
  const Shape all = normal_axes("sum_product", x, axes, a.line);
  return all.empty() ? mul(x, y)
                     : apply(primitive<SumProduct>(), attributes(AxesAttr{all}), a.line, x, y);
}
const Primitive* detail::product_form(const Primitive& p, const Attributes* a, const Type& t) {
  const bool leading = &p == &primitive<ReduceSum>() && get<AxesAttr>(a).axes == Shape{0};
  return leading && is_inexact(t.dtype) ? &primitive<SumProduct>() : nullptr;
}
Tensor max(Arg x, const Shape& axes, bool keep_dims) {
  return reduction<ReduceMax>(x, axes, keep_dims);
}
Tensor min(Arg x, const Shape& axes, bool keep_dims) {
  return reduction<ReduceMin>(x, axes, keep_dims);
}
namespace {
/// Of nothing, where there is no extreme, `empty` is the answer.
template <class P>
Tensor quantified(const Arg& x, const Shape& axes, bool keep_dims, bool empty) {
  const detail::CalledAt called(x.line);
  const Tensor t = cast(x, Dtype::boolean);
  if (t.size() != 0) return reduction<P>(Arg(t, x.line), axes, keep_dims);
  return broadcast_to(scalar(empty, Dtype::boolean),
                      reduced_shape(t.shape(), normal_axes(P::name, t, axes, x.line), keep_dims));
}
}  // namespace
Tensor any(Arg x, const Shape& axes, bool keep_dims) {
  return quantified<ReduceMax>(x, axes, keep_dims, false);
}
Tensor all(Arg x, const Shape& axes, bool keep_dims) {
  return quantified<ReduceMin>(x, axes, keep_dims, true);
}
Tensor mean(Arg x, const Shape& axes, bool keep_dims) {
  const detail::CalledAt called(x.line);
  const Tensor t = detail::to_inexact("mean", x);
  Index n = 1;
  for (Index d : normal_axes("mean", t, axes, x.line)) n *= t.shape()[static_cast<int>(d)];
  return sum(Arg(t, x.line), axes, keep_dims) / static_cast<double>(n);
}
/// A tree of element-wise products of halves: exact derivatives at zeros, of any order.
Tensor prod(Arg x, const Shape& axes, bool keep_dims) {
  const detail::CalledAt called(x.line);
  const Tensor t = detail::to_summands("prod", x);
  const Shape a = normal_axes("prod", t, axes, x.line);
  const Shape result = reduced_shape(t.shape(), a, keep_dims);
  if (t.size() == 0) return full(result, 1, t.dtype());
  Shape order = kept_axes(a, t.ndim()), flat;
  for (Index d : order) flat.push_back(t.shape()[static_cast<int>(d)]);
  for (Index d : a) order.push_back(d);
  flat.push_back(t.size() / flat.count());
  Tensor p = reshape(transpose(Arg(t, x.line), order), flat);
  for (Index n = p.dim(-1); n > 1; n = p.dim(-1)) {
    const Index half = n / 2;
    Tensor q = slice(p, -1, 0, half) * slice(p, -1, half, 2 * half);
    p = n % 2 ? concatenate({q, slice(p, -1, n - 1, n)}, -1) : q;
  }
  return reshape(p, result);
}
Tensor sum(Arg x) { return sum(x, all_axes(x)); }
Tensor mean(Arg x) { return mean(x, all_axes(x)); }
Tensor prod(Arg x) { return prod(x, all_axes(x)); }
Tensor max(Arg x) { return max(x, all_axes(x)); }
Tensor min(Arg x) { return min(x, all_axes(x)); }
Tensor any(Arg x) { return any(x, all_axes(x)); }
Tensor all(Arg x) { return all(x, all_axes(x)); }
Tensor argmax(Arg x, int axis) {
  return apply(primitive<ArgMax>(), {}, x.line, moveaxis(x, axis, -1));
}
Tensor argmin(Arg x, int axis) {
  return apply(primitive<ArgMin>(), {}, x.line, moveaxis(x, axis, -1));
}

}  // namespace tessera
