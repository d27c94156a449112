// SPDX-License-Identifier: Apache-2.0
//
// How operands meet: literals take the tensor's type, types widen, shapes broadcast.
#include "tessera/autodiff/ops/elementwise.h"
#include "tessera/autodiff/ops/shape.h"
#include "tessera/autodiff/primitive.h"

namespace tessera::detail {
namespace {

const char* literal(Arg::Kind k) {
  switch (k) {
    case Arg::Kind::integer: return "integer";
    case Arg::Kind::real: return "real";
    case Arg::Kind::complex: return "complex";
    default: return "bool";
  }
}

/// The type a literal takes beside a tensor of type `t`.
Dtype literal_dtype(const char* op, const Arg& a, Dtype t) {
  const bool fits = a.kind == Arg::Kind::integer   ? t != Dtype::boolean
                    : a.kind == Arg::Kind::real    ? is_inexact(t)
                    : a.kind == Arg::Kind::complex ? is_inexact(t)
                                                   : t == Dtype::boolean;
  if (!fits)
    fail(op, std::string("a ") + literal(a.kind) + " literal beside a " + name_of(t) + " tensor; use cast to say which type is meant", a.where);
  return a.kind == Arg::Kind::complex ? complex_of(t) : t;
}

Tensor converted(const Tensor& t, Dtype to) { return t.dtype() == to ? t : cast(t, to); }

}  // namespace

Tensor to_tensor(const char* op, const Arg& a, Dtype like) {
  if (a.kind == Arg::Kind::tensor) {
    if (!a.tensor->defined()) fail(op, "the operand is undefined", a.where);
    return *a.tensor;
  }
  if (a.kind == Arg::Kind::boolean) return scalar(a.scalar, Dtype::boolean);
  return scalar(a.scalar, literal_dtype(op, a, like));
}

std::pair<Tensor, Tensor> meet(const char* op, const Arg& a, const Arg& b) {
  const bool ta = a.kind == Arg::Kind::tensor, tb = b.kind == Arg::Kind::tensor;
  Tensor x, y;
  if (ta && tb) {
    x = to_tensor(op, a), y = to_tensor(op, b);
    if (!can_promote(x.dtype(), y.dtype()))
      fail(op, "types " + to_string(x.type()) + " and " + to_string(y.type()) + " do not mix silently; use cast on one of them", a.where);
    const Dtype d = promote(x.dtype(), y.dtype());
    x = converted(x, d), y = converted(y, d);
  } else if (ta) {
    x = to_tensor(op, a);
    const Dtype d = literal_dtype(op, b, x.dtype());
    y = scalar(b.scalar, d);
    x = converted(x, d);
  } else if (tb) {
    y = to_tensor(op, b);
    const Dtype d = literal_dtype(op, a, y.dtype());
    x = scalar(a.scalar, d);
    y = converted(y, d);
  } else {
    x = to_tensor(op, a), y = to_tensor(op, b);
    const Dtype d = promote(x.dtype(), y.dtype());
    x = converted(x, d), y = converted(y, d);
  }
  if (x.shape() == y.shape()) return {x, y};
  const int n = std::max(x.ndim(), y.ndim());
  Shape shape = Shape::filled(n, 1);
  for (int k = 1; k <= n; ++k) {
    const Index dx = k <= x.ndim() ? x.shape()[x.ndim() - k] : 1, dy = k <= y.ndim() ? y.shape()[y.ndim() - k] : 1;
    if (dx != dy && dx != 1 && dy != 1)
      fail(op, "shapes " + to_string(x.shape()) + " and " + to_string(y.shape()) + " do not broadcast: sizes " +
                   std::to_string(dx) + " and " + std::to_string(dy) + " on axis -" + std::to_string(k), a.where);
    shape[n - k] = dx == 1 ? dy : dx;
  }
  return {x.shape() == shape ? x : broadcast_to(x, shape), y.shape() == shape ? y : broadcast_to(y, shape)};
}

}  // namespace tessera::detail
