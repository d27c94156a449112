// SPDX-License-Identifier: Apache-2.0
#include "ldlt/order.h"

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>

namespace tessera::solvers::ldlt_detail {

std::vector<std::int32_t> minimum_degree_order(const Neighbours& g) {
  const std::int32_t n = g.size();
  Eigen::SparseMatrix<double, Eigen::ColMajor, std::int32_t> pattern(n, n);
  pattern.reserve(static_cast<Eigen::Index>(g.next.size()) + n);
  for (std::int32_t j = 0; j < n; ++j) {
    pattern.startVec(j);
    bool diagonal = false;
    for (std::int32_t k = g.first[j]; k < g.first[j + 1]; ++k) {
      if (!diagonal && g.next[k] > j) pattern.insertBack(j, j) = 1, diagonal = true;
      pattern.insertBack(g.next[k], j) = 1;
    }
    if (!diagonal) pattern.insertBack(j, j) = 1;
  }
  pattern.finalize();
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, std::int32_t> place;
  Eigen::AMDOrdering<std::int32_t> order;
  order(pattern.selfadjointView<Eigen::Lower>(), place);
  // Its permutation says which vertex comes at each place.
  return {place.indices().data(), place.indices().data() + n};
}

}  // namespace tessera::solvers::ldlt_detail
