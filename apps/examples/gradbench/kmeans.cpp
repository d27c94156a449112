// SPDX-License-Identifier: Apache-2.0
#include "kmeans.h"

#include "tessera/autodiff/jit.h"

using namespace tessera;
using namespace gradbench::kmeans;

namespace {

/// The direction by hand: of the n_j points nearest to c_j, f' = 2 (n_j c_j - sum p) and f'' = 2
/// n_j.
std::vector<double> by_hand(const Input& in) {
  std::vector<double> first(in.k * in.d, 0.0), second(in.k * in.d, 0.0);
  for (std::size_t i = 0; i < in.n; ++i) {
    std::size_t nearest = 0;
    double least = INFINITY;
    for (std::size_t j = 0; j < in.k; ++j) {
      double distance = 0;
      for (std::size_t e = 0; e < in.d; ++e)
        distance += std::pow(in.points[i * in.d + e] - in.centroids[j * in.d + e], 2);
      if (distance < least) least = distance, nearest = j;
    }
    for (std::size_t e = 0; e < in.d; ++e) {
      first[nearest * in.d + e] += 2 * (in.centroids[nearest * in.d + e] - in.points[i * in.d + e]);
      second[nearest * in.d + e] += 2;
    }
  }
  for (std::size_t e = 0; e < first.size(); ++e) first[e] /= second[e];
  return first;
}

}  // namespace

int main() {
  bool ok = true;
  for (const auto& [n, k, d] : {std::array<std::size_t, 3>{100, 5, 2}, {2000, 40, 6}}) {
    const Input in = make_input(n, k, d);
    const Tensor points = tensor(in.points, {static_cast<Index>(n), static_cast<Index>(d)});
    const auto newton = jit([&](Tensor c) { return direction(points, c); });
    const auto [y, step] =
        newton(tensor(in.centroids, {static_cast<Index>(k), static_cast<Index>(d)}));
    ok &= gradbench::close("cost", {y.item()}, {plain_cost(in, in.centroids.data())}) &
          gradbench::close("dir", flatten(step).to_vector(), by_hand(in));
  }
  return ok ? 0 : 1;
}
