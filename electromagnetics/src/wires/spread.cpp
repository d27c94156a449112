// SPDX-License-Identifier: Apache-2.0
#include "wires/spread.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace tessera::electromagnetics::wires {
namespace {

double linear(double x) { return std::max(0.0, 1 - std::abs(x)); }
double quadratic(double x) {
  x = std::abs(x);
  return x < 0.5 ? 0.75 - x * x : x < 1.5 ? 0.5 * (1.5 - x) * (1.5 - x) : 0;
}

/// Where a segment passes knots, in shares of it: all are at halves.
std::vector<double> passages(const std::array<double, 3>& from, const std::array<double, 3>& to) {
  std::vector<double> out{0, 1};
  for (std::size_t d = 0; d < 3; ++d) {
    const double low = std::min(from[d], to[d]), high = std::max(from[d], to[d]);
    if (high - low < 1e-12) continue;
    for (double knot = std::ceil(low - 0.5) + 0.5; knot < high; knot += 1)
      if (knot > low) out.push_back((knot - from[d]) / (to[d] - from[d]));
  }
  std::sort(out.begin(), out.end());
  return out;
}

/// Gauss's points of a stretch: exact for polynomials of degree 5, which w has between knots.
constexpr double gauss_at[] = {-0.7745966692414834, 0, 0.7745966692414834};
constexpr double gauss_weight[] = {5.0 / 18, 8.0 / 18, 5.0 / 18};

}  // namespace

std::vector<EdgeShare> current_shares(const std::array<double, 3>& from,
                                      const std::array<double, 3>& to) {
  std::map<std::array<int, 4>, double> shares;
  const std::vector<double> knots = passages(from, to);
  for (std::size_t m = 0; m + 1 < knots.size(); ++m)
    for (int g = 0; g < 3; ++g) {
      const double length = knots[m + 1] - knots[m],
                   s = (knots[m] + knots[m + 1] + length * gauss_at[g]) / 2;
      std::array<double, 3> x{};
      std::array<int, 3> cell{};
      for (std::size_t d = 0; d < 3; ++d)
        x[d] = from[d] + s * (to[d] - from[d]), cell[d] = static_cast<int>(std::floor(x[d]));
      for (std::size_t d = 0; d < 3; ++d) {
        const double dx = (to[d] - from[d]) * length * gauss_weight[g];
        if (dx == 0) continue;
        const std::size_t e = (d + 1) % 3, f = (d + 2) % 3;
        for (int i = -1; i <= 1; ++i)
          for (int j = -1; j <= 2; ++j)
            for (int k = -1; k <= 2; ++k) {
              const double w = dx * linear(x[d] - (cell[d] + i) - 0.5) *
                               quadratic(x[e] - (cell[e] + j)) * quadratic(x[f] - (cell[f] + k));
              if (w == 0) continue;
              std::array<int, 4> at{static_cast<int>(d)};
              at[1 + d] = cell[d] + i, at[1 + e] = cell[e] + j, at[1 + f] = cell[f] + k;
              shares[at] += w;
            }
      }
    }
  std::vector<EdgeShare> out;
  for (const auto& [at, w] : shares)
    if (std::abs(w) > 1e-15) out.push_back({at, w});
  return out;
}

std::vector<NodeShare> charge_shares(const std::array<double, 3>& at) {
  std::vector<NodeShare> out;
  std::array<int, 3> cell{};
  for (std::size_t d = 0; d < 3; ++d) cell[d] = static_cast<int>(std::floor(at[d]));
  for (int k = -1; k <= 2; ++k)
    for (int j = -1; j <= 2; ++j)
      for (int i = -1; i <= 2; ++i) {
        const std::array<int, 3> node{cell[0] + i, cell[1] + j, cell[2] + k};
        const double w =
            quadratic(at[0] - node[0]) * quadratic(at[1] - node[1]) * quadratic(at[2] - node[2]);
        if (w != 0) out.push_back({node, w});
      }
  return out;
}

}  // namespace tessera::electromagnetics::wires
