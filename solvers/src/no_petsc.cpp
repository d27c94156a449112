// SPDX-License-Identifier: Apache-2.0
// Compiled in place of petsc.cpp where the configure step found no PETSc.
#include "petsc_plugin.h"

namespace tessera::solvers {
namespace {
constexpr const char* kMissing =
    "PETSc was not there when Tessera was built: install libpetsc-complex-dev and build again, or "
    "use a solver of tessera/autodiff/solve.h";
[[noreturn]] void refuse() { throw Error(std::string("[petsc] ") + kMissing); }
}  // namespace

LinearSolverPtr petsc(PetscOptions) { refuse(); }
LinearSolverPtr mumps_lu(bool) { refuse(); }
LinearSolverPtr mumps_symmetric(bool) { refuse(); }
NonlinearSolver petsc_snes(SnesOptions) { refuse(); }
const PetscPlugin& petsc_plugin() { refuse(); }
bool petsc_available(std::string* why_not) {
  if (why_not) *why_not = kMissing;
  return false;
}
bool slepc_available(std::string* why_not) { return petsc_available(why_not); }

}  // namespace tessera::solvers
