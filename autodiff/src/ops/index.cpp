// SPDX-License-Identifier: Apache-2.0
//
// Gather and scatter: the primitives. Gather is linear in x, scatter_add in x and the updates, and
// each is the other's transpose.
#include "tessera/autodiff/ops/index.h"

#include "../core/boxes.h"
#include "../core/cost.h"
#include "../core/rules.h"
#include "../kernels/map.h"
#include "../kernels/positions.h"
#include "../kernels/scalar.h"
#include "forms.h"
#include "tessera/autodiff/ops.h"

#include <algorithm>
#include <cstring>

namespace tessera {
namespace {

using namespace kernels;

struct BatchDims {
  int batch_dims;
  TESSERA_ATTRIBUTES(batch_dims)
};

/// Shape of a gather's result, after checking that x and indices fit.
Shape gathered(const char* op, const Type& x, const Type& indices, int batch_dims) {
  bool ok = batch_dims >= 0 && batch_dims < x.shape.size() && batch_dims <= indices.shape.size();
  for (int d = 0; ok && d < batch_dims; ++d) ok = x.shape[d] == indices.shape[d];
  if (!ok)
    fail(op, to_string(x) + " and indices " + to_string(indices) + " do not agree in " +
                 std::to_string(batch_dims) + " leading axes");
  if (indices.dtype != Dtype::i32 && indices.dtype != Dtype::i64)
    fail(op, "indices must be i32 or i64, got " + to_string(indices));
  Shape s = indices.shape;
  for (int d = batch_dims + 1; d < x.shape.size(); ++d) s.push_back(x.shape[d]);
  return s;
}

Tensor gather_bound(const Tensor& x, const Tensor& indices, int batch_dims);

struct Gather {
  static constexpr RuleClass rule = RuleClass::linear;
  static constexpr std::uint32_t linear_in = 1u;
  static constexpr const char* name = "gather";
  static Types infer(std::span<const Type> in, const Attributes* a) {
    return {{in[0].dtype, gathered(name, in[0], in[1], get<BatchDims>(a).batch_dims)}};
  }
  static std::size_t workspace(std::span<const View> in, std::span<const View>, const Attributes*) {
    return Positions::workspace(in[1]);
  }
  static KernelFn kernel(std::span<const Dtype>, const Attributes*) {
    return [](Inputs in, Outputs out, const Attributes* a) {
      const Positions p(name, *in[0], *in[1], get<BatchDims>(a).batch_dims);
      const std::size_t bytes = static_cast<std::size_t>(p.rest) * size_of(in[0]->dtype);
      const auto* x = static_cast<const std::byte*>(in[0]->data);
      auto* o = static_cast<std::byte*>(out[0]->data);
      if (bytes == 0) return;
      if (p.rest == 1) {
        single(size_of(in[0]->dtype), p, x, o);
        return;
      }
      for_rows(p.batch * p.count, p.rest, [&](Index r) {
        std::memcpy(o + r * bytes, x + (r / p.count * p.n + p.at[r]) * bytes, bytes);
      });
    };
  }
  /// One element for each index, moved by its width.
  static void single(std::size_t width, const Positions& p, const std::byte* x, std::byte* o) {
    auto move = [&](auto tag) {
      using T = typename decltype(tag)::type;
      for_rows(p.batch * p.count, 1,
               [&, from = reinterpret_cast<const T*>(x), to = reinterpret_cast<T*>(o)](Index r) {
                 to[r] = from[r / p.count * p.n + p.at[r]];
               });
    };
    if (width == 1)
      move(type_tag<std::uint8_t>{});
    else if (width == 4)
      move(type_tag<std::uint32_t>{});
    else if (width == 8)
      move(type_tag<std::int64_t>{});
    else
      move(type_tag<c128>{});
  }
  static void transpose(const Application& a, std::span<const bool>, std::span<const Tensor> ct,
                        std::span<Tensor> o) {
    o[0] =
        scatter_add(detail::zeros_of(a.in_types[0]), a.in[1], ct[0], a.get<BatchDims>().batch_dims);
  }
  /// Along the axis of the positions as far as these reach where they are constants, all of it
  /// where not.
  static detail::BoxRule boxes(const detail::BoxWanted& w) {
    const int b = get<BatchDims>(w.attr).batch_dims, k = w.in[1].shape.size();
    Box x = whole_box(w.in[0].shape), at = whole_box(w.in[1].shape);
    for (int d = 0; d < b; ++d) detail::set(x, d, {w.box.begin[d], w.box.end[d]});
    for (int d = 0; d < k; ++d) detail::set(at, d, {w.box.begin[d], w.box.end[d]});
    for (int d = k; d < w.box.begin.size(); ++d)
      detail::set(x, b + 1 + d - k, {w.box.begin[d], w.box.end[d]});
    detail::BoxRule r{w.box, {x, at}, nullptr};
    if (!w.known[1].defined()) {
      r.sweeps = true;
      return r;
    }
    const Tensor here = cast(k == 0 ? w.known[1] : slice(w.known[1], at.begin, at.end), Dtype::i64);
    const Index first = min(here).item<std::int64_t>(), last = max(here).item<std::int64_t>();
    if (first < 0 || last >= w.in[0].shape[b]) return r;  // the kernel says what is wrong
    detail::set(r.operands[0], b, {first, last + 1});
    r.in_place = {Tensor(), contiguous(here - first)};
    return r;
  }
  static void batch(const Application& a, std::span<const bool> batched, Index n,
                    std::span<Tensor> o) {
    const int b = a.get<BatchDims>().batch_dims;
    if (!batched[0] && b == 0)
      o[0] = gather_bound(a.in[0], a.in[1], 0);
    else
      o[0] = gather_bound(detail::with_batch(a.in[0], batched[0], n),
                          detail::with_batch(a.in[1], batched[1], n), b + 1);
  }
};

Tensor gather_bound(const Tensor& x, const Tensor& indices, int batch_dims) {
  return apply(primitive<Gather>(), attributes(BatchDims{batch_dims}), detail::context_line(), x,
               indices);
}

/// out = x with `P::combine(old, update)` at every index, in order.
template <class P, DtypeSet S>
struct Scatter {
  static Types infer(std::span<const Type> in, const Attributes* a) {
    const Shape s = gathered(P::name, in[0], in[1], get<BatchDims>(a).batch_dims);
    if (in[2] != Type{in[0].dtype, s})
      fail(P::name, "updates must be " + to_string(Type{in[0].dtype, s}) + " for " +
                        to_string(in[0]) + " at " + to_string(in[1]) + ", got " + to_string(in[2]));
    if (!contains(S, in[0].dtype))
      fail(P::name, "not defined for " + to_string(in[0]) + "; it takes " + to_string(S));
    return {in[0]};
  }
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    static constexpr auto table = kernel_table<S>([](auto tag) -> KernelFn {
      using T = typename decltype(tag)::type;
      return [](Inputs in, Outputs out, const Attributes* a) {
        const Positions p(P::name, *in[0], *in[1], get<BatchDims>(a).batch_dims);
        run(p, static_cast<const T*>(in[0]->data), static_cast<const T*>(in[2]->data),
            static_cast<T*>(out[0]->data));
      };
    });
    return table[static_cast<int>(in[0])];
  }
  static std::size_t workspace(std::span<const View> in, std::span<const View>,
                               const Attributes* a) {
    const int batch_dims = get<BatchDims>(a).batch_dims;
    Index batch = 1;
    for (int d = 0; d < batch_dims; ++d) batch *= in[0].shape[d];
    const Index count = in[1].count(), n = in[0].shape[batch_dims];
    return Positions::workspace(in[1]) +
           (groups_by_target(batch, in[2].count()) ? ByTarget::workspace(count, n) : 0);
  }
  static bool groups_by_target(Index batch, Index updates) {
    constexpr Index kGroup = 1 << 16;
    return num_threads() > 1 && batch == 1 && updates >= kGroup;
  }
  /// Many updates of one array are grouped by target, so that targets run in parallel; the order at
  /// each target is the same as that of the plain loop.
  template <class T>
  static void run(const Positions& p, const T* x, const T* u, T* o) {
    std::copy(x, x + p.batch * p.n * p.rest, o);
    if (p.rest == 0) return;
    auto add = [&](Index b, Index t, Index k) {
      T* to = o + (b * p.n + t) * p.rest;
      const T* from = u + (b * p.count + k) * p.rest;
      for (Index r = 0; r < p.rest; ++r) to[r] = P::combine(to[r], from[r]);
    };
    if (!groups_by_target(p.batch, p.count * p.rest)) {
      for_rows(p.batch, p.count * p.rest, [&](Index b) {
        for (Index k = 0; k < p.count; ++k) add(b, p.at[b * p.count + k], k);
      });
      return;
    }
    const ByTarget groups(p.at.data(), p.count, p.n);
    for_rows(p.n, std::max<Index>(1, p.count / std::max<Index>(p.n, 1)) * p.rest, [&](Index t) {
      for (Index i = groups.begin[t]; i < groups.begin[t + 1]; ++i) add(0, t, groups.writers[i]);
    });
  }
  static void batch(const Application& a, std::span<const bool> batched, Index n,
                    std::span<Tensor> o) {
    o[0] = apply(primitive<P>(), attributes(BatchDims{a.get<BatchDims>().batch_dims + 1}),
                 detail::context_line(), detail::with_batch(a.in[0], batched[0], n),
                 detail::with_batch(a.in[1], batched[1], n),
                 detail::with_batch(a.in[2], batched[2], n));
  }
};

/// Number of each update in its batch, i64 [K...] spread to the shape of `u` [B..., K..., rest...].
Tensor update_numbers(const Tensor& u, const Shape& indices, int batch_dims) {
  Shape k, axes;
  for (int d = batch_dims; d < indices.size(); ++d) k.push_back(indices[d]), axes.push_back(d);
  return broadcast_in_dim(reshape(arange(k.count()), k), u.shape(), axes);
}

struct ScatterAdd : Scatter<ScatterAdd, kNumber> {
  static constexpr RuleClass rule = RuleClass::linear;
  static constexpr std::uint32_t linear_in = 5u;
  static constexpr const char* name = "scatter_add";
  static double flops(TypeSpan in, TypeSpan, const Attributes*) { return detail::count(in[2]); }
  template <class T>
  static T combine(T x, T u) {
    return wrapping(x, u, [](auto a, auto b) { return a + b; });
  }
  static void transpose(const Application& a, std::span<const bool> linear,
                        std::span<const Tensor> ct, std::span<Tensor> o) {
    if (linear[0]) o[0] = ct[0];
    if (linear[2]) o[2] = gather_bound(ct[0], a.in[1], a.get<BatchDims>().batch_dims);
  }
};

struct ScatterSet : Scatter<ScatterSet, kAny> {
  static constexpr RuleClass rule = RuleClass::linear;
  static constexpr std::uint32_t linear_in = 5u;
  static constexpr const char* name = "scatter_set";
  template <class T>
  static T combine(T, T u) {
    return u;
  }
  static void transpose(const Application& a, std::span<const bool> linear,
                        std::span<const Tensor> ct, std::span<Tensor> o) {
    const int b = a.get<BatchDims>().batch_dims;
    const Tensor& idx = a.in[1];
    if (linear[0]) o[0] = scatter_set(ct[0], idx, detail::zeros_of(a.in_types[2]), b);
    if (!linear[2]) return;
    // An update counts where it is the last of its target.
    Shape targets;
    for (int d = 0; d <= b; ++d) targets.push_back(a.in_types[0].shape[d]);
    const Tensor number =
        update_numbers(detail::zeros_of({Dtype::i64, idx.shape()}), idx.shape(), b);
    const Tensor last =
        gather_bound(scatter_set(detail::zeros_of({Dtype::i64, targets}), idx, number, b), idx, b);
    Shape axes;
    for (int d = 0; d < idx.ndim(); ++d) axes.push_back(d);
    const Tensor counts = broadcast_in_dim(equal(last, number), a.in_types[2].shape, axes);
    o[2] = where(counts, gather_bound(ct[0], idx, b), detail::zeros_of(a.in_types[2]));
  }
};

template <class P>
struct ScatterExtreme : Scatter<P, kReal | kInteger> {
  static constexpr RuleClass rule = RuleClass::hand;
  static constexpr None transpose{"it is not linear"};
  static void jvp(const Application& a, std::span<const Tensor> t, std::span<Tensor> o) {
    const int b = a.get<BatchDims>().batch_dims;
    const Tensor &x = a.in[0], &idx = a.in[1], &u = a.in[2];
    const Tensor kept = detail::is_value(x, a.out[0]);
    if (t[0].defined()) o[0] = where(kept, t[0], detail::zeros_of(x.type()));
    if (!t[2].defined()) return;
    // The first update that equals the result takes the derivative.
    const Tensor number = update_numbers(u, idx.shape(), b);
    const Index none = number.size();
    const Tensor hit = logical_and(detail::is_value(u, gather_bound(a.out[0], idx, b)),
                                   logical_not(gather_bound(kept, idx, b)));
    const Tensor first = scatter_min(broadcast_to(scalar(none, Dtype::i64), x.shape()), idx,
                                     where(hit, number, none), b);
    const Tensor chosen = logical_and(hit, equal(gather_bound(first, idx, b), number));
    const Tensor moved = where(chosen, t[2], detail::zeros_of(u.type()));
    o[0] = scatter_add(o[0].defined() ? o[0] : detail::zeros_of(x.type()), idx, moved, b);
  }
};
struct ScatterMax : ScatterExtreme<ScatterMax> {
  static constexpr const char* name = "scatter_max";
  static double flops(TypeSpan in, TypeSpan, const Attributes*) { return detail::count(in[2]); }
  template <class T>
  static T combine(T x, T u) {
    return x != x ? x : u != u ? u : x < u ? u : x;
  }
};
struct ScatterMin : ScatterExtreme<ScatterMin> {
  static constexpr const char* name = "scatter_min";
  static double flops(TypeSpan in, TypeSpan, const Attributes*) { return detail::count(in[2]); }
  template <class T>
  static T combine(T x, T u) {
    return x != x ? x : u != u ? u : u < x ? u : x;
  }
};

struct RightSide {
  bool right;
  TESSERA_ATTRIBUTES(right)
};
/// sorted [B..., n], values [B..., m].
struct SearchSorted : LeadingBatch {
  static constexpr RuleClass rule = RuleClass::zero;
  static constexpr const char* name = "searchsorted";
  static double flops(TypeSpan in, TypeSpan, const Attributes*) {
    return detail::count(in[1]) * detail::log2(in[0].shape.back());
  }
  static Types infer(std::span<const Type> in, const Attributes*) {
    const Shape &s = in[0].shape, &v = in[1].shape;
    bool ok = !s.empty() && s.size() == v.size() && in[0].dtype == in[1].dtype &&
              contains(kReal | kInteger, in[0].dtype);
    for (int d = 0; ok && d + 1 < s.size(); ++d) ok = s[d] == v[d];
    if (!ok)
      fail(name, "needs sorted [B..., n] and values [B..., m] of one ordered type, got " +
                     to_string(in[0]) + " and " + to_string(in[1]));
    return {{Dtype::i64, v}};
  }
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    static constexpr auto table = kernel_table<kReal | kInteger>([](auto tag) -> KernelFn {
      using T = typename decltype(tag)::type;
      return [](Inputs in, Outputs out, const Attributes* a) {
        const bool right = get<RightSide>(a).right;
        const Index n = in[0]->shape.back(), m = in[1]->shape.back();
        const T *s = static_cast<const T*>(in[0]->data), *v = static_cast<const T*>(in[1]->data);
        auto* o = static_cast<std::int64_t*>(out[0]->data);
        auto before = [](T x, T y) { return x < y || (y != y && x == x); };
        for_rows(in[1]->count(), 16, [&](Index i) {
          const T* row = s + i / m * n;
          o[i] = (right ? std::upper_bound(row, row + n, v[i], before)
                        : std::lower_bound(row, row + n, v[i], before)) -
                 row;
        });
      };
    });
    return table[static_cast<int>(in[0])];
  }
};

TESSERA_REGISTER(Gather);
TESSERA_BOXES(Gather);
TESSERA_REGISTER(ScatterAdd);
TESSERA_REGISTER(ScatterSet);
TESSERA_REGISTER(ScatterMax);
TESSERA_REGISTER(ScatterMin);
TESSERA_REGISTER(SearchSorted);

template <class P>
Tensor scatter(const Arg& x, const Arg& indices, const Arg& updates, int batch_dims) {
  const Tensor t = detail::to_tensor(P::name, x),
               i = detail::to_tensor(P::name, indices, Dtype::i64);
  Tensor u = detail::to_tensor(P::name, updates, t.dtype());
  const Shape s = gathered(P::name, t.type(), i.type(), batch_dims);
  if (u.dtype() != t.dtype() && can_promote(u.dtype(), t.dtype()) &&
      promote(u.dtype(), t.dtype()) == t.dtype())
    u = cast(u, t.dtype());
  if (u.ndim() <= s.size() && u.shape() != s) u = broadcast_to(Arg(u, updates.line), s);
  return apply(primitive<P>(), attributes(BatchDims{batch_dims}), x.line, t, i, u);
}

}  // namespace

Tensor gather(Arg x, Arg indices, int batch_dims) {
  return apply(primitive<Gather>(), attributes(BatchDims{batch_dims}), x.line,
               detail::to_tensor("gather", x), detail::to_tensor("gather", indices, Dtype::i64));
}
Tensor scatter_add(Arg x, Arg indices, Arg updates, int batch_dims) {
  return scatter<ScatterAdd>(x, indices, updates, batch_dims);
}
Tensor scatter_set(Arg x, Arg indices, Arg updates, int batch_dims) {
  return scatter<ScatterSet>(x, indices, updates, batch_dims);
}
Tensor scatter_max(Arg x, Arg indices, Arg updates, int batch_dims) {
  return scatter<ScatterMax>(x, indices, updates, batch_dims);
}
Tensor scatter_min(Arg x, Arg indices, Arg updates, int batch_dims) {
  return scatter<ScatterMin>(x, indices, updates, batch_dims);
}
Tensor searchsorted(Arg sorted, Arg values, bool right) {
  const Tensor s = detail::to_tensor("searchsorted", sorted),
               v = detail::to_tensor("searchsorted", values, s.dtype());
  if (s.ndim() == 1 && v.ndim() != 1)  // one table for values of any shape
    return reshape(searchsorted(Arg(s, sorted.line), reshape(v, {-1}), right), v.shape());
  return apply(primitive<SearchSorted>(), attributes(RightSide{right}), sorted.line, s, v);
}

}  // namespace tessera
