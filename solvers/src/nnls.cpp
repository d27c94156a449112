// SPDX-License-Identifier: Apache-2.0
#include "tessera/solvers/nnls.h"

#include "tessera/autodiff/error.h"

#include <Eigen/Dense>

#include <algorithm>
#include <string>

namespace tessera::solvers {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using MatrixRef = Eigen::Map<const MatrixXd>;
using VectorRef = Eigen::Map<const VectorXd>;

/// The columns allowed to be positive.
using ActiveSet = std::vector<Index>;

VectorXd least_squares(const MatrixRef& a, const VectorRef& b, const ActiveSet& set) {
  MatrixXd sub(a.rows(), static_cast<Index>(set.size()));
  for (std::size_t k = 0; k < set.size(); ++k) sub.col(static_cast<Index>(k)) = a.col(set[k]);
  return Eigen::HouseholderQR<MatrixXd>(sub).solve(b);
}

void remove_where(ActiveSet& set, const std::vector<bool>& drop) {
  ActiveSet kept;
  for (std::size_t k = 0; k < set.size(); ++k)
    if (!drop[k]) kept.push_back(set[k]);
  set = std::move(kept);
}

/// Moves x (positive on the active columns) towards the least-squares solution; whenever a
/// component would turn negative the step stops there and the column leaves the set. Where
/// there is none in double precision x stays where it is.
void solve_feasibly(const MatrixRef& a, const VectorRef& b, ActiveSet& columns, VectorXd& x) {
  while (!columns.empty()) {
    const VectorXd s = least_squares(a, b, columns);
    if (!s.allFinite()) return;
    double step = 1.0;
    for (std::size_t k = 0; k < columns.size(); ++k) {
      const double to = s[static_cast<Index>(k)], from = x[columns[k]];
      if (to <= 0) step = std::min(step, from / (from - to));
    }
    const bool feasible = (s.array() > 0).all();
    std::vector<bool> drop(columns.size(), false);
    for (std::size_t k = 0; k < columns.size(); ++k) {
      double& value = x[columns[k]];
      const double to = s[static_cast<Index>(k)];
      if (feasible) {
        value = to;
        continue;
      }
      const bool blocking = to <= 0 && value <= step * (value - to) * (1 + 1e-14);
      value += step * (to - value);
      if (blocking || value <= 0) {
        value = 0;
        drop[k] = true;
      }
    }
    if (feasible) return;
    remove_where(columns, drop);
  }
}

}  // namespace

NnlsResult nnls(std::span<const double> a, std::span<const double> b, double tolerance,
                std::span<const std::size_t> start) {
  const std::size_t rows = b.size();
  if (rows == 0 || a.size() % rows != 0)
    throw Error("[nnls] expected whole columns of as many numbers as b has, got " +
                std::to_string(a.size()) + " numbers in A and " + std::to_string(rows) + " in b");
  const std::size_t cols = a.size() / rows;
  const auto n = static_cast<Index>(cols);
  const MatrixRef mat(a.data(), static_cast<Index>(rows), n);
  const VectorRef rhs(b.data(), static_cast<Index>(b.size()));
  if (!mat.allFinite() || !rhs.allFinite())
    throw Error("[nnls] expected finite numbers in A and b");
  ActiveSet set;
  VectorXd x = VectorXd::Zero(n);
  std::vector<bool> in_set(cols, false);

  if (!start.empty()) {  // a warm start: the positive part of the solution on the given columns
    for (std::size_t j : start) {
      if (j >= cols)
        throw Error("[nnls] the start names column " + std::to_string(j) + " of " +
                    std::to_string(cols));
      set.push_back(static_cast<Index>(j));
    }
    std::sort(set.begin(), set.end());
    set.erase(std::unique(set.begin(), set.end()), set.end());
    const VectorXd s = least_squares(mat, rhs, set);
    if (!s.allFinite()) set.clear();  // dependent columns: from nothing
    std::vector<bool> drop(set.size());
    for (std::size_t k = 0; k < set.size(); ++k) {
      drop[k] = !(s[static_cast<Index>(k)] > 0);
      if (!drop[k]) x[set[k]] = s[static_cast<Index>(k)];
    }
    remove_where(set, drop);
    solve_feasibly(mat, rhs, set, x);
  }

  NnlsResult result;
  const int limit = static_cast<int>(3 * (rows + cols)) + 100;
  std::vector<bool> refused(cols, false);  // columns that rounding throws straight out again
  VectorXd residual = rhs - mat * x;
  double best = residual.squaredNorm();
  for (; result.iterations < limit; ++result.iterations) {
    std::fill(in_set.begin(), in_set.end(), false);
    for (Index j : set) in_set[static_cast<std::size_t>(j)] = true;
    const VectorXd dual = mat.transpose() * residual;
    Index enter = -1;
    double largest = tolerance;
    for (Index j = 0; j < n; ++j) {
      const auto k = static_cast<std::size_t>(j);
      if (in_set[k] || refused[k] || dual[j] <= largest) continue;
      enter = j;
      largest = dual[j];
    }
    if (enter < 0 || set.size() >= rows) {
      result.converged = true;
      break;
    }
    ActiveSet trial = set;
    trial.push_back(enter);
    VectorXd trial_x = x;
    solve_feasibly(mat, rhs, trial, trial_x);
    const VectorXd trial_residual = rhs - mat * trial_x;
    const double value = trial_residual.squaredNorm();
    if (!(value < best)) {  // no descent left along this column at working precision
      refused[static_cast<std::size_t>(enter)] = true;
      continue;
    }
    set = std::move(trial);
    x = std::move(trial_x);
    residual = trial_residual;
    best = value;
    std::fill(refused.begin(), refused.end(), false);
  }
  result.x.assign(x.data(), x.data() + n);
  result.residual.assign(residual.data(), residual.data() + residual.size());
  for (Index j : set) result.active.push_back(static_cast<std::size_t>(j));
  std::sort(result.active.begin(), result.active.end());
  return result;
}

}  // namespace tessera::solvers
