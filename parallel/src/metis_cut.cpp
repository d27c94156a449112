// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/own_signals.h"
#include "tessera/parallel/pieces.h"

#include <metis.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <numeric>
#include <queue>
#include <string>
#include <utility>

namespace tessera::parallel {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw Error("[cut_graph] " + what); }
std::size_t slot(Index i) { return static_cast<std::size_t>(i); }

/// As METIS takes weights, whose sum it keeps in an idx_t: smaller ones in the same proportions,
/// where the sum were too large.
std::vector<idx_t> narrow_weights(std::span<const std::int32_t> weights) {
  constexpr double most = std::numeric_limits<idx_t>::max() / 2;
  double all = 0;
  for (const std::int32_t w : weights) all += w;
  std::vector<idx_t> out;
  for (const std::int32_t w : weights)
    out.push_back(all > most ? static_cast<idx_t>(w * (most / all)) : static_cast<idx_t>(w));
  return out;
}

/// Not more nodes than pieces: each, the heaviest first, to the piece that is least loaded with it.
std::vector<int> one_by_one(const std::vector<double>& weight, const std::vector<double>& share) {
  std::vector<std::size_t> order(weight.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return weight[a] > weight[b]; });
  std::vector<double> load(share.size(), 0);
  std::vector<int> piece(weight.size());
  for (const std::size_t i : order) {
    std::size_t best = 0;
    for (std::size_t p = 1; p < share.size(); ++p)
      if ((load[p] + weight[i]) / share[p] < (load[best] + weight[i]) / share[best]) best = p;
    piece[i] = static_cast<int>(best);
    load[best] += weight[i];
  }
  return piece;
}

/// Nodes of one piece, each beside one before it where there is one. `seen` is 0 before and after.
std::vector<Index> from_near_to_far(const Graph& g, const std::vector<int>& piece,
                                    const std::vector<Index>& nodes,
                                    std::vector<std::uint8_t>& seen) {
  std::vector<Index> order;
  for (const Index start : nodes) {
    if (std::exchange(seen[slot(start)], 1)) continue;
    order.push_back(start);
    for (std::size_t k = order.size() - 1; k < order.size(); ++k)
      for (Index e = g.first[slot(order[k])]; e < g.first[slot(order[k]) + 1]; ++e)
        if (const Index j = g.next[slot(e)];
            piece[slot(j)] == piece[slot(start)] && !std::exchange(seen[slot(j)], 1))
          order.push_back(j);
  }
  for (const Index i : order) seen[slot(i)] = 0;
  return order;
}

/// Where METIS leaves pieces without a node, as it does with few nodes for each, they get their
/// share of the heaviest one, unless that made them heavier than it was.
void fill_empty(const Graph& g, const std::vector<double>& weight, const std::vector<double>& share,
                std::vector<int>& piece) {
  std::vector<std::vector<Index>> nodes(share.size());
  std::vector<double> load(share.size(), 0);
  for (std::size_t i = 0; i < piece.size(); ++i) {
    nodes[static_cast<std::size_t>(piece[i])].push_back(static_cast<Index>(i));
    load[static_cast<std::size_t>(piece[i])] += weight[i];
  }
  std::priority_queue<std::pair<double, std::size_t>> heaviest;  // of those that can be divided
  const auto may_give = [&](std::size_t p) {
    if (nodes[p].size() > 1) heaviest.emplace(load[p] / share[p], p);
  };
  for (std::size_t p = 0; p < share.size(); ++p) may_give(p);
  std::vector<std::uint8_t> seen(piece.size(), 0);
  for (std::size_t p = 0; p < share.size() && !heaviest.empty(); ++p) {
    if (!nodes[p].empty()) continue;
    const auto [most, from] = heaviest.top();
    const std::vector<Index> order = from_near_to_far(g, piece, nodes[from], seen);
    const double wanted = load[from] * share[p] / (share[p] + share[from]);
    std::size_t kept = order.size();
    double moved = 0;
    do moved += weight[slot(order[--kept])];
    while (kept > 1 && moved + weight[slot(order[kept - 1])] / 2 < wanted);
    if (!(moved / share[p] < most)) continue;
    heaviest.pop();
    const auto end = order.begin() + static_cast<std::ptrdiff_t>(kept);
    nodes[from].assign(order.begin(), end), nodes[p].assign(end, order.end());
    for (const Index i : nodes[p]) piece[slot(i)] = static_cast<int>(p);
    load[from] -= moved, load[p] = moved;
    may_give(from), may_give(p);
  }
}

}  // namespace

std::vector<int> cut_graph(const Graph& g, int pieces, std::span<const std::int32_t> weights,
                           std::span<const double> shares) {
  if (pieces < 1) refuse(std::to_string(pieces) + " pieces: at least one is cut");
  if (!weights.empty() && weights.size() != static_cast<std::size_t>(g.size()))
    refuse(std::to_string(weights.size()) + " weights for " + std::to_string(g.size()) + " nodes");
  if (std::ranges::any_of(weights, [](std::int32_t w) { return w < 0; }))
    refuse("a weight is negative");
  if (!shares.empty() && shares.size() != static_cast<std::size_t>(pieces))
    refuse(std::to_string(shares.size()) + " shares for " + std::to_string(pieces) + " pieces");
  if (std::ranges::any_of(shares, [](double s) { return !(s > 0) || !std::isfinite(s); }))
    refuse("shares must be positive");
  constexpr auto most = static_cast<Index>(std::numeric_limits<idx_t>::max());
  if (g.size() > most || static_cast<Index>(g.next.size()) > most)
    refuse("a graph of " + std::to_string(g.next.size()) +
           " neighbours is larger than METIS takes");
  std::vector<int> piece(slot(g.size()), 0);
  if (pieces == 1 || g.size() == 0) return piece;
  if (std::ranges::all_of(weights, [](std::int32_t w) { return w == 0; })) weights = {};
  std::vector<double> of_nodes(weights.begin(), weights.end()),
      parts_of(shares.begin(), shares.end());
  if (weights.empty()) of_nodes.assign(piece.size(), 1);
  if (shares.empty()) parts_of.assign(static_cast<std::size_t>(pieces), 1);
  if (g.size() <= pieces && shares.empty()) {
    std::iota(piece.begin(), piece.end(), 0);
    return piece;
  }
  if (g.size() <= pieces) return one_by_one(of_nodes, parts_of);

  const auto narrow = [](const auto& from) { return std::vector<idx_t>(from.begin(), from.end()); };
  std::vector<idx_t> first = narrow(g.first), next = narrow(g.next),
                     weight = narrow_weights(weights), out(piece.size());
  std::vector<real_t> share;
  const double all = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (const double s : shares) share.push_back(static_cast<real_t>(s / all));
  if (std::ranges::any_of(share, [](real_t s) { return !(s > 0); }))
    refuse("a share is smaller beside all of them than METIS takes");
  idx_t nodes = static_cast<idx_t>(g.size()), constraints = 1, parts = pieces, cut = 0;
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;
  options[METIS_OPTION_UFACTOR] = 30;  // parts in a thousand
  // Halves of halves and k ways at once: for few pieces either may cut less.
  constexpr int few = 8;
  Index least = std::numeric_limits<Index>::max();
  for (const auto cutter : {METIS_PartGraphKway, METIS_PartGraphRecursive}) {
    if (cutter == METIS_PartGraphRecursive && pieces > few) continue;
    const int code = with_own_signals(METIS_ERROR, [&] {
      return cutter(&nodes, &constraints, first.data(), next.data(),
                    weights.empty() ? nullptr : weight.data(), nullptr, nullptr, &parts,
                    shares.empty() ? nullptr : share.data(), nullptr, options, &cut, out.data());
    });
    if (code == METIS_ERROR_MEMORY) throw std::bad_alloc();
    if (code != METIS_OK) refuse("METIS refuses the graph (code " + std::to_string(code) + ")");
    std::vector<int> found(out.begin(), out.end());
    fill_empty(g, of_nodes, parts_of, found);
    const Index edges = quality_of(g, found, pieces).edges;
    if (edges >= least) continue;
    least = edges;
    piece = std::move(found);
  }
  return piece;
}

}  // namespace tessera::parallel
