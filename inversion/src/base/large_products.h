// SPDX-License-Identifier: Apache-2.0
// Products and solutions of large dense matrices in blocks of columns, on threads: bits do not
// depend on how many there are.
#pragma once
#include <Eigen/Dense>

namespace tessera::inversion {

using LargeMatrix = Eigen::Ref<const Eigen::MatrixXd>;

Eigen::MatrixXd product(const LargeMatrix& a, const LargeMatrix& b);
/// The lower half of a b, which is symmetric; zero above.
Eigen::MatrixXd lower_product(const LargeMatrix& a, const LargeMatrix& b);
/// a a^T, both halves.
Eigen::MatrixXd gram(const LargeMatrix& a);
/// What is above the diagonal from what is below.
void mirror(Eigen::MatrixXd& lower);

/// With A = L L^T: L^-1 b in place, b L^-T and A^-1 b.
void solve_half_in_place(const Eigen::LLT<Eigen::MatrixXd>& a, Eigen::MatrixXd& b);
Eigen::MatrixXd times_inverse_half(const LargeMatrix& b, const Eigen::LLT<Eigen::MatrixXd>& a);
Eigen::MatrixXd solution(const Eigen::LLT<Eigen::MatrixXd>& a, const LargeMatrix& b);

}  // namespace tessera::inversion
