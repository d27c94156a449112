// SPDX-License-Identifier: Apache-2.0
#include "base/large_products.h"

#include "base/blocks.h"

namespace tessera::inversion {

using Eigen::Index;
using Eigen::MatrixXd;

namespace {

/// Of products of dense matrices.
template <class Body>
void in_blocks(Index n, const Body& body) {
  in_blocks_of<128>(n, body);
}

}  // namespace

MatrixXd product(const LargeMatrix& a, const LargeMatrix& b) {
  MatrixXd out(a.rows(), b.cols());
  in_blocks(b.cols(), [&](Index first, Index count) {
    out.middleCols(first, count).noalias() = a * b.middleCols(first, count);
  });
  return out;
}

MatrixXd lower_product(const LargeMatrix& a, const LargeMatrix& b) {
  const Index n = a.rows();
  MatrixXd out = MatrixXd::Zero(n, n);
  in_blocks(n, [&](Index j, Index count) {
    out.block(j, j, n - j, count).noalias() = a.bottomRows(n - j) * b.middleCols(j, count);
  });
  return out;
}

MatrixXd gram(const LargeMatrix& a) {
  const Index n = a.rows();
  MatrixXd out(n, n);
  in_blocks(n, [&](Index j, Index count) {
    out.block(j, j, n - j, count).noalias() =
        a.bottomRows(n - j) * a.middleRows(j, count).transpose();
  });
  mirror(out);
  return out;
}

void mirror(MatrixXd& lower) { lower.triangularView<Eigen::StrictlyUpper>() = lower.transpose(); }

void solve_half_in_place(const Eigen::LLT<MatrixXd>& a, MatrixXd& b) {
  in_blocks(b.cols(), [&](Index first, Index count) {
    auto block = b.middleCols(first, count);
    a.matrixL().solveInPlace(block);
  });
}

MatrixXd times_inverse_half(const LargeMatrix& b, const Eigen::LLT<MatrixXd>& a) {
  MatrixXd out(b.rows(), b.cols());
  in_blocks(b.rows(), [&](Index first, Index count) {
    const MatrixXd block = b.middleRows(first, count).transpose();
    out.middleRows(first, count) = a.matrixL().solve(block).transpose();
  });
  return out;
}

MatrixXd solution(const Eigen::LLT<MatrixXd>& a, const LargeMatrix& b) {
  MatrixXd out = b;
  in_blocks(out.cols(), [&](Index first, Index count) {
    auto block = out.middleCols(first, count);
    a.solveInPlace(block);
  });
  return out;
}

}  // namespace tessera::inversion
