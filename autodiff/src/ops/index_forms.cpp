// SPDX-License-Identifier: Apache-2.0
//
// What users ask of indexing, by gather and scatter.
#include "../base/context.h"
#include "../core/tensor_internal.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/ops/flow.h"
#include "tessera/autodiff/ops/index.h"
#include "tessera/autodiff/primitive.h"

#include <algorithm>

namespace tessera {
namespace {

int axis_of(const char* op, int axis, const Tensor& t, SourceLine line) {
  if (axis < -t.ndim() || axis >= t.ndim())
    fail(op, "axis " + std::to_string(axis) + " of " + to_string(t.type()), line);
  return axis < 0 ? axis + t.ndim() : axis;
}

/// A block of x seen as rows: x as [rows, width] and the row number of every row of the block, i64
/// [sizes before the axes that the block spans whole]; throws where it does not lie inside of x.
struct Block {
  Shape flat;
  Tensor rows;
};
Block block_of(const char* op, const Tensor& x, const Tensor& starts, const Shape& sizes,
               SourceLine line) {
  const int n = x.ndim();
  bool ok =
      starts.ndim() == 1 && starts.dim(0) == n && is_integer(starts.dtype()) && sizes.size() == n;
  for (int d = 0; ok && d < n; ++d) ok = sizes[d] >= 0 && sizes[d] <= x.shape()[d];
  if (!ok)
    fail(op,
         "a block " + to_string(sizes) + " at starts " + to_string(starts.type()) +
             " does not fit " + to_string(x.type()) + "; starts are integers, one for each axis",
         line);
  int split = n;
  while (split > 1 && sizes[split - 1] == x.shape()[split - 1]) --split;
  Index width = 1, rows = 1;
  for (int d = split; d < n; ++d) width *= x.shape()[d];
  for (int d = 0; d < split; ++d) rows *= x.shape()[d];
  const Tensor first = cast(starts, Dtype::i64);
  Tensor at = zeros({}, Dtype::i64);
  for (int d = 0; d < split; ++d)
    at = expand_dims(at * x.shape()[d], -1) + (select(first, 0, d) + arange(sizes[d]));
  Shape last = x.shape();
  for (int d = 0; d < n; ++d) last[d] -= sizes[d];
  const Tensor inside = logical_and(
      less_equal(0, first), less_equal(first, from_span<Index>({last.begin(), last.end()}, {n})));
  return {{rows, width},
          check(Arg(at, line), inside,
                std::string(op) + ": the block " + to_string(sizes) + " does not lie inside of " +
                    to_string(x.type()) + "; it may begin at " + to_string(Shape::filled(n, 0)) +
                    " ... " + to_string(last))};
}

}  // namespace

Tensor take(Arg x, Arg indices, int axis) {
  const detail::CalledAt called(x.line);
  const Tensor t = detail::to_tensor("take", x), i = detail::to_tensor("take", indices, Dtype::i64);
  axis = axis_of("take", axis, t, x.line);
  const Tensor y = gather(Arg(moveaxis(Arg(t, x.line), axis, 0), x.line), i);
  if (axis == 0) return y;
  Shape order;  // [K..., A..., C...] -> [A..., K..., C...]
  for (int d = 0; d < axis; ++d) order.push_back(i.ndim() + d);
  for (int d = 0; d < i.ndim(); ++d) order.push_back(d);
  for (int d = i.ndim() + axis; d < y.ndim(); ++d) order.push_back(d);
  return transpose(y, order);
}

Tensor take_along_axis(Arg x, Arg indices, int axis) {
  const detail::CalledAt called(x.line);
  const Tensor t = detail::to_tensor("take_along_axis", x),
               i = detail::to_tensor("take_along_axis", indices, Dtype::i64);
  axis = axis_of("take_along_axis", axis, t, x.line);
  if (i.ndim() != t.ndim())
    fail("take_along_axis",
         to_string(t.type()) + " and indices " + to_string(i.type()) +
             " differ in the number of axes",
         x.line);
  return moveaxis(
      gather(Arg(moveaxis(Arg(t, x.line), axis, -1), x.line), moveaxis(i, axis, -1), t.ndim() - 1),
      -1, axis);
}

Tensor one_hot(Arg indices, Index n, Dtype dtype) {
  const detail::CalledAt called(indices.line);
  const Tensor i = detail::to_tensor("one_hot", indices, Dtype::i64);
  if (!is_integer(i.dtype()))
    fail("one_hot", "indices must be integers, got " + to_string(i.type()), indices.line);
  return cast(equal(expand_dims(cast(i, Dtype::i64), -1), arange(n)), dtype);
}

Tensor nonzero(Arg x) {
  const detail::CalledAt called(x.line);
  const Tensor t = detail::to_tensor("nonzero", x);
  const std::vector<bool> hit =
      cast(detail::concrete("nonzero", t, x.line), Dtype::boolean).to_vector<bool>(x.line);
  std::vector<std::int64_t> at;
  for (std::size_t k = 0; k < hit.size(); ++k) {
    if (!hit[k]) continue;
    const std::size_t begin = at.size();
    at.resize(begin + t.ndim());
    Index rest = static_cast<Index>(k);
    for (int d = t.ndim() - 1; d >= 0; --d) {
      at[begin + d] = rest % t.shape()[d];
      rest /= t.shape()[d];
    }
  }
  const Index count = t.ndim() ? static_cast<Index>(at.size()) / t.ndim()
                               : std::count(hit.begin(), hit.end(), true);
  return from_span<std::int64_t>(at, {count, t.ndim()});
}

Tensor dynamic_slice(Arg x, Arg starts, const Shape& sizes) {
  const detail::CalledAt called(x.line);
  const Tensor t = detail::to_tensor("dynamic_slice", x);
  if (t.ndim() == 0) return t;
  const Block b =
      block_of("dynamic_slice", t, detail::to_tensor("dynamic_slice", starts), sizes, x.line);
  return reshape(gather(Arg(reshape(t, b.flat), x.line), b.rows), sizes);
}

Tensor dynamic_update(Arg x, Arg update, Arg starts) {
  const detail::CalledAt called(x.line);
  const Tensor t = detail::to_tensor("dynamic_update", x),
               u = detail::to_tensor("dynamic_update", update, t.dtype());
  if (t.ndim() == 0) return u;
  if (u.dtype() != t.dtype())
    fail("dynamic_update", to_string(u.type()) + " into " + to_string(t.type()) + "; use cast",
         x.line);
  const Block b =
      block_of("dynamic_update", t, detail::to_tensor("dynamic_update", starts), u.shape(), x.line);
  Shape rows = b.rows.shape();
  rows.push_back(b.flat[1]);
  return reshape(scatter_set(Arg(reshape(t, b.flat), x.line), b.rows, reshape(u, rows)), t.shape());
}

}  // namespace tessera
