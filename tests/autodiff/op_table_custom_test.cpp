// SPDX-License-Identifier: Apache-2.0
//
// Rows of functions with rules written by users. The rules given here are right, so that everything must agree
// with differences of the function itself.
#include "op_table.h"

namespace tessera::table {
namespace {
using Tensors = std::vector<Tensor>;
}

void custom_rows(std::vector<Row>& rows) {
  const Oracle sine = loop1([](Wide z) { return std::sin(z); });
  rows.push_back({.primitive = "custom_call", .variant = "jvp", .dtypes = kInexact, .inputs = elements(1, -1, 1),
                  .f = custom_jvp([](const Tensors& x) { return Tensors{sin(x[0])}; },
                                  [](const Tensors& x, const Tensors&, const Tensors& t) { return Tensors{cos(x[0]) * t[0]}; }),
                  .oracle = sine});
  rows.push_back({.primitive = "custom_call", .variant = "vjp", .dtypes = kInexact, .inputs = elements(1, -1, 1),
                  .f = custom_vjp([](const Tensors& x) { return Tensors{sin(x[0]), x[0]}; }, 1,
                                  [](const Tensors& kept, const Tensors& ct) { return Tensors{conj(cos(kept[0])) * ct[0]}; }),
                  .oracle = sine});
  rows.push_back({.primitive = "custom_linear", .dtypes = kNumber, .inputs = elements(1, -1, 1),
                  .f = custom_linear([](const Tensors& x) { return Tensors{cumsum(x[0], -1)}; },
                                     [](const Tensors& ct) { return Tensors{cumsum(ct[0], -1, true)}; }),
                  .oracle = [](const std::vector<Array>& in) {
                    Array y = in[0];
                    for (Index i = 0; i < y.size(); ++i)
                      if (i % y.shape.back()) y[i] += y[i - 1];
                    return std::vector<Array>{y};
                  }});
}

}  // namespace tessera::table
