// SPDX-License-Identifier: Apache-2.0
// A complex symmetric sparse system by MUMPS through PETSc against elimination without pivots.
//
// The matrix is the 1-D induction equation u'' = i k^2 u by differences on n points, as
// frequency-domain electromagnetics will have it: A = tridiag(-1, 2 + i k^2 h^2, -1) with k^2 h^2 =
// 1/4. The condition number is below 20, so two direct solvers agree to a few hundred units in the
// last place; 1e-13 leaves room for other BLAS libraries.
#include <petscksp.h>

#include <complex>
#include <cstdio>
#include <vector>

static_assert(sizeof(PetscScalar) == 2 * sizeof(double), "the complex build of PETSc is needed");

int main(int argc, char** argv) {
  constexpr int n = 50;
  const std::complex<double> diagonal(2.0, 0.25);
  PetscCall(PetscInitialize(&argc, &argv, nullptr, nullptr));

  Mat a;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 3, nullptr, &a));
  for (int i = 0; i < n; ++i)
    for (int j = std::max(0, i - 1); j <= std::min(n - 1, i + 1); ++j)
      PetscCall(MatSetValue(a, i, j, i == j ? diagonal : -1.0, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));

  Vec b, x;
  PetscCall(MatCreateVecs(a, &x, &b));
  std::vector<std::complex<double>> rhs(n);
  for (int i = 0; i < n; ++i) {
    rhs[i] = std::complex<double>(1.0 / (i + 1), i % 3);
    PetscCall(VecSetValue(b, i, rhs[i], INSERT_VALUES));
  }
  PetscCall(VecAssemblyBegin(b));
  PetscCall(VecAssemblyEnd(b));

  KSP solver;
  PC factor;
  PetscCall(KSPCreate(PETSC_COMM_SELF, &solver));
  PetscCall(KSPSetOperators(solver, a, a));
  PetscCall(KSPSetType(solver, KSPPREONLY));
  PetscCall(KSPGetPC(solver, &factor));
  PetscCall(PCSetType(factor, PCLU));
  PetscCall(PCFactorSetMatSolverType(factor, MATSOLVERMUMPS));
  PetscCall(KSPSolve(solver, b, x));
  KSPConvergedReason reason;
  PetscCall(KSPGetConvergedReason(solver, &reason));

  // L U x = b with U = bidiag(pivot, -1)
  std::vector<std::complex<double>> pivot(n, diagonal), expected = rhs;
  for (int i = 1; i < n; ++i) {
    pivot[i] -= 1.0 / pivot[i - 1];
    expected[i] += expected[i - 1] / pivot[i - 1];
  }
  double largest = 0;
  for (int i = n - 1; i >= 0; --i) {
    expected[i] = (expected[i] + (i + 1 < n ? expected[i + 1] : 0.0)) / pivot[i];
    largest = std::max(largest, std::abs(expected[i]));
  }
  const PetscScalar* got = nullptr;
  PetscCall(VecGetArrayRead(x, &got));
  double error = 0;
  for (int i = 0; i < n; ++i) error = std::max(error, std::abs(got[i] - expected[i]));
  PetscCall(VecRestoreArrayRead(x, &got));
  error /= largest;
  std::printf("reason %d, largest difference %.2e of the largest value, allowed 1e-13\n", reason,
              error);

  PetscCall(KSPDestroy(&solver));
  PetscCall(MatDestroy(&a));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(PetscFinalize());
  return reason > 0 && error < 1e-13 ? 0 : 1;
}
