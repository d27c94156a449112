// SPDX-License-Identifier: Apache-2.0
//
// Eigenpairs as a function of the host, which asks SLEPc, with a rule of its own: the tangent is a
// bordered linear system for each pair, whose transpose `linear_solve` knows.
#include "tessera/solvers/eigenpairs.h"

#include "petsc_plugin.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/host_call.h"
#include "tessera/autodiff/ops.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tessera::solvers {
namespace {

struct EigenSystem {
  CsrPatternPtr pattern;
  EigenOptions options;
  CooPattern bordered;  ///< triplets: entries of A, -l on the diagonal, -x, conj(x), the corner
};
using SystemPtr = std::shared_ptr<const EigenSystem>;
using Tensors = std::vector<Tensor>;

CooPattern bordered_pattern(const CsrPattern& p) {
  const Index n = p.rows();
  std::vector<Index> row = p.row_of_entries(), column(p.column().begin(), p.column().end());
  const auto add = [&](Index i, Index j) { row.push_back(i), column.push_back(j); };
  for (Index i = 0; i < n; ++i) add(i, i);
  for (Index i = 0; i < n; ++i) add(i, n);
  for (Index i = 0; i < n; ++i) add(n, i);
  add(n, n);
  return csr_from_coo(n + 1, n + 1, row, column);
}

/// x with length 1 and its largest component real and positive.
void normalise(std::vector<c128>& x) {
  double length = 0, largest = 0;
  for (const c128& v : x) length += std::norm(v), largest = std::max(largest, std::abs(v));
  // Of components that differ by rounding alone the first counts.
  const c128 first = *std::find_if(
      x.begin(), x.end(), [&](const c128& v) { return std::abs(v) >= largest * (1 - 1e-10); });
  const c128 factor = std::conj(first) / std::abs(first) / std::sqrt(length);
  for (c128& v : x) v *= factor;
}

/// Real vectors of a real symmetric matrix with entries up to `scale`, in place of normalised
/// complex ones: those of equal eigenvalues are any mixtures, whose real and imaginary parts span
/// the same space, and an orthogonal basis of it is taken from these.
void make_real(std::vector<std::vector<c128>>& x, const std::vector<c128>& l, double scale) {
  const auto alike = [&](std::size_t j, std::size_t k) {
    return std::abs(l[j] - l[k]) <= 1e-10 * scale;
  };
  std::vector<std::vector<double>> basis;
  for (std::size_t j = 0; j < x.size(); ++j) {
    std::vector<double> best(x[j].size(), 0.0);
    double longest = 0;
    const auto offer = [&](std::size_t from, bool imaginary) {
      std::vector<double> v(best.size());
      for (std::size_t i = 0; i < v.size(); ++i)
        v[i] = imaginary ? x[from][i].imag() : x[from][i].real();
      for (int pass = 0; pass < 2; ++pass)
        for (std::size_t k = 0; k < j; ++k) {
          if (!alike(j, k)) continue;
          const double along = std::inner_product(v.begin(), v.end(), basis[k].begin(), 0.0);
          for (std::size_t i = 0; i < v.size(); ++i) v[i] -= along * basis[k][i];
        }
      const double length = std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
      if (!(length > longest)) return;
      longest = length;
      for (double& value : v) value /= length;
      best = std::move(v);
    };
    constexpr double kEnough = 0.5;  // less of its own is left only where eigenvalues are equal
    offer(j, false);
    for (std::size_t k = 0; k < x.size() && longest < kEnough; ++k)
      if (alike(j, k)) offer(k, false), offer(k, true);
    basis.push_back(std::move(best));
  }
  for (std::size_t j = 0; j < x.size(); ++j) x[j].assign(basis[j].begin(), basis[j].end());
}

/// Of values [..., entries]: eigenvalues, vectors, residuals, reason, restarts.
Types result_types(const EigenSystem& s, const Type& values) {
  Shape lead = values.shape, per_pair, vectors;
  lead.erase(lead.size() - 1);
  per_pair = lead, per_pair.push_back(s.options.count);
  vectors = per_pair, vectors.push_back(s.pattern->rows());
  return {{s.options.hermitian ? Dtype::f64 : Dtype::c128, per_pair},
          {values.dtype, vectors},
          {Dtype::f64, per_pair},
          {Dtype::i32, lead},
          {Dtype::i32, lead}};
}

template <class T>
Tensors solved(const EigenSystem& s, const Tensor& all_values) {
  const CsrPattern& p = *s.pattern;
  Tensors out;
  for (const Type& t : result_types(s, all_values.type())) out.push_back(empty(t));
  const Index n = p.rows(), k = s.options.count, entries = p.entries(), count = out[3].size();
  const double gone = std::numeric_limits<double>::quiet_NaN();
  const auto part = [](auto v) {
    if constexpr (std::is_same_v<T, double>)
      return v.real();
    else
      return v;
  };
  for (Index b = 0; b < count; ++b) {
    const T* values = static_cast<const T*>(all_values.view().data) + b * entries;
    SolverOperator a;
    a.kind = SolverOperator::Kind::csr, a.dtype = all_values.dtype(), a.n = n, a.values = values,
    a.pattern = s.pattern;
    const bool finite = std::all_of(values, values + entries, [](const T& v) {
      return std::isfinite(std::real(v)) && std::isfinite(std::imag(v));
    });
    EigenResult r;
    r.reason = SolveReason::not_finite;
    if (finite) r = petsc_plugin().eigen(a, s.options);
    for (auto& x : r.vectors) normalise(x);
    if constexpr (std::is_same_v<T, double>) {
      double scale = 0;
      for (Index e = 0; e < entries; ++e) scale = std::max(scale, std::abs(values[e]));
      make_real(r.vectors, r.values, scale);
      for (auto& x : r.vectors) normalise(x);
    }
    for (Index j = 0; j < k; ++j) {
      const bool found = j < static_cast<Index>(r.values.size());
      std::vector<c128> x(static_cast<std::size_t>(n), c128(gone, gone));
      c128 l(gone, gone);
      if (found) l = r.values[j], x = std::move(r.vectors[j]);
      double defect = found ? 0 : gone;
      for (Index i = 0; found && i < n; ++i) {
        c128 d = -l * x[i];
        for (Index e = p.row_begin()[i]; e < p.row_begin()[i + 1]; ++e)
          d += c128(values[e]) * x[p.column()[e]];
        defect += std::norm(d);
      }
      if (s.options.hermitian)
        static_cast<double*>(out[0].view().data)[b * k + j] = l.real();
      else
        static_cast<c128*>(out[0].view().data)[b * k + j] = l;
      for (Index i = 0; i < n; ++i)
        static_cast<T*>(out[1].view().data)[(b * k + j) * n + i] = part(x[i]);
      static_cast<double*>(out[2].view().data)[b * k + j] = std::sqrt(defect);
    }
    static_cast<std::int32_t*>(out[3].view().data)[b] = static_cast<std::int32_t>(r.reason);
    static_cast<std::int32_t*>(out[4].view().data)[b] = r.restarts;
  }
  return out;
}

/// dl, dx of one pair from values, their tangent, l and x.
Tensors tangent(const EigenSystem& s, const Tensors& v) {
  const Tensor &a = v[0], &da = v[1], &x = v[3];
  const Index n = s.pattern->rows();
  const Dtype t = a.dtype();
  const Tensor corner = zeros({1}, t), l = broadcast_to(expand_dims(cast(v[2], t), 0), {n});
  const Tensor m = csr_values(s.bordered, concatenate({a, neg(l), neg(x), conj(x), corner}));
  const Tensor right = concatenate({neg(csr_matmul(da, s.pattern, x)), corner});
  const LinearSolverPtr solver =
      s.options.linear ? s.options.linear : mumps_lu(s.options.distributed);
  const LinearOperator bordered = LinearOperator::csr(m, s.bordered.pattern);
  // The tangent of a solve, not a solve: NaN where it fails.
  const Tensor y = jvp([&](Tensor b) { return linear_solve(bordered, b, {.solver = solver}).x; },
                       zeros({n + 1}, t), right)
                       .second;
  const Tensor dl = select(y, 0, n);
  return {s.options.hermitian ? real(dl) : dl, slice(y, 0, 0, n)};
}
/// The same over the pairs, and over leading axes of the values; the other results do not move.
Tensors tangents(const SystemPtr& system, const Tensors& x, const Tensors& y, const Tensors& t) {
  const std::optional<int> each = 0;
  FlatFunction rule = [system](const Tensors& v) { return tangent(*system, v); };
  rule = [inner = std::move(rule), each](const Tensors& v) {
    return detail::vmap_flat(inner, v, {not_mapped, not_mapped, each, each}, 0);
  };
  for (int d = 1; d < x[0].ndim(); ++d)
    rule = [inner = std::move(rule), each](const Tensors& v) {
      return detail::vmap_flat(inner, v, {each, each, each, each}, 0);
    };
  Tensors out = rule({x[0], t[0], y[0], y[1]});
  for (std::size_t k = out.size(); k < y.size(); ++k)
    out.push_back(zeros(y[k].shape(), y[k].dtype()));
  return out;
}

}  // namespace

Eigenpairs eigenpairs(const Tensor& values, const CsrPatternPtr& pattern,
                      const EigenOptions& options) {
  const char* op = "eigenpairs";
  if (!values.defined() || !pattern)
    fail(op, "the values or the pattern of the matrix are missing");
  const Index n = pattern->rows();
  if (n != pattern->cols())
    fail(op, "needs a square matrix, got " + std::to_string(n) + " x " +
                 std::to_string(pattern->cols()));
  if (!is_inexact(values.dtype()) || values.ndim() < 1 || values.dim(-1) != pattern->entries())
    fail(op, "the values " + to_string(values.type()) + " do not fit a pattern of " +
                 std::to_string(pattern->entries()) + " entries");
  if (options.count < 1 || options.count >= n)
    fail(op, "asks for " + std::to_string(options.count) + " pairs of a matrix of " +
                 std::to_string(n) + " rows; " +
                 (n > 1 ? "give 1 to " + std::to_string(n - 1) + ", or use" : "use") +
                 " eigh or eig");
  std::string why;
  if (!slepc_available(&why)) throw Error("[eigenpairs] " + why);
  const SystemPtr system =
      std::make_shared<EigenSystem>(EigenSystem{pattern, options, bordered_pattern(*pattern)});
  const Dtype type = options.hermitian && !is_complex(values.dtype()) ? Dtype::f64 : Dtype::c128;
  const Tensor v = cast(values, type);
  const FlatFunction pairs = custom_jvp(
      host_call({.name = "eigenpairs",
                 .run =
                     [system](const Tensors& x) {
                       return is_complex(x[0].dtype()) ? solved<c128>(*system, x[0])
                                                       : solved<double>(*system, x[0]);
                     },
                 .types = [system](const Types& x) { return result_types(*system, x[0]); }}),
      [system](const Tensors& x, const Tensors& y, const Tensors& t) {
        return tangents(system, x, y, t);
      });
  const Tensors out = pairs({v});
  return {out[0], out[1], out[2], out[3], out[4]};
}

}  // namespace tessera::solvers
