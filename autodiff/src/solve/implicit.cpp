// SPDX-License-Identifier: Apache-2.0
//
// x(p) with F(x, p) = 0 as one primitive: its kernel runs the solver on values, its jvp is a linear
// system at the solution. Operands x0, p...; results x, reason, iterations, |F|.
#include "tessera/autodiff/implicit.h"

#include "../core/graph_passes.h"
#include "../core/rules.h"
#include "../core/tensor_internal.h"
#include "../transform/subgraph.h"
#include "levels.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/sparse.h"

#include <cstring>
#include <limits>

namespace tessera::detail {
namespace {

/// One equation: the user's function as a graph of (x, p...), x a real vector.
struct Implicit {
  Equation kind;
  Graph f;
  Type unknown;
  std::vector<Type> params;
  NonlinearSolver solver;
  LinearSolverPtr linear;
  std::optional<Compression> sparse;

  Tensor value(const Tensor& x, std::span<const Tensor> p) const {
    std::vector<Tensor> in{x};
    in.insert(in.end(), p.begin(), p.end());
    return evaluate(f, in)[0];
  }
  /// F(x, p).
  Tensor residual(const Tensor& x, std::span<const Tensor> p) const {
    if (kind == Equation::root) return value(x, p);
    if (kind == Equation::fixed_point) return value(x, p) - x;
    return grad_flat(
               [&](const std::vector<Tensor>& v) { return std::vector<Tensor>{value(v[0], p)}; },
               {x}, 1)
        .second[0];
  }
  FlatFunction at(std::span<const Tensor> p) const {
    return [this, q = std::vector<Tensor>(p.begin(), p.end())](const std::vector<Tensor>& v) {
      return std::vector<Tensor>{residual(v[0], q)};
    };
  }
  LinearOperator entries(const FlatFunction& f, const Tensor& x) const {
    return LinearOperator::csr(compressed_values(f, x, *sparse), sparse->pattern);
  }
};
/// `levels` as in LinearSolveAttr: pairs (size, mask) of leading axes, bit 0 for x0.
struct ImplicitAttr {
  std::shared_ptr<const Implicit> equation;
  std::vector<Index> levels;
  TESSERA_ATTRIBUTES(equation, levels)
};

/// The entries that F_x may have at any x and p. Integers and truth values among the parameters,
/// which say where things are, count as what they are.
Compression compression(const char* op, const Implicit& e, const std::vector<Tensor>& captured) {
  std::vector<Type> in{e.unknown};
  std::vector<Tensor> constants;
  for (const Tensor& t : captured)
    if (is_inexact(t.dtype()))
      in.push_back(t.type()), constants.emplace_back();
    else
      constants.push_back(concrete(op, t, context_line()));
  const CsrPatternPtr pattern = sparsity_anywhere(
      [&](const std::vector<Tensor>& v) {
        std::vector<Tensor> p = constants;
        std::size_t next = 1;
        for (Tensor& t : p)
          if (!t.defined()) t = v[next++];
        return std::vector<Tensor>{e.residual(v[0], p)};
      },
      in);
  return e.kind == Equation::stationary
             ? compress_hessian(pattern, e.unknown.dtype)
             : compress_jacobian(pattern, e.unknown.dtype, Compress::columns);
}

/// dx of F_x dx = -F_p dp from x, p..., dp..., of which undefined ones are given by `live`.
std::vector<Tensor> tangent(const Implicit& e, const std::vector<Tensor>& v,
                            const std::vector<bool>& live) {
  const std::size_t n = e.params.size();
  const Tensor& x = v[0];
  const std::vector<Tensor> p(v.begin() + 1, v.begin() + 1 + static_cast<std::ptrdiff_t>(n));
  std::vector<Tensor> dp(n);
  for (std::size_t k = 0, next = 1 + n; k < n; ++k)
    if (live[k]) dp[k] = v[next++];
  const Tensor right =
      jvp_flat([&](const std::vector<Tensor>& q) { return std::vector<Tensor>{e.residual(x, q)}; },
               p, dp)
          .second[0];
  const FlatFunction f = e.at(p);
  const LinearOperator j =
      e.sparse   ? e.entries(f, x)
      : e.linear ? LinearOperator::function(
                       [&](const Tensor& u) { return jvp_flat(f, {x}, {u}).second[0]; })
                 : LinearOperator::dense(jacobian_flat(f, {x}, true, Holomorphic::no)[0]);
  // The tangent of a solve, not a solve: NaN where it fails.
  const FlatFunction along = [&](const std::vector<Tensor>& b) {
    return std::vector<Tensor>{linear_solve(j, b[0], {.solver = e.linear}).x};
  };
  return jvp_flat(along, {zeros_of(right.type())}, {neg(right)}).second;
}

struct ImplicitFunction : Hand<ImplicitFunction> {
  static constexpr const char* name = "implicit";
  static constexpr None flops{"the iterations of its solver are not counted"};
  static Ordering order(const Attributes* a) {
    return detail::order_of(tessera::get<ImplicitAttr>(a).equation->f);
  }
  static constexpr None transpose{"it is not linear; its derivative is a linear system"};
  static Types infer(std::span<const Type> in, const Attributes* a) {
    const auto& f = tessera::get<ImplicitAttr>(a);
    const Implicit& e = *f.equation;
    bool ok = in.size() == e.params.size() + 1 && in[0] == wide(e.unknown, f.levels, 1);
    for (std::size_t k = 0; ok && k < e.params.size(); ++k)
      ok = in[k + 1] == wide(e.params[k], f.levels, Index{2} << k);
    if (!ok)
      fail(name, "operands do not fit the equation that was recorded: the start is " +
                     to_string(in[0]) + ", recorded " + to_string(wide(e.unknown, f.levels, 1)));
    const Shape lead = wide({Dtype::f64, {}}, f.levels, 1).shape;
    return {in[0], {Dtype::i32, lead}, {Dtype::i32, lead}, {Dtype::f64, lead}};
  }
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    if (!is_float(in[0])) return nullptr;
    return [](Inputs in, Outputs out, const Attributes* a) {
      run(in, out, tessera::get<ImplicitAttr>(a));
    };
  }
  static void run(Inputs in, Outputs out, const ImplicitAttr& f) {
    const Implicit& e = *f.equation;
    Index count = 1;
    for (std::size_t k = 0; k < f.levels.size(); k += 2) count *= f.levels[k];
    for (Index i = 0; i < count; ++i) {
      const auto part = [&](std::size_t operand, const Type& t) {
        Index at = 0, step = 1, flat = i;
        for (std::size_t k = f.levels.size(); k >= 2; k -= 2) {
          const Index size = f.levels[k - 2];
          if (f.levels[k - 1] >> operand & 1) at += flat % size * step, step *= size;
          flat /= size;
        }
        const View v{static_cast<std::byte*>(in[operand]->data) +
                         static_cast<std::size_t>(at * t.shape.count()) * size_of(t.dtype),
                     t.dtype, t.shape, row_major(t.shape)};
        return contiguous_copy(v);
      };
      std::vector<Tensor> p;
      for (std::size_t k = 0; k < e.params.size(); ++k) p.push_back(part(k + 1, e.params[k]));
      const FlatFunction residual = e.at(p);
      NonlinearSystem s;
      s.residual = [&](const Tensor& x) { return residual({x})[0]; };
      s.product = [&](const Tensor& x, const Tensor& v) {
        return jvp_flat(residual, {x}, {v}).second[0];
      };
      s.jacobian = [&](const Tensor& x) {
        return jacobian_flat(residual, {x}, true, Holomorphic::no)[0];
      };
      if (e.sparse) s.sparse_jacobian = [&](const Tensor& x) { return e.entries(residual, x); };
      if (e.kind == Equation::stationary)
        s.objective = [&](const Tensor& x) { return e.value(x, p); };
      const NonlinearResult y = e.solver(s, part(0, e.unknown));
      if (y.x.type() != e.unknown)
        fail(name, "the solver gave a " + to_string(y.x.type()) + " for a " + to_string(e.unknown));
      const std::size_t bytes =
          static_cast<std::size_t>(e.unknown.shape.count()) * size_of(e.unknown.dtype);
      if (bytes)
        std::memcpy(static_cast<std::byte*>(out[0]->data) + static_cast<std::size_t>(i) * bytes,
                    contiguous(y.x).view().data, bytes);
      static_cast<std::int32_t*>(out[1]->data)[i] = static_cast<std::int32_t>(y.report.reason);
      static_cast<std::int32_t*>(out[2]->data)[i] = y.report.iterations;
      static_cast<double*>(out[3]->data)[i] =
          y.report.residuals.empty() ? 0 : y.report.residuals.back();
    }
  }
  static void jvp(const Application& a, std::span<const Tensor> t, std::span<Tensor> o) {
    const auto& f = a.get<ImplicitAttr>();
    const Implicit& e = *f.equation;
    const std::size_t n = e.params.size();
    std::vector<Tensor> v{a.out[0]};
    std::vector<bool> live(n);
    std::vector<Index> masks{0};  // operand of the application that each argument is batched like
    for (std::size_t k = 0; k < n; ++k)
      v.push_back(a.in[k + 1]), masks.push_back(static_cast<Index>(k) + 1);
    for (std::size_t k = 0; k < n; ++k)
      if ((live[k] = t[k + 1].defined()))
        v.push_back(t[k + 1]), masks.push_back(static_cast<Index>(k) + 1);
    if (v.size() == n + 1) return;  // the start alone moves
    FlatFunction rule = [&e, live](const std::vector<Tensor>& u) { return tangent(e, u, live); };
    for (std::size_t k = f.levels.size(); k >= 2; k -= 2) {
      std::vector<std::optional<int>> axes;
      for (Index m : masks)
        axes.push_back(f.levels[k - 1] >> m & 1 ? std::optional<int>(0) : std::nullopt);
      rule = [inner = std::move(rule), axes](const std::vector<Tensor>& u) {
        return vmap_flat(inner, u, axes, 0);
      };
    }
    // As a factor, so that the transpose is NaN as well.
    const Tensor solved = expand_dims(greater(a.out[1], 0), -1);
    o[0] = rule(v)[0] *
           where(solved, cast(1.0, a.in_types[0].dtype), std::numeric_limits<double>::quiet_NaN());
  }
  static void batch(const Application& a, std::span<const bool> batched, Index size,
                    std::span<Tensor> o) {
    ImplicitAttr g = a.get<ImplicitAttr>();
    Index mask = 1;
    for (std::size_t k = 1; k < batched.size(); ++k)
      if (batched[k]) mask |= Index{1} << k;
    g.levels.insert(g.levels.begin(), {size, mask});
    std::vector<Tensor> v(a.in.begin(), a.in.end());
    v[0] = with_batch(v[0], batched[0], size);
    std::vector<const Tensor*> in;
    for (const Tensor& x : v) in.push_back(&x);
    dispatch(primitive<ImplicitFunction>(), in, attributes(std::move(g)), context_line(), o);
  }
};
TESSERA_REGISTER(ImplicitFunction);

}  // namespace

Tensor ravel(const char* op, const std::vector<Tensor>& leaves) {
  std::vector<Tensor> parts;
  for (const Tensor& t : leaves) {
    if (!is_inexact(t.dtype()) || real_of(t.dtype()) != real_of(leaves[0].dtype()))
      fail(op, "the unknowns are " + to_string(leaves[0].type()) + " and " + to_string(t.type()) +
                   "; they must be f32 and c64, or f64 and c128");
    parts.push_back(flatten(is_complex(t.dtype()) ? as_real(t) : t));
  }
  if (parts.empty()) fail(op, "there are no unknowns");
  return parts.size() == 1 ? parts[0] : concatenate(parts);
}
std::vector<Tensor> unravel(const Tensor& vector, const std::vector<Type>& like) {
  std::vector<Tensor> leaves;
  Index at = 0;
  for (const Type& t : like) {
    Shape s = t.shape;
    if (is_complex(t.dtype)) s.push_back(2);
    const Tensor part = reshape(slice(vector, 0, at, at + s.count()), s);
    at += s.count();
    leaves.push_back(is_complex(t.dtype) ? as_complex(part) : part);
  }
  return leaves;
}

ImplicitSolution<std::vector<Tensor>> implicit_flat(Equation kind, const FlatFunction& f,
                                                    const std::vector<Tensor>& x0,
                                                    const ImplicitOptions& o) {
  const char* op = kind == Equation::root          ? "root"
                   : kind == Equation::fixed_point ? "fixed_point"
                                                   : "argmin";
  const std::vector<Type> like = types_of(x0);
  const Tensor start = ravel(op, x0);
  const Type types[] = {start.type()};
  Closed c = close(
      record_abstract(
          op,
          [&](const std::vector<Tensor>& v) {
            const std::vector<Tensor> y = f(unravel(v[0], like));
            if (kind == Equation::stationary) {
              if (y.size() != 1 || y[0].ndim() != 0 || !is_float(y[0].dtype()))
                fail(op, "the function must return one real scalar");
              return y;
            }
            bool fits = y.size() == like.size();
            for (std::size_t k = 0; fits && k < y.size(); ++k) fits = y[k].type() == like[k];
            if (!fits)
              fail(op, "the function must return what it takes, " + to_string(like[0]) +
                           (like.size() > 1 ? ", ..." : "") + "; it gave " +
                           (y.empty() ? "nothing"
                                      : to_string(y[0].type()) + (y.size() > 1 ? ", ..." : "")));
            return std::vector<Tensor>{ravel(op, y)};
          },
          types)
          .graph);
  if (c.captured.size() > 60)
    fail(op, "the function captures " + std::to_string(c.captured.size()) +
                 " traced tensors; stack them into at most 60");
  auto e = std::make_shared<Implicit>();
  e->kind = kind;
  e->f = std::move(c.graph);
  e->unknown = start.type();
  e->params = types_of(c.captured);
  e->solver = o.solver                        ? o.solver
              : kind == Equation::fixed_point ? anderson()
                                              : newton({.linear = o.linear});
  e->linear = o.linear;
  if (o.sparse) e->sparse = compression(op, *e, c.captured);
  std::vector<const Tensor*> in{&start};
  for (const Tensor& t : c.captured) in.push_back(&t);
  Tensor out[4];
  dispatch(primitive<ImplicitFunction>(), in, attributes(ImplicitAttr{std::move(e), {}}),
           context_line(), out);
  return {unravel(out[0], like), out[1], out[2], out[3]};
}

}  // namespace tessera::detail
