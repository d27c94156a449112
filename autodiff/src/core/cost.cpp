// SPDX-License-Identifier: Apache-2.0
#include "cost.h"

#include <algorithm>
#include <map>
#include <vector>

namespace tessera::detail {
namespace {

/// Of functions that are more than one operation, about what their bodies do in f64 (polynomials,
/// reductions of arguments, tables): kernels/vmath_*.h, kernels/bessel.h. An operation that is not
/// here is one.
const std::map<std::string_view, double>& table() {
  static const std::map<std::string_view, double> t = {{"div", 4},
                                                       {"sqrt", 6},
                                                       {"length", 6},
                                                       {"rsqrt", 8},
                                                       {"cbrt", 30},
                                                       {"rem", 10},
                                                       {"exp", 20},
                                                       {"expm1", 26},
                                                       {"log", 26},
                                                       {"log1p", 30},
                                                       {"sin", 28},
                                                       {"cos", 28},
                                                       {"tan", 44},
                                                       {"asin", 34},
                                                       {"acos", 34},
                                                       {"atan", 34},
                                                       {"atan2", 44},
                                                       {"sinh", 34},
                                                       {"cosh", 34},
                                                       {"tanh", 34},
                                                       {"asinh", 44},
                                                       {"acosh", 44},
                                                       {"atanh", 44},
                                                       {"sech2", 40},
                                                       {"logistic", 26},
                                                       {"softplus", 50},
                                                       {"erf", 40},
                                                       {"erfc", 60},
                                                       {"erfinv", 60},
                                                       {"lgamma", 70},
                                                       {"digamma", 60},
                                                       {"polygamma", 90},
                                                       {"pow", 60},
                                                       {"pow_int", 8},
                                                       {"pow_derivative", 80},
                                                       {"hypot", 12},
                                                       {"hypot_derivative", 20},
                                                       {"bessel_j", 250},
                                                       {"bessel_y", 300},
                                                       {"bessel_i", 250},
                                                       {"bessel_k", 300},
                                                       {"hankel1", 500},
                                                       {"hankel2", 500},
                                                       {"abs_complex", 12},
                                                       {"sign_complex", 16},
                                                       {"stop_gradient", 0},
                                                       {"cast", 0},
                                                       {"real", 0},
                                                       {"imag", 0},
                                                       {"conj", 0},
                                                       {"complex", 0},
                                                       {"select", 1},
                                                       {"copy", 0}};
  return t;
}

}  // namespace

double flops_each(std::string_view name, bool complex) {
  const auto it = table().find(name);
  const double real = it == table().end() ? 1 : it->second;
  if (!complex) return real;
  return name == "mul" ? 6 : name == "add" || name == "sub" || name == "neg" ? 2 : 3 * real;
}

Cost cost_by_types(const Primitive& p, TypeSpan in, TypeSpan out, const Attributes* attr) {
  const auto bytes = [](const Type& t) { return count(t) * static_cast<double>(size_of(t.dtype)); };
  Cost c;
  for (const Type& t : in) c.bytes += p.view ? 0 : bytes(t);
  for (const Type& t : out) c.bytes += p.view ? 0 : bytes(t);
  if (p.elementwise) c.flops = count(out[0]) * flops_each(p.name, is_complex(in[0].dtype));
  if (p.workspace) {
    const auto packed = [](TypeSpan all) {
      std::vector<View> v;
      for (const Type& t : all) v.push_back({nullptr, t.dtype, t.shape, row_major(t.shape)});
      return v;
    };
    c.workspace = static_cast<double>(p.workspace(packed(in), packed(out), attr));
  }
  return c;
}

Cost cost_of(const Graph& g) {
  std::vector<std::size_t> last(g.types.size(), 0);
  for (std::size_t n = 0; n < g.equations.size(); ++n)
    for (const Graph::Id id : g.in(g.equations[n])) last[id] = n;
  for (const Graph::Id id : g.outputs) last[id] = g.equations.size();
  Cost all;
  double alive = 0;
  std::vector<double> dies(g.equations.size() + 1, 0);
  Types in;
  for (std::size_t n = 0; n < g.equations.size(); ++n) {
    const Graph::Equation& e = g.equations[n];
    in.clear();
    for (const Graph::Id id : g.in(e)) in.push_back(g.types[id]);
    const TypeSpan out{g.types.data() + e.out_begin, e.out_count};
    const Cost c = e.primitive->cost(in, out, e.attr.get());
    all.flops += c.flops, all.bytes += c.bytes;
    for (Graph::Id id = e.out_begin; !e.primitive->view && id < e.out_begin + e.out_count; ++id) {
      if (last[id] == g.equations.size()) continue;
      const double bytes = count(g.types[id]) * static_cast<double>(size_of(g.types[id].dtype));
      alive += bytes, dies[std::max(last[id], n)] += bytes;
    }
    all.workspace = std::max(all.workspace, alive + c.workspace);
    alive -= dies[n];
  }
  return all;
}

}  // namespace tessera::detail
