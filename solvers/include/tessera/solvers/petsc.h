// SPDX-License-Identifier: Apache-2.0
//
// PETSc's solvers behind `linear_solve` and `root`: the derivatives are those of
// tessera/autodiff/solve.h, and the factorisation or preconditioner made for the value serves
// tangents and adjoints (KSPSolveTranspose on conjugates).
//
//   const LinearOperator a = LinearOperator::csr(values, pattern);
//   Tensor x = linear_solve(a, b, {.solver = solvers::mumps_lu()}).x;
//   auto ksp = solvers::petsc({.ksp = "gmres", .pc = "ilu", .options = "-pc_factor_levels 2"});
//
// The complex build of PETSc does all the work: real systems take twice the memory and up to four
// times the time of a real build, single precision is computed in double. PETSc is loaded when the
// first of these solvers is used; where it was not there at build time, using one throws Error and
// names the package. PETSc's calls are made one at a time. Where MPI runs, ranks may use solvers of
// their own as they like, one without the others; those that are spread over ranks all together.
//
// In one process LU, Cholesky, ILU and ICC of a csr matrix analyse a pattern once: what served a
// matrix that is gone serves the next of its pattern. Until then its factors stay in memory, at
// most 512 MiB of all. Factors alone take blocks of columns.
#pragma once
#include "tessera/autodiff/implicit.h"
#include "tessera/autodiff/solve.h"

#include <string>

namespace tessera::solvers {

struct PetscOptions {
  /// Krylov method by PETSc's name; "preonly" for a factorisation alone (with what is none, as
  /// "ilu", it is Richardson's iteration).
  std::string ksp = "gmres";
  std::string pc = "ilu";  ///< preconditioner by PETSc's name; a function operator takes "none"
  double tolerance =
      1e-10;  ///< on the true |b - A x| / |b|; the iteration starts again until it is met
  int iterations = 1000;
  /// More in PETSc's own words, as `-pc_factor_levels 2 -ksp_gmres_restart 100`. One that PETSc did
  /// not use is an error.
  std::string options = {};
  /// Rows are spread over all ranks of MPI. Every rank makes the same calls with the same values
  /// and gets the whole solution; the memory of factors and preconditioner is shared out. Rows that
  /// lie on ranks already (parallel/row_matrix.h) stay there, with their part of each vector; then
  /// this says nothing. On several ranks "bjacobi" takes the place of "ilu".
  bool distributed = false;
};
LinearSolverPtr petsc(PetscOptions options = {});

/// Multifrontal LU, for any matrix. P. Amestoy et al. 2001, doi:10.1137/S0895479899358194. Pivots
/// that vanish are reported as `singular`.
LinearSolverPtr mumps_lu(bool distributed = false);
/// L D L^T for A = A^T, definite or not (complex symmetric, not Hermitian): half the memory and
/// time of LU.
LinearSolverPtr mumps_symmetric(bool distributed = false);

struct SnesOptions {
  std::string type = "newtonls";  ///< PETSc's name
  double tolerance = 1e-12;       ///< on |F(x)| / |F(x0)|; a step below rounding is an end as well
  int iterations = 50;
  std::string options = {};  ///< as above
};
/// For `root` and `argmin`: the whole Jacobian factored densely or, with ImplicitOptions::sparse,
/// its entries by MUMPS.
NonlinearSolver petsc_snes(SnesOptions options = {});

/// Whether the plug-in with PETSc is there; otherwise why not.
bool petsc_available(std::string* why_not = nullptr);

}  // namespace tessera::solvers
