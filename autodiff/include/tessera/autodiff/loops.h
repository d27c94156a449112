// SPDX-License-Identifier: Apache-2.0
//
// Loops and branches as single operations: recorded once, whatever the number of steps, and
// differentiated, batched and compiled as a whole.
//
//   // x_{k+1} = f(x_k, u_k), y_k = g(x_k); u, y: [n, ...]
//   auto [x_end, y] = scan([&](Tensor x, Tensor u) { return std::pair(f(x, u), g(x)); }, x0, u);
//   const auto off = [](Tensor x) { return abs(x * x - 2.0) > 1e-12; };
//   Tensor root = while_loop(off, newton, Tensor(1.0));
//   Tensor power = fori_loop(10, [&](Tensor i, Tensor x) { return x * a; }, Tensor(1.0));
//   Tensor z = checkpointed(layer)(x);  // reverse mode computes its inside again
//   Tensor y = cond(x > 0.0, [](Tensor x) { return sqrt(x); }, [](Tensor x) { return -x; }, x);
//
// The functions are recorded on types, as under jit: values may not be read inside of them (C++
// loops and branches around these calls may read values as everywhere). They may use any tensor
// around them, with its derivative. Carries, slices and results are trees (tree.h). The carry that
// a body returns must have the types of the one it took.
//
// Derivatives of any order and mode. Forward mode carries tangents beside those carries that have
// any and keeps nothing. Reverse mode runs the steps again as the policy says (checkpoint.h).
// Forward over reverse keeps the policy, reverse over reverse stores all steps.
//
// What is written in a branch, or in the body of a while_loop, belongs to it, captured tensors
// included: it is computed, may fail and has a derivative only where the branch is taken. Under
// vmap each element has what it has alone: a while_loop runs until all are done, a cond runs each
// branch that some element takes, and elements that take no part compute on operands of one that
// does. With one predicate for all a cond stays a plain branch.
#pragma once
#include "tessera/autodiff/checkpoint.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops/shape.h"

namespace tessera {

struct ScanOptions {
  bool reverse = false;  ///< from the last slice to the first; y_k still belongs to x_k
  Checkpoint checkpoint = Checkpoint::all();
};
struct WhileOptions {
  Checkpoint checkpoint = Checkpoint::online(32);
};

namespace detail {
/// body: carry leaves, x leaves -> carry leaves, y leaves. Results: final carry, stacked ys.
std::vector<Tensor> scan_flat(const FlatFunction& body, const std::vector<Tensor>& init,
                              const std::vector<Tensor>& xs, Index length, const ScanOptions& o,
                              SourceLine line);
std::vector<Tensor> while_flat(const FlatFunction& condition, const FlatFunction& body,
                               const std::vector<Tensor>& init, const WhileOptions& o,
                               SourceLine line);
std::vector<Tensor> cond_flat(const Arg& predicate, const FlatFunction& then_f,
                              const FlatFunction& else_f, const std::vector<Tensor>& x);
Tensor step_numbers(Index low, Index high);
/// Throws unless the carry that the body returns has as many tensors as the one it took.
void need_carry(const char* name, std::size_t returned, std::size_t took, SourceLine line);
/// The same for the carry of a scan's result, the first of a pair.
template <class R, class C>
void need_first(const Result<R>& r, const C& init, SourceLine line) {
  if constexpr (requires(const R& y) { y.first; })
    need_carry("scan", flatten_tree(r.like->first).size(), flatten_tree(init).size(), line);
}
}  // namespace detail

/// carry_0 = init; (carry_{k+1}, y_k) = f(carry_k, x_k), where x_k is slice k of every leaf of xs
/// along axis 0. Returns (last carry, ys stacked along a new axis 0). f returns a std::pair.
template <class F, IsTree C, IsTree X>
auto scan(F f, const C& init, const X& xs, const ScanOptions& options = {},
          SourceLine line = SourceLine::here()) {
  using R = detail::result_t<F, C, X>;
  detail::Result<R> r;
  const std::vector<Tensor> out = detail::scan_flat(
      detail::flat(f, r, init, xs), flatten_tree(init), flatten_tree(xs), -1, options, line);
  detail::need_first(r, init, line);
  return unflatten_tree(*r.like, out);
}
/// The same without xs, for `length` steps: (carry_{k+1}, y_k) = f(carry_k).
template <class F, IsTree C>
auto scan(F f, const C& init, Index length, const ScanOptions& options = {},
          SourceLine line = SourceLine::here()) {
  using R = detail::result_t<F, C>;
  detail::Result<R> r;
  const std::vector<Tensor> out =
      detail::scan_flat(detail::flat(f, r, init), flatten_tree(init), {}, length, options, line);
  detail::need_first(r, init, line);
  return unflatten_tree(*r.like, out);
}

/// while (condition(carry)) carry = body(carry). The condition is a bool of one element. Reverse
/// mode needs no bound on the number of steps and no more memory than its policy says.
template <class G, class F, IsTree C>
C while_loop(G condition, F body, const C& init, const WhileOptions& options = {},
             SourceLine line = SourceLine::here()) {
  const auto flat_condition = [&](const std::vector<Tensor>& leaves) {
    return std::vector<Tensor>{condition(unflatten_tree(init, leaves))};
  };
  const auto flat_body = [&](const std::vector<Tensor>& leaves) {
    return flatten_tree(body(unflatten_tree(init, leaves)));
  };
  return unflatten_tree(
      init, detail::while_flat(flat_condition, flat_body, flatten_tree(init), options, line));
}

/// for (i = low; i < high; ++i) carry = body(i, carry), with i an i64 scalar. A reversible policy
/// takes inverse(carry after, i).
template <class F, IsTree C>
C fori_loop(Index low, Index high, F body, const C& init, const ScanOptions& options = {},
            SourceLine line = SourceLine::here()) {
  const auto step = [&](const std::vector<Tensor>& leaves) {
    std::vector<Tensor> next = flatten_tree(body(leaves.back(), unflatten_tree(init, leaves)));
    detail::need_carry("fori_loop", next.size(), leaves.size() - 1, line);
    return next;
  };
  return unflatten_tree(
      init, detail::scan_flat(step, flatten_tree(init), {detail::step_numbers(low, high)}, -1,
                              options, line));
}
template <class F, IsTree C>
C fori_loop(Index n, F body, const C& init, const ScanOptions& options = {},
            SourceLine line = SourceLine::here()) {
  return fori_loop(0, n, std::move(body), init, options, line);
}

/// predicate ? then_f(args...) : else_f(args...). The predicate is a bool of one element; both
/// functions return trees of the same structure and types.
template <class T, class E, IsTree... A>
auto cond(Arg predicate, T then_f, E else_f, const A&... args) {
  using R = detail::result_t<T, A...>;
  static_assert(std::is_same_v<R, detail::result_t<E, A...>>,
                "cond: the two functions return different types");
  detail::Result<R> r, other;
  const std::vector<Tensor> out =
      detail::cond_flat(predicate, detail::flat(then_f, r, args...),
                        detail::flat(else_f, other, args...), flatten_tree(args...));
  return unflatten_tree(*r.like, out);
}

/// f, of which reverse mode keeps the arguments alone and computes the rest again when it needs it.
/// Values and derivatives have the same bits.
///
///   const auto layer = checkpointed([&](Tensor x) { return tanh(matmul(x, w)); });
template <class F>
auto checkpointed(F f, SourceLine line = SourceLine::here()) {
  return [ f = std::move(f), line ]<IsTree... A>(const A&... args) {
    using R = detail::result_t<F, A...>;
    detail::Result<R> r;
    // A loop of one step, whose slices are the arguments.
    std::vector<Tensor> slices, out;
    for (const Tensor& t : flatten_tree(args...)) slices.push_back(expand_dims(t, 0));
    for (const Tensor& y : detail::scan_flat(detail::flat(f, r, args...), {}, slices, 1,
                                             {.checkpoint = Checkpoint::none()}, line))
      out.push_back(squeeze(y, {0}));
    return unflatten_tree(*r.like, out);
  };
}

}  // namespace tessera
