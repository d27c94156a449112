// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace tessera::solvers {

struct NnlsResult {
  std::vector<double> x;            ///< [cols], all >= 0
  std::vector<double> residual;     ///< [rows], b - A x
  std::vector<std::size_t> active;  ///< columns with x > 0
  int iterations = 0;
  bool converged = false;  ///< the dual A^T (b - A x) <= tolerance everywhere
};

/// min |A x - b|_2 subject to x >= 0 by the active-set method of Lawson and Hanson (Solving Least
/// Squares Problems, 1974, chapter 23) with a Householder QR of the active columns in each step.
/// `a` is A column by column, [cols * b.size()]; its columns should have about unit length, as
/// `tolerance` is absolute on the dual vector. `start` names columns that are probably active; it
/// changes the work, not the solution. Numbers that are not finite, columns of another length
/// than b, or a start that names a column A does not have, are an Error.
NnlsResult nnls(std::span<const double> a, std::span<const double> b, double tolerance,
                std::span<const std::size_t> start = {});

}  // namespace tessera::solvers
