// SPDX-License-Identifier: Apache-2.0
#include "compose.h"

namespace tessera::oracle {
namespace {

/// sort(x, dim, descending) or sort(x, stable=, dim=, descending=).
template <class F>
Tensor ordered(const Call& c, F f) {
  if (c[0].ndim() == 0) return f(reshape(c[0], {1}), 0, false);
  return f(c[0], axis_of(c.integer(1, "dim", -1), c[0].ndim()), c.flag(2, "descending", false));
}
Tensor places(const Call& c, const Tensor& sorted, const Tensor& values) {
  const bool right = c.flag(-1, "right", c.text(-1, "side", "left") == "right");
  const auto [a, b] = meet(sorted, values);
  Tensor p;
  if (a.ndim() == 1)
    p = reshape(searchsorted(a, reshape(b, {-1}), right), b.shape());
  else
    p = searchsorted(a, b, right);
  return c.flag(-1, "out_int32", false) ? cast(p, Dtype::i32) : p;
}

}  // namespace

void order_rows(Table& t) {
  t["sort"] = [](const Call& c) -> Outputs {
    const auto f = [&](const Tensor& x, int axis, bool falling) { return sort(x, axis, falling); };
    const auto g = [&](const Tensor& x, int axis, bool falling) {
      return argsort(x, axis, falling);
    };
    return {reshape(ordered(c, f), c[0].shape()), reshape(ordered(c, g), c[0].shape())};
  };
  t["msort"] = [](const Call& c) { return c[0].ndim() == 0 ? c[0] : sort(c[0], 0); };
  t["argsort"] = [](const Call& c) {
    return reshape(ordered(c, [&](const Tensor& x, int axis,
                                  bool falling) { return argsort(x, axis, falling); }),
                   c[0].shape());
  };
  t["topk"] = [](const Call& c) {
    const Tensor x = c[0].ndim() == 0 ? reshape(c[0], {1}) : c[0];
    const Index k = c.integer(1, "k", 1);
    const int axis = axis_of(c.integer(2, "dim", -1), x.ndim());
    const Tensor y = c.flag(3, "largest", true)
                         ? top_k(x, k, axis).first
                         : take_along_axis(x, slice(argsort(x, axis), axis, 0, k), axis);
    return c[0].ndim() == 0 ? reshape(y, {}) : y;
  };
  t["searchsorted"] = [](const Call& c) {
    Tensor s = c[0];
    if (c.has(-1, "sorter")) s = take_along_axis(s, c.tensor(-1, "sorter"), s.ndim() - 1);
    return places(c, s, c.tensor(1, "values"));
  };
  t["bucketize"] = [](const Call& c) { return places(c, c.tensor(1, "boundaries"), c[0]); };
  t["isin"] = [](const Call& c) {
    const auto [x, among] = c.both();
    return any(equal(expand_dims(x, x.ndim()), flatten(among)), {-1});
  };
  t["argwhere"] = [](const Call& c) { return nonzero(c[0]); };
  t["nonzero"] = [](const Call& c) -> Outputs {
    const Tensor p =
        nonzero(c[0].ndim() == 0 && c.flag(-1, "as_tuple", false) ? reshape(c[0], {1}) : c[0]);
    if (!c.flag(-1, "as_tuple", false)) return {p};
    Outputs columns;
    for (int k = 0; k < p.dim(1); ++k) columns.push_back(select(p, 1, k));
    return columns;
  };
}

}  // namespace tessera::oracle
