// SPDX-License-Identifier: Apache-2.0
//
// Fields in the frequency domain: K + i w M of bilinear elements on a grid, so many frequencies,
// blocks of right-hand sides, by `solvers::ldlt` beside MUMPS called directly and, where its
// library is named, MKL's PARDISO. All analyse the pattern once; peers have no pivoting to do
// (MUMPS CNTL(1) = 0), MUMPS takes the fastest of its own orders and METIS's handed in, PARDISO
// METIS's.
//   ldlt_mumps_bench [--grid 110x110] [--systems N] [--columns N] [--rounds N] [--threads N]
//                    [--pardiso libmkl_rt.so]
// Factors and solves on one thread, then all systems through `vmap(linear_solve)` on --threads:
// MUMPS is not safe on several threads of one process; its BLAS may have them.
#include "measure.h"
#include "openblas_choice.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"
#include "tessera/solvers/ldlt.h"

#include <dlfcn.h>
#include <metis.h>
#include <mpi.h>
#include <omp.h>
#include <zmumps_c.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

extern "C" void openblas_set_num_threads(int);

using namespace tessera;
using namespace tessera::benchmarks;

namespace {

struct Grid {
  Index m, n;
  CsrPatternPtr pattern;
  std::vector<double> stiffness, mass;  ///< of the pattern's entries
};

/// Bilinear elements on rectangles that widen towards three sides, as models of the ground do.
Grid grid(Index m, Index n) {
  Grid g{m, n, nullptr, {}, {}};
  const auto step = [](Index i, Index count, bool both) {
    const double margin = 0.15 * static_cast<double>(count);
    const double left = margin - static_cast<double>(i),
                 right = static_cast<double>(i) - (static_cast<double>(count) - margin);
    return std::pow(1.25, std::max({0.0, both ? left : 0.0, right}));
  };
  std::vector<Index> row, column;
  std::vector<double> k, w;
  for (Index i = 0; i + 1 < m; ++i)
    for (Index j = 0; j + 1 < n; ++j) {
      const double h = step(i, m - 1, true), v = step(j, n - 1, false);
      for (int a = 0; a < 4; ++a)
        for (int b = 0; b < 4; ++b) {
          const bool x = a / 2 == b / 2, y = a % 2 == b % 2;
          const double mx = x ? h / 3 : h / 6, my = y ? v / 3 : v / 6, kx = (x ? 1 : -1) / h,
                       ky = (y ? 1 : -1) / v;
          row.push_back((i + a / 2) * n + j + a % 2), column.push_back((i + b / 2) * n + j + b % 2);
          k.push_back(kx * my + mx * ky), w.push_back(mx * my);
        }
    }
  const CooPattern coo = csr_from_coo(m * n, m * n, row, column);
  g.pattern = coo.pattern;
  g.stiffness = csr_values(coo, tensor(k)).to_vector();
  g.mass = csr_values(coo, tensor(w)).to_vector();
  return g;
}

/// The lower triangle, which both peers read: row i of the triplets is the larger of the two.
struct Triangle {
  std::vector<int> row, column;  ///< from 1
  std::vector<std::size_t> entry;
  std::vector<int>
      begin;  ///< of the columns' rows, for PARDISO: the upper triangle by rows, from 1
};
Triangle triangle(const CsrPattern& p) {
  Triangle t;
  for (Index i = 0; i < p.rows(); ++i) {
    t.begin.push_back(static_cast<int>(t.row.size()) + 1);
    for (Index e = p.row_begin()[i]; e < p.row_begin()[i + 1]; ++e)
      if (p.column()[e] >= i) {
        t.row.push_back(static_cast<int>(p.column()[e]) + 1),
            t.column.push_back(static_cast<int>(i) + 1);
        t.entry.push_back(static_cast<std::size_t>(e));
      }
  }
  t.begin.push_back(static_cast<int>(t.row.size()) + 1);
  return t;
}

class Mumps {
 public:
  Mumps(const CsrPattern& p, const Triangle& t, int order, int block, const std::vector<int>& given)
      : t_(t), a_(t.entry.size()), given_(given) {
    std::memset(static_cast<void*>(&id_), 0, sizeof id_);
    id_.job = -1, id_.par = 1, id_.sym = 2;
    id_.comm_fortran = static_cast<MUMPS_INT>(MPI_Comm_c2f(MPI_COMM_SELF));
    zmumps_c(&id_);
    for (const int quiet : {1, 2, 3, 4}) id_.icntl[quiet - 1] = quiet == 4 ? 0 : -1;
    id_.icntl[6] = order;
    id_.icntl[5] = 0, id_.icntl[7] = 0, id_.icntl[9] = 0,
    id_.icntl[11] = 1;  // no matching, scaling, refinement, usual order
    id_.icntl[13] = 30;
    id_.icntl[26] = block;
    id_.cntl[0] = 0;  // no pivoting
    id_.n = static_cast<MUMPS_INT>(p.rows());
    id_.nnz = static_cast<MUMPS_INT8>(t.row.size());
    id_.irn = const_cast<int*>(t.row.data()), id_.jcn = const_cast<int*>(t.column.data());
    id_.a = reinterpret_cast<mumps_double_complex*>(a_.data());
    if (order == 1) id_.perm_in = given_.data();
    run(1);
  }
  ~Mumps() { id_.job = -2, zmumps_c(&id_); }
  Mumps(const Mumps&) = delete;
  void factor(const c128* values) {
    for (std::size_t e = 0; e < a_.size(); ++e) a_[e] = values[t_.entry[e]];
    run(2);
  }
  /// b is by columns, and becomes x.
  void solve(c128* b, Index columns) {
    id_.rhs = reinterpret_cast<mumps_double_complex*>(b);
    id_.nrhs = static_cast<MUMPS_INT>(columns), id_.lrhs = id_.n;
    run(3);
  }
  double steps() const { return id_.rinfog[2] / 2; }

 private:
  void run(int job) {
    id_.job = job;
    zmumps_c(&id_);
    if (id_.infog[0] < 0)
      throw std::runtime_error("MUMPS says " + std::to_string(id_.infog[0]) + " to job " +
                               std::to_string(job));
  }
  ZMUMPS_STRUC_C id_{};
  const Triangle& t_;
  std::vector<c128> a_;
  std::vector<int> given_;
};

class Pardiso {
 public:
  Pardiso(const char* library, const CsrPattern& p, const Triangle& t)
      : t_(t), a_(t.entry.size()), n_(static_cast<int>(p.rows())) {
    ::setenv("MKL_THREADING_LAYER", "GNU", 0);
    void* const lib = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!lib) throw std::runtime_error(dlerror());
    call_ = reinterpret_cast<Call>(dlsym(lib, "pardiso"));
    threads_ = reinterpret_cast<void (*)(int)>(dlsym(lib, "MKL_Set_Num_Threads"));
    if (!call_ || !threads_) throw std::runtime_error("no PARDISO in that library");
    set_threads(1);
    iparm_[0] = 1, iparm_[1] = 2, iparm_[7] = 0, iparm_[9] = 13;  // METIS, no refinement
    iparm_[20] = 0;                                               // 1 x 1 pivots
    run(11, nullptr, nullptr, 1);
  }
  void set_threads(int n) { threads_(n); }
  void factor(const c128* values) {
    for (std::size_t e = 0; e < a_.size(); ++e) a_[e] = values[t_.entry[e]];
    run(22, nullptr, nullptr, 1);
  }
  void solve(c128* b, c128* x, Index columns) { run(33, b, x, static_cast<int>(columns)); }

 private:
  using Call = void (*)(void*, const int*, const int*, const int*, const int*, const int*,
                        const void*, const int*, const int*, int*, const int*, int*, const int*,
                        void*, void*, int*);
  void run(int phase, c128* b, c128* x, int columns) {
    const int one = 1, type = 6, quiet = 0;
    int error = 0;
    call_(pt_, &one, &one, &type, &phase, &n_, a_.data(), t_.begin.data(), t_.row.data(), nullptr,
          &columns, iparm_, &quiet, b, x, &error);
    if (error)
      throw std::runtime_error("PARDISO says " + std::to_string(error) + " to phase " +
                               std::to_string(phase));
  }
  const Triangle& t_;
  std::vector<c128> a_;
  int n_;
  void* pt_[64] = {};
  int iparm_[64] = {};
  Call call_ = nullptr;
  void (*threads_)(int) = nullptr;
};

/// Places of the rows in METIS's order, from 1.
std::vector<int> nested_dissection(const CsrPattern& p) {
  std::vector<idx_t> first{0}, next;
  for (Index i = 0; i < p.rows(); ++i) {
    for (Index e = p.row_begin()[i]; e < p.row_begin()[i + 1]; ++e)
      if (p.column()[e] != i) next.push_back(static_cast<idx_t>(p.column()[e]));
    first.push_back(static_cast<idx_t>(next.size()));
  }
  idx_t n = static_cast<idx_t>(p.rows());
  std::vector<idx_t> order(static_cast<std::size_t>(n)), place(order.size());
  METIS_NodeND(&n, first.data(), next.data(), nullptr, nullptr, order.data(), place.data());
  std::vector<int> out;
  for (const idx_t i : place) out.push_back(static_cast<int>(i) + 1);
  return out;
}

double largest_difference(const c128* a, const c128* b, std::size_t count) {
  double most = 0, size = 0;
  for (std::size_t k = 0; k < count; ++k)
    most = std::max(most, std::abs(a[k] - b[k])), size = std::max(size, std::abs(b[k]));
  return most / size;
}

void report(const std::string& name, const Samples& ours, const Samples& peer, const char* who) {
  Samples ratio;
  for (std::size_t k = 0; k < ours.values.size(); ++k) ratio.add(peer.values[k] / ours.values[k]);
  print_figure(name + "_" + who + "_s", peer.median(), "s");
  print_figure(name + "_" + who + "_ratio", ratio.median(), "x");
  print_figure(name + "_" + who + "_spread", ratio.spread(), "1");
}

struct Options {
  Index m = 110, n = 110, systems = 20, columns = 36;
  int rounds = 7, threads = 2;
  const char* library = nullptr;
};
bool read(int argc, char** argv, Options& o) {
  for (int k = 1; k + 1 < argc; k += 2) {
    const std::string word = argv[k];
    if (word == "--grid") {
      char* end = nullptr;
      o.m = std::strtol(argv[k + 1], &end, 10);
      o.n = *end == 'x' ? std::strtol(end + 1, nullptr, 10) : o.m;
    } else if (word == "--systems")
      o.systems = std::atoi(argv[k + 1]);
    else if (word == "--columns")
      o.columns = std::atoi(argv[k + 1]);
    else if (word == "--rounds")
      o.rounds = std::atoi(argv[k + 1]);
    else if (word == "--threads")
      o.threads = std::atoi(argv[k + 1]);
    else if (word == "--pardiso")
      o.library = argv[k + 1];
    else
      return std::fprintf(stderr, "unknown: %s\n", argv[k]), false;
  }
  return true;
}

/// Systems by frequency, and right-hand sides [unknowns, columns] and column by column.
struct Problem {
  Options options;
  Grid g;
  Triangle t;
  std::vector<std::vector<c128>> values;
  std::vector<c128> b, by_columns;
  Index unknowns() const { return options.m * options.n; }
  explicit Problem(const Options& o) : options(o), g(grid(o.m, o.n)), t(triangle(*g.pattern)) {
    for (Index f = 0; f < o.systems; ++f) {
      const double w =
          std::pow(10.0, -4 + 4 * static_cast<double>(f) /
                                  static_cast<double>(std::max<Index>(1, o.systems - 1)));
      values.emplace_back();
      for (std::size_t e = 0; e < g.mass.size(); ++e)
        values.back().emplace_back(g.stiffness[e], w * g.mass[e]);
    }
    b.resize(static_cast<std::size_t>(unknowns() * o.columns));
    by_columns.resize(b.size());
    for (Index i = 0; i < unknowns(); ++i)
      for (Index c = 0; c < o.columns; ++c) {
        const double s = static_cast<double>(i * o.columns + c);
        b[static_cast<std::size_t>(i * o.columns + c)] =
            by_columns[static_cast<std::size_t>(c * unknowns() + i)] = {std::sin(0.37 * s),
                                                                        std::cos(1.1 * s)};
      }
  }
};

/// MUMPS in its fastest order.
std::unique_ptr<Mumps> fastest(const Problem& p) {
  const std::vector<int> given = nested_dissection(*p.g.pattern);
  std::unique_ptr<Mumps> mumps;
  double least = 0;
  const char* names[] = {"AMD", "METIS, handed in", "AMF", "", "PORD", "", "QAMD"};
  int best_order = 0;
  std::vector<c128> held;
  for (const int order : {0, 1, 2, 4, 6}) {
    auto one = std::make_unique<Mumps>(*p.g.pattern, p.t, order,
                                       static_cast<int>(p.options.columns), given);
    Samples s;
    for (int r = 0; r < 4; ++r) {
      const double time = seconds_of([&] { one->factor(p.values[0].data()); });
      held = p.by_columns;
      if (r > 0) s.add(time + seconds_of([&] { one->solve(held.data(), p.options.columns); }));
    }
    std::printf("# MUMPS, order by %s: %.1f ms to factor one and solve its columns\n", names[order],
                1e3 * s.median());
    if (!mumps || s.median() < least)
      mumps = std::move(one), least = s.median(), best_order = order;
  }
  std::printf("# MUMPS from here on: %s\n", names[best_order]);
  return mumps;
}

/// Factors and solves, each by itself, on one thread.
void compare_pieces(const Problem& p, const LinearSolverPtr& solver, Mumps& mumps,
                    Pardiso* pardiso) {
  const Index unknowns = p.unknowns(), columns = p.options.columns;
  SolverOperator a;
  a.kind = SolverOperator::Kind::csr, a.dtype = Dtype::c128, a.n = unknowns,
  a.pattern = p.g.pattern;
  a.values = p.values[0].data();
  print_figure("analysis_s", seconds_of([&] { solver->prepare(a); }), "s");
  std::vector<c128> x(p.b.size()), held, y(p.b.size()), other(p.b.size());
  const auto difference = [&](const std::vector<c128>& z) {
    for (Index i = 0; i < unknowns; ++i)
      for (Index c = 0; c < columns; ++c)
        other[static_cast<std::size_t>(i * columns + c)] =
            z[static_cast<std::size_t>(c * unknowns + i)];
    return largest_difference(x.data(), other.data(), x.size());
  };
  Samples factor[3], solve[3];
  double mumps_difference = 0, pardiso_difference = 0, residual = 0;
  for (int r = -1; r < p.options.rounds; ++r) {
    double time[3][2] = {};
    for (const std::vector<c128>& values : p.values) {
      a.values = values.data();
      std::unique_ptr<PreparedSolver> ours;
      time[0][0] += seconds_of([&] { ours = solver->prepare(a); });
      std::vector<SolveReport> said;
      time[0][1] += seconds_of([&] { said = ours->solve(p.b.data(), x.data(), columns, false); });
      for (const SolveReport& one : said) residual = std::max(residual, one.residuals.back());
      time[1][0] += seconds_of([&] { mumps.factor(values.data()); });
      held = p.by_columns;
      time[1][1] += seconds_of([&] { mumps.solve(held.data(), columns); });
      if (r < 0) mumps_difference = std::max(mumps_difference, difference(held));
      if (!pardiso) continue;
      time[2][0] += seconds_of([&] { pardiso->factor(values.data()); });
      held = p.by_columns;
      time[2][1] += seconds_of([&] { pardiso->solve(held.data(), y.data(), columns); });
      if (r < 0) pardiso_difference = std::max(pardiso_difference, difference(y));
    }
    for (int k = 0; r >= 0 && k < 3; ++k) factor[k].add(time[k][0]), solve[k].add(time[k][1]);
  }
  print_figure("residual", residual, "1");
  print_figure("mumps_difference", mumps_difference, "1");
  if (pardiso) print_figure("pardiso_difference", pardiso_difference, "1");
  print_figure("factor_s", factor[0].median(), "s");
  report("factor", factor[0], factor[1], "mumps");
  if (pardiso) report("factor", factor[0], factor[2], "pardiso");
  print_figure("solve_s", solve[0].median(), "s");
  report("solve", solve[0], solve[1], "mumps");
  if (pardiso) report("solve", solve[0], solve[2], "pardiso");
}

/// All of it through the engine, on threads; MUMPS with a BLAS of one thread, then of several.
void compare_whole(const Problem& p, const LinearSolverPtr& solver, Mumps& mumps,
                   Pardiso* pardiso) {
  const Options& o = p.options;
  set_num_threads(o.threads);
  std::vector<c128> all_values, all_b, held, y(p.b.size());
  for (const auto& v : p.values)
    all_values.insert(all_values.end(), v.begin(), v.end()),
        all_b.insert(all_b.end(), p.b.begin(), p.b.end());
  const Tensor v = tensor(all_values, {o.systems, p.g.pattern->entries()}),
               s = tensor(all_b, {o.systems, p.unknowns(), o.columns});
  const auto fields = vmap([&](Tensor u, Tensor r) {
    return linear_solve(LinearOperator::csr(u, p.g.pattern), r, {.solver = solver}).x;
  });
  Samples engine, peers[3];
  for (int r = -1; r < o.rounds; ++r) {
    const double mine = seconds_of([&] { fields(v, s); });
    if (r >= 0) engine.add(mine);
    for (int k = 0; k < 2; ++k) {
      omp_set_num_threads(k ? o.threads : 1);
      openblas_set_num_threads(k ? o.threads : 1);
      const double theirs = seconds_of([&] {
        for (const auto& one : p.values) {
          held = p.by_columns;
          mumps.factor(one.data());
          mumps.solve(held.data(), o.columns);
        }
      });
      if (r >= 0) peers[k].add(theirs);
    }
    if (pardiso) {
      omp_set_num_threads(o.threads), pardiso->set_threads(o.threads);
      const double theirs = seconds_of([&] {
        for (const auto& one : p.values) {
          held = p.by_columns;
          pardiso->factor(one.data());
          pardiso->solve(held.data(), y.data(), o.columns);
        }
      });
      if (r >= 0) peers[2].add(theirs);
    }
  }
  print_figure("engine_s", engine.median(), "s");
  const bool more = peers[1].median() < peers[0].median();
  std::printf("# MUMPS is faster with %s of BLAS\n", more ? "several threads" : "one thread");
  report("engine", engine, peers[more ? 1 : 0], "mumps");
  if (pardiso) report("engine", engine, peers[2], "pardiso");
}

}  // namespace

int main(int argc, char** argv) {
  bench::let_openblas_choose(argv);
  Options o;
  if (!read(argc, argv, o)) return 2;
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  openblas_set_num_threads(1);
  omp_set_num_threads(1);
  const Problem p(o);
  std::printf(
      "# %ld x %ld nodes, %ld systems, %ld columns each, one thread, medians of %d rounds\n",
      static_cast<long>(o.m), static_cast<long>(o.n), static_cast<long>(o.systems),
      static_cast<long>(o.columns), o.rounds);
  std::unique_ptr<Mumps> mumps = fastest(p);
  std::unique_ptr<Pardiso> pardiso;
  if (o.library) pardiso = std::make_unique<Pardiso>(o.library, *p.g.pattern, p.t);
  const LinearSolverPtr solver = solvers::ldlt();
  set_num_threads(1);
  compare_pieces(p, solver, *mumps, pardiso.get());
  compare_whole(p, solver, *mumps, pardiso.get());
  mumps.reset();
  MPI_Finalize();
  return 0;
}
