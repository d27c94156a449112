// SPDX-License-Identifier: Apache-2.0
//
// L D L^T against dense LU: patterns of every kind, element types, batches, derivatives, bits, and
// what it refuses. petsc_test.cpp has it in the table of all solvers.
#include "tessera/solvers/ldlt.h"

#include "norm_error.h"
#include "tessera/autodiff/check.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/ops.h"
#include "tests/autodiff/noise.h"
#include "tests/autodiff/same_bits.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <memory>
#include <string>

namespace tessera::solvers {
namespace {

using testing::noise;

/// Edges of a graph with n vertices.
struct Edges {
  const char* name;
  Index n;
  std::function<void(const std::function<void(Index, Index)>&)> each;
};

void grid_edges(Index m, Index n, const std::function<void(Index, Index)>& edge) {
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n; ++j)
      for (Index a = 0; a <= 1; ++a)
        for (Index b = a ? -1 : 1; b <= 1; ++b)
          if (i + a < m && j + b >= 0 && j + b < n) edge(i * n + j, (i + a) * n + j + b);
}

struct Symmetric {
  CsrPatternPtr pattern;
  Tensor values;  ///< symmetric; both parts of complex ones are positive definite
};
/// Weights by `noise`; the diagonal outweighs them.
Symmetric weighted(const Edges& g, bool complex, std::uint64_t seed = 7) {
  std::vector<Index> row, column;
  std::vector<double> re, im;
  std::vector<double> sum(static_cast<std::size_t>(g.n), 1);
  const std::vector<double> w = noise({4096}, seed).to_vector();
  std::size_t k = 0;
  const auto entry = [&](Index i, Index j, double v, double z) {
    row.push_back(i), column.push_back(j), re.push_back(v), im.push_back(z);
  };
  g.each([&](Index i, Index j) {
    const double v = w[k++ % w.size()];
    entry(i, j, v, 0.3 * v), entry(j, i, v, 0.3 * v);
    sum[static_cast<std::size_t>(i)] += std::abs(v),
        sum[static_cast<std::size_t>(j)] += std::abs(v);
  });
  for (Index i = 0; i < g.n; ++i) {
    const double s = sum[static_cast<std::size_t>(i)];
    entry(i, i, s, 0.4 * s);
  }
  const CooPattern coo = csr_from_coo(g.n, g.n, row, column);
  Tensor v = tensor(re, {static_cast<Index>(re.size())});
  if (complex) v = tessera::complex(v, tensor(im, {static_cast<Index>(im.size())}));
  return {coo.pattern, csr_values(coo, v)};
}

const std::vector<Edges>& graphs() {
  using Edge = std::function<void(Index, Index)>;
  static const std::vector<Edges> all{
      {"one vertex", 1, [](const Edge&) {}},
      {"two", 2, [](const Edge& e) { e(0, 1); }},
      {"no edges", 37, [](const Edge&) {}},
      {"a path", 50,
       [](const Edge& e) {
         for (Index i = 1; i < 50; ++i) e(i - 1, i);
       }},
      {"a star", 300,
       [](const Edge& e) {
         for (Index i = 0; i < 299; ++i) e(i, 299);
       }},
      {"all to all", 33,
       [](const Edge& e) {
         for (Index i = 0; i < 33; ++i)
           for (Index j = 0; j < i; ++j) e(i, j);
       }},
      {"a grid", 23 * 31, [](const Edge& e) { grid_edges(23, 31, e); }},
      {"islands", 3 * 144 + 5,
       [](const Edge& e) {
         for (Index k = 0; k < 3; ++k)
           grid_edges(12, 12, [&](Index i, Index j) { e(3 * i + k, 3 * j + k); });
       }},
      {"a grid with two dense rows", 402, [](const Edge& e) {
         grid_edges(20, 20, e);
         for (Index i = 0; i < 400; ++i) e(i, 400), e(i, 401);
         e(400, 401);
       }}};
  return all;
}

LinearSolution solution(const Symmetric& a, const Tensor& b, const LinearSolverPtr& s = ldlt()) {
  return linear_solve(LinearOperator::csr(a.values, a.pattern), b, {.solver = s});
}
std::int32_t reason_of(const LinearSolution& y) { return y.reason.item<std::int32_t>(); }
std::int32_t code(SolveReason r) { return static_cast<std::int32_t>(r); }

TEST(Ldlt, SolvesWhatDenseLuSolves) {
  for (const Edges& g : graphs())
    for (const Dtype t : {Dtype::f32, Dtype::f64, Dtype::c64, Dtype::c128})
      for (const Index columns : {1, 5, 50}) {
        SCOPED_TRACE(std::string(g.name) + ", " + to_string(Type{t, {columns}}));
        Symmetric a = weighted(g, is_complex(t));
        a.values = cast(a.values, t);
        const Tensor b = cast(noise({g.n, columns}, 2, is_complex(t)), t);
        const LinearSolution y = solution(a, b);
        EXPECT_EQ(reason_of(y), code(SolveReason::exact));
        EXPECT_EQ(y.x.dtype(), t);
        const bool narrow = size_of(real_of(t)) == 4;
        EXPECT_LE(y.residual.item(), narrow ? 4e-6 : 7e-15);  // 30 roundings; a sum has up to 402
        // Rows are diagonally dominant: conditions are below 1e3.
        EXPECT_LE(norm_error(y.x, solve(csr_to_dense(a.values, a.pattern), b)),
                  narrow ? 1e-4 : 1e-13);
      }
}

TEST(Ldlt, NothingToSolve) {
  const Symmetric none{csr_pattern(0, 0, {0}, {}), zeros({0})};
  EXPECT_EQ(solution(none, zeros({0, 3})).x.shape(), (Shape{0, 3}));
  const Symmetric a = weighted(graphs()[6], false);
  EXPECT_EQ(solution(a, zeros({a.pattern->rows(), 0})).x.shape(), (Shape{a.pattern->rows(), 0}));
  const Tensor zero = solution(a, zeros({a.pattern->rows()})).x;
  EXPECT_EQ(max(abs(zero)).item(), 0);
  const Tensor x = vmap([&](Tensor v) {
    return solution({a.pattern, v}, ones({a.pattern->rows()})).x;
  })(zeros({0, a.pattern->entries()}));
  EXPECT_EQ(x.shape(), (Shape{0, a.pattern->rows()}));
}

TEST(Ldlt, DenseMatrices) {
  const Tensor r = noise({3, 20, 20}, 1), a = r + transpose(r, {0, 2, 1}) + 40.0 * eye(20),
               b = noise({3, 20, 2}, 2);
  const Tensor x = linear_solve(LinearOperator::dense(a), b, {.solver = ldlt()}).x;
  EXPECT_LE(norm_error(x, solve(a, b)), 1e-14);
}

TEST(Ldlt, BatchesOfMatricesAndOfRightHandSides) {
  const Symmetric a = weighted(graphs()[6], true);
  const Index n = a.pattern->rows();
  const Tensor scale = tensor({1.0, 2.0, 3.0, 4.0, 5.0});
  const Tensor values = expand_dims(scale, 1) * a.values, b = noise({5, n, 3}, 2, true);
  const auto one = [&](Tensor v, Tensor r) { return solution({a.pattern, v}, r).x; };
  const Tensor both = vmap(one)(values, b);
  const Tensor joined = vmap([&](Tensor r) { return one(a.values, r); })(b);
  for (Index k = 0; k < 5; ++k) {
    const Tensor alone = one(select(values, 0, k), select(b, 0, k));
    EXPECT_EQ(select(both, 0, k).to_vector<c128>(), alone.to_vector<c128>());
    EXPECT_EQ(select(joined, 0, k).to_vector<c128>(),
              one(a.values, select(b, 0, k)).to_vector<c128>());
  }
}

/// Alone it has kernels of its own: all patterns, element types, sizes of blocks and adjoints.
TEST(Ldlt, AColumnHasTheBitsThatItHasAlone) {
  for (const Edges& g : graphs())
    for (const Dtype t : {Dtype::f32, Dtype::f64, Dtype::c64, Dtype::c128}) {
      SCOPED_TRACE(std::string(g.name) + ", " + to_string(t));
      Symmetric a = weighted(g, is_complex(t));
      a.values = cast(a.values, t);
      // A few places are not zero in the last: whole subtrees have nothing to do.
      Tensor b = cast(noise({g.n, 101}, 2, is_complex(t)), t);
      b = concatenate({b, cast(abs(b) > 2.5, t)}, 1);
      const auto x = [&](const Tensor& of) { return solution(a, of).x; };
      const auto adjoint = [&](const Tensor& of) { return vjp(x, of).second(of); };
      const Tensor all = x(b), all_adjoint = adjoint(b);
      for (const Index c : {0, 3, 47, 48, 99, 100, 101, 201}) {
        const Tensor alone = select(b, 1, c);
        EXPECT_TRUE(same_bits(select(all, 1, c), x(alone))) << c;
        EXPECT_TRUE(same_bits(select(all_adjoint, 1, c), adjoint(alone))) << c;
      }
    }
}

/// Sum of the bits of solutions in all element types.
std::uint64_t bits_of_solutions() {
  std::uint64_t sum = 0;
  const Edges g{"a grid", 80 * 70, [](auto& e) { grid_edges(80, 70, e); }};
  for (const Dtype t : {Dtype::f32, Dtype::f64, Dtype::c64, Dtype::c128}) {
    Symmetric a = weighted(g, is_complex(t));
    a.values = cast(a.values, t);
    for (const Index columns : {1, 50}) {
      const Tensor x = contiguous(solution(a, cast(noise({g.n, columns}, 2, is_complex(t)), t)).x);
      const auto* p = static_cast<const unsigned char*>(x.view().data);
      for (std::size_t k = 0; k < static_cast<std::size_t>(x.size()) * size_of(t); ++k)
        sum = sum * 1099511628211u + p[k];
    }
  }
  return sum;
}

TEST(Ldlt, ThreadsChangeNoBit) {
  const int before = num_threads();
  std::array<std::uint64_t, 3> bits{};
  for (std::size_t k = 0; k < 3; ++k) {
    set_num_threads(std::array{1, 2, 4}[k]);
    bits[k] = bits_of_solutions();
  }
  set_num_threads(before);
  EXPECT_EQ(bits[0], bits[1]);
  EXPECT_EQ(bits[0], bits[2]);
}

TEST(Ldlt, WidthOfVectorsChangesNoBit) {
  if (std::getenv("TESSERA_LDLT_BITS")) {  // asked by itself, below
    std::printf("bits %llu\n", static_cast<unsigned long long>(bits_of_solutions()));
    return;
  }
  const std::unique_ptr<FILE, int (*)(FILE*)> child(
      popen("TESSERA_LDLT_BITS=1 TESSERA_VECTOR_BITS=256 $(readlink /proc/$PPID/exe) "
            "--gtest_filter=Ldlt.WidthOfVectorsChangesNoBit",
            "r"),
      pclose);
  ASSERT_TRUE(child);
  std::string said;
  for (std::array<char, 4096> line; std::fgets(line.data(), line.size(), child.get());)
    said += line.data();
  EXPECT_NE(said.find("bits " + std::to_string(bits_of_solutions()) + "\n"), std::string::npos)
      << said;
}

/// Counts how often something is factored.
class Counted final : public LinearSolver {
 public:
  std::string name() const override { return "counted"; }
  bool joins_columns() const override { return inner_->joins_columns(); }
  std::unique_ptr<PreparedSolver> prepare(const SolverOperator& a) const override {
    ++count;
    return inner_->prepare(a);
  }
  mutable std::atomic<int> count = 0;

 private:
  LinearSolverPtr inner_ = ldlt();
};

TEST(Ldlt, OneFactorServesValueAdjointAndSecondDerivative) {
  const Symmetric a = weighted(graphs()[6], true);
  const Tensor b = noise({a.pattern->rows()}, 2, true), c = noise({a.pattern->rows()}, 3, true);
  const auto counted = std::make_shared<Counted>();
  const LinearOperator op = LinearOperator::csr(a.values, a.pattern);
  const auto f = [&](Tensor r) {
    const Tensor x = linear_solve(op, r, {.solver = counted}).x;
    return sum(real(conj(c) * x * x));
  };
  const Tensor h = hvp(f, b, noise(b.shape(), 4, true));
  EXPECT_EQ(counted->count, 1);
  EXPECT_GT(norm(h).item(), 0);
  const Tensor t = noise(a.values.shape(), 5, true);
  hvp(
      [&](Tensor v) {
        const Tensor x = linear_solve(LinearOperator::csr(v, a.pattern), b, {.solver = counted}).x;
        return sum(real(conj(c) * x * x));
      },
      a.values, t);
  EXPECT_EQ(counted->count, 2);
}

/// Sparse values from weights of edges, so that every change keeps the matrix symmetric.
struct Weights {
  CsrPatternPtr pattern;
  Tensor slot;  ///< [entries] -> weight
  Index count;
};
Weights weights_of(const CsrPatternPtr& p) {
  std::vector<Index> slot(static_cast<std::size_t>(p->entries()));
  Index count = 0;
  const std::vector<Index> row = p->row_of_entries();
  for (std::size_t e = 0; e < slot.size(); ++e)
    for (std::size_t m = 0; m <= e; ++m)
      if (row[m] == p->column()[e] && p->column()[m] == row[e]) {
        slot[e] = m == e ? count++ : slot[m];
        break;
      } else if (m == e) {
        slot[e] = count++;
      }
  return {p, tensor(slot), count};
}

TEST(Ldlt, DerivativesOfEveryKind) {
  const Edges g{"a grid", 20, [](auto& e) { grid_edges(4, 5, e); }};
  const Symmetric a = weighted(g, true);
  const Weights w = weights_of(a.pattern);
  std::vector<c128> first(static_cast<std::size_t>(w.count));
  const auto slot = w.slot.to_vector<Index>();
  const auto entry = a.values.to_vector<c128>();
  for (std::size_t e = 0; e < slot.size(); ++e) first[static_cast<std::size_t>(slot[e])] = entry[e];
  const Tensor at = tensor(first), b = noise({20, 2}, 2, true);
  const auto f = [&](Tensor u, Tensor r) { return solution({a.pattern, take(u, w.slot, 0)}, r).x; };
  const auto args = std::tuple(at, b);
  const CheckReport reports[] = {gradcheck(f, args, {.order = 2}),
                                 transpose_check(f, args, {.order = 2}), vmap_check(f, args)};
  for (const CheckReport& r : reports) EXPECT_TRUE(r) << to_string(r);
  const CheckReport series =
      jetcheck([&](Tensor u) { return f(u, b); }, at, noise(at.shape(), 3, true), 3);
  EXPECT_TRUE(series) << to_string(series);
}

TEST(Ldlt, PlansAndBatchesOfDerivatives) {
  const Symmetric a = weighted(graphs()[6], true);
  const Tensor b = noise({a.pattern->rows(), 2}, 2, true);
  const auto loss = [&](Tensor v) { return sum(square(abs(solution({a.pattern, v}, b).x))); };
  const auto planned = jit(grad(loss));
  for (const double scale : {1.0, 1.5, 1.0})
    EXPECT_EQ(planned(scale * a.values).to_vector<c128>(),
              grad(loss)(scale * a.values).to_vector<c128>());
  const Tensor values = stack({a.values, 2.0 * a.values});
  const Tensor many = vmap(grad(loss))(values);
  EXPECT_EQ(select(many, 0, 1).to_vector<c128>(), grad(loss)(2.0 * a.values).to_vector<c128>());
  const Tensor sum_of_many = grad([&](Tensor s) { return sum(vmap(loss)(s)); })(values);
  EXPECT_LE(norm_error(sum_of_many, many), 1e-15);
}

std::string refusal(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Ldlt, RefusesWhatIsNotSymmetric) {
  const auto two = csr_pattern(2, 2, {0, 2, 4}, {0, 1, 0, 1});
  const auto with = [&](double upper, double lower) {
    return refusal([&] { solution({two, tensor({2.0, upper, lower, 3.0})}, ones({2})); });
  };
  EXPECT_EQ(with(1, 1), "");
  EXPECT_EQ(with(1, 1 + 1e-15), "");
  EXPECT_NE(with(1, 1.001).find("not symmetric: a(0, 1) = 1.0"), std::string::npos)
      << with(1, 1.001);
  // One triangle alone, and one whose other half is stored as zeros.
  const auto upper = csr_pattern(2, 2, {0, 2, 3}, {0, 1, 1});
  EXPECT_NE(refusal([&] {
              solution({upper, tensor({2.0, 1.0, 3.0})}, ones({2}));
            }).find("none"),
            std::string::npos);
  EXPECT_EQ(solution({upper, tensor({2.0, 0.0, 4.0})}, ones({2})).x.to_vector(),
            (std::vector<double>{0.5, 0.25}));
  // Hermitian is not symmetric.
  const c128 i(0, 1);
  EXPECT_NE(refusal([&] {
              solution({two, tensor(std::vector<c128>{2.0, i, -i, 3.0})}, ones({2}));
            }).find("not A = A^H"),
            std::string::npos);
  EXPECT_NE(refusal([&] {
              linear_solve(LinearOperator::function([](const Tensor& x) { return 2.0 * x; }),
                           ones({2}), {.solver = ldlt()});
            }).find("needs the entries"),
            std::string::npos);
}

/// One of two ranks, which has all unknowns.
class OneOfTwo final : public VectorOnRanks {
 public:
  int rank() const override { return 0; }
  int ranks() const override { return 2; }
  std::span<const Index> parts() const override { return begin_; }
  void sum(std::span<const double> of_parts, Index, std::span<double> total) const override {
    total[0] = of_parts[0];
  }
  double max(double mine) const override { return mine; }

 private:
  std::array<Index, 2> begin_{0, 2};
};

TEST(Ldlt, RefusesRowsOnRanks) {
  const std::array<double, 4> values{2, 1, 1, 3};
  SolverOperator a;
  a.kind = SolverOperator::Kind::csr;
  a.n = 2;
  a.values = values.data();
  a.pattern = csr_pattern(2, 2, {0, 2, 4}, {0, 1, 0, 1});
  EXPECT_NO_THROW(ldlt()->prepare(a));
  a.ranks = std::make_shared<const OneOfTwo>();
  EXPECT_NE(refusal([&] { ldlt()->prepare(a); }).find("the unknowns lie on ranks"),
            std::string::npos);
}

TEST(Ldlt, SaysWhatItCannotSolve) {
  const auto two = csr_pattern(2, 2, {0, 2, 4}, {0, 1, 0, 1});
  const auto with = [&](double a, double b, double d) {
    return solution({two, tensor({a, b, b, d})}, tensor({1.0, 2.0}));
  };
  EXPECT_EQ(reason_of(with(1, 1, 1)), code(SolveReason::singular));
  EXPECT_TRUE(std::isnan(with(1, 1, 1).x.to_vector()[0]));
  EXPECT_EQ(reason_of(with(0, 1, 0)), code(SolveReason::singular));  // has an inverse, needs pivots
  EXPECT_EQ(reason_of(with(0, 0, 1)), code(SolveReason::singular));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(reason_of(with(1, nan, 3)), code(SolveReason::not_finite));
  EXPECT_EQ(reason_of(with(1, INFINITY, 3)), code(SolveReason::not_finite));
  // An empty row.
  const Symmetric gap{csr_pattern(3, 3, {0, 1, 1, 2}, {0, 2}), ones({2})};
  EXPECT_EQ(reason_of(solution(gap, ones({3}))), code(SolveReason::singular));
  // NaN in one column of b stays there.
  const Symmetric a = weighted(graphs()[6], false);
  std::vector<double> b(static_cast<std::size_t>(2 * a.pattern->rows()), 1);
  b[11] = nan;
  const LinearSolution y = solution(a, tensor(b, {a.pattern->rows(), 2}));
  EXPECT_EQ(reason_of(y), code(SolveReason::not_finite));
  EXPECT_EQ(select(y.x, 1, 0).to_vector(), solution(a, ones({a.pattern->rows()})).x.to_vector());
  // A derivative that cannot be had is NaN.
  const Tensor g = grad([&](Tensor v) {
    return sum(solution({two, v}, ones({2})).x);
  })(tensor({0.0, 1.0, 1.0, 0.0}));
  EXPECT_TRUE(std::isnan(g.to_vector()[0]));
}

// Pivots of 1e-6 let the factors grow to 1e6: 10 of 16 digits are left, which refinement makes
// whole. Of pivots of 1e-30 nothing is left, which is said.
TEST(Ldlt, SmallPivotsAreRefinedOrReported) {
  const Index m = 30;
  const auto at = [&](double small) {
    // [small, r^T; r, -S] in pairs: symmetric, well conditioned, and in no order without growth.
    std::vector<Index> row, column;
    std::vector<double> v;
    const std::vector<double> w = noise({4 * m}, 3).to_vector();
    const auto both = [&](Index i, Index j, double x) {
      row.push_back(i), column.push_back(j), v.push_back(x);
      if (i != j) row.push_back(j), column.push_back(i), v.push_back(x);
    };
    for (Index k = 0; k < m; ++k) {
      both(2 * k, 2 * k, small), both(2 * k + 1, 2 * k + 1, small), both(2 * k, 2 * k + 1, 1.0);
      if (k) both(2 * k - 1, 2 * k, 0.3 * w[static_cast<std::size_t>(k)]);
    }
    const CooPattern coo = csr_from_coo(2 * m, 2 * m, row, column);
    const Symmetric a{coo.pattern, csr_values(coo, tensor(v))};
    const Tensor b = noise({2 * m}, 4);
    const LinearSolution y = solution(a, b);
    const double error = norm_error(y.x, solve(csr_to_dense(a.values, a.pattern), b));
    return std::pair(reason_of(y), error);
  };
  const auto [refined, little] = at(1e-6);
  EXPECT_EQ(refined, code(SolveReason::exact));
  EXPECT_LE(little, 1e-12);
  const auto [lost, much] = at(1e-30);
  EXPECT_EQ(lost, code(SolveReason::stagnated)) << much;
}

TEST(Ldlt, TheScaleOfTheProblemDoesNotMatter) {
  const Symmetric a = weighted(graphs()[6], true);
  const Tensor b = noise({a.pattern->rows()}, 2, true), one = solution(a, b).x;
  for (const int e : {-900, -600, 300, 600, 900}) {
    SCOPED_TRACE(e);
    const double scale = std::ldexp(1.0, e);
    const LinearSolution y = solution(a, b * scale), z = solution({a.pattern, a.values * scale}, b);
    EXPECT_EQ(reason_of(y), code(SolveReason::exact));
    EXPECT_EQ((y.x / scale).to_vector<c128>(), one.to_vector<c128>());
    EXPECT_EQ(reason_of(z), code(SolveReason::exact));
    EXPECT_LE(norm_error(z.x * scale, one), 1e-13);
  }
}

// Columns of one solve, and systems of their own: (4 1; 1 3)^-1 (1, 2) = (1, 7) / 11.
TEST(Ldlt, OneSystemOfABatchDoesNotFailTheOthers) {
  const Tensor a = tensor({4.0, 1.0, 1.0, 3.0}, {2, 2}), fine = ones({2, 2}),
               b = tensor({1.0, 2.0, std::nan(""), 1.0}, {2, 2});
  for (const LinearSolverPtr& solver : {ldlt(), dense_lu(), dense_cholesky(), cg()}) {
    SCOPED_TRACE(solver->name());
    const auto both = [&](Tensor r) {
      const LinearSolution y = linear_solve(LinearOperator::dense(a), r, {.solver = solver});
      return std::pair(y.x, y.reason);
    };
    const auto x_of = [&](Tensor r) { return both(r).first; };
    const auto all = [&](Tensor r) { return vmap(x_of)(r); };
    const auto right = [](const Tensor& x) {
      EXPECT_NEAR(x.to_vector()[0], 1.0 / 11, 1e-10);  // the tolerance of cg
      EXPECT_NEAR(x.to_vector()[1], 7.0 / 11, 1e-10);
    };
    const auto [x, why] = vmap(both)(b);
    right(select(x, 0, 0));
    EXPECT_GT(why.to_vector<std::int32_t>()[0], 0);
    EXPECT_EQ(why.to_vector<std::int32_t>()[1], code(SolveReason::not_finite));
    for (const Tensor& t : {jvp(all, fine, b).second, vjp(all, fine).second(b),
                            transpose(jvp(x_of, fine, transpose(b)).second)}) {
      right(select(t, 0, 0));
      EXPECT_FALSE(any(is_finite(select(t, 0, 1))).item<bool>());
    }
  }
}

}  // namespace
}  // namespace tessera::solvers
