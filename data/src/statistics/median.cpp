// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/median.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::data {

double median(std::vector<double> values) {
  std::erase_if(values, [](double v) { return !std::isfinite(v); });
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace tessera::data
