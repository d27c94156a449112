// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/solvers/eigenpairs.h"
#include "tessera/solvers/petsc.h"

namespace tessera::solvers {

struct EigenResult {
  std::vector<c128> values;                ///< those that converged, in order
  std::vector<std::vector<c128>> vectors;  ///< of any length and phase
  SolveReason reason = SolveReason::converged;
  int restarts = 0;
};
/// What the plug-in that holds PETSc offers. Both sides are built together; the number in the
/// symbol changes when this does.
struct PetscPlugin {
  std::unique_ptr<PreparedSolver> (*prepare)(const SolverOperator&, const PetscOptions&);
  NonlinearResult (*snes)(const NonlinearSystem&, const Tensor& x0, const SnesOptions&);
  EigenResult (*eigen)(const SolverOperator&, const EigenOptions&);  ///< null without SLEPc
};
using GetPetsc = const PetscPlugin* (*)();
constexpr const char* kGetPetsc = "tessera_petsc_2";

/// The plug-in, loaded at the first call; throws where it is not there.
const PetscPlugin& petsc_plugin();

}  // namespace tessera::solvers
