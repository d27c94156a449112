// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/inversion/nuts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tessera::inversion {
namespace {

using Numbers = std::vector<double>;
using Chains = std::vector<Numbers>;  ///< [chains][samples] of one number

double mean_of(const Numbers& v) {
  return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
}
double variance_of(const Numbers& v) {
  const double m = mean_of(v);
  double s = 0;
  for (const double x : v) s += (x - m) * (x - m);
  return s / static_cast<double>(v.size() - 1);
}

/// Each chain as its two halves; the middle sample of an odd number is left out.
Chains halves(const Chains& chains) {
  Chains out;
  for (const Numbers& c : chains) {
    const auto half = static_cast<std::ptrdiff_t>(c.size() / 2);
    out.emplace_back(c.begin(), c.begin() + half);
    out.emplace_back(c.end() - half, c.end());
  }
  return out;
}

/// Normal quantiles of the ranks over all chains, equal values sharing their mean rank (equation
/// 14 there).
Chains normal_ranks(const Chains& chains) {
  const std::size_t n = chains[0].size(), all = n * chains.size();
  const auto value = [&](std::size_t k) { return chains[k / n][k % n]; };
  std::vector<std::size_t> order(all);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return value(a) < value(b); });
  Numbers u(all);
  for (std::size_t first = 0; first < all;) {
    std::size_t last = first;
    while (last + 1 < all && value(order[last + 1]) == value(order[first])) ++last;
    const double rank = 1 + 0.5 * static_cast<double>(first + last);
    for (std::size_t k = first; k <= last; ++k)
      u[order[k]] = 2 * (rank - 0.375) / (static_cast<double>(all) + 0.25) - 1;
    first = last + 1;
  }
  const Numbers z = erfinv(tensor(u)).to_vector();
  Chains out(chains.size(), Numbers(n));
  for (std::size_t k = 0; k < all; ++k) out[k / n][k % n] = std::sqrt(2.0) * z[k];
  return out;
}

/// Variance within chains, and that of all (equations 1 to 3).
struct Spread {
  double within = 0, all = 0;
};
Spread spread_of(const Chains& chains) {
  const auto n = static_cast<double>(chains[0].size());
  Spread s;
  Numbers means;
  for (const Numbers& c : chains) {
    means.push_back(mean_of(c));
    s.within += variance_of(c) / static_cast<double>(chains.size());
  }
  s.all = (n - 1) / n * s.within + variance_of(means);
  return s;
}
double r_hat_of(const Chains& chains) {
  const Spread s = spread_of(chains);
  if (s.within == 0) return s.all == 0 ? 1 : std::numeric_limits<double>::infinity();
  return std::sqrt(s.all / s.within);
}

Chains folded(const Chains& chains) {
  Numbers all;
  for (const Numbers& c : chains) all.insert(all.end(), c.begin(), c.end());
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end());
  double median = *middle;
  if (all.size() % 2 == 0) median = 0.5 * (median + *std::max_element(all.begin(), middle));
  Chains out = chains;
  for (Numbers& c : out)
    for (double& v : c) v = std::abs(v - median);
  return out;
}

/// Samples over 1 + 2 sum of autocorrelations, these summed in pairs while they are above 0 and
/// made to fall (C. Geyer 1992, doi:10.1214/ss/1177011137).
double effective_of(const Chains& chains) {
  const std::size_t n = chains[0].size();
  const double total = static_cast<double>(n * chains.size());
  const Spread s = spread_of(chains);
  if (s.all == 0) return total;
  Numbers means;
  for (const Numbers& c : chains) means.push_back(mean_of(c));
  const auto correlation = [&](std::size_t lag) {
    double sum = 0;
    for (std::size_t c = 0; c < chains.size(); ++c)
      for (std::size_t k = 0; k + lag < n; ++k)
        sum += (chains[c][k] - means[c]) * (chains[c][k + lag] - means[c]);
    sum /= static_cast<double>(n) * static_cast<double>(chains.size());
    // With the biased sum the chains' own variance is (n - 1) / n of `within`.
    const double own = s.within * static_cast<double>(n - 1) / static_cast<double>(n);
    return 1 - (own - sum) / s.all;
  };
  double tau = -1, former = std::numeric_limits<double>::infinity();
  for (std::size_t lag = 0; lag + 1 < n; lag += 2) {
    const double pair = std::min(correlation(lag) + correlation(lag + 1), former);
    if (!(pair > 0)) break;
    tau += 2 * pair;
    former = pair;
  }
  return total / std::max(tau, 1 / std::log10(total));
}

}  // namespace

Mixing mixing_of(const std::vector<Numbers>& chains, std::size_t size) {
  if (chains.empty() || size == 0) throw Error("[mixing_of] needs chains of numbers");
  const std::size_t samples = chains[0].size() / size;
  for (const Numbers& c : chains)
    if (c.size() != samples * size || samples < 4)
      throw Error("[mixing_of] needs chains [samples][size] of one length, 4 samples at least");
  Mixing out;
  for (std::size_t j = 0; j < size; ++j) {
    Chains of(chains.size(), Numbers(samples));
    for (std::size_t c = 0; c < chains.size(); ++c)
      for (std::size_t k = 0; k < samples; ++k) of[c][k] = chains[c][k * size + j];
    const Chains half = halves(of), ranks = normal_ranks(half);
    out.r_hat.push_back(std::max(r_hat_of(ranks), r_hat_of(normal_ranks(folded(half)))));
    out.effective.push_back(effective_of(ranks));
  }
  return out;
}

}  // namespace tessera::inversion
