// SPDX-License-Identifier: Apache-2.0
#include "ksp.h"

#include <list>
#include <utility>

namespace tessera::solvers {
namespace {

struct Kept {
  KspPtr ksp;
  CsrPatternPtr pattern;
  PetscOptions options;
  double bytes;
};
/// Those given back last stand first. Outlives every static that may still hold a solver.
std::list<Kept>& kept() {
  static auto* const all = [] {
    auto* const list = new std::list<Kept>;
    Session::before_finish([list] { list->clear(); });
    return list;
  }();
  return *all;
}

bool same(const PetscOptions& a, const PetscOptions& b) {
  return a.ksp == b.ksp && a.pc == b.pc && a.tolerance == b.tolerance &&
         a.iterations == b.iterations && a.options == b.options && a.distributed == b.distributed;
}

}  // namespace

Ksp::~Ksp() {
  if (Session::finished()) return;
  KSPDestroy(&ksp);
  VecScatterDestroy(&gather);
  VecDestroy(&all);
  VecDestroy(&x);
  VecDestroy(&b);
  MatDestroy(&matrix);
}

Mat Ksp::factors() const {
  PC pc = nullptr;
  check(KSPGetPC(ksp, &pc));
  PetscBool has = PETSC_FALSE;
  check(PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(pc), &has, PCLU, PCCHOLESKY, PCILU,
                                  PCICC, ""));
  Mat found = nullptr;
  if (has) check(PCFactorGetMatrix(pc, &found));
  return found;
}

bool analyses(const PetscOptions& o) {
  return !o.distributed && (o.pc == "lu" || o.pc == "cholesky" || o.pc == "ilu" || o.pc == "icc");
}

KspPtr take_analysed(const CsrPattern& pattern, const PetscOptions& o) {
  for (auto it = kept().begin(); it != kept().end(); ++it) {
    if (!same(it->options, o) || !(it->pattern.get() == &pattern || *it->pattern == pattern))
      continue;
    KspPtr found = std::move(it->ksp);
    kept().erase(it);
    return found;
  }
  return nullptr;
}

void give_back(KspPtr ksp, CsrPatternPtr pattern, const PetscOptions& o) {
  constexpr double most = 512 << 20;
  Mat const factors = ksp->factors();
  if (!factors) return;
  MatInfo info{};
  check(MatGetInfo(factors, MAT_LOCAL, &info));
  kept().push_front(
      {std::move(ksp), std::move(pattern), o, info.nz_used * double(sizeof(PetscScalar))});
  double bytes = 0;
  for (auto it = kept().begin(); it != kept().end();) {
    bytes += it->bytes;
    it = bytes > most ? kept().erase(it) : std::next(it);
  }
}

}  // namespace tessera::solvers
