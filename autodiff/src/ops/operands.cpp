// SPDX-License-Identifier: Apache-2.0
//
// How operands meet: literals take the tensor's type, types widen, shapes broadcast.
#include "operands.h"

#include "../base/context.h"
#include "../core/tensor_internal.h"
#include "tessera/autodiff/ops/elementwise.h"
#include "tessera/autodiff/ops/shape.h"
#include "tessera/autodiff/primitive.h"

namespace tessera::detail {
namespace {

using Kind = Literal::Kind;

const char* name_of(Kind k) {
  switch (k) {
    case Kind::integer:
      return "integer";
    case Kind::real:
      return "real";
    case Kind::complex:
      return "complex";
    default:
      return "bool";
  }
}

std::string text_of(const Literal& v) {
  switch (v.kind) {
    case Kind::integer:
      return std::to_string(v.integer);
    case Kind::real:
      return detail::text_of(v.number.real());
    case Kind::complex:
      return detail::text_of(v.number);
    default:
      return v.integer ? "true" : "false";
  }
}

/// The literal in the type that it takes beside a tensor of type `t`.
Tensor beside(const char* op, const Arg& a, Dtype t) {
  const Kind kind = a.literal.kind;
  const bool fits = kind == Kind::integer   ? t != Dtype::boolean
                    : kind == Kind::boolean ? t == Dtype::boolean
                                            : is_inexact(t);
  if (!fits)
    fail(op,
         std::string("the ") + name_of(kind) + " literal " + text_of(a.literal) + " beside a " +
             tessera::name_of(t) + " tensor; use cast to say which type is meant",
         a.line);
  return literal(op, a.literal, kind == Kind::complex ? complex_of(t) : t, a.line);
}

Tensor converted(const Tensor& t, Dtype to) { return t.dtype() == to ? t : cast(t, to); }

}  // namespace

Tensor to_tensor(const char* op, const Arg& a, Dtype like) {
  if (a.tensor) {
    if (!a.tensor->defined()) fail(op, "the operand is undefined", a.line);
    return *a.tensor;
  }
  return beside(op, a, a.literal.kind == Kind::boolean ? Dtype::boolean : like);
}

Tensor to_inexact(const char* op, const Arg& a) {
  const Tensor t = to_tensor(op, a);
  if (!is_inexact(t.dtype()))
    fail(op,
         "takes real or complex numbers, got a " + to_string(t.type()) +
             "; cast it to a floating type",
         a.line);
  return t;
}

Tensor to_summands(const char* op, const Arg& a) {
  const Tensor t = to_tensor(op, a);
  return t.dtype() == Dtype::boolean ? cast(Arg(t, a.line), Dtype::i64) : t;
}

Dtype type_of_running_sum(Dtype t, Index terms) {
  return terms > (Index(1) << 24) ? promote(t, Dtype::f64) : t;
}

std::pair<Tensor, Tensor> meet(const char* op, const Arg& a, const Arg& b) {
  const CalledAt called(a.line);
  Tensor x, y;
  if (a.tensor && b.tensor) {
    x = to_tensor(op, a), y = to_tensor(op, b);
    if (!can_promote(x.dtype(), y.dtype()))
      fail(op,
           "types " + to_string(x.type()) + " and " + to_string(y.type()) +
               " do not mix silently; use cast on one of them",
           a.line);
    const Dtype d = promote(x.dtype(), y.dtype());
    x = converted(x, d), y = converted(y, d);
  } else if (a.tensor) {
    x = to_tensor(op, a);
    y = beside(op, b, x.dtype());
    x = converted(x, y.dtype());
  } else if (b.tensor) {
    y = to_tensor(op, b);
    x = beside(op, a, y.dtype());
    y = converted(y, x.dtype());
  } else {
    x = to_tensor(op, a), y = to_tensor(op, b);
    const Dtype d = promote(x.dtype(), y.dtype());
    x = converted(x, d), y = converted(y, d);
  }
  if (x.shape() == y.shape()) return {x, y};
  const int n = std::max(x.ndim(), y.ndim());
  Shape shape = Shape::filled(n, 1);
  for (int k = 1; k <= n; ++k) {
    const Index dx = k <= x.ndim() ? x.shape()[x.ndim() - k] : 1,
                dy = k <= y.ndim() ? y.shape()[y.ndim() - k] : 1;
    if (dx != dy && dx != 1 && dy != 1)
      fail(op,
           "shapes " + to_string(x.shape()) + " and " + to_string(y.shape()) +
               " do not broadcast: sizes " + std::to_string(dx) + " and " + std::to_string(dy) +
               " on axis -" + std::to_string(k),
           a.line);
    shape[n - k] = dx == 1 ? dy : dx;
  }
  return {x.shape() == shape ? x : broadcast_to(x, shape),
          y.shape() == shape ? y : broadcast_to(y, shape)};
}

}  // namespace tessera::detail
