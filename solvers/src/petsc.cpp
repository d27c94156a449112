// SPDX-License-Identifier: Apache-2.0
#include "tessera/solvers/petsc.h"

#include "petsc_plugin.h"
#include "tessera/autodiff/plugin.h"

namespace tessera::solvers {
namespace {

class PetscSolver final : public LinearSolver {
 public:
  explicit PetscSolver(PetscOptions o) : options_(std::move(o)) {}
  std::string name() const override { return "PETSc " + options_.ksp + ", " + options_.pc; }
  bool joins_columns() const override {  // factors take blocks
    return options_.ksp == "preonly" && (options_.pc == "lu" || options_.pc == "cholesky");
  }
  bool one_at_a_time() const override { return true; }
  std::unique_ptr<PreparedSolver> prepare(const SolverOperator& a) const override {
    return petsc_plugin().prepare(a, options_);
  }

 private:
  PetscOptions options_;
};

LinearSolverPtr mumps(const char* pc, bool distributed) {
  return petsc({.ksp = "preonly",
                .pc = pc,
                .options = "-pc_factor_mat_solver_type mumps",
                .distributed = distributed});
}

}  // namespace

const PetscPlugin& petsc_plugin() {
  static const PetscPlugin* loaded =
      reinterpret_cast<GetPetsc>(plugin_function("petsc", kGetPetsc))();
  return *loaded;
}

LinearSolverPtr petsc(PetscOptions options) {
  return std::make_shared<const PetscSolver>(std::move(options));
}
LinearSolverPtr mumps_lu(bool distributed) { return mumps("lu", distributed); }
LinearSolverPtr mumps_symmetric(bool distributed) { return mumps("cholesky", distributed); }
NonlinearSolver petsc_snes(SnesOptions options) {
  return [options](const NonlinearSystem& s, const Tensor& x0) {
    return petsc_plugin().snes(s, x0, options);
  };
}
bool petsc_available(std::string* why_not) { return plugin_available("petsc", why_not); }
bool slepc_available(std::string* why_not) {
  if (!petsc_available(why_not)) return false;
  if (petsc_plugin().eigen) return true;
  if (why_not)
    *why_not =
        "SLEPc was not there when Tessera was built: install libslepc-complex-dev and build again, "
        "or use eigh or eig";
  return false;
}

}  // namespace tessera::solvers
