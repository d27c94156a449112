// SPDX-License-Identifier: Apache-2.0
//
// Rows of a matrix on ranks: products in whole numbers against a dense matrix, and solves, sums and
// derivatives to the bits of one process.
#include "tessera/parallel/row_matrix.h"

#include "dealt.h"
#include "tessera/autodiff/jet.h"
#include "tessera/autodiff/jit.h"
#include "tessera/parallel/pieces.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera::parallel {
namespace {

using namespace checks;

/// A matrix in whole numbers, row by row; of its pattern every rank knows all.
struct Whole {
  Index n = 0;
  std::vector<Index> begin{0}, column;
  std::vector<double> value;
  Tensor dense() const {
    std::vector<double> d(static_cast<std::size_t>(n * n));
    for (Index i = 0; i < n; ++i)
      for (Index e = begin[at(i)]; e < begin[at(i) + 1]; ++e)
        d[at(i * n + column[at(e)])] = value[at(e)];
    return tensor(d, {n, n});
  }
  CsrPatternPtr pattern() const { return csr_pattern(n, n, begin, column); }
  static std::size_t at(Index i) { return static_cast<std::size_t>(i); }
};
/// A few entries a row, some of them far away; a diagonal that dominates where it should.
Whole matrix(Index n, std::uint64_t seed, bool symmetric) {
  std::mt19937_64 random(seed);
  std::vector<std::map<Index, double>> rows(Whole::at(n));
  for (Index i = 0; i < n; ++i)
    for (int k = 0; k < 3; ++k) {
      const Index j = k == 0 ? (i + 1) % n : static_cast<Index>(random() % Whole::at(n));
      if (j == i) continue;
      const double v = static_cast<double>(random() % 9) - 4;
      rows[Whole::at(i)][j] = v;
      if (symmetric) rows[Whole::at(j)][i] = v;
    }
  Whole w;
  w.n = n;
  for (Index i = 0; i < n; ++i) {
    double sum = 1;
    for (const auto& [j, v] : rows[Whole::at(i)]) sum += std::abs(v);
    rows[Whole::at(i)][i] = sum + static_cast<double>(i % 3);
    for (const auto& [j, v] : rows[Whole::at(i)]) w.column.push_back(j), w.value.push_back(v);
    w.begin.push_back(static_cast<Index>(w.column.size()));
  }
  return w;
}

/// What this rank has of it, in parts of `part`, and of vectors.
struct Mine {
  Mine(Communicator& c, const Whole& w, Index part) : Mine(c, w, deal_rows(w.n, c, part), {}) {}
  /// `numbers`: the unknowns of this rank, those of its parts one after the other.
  Mine(Communicator& c, const Whole& w, const std::vector<Index>& parts,
       const std::vector<Index>& numbers)
      : rows(numbers) {
    if (rows.empty())
      for (Index i = parts.front(); i < parts.back(); ++i) rows.push_back(i);
    std::vector<Index> begin{0}, column;
    for (const Index i : rows) {
      for (Index e = w.begin[Whole::at(i)]; e < w.begin[Whole::at(i) + 1]; ++e) {
        entries.push_back(e);
        column.push_back(w.column[Whole::at(e)]);
      }
      begin.push_back(static_cast<Index>(column.size()));
    }
    a = RowMatrix::make(c, {parts, begin, column, numbers});
  }
  Tensor of(const Tensor& all) const { return gather(all, tensor(rows)); }
  Tensor values_of(const Tensor& all) const { return gather(all, tensor(entries)); }
  std::vector<Index> rows, entries;
  RowMatrixPtr a;
};
/// The elements of all ranks where unknown k has its place.
Tensor together(Communicator& c, const std::vector<Index>& rows, const Tensor& x) {
  const Tensor flat = contiguous(x);
  const auto v = flat.data<double>();
  const auto lists = c.all_gather(to_bytes(rows)),
             values = c.all_gather(to_bytes(std::vector<double>(v.begin(), v.end())));
  std::map<Index, double> all;
  for (std::size_t r = 0; r < lists.size(); ++r) {
    const auto of = from_bytes<Index>(lists[r]);
    const auto here = from_bytes<double>(values[r]);
    for (std::size_t k = 0; k < of.size(); ++k) all[of[k]] = here[k];
  }
  std::vector<double> list;
  for (const auto& [k, value] : all) list.push_back(value);
  return tensor(list);
}

/// On every number of ranks.
void on_ranks(const std::function<void(Communicator&)>& f) {
  for (int ranks = 1; ranks <= 8; ++ranks)
    run_ranks(ranks, f, {.delays = ranks % 2 ? 0U : static_cast<std::uint64_t>(ranks)});
}

TEST(RowMatrix, ProductsAreThoseOfTheDenseMatrix) {
  for (const Index n : {1, 2, 5, 60}) {
    const Whole w = matrix(n, 1, false);
    const Tensor d = w.dense(), values = tensor(w.value);
    const Tensor x = whole(2, {n}), wide = whole(3, {n, 3});
    on_ranks([&](Communicator& c) {
      const Mine m(c, w, 7);
      const Tensor v = m.values_of(values);
      require(same_values(m.a->product(v, m.of(x)), m.of(matmul(d, x))), "A x");
      require(same_values(m.a->product(v, m.of(wide)), m.of(matmul(d, wide))), "A X");
      require(same_values(m.a->product(v, m.of(x), true), m.of(matmul(transpose(d), x))), "A' x");
      require(m.a->dot(m.of(x), m.of(x)).item() == checks::dot(x, x), "x' x");
      // <y, A x> along values and x, and twice.
      const auto loss = [&](Tensor u, Tensor y) {
        const Tensor z = m.a->product(u, y);
        return m.a->dot(z * z, z);
      };
      const auto one = [&](Tensor u, Tensor y) {
        const Tensor z = csr_matmul(u, w.pattern(), y);
        return sum(z * z * z);
      };
      require(same_values(grad([&](Tensor u) { return loss(u, m.of(x)); })(v),
                          m.values_of(grad([&](Tensor u) { return one(u, x); })(values))),
              "along values");
      const auto mixed = [&](Tensor y) {
        return m.a->dot(grad([&](Tensor t) { return loss(v, t); })(y), m.of(x));
      };
      const auto mixed_one = [&](Tensor y) {
        return sum(grad([&](Tensor t) { return one(values, t); })(y) * x);
      };
      require(same_values(grad(mixed)(m.of(x)), m.of(grad(mixed_one)(x))), "second order");
    });
  }
}

TEST(RowMatrix, NothingAndLittle) {
  on_ranks([](Communicator& c) {
    const Mine none(c, Whole{}, 7);
    require(none.a->product(zeros({0}), zeros({0})).size() == 0, "no unknown");
    require(linear_solve(none.a->with(zeros({0})), zeros({0}), {.solver = cg()}).x.size() == 0,
            "no unknown, solved");
    const Mine one(c, matrix(1, 1, true), 7);
    const bool here = !one.rows.empty();
    require(here == (c.rank() == 0), "one unknown");
    const Tensor x = linear_solve(one.a->with(full({here ? 1 : 0}, 4.0)), full({here ? 1 : 0}, 2.0),
                                  {.solver = cg()})
                         .x;
    require(!here || x.to_vector() == std::vector<double>{0.5}, "one unknown, solved");
  });
}

struct Solver {
  const char* name;
  LinearSolverPtr solver;
  bool symmetric;
};
std::vector<Solver> solvers() {
  const KrylovOptions o{.tolerance = 1e-13, .iterations = 400};
  KrylovOptions plain = o;
  plain.jacobi = false;
  return {{"cg", cg(o), true},
          {"cg without scaling", cg(plain), true},
          {"minres", minres(o), true},
          {"bicgstab", bicgstab(o), false},
          {"gmres", gmres(o), false}};
}

/// The solution and what follows from it: derivatives along b and along the values.
std::vector<Tensor> solved(const Mine& m, const Tensor& v, const Tensor& b, const Solver& s) {
  const auto x_of = [&](Tensor u, Tensor r) {
    return linear_solve(m.a->with(u), r, {.solver = s.solver}).x;
  };
  const auto loss = [&](Tensor u, Tensor r) {
    const Tensor x = x_of(u, r);
    return m.a->dot(x * x, x);
  };
  const auto of_values = [&](Tensor u) { return loss(u, b); };
  const auto of_b = [&](Tensor r) { return loss(v, r); };
  const Tensor du = grad(of_values)(v);
  const Tensor batch = vmap([&](Tensor r) { return x_of(v, r); })(stack({b, 2.0 * b, 0.0 * b}));
  return {x_of(v, b),
          grad(of_b)(b),
          m.a->product(du, b),
          hvp(of_b, b, b),
          m.a->product(jvp(grad(of_values), v, v).second, b),
          jit(grad(of_b))(b),
          jet([&](Tensor r) { return square(x_of(v, r)); }, 2)(b, b)[1],
          select(batch, 0, 1) + select(batch, 0, 2)};
}

TEST(RowMatrix, SolvesHaveTheBitsOfOneRank) {
  constexpr Index kN = 75;
  for (const Solver& s : solvers()) {
    const Whole w = matrix(kN, 5, s.symmetric);
    const Tensor values = 0.1 * tensor(w.value), b = sin(cast(arange(kN), Dtype::f64));
    const auto results = [&](Communicator& c, const Mine& m) {
      std::vector<Tensor> all;
      for (const Tensor& t : solved(m, m.values_of(values), m.of(b), s))
        all.push_back(together(c, m.rows, t));
      return all;
    };
    Communicator alone = parallel::alone();
    const std::vector<Tensor> one = results(alone, Mine(alone, w, 7));
    // Right, too: against dense LU.
    const auto dense_loss = [&](Tensor v, Tensor r) {
      const Tensor x = linear_solve(LinearOperator::dense(csr_to_dense(v, w.pattern())), r).x;
      return sum(x * x * x);
    };
    const auto off = [&](const Tensor& x, const Tensor& y) {
      return (norm(x - y) / norm(y)).item();
    };
    const auto along_b = [&](Tensor r) { return dense_loss(values, r); };
    EXPECT_LT(off(one[0], matmul(inv(0.1 * w.dense()), b)), 1e-10) << s.name;
    EXPECT_LT(off(one[1], grad(along_b)(b)), 1e-10) << s.name;
    const Tensor dv = grad([&](Tensor v) { return dense_loss(v, b); })(values);
    EXPECT_LT(off(one[2], csr_matmul(dv, w.pattern(), b)), 1e-9) << s.name;
    EXPECT_LT(off(one[3], hvp(along_b, b, b)), 1e-9) << s.name;
    EXPECT_TRUE(same_values(one[5], one[1])) << s.name;
    for (const int ranks : {2, 3, 5, 8})
      if (ranks == 3 || s.symmetric == (ranks % 2 == 0))  // each takes thousands of exchanges
        run_ranks(ranks, [&](Communicator& c) {
          const std::vector<Tensor> here = results(c, Mine(c, w, 7));
          for (std::size_t k = 0; k < one.size(); ++k)
            require(same_values(here[k], one[k]), std::string(s.name) + ", " + std::to_string(k));
        });
  }
}

TEST(RowMatrix, PartsAsOneProcessHasThem) {
  // Three parts of 8,192: what a process without ranks makes of the matrix.
  constexpr Index kN = 20'000;
  Whole w;
  w.n = kN;
  for (Index i = 0; i < kN; ++i) {
    for (const Index j : {i - 100, i - 1, i, i + 1, i + 100})
      if (j >= 0 && j < kN) w.column.push_back(j), w.value.push_back(j == i ? 4.5 : -1);
    w.begin.push_back(static_cast<Index>(w.column.size()));
  }
  const Tensor values = tensor(w.value), b = cos(cast(arange(kN), Dtype::f64));
  for (const LinearSolverPtr& solver : {cg(), bicgstab()}) {
    const Tensor one =
        linear_solve(LinearOperator::csr(values, w.pattern()), b, {.solver = solver}).x;
    for (const int ranks : {1, 2, 3, 5})
      run_ranks(ranks, [&](Communicator& c) {
        const Mine m(c, w, kVectorPart);
        std::vector<SolveReport> reports;
        const auto note = [&](const SolveReport& r, bool) { reports.push_back(r); };
        const Tensor x = linear_solve(m.a->with(m.values_of(values)), m.of(b), {solver, note}).x;
        require(same_values(together(c, m.rows, x), one), "the bits of one process");
        require(reports.at(0).ok() && reports[0].iterations > 3, "converged");
      });
  }
}

TEST(RowMatrix, ComplexAndSinglePrecision) {
  constexpr Index kN = 40;
  const Whole w = matrix(kN, 7, true);
  for (const Dtype dtype : {Dtype::f32, Dtype::c64, Dtype::c128}) {
    const Tensor values = cast(0.1 * tensor(w.value), dtype), b = cast(whole(2, {kN}), dtype);
    const auto bits = [&](Communicator& c) {
      const Mine m(c, w, 7);
      const Tensor x = linear_solve(m.a->with(m.values_of(values)), m.of(b), {.solver = gmres()}).x;
      return together(c, m.rows, cast(is_complex(dtype) ? real(x) + 3.0 * imag(x) : x, Dtype::f64));
    };
    Communicator alone = parallel::alone();
    const Tensor one = bits(alone);
    on_ranks([&](Communicator& c) { require(same_values(bits(c), one), "bits"); });
  }
}

TEST(RowMatrix, ExtremeSizesAreAgreedOn) {
  // Squares overflow, and on one rank alone is a large element.
  constexpr Index kN = 30;
  const Whole w = matrix(kN, 3, true);
  std::vector<double> v(kN, 1e-3);
  v[1] = 1e200;
  const Tensor b = tensor(v);
  const auto bits = [&](Communicator& c) {
    const Mine m(c, w, 4);
    return together(
        c, m.rows,
        linear_solve(m.a->with(m.values_of(tensor(w.value))), m.of(b), {.solver = cg()}).x);
  };
  Communicator alone = parallel::alone();
  const Tensor one = bits(alone);
  EXPECT_LT((norm((matmul(w.dense(), one) - b) * 1e-200)).item(), 1e-10);
  on_ranks([&](Communicator& c) { require(same_values(bits(c), one), "bits"); });
  // Not a number on one rank: a result on all.
  run_ranks(3, [&](Communicator& c) {
    const Mine m(c, w, 4);
    const Tensor bad = c.rank() == 1 ? m.of(b) / 0.0 : m.of(b);
    const auto s = linear_solve(m.a->with(m.values_of(tensor(w.value))), bad, {.solver = cg()});
    require(s.reason.item<std::int32_t>() == static_cast<std::int32_t>(SolveReason::not_finite),
            "not finite");
  });
}

TEST(RowMatrix, FunctionsOfWhatLiesOnRanks) {
  constexpr Index kN = 50;
  const Whole w = matrix(kN, 5, true);
  const Tensor values = 0.1 * tensor(w.value), b = whole(2, {kN}), k = whole(4, {kN}) + 12.0;
  const auto bits = [&](Communicator& c) {
    const Mine m(c, w, 6);
    const Tensor v = m.values_of(values);
    const auto x_of = [&](Tensor d) {
      const auto product = [&](Tensor x) { return m.a->product(v, x) + d * x; };
      return linear_solve(LinearOperator::self_adjoint(product).on_ranks(m.a), m.of(b),
                          {.solver = cg({.tolerance = 1e-13})})
          .x;
    };
    const Tensor d = m.of(k);
    const auto loss = [&](Tensor t) {
      const Tensor x = x_of(t);
      return m.a->dot(x, x);
    };
    return std::pair(together(c, m.rows, x_of(d)), together(c, m.rows, hvp(loss, d, d)));
  };
  Communicator alone = parallel::alone();
  const auto one = bits(alone);
  const Tensor a = 0.1 * w.dense() + diag(k);
  EXPECT_LT((norm(matmul(a, one.first) - b) / norm(b)).item(), 1e-12);
  on_ranks([&](Communicator& c) {
    const auto here = bits(c);
    require(same_values(here.first, one.first) && same_values(here.second, one.second), "bits");
  });
}

TEST(RowMatrix, PiecesOfAGraphAreParts) {
  constexpr Index kN = 64;
  constexpr int kPieces = 6;
  const Whole w = matrix(kN, 9, true);
  std::vector<std::array<double, 3>> points;
  for (Index i = 0; i < kN; ++i)
    points.push_back({static_cast<double>(i % 8), static_cast<double>(i / 8), 0});
  const Tensor values = tensor(w.value), b = whole(2, {kN});
  for (const std::vector<int>& piece :
       {cut_curve(points, kPieces), cut_graph(graph_of_matrix(w.begin, w.column), kPieces)}) {
    const auto bits = [&](Communicator& c) {
      const PartsOfRanks dealt = deal_parts(kPieces, c.size());
      std::vector<Index> parts{0}, numbers;
      for (Index p = dealt[Whole::at(c.rank())]; p < dealt[Whole::at(c.rank()) + 1]; ++p) {
        const auto of = members(piece, static_cast<int>(p));
        numbers.insert(numbers.end(), of.begin(), of.end());
        parts.push_back(static_cast<Index>(numbers.size()));
      }
      const Mine m(c, w, parts, numbers);
      const Tensor x = linear_solve(m.a->with(m.values_of(values)), m.of(b), {.solver = cg()}).x;
      return together(c, numbers, x);
    };
    Communicator alone = parallel::alone();
    const Tensor one = bits(alone);
    EXPECT_LT((norm(matmul(w.dense(), one) - b) / norm(b)).item(), 1e-9);
    on_ranks([&](Communicator& c) {
      require(same_values(bits(c), one), "bits");  // of 7 and 8 ranks some have no piece
    });
  }
}

TEST(RowMatrix, RefusesWhatDoesNotFit) {
  const auto message = [](int ranks, const std::function<void(Communicator&)>& f) -> std::string {
    try {
      run_ranks(ranks, f);
    } catch (const Error& e) {
      return e.what();
    }
    return {};
  };
  const auto expect = [&](const std::string& words, const RowsOfRank& rows) {
    const std::string text = message(2, [&](Communicator& c) {
      const std::vector<Index> none{9}, zero{0};
      RowMatrix::make(c, c.rank() == 1 ? rows : RowsOfRank{none, zero, {}});
    });
    EXPECT_NE(text.find(words), std::string::npos) << "'" << words << "' in: " << text;
    EXPECT_NE(text.find("row_matrix_test.cpp:"), std::string::npos) << text;
  };
  const std::vector<Index> two{0, 2}, begin{0, 1, 2}, short_begin{0, 2}, column{0, 1}, back{1, 0},
      far{0, 5}, falls{2, 0}, number{4}, twice{3, 3}, at_once{0, 2, 2};
  expect("[row_matrix] rank 1: parts begin at numbers that do not fall", {falls, begin, column});
  expect("rank 1: 2 rows begin at 3 numbers from 0", {two, short_begin, column});
  expect("columns do not rise within its row 0", {two, at_once, back});
  expect("1 numbers for 2 rows", {two, begin, column, number});
  expect("index 3 is owned twice by rank 1", {two, begin, column, twice});
  expect("index 5, which rank 1 wants a copy of, is owned by no rank", {two, begin, far});
  const std::string dense = message(2, [&](Communicator& c) {
    const Mine m(c, matrix(20, 1, true), 5);
    linear_solve(m.a->with(m.values_of(ones({static_cast<Index>(1000)}))), ones({m.a->size()}),
                 {.solver = dense_lu()});
  });
  EXPECT_NE(dense.find("the unknowns lie on 2 ranks"), std::string::npos) << dense;
}

}  // namespace
}  // namespace tessera::parallel
