// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "session.h"

#include <petscmat.h>

namespace tessera::solvers {

/// Element i of memory of any inexact type.
c128 load(const void* p, Dtype t, Index i);
void store(void* p, Dtype t, Index i, c128 v);

/// Throws where PETSc's integers cannot number the system.
void refuse_large(const SolverOperator& a);
/// This rank's rows of a dense or csr operator.
void assemble(const SolverOperator& a, MPI_Comm comm, Mat* matrix);
/// Other values of a csr operator of one process for the matrix that was assembled of its pattern.
void refill(const SolverOperator& a, Mat matrix);

}  // namespace tessera::solvers
