// SPDX-License-Identifier: Apache-2.0
//
// A few eigenpairs A x = l x of a large sparse matrix by SLEPc, with derivatives of any order in
// the matrix's values:
//
//   [A - l, -x; x^H, 0] [dx; dl] = [-dA x; 0]
//
// one bordered system for each pair, solved by `linear_solve`: its factorisation is made once and
// serves tangents and adjoints alike.
//
//   auto e = solvers::eigenpairs(values, pattern, {.count = 4, .target = 0.1, .hermitian = true});
//   const auto all = [&](Tensor v) { return solvers::eigenpairs(v, pattern, options).values; };
//   Tensor g = grad([&](Tensor v) { return sum(all(v)); })(values);
//
// V. Hernandez, J. E. Roman, V. Vidal 2005, doi:10.1145/1089014.1089019.
#pragma once
#include "tessera/solvers/petsc.h"

namespace tessera::solvers {

enum class Spectrum : std::uint8_t {
  nearest,  ///< to `target`: shift and invert, A - target factored by MUMPS; nearest first
  largest_magnitude,  ///< products with A alone, as the two below; the outermost first
  smallest_real,
  largest_real,
};
struct EigenOptions {
  Index count = 1;
  Spectrum which = Spectrum::nearest;
  c128 target = 0;
  /// A = A^H, which is not checked: eigenvalues are real; derivatives are right along Hermitian dA.
  bool hermitian = false;
  double tolerance = 1e-13;  ///< on |A x - l x| / |l|
  int iterations = 1000;     ///< restarts of the Krylov-Schur method
  std::string options =
      {};  ///< more in SLEPc's own words, as `-eps_ncv 40`; one that was not used is an error
  bool distributed = false;          ///< as in PetscOptions, also of the bordered systems
  LinearSolverPtr linear = nullptr;  ///< what solves these; null: mumps_lu
};
/// For values [..., entries], f64 or c128 (single precision is widened): eigenvalues [..., count],
/// f64 where Hermitian and c128 otherwise, vectors [..., count, n] of length 1 whose largest
/// component (the first, at ties) is real and positive, residuals |A x - l x| [..., count], and for
/// each matrix SolveReason i32 and restarts i32. Pairs that did not converge are NaN, and
/// all where the target is an eigenvalue and A - target not to be factored (`singular`: move it a
/// little). Derivatives take x^H dx = 0: only what does not depend on lengths and phases has a
/// meaningful one. Eigenvalues must be simple: of equal ones derivatives are not finite, and some
/// may be left out, as a Krylov method sees one of them until rounding shows the others; the
/// vectors of those found are orthonormal where A is Hermitian.
struct Eigenpairs {
  Tensor values, vectors, residuals, reason, restarts;
};
Eigenpairs eigenpairs(const Tensor& values, const CsrPatternPtr& pattern,
                      const EigenOptions& options = {});

/// Whether the plug-in was built with SLEPc; otherwise why not. Loads it.
bool slepc_available(std::string* why_not = nullptr);

}  // namespace tessera::solvers
