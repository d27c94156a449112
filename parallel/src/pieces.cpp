// SPDX-License-Identifier: Apache-2.0
#include "tessera/parallel/pieces.h"

#include "tessera/autodiff/error.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

namespace tessera::parallel {
namespace {

[[noreturn]] void fault(const std::string& what) { throw Error("[pieces] " + what); }
std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// A graph of edges given one way or both, with repeats.
Graph graph_of(Index n, std::vector<std::array<Index, 2>> edges) {
  const std::size_t given = edges.size();
  for (std::size_t k = 0; k < given; ++k) edges.push_back({edges[k][1], edges[k][0]});
  std::ranges::sort(edges);
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  Graph g;
  g.first.assign(at(n) + 1, 0);
  for (const auto& [i, j] : edges) {
    if (i == j) continue;
    ++g.first[at(i) + 1];
    g.next.push_back(j);
  }
  std::partial_sum(g.first.begin(), g.first.end(), g.first.begin());
  return g;
}

void check_pieces(int pieces, std::span<const double> shares) {
  if (pieces < 1) fault(std::to_string(pieces) + " pieces: at least one is cut");
  if (!shares.empty() && shares.size() != static_cast<std::size_t>(pieces))
    fault(std::to_string(shares.size()) + " shares for " + std::to_string(pieces) + " pieces");
  for (const double s : shares)
    if (!(s > 0) || !std::isfinite(s)) fault("a share must be positive, got " + std::to_string(s));
}

constexpr int bits = 21;  // of each coordinate along the curve

/// The place along Hilbert's curve of a cell of 2^21 a side: Skilling's transform of axes, then
/// their bits in turn.
std::uint64_t along_curve(std::array<std::uint32_t, 3> x) {
  for (std::uint32_t q = 1U << (bits - 1); q > 1; q >>= 1) {
    const std::uint32_t p = q - 1;
    for (std::size_t i = 0; i < 3; ++i) {
      if (x[i] & q) {
        x[0] ^= p;
      } else {
        const std::uint32_t t = (x[0] ^ x[i]) & p;
        x[0] ^= t;
        x[i] ^= t;
      }
    }
  }
  x[1] ^= x[0];
  x[2] ^= x[1];
  std::uint32_t t = 0;
  for (std::uint32_t q = 1U << (bits - 1); q > 1; q >>= 1)
    if (x[2] & q) t ^= q - 1;
  for (std::uint32_t& v : x) v ^= t;
  std::uint64_t place = 0;
  for (int b = bits - 1; b >= 0; --b)
    for (const std::uint32_t v : x) place = place << 1 | (v >> b & 1U);
  return place;
}

}  // namespace

Graph dual_graph(std::span<const std::int32_t> nodes, int of_each, int shared) {
  if (of_each < 1) fault("elements of " + std::to_string(of_each) + " nodes");
  const auto width = static_cast<std::size_t>(of_each);
  if (nodes.size() % width != 0)
    fault(std::to_string(nodes.size()) + " nodes are no whole number of elements of " +
          std::to_string(of_each));
  const int needed = shared > 0 ? shared : std::max(1, of_each - 1);
  const auto n = static_cast<Index>(nodes.size() / width);
  std::int32_t most = -1;
  for (Index e = 0; e < n; ++e) {
    const auto of = nodes.subspan(at(e) * width, width);
    for (std::size_t k = 0; k < width; ++k) {
      if (of[k] < 0) fault("element " + std::to_string(e) + " has node " + std::to_string(of[k]));
      if (std::ranges::count(of.subspan(0, k), of[k]) > 0)
        fault("element " + std::to_string(e) + " has node " + std::to_string(of[k]) + " twice");
      most = std::max(most, of[k]);
    }
  }
  // Elements of each node; neighbours are met once for each node that they share.
  std::vector<Index> first(static_cast<std::size_t>(most) + 2, 0), of_node(nodes.size());
  for (const std::int32_t v : nodes) ++first[static_cast<std::size_t>(v) + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<Index> place(first.begin(), first.end() - 1);
  for (std::size_t k = 0; k < nodes.size(); ++k)
    of_node[at(place[static_cast<std::size_t>(nodes[k])]++)] = static_cast<Index>(k / width);
  Graph g;
  g.first.reserve(at(n) + 1);
  std::vector<int> met(at(n), 0);
  std::vector<Index> seen;
  for (Index e = 0; e < n; ++e) {
    seen.clear();
    for (std::size_t k = at(e) * width; k < (at(e) + 1) * width; ++k) {
      const auto v = static_cast<std::size_t>(nodes[k]);
      for (Index i = first[v]; i < first[v + 1]; ++i) {
        const Index other = of_node[at(i)];
        if (other != e && met[at(other)]++ == 0) seen.push_back(other);
      }
    }
    std::ranges::sort(seen);
    for (const Index other : seen) {
      if (met[at(other)] >= needed) g.next.push_back(other);
      met[at(other)] = 0;
    }
    g.first.push_back(static_cast<Index>(g.next.size()));
  }
  return g;
}

Graph graph_of_matrix(std::span<const Index> rows, std::span<const Index> columns) {
  if (rows.empty() || rows[0] != 0 || rows.back() != static_cast<Index>(columns.size()) ||
      !std::ranges::is_sorted(rows))
    fault("row offsets have to go from 0 to the number of columns, " +
          std::to_string(columns.size()));
  const auto n = static_cast<Index>(rows.size()) - 1;
  std::vector<std::array<Index, 2>> edges;
  edges.reserve(columns.size());
  for (Index i = 0; i < n; ++i)
    for (Index k = rows[at(i)]; k < rows[at(i) + 1]; ++k) {
      const Index j = columns[at(k)];
      if (j < 0 || j >= n)
        fault("row " + std::to_string(i) + " has column " + std::to_string(j) + " of " +
              std::to_string(n));
      edges.push_back({i, j});
    }
  return graph_of(n, std::move(edges));
}

std::vector<int> cut_curve(std::span<const std::array<double, 3>> points, int pieces,
                           std::span<const double> weights, std::span<const double> shares) {
  check_pieces(pieces, shares);
  if (!weights.empty() && weights.size() != points.size())
    fault(std::to_string(weights.size()) + " weights for " + std::to_string(points.size()) +
          " points");
  std::array<double, 3> low{}, high{};
  for (std::size_t i = 0; i < points.size(); ++i)
    for (std::size_t a = 0; a < 3; ++a) {
      const double v = points[i][a];
      if (!std::isfinite(v)) fault("a coordinate of point " + std::to_string(i) + " is no number");
      low[a] = i == 0 ? v : std::min(low[a], v);
      high[a] = i == 0 ? v : std::max(high[a], v);
    }
  const double edge = std::max({high[0] - low[0], high[1] - low[1], high[2] - low[2]});
  const double cells = edge > 0 ? (static_cast<double>(1U << bits) - 1) / edge : 0;
  std::vector<std::array<std::uint64_t, 2>> order;  // place along the curve, then number
  order.reserve(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    std::array<std::uint32_t, 3> cell;
    for (std::size_t a = 0; a < 3; ++a)
      cell[a] = static_cast<std::uint32_t>((points[i][a] - low[a]) * cells);
    order.push_back({along_curve(cell), i});
  }
  std::ranges::sort(order);
  const bool alike = std::ranges::all_of(weights, [](double w) { return w == 0; });
  const auto weight = [&](std::size_t i) { return alike ? 1.0 : weights[i]; };
  double all = 0, of_shares = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!(weight(i) >= 0 && std::isfinite(weight(i))))
      fault("the weight of point " + std::to_string(i) + " is negative or not finite");
    all += weight(i);
  }
  for (int p = 0; p < pieces; ++p)
    of_shares += shares.empty() ? 1 : shares[static_cast<std::size_t>(p)];
  std::vector<int> piece(points.size());
  int now = 0;
  double sum = 0, end = all * (shares.empty() ? 1 : shares[0]) / of_shares;
  for (const auto& [place, i] : order) {
    // To the piece in whose share the middle of its weight falls.
    while (now + 1 < pieces && sum + 0.5 * weight(i) > end) {
      ++now;
      end += all * (shares.empty() ? 1 : shares[static_cast<std::size_t>(now)]) / of_shares;
    }
    piece[i] = now;
    sum += weight(i);
  }
  return piece;
}

CutQuality quality_of(const Graph& g, std::span<const int> piece, int pieces,
                      std::span<const std::int32_t> weights) {
  if (piece.size() != at(g.size()))
    fault(std::to_string(piece.size()) + " pieces of " + std::to_string(g.size()) + " nodes");
  CutQuality q;
  std::vector<double> of(static_cast<std::size_t>(pieces), 0);
  double all = 0;
  for (Index i = 0; i < g.size(); ++i) {
    const double w = weights.empty() ? 1 : weights[at(i)];
    of.at(static_cast<std::size_t>(piece[at(i)])) += w;
    all += w;
    for (Index k = g.first[at(i)]; k < g.first[at(i) + 1]; ++k)
      q.edges += g.next[at(k)] > i && piece[at(g.next[at(k)])] != piece[at(i)];
  }
  if (all > 0) q.imbalance = *std::ranges::max_element(of) * pieces / all;
  return q;
}

std::vector<Index> members(std::span<const int> piece, int of) {
  std::vector<Index> out;
  for (std::size_t i = 0; i < piece.size(); ++i)
    if (piece[i] == of) out.push_back(static_cast<Index>(i));
  return out;
}

std::vector<Index> rings(const Graph& g, std::span<const int> piece, int of, int k) {
  if (piece.size() != at(g.size()))
    fault(std::to_string(piece.size()) + " pieces of " + std::to_string(g.size()) + " nodes");
  std::vector<Index> front = members(piece, of), out;
  std::vector<std::uint8_t> seen(piece.size(), 0);
  for (const Index i : front) seen[at(i)] = 1;
  for (int ring = 0; ring < k; ++ring) {
    std::vector<Index> next;
    for (const Index i : front)
      for (Index e = g.first[at(i)]; e < g.first[at(i) + 1]; ++e)
        if (const Index j = g.next[at(e)]; !std::exchange(seen[at(j)], 1)) next.push_back(j);
    out.insert(out.end(), next.begin(), next.end());
    front = std::move(next);
  }
  std::ranges::sort(out);
  return out;
}

}  // namespace tessera::parallel
