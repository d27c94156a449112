// SPDX-License-Identifier: Apache-2.0
//
// Segments are what scatters write to.
#include "tessera/autodiff/ops/segment.h"

#include "../base/context.h"
#include "operands.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/primitive.h"

#include <limits>

namespace tessera {
namespace {

struct Segments {
  Tensor x, ids;
  Shape shape;  ///< of the result
};
Segments segments(const char* op, const Arg& x, const Arg& ids, Index count) {
  const Tensor t = detail::to_tensor(op, x), i = detail::to_tensor(op, ids, Dtype::i64);
  if (t.ndim() < 1 || i.ndim() != 1 || i.dim(0) != t.dim(0) || count < 0)
    fail(op,
         "needs x [n, ...] and ids [n] with count >= 0, got " + to_string(t.type()) + ", " +
             to_string(i.type()) + " and " + std::to_string(count),
         x.line);
  Shape s = t.shape();
  s[0] = count;
  return {t, i, s};
}
/// The extreme value of the type that every other one replaces.
Tensor extreme(Dtype t, bool largest) {
  return visit_dtype(t, [&](auto tag) -> Tensor {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, bool> || !std::is_arithmetic_v<T>)
      return zeros({}, t);  // scatters refuse these
    else {
      using L = std::numeric_limits<T>;
      const T value = std::is_floating_point_v<T> ? (largest ? L::infinity() : -L::infinity())
                      : largest                   ? L::max()
                                                  : L::lowest();
      return tensor<T>({value}, {});
    }
  });
}

}  // namespace

Tensor segment_sum(Arg x, Arg ids, Index count) {
  const detail::CalledAt called(x.line);
  const Segments s = segments("segment_sum", x, ids, count);
  return scatter_add(Arg(zeros(s.shape, s.x.dtype()), x.line), s.ids, s.x);
}
Tensor segment_mean(Arg x, Arg ids, Index count) {
  const detail::CalledAt called(x.line);
  const Segments s =
      segments("segment_mean", Arg(detail::to_inexact("segment_mean", x), x.line), ids, count);
  const Index n = s.x.dim(0);
  const Dtype type = detail::type_of_running_sum(s.x.dtype(), n), real_type = real_of(type);
  Shape column = Shape::filled(s.x.ndim(), 1);
  column[0] = count;
  const Tensor rows = reshape(
      maximum(segment_sum(ones({n}, real_type), s.ids, count), cast(1.0, real_type)), column);
  const Tensor total = segment_sum(Arg(cast(Arg(s.x, x.line), type), x.line), s.ids, count);
  return cast(total / cast(rows, type), s.x.dtype());
}
/// Rows in the order of their segments; after step s of a scan a row holds the product of those up
/// to 2s rows of its segment that end at it. The last row of each segment holds all.
Tensor segment_prod(Arg x, Arg ids, Index count) {
  const detail::CalledAt called(x.line);
  const Segments s = segments("segment_prod", x, ids, count);
  const Tensor order = argsort(s.ids), id = gather(s.ids, order);
  Tensor y = gather(Arg(s.x, x.line), order);
  const Index n = s.x.dim(0);
  Shape column = Shape::filled(s.x.ndim(), 1);
  const Tensor one = ones({}, s.x.dtype());
  for (Index step = 1; step < n; step *= 2) {
    column[0] = n - step;
    const Tensor together =
        reshape(equal(slice(id, 0, step, n), slice(id, 0, 0, n - step)), column);
    const Tensor late = slice(y, 0, step, n), early = slice(y, 0, 0, n - step);
    const auto joined = [&](const Tensor& v) {
      return where(together, v, one);
    };  // what is not multiplied has no derivative, were it NaN
    y = concatenate({slice(y, 0, 0, step), where(together, joined(early) * joined(late), late)}, 0);
  }
  return scatter_set(Arg(full(s.shape, 1.0, s.x.dtype()), x.line), id,
                     y);  // of several the last counts
}
Tensor segment_max(Arg x, Arg ids, Index count) {
  const detail::CalledAt called(x.line);
  const Segments s = segments("segment_max", x, ids, count);
  return scatter_max(Arg(broadcast_to(extreme(s.x.dtype(), false), s.shape), x.line), s.ids, s.x);
}
Tensor segment_min(Arg x, Arg ids, Index count) {
  const detail::CalledAt called(x.line);
  const Segments s = segments("segment_min", x, ids, count);
  return scatter_min(Arg(broadcast_to(extreme(s.x.dtype(), true), s.shape), x.line), s.ids, s.x);
}

}  // namespace tessera
