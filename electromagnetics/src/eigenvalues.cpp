// SPDX-License-Identifier: Apache-2.0
#include "eigenvalues.h"

#include <Eigen/Eigenvalues>

namespace tessera::electromagnetics {
Eigen::VectorXcd eigenvalues_of(const Eigen::MatrixXd& m) { return Eigen::EigenSolver<Eigen::MatrixXd>(m, false).eigenvalues(); }
}
