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
#include <string>

namespace tessera::parallel {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw Error("[cut_graph] " + what); }

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
  std::vector<int> piece(static_cast<std::size_t>(g.size()), 0);
  if (pieces == 1 || g.size() == 0) return piece;

  const auto narrow = [](const auto& from) { return std::vector<idx_t>(from.begin(), from.end()); };
  std::vector<idx_t> first = narrow(g.first), next = narrow(g.next), weight = narrow(weights),
                     out(piece.size());
  std::vector<real_t> share;
  const double all = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (const double s : shares) share.push_back(static_cast<real_t>(s / all));
  idx_t nodes = static_cast<idx_t>(g.size()), constraints = 1, parts = pieces, cut = 0;
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;
  options[METIS_OPTION_UFACTOR] = 30;  // parts in a thousand
  // Halves of halves and k ways at once: for few pieces either may cut less.
  constexpr int few = 8;
  idx_t least = std::numeric_limits<idx_t>::max();
  for (const auto cutter : {METIS_PartGraphKway, METIS_PartGraphRecursive}) {
    if (cutter == METIS_PartGraphRecursive && pieces > few) continue;
    const int code = with_own_signals(METIS_ERROR, [&] {
      return cutter(&nodes, &constraints, first.data(), next.data(),
                    weights.empty() ? nullptr : weight.data(), nullptr, nullptr, &parts,
                    shares.empty() ? nullptr : share.data(), nullptr, options, &cut, out.data());
    });
    if (code == METIS_ERROR_MEMORY) throw std::bad_alloc();
    if (code != METIS_OK) refuse("METIS refuses the graph (code " + std::to_string(code) + ")");
    if (cut >= least) continue;
    least = cut;
    std::ranges::copy(out, piece.begin());
  }
  return piece;
}

}  // namespace tessera::parallel
