// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "matrix.h"

#include <memory>
#include <vector>

namespace tessera::solvers {

/// A KSP with its matrix and vectors. Used, and destroyed, while a Session is held.
struct Ksp {
  explicit Ksp(const std::string& options) : words(options) {}
  ~Ksp();
  Ksp(const Ksp&) = delete;

  Words words;
  Mat matrix = nullptr;
  Vec x = nullptr, b = nullptr, all = nullptr;
  VecScatter gather = nullptr;
  KSP ksp = nullptr;
  std::vector<PetscReal> history;

  /// The factors; null: the preconditioner is none.
  Mat factors() const;
};
using KspPtr = std::unique_ptr<Ksp>;

/// Whether the preconditioner analyses a pattern before it factors a matrix.
bool analyses(const PetscOptions& o);

/// A KSP that has analysed this pattern for these options and whose matrix nobody needs any more;
/// null: there is none.
KspPtr take_analysed(const CsrPattern& pattern, const PetscOptions& o);
/// Keeps it for the next matrix of the pattern. Its factors stay in memory until then: of all that
/// are kept at most 512 MiB, the ones given back last.
void give_back(KspPtr ksp, CsrPatternPtr pattern, const PetscOptions& o);

}  // namespace tessera::solvers
