// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/fading.h"

#include <algorithm>
#include <cmath>

namespace tessera::electromagnetics {

void Fading::add(const Records& r) {
  const std::int64_t stride = std::max<std::int64_t>(1, (r.n_columns + 4095) / 4096);
  for (std::int64_t n = 0; n < r.n_steps; ++n) {
    const std::int64_t step = r.first + n;
    if (step % every_ != 0) continue;
    const auto window = static_cast<std::size_t>(step / window_);
    if (sums_.size() <= window) sums_.resize(window + 1, 0.0);
    const double* x = r.values + n * r.stride;
    const double* y = r.imaginary ? r.imaginary + n * r.stride : nullptr;
    double sum = 0;
    for (std::int64_t m = 0; m < r.n_columns; m += stride)
      sum += x[m] * x[m] + (y ? y[m] * y[m] : 0);
    sums_[window] += sum;
  }
}

Fading::Report Fading::report() const {
  Report out;
  if (sums_.empty()) return out;
  const std::size_t full = std::max<std::size_t>(sums_.size() - 1, 1);
  const auto largest = std::max_element(sums_.begin(), sums_.end());
  out.seen = *largest > 0;
  if (!out.seen) return out;
  const auto at_largest = static_cast<std::size_t>(largest - sums_.begin()), last = full - 1;
  if (last <= at_largest) return out;
  // What rings may come in pulses: E_w = the largest of W_w, W_w+1, ... falls by steps. A straight
  // line through its second half, without the end, in which the next pulse may be missing.
  std::vector<double> db(last + 1);
  double later = 1e-300 * *largest;
  for (std::size_t w = full; w-- > at_largest;) {
    later = std::max(later, sums_[w]);
    db[w] = 10 * std::log10(later / *largest);
  }
  const std::size_t behind = last - at_largest, begin = last - behind / 2,
                    end = last - std::max(behind / 8,
                                          std::min(static_cast<std::size_t>(half_), behind / 4));
  out.fallen_db = -db[end];
  const double n = static_cast<double>(end - begin + 1),
               middle = static_cast<double>(end + begin) / 2;
  double moment = 0;
  for (std::size_t w = begin; w <= end; ++w) moment += (static_cast<double>(w) - middle) * db[w];
  if (n > 1) out.db_a_step = -moment / (n * (n * n - 1) / 12) / static_cast<double>(window_);
  return out;
}

}  // namespace tessera::electromagnetics
