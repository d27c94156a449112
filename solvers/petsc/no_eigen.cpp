// SPDX-License-Identifier: Apache-2.0
// Compiled in place of eigen.cpp where the configure step found no SLEPc.
#include "petsc_plugin.h"

namespace tessera::solvers {
extern EigenResult (*const solve_eigen)(const SolverOperator&, const EigenOptions&);
EigenResult (*const solve_eigen)(const SolverOperator&, const EigenOptions&) = nullptr;
}  // namespace tessera::solvers
