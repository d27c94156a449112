// SPDX-License-Identifier: Apache-2.0
//
// What the rule classes give a primitive for free.
#include "rules.h"

#include "tessera/autodiff/linear_pair.h"
#include "tessera/autodiff/ops/elementwise.h"
#include "tessera/autodiff/ops/shape.h"
#include "tessera/autodiff/primitive.h"

#include <cstring>

namespace tessera {

namespace detail {

Tensor zeros_of(const Type& t) { return broadcast_to(scalar(0.0, t.dtype), t.shape); }

Tensor add_tangents(const Tensor& a, const Tensor& b) {
  if (!a.defined()) return b;
  if (!b.defined()) return a;
  return add(a, b);
}

Types infer_elementwise(const char* name, int operands, DtypeSet allowed, std::span<const Type> in,
                        const Attributes* attr,
                        Dtype (*result)(std::span<const Dtype>, const Attributes*)) {
  if (static_cast<int>(in.size()) != operands)
    fail(name, "takes " + std::to_string(operands) + " operands, got " + std::to_string(in.size()));
  Dtype dtypes[8];
  for (int k = 0; k < operands; ++k) {
    dtypes[k] = in[k].dtype;
    if (in[k].shape != in[0].shape)
      fail(name, "shapes differ: " + to_string(in[0]) + " and " + to_string(in[k]));
    if (in[k].dtype != in[0].dtype)
      fail(name, "types differ: " + to_string(in[0]) + " and " + to_string(in[k]));
  }
  if (!contains(allowed, in[0].dtype))
    fail(name, "not defined for " + to_string(in[0]) + "; it takes " + to_string(allowed));
  return {{result({dtypes, in.size()}, attr), in[0].shape}};
}

void jvp_linear(const Primitive& p, const Application& a, std::span<const Tensor> t_in,
                std::span<Tensor> t_out) {
  std::vector<Tensor> held(a.in.size());
  std::vector<const Tensor*> operands(a.in.size());
  for (std::size_t k = 0; k < a.in.size(); ++k) {
    const bool linear = p.linear_in(k, a.attr.get());
    if (!linear && t_in[k].defined())
      fail(p.name, "has no derivative with respect to operand " + std::to_string(k) +
                       ", in which it is not linear; a map that brings its own transpose "
                       "is differentiated in its arguments, not in values that it captures");
    if (!linear)
      operands[k] = &a.in[k];
    else if (t_in[k].defined())
      operands[k] = &t_in[k];
    else
      operands[k] = &(held[k] = zeros_of(a.in[k].type()));
  }
  dispatch(p, operands, a.attr, context_line(), t_out);
}

void jvp_bilinear(const Primitive& p, const Application& a, std::span<const Tensor> t,
                  std::span<Tensor> t_out) {
  Tensor left, right;
  if (t[0].defined()) left = apply(p, a.attr, context_line(), t[0], a.in[1]);
  if (t[1].defined()) right = apply(p, a.attr, context_line(), a.in[0], t[1]);
  t_out[0] = add_tangents(left, right);
}

void jvp_elementwise(Tensor (*d)(int, std::span<const Tensor>, const Tensor&), const Application& a,
                     std::span<const Tensor> t, std::span<Tensor> t_out) {
  Tensor total;
  for (std::size_t k = 0; k < t.size(); ++k)
    if (t[k].defined())
      total = add_tangents(total, mul(t[k], d(static_cast<int>(k), a.in, a.out[0])));
  t_out[0] = total;
}

Tensor with_batch(const Tensor& x, bool batched, Index size) {
  if (batched) return x;
  Shape shape = x.shape(), dims;
  for (int d = 0; d < x.ndim(); ++d) dims.push_back(d + 1);
  shape.insert(0, size);
  return broadcast_in_dim(x, shape, dims);
}

void batch_leading(const Primitive& p, const Application& a, std::span<const bool> batched,
                   Index size, std::span<Tensor> out) {
  std::vector<Tensor> in;
  std::vector<const Tensor*> operands;
  in.reserve(a.in.size());
  for (std::size_t k = 0; k < a.in.size(); ++k) in.push_back(with_batch(a.in[k], batched[k], size));
  for (const Tensor& t : in) operands.push_back(&t);
  dispatch(p, operands, a.attr, context_line(), out);
}

void batch_elementwise(const Primitive& p, const Application& a, std::span<const bool> batched,
                       Index size, std::span<Tensor> out) {
  batch_leading(p, a, batched, size, out);
}

bool is_repeated_zero(const Tensor& t) {
  if (t.is_traced() || t.size() == 0) return false;
  const View& v = t.view();
  for (const Index stride : v.strides)
    if (stride != 0) return false;
  constexpr std::byte zero[sizeof(c128)] = {};
  return std::memcmp(v.data, zero, size_of(v.dtype)) == 0;
}

void no_rule(const char* name, const char* rule, const char* reason) {
  fail(name, std::string("has no ") + rule + " rule: " + reason);
}

}  // namespace detail
}  // namespace tessera
