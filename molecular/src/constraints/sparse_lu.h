// SPDX-License-Identifier: Apache-2.0
//
// LU without pivoting of small sparse matrices of one symmetric pattern: the pattern is analysed
// once (unknowns with few neighbours first, which leaves trees without fill), then filled, factored
// and solved many times.
#pragma once
#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace tessera::molecular {

class SparseLu {
 public:
  SparseLu() = default;
  /// `pairs`: entries (k, l), k != l, that may be non-zero, in both directions.
  SparseLu(std::size_t n, const std::vector<std::pair<std::int32_t, std::int32_t>>& pairs)
      : n_(n), order_(n), position_(n) {
    std::vector<std::set<std::int32_t>> near(n);
    for (const auto& [k, l] : pairs) {
      near[static_cast<std::size_t>(k)].insert(l);
      near[static_cast<std::size_t>(l)].insert(k);
    }
    std::set<std::pair<std::size_t, std::int32_t>> queue;
    for (std::size_t k = 0; k < n; ++k)
      queue.insert({near[k].size(), static_cast<std::int32_t>(k)});
    std::vector<std::vector<std::int32_t>> later(
        n);  // of each unknown: those eliminated after it that it touches
    for (std::size_t step = 0; step < n; ++step) {
      const std::int32_t k = queue.begin()->second;
      queue.erase(queue.begin());
      order_[step] = k;
      position_[static_cast<std::size_t>(k)] = static_cast<std::int32_t>(step);
      auto& mine = near[static_cast<std::size_t>(k)];
      later[step].assign(mine.begin(), mine.end());
      for (const std::int32_t a : mine) {
        auto& other = near[static_cast<std::size_t>(a)];
        queue.erase({other.size(), a});
        other.erase(k);
        for (const std::int32_t b : mine)
          if (b != a) other.insert(b);
        queue.insert({other.size(), a});
      }
    }
    // Rows in the order of elimination: columns right of the diagonal, and the same entries
    // mirrored.
    first_.assign(n + 1, 0);
    for (std::size_t s = 0; s < n; ++s) {
      for (std::int32_t& l : later[s]) l = position_[static_cast<std::size_t>(l)];
      std::ranges::sort(later[s]);
      first_[s + 1] = first_[s] + static_cast<std::int32_t>(later[s].size());
      column_.insert(column_.end(), later[s].begin(), later[s].end());
    }
  }
  std::size_t size() const { return n_; }
  /// Numbers that a matrix takes: n on the diagonal, then upper and lower entries.
  std::size_t storage() const { return n_ + 2 * column_.size(); }
  /// Where the entry (k, l) is stored; both must be of the pattern.
  std::size_t at(std::int32_t k, std::int32_t l) const {
    if (k == l) return static_cast<std::size_t>(position_[static_cast<std::size_t>(k)]);
    const std::int32_t a = position_[static_cast<std::size_t>(k)],
                       b = position_[static_cast<std::size_t>(l)];
    return n_ + (a < b ? find(a, b) : column_.size() + find(b, a));
  }
  /// Replaces the matrix by its factors.
  void factor(double* m) const {
    double *diagonal = m, *upper = m + n_, *lower = upper + column_.size();
    for (std::size_t s = 0; s < n_; ++s) {
      const double inverse = 1 / diagonal[s];
      for (std::int32_t e = first_[s]; e < first_[s + 1]; ++e) lower[e] *= inverse;
      for (std::int32_t e = first_[s]; e < first_[s + 1]; ++e) {
        const std::int32_t i = column_[static_cast<std::size_t>(e)];
        for (std::int32_t f = first_[s]; f < first_[s + 1]; ++f) {
          const std::int32_t j = column_[static_cast<std::size_t>(f)];
          const double change = lower[e] * upper[f];
          if (i == j)
            diagonal[i] -= change;
          else if (i < j)
            upper[find(i, j)] -= change;
          else
            lower[find(j, i)] -= change;
        }
      }
    }
  }
  /// b <- A^-1 b, in the unknowns' own order; `scratch` holds n numbers.
  void solve(const double* m, double* b, double* scratch) const {
    const double *diagonal = m, *upper = m + n_, *lower = upper + column_.size();
    for (std::size_t s = 0; s < n_; ++s) scratch[s] = b[order_[s]];
    for (std::size_t s = 0; s < n_; ++s)
      for (std::int32_t e = first_[s]; e < first_[s + 1]; ++e)
        scratch[column_[static_cast<std::size_t>(e)]] -= lower[e] * scratch[s];
    for (std::size_t s = n_; s-- > 0;) {
      for (std::int32_t e = first_[s]; e < first_[s + 1]; ++e)
        scratch[s] -= upper[e] * scratch[column_[static_cast<std::size_t>(e)]];
      scratch[s] /= diagonal[s];
    }
    for (std::size_t s = 0; s < n_; ++s) b[order_[s]] = scratch[s];
  }

 private:
  std::size_t find(std::int32_t row, std::int32_t column) const {
    const auto begin = column_.begin() + first_[static_cast<std::size_t>(row)],
               end = column_.begin() + first_[static_cast<std::size_t>(row) + 1];
    return static_cast<std::size_t>(std::lower_bound(begin, end, column) - column_.begin());
  }
  std::size_t n_ = 0;
  std::vector<std::int32_t> order_, position_, first_, column_;
};

}  // namespace tessera::molecular
