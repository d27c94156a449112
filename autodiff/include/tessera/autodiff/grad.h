// SPDX-License-Identifier: Apache-2.0
//
// Derivatives and batching of functions on tensors. Every transform takes a function and gives a
// function (or its result), so they nest: hessian = jacfwd(grad), grad(vmap(f)), vmap(grad(f)), ...
// to any depth.
//
//   auto f = [](Tensor x) { return sum(sin(x) * x); };
//   Tensor g  = grad(f)(x);                       // same shape as x
//   auto [y, gy] = value_and_grad(f)(x);
//   auto [ya, ga] = value_and_grad(with)(x);      // with(x) -> pair(value, what else it found)
//   auto [y2, t] = jvp(f, x, v);                  // value, directional derivative
//   auto [y3, pull] = vjp(f, x);  Tensor c = pull(w);
//   Tensor H = hessian(f)(x);  Tensor Hv = hvp(f, x, v);
//
// Arguments and results are trees (tree.h). Functions run on values while they are recorded, so
// native `if` and `while` on them work, except inside vmap and jit, where reading a value throws
// and says what to do.
//
// Complex numbers count as R^2 with the pairing Re(conj(c) t): vjp is the adjoint, grad |z|^2 = 2
// z, and -grad is steepest descent. Jacobians of complex maps need `Holomorphic::yes`; else they
// throw.
#pragma once
#include "tessera/autodiff/graph.h"
#include "tessera/autodiff/tree.h"

#include <functional>
#include <limits>
#include <optional>
#include <utility>

namespace tessera {

enum class Holomorphic : bool { no, yes };

namespace detail {

struct Linearized {
  std::vector<Tensor> values;
  std::vector<Type> in_types, out_types;
  std::vector<bool> out_live;  ///< outputs that depend on the inputs; the others' tangents are zero
  std::vector<bool> in_live;   ///< inputs of inexact type
  std::shared_ptr<const Graph> map;  ///< from tangents of live inputs to tangents of live outputs
};
/// `wanted`: only that many of the outputs, from the first on, count as dependent on the inputs.
Linearized linearize_flat(const char* name, const FlatFunction& f, const std::vector<Tensor>& x,
                          std::size_t wanted = std::numeric_limits<std::size_t>::max());
std::vector<Tensor> push(const Linearized& l, const std::vector<Tensor>& tangents);
/// Undefined entries of `cotangents` are zero.
std::vector<Tensor> pull(const Linearized& l, const std::vector<Tensor>& cotangents);
/// Cotangents of the inputs of a graph that is linear in them.
std::vector<Tensor> transpose_graph(const Graph& g, std::span<const Tensor> cotangents);
std::vector<Tensor> batch_graph(const Graph& g, std::span<const Tensor> inputs,
                                const std::vector<bool>& batched, Index size,
                                std::vector<bool>& out_batched);

std::pair<std::vector<Tensor>, std::vector<Tensor>> jvp_flat(const FlatFunction& f,
                                                             const std::vector<Tensor>& x,
                                                             const std::vector<Tensor>& t);
/// Values of all outputs, and the gradient of the first one (a real scalar) with respect to the
/// first `n` inputs; others than the first are allowed with `auxiliary`.
std::pair<std::vector<Tensor>, std::vector<Tensor>> grad_flat(const FlatFunction& f,
                                                              const std::vector<Tensor>& x,
                                                              std::size_t n,
                                                              bool auxiliary = false);
std::vector<Tensor> vmap_flat(const FlatFunction& f, const std::vector<Tensor>& x,
                              const std::vector<std::optional<int>>& in_axes, int out_axis);
/// out.shape + in.shape for every pair of one output and one input, output by output.
std::vector<Tensor> jacobian_flat(const FlatFunction& f, const std::vector<Tensor>& x, bool forward,
                                  Holomorphic h);
FlatFunction custom_jvp_flat(
    FlatFunction f,
    std::function<std::vector<Tensor>(const std::vector<Tensor>&, const std::vector<Tensor>&,
                                      const std::vector<Tensor>&)>
        rule);
FlatFunction custom_vjp_flat(
    FlatFunction forward, std::size_t n_out,
    std::function<std::vector<Tensor>(const std::vector<Tensor>&, const std::vector<Tensor>&)>
        backward);
FlatFunction custom_linear_flat(FlatFunction f, FlatFunction transpose);

/// The prototype of a function's result, known after its first run.
template <class R>
struct Result {
  std::optional<R> like;
};

/// `f` on the leaves of `args`; keeps the shape of the result tree in `result`.
template <class F, class R, class... A>
FlatFunction flat(const F& f, Result<R>& result, const A&... args) {
  return [&f, &result, like = std::tuple<A...>(args...)](const std::vector<Tensor>& leaves) {
    std::tuple<A...> trees = unflatten_tree(like, leaves);
    R r = std::apply(f, std::move(trees));
    std::vector<Tensor> out = flatten_tree(r);
    result.like.emplace(std::move(r));
    return out;
  };
}
template <class F, class... A>
using result_t = std::remove_cvref_t<std::invoke_result_t<const F&, A...>>;

/// A value and what was found beside it.
template <class R>
inline constexpr bool has_auxiliary = false;
template <class B>
inline constexpr bool has_auxiliary<std::pair<Tensor, B>> = true;
template <class... B>
inline constexpr bool has_auxiliary<std::tuple<Tensor, B...>> = true;

}  // namespace detail

/// Value and derivative along `tangents` (a tuple of trees like the arguments, or the tree itself
/// for one).
template <class F, IsTree A>
auto jvp(const F& f, const A& x, const A& tangent) {
  using R = detail::result_t<F, A>;
  detail::Result<R> r;
  auto [y, t] = detail::jvp_flat(detail::flat(f, r, x), flatten_tree(x), flatten_tree(tangent));
  return std::pair<R, R>(unflatten_tree(*r.like, y), unflatten_tree(*r.like, t));
}
template <class F, class... A>
auto jvp(const F& f, const std::tuple<A...>& x, const std::tuple<A...>& tangent) {
  return jvp<std::function<detail::result_t<F, A...>(std::tuple<A...>)>, std::tuple<A...>>(
      [&f](std::tuple<A...> a) { return std::apply(f, a); }, x, tangent);
}

/// Value, and the linear map from tangents to tangents, as a function that may be called often.
template <class F, IsTree A>
auto linearize(const F& f, const A& x) {
  using R = detail::result_t<F, A>;
  detail::Result<R> r;
  auto l = std::make_shared<detail::Linearized>(
      detail::linearize_flat("linearize", detail::flat(f, r, x), flatten_tree(x)));
  R y = unflatten_tree(*r.like, l->values);
  return std::pair(y, [l, like = y](const A& t) {
    return unflatten_tree(like, detail::push(*l, flatten_tree(t)));
  });
}

/// Value, and the pullback from cotangents of the result to those of the arguments (one tree for
/// one argument, a tuple for several).
template <class F, IsTree... A>
auto vjp(const F& f, const A&... x) {
  using R = detail::result_t<F, A...>;
  detail::Result<R> r;
  auto l = std::make_shared<detail::Linearized>(
      detail::linearize_flat("vjp", detail::flat(f, r, x...), flatten_tree(x...)));
  R y = unflatten_tree(*r.like, l->values);
  auto pull = [l, like = std::tuple<A...>(x...)](const R& ct) {
    auto all = unflatten_tree(like, detail::pull(*l, flatten_tree(ct)));
    if constexpr (sizeof...(A) == 1)
      return std::get<0>(all);
    else
      return all;
  };
  return std::pair(y, std::move(pull));
}

/// (x, ...) -> (f, df/dx) for real scalar f; the gradient has the shape of the first argument. A
/// function that gives a pair or a tuple, a real scalar first, is differentiated in that scalar;
/// the rest (predictions, statistics, parts of a loss) comes with it: ((f, rest), df/dx).
template <class F>
auto value_and_grad(F f) {
  return [f = std::move(f)]<IsTree A, IsTree... Rest>(const A& x, const Rest&... rest) {
    using R = detail::result_t<F, A, Rest...>;
    detail::Result<R> r;
    auto [y, g] = detail::grad_flat(detail::flat(f, r, x, rest...), flatten_tree(x, rest...),
                                    flatten_tree(x).size(), detail::has_auxiliary<R>);
    return std::pair<R, A>(unflatten_tree(*r.like, y), unflatten_tree(x, g));
  };
}
/// (x, ...) -> df/dx for real scalar f.
template <class F>
auto grad(F f) {
  return [vg = value_and_grad(std::move(f))]<IsTree A, IsTree... Rest>(const A& x,
                                                                       const Rest&... rest) {
    return vg(x, rest...).second;
  };
}
/// Hessian times vector, forward over reverse: about twice the cost of a gradient.
template <class F, IsTree A>
A hvp(const F& f, const A& x, const A& v) {
  return jvp(grad(f), x, v).second;
}

/// Jacobian of a function of one tensor: shape out.shape + in.shape; a tree of those for a tree of
/// outputs.
template <class F>
auto jacfwd(F f, Holomorphic h = Holomorphic::no) {
  return [f = std::move(f), h](const Tensor& x) {
    using R = detail::result_t<F, Tensor>;
    detail::Result<R> r;
    auto j = detail::jacobian_flat(detail::flat(f, r, x), {x}, true, h);
    return unflatten_tree(*r.like, j);
  };
}
template <class F>
auto jacrev(F f, Holomorphic h = Holomorphic::no) {
  return [f = std::move(f), h](const Tensor& x) {
    using R = detail::result_t<F, Tensor>;
    detail::Result<R> r;
    auto j = detail::jacobian_flat(detail::flat(f, r, x), {x}, false, h);
    return unflatten_tree(*r.like, j);
  };
}
/// Second derivatives of a real scalar function of one real tensor: shape in.shape + in.shape.
template <class F>
auto hessian(F f) {
  return jacfwd(grad(std::move(f)));
}

/// Axis of each argument over which vmap runs; `not_mapped` passes an argument unchanged to every
/// call.
inline constexpr std::optional<int> not_mapped = std::nullopt;

/// f over a new axis of its arguments, as if called in a loop, at the speed of one call on the
/// batch. All leaves of argument k are batched along in_axes[k] (default 0); results carry the axis
/// at `out_axis`.
template <class F>
auto vmap(F f, std::vector<std::optional<int>> in_axes = {}, int out_axis = 0) {
  return [ f = std::move(f), in_axes, out_axis ]<IsTree... A>(const A&... x) {
    using R = detail::result_t<F, A...>;
    detail::Result<R> r;
    if (in_axes.size() > sizeof...(A))
      fail("vmap", "there are " + std::to_string(in_axes.size()) + " axes for " +
                       std::to_string(sizeof...(A)) + " arguments");
    std::vector<std::optional<int>> axes;
    std::size_t k = 0;
    const auto add = [&](std::size_t leaves) {
      axes.insert(axes.end(), leaves, k < in_axes.size() ? in_axes[k] : std::optional<int>(0));
      ++k;
    };
    (add(flatten_tree(x).size()), ...);
    const auto y = detail::vmap_flat(detail::flat(f, r, x...), flatten_tree(x...), axes, out_axis);
    return unflatten_tree(*r.like, y);
  };
}

/// y = f(x...), with the derivative given by rule(primals, outputs, tangents) -> output tangents
/// (flat lists). The rule must be linear in the tangents; it is itself differentiable, batched and
/// transposed.
inline FlatFunction custom_jvp(
    FlatFunction f,
    std::function<std::vector<Tensor>(const std::vector<Tensor>& x, const std::vector<Tensor>& y,
                                      const std::vector<Tensor>& t)>
        rule) {
  return detail::custom_jvp_flat(std::move(f), std::move(rule));
}
/// forward(x) -> the n_out outputs followed by residuals; backward(residuals, cotangents) ->
/// cotangents of x, linear in the cotangents. Forward mode works too: its rule is the transpose of
/// `backward`.
inline FlatFunction custom_vjp(
    FlatFunction forward, std::size_t n_out,
    std::function<std::vector<Tensor>(const std::vector<Tensor>& residuals,
                                      const std::vector<Tensor>& ct)>
        backward) {
  return detail::custom_vjp_flat(std::move(forward), n_out, std::move(backward));
}
/// A linear map and its transpose (adjoint, for complex numbers); everything else follows.
inline FlatFunction custom_linear(FlatFunction f, FlatFunction transpose) {
  return detail::custom_linear_flat(std::move(f), std::move(transpose));
}

}  // namespace tessera
