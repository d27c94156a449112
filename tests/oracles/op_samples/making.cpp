// SPDX-License-Identifier: Apache-2.0
//
// Tensors made from sizes, and the one conversion of types.
#include "compose.h"

namespace tessera::oracle {
namespace {

template <Dtype T>
Tensor cast_to(const Call& c) {
  // Torch takes what is not zero for true; a cast of ours keeps that.
  return cast(c[0], T);
}
Tensor of_value(const Shape& s, const Call& c, const Value* v, Dtype t) {
  return broadcast_to(cast(v ? c.tensor(*v) : Tensor(0.0), t), s);
}

}  // namespace

void making_rows(Table& t) {
  t["double"] = cast_to<Dtype::f64>;
  t["float"] = cast_to<Dtype::f32>;
  t["cdouble"] = cast_to<Dtype::c128>;
  t["cfloat"] = cast_to<Dtype::c64>;
  t["long"] = cast_to<Dtype::i64>;
  t["int"] = cast_to<Dtype::i32>;
  t["bool"] = cast_to<Dtype::boolean>;
  for (const char* name : {"zeros_like", "new_zeros", "zeros"})
    t[name] = [](const Call& c) {
      const Value& first = *c.find(0);
      if (first.kind != Value::Kind::tensor)
        return zeros(c.sizes(0), c.dtype(-1, "dtype", Dtype::f64));
      return zeros(c.has(1) ? c.sizes(1, "size") : c[0].shape(),
                   c.dtype(-1, "dtype", c[0].dtype()));
    };
  for (const char* name : {"ones_like", "new_ones", "ones"})
    t[name] = [](const Call& c) {
      const Value& first = *c.find(0);
      if (first.kind != Value::Kind::tensor)
        return ones(c.sizes(0), c.dtype(-1, "dtype", Dtype::f64));
      return ones(c.has(1) ? c.sizes(1, "size") : c[0].shape(), c.dtype(-1, "dtype", c[0].dtype()));
    };
  t["full_like"] = [](const Call& c) {
    return of_value(c[0].shape(), c, c.find(1, "fill_value"), c.dtype(-1, "dtype", c[0].dtype()));
  };
  t["new_full"] = [](const Call& c) {
    return of_value(c.sizes(1, "size"), c, c.find(2, "fill_value"),
                    c.dtype(-1, "dtype", c[0].dtype()));
  };
  t["full"] = [](const Call& c) {
    return of_value(c.sizes(0), c, c.find(1, "fill_value"),
                    c.dtype(-1, "dtype", c.tensor(1, "fill_value").dtype()));
  };
  t["fill"] = [](const Call& c) {
    return of_value(c[0].shape(), c, c.find(1, "value"), c[0].dtype());
  };
  t["zero_"] = [](const Call& c) { return zeros(c[0].shape(), c[0].dtype()); };
  t["eye"] = [](const Call& c) {
    const Index n = c.integer(0, "n", 0), m = c.integer(1, "m", n);
    const Tensor e = eye(std::max(n, m), c.dtype(-1, "dtype", Dtype::f64));
    return slice(e, {0, 0}, {n, m});
  };
  t["linspace"] = [](const Call& c) {
    const Dtype t2 = c.dtype(-1, "dtype", Dtype::f64);
    return cast(
        linspace(c.real(0, "start", 0), c.real(1, "end", 0), c.integer(2, "steps", 1), Dtype::f64),
        t2);
  };
}

}  // namespace tessera::oracle
