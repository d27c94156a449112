// SPDX-License-Identifier: Apache-2.0
// A complex system whose rows lie on two ranks: MUMPS and GMRES with block Jacobi; solution, gradient and Hessian times
// vector against the dense LU that each rank computes alone.   mpirun -n 2 distributed_solve
#include <mpi.h>

#include <cstdio>

#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"
#include "tessera/solvers/petsc.h"

using namespace tessera;

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  // The induction equation -u'' + i k^2 u on n points, k^2 a different number in each.
  constexpr Index n = 101;
  std::vector<Index> begin{0}, column;
  for (Index i = 0; i < n; ++i) {
    for (Index j = std::max<Index>(0, i - 1); j <= std::min(n - 1, i + 1); ++j) column.push_back(j);
    begin.push_back(static_cast<Index>(column.size()));
  }
  const CsrPatternPtr p = csr_pattern(n, n, begin, column);
  std::vector<c128> entries;
  const auto row = p->row_of_entries();
  for (std::size_t e = 0; e < row.size(); ++e) entries.push_back(row[e] == column[e] ? c128(2.0, 0.2 + 0.001 * static_cast<double>(row[e])) : c128(-1.0));
  const Tensor v = tensor(entries), b = complex(normal(random_key(1), {n}), normal(random_key(2), {n})), t = complex(normal(random_key(3), v.shape()), normal(random_key(4), v.shape()));

  const auto distance = [](const Tensor& x, const Tensor& y) { return (norm(x - y) / norm(y)).item(); };
  double worst = 0;
  const auto exact = [&](Tensor u) { return solve(csr_to_dense(u, p), b); };
  const auto loss = [&](auto x_of) { return [&, x_of](Tensor u) { const Tensor x = x_of(u); return sum(real(conj(b) * x * x)); }; };
  for (const LinearSolverPtr& solver : {solvers::mumps_lu(true), solvers::petsc({.pc = "bjacobi", .tolerance = 1e-13, .options = "-sub_pc_type ilu", .distributed = true})}) {
    const auto x_of = [&](Tensor u) { return linear_solve(LinearOperator::csr(u, p), b, {.solver = solver}).x; };
    const double errors[] = {distance(x_of(v), exact(v)), distance(grad(loss(x_of))(v), grad(loss(exact))(v)), distance(hvp(loss(x_of), v, t), hvp(loss(exact), v, t))};
    if (rank == 0) std::printf("%s: solution %.1e, gradient %.1e, Hessian %.1e\n", solver->name().c_str(), errors[0], errors[1], errors[2]);
    for (double e : errors) worst = std::max(worst, e == e ? e : 1.0);
  }
  double largest = 0;
  MPI_Allreduce(&worst, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%d ranks, largest relative difference %.1e, allowed 1e-10\n", size, largest);
  MPI_Finalize();
  return size == 2 && largest < 1e-10 ? 0 : 1;
}
