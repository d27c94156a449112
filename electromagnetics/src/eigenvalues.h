// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <Eigen/Core>

namespace tessera::electromagnetics {
/// Eigenvalues of a small dense matrix [n,n] of finite elements, in no order. The solver's templates are compiled once, here.
Eigen::VectorXcd eigenvalues_of(const Eigen::MatrixXd& m);
}
