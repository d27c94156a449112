// SPDX-License-Identifier: Apache-2.0
//
// Functions given by an equation: x with F(x, p) = 0. The solver's steps are not differentiated;
// the derivatives are those of the equation (implicit function theorem), at the solution that was
// found:
//
//   F_x dx = -F_p dp          adjoint: F_x^H lambda = c,  p* = -F_p^H lambda
//
// solved by `linear_solve`, to any order, forward and reverse.
//
//   Tensor r = root([&](Tensor x) { return x * exp(x) - p; }, ones({3})).x;  // dr/dp exists
//   Tensor q = fixed_point([&](Tensor x) { return cos(p * x); }, ones({3})).x;
//   Tensor m = argmin([&](Tensor x) { return loss(x, p); }, x0, solver).x;  // any solver
//
// What F captures is differentiated; the start x0 is not (its derivative is zero). F is recorded
// once at the types of x0: it reads no values. Arguments are trees of f32 or f64, c64 or c128, one
// precision at a time; complex leaves count as pairs of reals, so F need not be holomorphic. Under
// vmap every system is solved by itself, one after the other.
#pragma once
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/solve.h"

#include <functional>

namespace tessera {

/// The equations of one system at concrete parameters, as a solver sees them. x is a real vector
/// [n].
struct NonlinearSystem {
  std::function<Tensor(const Tensor& x)> residual;                  ///< F(x), [n]
  std::function<Tensor(const Tensor& x, const Tensor& v)> product;  ///< F_x(x) v
  std::function<Tensor(const Tensor& x)> jacobian;                  ///< F_x(x), [n, n]
  std::function<LinearOperator(const Tensor& x)>
      sparse_jacobian;  ///< F_x(x) by its entries where that was asked for; else empty
  std::function<Tensor(const Tensor& x)>
      objective;  ///< argmin alone: f(x), of which F is the gradient
};
struct NonlinearResult {
  Tensor x;
  SolveReport report;  ///< residuals: |F(x)| after each iteration, absolute
};
using NonlinearSolver = std::function<NonlinearResult(const NonlinearSystem&, const Tensor& x0)>;

struct NewtonOptions {
  double tolerance =
      0;  ///< on |F(x)| / max(|F(x0)|, 1): 0 takes 1e-12 in double, 1e-5 in single precision
  int iterations = 50;
  /// null: the whole Jacobian and LU; else products with it alone, given to this solver. It gets
  /// the entries where the system has them.
  LinearSolverPtr linear = nullptr;
};
/// Newton's method with steps halved until |F| falls by Armijo's rule; after convergence one more
/// step, which brings the solution to rounding. P. Deuflhard 2011, Newton Methods for Nonlinear
/// Problems.
NonlinearSolver newton(NewtonOptions options = {});

struct AndersonOptions {
  double tolerance = 0;  ///< as above, on |f(x) - x|
  int iterations = 200;
  int memory = 5;  ///< differences kept; 0 is plain iteration
};
/// x <- f(x) with the last few residuals combined to the least one: needs no derivative of f.
/// H. F. Walker & P. Ni 2011, doi:10.1137/10078356X.
NonlinearSolver anderson(AndersonOptions options = {});

struct ImplicitOptions {
  NonlinearSolver solver =
      nullptr;  ///< null: newton() with `linear` for roots, anderson() for fixed points
  /// What solves F_x dx = ... for steps and derivatives. null: the whole Jacobian and LU; else
  /// products alone.
  LinearSolverPtr linear = nullptr;
  /// F_x by its entries (sparse.h), for systems of many unknowns: the pattern is found from F's
  /// recording at each call, and `linear` (null: gmres) gets a csr operator. Unknowns that are
  /// complex, and operations that mix all, make it full.
  bool sparse = false;
};
/// The solution and how it came about: SolveReason i32, iterations i32, |F(x)| f64. Not to converge
/// is a result: x is the last iterate; its derivatives are NaN then, for they are those of a
/// solution.
template <class A>
struct ImplicitSolution {
  A x;
  Tensor reason, iterations, residual;
  TESSERA_TREE(x, reason, iterations, residual)
};

namespace detail {
enum class Equation : std::uint8_t { root, fixed_point, stationary };
/// `f` on the leaves of x; solves its equation from x0.
ImplicitSolution<std::vector<Tensor>> implicit_flat(Equation kind, const FlatFunction& f,
                                                    const std::vector<Tensor>& x0,
                                                    const ImplicitOptions& o);
/// The leaves as one real vector [n], and back.
Tensor ravel(const char* op, const std::vector<Tensor>& leaves);
std::vector<Tensor> unravel(const Tensor& vector, const std::vector<Type>& like);
/// x as a converged result, with |F(x)|.
NonlinearResult believed(const NonlinearSystem& s, const Tensor& x);
template <class F, class A>
ImplicitSolution<A> implicit_tree(Equation kind, const F& f, const A& x0,
                                  const ImplicitOptions& o) {
  const FlatFunction flat_f = [&f, like = x0](const std::vector<Tensor>& leaves) {
    return flatten_tree(f(unflatten_tree(like, leaves)));
  };
  auto y = implicit_flat(kind, flat_f, flatten_tree(x0), o);
  return {unflatten_tree(x0, y.x), y.reason, y.iterations, y.residual};
}
}  // namespace detail

/// x of f(x) = 0, f giving a tree like x0.
template <class F, IsTree A>
ImplicitSolution<A> root(const F& f, const A& x0, ImplicitOptions options = {}) {
  return detail::implicit_tree(detail::Equation::root, f, x0, options);
}
/// x of f(x) = x.
template <class F, IsTree A>
ImplicitSolution<A> fixed_point(const F& f, const A& x0, ImplicitOptions options = {}) {
  return detail::implicit_tree(detail::Equation::fixed_point, f, x0, options);
}
/// A stationary point of the real scalar f, grad f(x) = 0. By default Newton on the gradient (which
/// finds any stationary point: start near the minimum).
template <class F, IsTree A>
ImplicitSolution<A> argmin(const F& f, const A& x0, ImplicitOptions options = {}) {
  return detail::implicit_tree(detail::Equation::stationary, f, x0, options);
}
/// The same with a minimiser of the user's: solver(g, x0) -> x on concrete values, where g is f of
/// a tree like x0 at the parameters in force. It is believed to have converged; `residual` is |grad
/// f(x)|.
template <class F, IsTree A, class Solver>
requires std::invocable < const Solver&, std::function<Tensor(const A&)>,
const A& > ImplicitSolution<A> argmin(const F& f, const A& x0, const Solver& solver,
                                      LinearSolverPtr linear = nullptr) {
  std::vector<Type> types;
  for (const Tensor& t : flatten_tree(x0)) types.push_back(t.type());
  const NonlinearSolver wrapped = [solver, like = x0, types](const NonlinearSystem& s,
                                                             const Tensor& start) {
    const auto tree = [&](const Tensor& v) {
      return unflatten_tree(like, detail::unravel(v, types));
    };
    const std::function<Tensor(const A&)> g = [&](const A& x) {
      return s.objective(detail::ravel("argmin", flatten_tree(x)));
    };
    const Tensor x = detail::ravel("argmin", flatten_tree(solver(g, tree(start))));
    return detail::believed(s, x);
  };
  return detail::implicit_tree(detail::Equation::stationary, f, x0,
                               {.solver = wrapped, .linear = std::move(linear)});
}

}  // namespace tessera
