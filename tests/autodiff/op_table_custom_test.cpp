// SPDX-License-Identifier: Apache-2.0
//
// Rows of functions with rules written by users, and of identities. The rules given here are right,
// so that everything must agree with differences of the function itself.
#include "op_table.h"
#include "tessera/autodiff/host_call.h"
#include "tessera/autodiff/ops/flow.h"

namespace tessera::table {
namespace {
using Tensors = std::vector<Tensor>;

/// sin x, and the product x y, on the host.
FlatFunction host_sine(bool jvp, bool vjp) {
  HostFunction f{.name = "sine", .run = [](const Tensors& x) { return Tensors{sin(x[0])}; }};
  if (jvp)
    f.jvp = [](const Tensors& x, const Tensors&, const Tensors& t) {
      return Tensors{cos(x[0]) * t[0]};
    };
  if (vjp)
    f.vjp = [](const Tensors& x, const Tensors&, const Tensors& ct) {
      return Tensors{conj(cos(x[0])) * ct[0]};
    };
  return host_call(f);
}

}  // namespace

void custom_rows(std::vector<Row>& rows) {
  const Oracle sine = loop1([](Wide z) { return std::sin(z); });
  rows.push_back({.primitive = "custom_call",
                  .variant = "jvp",
                  .dtypes = kInexact,
                  .inputs = elements(1, -1, 1),
                  .f = custom_jvp([](const Tensors& x) { return Tensors{sin(x[0])}; },
                                  [](const Tensors& x, const Tensors&, const Tensors& t) {
                                    return Tensors{cos(x[0]) * t[0]};
                                  }),
                  .oracle = sine});
  rows.push_back({.primitive = "custom_call",
                  .variant = "vjp",
                  .dtypes = kInexact,
                  .inputs = elements(1, -1, 1),
                  .f = custom_vjp(
                      [](const Tensors& x) {
                        return Tensors{sin(x[0]), x[0]};
                      },
                      1,
                      [](const Tensors& kept, const Tensors& ct) {
                        return Tensors{conj(cos(kept[0])) * ct[0]};
                      }),
                  .oracle = sine});
  rows.push_back(
      {.primitive = "custom_linear",
       .dtypes = kNumber,
       .inputs = elements(1, -1, 1),
       .f = custom_linear([](const Tensors& x) { return Tensors{cumsum(x[0], -1)}; },
                          [](const Tensors& ct) { return Tensors{cumsum(ct[0], -1, true)}; }),
       .oracle = [](const std::vector<Array>& in) {
         Array y = in[0];
         for (Index i = 0; i < y.size(); ++i)
           if (i % y.shape.back()) y[i] += y[i - 1];
         return std::vector<Array>{y};
       }});
  for (const auto& [jvp, vjp] :
       {std::pair(true, false), std::pair(false, true), std::pair(true, true)})
    rows.push_back({.primitive = "host_call",
                    .variant = std::string(jvp ? "jvp " : "") + (vjp ? "vjp" : ""),
                    .dtypes = kInexact,
                    .inputs = elements(1, -1, 1),
                    .f = host_sine(jvp, vjp),
                    .oracle = sine});
  rows.push_back(
      {.primitive = "host_call",
       .variant = "any type",
       .dtypes = kAny,
       .inputs = elements(1, -1, 1),
       .f = host_call({.name = "copy",
                       .run = [](const Tensors& x) { return x; },
                       .jvp = [](const Tensors&, const Tensors&, const Tensors& t) { return t; }}),
       .oracle = loop1([](Wide z) { return z; }),
       .tolerance = 0});
  rows.push_back({.primitive = "host_tangent",
                  .dtypes = kInexact,
                  .inputs = elements(2, -1, 1),
                  .f = [f = host_sine(true, true)](
                           const Tensors& x) { return detail::jvp_flat(f, {x[0]}, {x[1]}).second; },
                  .oracle = loop2([](Wide x, Wide t) { return std::cos(x) * t; })});
  const Oracle same = loop1([](Wide z) { return z; });
  rows.push_back(
      {.primitive = "check",
       .dtypes = kAny,
       .inputs = elements(1, -1, 1),
       .f = [](const Tensors& x) { return Tensors{check(x[0], equal(x[0], x[0]), "x is NaN")}; },
       .oracle = same,
       .tolerance = 0,
       .large = 70000});
  rows.push_back({.primitive = "barrier",
                  .dtypes = kAny,
                  .inputs = elements(1, -1, 1),
                  .f = [](const Tensors& x) { return Tensors{barrier(x[0], {equal(x[0], x[0])})}; },
                  .oracle = same,
                  .tolerance = 0});
}

}  // namespace tessera::table
