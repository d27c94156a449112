// SPDX-License-Identifier: Apache-2.0
//
// The k-th Taylor coefficient of s -> f(x + s v) at 0 is its k-th derivative, by k nested jvp, over
// k!.
#include "comparison.h"
#include "tessera/autodiff/jet.h"
#include "tessera/autodiff/ops.h"

namespace tessera::detail {

CheckReport jetcheck_flat(const FlatFunction& f, const Tensors& x, const Tensors& v,
                          const std::vector<Tensors>& coefficients, const CheckOptions& o) {
  if (x.size() != v.size())
    fail("jetcheck", "the direction has " + std::to_string(v.size()) + " leaves, the argument " +
                         std::to_string(x.size()));
  const bool single = single_precision(x);
  const double rtol = chosen(o.rtol, single ? 1e-4 : 1e-11);
  const Dtype real_type = single ? Dtype::f32 : Dtype::f64;
  FlatFunction derivative = [&](const Tensors& s) {
    Tensors moved;
    for (std::size_t k = 0; k < x.size(); ++k)
      moved.push_back(is_inexact(x[k].dtype()) ? x[k] + s[0] * v[k] : x[k]);
    return f(moved);
  };
  Comparison found("jetcheck");
  double factorial = 1;
  for (std::size_t k = 0; k < coefficients.size(); ++k) {
    if (k > 0) {
      derivative = derivative_of(derivative, {ones({}, real_type)});
      factorial *= static_cast<double>(k);
    }
    Tensors got, expected;
    const Tensors d = derivative({zeros({}, real_type)});
    if (d.size() != coefficients[k].size())
      fail("jetcheck", "coefficient " + std::to_string(k) + " has " +
                           std::to_string(coefficients[k].size()) + " leaves, the function " +
                           std::to_string(d.size()));
    for (std::size_t i = 0; i < d.size(); ++i) {
      if (!is_inexact(d[i].dtype())) continue;
      expected.push_back(d[i] / factorial);
      got.push_back(coefficients[k][i]);
    }
    found.tensors(got, expected, rtol, o.atol,
                  "coefficient " + std::to_string(k) + " against nested jvp");
  }
  return found.take();
}

CheckReport jetcheck_flat(const FlatFunction& f, const Tensors& x, const Tensors& v, int order,
                          const CheckOptions& o) {
  Tensors directions = v;
  for (std::size_t k = 0; k < directions.size(); ++k)
    if (!is_inexact(directions[k].dtype())) directions[k] = Tensor();
  return jetcheck_flat(f, x, v, jet_flat(f, {x, directions}, order), o);
}

}  // namespace tessera::detail
