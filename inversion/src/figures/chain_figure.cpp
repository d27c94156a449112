// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/chain_figure.h"

#include "support.h"
#include "tessera/autodiff/error.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tessera::inversion {

using namespace data;

namespace {

/// Of each chain how many of its draws lie in each of `parts` of all draws by rank, over how many
/// would if chains agreed.
std::vector<std::vector<double>> shares_by_rank(const std::vector<std::vector<double>>& chains,
                                                std::size_t parts) {
  const std::size_t n = chains[0].size(), all = n * chains.size();
  std::vector<std::size_t> order(all);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return chains[a / n][a % n] < chains[b / n][b % n];
  });
  std::vector<std::vector<double>> out(chains.size(), std::vector<double>(parts, 0.0));
  std::vector<double> size(parts, 0.0);
  for (std::size_t rank = 0; rank < all; ++rank)
    out[order[rank] / n][rank * parts / all] += 1, size[rank * parts / all] += 1;
  for (auto& chain : out)
    for (std::size_t k = 0; k < parts; ++k)
      chain[k] *= static_cast<double>(chains.size()) / size[k];
  return out;
}

}  // namespace

Figure chain_figure(const std::string& title, const std::vector<ChainTrace>& of) {
  Figure f{.width = 510, .height = 40 + 115 * static_cast<double>(of.size()), .title = title};
  f.column_weight = {3, 2};
  for (std::size_t row = 0; row < of.size(); ++row) {
    const ChainTrace& t = of[row];
    const std::size_t n = t.chains.empty() ? 0 : t.chains[0].size();
    if (n == 0 ||
        std::any_of(t.chains.begin(), t.chains.end(), [&](const auto& c) { return c.size() != n; }))
      throw Error("[chain_figure] " + t.name + " has no draws, or chains of unequal lengths");
    Panel path{
        .title = std::isnan(t.r_hat) ? t.name : t.name + ", R-hat " + figures::digits(t.r_hat, 4),
        .row = row,
        .x = {.label = "Draw", .tight = true, .group = "draws"},
        .y = {.label = t.name},
        .legend = Legend::none};
    Panel ranks{.row = row,
                .column = 1,
                .x = {.label = "Rank over all draws", .tight = true, .group = "ranks"},
                .y = {.label = "Share", .min = 0},
                .legend = Legend::none};
    const std::size_t parts = std::clamp<std::size_t>(n * t.chains.size() / 10, 1, 20);
    const auto shares = shares_by_rank(t.chains, parts);
    std::vector<double> draw(n), edge(parts + 1);
    std::iota(draw.begin(), draw.end(), 1.0);
    for (std::size_t k = 0; k <= parts; ++k)
      edge[k] = static_cast<double>(k) / static_cast<double>(parts);
    for (std::size_t c = 0; c < t.chains.size(); ++c) {
      const std::string name = "chain " + std::to_string(c);
      const Stroke stroke{.colour = line_colour(c), .width = 0.6};
      path.series.push_back(Line{.label = name, .x = draw, .y = t.chains[c], .stroke = stroke});
      ranks.series.push_back(Steps{
          .label = name, .edge = edge, .value = shares[c], .stroke = {.colour = line_colour(c)}});
    }
    ranks.series.push_back(Rule{.label = "chains that agree", .at = 1});
    f.panels.push_back(std::move(path));
    f.panels.push_back(std::move(ranks));
  }
  return f;
}

}  // namespace tessera::inversion
