// SPDX-License-Identifier: Apache-2.0
#include "compose.h"
#include "tessera/autodiff/ops/matrix_functions.h"

namespace tessera::oracle {
namespace {

/// V diag(w) V^H: what eigenvectors are compared by, as their phases are free.
Tensor put_together(const Tensor& v, const Tensor& w) {
  return matmul(v * expand_dims(cast(w, v.dtype()), -2), adjoint(v));
}

}  // namespace

void spectrum_rows(Table& t) {
  t["linalg.eigh"] = [](const Call& c) -> Outputs {
    const Eigh e = eigh(c[0]);
    return {e.values, put_together(e.vectors, sin(e.values))};
  };
  t["linalg.eigvalsh"] = [](const Call& c) { return eigh(c[0]).values; };
  t["linalg.eigvals"] = [](const Call& c) { return sum(exp(eigvals(c[0]) * 0.25), {-1}); };
  t["linalg.eig"] = [](const Call& c) -> Outputs {
    const Eig e = eig(c[0]);
    const Tensor v = e.vectors;
    return {sum(exp(e.values * 0.25), {-1}),
            matmul(v * expand_dims(exp(e.values * 0.25), -2), inv(v))};
  };
  for (const char* name : {"svd", "linalg.svd"})
    t[name] = [](const Call& c) -> Outputs {
      const SVD f = svd(c[0]);
      return {f.s, matmul(f.u * expand_dims(cast(sin(f.s), f.u.dtype()), -2), f.vh)};
    };
  t["linalg.svdvals"] = [](const Call& c) { return svd(c[0]).s; };
  t["linalg.cond"] = [](const Call& c) {
    const Tensor s = svd(c[0]).s;
    if (s.size() == 0) return sum(s, {-1});
    return max(s, {-1}) / min(s, {-1});
  };
  t["linalg.pinv.hermitian"] = [](const Call& c) {
    const Eigh e = eigh(c[0]);
    return put_together(e.vectors, 1.0 / e.values);
  };
}

}  // namespace tessera::oracle
