// SPDX-License-Identifier: Apache-2.0
//
// Finding minima, on two levels.
//
// Steps: an Optimizer is a pair of functions on trees, made of engine operations. It runs inside
// jit, vmap and grad, so the result of k steps has derivatives with respect to all that went into
// it, the rate included:
//
//   const Optimizer o = adam(cosine_rate(1e-3, 1000));
//   OptimizerState s = o.init(params);
//   std::tie(params, s) = o.update(params, grad(loss)(params), s);
//
// Minimisation: `minimize` and `least_squares` iterate to a tolerance and report how it went:
//
//   const auto r = minimize(f, x0, {.method = Method::lbfgs});
//   if (!converged(r.reason)) ...  // to_string(r.reason) says why
//   const auto q = least_squares(residual, x0);
//
// They read values, so they have no derivative themselves; traced arguments throw. Complex leaves
// count as pairs of real numbers; f32 leaves are optimised in f64 and rounded for each evaluation.
//
// Nocedal & Wright, Numerical Optimization (2006); J. Moré & D. Thuente, ACM TOMS 20 (1994) 286:
// line search; W. Hager & H. Zhang, SIAM J. Optim. 16 (2005) 170: conjugate gradients, approximate
// Wolfe conditions; T. Steihaug, SIAM J. Numer. Anal. 20 (1983) 626: truncated conjugate gradients;
// H. Nielsen, IMM-REP-1999-05: damping of Levenberg & Marquardt; D. Kingma & J. Ba,
// arXiv:1412.6980: Adam; I. Loshchilov & F. Hutter, arXiv:1711.05101: AdamW; X. Chen et al.,
// arXiv:2302.06675: Lion; Y. You et al., arXiv:1904.00962: LAMB; L. Smith & N. Topin,
// arXiv:1708.07120: one cycle.
#pragma once
#include "tessera/autodiff/grad.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace tessera {

// ---- learning rates ----

/// The rate (f64 scalar) at a step (f64 scalar: 0, 1, 2, ...). Any callable of this form will do.
using Schedule = std::function<Tensor(const Tensor& step)>;

Schedule constant_rate(Arg rate);
/// rate * factor^floor(step / every).
Schedule step_rate(Arg rate, Index every, double factor);
/// rate * factor^(step / every).
Schedule exponential_rate(Arg rate, Index every, double factor);
/// From rate to rate * last by half a cosine over `steps`, then constant.
Schedule cosine_rate(Arg rate, Index steps, double last = 0);
/// Rises in proportion to step + 1 to the first rate of `then`, which begins at step `steps`.
Schedule warmup(Index steps, Schedule then);
/// Half a cosine from peak * first to peak over the share `rise` of the steps, half a cosine down
/// to peak * last.
Schedule one_cycle(Arg peak, Index steps, double rise = 0.3, double first = 0.04,
                   double last = 1e-5);

// ---- steps ----

/// One of the things that an optimizer remembers, as "first_moment": tensors like the parameters',
/// or the optimizer's own.
struct OptimizerSlot {
  std::string name;
  std::vector<Tensor> leaves;
  TESSERA_TREE(leaves)
  TESSERA_STATIC(name)
};
using OptimizerSlots = std::vector<OptimizerSlot>;
/// What an optimizer carries from step to step: a tree of tensors, known by their names.
struct OptimizerState {
  Tensor step;  ///< f64 scalar
  OptimizerSlots slots;
  TESSERA_TREE(step, slots)
};

struct Optimizer {
  using Leaves = std::vector<Tensor>;
  std::string name;
  std::function<OptimizerSlots(const Leaves& params)> slots;  ///< the first slots
  /// New parameters and slots.
  std::function<std::pair<Leaves, OptimizerSlots>(const Leaves& params, const Leaves& grads,
                                                  const OptimizerSlots& slots, const Tensor& step)>
      advance;
  /// The same with another weight decay, of its own kind; empty where it knows none.
  std::function<Optimizer(double weight_decay)> with_decay = {};

  template <IsTree P>
  OptimizerState init(const P& params) const {
    return {Tensor(0.0), slots(flatten_tree(params))};
  }
  /// Parameters and state after one step. `grads` is a tree like `params`.
  template <IsTree P>
  std::pair<P, OptimizerState> update(const P& params, const P& grads,
                                      const OptimizerState& s) const;
};

struct SgdOptions {
  double momentum = 0;
  bool nesterov = false;
  double weight_decay = 0;  ///< added to the gradient, times the parameter
};
/// m <- momentum m + g; x <- x - rate m, or with `nesterov` x - rate (g + momentum m).
Optimizer sgd(Schedule rate, SgdOptions o = {});

struct AdamOptions {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  double weight_decay = 0;  ///< decoupled: x <- x - rate weight_decay x
};
/// x <- x - rate m^ / (sqrt(v^) + epsilon), m and v the running means of g and |g|^2 freed of their
/// bias.
Optimizer adam(Schedule rate, AdamOptions o = {});
struct AdamwOptions {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weight_decay = 0.01;
};
/// Adam with decoupled weight decay, 0.01 unless given.
Optimizer adamw(Schedule rate, AdamwOptions o = {});
struct LambOptions {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-6, weight_decay = 0;
};
/// x <- x - rate (m^ / (sqrt(v^) + epsilon) + weight_decay x) * |x| / |that|, leaf by leaf; factor
/// 1 where a norm is 0.
Optimizer lamb(Schedule rate, LambOptions o = {});

struct LionOptions {
  double beta1 = 0.9, beta2 = 0.99, weight_decay = 0;
};
/// x <- x - rate (sign(beta1 m + (1 - beta1) g) + weight_decay x); m <- beta2 m + (1 - beta2) g.
Optimizer lion(Schedule rate, LionOptions o = {});

/// x <- x - rate H g with H from the last `memory` changes of x and g, of real leaves. No line
/// search: for that, and for tolerances, use `minimize`.
Optimizer lbfgs_steps(Schedule rate, int memory = 10);

/// x - (J^T J + damping D)^-1 J^T r at real x [n] for residuals r(x) [m], D the diagonal of J^T J;
/// damping 0 is Gauss & Newton's step. Made of engine operations.
Tensor gauss_newton_step(const std::function<Tensor(Tensor)>& residual, const Tensor& x,
                         Arg damping);

// ---- clipping ----

namespace detail {
std::vector<Tensor> clip_values(const std::vector<Tensor>& g, const Arg& limit);
std::vector<Tensor> clip_norm(const std::vector<Tensor>& g, const Arg& limit);
Tensor norm_of(const std::vector<Tensor>& g);
}  // namespace detail

/// Square root of the sum of |g|^2 over all leaves; its derivative at 0 is 0.
template <IsTree P>
Tensor global_norm(const P& g) {
  return detail::norm_of(flatten_tree(g));
}
/// Each real element limited to [-limit, limit]; complex elements to the modulus `limit`.
template <IsTree P>
P clip_by_value(const P& g, Arg limit) {
  return unflatten_tree(g, detail::clip_values(flatten_tree(g), limit));
}
/// All leaves times limit / max(limit, global norm); the limit infinity leaves them as they are.
template <IsTree P>
P clip_by_norm(const P& g, Arg limit) {
  return unflatten_tree(g, detail::clip_norm(flatten_tree(g), limit));
}

// ---- line search ----

struct WolfeOptions {
  double decrease = 1e-4;  ///< phi(a) <= phi(0) + decrease a phi'(0)
  double curvature = 0.9;  ///< |phi'(a)| <= curvature |phi'(0)|
  double max_step = 1e20;
  int max_evaluations = 40;
};
struct LineSearchResult {
  double step = 0, value = 0, slope = 0;
  int evaluations = 0;
  bool found =
      false;  ///< the strong Wolfe conditions hold, or to rounding of phi the approximate ones
};
/// A step that meets the strong Wolfe conditions, for phi(a) -> (value, slope) with slope < 0 at a
/// = 0. Where none was found within the limits, the best step met. Values that are not finite
/// shorten the step.
LineSearchResult wolfe_search(const std::function<std::pair<double, double>(double)>& phi,
                              double value, double slope, double first_step,
                              const WolfeOptions& o = {});

// ---- minimisation ----

/// Why an iteration ended; positive where it converged.
enum class StopReason : int {
  gradient_small = 1,  ///< |gradient|_inf <= gradient_tolerance
  value_settled =
      2,  ///< the value changed, and was foretold to change, by less than value_tolerance |value|
  step_small = 3,   ///< |step| <= step_tolerance (|x| + step_tolerance)
  at_rounding = 4,  ///< no step lowers the value by more than its rounding
  too_many_iterations = -1,
  too_many_evaluations = -2,
  no_descent =
      -3,  ///< no step along the direction lowers the value: is the gradient right? (check.h)
  not_finite = -4  ///< the value or gradient at the start is not finite
};
const char* to_string(StopReason r);
inline bool converged(StopReason r) { return static_cast<int>(r) > 0; }

enum class Method {
  lbfgs,         ///< limited memory BFGS, strong Wolfe line search
  nonlinear_cg,  ///< Hager & Zhang's conjugate gradients, strong Wolfe line search
  newton_cg      ///< trust region, Steihaug's conjugate gradients on Hessian-vector products
};

struct MinimizeOptions {
  Method method = Method::lbfgs;
  double gradient_tolerance = 1e-8;
  double value_tolerance = 0, step_tolerance = 0;  ///< 0: not asked
  int max_iterations = 1000, max_evaluations = 20000;
  int memory = 10;          ///< of L-BFGS
  double first_radius = 1;  ///< of newton_cg's trust region
  bool jit = true;          ///< false for functions whose control flow reads values
};

struct MinimizeStep {
  double value, gradient_norm, step;  ///< after the iteration; length of its step (Euclidean)
};
template <class P>
struct MinimizeResult {
  P x;
  double value = 0, gradient_norm = 0;  ///< largest modulus of the gradient's elements
  int iterations = 0;
  int evaluations = 0;  ///< of value and gradient; of residuals for least_squares
  int products = 0;     ///< of the Hessian with a vector, or of J and J^T; Jacobians count once
  StopReason reason = StopReason::too_many_iterations;
  std::vector<MinimizeStep> history;
};

struct LeastSquaresOptions {
  enum class Kind { levenberg_marquardt, gauss_newton };
  Kind kind = Kind::levenberg_marquardt;
  bool matrix_free =
      false;  ///< products with J and J^T by conjugate gradients in place of a dense J and its QR
  double first_damping =
      1e-3;  ///< of Levenberg & Marquardt, relative to the squared column norms of J
  double gradient_tolerance = 1e-10;  ///< of |J^T r|_inf
  double value_tolerance = 1e-15, step_tolerance = 1e-14;
  int max_iterations = 1000;
  bool jit = true;
};

namespace detail {
using FlatResult = MinimizeResult<std::vector<Tensor>>;
FlatResult minimize_flat(const FlatFunction& f, const std::vector<Tensor>& x0,
                         const MinimizeOptions& o);
FlatResult least_squares_flat(const FlatFunction& r, const std::vector<Tensor>& x0,
                              const LeastSquaresOptions& o);
template <IsTree A>
MinimizeResult<A> shaped(const A& like, FlatResult r) {
  return {unflatten_tree(like, r.x),
          r.value,
          r.gradient_norm,
          r.iterations,
          r.evaluations,
          r.products,
          r.reason,
          std::move(r.history)};
}
}  // namespace detail

/// A local minimum of the real scalar f near x0, a tree.
template <class F, IsTree A>
MinimizeResult<A> minimize(const F& f, const A& x0, const MinimizeOptions& o = {}) {
  return detail::shaped(x0, detail::minimize_flat(
                                [&](const std::vector<Tensor>& x) {
                                  return std::vector<Tensor>{f(unflatten_tree(x0, x))};
                                },
                                flatten_tree(x0), o));
}

/// A local minimum of |r(x)|^2 / 2, which is the `value` of the result; r gives a tree of real or
/// complex residuals.
template <class F, IsTree A>
MinimizeResult<A> least_squares(const F& r, const A& x0, const LeastSquaresOptions& o = {}) {
  return detail::shaped(
      x0, detail::least_squares_flat(
              [&](const std::vector<Tensor>& x) { return flatten_tree(r(unflatten_tree(x0, x))); },
              flatten_tree(x0), o));
}

namespace detail {
std::pair<std::vector<Tensor>, OptimizerState> advance(const Optimizer& o,
                                                       const std::vector<Tensor>& p,
                                                       const std::vector<Tensor>& g,
                                                       const OptimizerState& s);
}  // namespace detail
template <IsTree P>
std::pair<P, OptimizerState> Optimizer::update(const P& params, const P& grads,
                                               const OptimizerState& s) const {
  const Within part(name);
  auto [p, next] = detail::advance(*this, flatten_tree(params), flatten_tree(grads), s);
  return {unflatten_tree(params, p), std::move(next)};
}

}  // namespace tessera
