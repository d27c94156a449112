// SPDX-License-Identifier: Apache-2.0
#include "ldlt/order.h"

namespace tessera::solvers::ldlt_detail {

std::vector<std::int32_t> fill_reducing_order(const Neighbours& g) {
  return minimum_degree_order(g);
}

}  // namespace tessera::solvers::ldlt_detail
