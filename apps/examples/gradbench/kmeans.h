// SPDX-License-Identifier: Apache-2.0
//
// GradBench's `kmeans`: cost f(C) = sum_i min_j |c_j - p_i|^2 of centroids C [k, d] for points P
// [n, d], and Newton's direction, gradient over the diagonal of the Hessian, which has no other
// elements.
//
// Whole-array: distances by one matrix product, |c|^2 - 2 p.c, serve to choose the nearest centroid
// only; the cost is the exact distance to it, so nothing cancels, and derivatives reach the chosen
// centroids alone. The diagonal is H times ones.
#pragma once
#include "tessera/autodiff/grad.h"
#include "verify.h"

namespace gradbench::kmeans {

struct Input {
  std::size_t n, k, d;
  Doubles points, centroids;
};
inline Input make_input(std::size_t n, std::size_t k, std::size_t d) {
  std::mt19937_64 rng(1);
  Input in{n, k, d, uniform(n * d, rng), {}};
  in.centroids.assign(
      in.points.begin(),
      in.points.begin() + static_cast<std::ptrdiff_t>(k * d));  // each is nearest to some point
  for (double& c : in.centroids) c += 1e-3;
  return in;
}

inline tessera::Tensor cost(const tessera::Tensor& points, const tessera::Tensor& centroids) {
  using namespace tessera;
  const Tensor c = stop_gradient(centroids);
  const Tensor nearest = argmin(sum(square(c), {1}) - 2.0 * matmul(points, transpose(c)), 1);
  return sum(square(points - gather(centroids, nearest)));
}
/// (cost, direction [k, d]).
inline std::pair<tessera::Tensor, tessera::Tensor> direction(const tessera::Tensor& points,
                                                             const tessera::Tensor& centroids) {
  using namespace tessera;
  const auto f = [&](Tensor c) { return cost(points, c); };
  const auto [first, second] =
      jvp([&](Tensor c) { return value_and_grad(f)(c); }, centroids, ones(centroids.shape()));
  return {first.first, first.second / second.second};
}

template <class T>
T plain_cost(const Input& in, const T* centroids) {
  T total(0.0);
  for (std::size_t i = 0; i < in.n; ++i) {
    T nearest(0.0);
    for (std::size_t j = 0; j < in.k; ++j) {
      T distance(0.0);
      for (std::size_t e = 0; e < in.d; ++e) {
        const T r = centroids[j * in.d + e] - in.points[i * in.d + e];
        distance += r * r;
      }
      if (j == 0)
        nearest = distance;
      else if constexpr (std::is_same_v<T, double>)
        nearest = std::min(nearest, distance);
      else
        nearest = fmin(nearest, distance);
    }
    total += nearest;
  }
  return total;
}

}  // namespace gradbench::kmeans
