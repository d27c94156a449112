// SPDX-License-Identifier: Apache-2.0
//
// Reading and writing at positions. Torch's gather and scatter take one index for each element,
// along one axis, and allow indices that cover less than x elsewhere; ours take rows, or one index
// for each element of like axes.
#include "compose.h"
#include "tessera/autodiff/ops/segment.h"

#include <algorithm>

namespace tessera::oracle {
namespace {

Tensor leading(const Tensor& x, const Shape& like,
               int axis) {  // x cut to the sizes of `like`, but along axis
  Shape start = Shape::filled(x.ndim(), 0), stop = x.shape();
  for (int k = 0; k < x.ndim(); ++k)
    if (k != axis) stop[k] = std::min(stop[k], like[k]);
  return slice(x, start, stop);
}
Tensor at_least_1d(const Tensor& x) { return x.ndim() == 0 ? reshape(x, {1}) : x; }

/// Positions in the flattened x, one for each element of `indices`.
Tensor flat_positions(const Shape& x, const Tensor& indices, int axis) {
  const Shape strides = row_major(x);
  Tensor p = indices * like(static_cast<double>(strides[axis]), indices);
  for (int k = 0; k < x.size(); ++k) {
    if (k == axis) continue;
    Shape s = Shape::filled(x.size(), 1);
    s[k] = indices.dim(k);
    p = p + reshape(arange(indices.dim(k), indices.dtype()) *
                        like(static_cast<double>(strides[k]), indices),
                    s);
  }
  return p;
}
struct Scattering {
  Tensor x, at, updates;  ///< flat
  Shape shape;
};
/// Arguments (x, axis, indices, updates) as flat ones; updates may be a number and larger than the
/// indices.
Scattering scattering(const Call& c) {
  const Tensor x = at_least_1d(c[0]), indices = cast(at_least_1d(c.tensor(2, "index")), Dtype::i64);
  const int axis = axis_of(c.integer(1, "dim", 0), x.ndim());
  const Value& v = *c.find(3, "src");
  Tensor u = v.kind == Value::Kind::tensor ? at_least_1d(c.tensor(v)) : like(v.number, x);
  if (v.kind != Value::Kind::tensor || u.ndim() != indices.ndim())
    u = broadcast_to(reshape(u, {}), indices.shape());
  else
    u = slice(u, Shape::filled(u.ndim(), 0), indices.shape());
  return {flatten(x), flatten(flat_positions(x.shape(), indices, axis)), flatten(u), c[0].shape()};
}
Tensor scattered(const Call& c) {
  const Scattering s = scattering(c);
  const std::string how = c.text(-1, "reduce", "");
  if (s.x.dtype() == Dtype::boolean && !how.empty()) {
    const Tensor x = number(s.x), u = number(s.updates);
    return reshape(
        cast(how == "add" ? scatter_add(x, s.at, u) : x * segment_prod(u, s.at, x.size()),
             Dtype::boolean),
        s.shape);
  }
  if (how == "add") return reshape(scatter_add(s.x, s.at, s.updates), s.shape);
  if (how == "multiply") return reshape(s.x * segment_prod(s.updates, s.at, s.x.size()), s.shape);
  return reshape(scatter_set(s.x, s.at, s.updates), s.shape);
}
/// Rows x of a scattering with all rows they meet: sum, prod, mean, largest or smallest.
Tensor combine(const Tensor& x, const Tensor& at, const Tensor& updates, const std::string& how,
               bool with_self) {
  if (x.dtype() == Dtype::boolean)
    return cast(combine(number(x), at, number(updates), how, with_self), Dtype::boolean);
  const Index n = x.dim(0);
  Shape rows = Shape::filled(x.ndim(), 1);
  rows[0] = n;
  const Tensor number = reshape(segment_sum(ones({at.size()}, Dtype::i64), at, n), rows);
  const Tensor met = broadcast_to(greater(number, like(0, number)), x.shape());
  if (how == "sum")
    return (with_self ? x : where(met, like(0, x), x)) + segment_sum(updates, at, n);
  if (how == "prod")
    return (with_self ? x : where(met, like(1, x), x)) * segment_prod(updates, at, n);
  if (how == "amax" || how == "amin") {
    const bool largest = how == "amax";
    const auto f = largest ? scatter_max : scatter_min;
    if (with_self) return f(x, at, updates, 0);
    const Tensor best = largest ? segment_max(updates, at, n) : segment_min(updates, at, n);
    return where(met, best, x);
  }
  const Tensor total = (with_self ? x : where(met, like(0, x), x)) + segment_sum(updates, at, n);
  const Tensor divisor =
      cast(maximum(number + like(with_self ? 1 : 0, number), like(1, number)), x.dtype());
  return is_inexact(x.dtype()) ? total / divisor
                               : floor_divide(total, broadcast_to(divisor, total.shape()));
}
Tensor scatter_reduced(const Call& c) {
  const Scattering s = scattering(c);
  std::string how = c.text(4, "reduce", "sum");
  return reshape(combine(s.x, s.at, s.updates, how, c.flag(5, "include_self", true)), s.shape);
}
/// (x, axis, indices [k], rows) with the axis in front; the result goes back.
template <class F>
Tensor rows_of(const Call& c, F f) {
  const Tensor x = at_least_1d(c[0]);
  const int axis = axis_of(c.integer(1, "dim", 0), x.ndim());
  const Tensor front = moveaxis(x, axis, 0);
  const Value& v = *c.find(3, "source");
  Shape s = front.shape();
  const Tensor at = at_least_1d(c.tensor(2, "index"));
  s[0] = at.dim(0);
  Tensor u = v.kind == Value::Kind::tensor ? c.tensor(v) : like(v.number, x);
  u = u.ndim() == x.ndim() ? moveaxis(u, axis, 0)
      : u.ndim() == 0      ? broadcast_to(u, s)
                           : reshape(u, s);
  return reshape(moveaxis(f(front, at, u), 0, axis), c[0].shape());
}

/// x[i, j, ...] for numbers, slices, `...`, None and tensors of indices.
Tensor item(const Call& c) {
  Tensor x = c[0];
  const Value& v = *c.find(1);
  const std::vector<Value> keys =
      v.kind == Value::Kind::list && v.text == "tuple" ? v.items : std::vector<Value>{v};
  int used = 0;
  for (const Value& k : keys)
    used += k.kind == Value::Kind::none || k.kind == Value::Kind::ellipsis ? 0
            : k.kind == Value::Kind::tensor && c.tensor(k).dtype() == Dtype::boolean
                ? c.tensor(k).ndim()
                : 1;
  int axis = 0;
  std::vector<Tensor> indices;
  std::vector<int> axes;
  int first = -1;
  for (const Value& k : keys) switch (k.kind) {
      case Value::Kind::integer: {
        x = select(x, axis, k.integer < 0 ? k.integer + x.dim(axis) : k.integer);
        break;
      }
      case Value::Kind::slice: {
        const Index n = x.dim(axis);
        const auto bound = [&](const Value& b, Index otherwise) {
          if (b.kind == Value::Kind::none) return otherwise;
          return std::clamp<Index>(b.integer < 0 ? b.integer + n : b.integer, 0, n);
        };
        const Index from = bound(k.items[0], 0), to = std::max(from, bound(k.items[1], n));
        x = slice(x, axis++, from, to,
                  k.items[2].kind == Value::Kind::none ? 1 : k.items[2].integer);
        break;
      }
      case Value::Kind::ellipsis:
        axis += c[0].ndim() - used;
        break;
      case Value::Kind::none:
        x = expand_dims(x, axis++);
        break;
      case Value::Kind::list: {
        std::vector<std::int64_t> i;
        for (const Value& e : k.items) i.push_back(e.integer);
        if (first < 0) first = axis;
        indices.push_back(tensor(i));
        axes.push_back(axis++);
        break;
      }
      default: {
        const Tensor t = c.tensor(k);
        if (first < 0) first = axis;
        if (t.dtype() == Dtype::boolean) {
          const Tensor p = nonzero(t);
          for (int d = 0; d < t.ndim(); ++d) indices.push_back(select(p, 1, d));
          for (int d = 0; d < t.ndim(); ++d) axes.push_back(axis++);
        } else {
          indices.push_back(t);
          axes.push_back(axis++);
        }
      }
    }
  if (indices.empty()) return x;
  Shape s;
  for (const Tensor& i : indices) s = broadcast_shape(s, i.shape());
  const int n = static_cast<int>(indices.size());
  Tensor at = zeros(s, Dtype::i64);
  // Tensors apart from each other: theirs are the first axes of the result.
  bool side_by_side = true;
  for (int k = 1; k < n; ++k)
    side_by_side = side_by_side &&
                   axes[static_cast<std::size_t>(k)] == axes[static_cast<std::size_t>(k - 1)] + 1;
  if (!side_by_side) {
    Shape order;
    for (int a : axes) order.push_back(a);
    for (int k = 0; k < x.ndim(); ++k)
      if (std::find(axes.begin(), axes.end(), k) == axes.end()) order.push_back(k);
    x = transpose(x, order);
    first = 0;
  }
  Shape joined;
  for (int k = 0; k < x.ndim(); ++k)
    if (k <= first || k >= first + n) joined.push_back(x.dim(k));
  Index total = 1;
  for (int k = 0; k < n; ++k) {
    const Index d = x.dim(first + k);
    total *= d;
    const Tensor i = cast(indices[static_cast<std::size_t>(k)], Dtype::i64);
    at = at * d + where(less(i, std::int64_t{0}), i + d, i);
  }
  joined[first] = total;
  return take(reshape(x, joined), at, first);
}
Tensor put_at(const Call& c) {
  const Tensor x = c[0];
  std::vector<Tensor> indices;
  for (const Tensor& i : c.tensors(1, "indices")) {
    if (i.dtype() != Dtype::boolean)
      indices.push_back(i);
    else
      for (int d = 0; d < i.ndim(); ++d) indices.push_back(select(nonzero(i), 1, d));
  }
  Shape s;
  for (const Tensor& i : indices) s = broadcast_shape(s, i.shape());
  Tensor at = zeros(s, Dtype::i64);
  Shape rows{1}, target = s;
  for (int k = 0; k < static_cast<int>(indices.size()); ++k) {
    at = at * x.dim(k) + cast(indices[static_cast<std::size_t>(k)], Dtype::i64);
    rows[0] *= x.dim(k);
  }
  for (int k = static_cast<int>(indices.size()); k < x.ndim(); ++k) {
    rows.push_back(x.dim(k));
    target.push_back(x.dim(k));
  }
  const Tensor u = broadcast_to(c.tensor(2, "values"), target);
  const bool add = c.flag(3, "accumulate", false);
  if (x.dtype() == Dtype::boolean)
    return reshape(
        cast((add ? scatter_add : scatter_set)(number(reshape(x, rows)), at, number(u), 0),
             Dtype::boolean),
        x.shape());
  return reshape(add ? scatter_add(reshape(x, rows), at, u) : scatter_set(reshape(x, rows), at, u),
                 x.shape());
}
Tensor counted_from_zero(const Tensor& i, Index n) {
  return where(less(i, like(0, i)), i + like(static_cast<double>(n), i), i);
}

/// x with the block along one axis replaced, positions start, start + step, ...
Tensor block_replaced(const Tensor& x, const Tensor& block, int axis, Index start, Index stop,
                      Index step) {
  std::vector<std::int64_t> at;
  for (Index i = start; i < stop; i += step) at.push_back(i);
  const Tensor front = scatter_set(moveaxis(x, axis, 0), tensor(at), moveaxis(block, axis, 0));
  return moveaxis(front, 0, axis);
}
Tensor sliced(const Call& c, bool scatter) {
  const Tensor x = c[0];
  const int shift = scatter ? 1 : 0;
  const int axis = axis_of(c.integer(1 + shift, "dim", 0), x.ndim());
  const Index n = x.dim(axis);
  const auto bound = [&](Index b) { return std::clamp<Index>(b < 0 ? b + n : b, 0, n); };
  const Index from = bound(c.integer(2 + shift, "start", 0)),
              to = std::max(from, bound(c.integer(3 + shift, "end", n)));
  const Index step = c.integer(4 + shift, "step", 1);
  return scatter ? block_replaced(x, c.tensor(1, "src"), axis, from, to, step)
                 : slice(x, axis, from, to, step);
}
/// Where torch.masked_select reads, or masked_scatter writes: in row-major order.
Tensor places_of(const Tensor& mask, const Shape& s) {
  return select(nonzero(flatten(broadcast_to(mask, s))), 1, 0);
}
Tensor positions_strided(const Call& c, int shift) {
  const Shape size = c.sizes(1 + shift, "size"), stride = c.sizes(2 + shift, "stride");
  Tensor at = zeros({}, Dtype::i64) +
              c.integer(-1, "storage_offset", c.integer(3 + shift, "storage_offset", 0));
  for (int k = 0; k < size.size(); ++k) at = expand_dims(at, k) + arange(size[k]) * stride[k];
  return at;
}

}  // namespace

Tensor take_each(const Tensor& x, const Tensor& indices, int axis) {
  return take_along_axis(leading(x, indices.shape(), axis), indices, axis);
}

void index_rows(Table& t) {
  t["gather"] = [](const Call& c) {
    const Tensor x = at_least_1d(c[0]), i = cast(at_least_1d(c.tensor(2, "index")), Dtype::i64);
    if (i.size() == 0) return zeros(i.shape(), x.dtype());
    return reshape(take_each(x, i, axis_of(c.integer(1, "dim", 0), x.ndim())),
                   c.tensor(2, "index").shape());
  };
  t["take_along_dim"] = [](const Call& c) {
    if (!c.has(2, "dim")) return take(flatten(c[0]), flatten(c.tensor(1, "indices")));
    const int axis = axis_of(c.integer(2, "dim", 0), c[0].ndim());
    Tensor x = c[0], i = counted_from_zero(c.tensor(1, "indices"), c[0].dim(axis));
    Shape xs = x.shape(), is = i.shape();
    for (int k = 0; k < xs.size(); ++k)
      if (k != axis) xs[k] = is[k] = xs[k] == 1 ? is[k] : xs[k];
    return take_along_axis(broadcast_to(x, xs), broadcast_to(i, is), axis);
  };
  t["take"] = [](const Call& c) {
    return take(flatten(c[0]), counted_from_zero(c.tensor(1, "index"), c[0].size()));
  };
  t["index_select"] = [](const Call& c) {
    const Tensor x = at_least_1d(c[0]);
    const Tensor y =
        take(x, at_least_1d(c.tensor(2, "index")), axis_of(c.integer(1, "dim", 0), x.ndim()));
    return c[0].ndim() == 0 ? reshape(y, {}) : y;
  };
  t["scatter"] = scattered;
  t["scatter_add"] = [](const Call& c) {
    const Scattering s = scattering(c);
    return reshape(
        of_numbers([&](const Tensor& x, const Tensor& u) { return scatter_add(x, s.at, u); }, s.x,
                   s.updates),
        s.shape);
  };
  for (const char* how : {"sum", "prod", "mean", "amax", "amin"})
    t[std::string("scatter_reduce.") + how] = scatter_reduced;
  for (const char* how : {"mean", "prod", "amin", "amax"})
    t[std::string("index_reduce.") + how] = [](const Call& c) {
      return rows_of(c, [&](const Tensor& x, const Tensor& at, const Tensor& u) {
        return combine(x, at, u, c.text(4, "reduce", "mean"), c.flag(5, "include_self", true));
      });
    };
  t["index_add"] = [](const Call& c) {
    return rows_of(c, [&](const Tensor& x, const Tensor& at, const Tensor& u) {
      const auto add = [&](const Tensor& y, const Tensor& v) {
        return scatter_add(y, at,
                           c.has(-1, "alpha") ? v * cast(c.tensor(-1, "alpha"), v.dtype()) : v);
      };
      return of_numbers(add, x, u);
    });
  };
  for (const char* name : {"index_copy", "index_fill"})
    t[name] = [](const Call& c) {
      return rows_of(c, [](const Tensor& x, const Tensor& at, const Tensor& u) {
        return scatter_set(x, at, u);
      });
    };
  t["index_put"] = put_at;
  t["put"] = [](const Call& c) {
    const Tensor x = flatten(c[0]),
                 at = flatten(counted_from_zero(c.tensor(1, "index"), c[0].size())),
                 u = flatten(c.tensor(2, "source"));
    if (!c.flag(3, "accumulate", false)) return reshape(scatter_set(x, at, u), c[0].shape());
    return reshape(
        of_numbers([&](const Tensor& p, const Tensor& q) { return scatter_add(p, at, q); }, x, u),
        c[0].shape());
  };
  t["__getitem__"] = item;
  t["select"] = [](const Call& c) {
    const int axis = axis_of(c.integer(1, "dim", 0), c[0].ndim());
    const Index i = c.integer(2, "index", 0);
    return select(c[0], axis, i < 0 ? i + c[0].dim(axis) : i);
  };
  t["select_scatter"] = [](const Call& c) {
    const int axis = axis_of(c.integer(2, "dim", 0), c[0].ndim());
    Index i = c.integer(3, "index", 0);
    if (i < 0) i += c[0].dim(axis);
    return block_replaced(c[0], expand_dims(c.tensor(1, "src"), axis), axis, i, i + 1, 1);
  };
  for (const char* name : {"narrow", "narrow_copy"})
    t[name] = [](const Call& c) {
      const int axis = axis_of(c.integer(1, "dim", 0), c[0].ndim());
      Index from = c.integer(2, "start", 0);
      if (from < 0) from += c[0].dim(axis);
      return slice(c[0], axis, from, from + c.integer(3, "length", 0));
    };
  t["slice"] = [](const Call& c) { return sliced(c, false); };
  t["slice_scatter"] = [](const Call& c) { return sliced(c, true); };
  t["diagonal_scatter"] = [](const Call& c) {
    const Tensor x = c[0], u = c.tensor(1, "src");
    const Index offset = c.integer(2, "offset", 0);
    const int n = x.ndim(), a = axis_of(c.integer(3, "dim1", 0), n),
              b = axis_of(c.integer(4, "dim2", 1), n);
    Shape front;
    for (int k = 0; k < n; ++k)
      if (k != a && k != b) front.push_back(k);
    front.push_back(a);
    front.push_back(b);
    Shape back = front;
    for (int k = 0; k < n; ++k) back[static_cast<int>(front[k])] = k;
    const Tensor y = transpose(x, front);
    const Index rows = y.dim(n - 2), columns = y.dim(n - 1), m = u.dim(n - 2);
    const Index start = offset >= 0 ? offset : -offset * columns;
    const Tensor at = arange(m) * (columns + 1) + start;
    Shape flat;
    for (int k = 0; k < n - 2; ++k) flat.push_back(y.dim(k));
    flat.push_back(rows * columns);
    const Tensor z = moveaxis(
        scatter_set(moveaxis(reshape(y, flat), n - 2, 0), at, moveaxis(u, n - 2, 0)), 0, n - 2);
    return transpose(reshape(z, y.shape()), back);
  };
  t["masked_select"] = [](const Call& c) {
    const Shape s = broadcast_shape(c[0].shape(), c.tensor(1, "mask").shape());
    return take(flatten(broadcast_to(c[0], s)), places_of(c.tensor(1, "mask"), s));
  };
  t["masked_scatter"] = [](const Call& c) {
    const Shape s = broadcast_shape(c[0].shape(), c.tensor(1, "mask").shape());
    const Tensor at = places_of(c.tensor(1, "mask"), s);
    return reshape(scatter_set(flatten(broadcast_to(c[0], s)), at,
                               slice(flatten(c.tensor(2, "source")), 0, 0, at.size())),
                   s);
  };
  for (const char* name : {"as_strided", "as_strided.partial_views", "as_strided_copy"})
    t[name] = [](const Call& c) { return take(flatten(c[0]), positions_strided(c, 0)); };
  t["as_strided_scatter"] = [](const Call& c) {
    return reshape(scatter_set(flatten(c[0]), positions_strided(c, 1), c.tensor(1, "src")),
                   c[0].shape());
  };
  for (const char* name : {"unfold", "unfold_copy"})
    t[name] = [](const Call& c) {
      const Tensor x = at_least_1d(c[0]);
      const int axis = axis_of(c.integer(1, "dimension", 0), x.ndim());
      const Index size = c.integer(2, "size", 1), step = c.integer(3, "step", 1);
      const Index n = (x.dim(axis) - size) / step + 1;
      const Tensor at = reshape(arange(n) * step, {-1, 1}) + arange(size);
      const Tensor y = moveaxis(take(x, at, axis), axis + 1, -1);
      return c[0].ndim() == 0 ? reshape(y, {size}) : y;
    };
  t["nn.functional.embedding"] =
      [](const Call& c) {  // the database's input is the table; a row of padding gets no gradient
        if (!c.has(2, "padding_idx")) return take(c[0], c[1]);
        const Index row = c.integer(2, "padding_idx", 0);
        const Tensor padding = equal(arange(c[0].dim(0)), row < 0 ? row + c[0].dim(0) : row);
        return take(where(expand_dims(padding, 1), stop_gradient(c[0]), c[0]), c[1]);
      };
}

}  // namespace tessera::oracle
