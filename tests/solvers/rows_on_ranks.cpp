// SPDX-License-Identifier: Apache-2.0
//
// A system whose rows lie on ranks: -div(k grad u) + 0.05 u on m^3 cells, k from cell to cell
// another one, in parts of 8,192 rows. Each rank makes its own rows and nothing larger.
//   rows_on_ranks threads:N [options]           ranks that are threads
//   mpirun -n N rows_on_ranks [options]         processes
// --cells M (default 12), --solver cg|gmres|bicgstab|minres|petsc|mumps, --part ROWS. It prints the
// iterations, the true residual, a number made of the bits of the solution, of sums and of a
// gradient, and the largest memory of a rank. Exit code 1: the residual is above 1e-10, or an
// adjoint is not one.
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"
#include "tessera/parallel/exchanges.h"
#include "tessera/parallel/mpi.h"
#include "tessera/parallel/row_matrix.h"
#include "tessera/solvers/petsc.h"

#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>

using namespace tessera;
using parallel::Communicator;

namespace {

struct Options {
  Index cells = 12, part = kVectorPart;
  std::string solver = "cg";
};

/// Between 0.5 and 1.5, of a face between cells i and j: the same from both.
double conductivity(Index i, Index j) {
  std::uint64_t z = static_cast<std::uint64_t>(std::min(i, j)) * 0x9E3779B97F4A7C15U +
                    static_cast<std::uint64_t>(std::max(i, j));
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return 0.5 + static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

LinearSolverPtr solver_of(const std::string& name) {
  const KrylovOptions o{.iterations = 20'000};
  if (name == "gmres") return gmres(o);
  if (name == "bicgstab") return bicgstab(o);
  if (name == "minres") return minres(o);
  if (name == "petsc")
    return solvers::petsc(
        {.ksp = "cg", .pc = "bjacobi", .iterations = 20'000, .options = "-sub_pc_type icc"});
  if (name == "mumps") return solvers::mumps_lu();
  return cg(o);
}

/// FNV-1a.
struct Bits {
  std::uint64_t hash = 0xCBF29CE484222325U;
  void add(std::span<const std::byte> bytes) {
    for (const std::byte b : bytes) hash = (hash ^ static_cast<std::uint64_t>(b)) * 0x100000001B3U;
  }
  /// The elements of all ranks, those of rank 0 first: one rank's bytes at a time.
  void add(Communicator& c, const Tensor& x) {
    const Tensor mine = contiguous(x);
    const auto bytes = std::as_bytes(mine.data<double>());
    for (int r = 0; r < c.size(); ++r)
      add(c.broadcast(
          r == c.rank() ? parallel::Bytes(bytes.begin(), bytes.end()) : parallel::Bytes{}, r));
  }
};

double peak_mib() {
  rusage u{};
  getrusage(RUSAGE_SELF, &u);
  return static_cast<double>(u.ru_maxrss) / 1024;
}

bool run(Communicator& c, const Options& o) {
  const Index m = o.cells, n = m * m * m;
  const std::vector<Index> parts = parallel::deal_rows(n, c, o.part);
  std::vector<Index> begin{0}, column;
  std::vector<double> value, right;
  for (Index i = parts.front(); i < parts.back(); ++i) {
    const Index x = i % m, y = i / m % m, z = i / (m * m);
    const auto put = [&](bool is_there, Index j) {
      if (is_there) column.push_back(j), value.push_back(-conductivity(i, j));
    };
    put(z > 0, i - m * m), put(y > 0, i - m), put(x > 0, i - 1);
    const std::size_t diagonal = column.size();
    column.push_back(i), value.push_back(0);
    put(x < m - 1, i + 1), put(y < m - 1, i + m), put(z < m - 1, i + m * m);
    double sum = 0.05;
    for (auto e = static_cast<std::size_t>(begin.back()); e < value.size(); ++e) sum -= value[e];
    value[diagonal] = sum;
    begin.push_back(static_cast<Index>(column.size()));
    right.push_back(std::sin(0.01 * static_cast<double>(i)));
  }
  const auto a = parallel::RowMatrix::make(c, {parts, begin, column});
  const Tensor values = tensor(value), b = tensor(right);

  const LinearSolverPtr solver = solver_of(o.solver);
  std::vector<SolveReport> reports;
  const auto note = [&](const SolveReport& r, bool) { reports.push_back(r); };
  const auto start = std::chrono::steady_clock::now();
  const Tensor x = linear_solve(a->with(values), b, {solver, note}).x;
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const double residual = std::sqrt(
      (a->dot(a->product(values, x) - b, a->product(values, x) - b) / a->dot(b, b)).item());

  // <g, x(b)> along b is the adjoint solution; along the values it is -lambda x^H.
  const Tensor g = cos(b * 3.0);
  const auto loss = [&](Tensor v, Tensor r) {
    return a->dot(g, linear_solve(a->with(v), r, {.solver = solver}).x);
  };
  const auto pull = vjp(loss, values, b).second;
  const auto [dv, lambda] = pull(Tensor(1.0));
  const double one = a->dot(lambda, b).item(), two = a->dot(g, x).item(),
               three = parallel::sum_over_ranks(c, sum(dv * values)).item();
  const double scale = std::sqrt((a->dot(g, g) * a->dot(x, x)).item());
  const double adjoint = std::max(std::abs(one - two), std::abs(three + two)) / scale;

  Bits bits;
  for (const Tensor& t : {x, lambda, a->product(dv, b)}) bits.add(c, t);
  for (const Tensor& t :
       {a->dot(x, b), a->dot(x, x), a->dot(cast(x, Dtype::f32), cast(b, Dtype::f32))})
    bits.add(std::as_bytes(std::span(cast(reshape(t, {1}), Dtype::f64).data<double>())));
  const double peak = a->max(peak_mib());
  if (c.rank() == 0)
    std::printf(
        "iterations %d 1\nresidual %.3g 1\nadjoint_error %.3g 1\nseconds %.3g s\npeak_mib %.0f "
        "MiB\n"
        "bits: %016llx\n",
        reports[0].iterations, residual, adjoint, seconds, peak,
        static_cast<unsigned long long>(bits.hash));
  return residual <= 1e-10 && adjoint <= 1e-8;
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  int threads = 0;
  for (int k = 1; k < argc; ++k) {
    const std::string key = argv[k];
    if (key.starts_with("threads:"))
      threads = std::atoi(argv[k] + 8);
    else if (k + 1 < argc && key == "--cells")
      o.cells = std::atoll(argv[++k]);
    else if (k + 1 < argc && key == "--part")
      o.part = std::atoll(argv[++k]);
    else if (k + 1 < argc && key == "--solver")
      o.solver = argv[++k];
    else
      return std::fprintf(stderr, "unknown option %s\n", argv[k]), 2;
  }
  std::atomic<bool> right = true;
  try {
    if (threads > 0) {
      parallel::run_ranks(threads, [&](Communicator& c) {
        if (!run(c, o)) right = false;
      });
    } else {
      Communicator c = parallel::is_mpi_rank() ? parallel::mpi_communicator() : parallel::alone();
      right = run(c, o);
      c.finish();
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    if (parallel::is_mpi_rank()) parallel::end_all_ranks(1);
    return 1;
  }
  return right ? 0 : 1;
}
