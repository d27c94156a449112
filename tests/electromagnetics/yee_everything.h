// SPDX-License-Identifier: Apache-2.0
//
// A small Yee model with a bit of everything, and vectors of noise, for the tests of the scheme and
// of its derivatives.
#pragma once
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/yee_scheme.h"
#include "test_constants.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <tuple>
#include <vector>

namespace tessera::electromagnetics {

/// A small grid of uneven cells with a bit of everything: lossy and dispersive parts (pairs, real
/// and double poles), a conductor, magnetic material.
inline YeeModel model_with_everything(std::array<Faces, 3> faces, Dtype dtype = Dtype::f64,
                                      std::array<int, 3> n = {13, 11, 12}) {
  YeeModel m;
  for (int d = 0; d < 3; ++d) {
    m.grid.lines[d] = {0};
    for (int i = 0; i < n[d]; ++i)
      m.grid.lines[d].push_back(m.grid.lines[d].back() + 1e-3 * (1 + 0.3 * std::sin(1.7 * i + d)));
  }
  m.faces = faces;
  m.pml = {.cells = 3, .order = 3, .kappa_max = 4, .alpha_factor = 0.06};
  m.dt_s = 0.9 * stable_time_step(m.grid);
  m.dtype = dtype;
  m.material = [n](int c, int j, int k, MaterialRow& row) {
    for (int i = 0; i < static_cast<int>(row.inverse.size()); ++i) {
      if (is_electric(c) && j > 4 && j < 8) row.inverse[i] = 1 / (2.0 + 0.1 * i + 0.2 * k);
      if (!is_electric(c) && k < 5) row.inverse[i] = 1 / 1.5;
      if (i < 4) row.loss[i] = 0.05;
      if (is_electric(c) && i == 8 && j == 5 && k == 6) row.inverse[i] = 0;
    }
    if (is_electric(c) && j >= 5 && k > 3)
      row.dispersive.push_back(
          {.first = 5,
           .weight = {0.5, 1, 1},
           .alpha = {{0.9, 0.2}, {0.7, 0}, {1, 0}, {1, 0}, {0.8, 0}},
           .beta = {{0.02, -0.01}, {0.03, 0}, {0.01, 0}, {0.01, 1}, {0.008, 0.9}},
           .shear = {0, 0, 0, 0.02, 0.016}});
  };
  // Within the grid; an axis of one cell has one node.
  const auto add = [&](const NodeTensor& node) {
    const int at[3] = {node.i, node.j, node.k};
    for (int d = 0; d < 3; ++d)
      if (at[d] > (n[d] > 1 ? n[d] : 0)) return;
    m.tensors.push_back(node);
  };
  for (int k = n[2] > 1; k < 9; ++k)
    for (int j = n[1] > 1; j < 9; ++j)
      for (int i = n[0] > 1 ? 3 : 0; i < 9; ++i)
        add({i, j, k, 0.03 * std::sin(i + 2 * j), 0.02 * std::cos(k - i),
             0.03 * std::sin(1.5 * j * k)});
  // At lines 0, where the edges before the node are those at the other end of joined axes.
  for (const auto& [i, j, k] :
       {std::array{10, 0, 3}, std::array{9, 4, 0}, std::array{10, 0, 0}, std::array{0, 3, 0}}) {
    const auto is = [&, i = i, j = j, k = k](const NodeTensor& t) {
      return t.i == i && t.j == j && t.k == k;
    };
    if (std::none_of(m.tensors.begin(), m.tensors.end(), is)) add({i, j, k, 0.03, -0.02, 0.025});
  }
  std::mt19937 random(3);
  for (int q = 0; q < 40; ++q) {
    const auto at = [&](int d) {
      return 1 + static_cast<int>(random() % static_cast<unsigned>(std::max(n[d] - 1, 1)));
    };
    const Edge e{static_cast<std::uint8_t>(random() % 6), n[0] > 1 ? at(0) : 0,
                 n[1] > 1 ? at(1) : 0, n[2] > 1 ? at(2) : 0};
    const auto fresh = [&](const std::vector<Edge>& list) {
      return std::find(list.begin(), list.end(), e) == list.end();
    };
    if (q % 2 && fresh(m.injected)) m.injected.push_back(e);
    if (q % 2 == 0 && fresh(m.recorded)) m.recorded.push_back(e);
    if (is_electric(e.component) && q % 3 == 0 && fresh(m.traced)) m.traced.push_back(e);
  }
  for (int i = 5; i < 8; ++i)
    if (n[0] > 8) m.traced.push_back({Ey, i, n[1] > 7 ? 6 : 0, n[2] > 5 ? 5 : 0});
  std::sort(m.traced.begin(), m.traced.end(), [](const Edge& a, const Edge& b) {
    return std::tie(a.component, a.k, a.j, a.i) < std::tie(b.component, b.k, b.j, b.i);
  });
  m.traced.erase(std::unique(m.traced.begin(), m.traced.end()), m.traced.end());
  return m;
}

inline std::vector<double> noise(std::size_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> v(n);
  for (double& x : v) x = normal(random);
  return v;
}
inline Tensor noise_like(const tessera::Shape& shape, unsigned seed) {
  return tensor(noise(static_cast<std::size_t>(shape.count()), seed), shape);
}
inline double inner(const Tensor& a, const Tensor& b) { return sum(a * b).item(); }
inline double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double s = 0;
  for (std::size_t i = 0; i < a.size(); ++i) s += a[i] * b[i];
  return s;
}
inline std::vector<double> unknowns(const YeeScheme& s, unsigned seed) {
  const std::vector<std::uint8_t> mask = s.unknowns();
  std::vector<double> v = noise(mask.size(), seed);
  for (std::size_t i = 0; i < v.size(); ++i) v[i] *= mask[i];
  return v;
}

}  // namespace tessera::electromagnetics
