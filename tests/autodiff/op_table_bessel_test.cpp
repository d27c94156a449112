// SPDX-License-Identifier: Apache-2.0
//
// Rows of Bessel functions of fractional order, from their power series in long double. Integer
// orders and extreme arguments: derivative_reference_test.cpp.
#include "op_table.h"
#include "tessera/autodiff/ops/bessel.h"

#include <cmath>
#include <numbers>

namespace tessera::table {
namespace {

using Tensors = std::vector<Tensor>;
using LD = long double;

/// (z/2)^v sum_k (sign z^2/4)^k / (k! Gamma(v + k + 1)): J for sign -1, I for +1.
Wide series(LD v, Wide z, LD sign) {
  Wide term = std::pow(0.5L * z, v) / std::tgamma(v + 1), sum = 0;
  for (int k = 1; k < 80; ++k) {
    sum += term;
    term *= sign * 0.25L * z * z / (static_cast<LD>(k) * (v + static_cast<LD>(k)));
  }
  return sum;
}
Wide j(LD v, Wide z) { return series(v, z, -1); }
Wide i(LD v, Wide z) { return series(v, z, 1); }
Wide y(LD v, Wide z) {
  const LD a = std::numbers::pi_v<LD> * v;
  return (j(v, z) * std::cos(a) - j(-v, z)) / std::sin(a);
}
Wide k(LD v, Wide z) {
  return 0.5L * std::numbers::pi_v<LD> * (i(-v, z) - i(v, z)) /
         std::sin(std::numbers::pi_v<LD> * v);
}
Wide h1(LD v, Wide z) { return j(v, z) + Wide(0, 1) * y(v, z); }
Wide h2(LD v, Wide z) { return j(v, z) - Wide(0, 1) * y(v, z); }

}  // namespace

void bessel_rows(std::vector<Row>& rows) {
  struct Function {
    const char* name;
    DtypeSet dtypes;
    Tensor (*plain)(double, Arg);
    Tensor (*scaled)(double, Arg);
    Wide (*oracle)(LD, Wide);
    Wide (*factor)(Wide);
  };
  const Function functions[] = {
      {"bessel_j", kInexact, bessel_j, bessel_je, j,
       [](Wide z) { return Wide(std::exp(-std::abs(z.imag()))); }},
      {"bessel_y", kInexact, bessel_y, bessel_ye, y,
       [](Wide z) { return Wide(std::exp(-std::abs(z.imag()))); }},
      {"bessel_i", kInexact, bessel_i, bessel_ie, i,
       [](Wide z) { return Wide(std::exp(-std::abs(z.real()))); }},
      {"bessel_k", kInexact, bessel_k, bessel_ke, k, [](Wide z) { return std::exp(z); }},
      {"hankel1", kComplex, hankel1, hankel1e, h1,
       [](Wide z) { return std::exp(Wide(0, -1) * z); }},
      {"hankel2", kComplex, hankel2, hankel2e, h2, [](Wide z) { return std::exp(Wide(0, 1) * z); }},
  };
  for (const Function& f : functions) {
    for (double order : {0.25, 1.7, -2.6})
      rows.push_back({.primitive = f.name,
                      .variant = "order " + std::to_string(order),
                      .dtypes = f.dtypes,
                      .inputs = elements(1, 0.6, 3),
                      .f = [=](const Tensors& x) { return Tensors{f.plain(order, x[0])}; },
                      .oracle = loop1([=](Wide z) { return f.oracle(order, z); }),
                      .tolerance = 64,
                      .large = order == 1.7 ? 33000 : 0});  // two chunks of a slow function
    rows.push_back({.primitive = f.name,
                    .variant = "scaled",
                    .dtypes = f.dtypes,
                    .inputs = elements(1, 0.6, 3),
                    .f = [=](const Tensors& x) { return Tensors{f.scaled(0.25, x[0])}; },
                    .oracle = loop1([=](Wide z) { return f.factor(z) * f.oracle(0.25L, z); }),
                    .tolerance = 64});
  }
}

}  // namespace tessera::table
