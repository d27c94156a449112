// SPDX-License-Identifier: Apache-2.0
//
// Taylor mode: derivatives of any order along curves, at O(K^2) the cost of the function where
// nesting first derivatives costs 2^K, and differential operators made of them.
//
//   auto y = jet(f, 4)(x, v);              // y[k] = (1/k!) d^k/dt^k f(x + t v) at t = 0
//   Tensor lap = laplacian(u)(x);          // x [points, n] -> [points, ...]
//   Tensor r   = biharmonic(u)(x);         // laplacian(laplacian(u))
//   Tensor d   = partial(u, {2, 0, 1})(x); // d^3 u / dx0^2 dx2
//   auto e     = derivatives(u, x);        // e.value, e.d(i), e.d(i, j)
//
// Coefficients are plain, x(t) = x_0 + x_1 t + ... + x_K t^K, without factorials. Rules follow from
// those that every primitive has (src/transform/expansion.h); custom rules are respected. All
// transforms nest with those of grad.h in any order.
//
// Operators take functions of points: x has the coordinates on its last axis, and f treats all
// leading axes as independent points, f(x)[i, ...] depending on x[i, :] alone (a network on a batch
// does). One point is x [n].
#pragma once
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops/elementwise.h"
#include "tessera/autodiff/ops/linalg.h"
#include "tessera/autodiff/ops/shape.h"

namespace tessera {

/// One term of a linear differential operator: coefficient d^|orders| / dx_0^orders[0]
/// dx_1^orders[1] ...
struct PartialDerivative {
  double coefficient = 1;
  std::vector<int> orders;  ///< one per coordinate; missing ones are 0
};

struct PointDerivatives;

namespace detail {

/// coefficients[k]: the k-th coefficients of all leaves (undefined: zero); the same for the
/// results, 0..order.
std::vector<std::vector<Tensor>> jet_flat(const FlatFunction& f,
                                          const std::vector<std::vector<Tensor>>& coefficients,
                                          int order);

/// Weighted sum over directions r of (1/order!) d^order/dt^order f(x + t directions[r]), and f(x).
/// Directions of one leaf: [m] + its shape; undefined: zero.
struct Collapsed {
  std::vector<Tensor> values, sums;
  std::vector<Tensor> first;  ///< for order 2 and more: d/dt f(x + t directions[r]), [m] + shape
};
Collapsed collapsed_flat(const FlatFunction& f, const std::vector<Tensor>& x,
                         const std::vector<Tensor>& directions, int order, const Tensor& weights);

/// Unit vectors along the last axis of x, for all points alike: [n, x.shape...].
Tensor coordinate_directions(const char* op, const Tensor& x);
std::vector<Tensor> laplacian_flat(const FlatFunction& f, const Tensor& x);
std::vector<Tensor> biharmonic_flat(const FlatFunction& f, const Tensor& x);
std::vector<Tensor> operator_flat(const FlatFunction& f, const Tensor& x,
                                  const std::vector<PartialDerivative>& terms);
/// Columns of the Jacobian of each point: [n, f(x).shape...].
Tensor columns_flat(const char* op, const FlatFunction& f, const Tensor& x);
PointDerivatives derivatives_flat(const FlatFunction& f, const Tensor& x);
Tensor random_directions(const Tensor& key, Index samples, const Tensor& x);

}  // namespace detail

/// Taylor coefficients 0..order of f along a curve. The result is called with a point and a
/// direction, or with one vector of the curve's coefficients, x(t) = sum_k coefficients[k] t^k; it
/// returns a vector of results.
template <class F>
class Jet {
 public:
  Jet(F f, int order) : f_(std::move(f)), order_(order) {}
  template <IsTree A>
  auto operator()(const A& x, const A& direction) const {
    return (*this)(std::vector<A>{x, direction});
  }
  template <IsTree A>
  auto operator()(const std::vector<A>& coefficients) const {
    using R = detail::result_t<F, A>;
    detail::Result<R> r;
    std::vector<std::vector<Tensor>> leaves;
    for (const A& c : coefficients) leaves.push_back(flatten_tree(c));
    if (leaves.empty()) fail("jet", "needs at least the point, coefficient 0");
    std::vector<R> out;
    for (const auto& y : detail::jet_flat(detail::flat(f_, r, coefficients[0]), leaves, order_))
      out.push_back(unflatten_tree(*r.like, y));
    return out;
  }

 private:
  F f_;
  int order_;
};
template <class F>
Jet<F> jet(F f, int order) {
  if (order < 0) fail("jet", "the order must not be negative, got " + std::to_string(order));
  return {std::move(f), order};
}

/// sum_r weights[r] d^order/dt^order f(x + t directions[r]) at t = 0, for directions [m] + x.shape
/// and weights [m] (default ones), by one pass in which the last coefficient is kept only as its
/// sum.
template <class F>
auto directional_sum(const F& f, const Tensor& x, const Tensor& directions, int order,
                     const Tensor& weights = {}) {
  using R = detail::result_t<F, Tensor>;
  detail::Result<R> r;
  double factorial = 1;
  for (int k = 2; k <= order; ++k) factorial *= k;
  std::vector<Tensor> y =
      detail::collapsed_flat(detail::flat(f, r, x), {x}, {directions}, order, weights).sums;
  for (Tensor& t : y) t = t * factorial;
  return unflatten_tree(*r.like, y);
}

/// sum_i d^2 f / dx_i^2 at every point: the forward Laplacian, (n + 2) evaluations of f in cost.
template <class F>
auto laplacian(F f) {
  return [f = std::move(f)](const Tensor& x) {
    using R = detail::result_t<F, Tensor>;
    detail::Result<R> r;
    return unflatten_tree(*r.like, detail::laplacian_flat(detail::flat(f, r, x), x));
  };
}
/// A function at every point with its gradient and Laplacian, which come out of one pass: (n + 2)
/// evaluations of f in cost.
struct PointLaplacian {
  Tensor value;      ///< f(x)
  Tensor first;      ///< [n, f(x).shape...]: d/dx_i
  Tensor laplacian;  ///< like f(x)
  Tensor d(int i) const { return select(first, 0, i); }
};
template <class F>
PointLaplacian value_and_laplacian(const F& f, const Tensor& x) {
  detail::Result<Tensor> r;
  const detail::Collapsed c = detail::collapsed_flat(
      detail::flat(f, r, x), {x}, {detail::coordinate_directions("value_and_laplacian", x)}, 2, {});
  return {c.values[0], c.first[0], c.sums[0] * 2.0};
}
/// The Laplacian of the Laplacian, whichever way carries fewer vectors: up to n = 3 the fourth
/// derivatives along axes and diagonals of a cube in one pass (5, 14 and 23 evaluations of f in
/// cost), from there the forward Laplacian twice, (n + 2)^2.
template <class F>
auto biharmonic(F f) {
  return [f = std::move(f)](const Tensor& x) {
    using R = detail::result_t<F, Tensor>;
    detail::Result<R> r;
    return unflatten_tree(*r.like, detail::biharmonic_flat(detail::flat(f, r, x), x));
  };
}
/// Any linear operator with constant coefficients, sum_t coefficient_t d^orders_t f; terms of one
/// order share a pass. Mixed derivatives are sums over directions (polarization): a term of orders
/// a costs at most prod (a_i + 1) / 2 directions.
template <class F>
auto differential_operator(F f, std::vector<PartialDerivative> terms) {
  return [f = std::move(f), terms = std::move(terms)](const Tensor& x) {
    using R = detail::result_t<F, Tensor>;
    detail::Result<R> r;
    return unflatten_tree(*r.like, detail::operator_flat(detail::flat(f, r, x), x, terms));
  };
}
template <class F>
auto partial(F f, std::vector<int> orders) {
  return differential_operator(std::move(f), {{1, std::move(orders)}});
}

/// A function at every point with all its first and second derivatives.
struct PointDerivatives {
  Tensor value;   ///< f(x)
  Tensor first;   ///< [n, f(x).shape...]: d/dx_i
  Tensor second;  ///< [n (n + 1) / 2, f(x).shape...]: d^2/dx_i dx_j for i <= j, in the order 00,
                  ///< 01, ..., 11, 12, ...
  Tensor d(int i) const { return select(first, 0, i); }
  Tensor d(int i, int j) const {
    if (i > j) std::swap(i, j);
    return select(second, 0, i * first.dim(0) - i * (i + 1) / 2 + j);
  }
};
/// For residuals of differential equations that need many derivatives of one field: 1 + n + n (n +
/// 1) / 2 evaluations of f in cost under jit and n more without, where every operator by itself
/// (curl of curl, divergence, ...) makes its own.
template <class F>
PointDerivatives derivatives(const F& f, const Tensor& x) {
  detail::Result<Tensor> r;
  return detail::derivatives_flat(detail::flat(f, r, x), x);
}

/// sum_i d f_i / dx_i for f: [..., n] -> [..., n].
template <class F>
auto divergence(F f) {
  return [f = std::move(f)](const Tensor& x) {
    detail::Result<Tensor> r;
    const Tensor j = detail::columns_flat("divergence", detail::flat(f, r, x), x);
    if (r.like->shape() != x.shape())
      fail("divergence",
           "the function must return a vector as long as its argument at every point: " +
               to_string(x.type()) + " -> " + to_string(r.like->type()));
    return trace(moveaxis(j, 0, -1));
  };
}
/// curl f for f: [..., 3] -> [..., 3]; for f: [..., 2] -> [..., 2] the scalar df_1/dx_0 -
/// df_0/dx_1.
template <class F>
auto curl(F f) {
  return [f = std::move(f)](const Tensor& x) {
    detail::Result<Tensor> r;
    const Tensor j = detail::columns_flat("curl", detail::flat(f, r, x), x);
    if (r.like->shape() != x.shape() || (x.dim(-1) != 2 && x.dim(-1) != 3))
      fail("curl", "needs vectors of 2 or 3 components at every point: " + to_string(x.type()) +
                       " -> " + to_string(r.like->type()));
    const auto d = [&](int component, int along) {
      return select(select(j, 0, along), -1, component);
    };
    if (x.dim(-1) == 2) return d(1, 0) - d(0, 1);
    return stack({d(2, 1) - d(1, 2), d(0, 2) - d(2, 0), d(1, 0) - d(0, 1)}, -1);
  };
}

/// Unbiased estimate of the Laplacian by `samples` random directions of signs (Hutchinson 1990),
/// drawn from `key` (random.h) and shared by all points; its cost does not grow with n. The
/// variance is 2 sum_{i != j} H_ij^2 / samples.
template <class F>
auto stochastic_laplacian(F f, Tensor key, Index samples) {
  return [f = std::move(f), key = std::move(key), samples](const Tensor& x) {
    const Tensor v = detail::random_directions(key, samples, x);
    return directional_sum(f, x, v, 2,
                           full({samples}, 1.0 / static_cast<double>(samples), x.dtype()));
  };
}

}  // namespace tessera
