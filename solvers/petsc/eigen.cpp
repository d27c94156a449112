// SPDX-License-Identifier: Apache-2.0
//
// SLEPc's EPS (Krylov-Schur by default), with MUMPS behind shift and invert.
#include "matrix.h"

#include <slepceps.h>

#include <cstdlib>

namespace tessera::solvers {
namespace {

void finish_slepc() {  // runs before PETSc is finished: atexit goes backwards
  int gone = 0;
  MPI_Finalized(&gone);
  if (!gone && !Session::finished()) SlepcFinalize();
}
void start_slepc() {
  static const bool once = [] {
    PetscBool running = PETSC_FALSE;
    check(SlepcInitialized(&running));
    if (running) return true;
    check(SlepcInitializeNoArguments());
    std::atexit(finish_slepc);
    return true;
  }();
  static_cast<void>(once);
}

/// Handles that go when the function ends, however it ends.
struct Handles {
  EPS eps = nullptr;
  Mat a = nullptr;
  Vec x = nullptr, all = nullptr;
  VecScatter gather = nullptr;
  ~Handles() {
    EPSDestroy(&eps);
    VecScatterDestroy(&gather);
    VecDestroy(&all);
    VecDestroy(&x);
    MatDestroy(&a);
  }
};

/// Whether PETSc tells of a pivot of A - target that MUMPS found to be zero, or of no matching of
/// rows and columns.
bool of_singular(const std::string& words) {
  return words.find("INFOG(1)=-10,") != std::string::npos ||
         words.find("INFOG(1)=-6,") != std::string::npos ||
         words.find("_ZEROPIVOT") != std::string::npos;
}

EigenResult solve(const SolverOperator& a, const EigenOptions& o) {
  const Session session;
  start_slepc();
  refuse_large(a);
  const MPI_Comm comm = o.distributed ? MPI_COMM_WORLD : PETSC_COMM_SELF;
  const Words words(o.options);
  Handles h;
  assemble(a, comm, &h.a);
  check(MatCreateVecs(h.a, &h.x, nullptr));
  check(VecScatterCreateToAll(h.x, &h.gather, &h.all));
  check(EPSCreate(comm, &h.eps));
  check(EPSSetOptionsPrefix(h.eps, words.prefix()));
  check(EPSSetOperators(h.eps, h.a, nullptr));
  check(EPSSetProblemType(h.eps, o.hermitian ? EPS_HEP : EPS_NHEP));
  check(EPSSetDimensions(h.eps, static_cast<PetscInt>(o.count), PETSC_DEFAULT, PETSC_DEFAULT));
  check(EPSSetTolerances(h.eps, o.tolerance, o.iterations));
  if (o.which == Spectrum::nearest) {
    ST st = nullptr;
    KSP ksp = nullptr;
    PC pc = nullptr;
    check(EPSSetWhichEigenpairs(h.eps, EPS_TARGET_MAGNITUDE));
    check(EPSSetTarget(h.eps, o.target));
    check(EPSGetST(h.eps, &st));
    check(STSetType(st, STSINVERT));
    check(STGetKSP(st, &ksp));
    check(KSPSetType(ksp, KSPPREONLY));
    check(KSPGetPC(ksp, &pc));
    check(PCSetType(pc, PCLU));
    check(PCFactorSetMatSolverType(pc, MATSOLVERMUMPS));
  } else {
    check(EPSSetWhichEigenpairs(h.eps, o.which == Spectrum::largest_magnitude
                                           ? EPS_LARGEST_MAGNITUDE
                                       : o.which == Spectrum::smallest_real ? EPS_SMALLEST_REAL
                                                                            : EPS_LARGEST_REAL));
  }
  check(EPSSetFromOptions(h.eps));
  EigenResult r;
  try {
    check(EPSSolve(h.eps));
  } catch (const Error& e) {
    if (o.which != Spectrum::nearest || !of_singular(e.what())) throw;
    r.reason = SolveReason::singular;
    return r;
  }
  words.refuse_unused();
  PetscInt found = 0, restarts = 0;
  check(EPSGetConverged(h.eps, &found));
  check(EPSGetIterationNumber(h.eps, &restarts));
  r.restarts = static_cast<int>(restarts);
  if (found < o.count) {
    EPSConvergedReason why{};
    check(EPSGetConvergedReason(h.eps, &why));
    r.reason = why == EPS_DIVERGED_ITS ? SolveReason::iterations : SolveReason::stagnated;
  }
  for (PetscInt i = 0; i < std::min<PetscInt>(found, static_cast<PetscInt>(o.count)); ++i) {
    PetscScalar value = 0;
    check(EPSGetEigenpair(h.eps, i, &value, nullptr, h.x, nullptr));
    check(VecScatterBegin(h.gather, h.x, h.all, INSERT_VALUES, SCATTER_FORWARD));
    check(VecScatterEnd(h.gather, h.x, h.all, INSERT_VALUES, SCATTER_FORWARD));
    const PetscScalar* from = nullptr;
    check(VecGetArrayRead(h.all, &from));
    r.values.push_back(value);
    r.vectors.emplace_back(from, from + a.n);
    check(VecRestoreArrayRead(h.all, &from));
  }
  return r;
}

}  // namespace

extern EigenResult (*const solve_eigen)(const SolverOperator&, const EigenOptions&);
EigenResult (*const solve_eigen)(const SolverOperator&, const EigenOptions&) = solve;

}  // namespace tessera::solvers
