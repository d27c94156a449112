// SPDX-License-Identifier: Apache-2.0
//
// Operators that read and write at positions; negative ones count from the end.
#include "onnx/program.h"
#include "tessera/autodiff/ops.h"

#include <algorithm>

namespace tessera::data {
namespace {

using C = OnnxCall;
using Out = std::vector<Tensor>;

Tensor from_front(const C& c, const Tensor& i, Index n) {
  if (i.dtype() != Dtype::i32 && i.dtype() != Dtype::i64)
    c.malformed("positions are " + to_string(i.type()));
  return where(i < 0, i + n, i);
}

Out gathered(const C& c) {
  const Tensor& x = c.x();
  const int a = c.axis(c.integer("axis", 0), x.ndim());
  if (x.dim(a) > 0)
    c.must_fit(static_cast<double>(x.size() / x.dim(a)) * static_cast<double>(c.x(1).size()));
  return {take(x, from_front(c, c.x(1), x.dim(a)), a)};
}
/// x cut to the lengths of `like` along all axes but one.
Tensor cut_beside(const C& c, const Tensor& x, const Tensor& like, int axis) {
  if (x.ndim() != like.ndim()) c.malformed(to_string(x.type()) + " at " + to_string(like.type()));
  Shape end = x.shape();
  for (int d = 0; d < x.ndim(); ++d) {
    if (d == axis) continue;
    if (like.dim(d) > end[d]) c.malformed(to_string(x.type()) + " at " + to_string(like.type()));
    end[d] = like.dim(d);
  }
  return slice(x, Shape::filled(x.ndim(), 0), end);
}
Out gather_elements(const C& c) {
  const int a = c.axis(c.integer("axis", 0), c.x().ndim());
  const Tensor i = from_front(c, c.x(1), c.x().dim(a));
  return {take_along_axis(cut_beside(c, c.x(), i, a), i, a)};
}

Tensor written(const C& c, const Tensor& x, const Tensor& i, const Tensor& updates) {
  if (updates.dtype() != x.dtype())
    c.malformed("it writes " + to_string(updates.type()) + " into " + to_string(x.type()));
  const std::string how = c.text("reduction", "none");
  if (how == "none") return scatter_set(x, i, updates);
  if (how == "add") return scatter_add(x, i, updates);
  if (how == "max") return scatter_max(x, i, updates);
  if (how == "min") return scatter_min(x, i, updates);
  c.refuse("reduction = " + how);
}
/// Positions in row-major order, of all axes.
Out scatter_elements(const C& c) {
  const Tensor& x = c.x();
  const int a = c.axis(c.integer("axis", 0), x.ndim());
  const Tensor along = cast(from_front(c, c.x(1), x.dim(a)), Dtype::i64);
  if (along.ndim() != x.ndim() || along.shape() != c.x(2).shape())
    c.malformed(to_string(c.x(2).type()) + " at " + to_string(along.type()));
  const Tensor inside = logical_and(along >= 0, along < x.dim(a));
  if (!inside.is_traced() && inside.size() && !all(inside).item<bool>())
    c.malformed("a position outside of axis " + std::to_string(a) + " of " + to_string(x.type()));
  Tensor at = zeros(along.shape(), Dtype::i64);
  Index stride = 1;
  for (int d = x.ndim(); d-- > 0; stride *= x.dim(d)) {
    if (along.dim(d) > x.dim(d) && d != a)
      c.malformed("positions beyond axis " + std::to_string(d));
    Shape s = Shape::filled(x.ndim(), 1);
    s[d] = along.dim(d);
    at = at + (d == a ? along : reshape(arange(along.dim(d)), s)) * stride;
  }
  return {reshape(written(c, flatten(x), flatten(at), flatten(c.x(2))), x.shape())};
}

/// Positions [K..., k] along the first k axes as one number, and how many there are.
std::pair<Tensor, Index> joined(const C& c, const Shape& s, int from, const Tensor& i) {
  const int k = static_cast<int>(i.dim(-1));
  if (i.ndim() < 1 || from + k > s.size())
    c.malformed("positions " + to_string(i.type()) + " in " + to_string(s));
  Tensor at;
  Index n = 1;
  for (int d = 0; d < k; ++d) {
    const Index length = s[from + d];
    const Tensor along = from_front(c, select(i, -1, d), length);
    const Tensor inside = logical_and(along >= 0, along < length);
    if (!inside.is_traced() && inside.size() && !all(inside).item<bool>())
      c.malformed("a position outside of axis " + std::to_string(from + d) + " of " + to_string(s));
    at = at.defined() ? at * length + along : along;
    n *= length;
  }
  if (!at.defined()) c.malformed("positions without axes");
  return {at, n};
}
Out gather_nd(const C& c) {
  const Tensor &x = c.x(), i = c.x(1);
  const int b = static_cast<int>(c.integer("batch_dims", 0));
  if (b < 0 || b >= std::min(x.ndim(), i.ndim())) c.malformed("batch_dims = " + std::to_string(b));
  const auto [at, n] = joined(c, x.shape(), b, i);
  Shape s;
  for (int d = 0; d < b; ++d) s.push_back(x.dim(d));
  s.push_back(n);
  auto elements = static_cast<double>(at.size());
  for (int d = b + static_cast<int>(i.dim(-1)); d < x.ndim(); ++d) {
    s.push_back(x.dim(d));
    elements *= static_cast<double>(x.dim(d));
  }
  c.must_fit(elements);
  return {gather(reshape(x, s), at, b)};
}
Out scatter_nd(const C& c) {
  const Tensor &x = c.x(), i = c.x(1);
  const auto [at, n] = joined(c, x.shape(), 0, i);
  Shape s{n};
  for (int d = static_cast<int>(i.dim(-1)); d < x.ndim(); ++d) s.push_back(x.dim(d));
  return {reshape(written(c, reshape(x, s), at, c.x(2)), x.shape())};
}

Out one_hot_of(const C& c) {
  const Tensor& values = c.x(2);
  const std::vector<double> depth = c.known_reals(1);
  if (depth.size() != 1 || !(depth[0] >= 1) || values.size() != 2)
    c.malformed("expected one depth and two values");
  c.must_fit(depth[0] * static_cast<double>(c.x().size() + 1));
  const Index n = static_cast<Index>(depth[0]);
  const Tensor i = cast(c.x(0), Dtype::i64);
  const Tensor hit = cast(one_hot(where(i < 0, i + n, i), n, Dtype::u8), Dtype::boolean);
  const Tensor y = where(hit, select(flatten(values), 0, 1), select(flatten(values), 0, 0));
  return {moveaxis(y, -1, c.axis(c.integer("axis", -1), y.ndim()))};
}
Out largest(const C& c) {
  const Tensor& x = c.x();
  const int a = c.axis(c.integer("axis", -1), x.ndim());
  const std::vector<std::int64_t> k = c.given(1) ? c.known(1) : std::vector{c.integer("k", -1)};
  if (k.size() != 1 || k[0] < 0 || k[0] > x.dim(a))
    c.malformed("not so many along axis " + std::to_string(a));
  if (c.integer("largest", 1)) {
    const auto [values, at] = top_k(x, k[0], a);
    return {values, at};
  }
  const Tensor at = slice(argsort(x, a), a, 0, k[0]);
  return {take_along_axis(x, at, a), at};
}
Out nonzero_places(const C& c) { return {transpose(nonzero(c.x()))}; }
Out compressed(const C& c) {
  const Tensor x = c.find("axis") ? c.x() : flatten(c.x());
  const int a = c.axis(c.integer("axis", 0), x.ndim());
  const Tensor at = flatten(nonzero(c.x(1)));
  if (c.x(1).ndim() != 1 || c.x(1).dim(0) > x.dim(a))
    c.malformed("a condition of " + to_string(c.x(1).type()));
  return {take(x, at, a)};
}

}  // namespace

void add_index_rules(OnnxRules& r) {
  r["Gather"] = {gathered, "axis", 2, 2};
  r["GatherElements"] = {gather_elements, "axis", 2, 2};
  r["GatherND"] = {gather_nd, "batch_dims", 2, 2};
  r["Scatter"] = {scatter_elements, "axis", 3, 3};
  r["ScatterElements"] = {scatter_elements, "axis reduction", 3, 3};
  r["ScatterND"] = {scatter_nd, "reduction", 3, 3};
  r["OneHot"] = {one_hot_of, "axis", 3, 3};
  r["TopK"] = {largest, "axis k largest sorted", 1, 2, 2};
  r["NonZero"] = {nonzero_places};
  r["Compress"] = {compressed, "axis", 2, 2};
}

}  // namespace tessera::data
