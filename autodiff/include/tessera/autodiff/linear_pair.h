// SPDX-License-Identifier: Apache-2.0
//
// A linear map and its transpose, y = A(p) x and x = A(p)^T y, as two primitives of which each is
// the other's transpose: both are differentiated to any order and in any mix of modes. For kernels,
// with parameters p that may be differentiated as well; a map without parameters and its transpose,
// both made of operations of the engine or of host calls, is `custom_linear` (grad.h).
//
//   struct Filter {                            // y_n = p (y_{n-1} + x_n)
//     static constexpr const char *name = "filter", *transposed_name = "filter_transposed";
//     static constexpr std::size_t operands = 1, results = 1;   // how many x and y are
//     static Types result_types(std::span<const Type> xp, const Attributes*);   // y from x, p
//     static Types operand_types(std::span<const Type> yp, const Attributes*);  // x from y, p
//     static KernelFn kernel(std::span<const Dtype>, const Attributes*);             // x, p -> y
//     static KernelFn transposed_kernel(std::span<const Dtype>, const Attributes*);  // y, p -> x
//     static Change change(const Application& a, std::span<const Tensor> dp);
//     static Change transposed_change(const Application& a, std::span<const Tensor> dp);
//   };
//   TESSERA_REGISTER_PAIR(Filter);
//   std::vector<Tensor> y = LinearPair<Filter>::apply({}, {x, p});
//
// `static double flops(TypeSpan in, TypeSpan out, const Attributes*)` tells what either map takes;
// `static Ordering order(const Attributes*)` what stays of the order of calls (primitive.h).
//
// The kernels take leading axes as a batch, alike in all operands. Of complex maps the transposed
// kernel is A^T; the adjoint A^H, which is what reverse mode asks for, is the pair's own affair.
//
// Parameters. The derivative of A(p) along dp is A itself of a source, dA x = A(p) s(x, y, dp),
// less what the source shows of itself in the results (`own`): no kernel knows of a derivative.
// Without `change` and `transposed_change` there is no derivative in p.
//
// Results whose cotangent is mostly zero may be listed in `optional_results`, a bit mask: a zero
// cotangent then comes to the transposed map as an operand whose last axis has length 0.
#pragma once
#include "tessera/autodiff/ops/elementwise.h"
#include "tessera/autodiff/ops/shape.h"
#include "tessera/autodiff/primitive.h"

#include <initializer_list>
#include <string>
#include <vector>

namespace tessera {

/// The derivative of a linear map along its parameters: the map of `source`, one for each operand,
/// less `own`, one for each result; undefined entries and missing ones are zero.
struct Change {
  std::vector<Tensor> source, own;
};

namespace detail {

/// A zero repeated over the whole shape, as cotangents are where nothing arrives.
bool is_repeated_zero(const Tensor& t);

template <class M>
concept ChangesWithParameters = requires(const Application& a, std::span<const Tensor> dp) {
  { M::change(a, dp) } -> std::same_as<Change>;
  { M::transposed_change(a, dp) } -> std::same_as<Change>;
};

/// `M::flops(in, out, attr)` serves both maps; without it they are not counted.
template <class M>
struct PairFlops {
  static constexpr None flops{"a linear map that does not count its operations"};
};
template <class M>
requires requires(TypeSpan t, const Attributes* a) { M::flops(t, t, a); }
struct PairFlops<M> {
  static double flops(TypeSpan in, TypeSpan out, const Attributes* a) {
    return M::flops(in, out, a);
  }
};

template <class M>
struct PairOrder {};
template <class M>
requires requires(const Attributes* a) { M::order(a); }
struct PairOrder<M> {
  static Ordering order(const Attributes* a) { return M::order(a); }
};

/// y = A(p) x, or with `transposed` x = A(p)^T y. `n` linear operands come first, then the
/// parameters.
template <class M, bool transposed>
struct PairBase : LeadingBatch, PairFlops<M>, PairOrder<M> {
  static constexpr const char* name = transposed ? M::transposed_name : M::name;
  static constexpr std::size_t n = transposed ? M::results : M::operands;
  /// Whether linear operand k is left out, being zero.
  static bool left_out(std::size_t k, const Type& t) {
    if constexpr (transposed && requires { M::optional_results; })
      return (M::optional_results >> k & 1) && !t.shape.empty() && t.shape.back() == 0;
    else
      return false;
  }
  static Types infer(std::span<const Type> in, const Attributes* a) {
    if (in.size() < n)
      fail(name, "takes " + std::to_string(n) + " operands and its parameters, got " +
                     std::to_string(in.size()));
    return transposed ? M::operand_types(in, a) : M::result_types(in, a);
  }
  static KernelFn kernel(std::span<const Dtype> in, const Attributes* a) {
    return transposed ? M::transposed_kernel(in, a) : M::kernel(in, a);
  }
  /// The other map of the conjugates, conjugated.
  static void transpose(const Application& a, std::span<const bool> linear,
                        std::span<const Tensor> ct, std::span<Tensor> o);
};

/// A pair without derivatives in its parameters.
template <class M, bool transposed>
struct FixedPair : PairBase<M, transposed> {
  static constexpr RuleClass rule = RuleClass::linear;
  static bool linear_in(std::size_t operand, const Attributes*) {
    return operand < PairBase<M, transposed>::n;
  }
};
template <class M, bool transposed>
struct ChangingPair : PairBase<M, transposed> {
  static constexpr RuleClass rule = RuleClass::hand;
  static void jvp(const Application& a, std::span<const Tensor> t, std::span<Tensor> o);
};
template <class M, bool transposed>
using PairPrimitive = std::conditional_t<ChangesWithParameters<M>, ChangingPair<M, transposed>,
                                         FixedPair<M, transposed>>;

template <class M, bool transposed>
void ChangingPair<M, transposed>::jvp(const Application& a, std::span<const Tensor> t,
                                      std::span<Tensor> o) {
  constexpr std::size_t n = PairBase<M, transposed>::n;
  bool moves = false, changes = false;
  for (std::size_t k = 0; k < t.size(); ++k) (k < n ? moves : changes) |= t[k].defined();
  Change c;
  if (changes) c = transposed ? M::transposed_change(a, t.subspan(n)) : M::change(a, t.subspan(n));
  std::vector<Tensor> in(n);
  for (std::size_t k = 0; k < n; ++k) {
    if (!PairBase<M, transposed>::left_out(k, a.in_types[k])) in[k] = t[k];
    if (k < c.source.size() && c.source[k].defined())
      in[k] = in[k].defined() ? add(in[k], c.source[k]) : c.source[k];
    moves |= in[k].defined();
  }
  if (!moves) return;
  std::vector<const Tensor*> operands;
  for (std::size_t k = 0; k < a.in.size(); ++k) {
    if (k < n && !in[k].defined())
      in[k] = broadcast_to(scalar(0.0, a.in_types[k].dtype), a.in_types[k].shape);
    operands.push_back(k < n ? &in[k] : &a.in[k]);
  }
  dispatch(primitive<PairPrimitive<M, transposed>>(), operands, a.attr, {}, o);
  for (std::size_t k = 0; k < c.own.size(); ++k)
    if (c.own[k].defined()) o[k] = sub(o[k], c.own[k]);
}

template <class M, bool transposed>
void PairBase<M, transposed>::transpose(const Application& a, std::span<const bool> linear,
                                        std::span<const Tensor> ct, std::span<Tensor> o) {
  for (std::size_t k = n; k < linear.size(); ++k)
    if (linear[k])
      fail(name, "is linear in its first " + std::to_string(n) +
                     " operands alone, not in its parameters");
  using Other = PairBase<M, !transposed>;
  std::vector<Tensor> in;
  for (std::size_t k = 0; k < ct.size(); ++k) {
    Type none = ct[k].type();
    if (!none.shape.empty()) none.shape[none.shape.size() - 1] = 0;
    in.push_back(Other::left_out(k, none) && is_repeated_zero(ct[k]) ? zeros(none.shape, none.dtype)
                                                                     : conj(ct[k]));
  }
  std::vector<const Tensor*> operands;
  for (const Tensor& x : in) operands.push_back(&x);
  for (std::size_t k = n; k < a.in.size(); ++k) operands.push_back(&a.in[k]);
  Tensor out[n];
  dispatch(primitive<PairPrimitive<M, !transposed>>(), operands, a.attr, {}, out);
  for (std::size_t k = 0; k < n; ++k)
    if (linear[k] && !left_out(k, a.in_types[k])) o[k] = conj(out[k]);
}

}  // namespace detail

/// The pair as functions of operands followed by parameters.
template <class M>
struct LinearPair {
  using Map = detail::PairPrimitive<M, false>;
  using Transposed = detail::PairPrimitive<M, true>;
  /// y = A(p) x of {x..., p...}.
  static std::vector<Tensor> apply(const AttributesPtr& attr, std::initializer_list<Tensor> xp) {
    return run<Map>(attr, xp, M::results);
  }
  /// A(p)^T y of {y..., p...}.
  static std::vector<Tensor> apply_transposed(const AttributesPtr& attr,
                                              std::initializer_list<Tensor> yp) {
    return run<Transposed>(attr, yp, M::operands);
  }

 private:
  template <class P>
  static std::vector<Tensor> run(const AttributesPtr& attr, std::span<const Tensor> in,
                                 std::size_t n_out) {
    std::vector<const Tensor*> operands;
    for (const Tensor& t : in) operands.push_back(&t);
    std::vector<Tensor> out(n_out);
    dispatch(primitive<P>(), operands, attr, {}, out);
    return out;
  }
};

/// As TESSERA_REGISTER, for both primitives of a pair.
#define TESSERA_REGISTER_PAIR(M)                                           \
  [[maybe_unused]] static const bool registered_##M[] = {                  \
      ::tessera::detail::register_primitive(                               \
          ::tessera::primitive<typename ::tessera::LinearPair<M>::Map>()), \
      ::tessera::detail::register_primitive(                               \
          ::tessera::primitive<typename ::tessera::LinearPair<M>::Transposed>())}

}  // namespace tessera
