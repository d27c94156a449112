// SPDX-License-Identifier: Apache-2.0
//
// A(p) x = b as one primitive. Forward mode: A dx = db - (dA/dp dp) x. Reverse mode: A^H lambda =
// c; the cotangents of p follow from the transpose of the tangent's right-hand side. Both are this
// primitive again.
#include "../core/graph_passes.h"
#include "../core/rules.h"
#include "../core/tensor_internal.h"
#include "../kernels/lapack.h"
#include "../ops/matrix_forms.h"
#include "../transform/subgraph.h"
#include "levels.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/solve.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <mutex>

namespace tessera {
namespace detail {

/// What was prepared for the matrices of one call, by their place in the batch.
class PreparedSystems {
 public:
  struct One {
    std::vector<Tensor> params;  ///< the values it was prepared for, our own copy
    LinearSolverPtr by;
    std::unique_ptr<PreparedSolver> solver;
  };
  using OnePtr = std::shared_ptr<const One>;

  /// Ranks agree: where the values have changed on one of them all prepare anew.
  template <class Make>
  OnePtr get(std::size_t place, const LinearSolverPtr& by, const std::vector<View>& params,
             const VectorOnRanks* ranks, Make&& make) {
    OnePtr kept;
    {
      std::lock_guard lock(mutex_);
      if (place < all_.size()) kept = all_[place];
    }
    bool is_kept = kept && kept->by == by && same(kept->params, params);
    if (ranks) is_kept = ranks->max(is_kept ? 0 : 1) == 0;
    if (is_kept) return kept;
    OnePtr fresh = make();
    std::lock_guard lock(mutex_);
    if (place >= all_.size()) all_.resize(place + 1);
    return all_[place] = std::move(fresh);
  }

 private:
  static bool same(const std::vector<Tensor>& kept, const std::vector<View>& now) {
    for (std::size_t k = 0; k < kept.size(); ++k) {
      const std::size_t bytes = static_cast<std::size_t>(now[k].count()) * size_of(now[k].dtype);
      if (kept[k].type() != now[k].type() ||
          (bytes && std::memcmp(kept[k].view().data, now[k].data, bytes) != 0))
        return false;
    }
    return true;
  }
  std::mutex mutex_;
  std::vector<OnePtr> all_;
};

namespace {

using namespace kernels;

// ---- products on vectors in memory ----

template <class T>
void dense_product(const T* a, Index n, const T* x, T* y, bool adjoint) {
  if (!adjoint)
    return for_rows(n, n, [&](Index i) {
      T s(0);
      for (Index j = 0; j < n; ++j) s = s + multiply(a[i * n + j], x[j]);
      y[i] = s;
    });
  constexpr Index kColumns = 256;
  parallel_chunks((n + kColumns - 1) / kColumns, [&](Index c) {
    const Index begin = c * kColumns, end = std::min(n, begin + kColumns);
    std::fill(y + begin, y + end, T(0));
    for (Index i = 0; i < n; ++i)
      for (Index j = begin; j < end; ++j) y[j] = y[j] + multiply(conjugate(a[i * n + j]), x[i]);
  });
}
template <class T>
void csr_product(const T* v, const CsrPattern& p, const T* x, T* y, bool adjoint) {
  const CsrPattern::ByColumns& t = p.by_columns();
  const Index n = adjoint ? p.cols() : p.rows(), per_row = 2 + p.entries() / std::max<Index>(1, n);
  for_rows(n, per_row, [&](Index i) {
    T s(0);
    if (adjoint)
      for (Index e = t.begin[i]; e < t.begin[i + 1]; ++e)
        s = s + multiply(conjugate(v[t.entry[e]]), x[t.row[e]]);
    else
      for (Index e = p.row_begin()[i]; e < p.row_begin()[i + 1]; ++e)
        s = s + multiply(v[e], x[p.column()[e]]);
    y[i] = s;
  });
}

/// A vector in memory as a tensor, for the length of a call.
Tensor borrowed(const void* data, const Type& type) {
  return visit_dtype(type.dtype, [&](auto tag) {
    return from_pointer(static_cast<const typename decltype(tag)::type*>(data), type.shape);
  });
}
Tensor copied(const View& v) { return contiguous_copy(v); }

SolverOperator operator_of(const LinearSystem& s, const std::vector<Tensor>& params) {
  SolverOperator a;
  a.kind = s.kind;
  a.dtype = s.unknown.dtype;
  a.n = s.kind == SolverOperator::Kind::function ? s.unknown.shape.count() : s.unknown.shape[0];
  a.pattern = s.pattern;
  a.ranks = s.ranks;
  a.rows = s.rows;
  if (s.kind != SolverOperator::Kind::function) {
    const Tensor values = params[0];
    a.values = values.view().data;
    visit_dtype(a.dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (contains(kInexact, dtype_of<T>()))
        a.apply = [values, n = a.n, p = s.pattern, rows = s.rows](const void* x, void* y,
                                                                  bool adjoint) {
          const T* v = static_cast<const T*>(values.view().data);
          if (rows && !adjoint) {
            const Tensor copies = contiguous(rows->copies_of(borrowed(x, {dtype_of<T>(), {n}})));
            csr_product(v, *p, static_cast<const T*>(copies.view().data), static_cast<T*>(y),
                        adjoint);
          } else if (rows) {
            std::vector<T> copies(static_cast<std::size_t>(p->cols()));
            csr_product(v, *p, static_cast<const T*>(x), copies.data(), adjoint);
            const Tensor sum =
                contiguous(rows->add_copies(borrowed(copies.data(), {dtype_of<T>(), {p->cols()}})));
            std::copy_n(static_cast<const T*>(sum.view().data), n, static_cast<T*>(y));
          } else if (p)
            csr_product(v, *p, static_cast<const T*>(x), static_cast<T*>(y), adjoint);
          else
            dense_product(v, n, static_cast<const T*>(x), static_cast<T*>(y), adjoint);
        };
    });
    return a;
  }
  a.apply = [params, type = s.unknown, forward = s.apply, back = s.adjoint](const void* x, void* y,
                                                                            bool adjoint) {
    std::vector<Tensor> in{borrowed(x, type)};
    in.insert(in.end(), params.begin(), params.end());
    const Tensor out = contiguous(evaluate(adjoint ? back : forward, in)[0]);
    if (const std::size_t bytes =
            static_cast<std::size_t>(type.shape.count()) * size_of(type.dtype))
      std::memcpy(y, out.view().data, bytes);
  };
  return a;
}

// ---- the leading axes of an application ----

/// Which system of the batch is which: for a flat index over all levels the offset, in systems, of
/// each operand, and the number of its matrix.
struct Batch {
  Index count = 1, matrices = 1;
  const std::vector<Index>& levels;
  explicit Batch(const std::vector<Index>& l) : levels(l) {
    for (std::size_t k = 0; k < l.size(); k += 2) {
      count *= l[k];
      if (l[k + 1] & ~Index{1}) matrices *= l[k];
    }
  }
  /// Position of system `flat` along the levels that `mask` shares.
  Index place(Index flat, Index mask) const {
    Index at = 0, step = 1;
    for (std::size_t k = levels.size(); k >= 2; k -= 2) {
      const Index size = levels[k - 2], i = flat % size;
      flat /= size;
      if (levels[k - 1] & mask) at += i * step, step *= size;
    }
    return at;
  }
};

// ---- reports ----

/// The column that fared worst speaks for all of a system, with the iterations of all.
SolveReport worst_of(std::vector<SolveReport> columns) {
  const auto last = [](const SolveReport& r) {
    return r.residuals.empty() ? 0 : r.residuals.back();
  };
  SolveReport all;
  int iterations = 0;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    SolveReport& one = columns[c];
    iterations += one.iterations;
    if (c == 0 || (!one.ok() && all.ok()) || (one.ok() == all.ok() && last(one) > last(all)))
      all = std::move(one);
  }
  all.iterations = iterations;
  return all;
}
/// NaN in the columns of x, row-major [n, columns], whose solve failed.
void fill_failed(const std::vector<SolveReport>& columns, std::byte* x, Index n, Dtype dtype) {
  const auto count = static_cast<Index>(columns.size());
  visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (contains(kInexact, dtype_of<T>())) {
      constexpr auto none = std::numeric_limits<real_t<T>>::quiet_NaN();
      T nan(none);
      if constexpr (is_cplx<T>) nan = T(none, none);
      for (Index c = 0; c < count; ++c)
        for (Index i = 0; !columns[c].ok() && i < n; ++i)
          reinterpret_cast<T*>(x)[i * count + c] = nan;
    }
  });
}

// ---- the primitive ----

struct LinearSolve : Hand<LinearSolve> {
  static constexpr const char* name = "linear_solve";
  static constexpr None flops{"the iterations of its solver are not counted"};
  static Ordering order_of(const LinearSystem& s) {
    return s.ranks ? Ordering::every  // its sums, too
                   : std::max(detail::order_of(s.apply), detail::order_of(s.adjoint));
  }
  static Ordering order(const Attributes* a) {
    return order_of(*tessera::get<LinearSolveAttr>(a).system);
  }
  static Types infer(std::span<const Type> in, const Attributes* a) {
    const auto& f = tessera::get<LinearSolveAttr>(a);
    const LinearSystem& s = *f.system;
    bool ok = in.size() == s.params.size() + 1 && in[0] == wide(s.unknown, f.levels, 1);
    for (std::size_t k = 0; ok && k < s.params.size(); ++k)
      ok = in[k + 1] == wide(s.params[k], f.levels, Index{2} << k);
    if (!ok)
      fail(name, "operands do not fit the system that was recorded: b is " + to_string(in[0]) +
                     ", recorded " + to_string(wide(s.unknown, f.levels, 1)));
    const Shape lead = leading(f.levels, 1);
    return {in[0], {Dtype::i32, lead}, {Dtype::i32, lead}, {Dtype::f64, lead}};
  }
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    if (!contains(kInexact, in[0])) return nullptr;
    return [](Inputs in, Outputs out, const Attributes* a) {
      run(in, out, tessera::get<LinearSolveAttr>(a));
    };
  }
  static void run(Inputs in, Outputs out, const LinearSolveAttr& f) {
    const LinearSystem& s = *f.system;
    const Batch batch(f.levels);
    const std::size_t element = size_of(s.unknown.dtype);
    const Index size = s.unknown.shape.count(),
                n = s.kind == SolverOperator::Kind::function ? size : s.unknown.shape[0];
    // A rank without unknowns has its part in the columns of the others.
    const Index columns = n == 0 && !s.ranks                         ? 0
                          : s.kind == SolverOperator::Kind::function ? 1
                                                                     : s.unknown.shape[1];
    const auto* b = static_cast<const std::byte*>(in[0]->data);
    auto* x = static_cast<std::byte*>(out[0]->data);
    std::vector<std::vector<Index>> of_matrix(static_cast<std::size_t>(batch.matrices));
    for (Index i = 0; i < batch.count; ++i) of_matrix[batch.place(i, ~Index{1})].push_back(i);
    std::vector<std::vector<SolveReport>> reports(static_cast<std::size_t>(batch.count));
    const auto solve_matrix = [&](Index m) {
      const std::vector<Index>& systems = of_matrix[m];
      std::vector<View> params;
      for (std::size_t k = 0; k < s.params.size(); ++k) {
        const Type& t = s.params[k];
        const Index at = batch.place(systems[0], Index{2} << k) * t.shape.count();
        params.push_back({static_cast<std::byte*>(in[k + 1]->data) +
                              static_cast<std::size_t>(at) * size_of(t.dtype),
                          t.dtype, t.shape, row_major(t.shape)});
      }
      const auto ready =
          s.prepared->get(static_cast<std::size_t>(m), s.solver, params, s.ranks.get(), [&] {
            auto one = std::make_shared<PreparedSystems::One>();
            one->by = s.solver;
            for (const View& v : params) one->params.push_back(copied(v));
            one->solver = s.solver->prepare(operator_of(s, one->params));
            return one;
          });
      const auto solve = [&](const std::byte* from, std::byte* to, Index count) {
        std::vector<SolveReport> all = ready->solver->solve(from, to, count, f.adjoint);
        if (static_cast<Index>(all.size()) != count)
          fail(name, "the solver '" + s.solver->name() + "' gave " + std::to_string(all.size()) +
                         " reports of " + std::to_string(count) + " columns");
        return all;
      };
      const Index many = static_cast<Index>(systems.size());
      if (many == 1 || !s.solver->joins_columns()) {
        for (Index i : systems)
          reports[i] = solve(b + static_cast<std::size_t>(i * size) * element,
                             x + static_cast<std::size_t>(i * size) * element, columns);
        return;
      }
      std::vector<std::byte> joined(static_cast<std::size_t>(many * size) * element),
          found(joined.size());
      const std::size_t row = static_cast<std::size_t>(columns) * element;
      const auto part = [&](Index i, Index r) {
        return static_cast<std::size_t>(i * size) * element + static_cast<std::size_t>(r) * row;
      };
      const auto place = [&](Index q, Index r) {
        return static_cast<std::size_t>(r * many + q) * row;
      };
      for (Index q = 0; q < many; ++q)
        for (Index r = 0; r < n; ++r)
          std::memcpy(joined.data() + place(q, r), b + part(systems[q], r), row);
      std::vector<SolveReport> of_columns = solve(joined.data(), found.data(), many * columns);
      for (Index q = 0; q < many; ++q) {
        for (Index r = 0; r < n; ++r)
          std::memcpy(x + part(systems[q], r), found.data() + place(q, r), row);
        const auto first = std::make_move_iterator(of_columns.begin() + q * columns);
        reports[systems[q]].assign(first, first + columns);
      }
    };
    const Index matrices = batch.count ? batch.matrices : 0;
    if (s.solver->one_at_a_time() || order_of(s) == Ordering::every)
      for (Index m = 0; m < matrices; ++m) solve_matrix(m);
    else
      parallel_chunks(matrices, solve_matrix);
    for (Index i = 0; i < batch.count; ++i) {
      if (f.derivative)
        fill_failed(reports[i], x + static_cast<std::size_t>(i * size) * element, n,
                    s.unknown.dtype);
      const SolveReport r = worst_of(std::move(reports[i]));
      static_cast<std::int32_t*>(out[1]->data)[i] = static_cast<std::int32_t>(r.reason);
      static_cast<std::int32_t*>(out[2]->data)[i] = r.iterations;
      static_cast<double*>(out[3]->data)[i] = r.residuals.empty() ? 0 : r.residuals.back();
      if (s.monitor) s.monitor(r, f.adjoint);
    }
  }
  static constexpr int numerator = 0;
  /// A(dp) x; nothing where A is not linear in p.
  static Tensor undo(const Application& a, const Tensor& dp, const Tensor& x) {
    const auto& f = a.get<LinearSolveAttr>();
    return f.system->bilinear ? apply_operator(f, {x, dp}) : Tensor();
  }
  static void jvp(const Application& a, std::span<const Tensor> t, std::span<Tensor> o) {
    const auto& f = a.get<LinearSolveAttr>();
    const LinearSystem& s = *f.system;
    std::vector<Tensor> p(a.in.begin() + 1, a.in.end()), dp(t.begin() + 1, t.end());
    bool moving = false;
    for (const Tensor& d : dp) moving |= d.defined();
    Tensor right = t[0];
    if (moving) {
      const Tensor& x = a.out[0];
      Tensor moved;
      if (s.bilinear)
        moved = apply_operator(f, {x, dp[0]});
      else
        moved = jvp_flat(
                    [&](const std::vector<Tensor>& q) {
                      std::vector<Tensor> v{x};
                      v.insert(v.end(), q.begin(), q.end());
                      return std::vector<Tensor>{apply_operator(f, v)};
                    },
                    p, dp)
                    .second[0];
      right = right.defined() ? right - moved : neg(moved);
    }
    if (!right.defined()) return;
    LinearSolveAttr g = f;
    g.derivative = true;
    p.insert(p.begin(), right);
    o[0] = apply_linear_solve(g, p).x;
  }
  static void transpose(const Application& a, std::span<const bool> linear,
                        std::span<const Tensor> ct, std::span<Tensor> o) {
    for (std::size_t k = 1; k < linear.size(); ++k)
      if (linear[k]) no_rule(name, "transpose", "it is not linear in the operator");
    LinearSolveAttr g = a.get<LinearSolveAttr>();
    g.adjoint = !g.adjoint;
    g.derivative = true;
    std::vector<Tensor> v(a.in.begin(), a.in.end());
    v[0] = ct[0];
    o[0] = apply_linear_solve(g, v).x;
  }
  static void batch(const Application& a, std::span<const bool> batched, Index size,
                    std::span<Tensor> o) {
    LinearSolveAttr g = a.get<LinearSolveAttr>();
    Index mask = 1;
    for (std::size_t k = 1; k < batched.size(); ++k)
      if (batched[k]) mask |= Index{1} << k;
    g.levels.insert(g.levels.begin(), {size, mask});
    std::vector<Tensor> v(a.in.begin(), a.in.end());
    v[0] = with_batch(v[0], batched[0], size);
    const LinearSolution y = apply_linear_solve(g, v);
    o[0] = y.x, o[1] = y.reason, o[2] = y.iterations, o[3] = y.residual;
  }
};
TESSERA_REGISTER(LinearSolve);

Graph recorded(const FlatFunction& f, const std::vector<Type>& types) {
  return record_abstract("linear_solve", f, types).graph;
}

/// (y, p...) -> A(p)^H y from the graph of (x, p...) -> A(p) x.
Graph transposed(const Graph& apply, const Type& unknown, std::vector<Type> types) {
  return recorded(
      [&](const std::vector<Tensor>& v) {
        const Type x[] = {unknown};
        const Graph g = record_abstract(
                            "linear_solve",
                            [&](const std::vector<Tensor>& u) {
                              std::vector<Tensor> in = v;
                              in[0] = u[0];
                              return evaluate(apply, in);
                            },
                            x)
                            .graph;
        return transpose_graph(g, {v.data(), 1});
      },
      types);
}

}  // namespace

Tensor apply_operator(const LinearSolveAttr& f, const std::vector<Tensor>& v) {
  const Graph& g = f.adjoint ? f.system->adjoint : f.system->apply;
  FlatFunction product = [&g](const std::vector<Tensor>& u) { return evaluate(g, u); };
  for (std::size_t k = f.levels.size(); k >= 2; k -= 2) {
    std::vector<std::optional<int>> axes;
    for (std::size_t i = 0; i < v.size(); ++i)
      axes.push_back(f.levels[k - 1] >> i & 1 ? std::optional<int>(0) : std::nullopt);
    product = [inner = std::move(product), axes](const std::vector<Tensor>& u) {
      return vmap_flat(inner, u, axes, 0);
    };
  }
  return product(v)[0];
}
LinearSolution apply_linear_solve(const LinearSolveAttr& f, const std::vector<Tensor>& v) {
  std::vector<const Tensor*> in;
  for (const Tensor& t : v) in.push_back(&t);
  Tensor out[4];
  dispatch(primitive<LinearSolve>(), in, attributes(f), context_line(), out);
  return {out[0], out[1], out[2], out[3]};
}

}  // namespace detail

// ---- operators and systems as users name them ----

LinearOperator LinearOperator::dense(const Tensor& a) {
  if (!a.defined()) fail("linear_solve", "the matrix is undefined");
  kernels::need_matrices("linear_solve", a.type(), true);
  LinearOperator o;
  o.values_ = a;
  o.prepared_ = std::make_shared<detail::PreparedSystems>();
  return o;
}
LinearOperator LinearOperator::csr(const Tensor& values, CsrPatternPtr pattern) {
  return csr(values, std::move(pattern), nullptr);
}
LinearOperator LinearOperator::csr(const Tensor& values, CsrPatternPtr pattern,
                                   RowsOnRanksPtr rows) {
  if (!values.defined() || !pattern)
    fail("linear_solve", "the values or the pattern of the matrix are missing");
  if (rows && (pattern->rows() != rows->size() ||
               pattern->cols() != static_cast<Index>(rows->numbers().size())))
    fail("linear_solve", "the pattern has " + std::to_string(pattern->rows()) + " rows of " +
                             std::to_string(pattern->cols()) + " columns, rank " +
                             std::to_string(rows->rank()) + " has " + std::to_string(rows->size()) +
                             " rows that read " + std::to_string(rows->numbers().size()) +
                             " copies");
  if (!rows && pattern->rows() != pattern->cols())
    fail("linear_solve", "needs a square matrix, got " + std::to_string(pattern->rows()) + " x " +
                             std::to_string(pattern->cols()));
  if (values.shape() != Shape{pattern->entries()} || !is_inexact(values.dtype()))
    fail("linear_solve", "the values " + to_string(values.type()) + " do not fit a pattern of " +
                             std::to_string(pattern->entries()) +
                             " entries; several matrices go through vmap");
  LinearOperator o;
  o.kind_ = SolverOperator::Kind::csr;
  o.values_ = values;
  o.pattern_ = std::move(pattern);
  o.rows_ = std::move(rows);
  o.ranks_ = o.rows_;
  o.prepared_ = std::make_shared<detail::PreparedSystems>();
  return o;
}
LinearOperator LinearOperator::function(Map a, Map adjoint) {
  LinearOperator o;
  o.kind_ = SolverOperator::Kind::function;
  o.map_ = std::move(a);
  o.adjoint_ = std::move(adjoint);
  return o;
}
LinearOperator LinearOperator::self_adjoint(Map a) { return function(a, a); }
LinearOperator LinearOperator::on_ranks(VectorOnRanksPtr ranks) const {
  if (kind_ != SolverOperator::Kind::function)
    fail("linear_solve",
         "on_ranks is for operators that are functions; rows of a sparse matrix "
         "say where they lie as csr's third argument");
  LinearOperator o = *this;
  o.ranks_ = std::move(ranks);
  return o;
}

namespace {

using detail::LinearSolveAttr;
using detail::LinearSystem;

/// The graphs of a closure and its adjoint over the same captures, and those captures.
std::vector<Tensor> record_maps(LinearSystem& s, const LinearOperator& a) {
  const auto one = [&](const LinearOperator::Map& f) {
    const Type x[] = {s.unknown};
    Graph g = record_abstract(
                  "linear_solve",
                  [&](const std::vector<Tensor>& u) { return std::vector<Tensor>{f(u[0])}; }, x)
                  .graph;
    const Type& y = g.types[g.outputs[0]];
    if (y != s.unknown)
      fail("linear_solve", "the operator gives a " + to_string(y) + " for a " +
                               to_string(s.unknown) + "; a square system keeps shape and type");
    return detail::close(std::move(g));
  };
  detail::Closed forward = one(a.map());
  std::vector<Tensor> captured = forward.captured;
  std::vector<Type> types{s.unknown};
  if (!a.adjoint_map()) {
    for (const Tensor& t : captured) types.push_back(t.type());
    s.apply = std::move(forward.graph);
    s.adjoint = detail::transposed(s.apply, s.unknown, types);
  } else {
    detail::Closed back = one(a.adjoint_map());
    const std::size_t first = captured.size();
    std::vector<std::size_t> place;  // of the adjoint's captures among those of both
    for (const Tensor& t : back.captured) {
      const auto same = std::find_if(captured.begin(), captured.end(),
                                     [&](const Tensor& c) { return c.impl() == t.impl(); });
      place.push_back(static_cast<std::size_t>(same - captured.begin()));
      if (same == captured.end()) captured.push_back(t);
    }
    for (const Tensor& t : captured) types.push_back(t.type());
    // Both graphs take the captures of either.
    s.apply = detail::recorded(
        [&](const std::vector<Tensor>& v) {
          return evaluate(forward.graph, std::span(v).first(1 + first));
        },
        types);
    s.adjoint = detail::recorded(
        [&](const std::vector<Tensor>& v) {
          std::vector<Tensor> in{v[0]};
          for (const std::size_t k : place) in.push_back(v[1 + k]);
          return evaluate(back.graph, in);
        },
        types);
  }
  for (const Tensor& t : captured) s.params.push_back(t.type());
  if (captured.size() > 60)
    fail("linear_solve", "the operator captures " + std::to_string(captured.size()) +
                             " traced tensors; stack them into at most 60");
  s.bilinear = false;
  s.prepared = std::make_shared<detail::PreparedSystems>();
  return captured;
}

}  // namespace

LinearSolution linear_solve(const LinearOperator& a, Arg b_, LinearSolveOptions options) {
  using Kind = SolverOperator::Kind;
  const char* op = "linear_solve";
  Tensor b = detail::to_tensor(op, b_);
  auto system = std::make_shared<LinearSystem>();
  system->kind = a.kind();
  static const LinearSolverPtr lu = dense_lu(), krylov = gmres();
  system->solver = options.solver ? options.solver : a.kind() == Kind::dense ? lu : krylov;
  system->monitor = std::move(options.monitor);
  system->pattern = a.pattern();
  system->ranks = a.ranks();
  system->rows = a.rows();
  LinearSolveAttr f;
  if (!is_inexact(b.dtype()))
    fail(op, "the right-hand side is a " + to_string(b.type()) + "; cast it to a floating type",
         b_.line);
  if (a.kind() == Kind::function) {
    if (a.ranks() && b.size() != a.ranks()->size())
      fail(op,
           "rank " + std::to_string(a.ranks()->rank()) + " has " +
               std::to_string(a.ranks()->size()) + " unknowns, the right-hand side is " +
               to_string(b.type()),
           b_.line);
    system->unknown = b.type();
    std::vector<Tensor> v = record_maps(*system, a);
    v.insert(v.begin(), b);
    f.system = std::move(system);
    return detail::apply_linear_solve(f, v);
  }
  Tensor m = a.values();
  const Dtype dtype = promote(m.dtype(), b.dtype());
  m = cast(m, dtype), b = cast(b, dtype);
  const bool sparse = a.kind() == Kind::csr;
  const int stacked = sparse ? 0 : m.ndim() - 2;
  const Index n = sparse ? a.pattern()->rows() : m.dim(-1);
  const bool vector = b.ndim() == 1 || b.ndim() == m.ndim() - 1;
  if (vector) b = expand_dims(b, -1);
  if (b.ndim() < 2 || b.dim(-2) != n || (sparse && b.ndim() != 2))
    fail(op,
         "the matrix of " + std::to_string(n) + " rows, values " + to_string(m.type()) +
             ", and the right-hand side " + to_string(b.type()) + " do not fit",
         b_.line);
  // Leading axes of stacks become one level of the batch.
  Shape lead;
  const int nd = std::max(stacked, b.ndim() - 2);
  for (int d = 0; d < nd; ++d) {
    const int km = d - (nd - stacked), kb = d - (nd - (b.ndim() - 2));
    const Index dm = km >= 0 ? m.shape()[km] : 1, db = kb >= 0 ? b.shape()[kb] : 1;
    if (dm != db && dm != 1 && db != 1)
      fail(op,
           "leading axes of " + to_string(m.type()) + " and " + to_string(b.type()) +
               " do not broadcast",
           b_.line);
    lead.push_back(dm == 1 ? db : dm);
  }
  const Index k = b.dim(-1), count = lead.count();
  const auto widened = [&](const Tensor& t) {
    Shape full = lead, flat{count};
    for (int d = -2; d < 0; ++d) full.push_back(t.dim(d)), flat.push_back(t.dim(d));
    return reshape(broadcast_to(t, full), flat);
  };
  if (nd > 0) {
    b = widened(b);
    f.levels = {count, stacked > 0 ? Index{3} : Index{1}};
    if (stacked > 0) m = widened(m);
  }
  system->unknown = {dtype, {n, k}};
  system->params = {{dtype, sparse ? m.shape() : Shape{n, n}}};
  system->bilinear = true;
  const std::vector<Type> types{system->unknown, system->params[0]};
  const CsrPatternPtr& p = a.pattern();
  const RowsOnRanksPtr& rows = a.rows();
  system->apply = detail::recorded(
      [&](const std::vector<Tensor>& v) {
        if (!sparse) return std::vector<Tensor>{matmul(v[1], v[0])};
        return std::vector<Tensor>{csr_matmul(v[1], p, rows ? rows->copies_of(v[0]) : v[0])};
      },
      types);
  system->adjoint = detail::recorded(
      [&](const std::vector<Tensor>& v) {
        if (!sparse) return std::vector<Tensor>{matmul(detail::H(v[1]), v[0])};
        const Tensor y = conj(csr_matmul(v[1], p, conj(v[0]), true));  // vectors are the smaller
        return std::vector<Tensor>{rows ? rows->add_copies(y) : y};
      },
      types);
  system->prepared = a.prepared();
  f.system = std::move(system);
  LinearSolution y = detail::apply_linear_solve(f, {b, m});
  if (nd > 0) {
    Shape s = lead;
    s.push_back(n), s.push_back(k);
    y = {reshape(y.x, s), reshape(y.reason, lead), reshape(y.iterations, lead),
         reshape(y.residual, lead)};
  }
  if (vector) y.x = squeeze(y.x, -1);
  return y;
}

}  // namespace tessera
