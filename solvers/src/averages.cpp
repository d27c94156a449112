// SPDX-License-Identifier: Apache-2.0
#include "tessera/solvers/averages.h"

#include <algorithm>

namespace tessera::solvers {

double average_part(const AverageOptions& o, Index count) {
  const auto t = static_cast<double>(count);
  if (o.kind == AverageOptions::Kind::mean) return 1 / (t + 1);
  return 1 - std::min(o.decay, (1 + t) / (10 + t));
}

}  // namespace tessera::solvers
