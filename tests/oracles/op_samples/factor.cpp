// SPDX-License-Identifier: Apache-2.0
//
// Factors and systems. Where torch's result has signs or phases that it is free to choose,
// invariants.py says what both sides compare.
#include "compose.h"
#include "tessera/autodiff/ops/matrix_functions.h"

#include <algorithm>

namespace tessera::oracle {
namespace {

Tensor upper_or_lower(const Tensor& l, bool upper) { return upper ? adjoint(l) : l; }
Tensor identity_like(const Tensor& a) { return broadcast_to(eye(a.dim(-1), a.dtype()), a.shape()); }
/// All axes but the last `own`.
Shape front_of(const Tensor& x, int own) {
  Shape s = x.shape();
  while (own-- > 0) s.erase(s.size() - 1);
  return s;
}
/// Two stacks of matrices with one batch in front of both.
std::pair<Tensor, Tensor> with_one_batch(const Tensor& a, const Tensor& b) {
  const Shape batch = broadcast_shape(front_of(a, 2), front_of(b, 2));
  const auto full = [&](const Tensor& m) {
    Shape s = batch;
    s.push_back(m.dim(-2));
    s.push_back(m.dim(-1));
    return broadcast_to(m, s);
  };
  return {full(a), full(b)};
}
/// Right sides are vectors where b is one, or has the shape of a without its last axis.
Tensor system(const Call& c) {
  Tensor a = c[0], b = c[1];
  const bool vector = b.ndim() == 1 || b.shape() == front_of(a, 1);
  if (!c.flag(-1, "left", true)) return transpose(solve(transpose(a), transpose(b)));
  const auto [matrices, columns] = with_one_batch(a, vector ? expand_dims(b, b.ndim()) : b);
  const Tensor x = solve(matrices, columns);
  return vector ? squeeze(x, x.ndim() - 1) : x;
}
Tensor triangular(const Tensor& a, const Tensor& b, TriangularOptions options) {
  const auto [matrices, columns] = with_one_batch(a, b);
  return triangular_solve(matrices, columns, options);
}
Tensor log_det(const Tensor& a) {
  const SlogDet d = slogdet(a);
  if (is_complex(a.dtype())) return log(d.sign) + d.log_abs;
  return where(less(d.sign, 0.0), kNan, d.log_abs);
}
/// V diag(1/s) U^H over the singular values above a bound.
Tensor pseudo_inverse(const Call& c) {
  const Tensor a = c[0];
  const SVD f = svd(a);
  if (a.size() == 0) return transpose(a);
  const auto bound = [&](const char* name) {
    return c.has(-1, name) ? floating(c.tensor(-1, name)) : Tensor(0.0);
  };
  const double epsilon = a.dtype() == Dtype::f32 ? 0x1p-23 : 0x1p-52;
  Tensor relative = bound("rtol");
  if (!c.has(-1, "rtol") && !c.has(-1, "atol"))
    relative = Tensor(epsilon * static_cast<double>(std::max(a.dim(-1), a.dim(-2))));
  const Tensor cut =
      maximum(expand_dims(bound("atol"), -1), expand_dims(relative, -1) * max(f.s, {-1}, true));
  const Tensor kept = greater(f.s, cut), inverse = where(kept, 1.0 / where(kept, f.s, 1.0), 0.0);
  return matmul(adjoint(f.vh) * expand_dims(cast(inverse, a.dtype()), -2), adjoint(f.u));
}

}  // namespace

void factor_rows(Table& t) {
  t["linalg.cholesky"] = [](const Call& c) {
    const bool upper = c.flag(-1, "upper", false);
    return upper_or_lower(cholesky(c[0]), upper);
  };
  t["linalg.cholesky_ex"] = t["linalg.cholesky"];
  t["cholesky_inverse"] = [](const Call& c) {
    const bool upper = c.flag(1, "upper", false);
    const Tensor l = upper ? adjoint(triu(c[0])) : tril(c[0]);
    const Tensor y = triangular_solve(l, identity_like(l));
    return matmul(adjoint(y), y);
  };
  t["cholesky_solve"] = [](const Call& c) {
    const bool upper = c.flag(2, "upper", false);
    const Tensor l = upper ? adjoint(c[1]) : c[1];
    return triangular(l, triangular(l, c[0], {}), {.transpose = true, .conjugate = true});
  };
  t["linalg.det"] = [](const Call& c) { return det(c[0]); };
  t["logdet"] = [](const Call& c) { return log_det(c[0]); };
  t["linalg.slogdet"] = [](const Call& c) -> Outputs {
    const SlogDet d = slogdet(c[0]);
    return {d.sign, d.log_abs};
  };
  for (const char* name : {"linalg.inv", "linalg.inv_ex"})
    t[name] = [](const Call& c) { return inv(c[0]); };
  t["linalg.tensorinv"] = [](const Call& c) {
    Shape s, front;
    const Index ind = c.integer(1, "ind", 2);
    Index n = 1;
    for (int k = 0; k < ind; ++k) n *= c[0].dim(k);
    for (int k = static_cast<int>(ind); k < c[0].ndim(); ++k) s.push_back(c[0].dim(k));
    for (int k = 0; k < ind; ++k) s.push_back(c[0].dim(k));
    return reshape(inv(reshape(c[0], {n, n})), s);
  };
  t["linalg.tensorsolve"] = [](const Call& c) {
    Tensor a = c[0];
    const Tensor b = c[1];
    const Shape dims = c.sizes(2, "dims");
    Shape order;
    for (int k = 0; k < a.ndim(); ++k)
      if (std::find(dims.begin(), dims.end(), k) == dims.end()) order.push_back(k);
    for (Index d : dims) order.push_back(d);
    a = transpose(a, order);
    Shape s;  // the last axes of a, those that b does not have
    for (int k = a.ndim() - 1; k >= 0 && s.size() < a.ndim() - b.ndim(); --k) s.insert(0, a.dim(k));
    return reshape(solve(reshape(a, {b.size(), b.size()}), flatten(b)), s);
  };
  for (const char* name : {"linalg.solve", "linalg.solve_ex"}) t[name] = system;
  t["linalg.solve_triangular"] = [](const Call& c) {
    return triangular(c[0], c[1],
                      {.lower = !c.flag(-1, "upper", true),
                       .unit = c.flag(-1, "unitriangular", false),
                       .left = c.flag(-1, "left", true)});
  };
  t["triangular_solve"] = [](const Call& c) -> Outputs {  // the right side comes first
    const bool upper = c.flag(2, "upper", true), unit = c.flag(4, "unitriangular", false);
    return {triangular(c[1], c[0],
                       {.lower = !upper, .transpose = c.flag(3, "transpose", false), .unit = unit}),
            c[1]};
  };
  t["linalg.lu"] = [](const Call& c) -> Outputs {
    const LU f = lu(c[0]);
    return {f.p, f.l, f.u};
  };
  for (const char* name : {"lu", "linalg.lu_factor", "linalg.lu_factor_ex"})
    t[name] = [](const Call& c) { return lu_packed(c[0]).packed; };
  t["linalg.qr"] = [](const Call& c) -> Outputs {
    const QR f = qr(c[0]);
    return {f.q, f.r};
  };
  t["matrix_exp"] = [](const Call& c) { return expm(c[0]); };
  t["linalg.lstsq.grad_oriented"] = [](const Call& c) { return lstsq(c[0], c[1]); };
  for (const char* name : {"linalg.pinv", "pinverse"}) t[name] = pseudo_inverse;
}

}  // namespace tessera::oracle
