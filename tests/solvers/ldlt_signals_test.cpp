// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/ops.h"
#include "tessera/solvers/ldlt.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <vector>

namespace tessera::solvers {
namespace {

// METIS, where it orders, takes SIGTERM for itself.
TEST(LdltSignals, SigtermIsAnsweredAfterAnOrderAsBefore) {
  struct sigaction before {
  }, own{}, now{};
  own.sa_handler = [](int) {};
  own.sa_flags = SA_RESTART;
  ::sigaction(SIGTERM, &own, &before);
  constexpr Index m = 19, n = 37;  // a grid that no other test has: no order of it is kept
  std::vector<Index> row, column;
  std::vector<double> value;
  const auto entry = [&](Index i, Index j, double v) {
    row.push_back(i), column.push_back(j), value.push_back(v);
  };
  for (Index i = 0; i < m * n; ++i) {
    entry(i, i, 5);
    if (i % n + 1 < n) entry(i, i + 1, -1), entry(i + 1, i, -1);
    if (i + n < m * n) entry(i, i + n, -1), entry(i + n, i, -1);
  }
  const CooPattern coo = csr_from_coo(m * n, m * n, row, column);
  const Tensor values = csr_values(coo, tensor(value, {static_cast<Index>(value.size())}));
  const LinearSolution y =
      linear_solve(LinearOperator::csr(values, coo.pattern), ones({m * n}), {.solver = ldlt()});
  ::sigaction(SIGTERM, &before, &now);
  EXPECT_EQ(y.reason.item<std::int32_t>(), static_cast<std::int32_t>(SolveReason::exact));
  EXPECT_EQ(now.sa_handler, own.sa_handler);
  EXPECT_EQ(now.sa_flags & (SA_RESTART | static_cast<int>(SA_RESETHAND)), SA_RESTART);
}

}  // namespace
}  // namespace tessera::solvers
