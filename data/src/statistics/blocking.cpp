// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/blocking.h"

#include <cmath>
#include <limits>

namespace tessera::data {

void Blocking::add(double value) {
  for (std::size_t l = 0;; ++l) {
    if (l == levels_.size()) levels_.emplace_back();
    Level& level = levels_[l];
    const double off = value - level.mean;
    level.mean += off / static_cast<double>(++level.n);
    level.squares += off * (value - level.mean);
    if (level.n % 2 == 1) {
      level.waiting = value;
      return;
    }
    value = 0.5 * (level.waiting + value);
  }
}

BlockedMean Blocking::result() const {
  constexpr std::uint64_t fewest = 8;  // blocks whose scatter says anything
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  BlockedMean out;
  if (levels_.empty()) {
    out.mean = out.error = out.error_of_error = unknown;
    return out;
  }
  out.n = levels_[0].n;
  out.mean = levels_[0].mean;
  for (const Level& level : levels_) {
    if (level.n < 2) break;
    const auto n = static_cast<double>(level.n);
    const double error = std::sqrt(level.squares / n / (n - 1));
    out.levels.push_back({level.n, error, error / std::sqrt(2 * (n - 1))});
  }
  if (out.levels.empty()) {
    out.error = out.error_of_error = unknown;
    return out;
  }
  const double first = out.levels[0].error;
  std::size_t taken = 0;
  for (std::size_t l = 0; l < out.levels.size() && out.levels[l].blocks >= fewest && !out.plateau;
       ++l) {
    const double ratio = first > 0 ? out.levels[l].error / first : 0;
    out.plateau = std::ldexp(1.0, static_cast<int>(3 * l)) >
                  2 * static_cast<double>(out.n) * std::pow(ratio, 4);
    if (out.plateau || out.levels[l].error > out.levels[taken].error) taken = l;
  }
  out.error = out.levels[taken].error;
  out.error_of_error = out.levels[taken].error_of_error;
  out.block = std::uint64_t{1} << taken;
  if (first > 0) out.inefficiency = (out.error / first) * (out.error / first);
  return out;
}

BlockedMean blocked_mean(std::span<const double> series) {
  Blocking b;
  for (double v : series) b.add(v);
  return b.result();
}

}  // namespace tessera::data
