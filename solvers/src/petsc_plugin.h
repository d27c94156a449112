// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/solvers/petsc.h"

namespace tessera::solvers {

/// What the plug-in that holds PETSc offers. Both sides are built together; the number in the symbol changes when this
/// does.
struct PetscPlugin {
  std::unique_ptr<PreparedSolver> (*prepare)(const SolverOperator&, const PetscOptions&);
  NonlinearResult (*snes)(const NonlinearSystem&, const Tensor& x0, const SnesOptions&);
};
using GetPetsc = const PetscPlugin* (*)();
constexpr const char* kGetPetsc = "tessera_petsc_1";

}  // namespace tessera::solvers
