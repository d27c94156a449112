// SPDX-License-Identifier: Apache-2.0
//
// Checks of derivatives and batching, for tests of functions and of hand-written rules:
//
//   EXPECT_TRUE(gradcheck(f, x)) << to_string(gradcheck(f, x));
//   const CheckReport r = transpose_check(f, std::tuple(a, b), {.order = 2});
//
// `x` is the argument of f: one tree (tree.h), or a std::tuple of the arguments of a function of
// several. Leaves that are not floating or complex are held fixed; results that are not are
// ignored. Complex numbers count as R^2 with the pairing <a, b> = Re sum conj(a) b. Everything is
// drawn from `seed`, so a report can be had again.
//
// | check | compares | with |
// |---|---|---|
// | gradcheck | jvp, vjp; at order 2 all four ways of composing them | extrapolated differences |
// | transpose_check | <c, J t> | <J^H c, t>; and linearize with jvp; no differences |
// | vmap_check | vmap(f), vmap of jvp and vjp | a loop, for every choice of batched leaves |
// | taylor_check | remainders of a Taylor series along a direction | powers 2 and 3 of the step |
// | jetcheck | Taylor coefficients, of jet (jet.h) or given | nested jvp, divided by k! |
//
// C. Ridders, Adv. Eng. Software 4 (1982) 75: central differences at halved steps, extrapolated,
// the entry of the tableau with the least estimated error taken for each element. A. Griewank & A.
// Walther, Evaluating Derivatives (2008), ch. 3 for the adjoint identity, ch. 13 for Taylor
// coefficients.
#pragma once
#include "tessera/autodiff/grad.h"

#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace tessera {

struct CheckOptions {
  int order = 1;  ///< highest order of derivatives
  int directions =
      0;  ///< random directions; 0: each element by itself up to 32 real numbers, else 4 at random
  double rtol =
      0;  ///< relative to the largest modulus of a result; 0: the check's own, by element type
  double atol = 0;  ///< added to it
  double step = 0;  ///< largest step, in units of the argument; 0: 0.05 in f64, 0.2 in f32
  std::uint64_t seed = 1;
};

/// What a check found: its verdict, and the comparison that came nearest to failing, or failed
/// worst.
struct CheckReport {
  std::string check;  ///< "gradcheck"
  bool passed = true;
  std::string what;   ///< "vjp against differences"
  std::string where;  ///< "result 0 at [1,2], along argument 0 at [3]"
  c128 expected{}, got{};
  double difference = 0, tolerance = 0;
  Index comparisons = 0;  ///< numbers compared in all
  std::string note;       ///< what else to know of it, as where the differences do not settle
  explicit operator bool() const { return passed; }
};
/// One or two lines: verdict, where it was, both numbers, tolerance.
std::string to_string(const CheckReport& r);

/// log |remainder| against log step: the slope by least squares, and the range of steps where it
/// holds.
struct TaylorSlope {
  double slope = 0;
  double smallest_step = 0, largest_step = 0;
};
struct TaylorReport : CheckReport {
  TaylorSlope first;   ///< of |f(x + h v) - f(x) - h J v|: 2
  TaylorSlope second;  ///< of the same less h^2/2 v^T H v: 3; only at order 2
};

namespace detail {
CheckReport gradcheck_flat(const FlatFunction& f, const std::vector<Tensor>& x,
                           const CheckOptions& o);
CheckReport transpose_check_flat(const FlatFunction& f, const std::vector<Tensor>& x,
                                 const CheckOptions& o);
/// `samples` holds two or more lists of arguments of equal types.
CheckReport vmap_check_flat(const FlatFunction& f, const std::vector<std::vector<Tensor>>& samples,
                            const CheckOptions& o);
/// Lists near x: floating leaves scaled by factors within 0.9 ... 1.1, others as they are.
std::vector<std::vector<Tensor>> samples_near(const std::vector<Tensor>& x, std::uint64_t seed);
/// An empty `direction` is drawn at random.
TaylorReport taylor_check_flat(const FlatFunction& f, const std::vector<Tensor>& x,
                               const std::vector<Tensor>& direction, const CheckOptions& o);
CheckReport jetcheck_flat(const FlatFunction& f, const std::vector<Tensor>& x,
                          const std::vector<Tensor>& v, int order, const CheckOptions& o);
CheckReport jetcheck_flat(const FlatFunction& f, const std::vector<Tensor>& x,
                          const std::vector<Tensor>& v,
                          const std::vector<std::vector<Tensor>>& coefficients,
                          const CheckOptions& o);

/// f on the leaves of `like`, which is its argument or the tuple of its arguments.
template <class F, IsTree A>
FlatFunction on_leaves(const F& f, const A& like) {
  return [f, like](const std::vector<Tensor>& leaves) {
    A a = unflatten_tree(like, leaves);
    if constexpr (std::is_invocable_v<const F&, A>)
      return flatten_tree(f(std::move(a)));
    else
      return flatten_tree(std::apply(f, std::move(a)));
  };
}
}  // namespace detail

/// First derivatives, forward and reverse, against differences; with order = 2 those of jvp and of
/// vjp as well. The tolerance is 1e-7 (f32: 3e-3) of the largest modulus, plus what rounding of f
/// leaves in a difference.
template <class F, IsTree A>
CheckReport gradcheck(const F& f, const A& x, const CheckOptions& o = {}) {
  return detail::gradcheck_flat(detail::on_leaves(f, x), flatten_tree(x), o);
}

/// Re<c, J t> = Re<J^H c, t> to 1e-12 (f32: 2e-5) of sum |c| |J t|; with order = 2 for jvp and vjp
/// as functions too.
template <class F, IsTree A>
CheckReport transpose_check(const F& f, const A& x, const CheckOptions& o = {}) {
  return detail::transpose_check_flat(detail::on_leaves(f, x), flatten_tree(x), o);
}

/// vmap against a loop over three samples near x, and vmap of jvp and vjp (order >= 1), to 1e-12
/// (f32: 1e-4).
template <class F, IsTree A>
CheckReport vmap_check(const F& f, const A& x, const CheckOptions& o = {}) {
  const std::vector<Tensor> leaves = flatten_tree(x);
  return detail::vmap_check_flat(detail::on_leaves(f, x), detail::samples_near(leaves, o.seed), o);
}

/// The remainder of the Taylor series along `direction` falls as h^2, with the second derivative as
/// h^3 (order = 2), over at least one decade of steps. Of results with several elements a random
/// combination is taken. A remainder at the level of rounding for every step counts as zero and
/// passes.
template <class F, IsTree A>
TaylorReport taylor_check(const F& f, const A& x, const A& direction,
                          const CheckOptions& o = {.order = 2}) {
  return detail::taylor_check_flat(detail::on_leaves(f, x), flatten_tree(x),
                                   flatten_tree(direction), o);
}
/// The same along a random direction of components in [-1, 1].
template <class F, IsTree A>
TaylorReport taylor_check(const F& f, const A& x, const CheckOptions& o = {.order = 2}) {
  return detail::taylor_check_flat(detail::on_leaves(f, x), flatten_tree(x), {}, o);
}

/// jet(f, order)(x, v) against nested jvp divided by k!, to 1e-11 (f32: 1e-4). Costs O(2^order)
/// runs of f.
template <class F, IsTree A>
CheckReport jetcheck(const F& f, const A& x, const A& v, int order, const CheckOptions& o = {}) {
  return detail::jetcheck_flat(detail::on_leaves(f, x), flatten_tree(x), flatten_tree(v), order, o);
}
/// The same for coefficients that are given: c_k, k = 0 ... K, of f(x + s v) = sum_k c_k s^k, each
/// a tree like f's result.
template <class F, IsTree A, IsTree R>
CheckReport jetcheck(const F& f, const A& x, const A& v, const std::vector<R>& coefficients,
                     const CheckOptions& o = {}) {
  std::vector<std::vector<Tensor>> c;
  for (const R& r : coefficients) c.push_back(flatten_tree(r));
  return detail::jetcheck_flat(detail::on_leaves(f, x), flatten_tree(x), flatten_tree(v), c, o);
}

}  // namespace tessera
