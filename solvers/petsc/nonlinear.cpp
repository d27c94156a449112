// SPDX-License-Identifier: Apache-2.0
//
// SNES on a real vector, held in PETSc's complex ones with imaginary parts of zero.
#include "matrix.h"
#include "tessera/autodiff/ops.h"

#include <limits>

namespace tessera::solvers {

std::unique_ptr<PreparedSolver> prepare_linear(const SolverOperator& a, const PetscOptions& o);
extern EigenResult (*const solve_eigen)(const SolverOperator&, const EigenOptions&);

namespace {

struct Problem {
  const NonlinearSystem* system;
  Type type;
};

Tensor tensor_of(Vec v, const Type& type) {
  const PetscScalar* p = nullptr;
  check(VecGetArrayRead(v, &p));
  std::vector<double> x(static_cast<std::size_t>(type.shape.count()));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = p[i].real();
  check(VecRestoreArrayRead(v, &p));
  return cast(from_span<double>(x, type.shape), type.dtype);
}
void copy_to(const Tensor& t, PetscScalar* to) {
  const std::vector<double> x = cast(t, Dtype::f64).to_vector();
  for (std::size_t i = 0; i < x.size(); ++i) to[i] = x[i];
}

PetscErrorCode residual(SNES, Vec x, Vec f, void* context) {
  return guarded([&] {
    const auto& p = *static_cast<Problem*>(context);
    const Tensor r = p.system->residual(tensor_of(x, p.type));
    PetscScalar* to = nullptr;
    check(VecGetArray(f, &to));
    copy_to(r, to);
    check(VecRestoreArray(f, &to));
  });
}
PetscErrorCode jacobian(SNES, Vec x, Mat, Mat j, void* context) {
  return guarded([&] {
    const auto& p = *static_cast<Problem*>(context);
    const Tensor at = tensor_of(x, p.type);
    if (p.system->sparse_jacobian) {
      const LinearOperator a = p.system->sparse_jacobian(at);
      const CsrPattern& pattern = *a.pattern();
      const std::vector<double> values = cast(a.values(), Dtype::f64).to_vector();
      std::vector<PetscInt> columns;
      std::vector<PetscScalar> row;
      for (Index i = 0; i < pattern.rows(); ++i) {
        columns.clear(), row.clear();
        for (Index e = pattern.row_begin()[i]; e < pattern.row_begin()[i + 1]; ++e)
          columns.push_back(static_cast<PetscInt>(pattern.column()[e])), row.push_back(values[e]);
        const auto which = static_cast<PetscInt>(i);
        check(MatSetValues(j, 1, &which, static_cast<PetscInt>(columns.size()), columns.data(),
                           row.data(), INSERT_VALUES));
      }
    } else {
      const Tensor by_columns = transpose(p.system->jacobian(at));  // PETSc stores by columns
      PetscScalar* to = nullptr;
      check(MatDenseGetArray(j, &to));
      copy_to(by_columns, to);
      check(MatDenseRestoreArray(j, &to));
    }
    check(MatAssemblyBegin(j, MAT_FINAL_ASSEMBLY));
    check(MatAssemblyEnd(j, MAT_FINAL_ASSEMBLY));
  });
}

SolveReason reason_of(SNESConvergedReason r) {
  if (r > 0) return SolveReason::converged;
  switch (r) {
    case SNES_DIVERGED_MAX_IT:
      return SolveReason::iterations;
    case SNES_DIVERGED_FNORM_NAN:
      return SolveReason::not_finite;
    case SNES_DIVERGED_LINEAR_SOLVE:
      return SolveReason::singular;
    default:
      return SolveReason::stagnated;
  }
}

/// Handles that go when the function ends, however it ends.
struct Handles {
  SNES snes = nullptr;
  Vec x = nullptr, f = nullptr;
  Mat j = nullptr;
  ~Handles() {
    SNESDestroy(&snes);
    VecDestroy(&x);
    VecDestroy(&f);
    MatDestroy(&j);
  }
};

NonlinearResult solve(const NonlinearSystem& system, const Tensor& x0, const SnesOptions& o) {
  const Session session;
  Problem problem{&system, x0.type()};
  const Words words(o.options);
  Handles h;
  const auto n = static_cast<PetscInt>(x0.size());
  check(VecCreateSeq(PETSC_COMM_SELF, n, &h.x));
  check(VecDuplicate(h.x, &h.f));
  if (system.sparse_jacobian) {
    const LinearOperator a = system.sparse_jacobian(x0);
    const Tensor values = contiguous(a.values());
    SolverOperator entries;
    entries.kind = SolverOperator::Kind::csr, entries.dtype = values.dtype(), entries.n = x0.size(),
    entries.values = values.view().data, entries.pattern = a.pattern();
    refuse_large(entries);
    assemble(entries, PETSC_COMM_SELF, &h.j);
  } else {
    check(MatCreateSeqDense(PETSC_COMM_SELF, n, n, nullptr, &h.j));
  }
  check(SNESCreate(PETSC_COMM_SELF, &h.snes));
  check(SNESSetOptionsPrefix(h.snes, words.prefix()));
  check(SNESSetType(h.snes, o.type.c_str()));
  check(SNESSetFunction(h.snes, h.f, residual, &problem));
  check(SNESSetJacobian(h.snes, h.j, h.j, jacobian, &problem));
  constexpr double nothing = std::numeric_limits<double>::min();  // |F| = 0, at the start as well
  // Where a Newton step does not move x any more |F| has nowhere to fall: so at a start that is a
  // root but for rounding.
  const double rounding = x0.dtype() == Dtype::f32 ? std::numeric_limits<float>::epsilon()
                                                   : std::numeric_limits<double>::epsilon();
  check(SNESSetTolerances(h.snes, nothing, o.tolerance, 4 * rounding, o.iterations, PETSC_DEFAULT));
  std::vector<PetscReal> history(static_cast<std::size_t>(o.iterations) + 2);
  check(SNESSetConvergenceHistory(h.snes, history.data(), nullptr,
                                  static_cast<PetscInt>(history.size()), PETSC_TRUE));
  KSP ksp = nullptr;
  PC pc = nullptr;
  check(SNESGetKSP(h.snes, &ksp));
  check(KSPSetType(ksp, KSPPREONLY));
  check(KSPGetPC(ksp, &pc));
  check(PCSetType(pc, PCLU));
  if (system.sparse_jacobian) check(PCFactorSetMatSolverType(pc, MATSOLVERMUMPS));
  check(SNESSetFromOptions(h.snes));
  PetscScalar* to = nullptr;
  check(VecGetArray(h.x, &to));
  copy_to(x0, to);
  check(VecRestoreArray(h.x, &to));
  const PetscErrorCode code = SNESSolve(h.snes, nullptr, h.x);
  if (code == PETSC_ERR_MAT_LU_ZRPVT)
    return {tensor_of(h.x, problem.type), {SolveReason::singular, 0, {}}};
  check(code);
  words.refuse_unused();
  SNESConvergedReason reason{};
  PetscInt steps = 0, count = 0;
  check(SNESGetConvergedReason(h.snes, &reason));
  check(SNESGetIterationNumber(h.snes, &steps));
  PetscReal* kept = nullptr;
  check(SNESGetConvergenceHistory(h.snes, &kept, nullptr, &count));
  return {tensor_of(h.x, problem.type),
          {reason_of(reason), static_cast<int>(steps), {kept, kept + count}}};
}

}  // namespace
}  // namespace tessera::solvers

extern "C" const tessera::solvers::PetscPlugin* tessera_petsc_2() {
  static const tessera::solvers::PetscPlugin plugin{
      tessera::solvers::prepare_linear, tessera::solvers::solve, tessera::solvers::solve_eigen};
  return &plugin;
}
