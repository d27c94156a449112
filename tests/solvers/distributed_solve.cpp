// SPDX-License-Identifier: Apache-2.0
// Matrices whose rows lie on two ranks: MUMPS and GMRES with block Jacobi; solution, gradient and
// Hessian times vector against the dense LU that each rank computes alone; eigenpairs and their
// gradient likewise. Before, one rank solves alone.   mpirun -n 2 distributed_solve
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"
#include "tessera/solvers/eigenpairs.h"

#include <mpi.h>

#include <algorithm>
#include <cstdio>

using namespace tessera;

namespace {

constexpr Index kN = 101;

CsrPatternPtr band() {
  std::vector<Index> begin{0}, column;
  for (Index i = 0; i < kN; ++i) {
    for (Index j = std::max<Index>(0, i - 1); j <= std::min(kN - 1, i + 1); ++j)
      column.push_back(j);
    begin.push_back(static_cast<Index>(column.size()));
  }
  return csr_pattern(kN, kN, begin, column);
}
/// Rows lower, diagonal + slope i, upper; the last is the induction equation -u'' + i k^2 u.
struct Problem {
  const char* name;
  c128 lower, diagonal, upper, slope;
};
const Problem kProblems[] = {{"symmetric positive definite", -1.0, 2.1, -1.0, 0.001},
                             {"symmetric indefinite", -1.0, 0.73, -1.0, 0.002},
                             {"nonsymmetric", -0.6, 2.0, -1.3, 0.001},
                             {"complex symmetric", -1.0, c128(2.0, 0.2), -1.0, c128(0, 0.001)}};

double distance(const Tensor& x, const Tensor& y) { return (norm(x - y) / norm(y)).item(); }

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const CsrPatternPtr p = band();
  double worst = 0;
  const auto report = [&](const char* problem, const std::string& solver,
                          std::initializer_list<double> errors) {
    if (rank == 0) std::printf("%-28s %-22s", problem, solver.c_str());
    for (double e : errors) {
      if (rank == 0) std::printf(" %.1e", e);
      worst = std::max(worst, e == e ? e : 1.0);
    }
    if (rank == 0) std::printf("\n");
  };

  // One rank may be alone with a solver, here the first of PETSc, while the others wait for it.
  if (rank == 0) {
    const Tensor two = 2.0 * eye(3), x = linear_solve(LinearOperator::dense(two), ones({3}),
                                                      {.solver = solvers::mumps_lu()})
                                             .x;
    report("of the first rank alone", "", {distance(x, 0.5 * ones({3}))});
  }
  MPI_Barrier(MPI_COMM_WORLD);

  if (rank == 0) std::printf("errors of solution, gradient, Hessian times vector\n");
  for (const Problem& problem : kProblems) {
    const auto row = p->row_of_entries();
    std::vector<c128> entries;
    for (std::size_t e = 0; e < row.size(); ++e) {
      const Index off = p->column()[e] - row[e];
      entries.push_back(off < 0   ? problem.lower
                        : off > 0 ? problem.upper
                                  : problem.diagonal + problem.slope * static_cast<double>(row[e]));
    }
    const bool complex = problem.slope.imag() != 0;
    const auto typed = [&](const Tensor& x) { return complex ? x : real(x); };
    const Tensor v = typed(tensor(entries)),
                 b = typed(
                     tessera::complex(normal(random_key(1), {kN}), normal(random_key(2), {kN})));
    const Tensor t =
        typed(tessera::complex(normal(random_key(3), v.shape()), normal(random_key(4), v.shape())));
    const auto exact = [&](Tensor u) { return solve(csr_to_dense(u, p), b); };
    const auto loss = [&](auto x_of) {
      return [&, x_of](Tensor u) {
        const Tensor x = x_of(u);
        return sum(real(conj(b) * x * x));
      };
    };
    for (const LinearSolverPtr& solver :
         {solvers::mumps_lu(true), solvers::petsc({.pc = "bjacobi",
                                   .tolerance = 1e-13,
                                   .options = "-sub_pc_type ilu -ksp_gmres_restart 120",
                                   .distributed = true})}) {
      const auto x_of = [&](Tensor u) {
        return linear_solve(LinearOperator::csr(u, p), b, {.solver = solver}).x;
      };
      report(problem.name, solver->name(),
             {distance(x_of(v), exact(v)), distance(grad(loss(x_of))(v), grad(loss(exact))(v)),
              distance(hvp(loss(x_of), v, t), hvp(loss(exact), v, t))});
    }
  }
  if (solvers::slepc_available()) {
    const auto row = p->row_of_entries();
    std::vector<double> entries;
    for (std::size_t e = 0; e < row.size(); ++e)
      entries.push_back(row[e] == p->column()[e] ? 2 + 0.01 * static_cast<double>(row[e]) : -1.0);
    const Tensor v = tensor(entries);
    const auto mine = [&](Tensor u) {
      return solvers::eigenpairs(u, p, {.count = 3, .hermitian = true, .distributed = true}).values;
    };
    const auto plain = [&](Tensor u) { return slice(eigh(csr_to_dense(u, p)).values, 0, 0, 3); };
    const auto gradient = [&](auto f) {
      return grad([&, f](Tensor u) {
        const Tensor d = csr_to_dense(u, p);
        return sum(square(f(csr_from_dense(0.5 * (d + transpose(d)), p))));
      })(v);
    };
    report("eigenvalues", "SLEPc",
           {distance(mine(v), plain(v)), distance(gradient(mine), gradient(plain))});
  }
  double largest = 0;
  MPI_Allreduce(&worst, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0)
    std::printf("measured distributed_largest_difference %.1e\n%d ranks, allowed 1e-10\n", largest,
                size);
  MPI_Finalize();
  return size == 2 && largest < 1e-10 ? 0 : 1;
}
