// SPDX-License-Identifier: Apache-2.0
#include "matrix.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace tessera::solvers {

c128 load(const void* p, Dtype t, Index i) {
  switch (t) {
    case Dtype::f32:
      return static_cast<double>(static_cast<const float*>(p)[i]);
    case Dtype::f64:
      return static_cast<const double*>(p)[i];
    case Dtype::c64:
      return c128(static_cast<const c64*>(p)[i]);
    default:
      return static_cast<const c128*>(p)[i];
  }
}
void store(void* p, Dtype t, Index i, c128 v) {
  switch (t) {
    case Dtype::f32:
      static_cast<float*>(p)[i] = static_cast<float>(v.real());
      break;
    case Dtype::f64:
      static_cast<double*>(p)[i] = v.real();
      break;
    case Dtype::c64:
      static_cast<c64*>(p)[i] = c64(v);
      break;
    default:
      static_cast<c128*>(p)[i] = v;
  }
}

void refuse_large(const SolverOperator& a) {
  auto n = static_cast<double>(a.n),
       largest = std::max(n, a.pattern ? static_cast<double>(a.pattern->entries()) : 0);
  if (a.ranks) {
    const auto begin = a.ranks->parts();
    std::vector<double> lengths;
    for (std::size_t p = 0; p + 1 < begin.size(); ++p)
      lengths.push_back(static_cast<double>(begin[p + 1] - begin[p]));
    a.ranks->sum(lengths, 1, {&n, 1});
    largest = std::max(n, a.ranks->max(largest));
  }
  if (largest > static_cast<double>(std::numeric_limits<PetscInt>::max()))
    throw Error("[petsc] a system of " + std::to_string(static_cast<Index>(n)) +
                " unknowns is larger than this build of PETSc numbers");
}

void assemble(const SolverOperator& a, MPI_Comm comm, Mat* matrix) {
  const auto n = static_cast<PetscInt>(a.n);
  const CsrPattern* p = a.pattern.get();
  check(MatCreate(comm, matrix));
  if (a.rows)
    check(MatSetSizes(*matrix, n, n, PETSC_DETERMINE, PETSC_DETERMINE));
  else
    check(MatSetSizes(*matrix, PETSC_DECIDE, PETSC_DECIDE, n, n));
  check(MatSetType(*matrix, MATAIJ));
  PetscInt first = 0, last = 0;
  check(MatSetUp(*matrix));
  check(MatGetOwnershipRange(*matrix, &first, &last));
  if (a.rows) last -= first, first = 0;  // its own numbers of the rows
  std::vector<PetscInt> row{0}, column;
  std::vector<c128> value;
  std::vector<std::pair<PetscInt, Index>> sorted;  // columns of a row, and their entries
  for (Index i = first; i < last; ++i) {
    if (a.rows) {
      sorted.clear();
      for (Index e = p->row_begin()[i]; e < p->row_begin()[i + 1]; ++e)
        sorted.emplace_back(static_cast<PetscInt>(a.rows->numbers()[p->column()[e]]), e);
      std::sort(sorted.begin(), sorted.end());
      for (const auto& [j, e] : sorted)
        column.push_back(j), value.push_back(load(a.values, a.dtype, e));
    } else if (p)
      for (Index e = p->row_begin()[i]; e < p->row_begin()[i + 1]; ++e)
        column.push_back(static_cast<PetscInt>(p->column()[e])),
            value.push_back(load(a.values, a.dtype, e));
    else
      for (Index j = 0; j < a.n; ++j)
        column.push_back(static_cast<PetscInt>(j)),
            value.push_back(load(a.values, a.dtype, i * a.n + j));
    row.push_back(static_cast<PetscInt>(column.size()));
  }
  // Does nothing for the layout that does not apply.
  check(MatSeqAIJSetPreallocationCSR(*matrix, row.data(), column.data(), value.data()));
  check(MatMPIAIJSetPreallocationCSR(*matrix, row.data(), column.data(), value.data()));
}

void refill(const SolverOperator& a, Mat matrix) {
  PetscScalar* to = nullptr;
  check(MatSeqAIJGetArrayWrite(matrix, &to));
  for (Index e = 0; e < a.pattern->entries(); ++e) to[e] = load(a.values, a.dtype, e);
  check(MatSeqAIJRestoreArrayWrite(matrix, &to));
}

}  // namespace tessera::solvers
