// SPDX-License-Identifier: Apache-2.0
//
// Sparse Jacobians and Hessians against dense ones; patterns and numbers of colours against those
// known.
#include "mgh.h"
#include "random_functions.h"
#include "tessera/autodiff/check.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/sparse.h"

#include <gtest/gtest.h>

#include <set>

namespace tessera {
namespace {

using Function = std::function<Tensor(Tensor)>;

double distance(const Tensor& a, const Tensor& b) {
  return a.size() == 0 ? 0 : max(abs(a - b)).item();
}

/// Values, scattered into a dense matrix, against jacfwd at x and at another point; both ways of
/// compressing.
void expect_jacobian(const Function& f, const Tensor& x, double tolerance = 1e-13) {
  const Tensor y = f(x);
  for (const Compress how : {Compress::fewer, Compress::columns, Compress::rows}) {
    const SparseDerivative j = sparse_jacobian(f, x, how);
    for (const double shift : {0.0, 0.1}) {
      const Tensor at = x + shift, dense = reshape(jacfwd(f)(at), {y.size(), x.size()});
      EXPECT_LE(distance(csr_to_dense(j(at), j.pattern()), dense),
                tolerance * (1 + max(abs(dense)).item()));
    }
  }
}
void expect_hessian(const Function& f, const Tensor& x, double tolerance = 1e-13) {
  const SparseDerivative h = sparse_hessian(f, x);
  for (const double shift : {0.0, 0.1}) {
    const Tensor at = x + shift, dense = reshape(hessian(f)(at), {x.size(), x.size()});
    EXPECT_LE(distance(csr_to_dense(h(at), h.pattern()), dense),
              tolerance * (1 + max(abs(dense)).item()));
  }
}
std::vector<Index> columns_of(const CsrPattern& p, Index row) {
  const auto b = p.row_begin();
  return {p.column().begin() + b[static_cast<std::size_t>(row)],
          p.column().begin() + b[static_cast<std::size_t>(row) + 1]};
}

Tensor tridiagonal(const Tensor& x) {
  return (3.0 - 2.0 * x) * x - mgh::before(x) - 2.0 * mgh::after(x) * x + 1.0;
}
/// Five-point differences of u^2 on a square grid.
Tensor stencil(const Tensor& u) {
  const Index n = u.dim(0);
  const Tensor v = pad(square(u), {1, 1}, {1, 1});
  const auto part = [&](Index i, Index j) { return slice(v, {i, j}, {i + n, j + n}); };
  return part(0, 1) + part(2, 1) + part(1, 0) + part(1, 2) - 4.0 * part(1, 1) * u;
}

TEST(Sparsity, OfABandIsExactAndTakesItsWidthInColours) {
  const Tensor x = linspace(-1, 1, 40);
  const SparseDerivative j = sparse_jacobian(tridiagonal, x, Compress::columns);
  EXPECT_EQ(j.colors(), 3);
  EXPECT_EQ(j.pattern()->entries(), 3 * 40 - 2);
  EXPECT_EQ(columns_of(*j.pattern(), 0), (std::vector<Index>{0, 1}));
  EXPECT_EQ(columns_of(*j.pattern(), 7), (std::vector<Index>{6, 7, 8}));
  expect_jacobian(tridiagonal, x);
  for (const Index width : {2, 5, 9}) {
    const auto band = [&](Tensor x) {
      const Tensor p = pad(x, {0}, {width - 1});
      Tensor s = zeros({x.dim(0)});
      for (Index k = 0; k < width; ++k) s = s + sin(slice(p, 0, k, k + x.dim(0))) * x;
      return s;
    };
    EXPECT_EQ(sparse_jacobian(band, x, Compress::columns).colors(), width);
    expect_jacobian(band, x);
  }
}

TEST(Sparsity, OfTheFivePointStencilTakesFiveColours) {
  const Tensor u = reshape(linspace(0.5, 2, 144), {12, 12});
  const SparseDerivative j = sparse_jacobian(stencil, u, Compress::columns);
  EXPECT_EQ(j.pattern()->entries(), 5 * 144 - 4 * 12);
  EXPECT_EQ(columns_of(*j.pattern(), 12 * 5 + 5), (std::vector<Index>{53, 64, 65, 66, 77}));
  EXPECT_EQ(j.colors(), 5);  // a full row needs them
  expect_jacobian(stencil, u);
}

TEST(Sparsity, OfAnArrowNeedsSymmetry) {
  // The Jacobian of the gradient has a full row and a full column: n colours either way. A star has
  // two.
  const auto energy = [](Tensor x) {
    return sum(select(x, 0, 0) * pow(slice(x, 0, 1, x.dim(0)), 3)) + sum(square(square(x)));
  };
  const Tensor x = linspace(0.3, 1.5, 30);
  EXPECT_EQ(sparse_hessian(energy, x).colors(), 2);
  EXPECT_EQ(sparse_jacobian(grad(energy), x).colors(), 30);
  EXPECT_EQ(hessian_sparsity(energy, x)->entries(), 30 + 2 * 29);
  expect_hessian(energy, x);
}

TEST(Sparsity, OfBlocksTakesTheSizeOfABlock) {
  const Tensor weights = cos(reshape(linspace(0, 9, 8 * 9), {8, 3, 3}));
  const auto blocks = [&](Tensor x) {
    return tanh(reshape(matmul(weights, reshape(x, {8, 3, 1})), {24}));
  };
  const Tensor x = linspace(-1, 1, 24);
  const SparseDerivative j = sparse_jacobian(blocks, x, Compress::columns);
  EXPECT_EQ(j.colors(), 3);
  EXPECT_EQ(j.pattern()->entries(), 8 * 9);
  expect_jacobian(blocks, x);
}

TEST(Sparsity, OfFewResultsUsesRows) {
  const auto f = [](Tensor x) { return stack({sum(square(x)), prod(x)}); };
  const SparseDerivative j = sparse_jacobian(f, linspace(0.8, 1.2, 50));
  EXPECT_FALSE(j.by_columns());
  EXPECT_EQ(j.colors(), 2);
  expect_jacobian(f, linspace(0.8, 1.2, 50));
}

TEST(Sparsity, FollowsGatherAndScatterOfAMesh) {
  // Springs between nodes of a path with one extra edge: forces assembled by scatter_add.
  std::vector<std::int64_t> a, b;
  for (std::int64_t k = 0; k + 1 < 15; ++k) a.push_back(k), b.push_back(k + 1);
  a.push_back(2), b.push_back(11);
  const Tensor ia = tensor(a), ib = tensor(b);
  const auto force = [&](Tensor x) {
    const Tensor stretch = pow(gather(x, ib) - gather(x, ia), 3);
    return scatter_add(scatter_add(zeros({15}), ia, stretch), ib, -stretch);
  };
  const Tensor x = square(linspace(0, 2, 15));
  const auto p = jacobian_sparsity(force, x);
  EXPECT_EQ(columns_of(*p, 2), (std::vector<Index>{1, 2, 3, 11}));
  EXPECT_EQ(p->entries(), 15 + 2 * 15);
  expect_jacobian(force, x);
  const auto energy = [&](Tensor x) { return sum(square(square(gather(x, ib) - gather(x, ia)))); };
  EXPECT_EQ(*hessian_sparsity(energy, x), *p);
  expect_hessian(energy, x);
}

TEST(Sparsity, OfSparseProductsFollowsTheirPattern) {
  const auto p = csr_pattern(3, 4, {0, 2, 3, 5}, {0, 3, 1, 1, 2});
  const Tensor v = linspace(0.5, 2, 5), x = linspace(-1, 1, 4), y = linspace(-1, 1, 3);
  const auto product = [&](Tensor u) { return csr_matmul(v, p, sin(u)); };
  EXPECT_EQ(sparse_jacobian(product, x).pattern()->entries(), 5);
  EXPECT_EQ(columns_of(*sparse_jacobian(product, x).pattern(), 2), (std::vector<Index>{1, 2}));
  expect_jacobian(product, x);
  expect_jacobian([&](Tensor u) { return csr_matmul(v, p, square(u), true); }, y);
  expect_jacobian([&](Tensor u) { return csr_matmul(exp(u), p, x); }, v);
  expect_jacobian(
      [&](Tensor u) {
        return csr_sddmm(p, expand_dims(sin(slice(u, 0, 0, 3)), 1), expand_dims(u, 1));
      },
      x);
  expect_hessian([&](Tensor u) { return sum(square(csr_matmul(v, p, u * u))); }, x);
}

TEST(Sparsity, TakesEveryKindOfOperationConservatively) {
  const Tensor x = linspace(0.5, 1.4, 12), m = tril(ones({12, 12}), 1) - tril(ones({12, 12}), -3);
  const std::vector<Function> functions{
      [&](Tensor x) { return matmul(m, square(x)); },  // constant zeros of a matrix
      [](Tensor x) {
        return max(reshape(sin(3.0 * x), {4, 3}), {1});
      },                                            // extremes
      [](Tensor x) { return sort(sin(5.0 * x)); },  // indices that depend on x
      [](Tensor x) { return cumsum(square(x)); },   // dense
      [](Tensor x) {
        return reshape(matmul(reshape(x, {3, 4}), reshape(square(x), {4, 3})), {9});
      },  // both factors vary
      [](Tensor x) {
        return concatenate({reverse(slice(x, 0, 0, 6, 2), {0}), pad(x, {1}, {2}, {1}, 3.0)});
      },
      [](Tensor x) { return where(x > 0.9, square(x), reverse(x, {0})); },
      [](Tensor x) { return solve(diag(x) + 1.0, x); },
      [](Tensor x) {
        return scatter_set(square(x), tensor<std::int64_t>({3, 5}), slice(x, 0, 0, 2));
      },
      [](Tensor x) {
        return scatter_max(sin(x), tensor<std::int64_t>({3, 3}), slice(x, 0, 0, 2));
      },
      [](Tensor x) { return stop_gradient(x) * floor(x) + select(x, 0, 3); },
  };
  for (std::size_t k = 0; k < functions.size(); ++k) {
    SCOPED_TRACE(k);
    expect_jacobian(functions[k], x, 1e-12);
  }
  EXPECT_EQ(columns_of(*jacobian_sparsity(functions[0], x), 5), (std::vector<Index>{3, 4, 5, 6}));
  EXPECT_EQ(jacobian_sparsity(functions[10], x)->entries(), 12);  // of x_3 alone
  EXPECT_EQ(jacobian_sparsity([](Tensor x) { return ones({3}) + 0.0 * stop_gradient(sum(x)); }, x)
                ->entries(),
            0);
}

TEST(Sparsity, HoldsOnTheFunctionsOfMoreGarbowAndHillstrom) {
  for (const mgh::Problem& p : mgh::problems()) {
    SCOPED_TRACE(p.name);
    const Tensor x = tensor(p.start) * 1.1 + 0.013;
    expect_jacobian(p.residual, x, 1e-11);
    expect_hessian([&](Tensor x) { return sum(square(p.residual(x))); }, x, 1e-11);
  }
}

TEST(Coloring, IsValidAndReachesKnownOptima) {
  // Star colourings: a path needs 3 (a path of four vertices with two colours is not allowed), a
  // square grid 5.
  const auto path = [](Tensor x) {
    return sum(sin(slice(x, 0, 1, x.dim(0)) * slice(x, 0, 0, -1)));
  };
  EXPECT_EQ(sparse_hessian(path, linspace(0, 1, 60)).colors(), 3);
  expect_hessian(path, linspace(0, 1, 20));
  const auto grid = [](Tensor u) {
    const Index n = u.dim(0);
    return sum(pow(slice(u, 0, 1, n) - slice(u, 0, 0, -1), 4)) +
           sum(pow(slice(u, 1, 1, n) - slice(u, 1, 0, -1), 4));
  };
  const Tensor u = reshape(linspace(0, 3, 100), {10, 10});
  const SparseDerivative h = sparse_hessian(grid, u);
  EXPECT_EQ(h.colors(), 5);
  expect_hessian(grid, u);
  // Rows of the transpose are columns.
  const auto p = jacobian_sparsity(stencil, u);
  const Coloring columns = color_columns(*p), rows = color_rows(*p);
  EXPECT_EQ(columns.count, rows.count);  // symmetric
  const auto row = p->row_of_entries();
  std::set<std::pair<Index, Index>> seen;
  for (std::size_t e = 0; e < row.size(); ++e)
    EXPECT_TRUE(
        seen.insert({row[e], columns.color[static_cast<std::size_t>(p->column()[e])]}).second);
}

/// The fewest colours with which no two vertices for which `apart` holds share one, by trying all.
Index fewest_colors(Index n, const std::function<bool(const std::vector<Index>&)>& valid) {
  for (Index count = 1;; ++count) {
    std::vector<Index> color(static_cast<std::size_t>(n), 0);
    for (;;) {
      if (valid(color)) return count;
      std::size_t k = 0;
      while (k < color.size() && color[k] == count - 1) color[k++] = 0;
      if (k == color.size()) break;
      ++color[k];
    }
  }
}
/// No row has two columns of one colour.
bool columns_valid(const CsrPattern& p, const std::vector<Index>& color) {
  for (Index i = 0; i < p.rows(); ++i) {
    std::set<Index> seen;
    for (Index j : columns_of(p, i))
      if (!seen.insert(color[static_cast<std::size_t>(j)]).second) return false;
  }
  return true;
}
/// Neighbours differ, and no path of four vertices has two colours.
bool star_valid(const CsrPattern& p, const std::vector<Index>& color) {
  const auto c = [&](Index v) { return color[static_cast<std::size_t>(v)]; };
  for (Index a = 0; a < p.rows(); ++a)
    for (Index b : columns_of(p, a)) {
      if (a == b) continue;
      if (c(a) == c(b)) return false;
      for (Index d : columns_of(p, b))
        for (Index e : columns_of(p, d))
          if (d != a && d != b && e != d && e != b && e != a && c(d) == c(a) && c(e) == c(b))
            return false;
    }
  return true;
}

TEST(Coloring, OfRandomPatternsIsValidAndNearTheFewestPossible) {
  std::mt19937_64 rng(3);
  int exact = 0, total = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const Index m = 3 + fuzz::below_of(rng, 5), n = 6;
    std::vector<Index> row, column, srow, scolumn;
    for (Index e = 0; e < 9; ++e)
      row.push_back(fuzz::below_of(rng, m)), column.push_back(fuzz::below_of(rng, n));
    for (Index e = 0; e < 7; ++e) {
      const Index a = fuzz::below_of(rng, n), b = fuzz::below_of(rng, n);
      srow.insert(srow.end(), {a, b}), scolumn.insert(scolumn.end(), {b, a});
    }
    for (Index i = 0; i < n; ++i) srow.push_back(i), scolumn.push_back(i);
    const CsrPattern p = *csr_from_coo(m, n, row, column).pattern,
                     s = *csr_from_coo(n, n, srow, scolumn).pattern;
    const Coloring by_column = color_columns(p),
                   by_row = color_rows(*csr_from_coo(n, m, column, row).pattern),
                   star = color_star(s);
    EXPECT_EQ(by_column.color, by_row.color);  // rows of the transpose
    EXPECT_TRUE(columns_valid(p, by_column.color));
    EXPECT_TRUE(star_valid(s, star.color));
    const Index best = fewest_colors(n, [&](const auto&c) { return columns_valid(p, c); }),
                best_star = fewest_colors(n, [&](const auto&c) { return star_valid(s, c); });
    EXPECT_LE(by_column.count, best + 1);
    EXPECT_LE(star.count, best_star + 1);
    exact += (by_column.count == best) + (star.count == best_star);
    total += 2;
  }
  RecordProperty("as_few_as_possible", exact);
  EXPECT_GE(exact, total * 9 / 10);
}

TEST(Coloring, OfLargePatternsTakesLittleTime) {
  // A dense row, an arrow, and bands: orders that ask around every vertex again are left out where
  // that is quadratic.
  const Tensor x = linspace(0.3, 1.5, 2000);
  EXPECT_EQ(sparse_hessian([](Tensor x) { return sum(select(x, 0, 0) * square(x)); }, x).colors(),
            2);
  EXPECT_EQ(sparse_jacobian([](Tensor x) { return sum(square(x)) * ones({1}); }, x).colors(), 1);
  EXPECT_EQ(sparse_jacobian(tridiagonal, linspace(-1, 1, 100000)).colors(), 3);
}

/// Real numbers in, real numbers out: a random function of x and of complex numbers made of it.
Tensor drawn(std::uint64_t seed, const Tensor& x) {
  std::vector<Tensor> in{x}, out;
  if (seed % 3 == 0) in.push_back(complex(x, reverse(x, {0})));
  for (const Tensor& y : fuzz::random_function(seed)(in)) {
    out.push_back(reshape(real(y), {y.size()}));
    if (is_complex(y.dtype())) out.push_back(reshape(imag(y), {y.size()}));
  }
  return concatenate(out, 0);
}

TEST(Sparsity, OfRandomFunctionsNeverDropsAnEntry) {
  int sparse = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 rng(seed);
    const Tensor x = fuzz::random_tensor({Dtype::f64, {5, 2}}, rng);
    const auto f = [&](Tensor x) { return drawn(seed, x); };
    expect_jacobian(f, x, 1e-11);
    const auto energy = [&](Tensor x) { return sum(sin(f(x))); };
    expect_hessian(energy, x, 1e-10);
    const auto p = jacobian_sparsity(f, x);
    sparse += p->entries() < p->rows() * p->cols();
  }
  RecordProperty("not_full", sparse);
  EXPECT_GT(sparse, 100);
}

TEST(Sparsity, HoldsWhereConstantsAreMadeOfTheArgument) {
  // A mask that is zero at x and not elsewhere, indices that are sorted anew.
  const Tensor x = linspace(-1, 0.95, 6);
  const auto masked = [](Tensor x) { return matmul(diag(cast(x > 0.0, Dtype::f64)), square(x)); };
  const auto chosen = [](Tensor x) { return gather(square(x), argsort(sin(7.0 * x))); };
  for (const Function& f : {Function(masked), Function(chosen)}) {
    const SparseDerivative j = sparse_jacobian(f, x);
    for (const double shift : {0.3, 0.7, 1.5})
      EXPECT_LE(distance(csr_to_dense(j(x + shift), j.pattern()), jacfwd(f)(x + shift)), 1e-13);
  }
}

TEST(SparseDerivative, RunsInJitAndHasDerivatives) {
  const Tensor x = linspace(-1, 1, 10);
  const SparseDerivative j = sparse_jacobian(tridiagonal, x, Compress::columns),
                         r = sparse_jacobian(tridiagonal, x, Compress::rows);
  EXPECT_EQ(jit([&](Tensor x) { return j(x); })(x + 0.2).to_vector(), j(x + 0.2).to_vector());
  for (const SparseDerivative& s : {j, r}) {
    const CheckReport report = gradcheck([&](Tensor x) { return s(x); }, x);
    EXPECT_TRUE(report) << to_string(report);
  }
  EXPECT_LE(
      distance(csr_matmul(j(x), j.pattern(), ones({10})), jvp(tridiagonal, x, ones({10})).second),
      1e-14);
}

TEST(SparseDerivative, KeepsSinglePrecisionAndRefusesWhatItCannotDo) {
  const Tensor x = cast(linspace(-1, 1, 10), Dtype::f32);
  const SparseDerivative j = sparse_jacobian(tridiagonal, x);
  EXPECT_EQ(j(x).dtype(), Dtype::f32);
  EXPECT_THROW(j(ones({11}, Dtype::f32)), Error);
  EXPECT_THROW(jacobian_sparsity([](Tensor z) { return z; }, zeros({3}, Dtype::c128)), Error);
  EXPECT_THROW(jacobian_sparsity([](Tensor x) { return complex(x, x); }, zeros({3})), Error);
}

TEST(SparseDerivative, FollowsValuesThatAreRead) {
  const auto f = [](Tensor x) { return select(x, 0, 0).item() > 0 ? square(x) : mgh::before(x); };
  expect_jacobian(f, linspace(1, 2, 5));
  EXPECT_EQ(columns_of(*jacobian_sparsity(f, linspace(-2, -1, 5)), 3), (std::vector<Index>{2}));
}

}  // namespace
}  // namespace tessera
