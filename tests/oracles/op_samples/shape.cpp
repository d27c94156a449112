// SPDX-License-Identifier: Apache-2.0
//
// Views, copies of views, and what puts tensors side by side.
#include "compose.h"

#include <algorithm>

namespace tessera::oracle {
namespace {

Tensor as_written(const Call& c) {  // reshape(x, sizes), or several sizes
  return reshape(c[0], c.sizes_from(1, "shape"));
}
/// -1 keeps an axis; axes may be added in front.
Tensor expanded(const Call& c) {
  Shape s = c.sizes_from(1, "size");
  const int added = s.size() - c[0].ndim();
  for (int k = 0; k < s.size(); ++k)
    if (s[k] == -1 && k >= added) s[k] = c[0].shape()[k - added];
  return broadcast_to(c[0], s);
}
Tensor flattened(const Call& c) {
  const Tensor x = c[0];
  if (x.ndim() == 0) return reshape(x, {1});
  const int first = axis_of(c.integer(1, "start_dim", 0), x.ndim()),
            last = axis_of(c.integer(2, "end_dim", -1), x.ndim());
  Shape s;
  Index joined = 1;
  for (int k = 0; k < x.ndim(); ++k) {
    if (k >= first && k <= last) joined *= x.dim(k);
    if (k < first || k > last) s.push_back(x.dim(k));
    if (k == last) s.push_back(joined);
  }
  return reshape(x, s);
}
Tensor unflattened(const Call& c) {
  const Tensor x = c[0];
  const int axis = axis_of(c.integer(1, "dim", 0), x.ndim());
  Shape parts = c.sizes(2, "sizes"), s;
  Index known = 1;
  for (Index p : parts)
    if (p >= 0) known *= p;
  for (Index& p : parts)
    if (p < 0) p = known ? x.dim(axis) / known : 0;
  for (int k = 0; k < x.ndim(); ++k) {
    if (k != axis)
      s.push_back(x.dim(k));
    else
      for (Index p : parts) s.push_back(p);
  }
  return reshape(x, s);
}
/// Axes of length 1 go: all, or those named.
Tensor squeezed(const Call& c) {
  const Tensor x = c[0];
  Shape s, axes = c.sizes(1, "dim");
  for (int k = 0; k < x.ndim(); ++k) {
    const bool named = !c.has(1, "dim") || std::any_of(axes.begin(), axes.end(), [&](Index a) {
      return axis_of(a, x.ndim()) == k;
    });
    if (!(x.dim(k) == 1 && named)) s.push_back(x.dim(k));
  }
  return reshape(x, s);
}
Tensor swapped(const Call& c) {
  const Tensor x = c[0];
  if (x.ndim() == 0) return x;
  Shape p;
  for (int k = 0; k < x.ndim(); ++k) p.push_back(k);
  std::swap(p[axis_of(c.integer(1, "dim0", 0), x.ndim())],
            p[axis_of(c.integer(2, "dim1", 0), x.ndim())]);
  return transpose(x, p);
}
Tensor permuted(const Call& c) {
  Shape p = c.sizes_from(1, "dims");
  for (Index& a : p) a = axis_of(a, c[0].ndim());
  return c[0].ndim() == 0 ? c[0] : transpose(c[0], p);
}
Tensor moved(const Call& c) {
  const Tensor x = c[0];
  const Shape from = c.sizes(1, "source"), to = c.sizes(2, "destination");
  Shape p = Shape::filled(x.ndim(), -1);
  std::vector<bool> taken(static_cast<std::size_t>(x.ndim()), false);
  for (int k = 0; k < from.size(); ++k) {
    p[axis_of(to[k], x.ndim())] = axis_of(from[k], x.ndim());
    taken[static_cast<std::size_t>(axis_of(from[k], x.ndim()))] = true;
  }
  int next = 0;
  for (Index& a : p) {
    if (a >= 0) continue;
    while (taken[static_cast<std::size_t>(next)]) ++next;
    a = next++;
  }
  return x.ndim() == 0 ? x : transpose(x, p);
}
Tensor turned(const Tensor& x) {  // the last two axes; a vector or a number stays
  return x.ndim() < 2 ? x : transpose(x);
}
Tensor at_least(const Tensor& x, int n) {
  if (x.ndim() >= n) return x;
  if (x.ndim() == 0) return reshape(x, Shape::filled(n, 1));
  if (n == 2) return reshape(x, {1, x.dim(0)});
  return x.ndim() == 1 ? reshape(x, {1, x.dim(0), 1}) : reshape(x, {x.dim(0), x.dim(1), 1});
}
template <int N>
Outputs all_at_least(const Call& c) {
  Outputs r;
  for (const Tensor& x : c.tensors_from(0)) r.push_back(at_least(x, N));
  return r;
}
template <int N>
Tensor joined_at_least(const Call& c) {
  Outputs r;
  for (const Tensor& x : c.tensors(0)) r.push_back(at_least(x, N));
  return concatenate(r, N == 1 ? (r[0].ndim() == 1 ? 0 : 1) : N == 2 ? 0 : 2);
}
Outputs cut(const Tensor& x, int axis, const std::vector<Index>& sizes) {
  Outputs r;
  Index at = 0;
  for (Index n : sizes) {
    r.push_back(slice(x, axis, at, at + n));
    at += n;
  }
  return r;
}
Outputs pieces(const Tensor& x, int axis, Index length) {
  std::vector<Index> sizes;
  Index left = x.dim(axis);
  do {
    sizes.push_back(std::min(length, left));
    left -= sizes.back();
  } while (left > 0);
  return cut(x, axis, sizes);
}
Outputs chunks(const Call& c) {
  const int axis = axis_of(c.integer(2, "dim", 0), c[0].ndim());
  const Index n = c.integer(1, "chunks", 1), length = c[0].dim(axis);
  if (length == 0) return Outputs(static_cast<std::size_t>(n), c[0]);
  return pieces(c[0], axis, std::max<Index>(1, (length + n - 1) / n));
}
Outputs split_of(const Call& c) {
  const int axis = axis_of(c.integer(2, "dim", 0), c[0].ndim());
  const Value& v = *c.find(1, "split_size");
  if (v.kind != Value::Kind::list) return pieces(c[0], axis, v.integer);
  const Shape sizes = c.sizes(1);
  return cut(c[0], axis, {sizes.begin(), sizes.end()});
}
/// Equal parts, or cut before each index.
Outputs parts_along(const Call& c, int axis) {
  const Tensor x = c[0];
  const Value& v = *c.find(1, "indices_or_sections");
  const Index n = x.dim(axis);
  std::vector<Index> sizes;
  if (v.kind == Value::Kind::list || (v.kind == Value::Kind::tensor && c.tensor(v).ndim() > 0)) {
    std::vector<Index> cuts;
    if (v.kind == Value::Kind::list)
      for (const Value& i : v.items) cuts.push_back(i.integer);
    else
      cuts = c.tensor(v).to_vector<std::int64_t>();
    Index before = 0;
    cuts.push_back(n);
    Outputs r;
    for (Index cut_at : cuts) {
      if (cut_at < 0) cut_at += n;
      const Index low = std::min(before, n), high = std::min(std::max(cut_at, low), n);
      r.push_back(slice(x, axis, low, high));
      before = cut_at;
    }
    return r;
  }
  const Index count = c.integer(1, "sections", 1);
  for (Index k = 0; k < count; ++k) sizes.push_back(n / count + (k < n % count));
  return cut(x, axis, sizes);
}
Outputs unbound(const Call& c) {
  const int axis = axis_of(c.integer(1, "dim", 0), c[0].ndim());
  Outputs r;
  for (Index k = 0; k < c[0].dim(axis); ++k) r.push_back(select(c[0], axis, k));
  return r;
}
Outputs common_type(Outputs parts) {
  for (Tensor& p : parts)
    for (const Tensor& q : Outputs(parts)) p = meet(p, q).first;
  return parts;
}
Tensor side_by_side(const Call& c) {
  Outputs parts;
  for (const Tensor& x : c.tensors(0))
    if (!(x.shape() == Shape{0})) parts.push_back(x);  // torch lets [0] stand beside anything
  if (parts.empty()) return c.tensors(0)[0];
  return concatenate(common_type(parts), axis_of(c.integer(1, "dim", 0), parts[0].ndim()));
}
Tensor halves_to_complex(const Call& c) { return as_complex(c[0]); }
Tensor summed_to(const Call& c) {
  const Shape to = c.sizes_from(1, "size");
  if (to == c[0].shape() && !to.empty()) return c[0];
  Tensor x = is_inexact(c[0].dtype()) ? c[0] : cast(c[0], Dtype::i64);
  while (x.ndim() > to.size()) x = sum(x, {0});
  for (int k = 0; k < to.size(); ++k)
    if (to[k] != x.dim(k)) x = sum(x, {k}, true);
  return x;
}

}  // namespace

void shape_rows(Table& t) {
  for (const char* name : {"reshape", "view", "view_copy"}) t[name] = as_written;
  for (const char* name : {"reshape_as", "view_as"})
    t[name] = [](const Call& c) { return reshape(c[0], c.tensor(1, "other").shape()); };
  t["ravel"] = [](const Call& c) { return flatten(c[0]); };
  t["flatten"] = flattened;
  t["unflatten"] = unflattened;
  for (const char* name : {"expand", "expand_copy", "broadcast_to"}) t[name] = expanded;
  t["expand_as"] = [](const Call& c) { return broadcast_to(c[0], c.tensor(1, "other").shape()); };
  t["broadcast_tensors"] = [](const Call& c) {
    Outputs r = c.tensors_from(0);
    Shape s;
    for (const Tensor& x : r) s = broadcast_shape(s, x.shape());
    for (Tensor& x : r) x = broadcast_to(x, s);
    return r;
  };
  for (const char* name : {"squeeze", "squeeze.multiple", "squeeze_copy"}) t[name] = squeezed;
  for (const char* name : {"unsqueeze", "unsqueeze_copy"})
    t[name] = [](const Call& c) {
      return expand_dims(c[0], axis_of(c.integer(1, "dim", 0), c[0].ndim() + 1));
    };
  for (const char* name : {"transpose", "transpose_copy"}) t[name] = swapped;
  for (const char* name : {"T", "t", "t_copy", "mT"})
    t[name] = [](const Call& c) { return turned(c[0]); };
  for (const char* name : {"H", "mH"}) t[name] = [](const Call& c) { return conj(turned(c[0])); };
  for (const char* name : {"permute", "permute_copy"}) t[name] = permuted;
  t["movedim"] = moved;
  t["atleast_1d"] = all_at_least<1>;
  t["atleast_2d"] = all_at_least<2>;
  t["atleast_3d"] = all_at_least<3>;
  t["hstack"] = joined_at_least<1>;
  t["vstack"] = joined_at_least<2>;
  t["dstack"] = joined_at_least<3>;
  t["column_stack"] = [](const Call& c) {
    Outputs r;
    for (const Tensor& x : c.tensors(0)) r.push_back(x.ndim() < 2 ? reshape(x, {-1, 1}) : x);
    return concatenate(r, 1);
  };
  t["cat"] = side_by_side;
  t["stack"] = [](const Call& c) {
    const auto parts = common_type(c.tensors(0));
    return stack(parts, axis_of(c.integer(1, "dim", 0), parts[0].ndim() + 1));
  };
  for (const char* name : {"chunk", "unsafe_chunk"}) t[name] = chunks;
  for (const char* name :
       {"split", "split.list_args", "unsafe_split", "split_with_sizes", "split_with_sizes_copy"})
    t[name] = split_of;
  t["tensor_split"] = [](const Call& c) {
    return parts_along(c, axis_of(c.integer(2, "dim", 0), c[0].ndim()));
  };
  t["hsplit"] = [](const Call& c) { return parts_along(c, c[0].ndim() == 1 ? 0 : 1); };
  t["vsplit"] = [](const Call& c) { return parts_along(c, 0); };
  t["dsplit"] = [](const Call& c) { return parts_along(c, 2); };
  for (const char* name : {"unbind", "unbind_copy"}) t[name] = unbound;
  t["view_as_complex"] = halves_to_complex;
  t["view_as_real"] = [](const Call& c) { return as_real(c[0]); };
  t["sum_to_size"] = summed_to;
}

}  // namespace tessera::oracle
