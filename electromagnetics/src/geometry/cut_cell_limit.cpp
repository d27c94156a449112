// SPDX-License-Identifier: Apache-2.0
//
// The largest eigenvalue of one cell. With k_e = l_e / (fraction of A*_e) of its edges, w_f =
// (fraction of ds*_f) / (whole area) of its faces, a_f their open fractions and C the signs of the
// face's edges, it is at most L where
//   L diag(a_f / w_f) - G is not negative,    G = C diag(k_e) C^T,
// a condition that gets weaker as any a_f grows. The smallest areas that a cell asks for are taken
// in proportion to G_ff, which is what a face would need alone: a_f >= tau G_ff w_f / L, tau >= 1.
// On a grid of even cells it gives 4 (1/dx^2 + 1/dy^2 + 1/dz^2) without metal.
//
// Cells without cut faces need no more than curl_curl_bound: of their parts of A* they leave 1 -
// bound/L to the cells that are cut.
#include "geometry/cut_cell_limit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace tessera::electromagnetics::detail {
namespace {

using Least = std::array<double, 6>;  // fractions of a cell's faces: across x low, high, y low, ...

/// The part of the dual face of an edge along `axis` that lies in one of its cells.
double quarter(const YeeGrid& grid, int axis, const Cell& cell) {
  double area = 1;
  for (int d = 0; d < 3; ++d)
    if (d != axis)
      area *= grid.length(d, cell[static_cast<std::size_t>(d)]) / (grid.resolved(d) ? 2 : 1);
  return area;
}

struct Matrix6 {
  double a[6][6] = {};
  int n = 0;
  bool positive() const {  // by Cholesky's factors
    double l[6][6];
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j) {
        double s = a[i][j];
        for (int k = 0; k < j; ++k) s -= l[i][k] * l[j][k];
        if (i == j && !(s > 0)) return false;
        l[i][j] = i == j ? std::sqrt(s) : s / l[j][j];
      }
    return true;
  }
  Matrix6 of(const std::vector<int>& rows) const {
    Matrix6 out;
    out.n = static_cast<int>(rows.size());
    for (int i = 0; i < out.n; ++i)
      for (int j = 0; j < out.n; ++j)
        out.a[i][j] = a[rows[static_cast<std::size_t>(i)]][rows[static_cast<std::size_t>(j)]];
    return out;
  }
};

/// Rows that couple to each other, in two dimensions those of either polarization: what one of them
/// needs is not taken of the others.
std::vector<std::vector<int>> parts_of(const Matrix6& g) {
  std::vector<std::vector<int>> out;
  std::array<bool, 6> known{};
  for (int first = 0; first < g.n; ++first) {
    if (known[static_cast<std::size_t>(first)]) continue;
    std::vector<int> part{first};
    known[static_cast<std::size_t>(first)] = true;
    for (std::size_t at = 0; at < part.size(); ++at)
      for (int j = 0; j < g.n; ++j)
        if (!known[static_cast<std::size_t>(j)] && g.a[part[at]][j] != 0) {
          known[static_cast<std::size_t>(j)] = true;
          part.push_back(j);
        }
    out.push_back(std::move(part));
  }
  return out;
}

/// The smallest fractions of the cell's faces with which it keeps the limit; zero where it does.
Least smallest_fractions(const CutCellFractions& open, const YeeGrid& grid,
                         const Periodic& periodic, const std::map<Cell, Least>& cut,
                         const Cell& cell, double largest) {
  const double spare = 1 - curl_curl_bound(grid) / largest;
  Matrix6 g;
  std::array<double, 6> whole{}, area{};  // 1/w and a of the faces
  std::array<std::size_t, 6> number{};    // of them in Least
  // Edges by their places about this cell: along a joined axis of one cell the low and the high one
  // are the same but for a phase, whose curl is the largest where it is -1.
  std::vector<Edge> edges;
  std::vector<std::array<double, 6>> sign;
  for (int d = 0; d < 3; ++d)
    for (int side = 0; side < (grid.resolved(d) ? 2 : 1); ++side) {
      Cell at = cell;
      at[static_cast<std::size_t>(d)] += side;
      const Edge face = edge_at(3 + d, at, grid, periodic);
      if (open.fraction(face) == 0) continue;
      const int f = g.n++, b = (d + 1) % 3, c = (d + 2) % 3;
      const auto length = [&](int axis) {
        return grid.length(axis, cell[static_cast<std::size_t>(axis)]);
      };
      whole[static_cast<std::size_t>(f)] =
          length(b) * length(c) / (length(d) / (grid.resolved(d) ? 2 : 1));
      area[static_cast<std::size_t>(f)] = open.share(face);
      number[static_cast<std::size_t>(f)] = static_cast<std::size_t>(2 * d + side);
      for (const auto& [along, across, first] : {std::array{b, c, 1}, std::array{c, b, -1}}) {
        if (!grid.resolved(across)) continue;
        for (int far = 0; far < 2; ++far) {
          Cell e = at;
          e[static_cast<std::size_t>(across)] += far;
          const Edge edge{static_cast<std::uint8_t>(along), e[0], e[1], e[2]};
          const auto known = std::find(edges.begin(), edges.end(), edge);
          const auto m = static_cast<std::size_t>(known - edges.begin());
          if (known == edges.end()) {
            edges.push_back(edge);
            sign.push_back({});
          }
          sign[m][static_cast<std::size_t>(f)] += far ? -first : first;
        }
      }
    }
  for (std::size_t m = 0; m < edges.size(); ++m) {
    const Edge e = edge_at(edges[m].component, index_of(edges[m]), grid, periodic);
    const int axis = axis_of(e.component);
    double given = 0;
    int takers = 0;
    for (const Cell& c : cells_of(grid, periodic, e))
      if (cut.contains(c))
        ++takers;
      else
        given += spare * quarter(grid, axis, c);
    const double k = (open.fraction(e) > 0 ? open.share(e) : 0) *
                     grid.length(axis, cell[static_cast<std::size_t>(axis)]) /
                     (quarter(grid, axis, cell) + given / takers);
    for (int i = 0; i < g.n; ++i)
      for (int j = 0; j < g.n; ++j)
        g.a[i][j] -=
            k * sign[m][static_cast<std::size_t>(i)] * sign[m][static_cast<std::size_t>(j)];
  }
  Least out{};
  for (const std::vector<int>& part : parts_of(g)) {
    const Matrix6 own = g.of(part);
    const auto least = [&](int f, double tau) {
      return -tau * own.a[f][f] /
             (largest * whole[static_cast<std::size_t>(part[static_cast<std::size_t>(f)])]);
    };
    const auto keeps = [&](double tau) {
      Matrix6 left = own;
      for (int f = 0; f < own.n; ++f) {
        const auto face = static_cast<std::size_t>(part[static_cast<std::size_t>(f)]);
        left.a[f][f] += largest * (1 + 1e-9) * whole[face] * std::max(area[face], least(f, tau));
      }
      return left.positive();
    };
    if (keeps(0)) continue;
    double low = 1, high = 6;  // enough where no face is whole: G has 6 rows
    while (!keeps(high) && high < 1e12) high *= 2;
    while (high - low > 1e-13 * low) {
      const double middle = (low + high) / 2;
      (keeps(middle) ? high : low) = middle;
    }
    for (int f = 0; f < own.n; ++f)
      out[number[static_cast<std::size_t>(part[static_cast<std::size_t>(f)])]] = least(f, high);
  }
  return out;
}

}  // namespace

Edge edge_at(int component, std::array<int, 3> at, const YeeGrid& grid, const Periodic& periodic) {
  for (int d = 0; d < 3; ++d)
    if (!grid.resolved(d))
      at[static_cast<std::size_t>(d)] = 0;
    else if (periodic[static_cast<std::size_t>(d)] && !at_middle(component, d))
      at[static_cast<std::size_t>(d)] %= grid.cells(d);
  return {static_cast<std::uint8_t>(component), at[0], at[1], at[2]};
}

std::vector<Cell> cells_of(const YeeGrid& grid, const Periodic& periodic, const Edge& edge) {
  std::vector<Cell> out{{0, 0, 0}};
  const auto at = index_of(edge);
  for (int d = 0; d < 3; ++d) {
    const auto a = static_cast<std::size_t>(d);
    std::vector<int> along;
    if (!grid.resolved(d))
      along = {0};
    else if (at_middle(edge.component, d))
      along = {at[a]};
    else {
      if (at[a] > 0)
        along.push_back(at[a] - 1);
      else if (periodic[a])
        along.push_back(grid.cells(d) - 1);
      if (at[a] < grid.cells(d)) along.push_back(at[a]);
    }
    std::vector<Cell> next;
    for (const Cell& c : out)
      for (const int i : along) {
        next.push_back(c);
        next.back()[a] = i;
      }
    out = std::move(next);
  }
  return out;
}

std::vector<Edge> edges_of(const YeeGrid& grid, const Periodic& periodic, const Edge& face) {
  std::vector<Edge> out;
  const int d = axis_of(face.component), b = (d + 1) % 3, c = (d + 2) % 3;
  for (const auto& [along, across] : {std::array{b, c}, std::array{c, b}}) {
    if (!grid.resolved(across)) continue;
    for (int far = 0; far < 2; ++far) {
      auto at = index_of(face);
      at[static_cast<std::size_t>(across)] += far;
      out.push_back(edge_at(along, at, grid, periodic));
    }
  }
  return out;
}

void limit_areas(CutCellFractions& open, const YeeGrid& grid, const Periodic& periodic,
                 double largest) {
  std::map<Cell, Least> cut;
  for (const CutCellFraction& p : open.fractions)
    if (!is_electric(p.edge.component) && p.fraction > 0)
      for (const Cell& c : cells_of(grid, periodic, p.edge)) cut[c] = {};
  for (auto& [cell, least] : cut)
    least = smallest_fractions(open, grid, periodic, cut, cell, largest);
  for (CutCellFraction& p : open.fractions) {
    if (is_electric(p.edge.component) || p.fraction == 0) continue;
    if (p.fraction < 1) ++open.cut_faces;
    if (p.fraction > rounded) open.least_area = std::min(open.least_area, p.fraction);
    double least = 0;
    const int d = axis_of(p.edge.component), at = index_of(p.edge)[static_cast<std::size_t>(d)];
    for (const Cell& c : cells_of(grid, periodic, p.edge))
      least = std::max(
          least,
          cut.at(
              c)[static_cast<std::size_t>(2 * d + (c[static_cast<std::size_t>(d)] == at ? 0 : 1))]);
    if (least > p.share) {
      p.share = least;
      ++open.enlarged;
    }
    open.least_kept = std::min(open.least_kept, p.share);
  }
}

}  // namespace tessera::electromagnetics::detail
