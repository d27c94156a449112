// SPDX-License-Identifier: Apache-2.0
//
// The two kinds of tangents: derivatives (forward mode) and Taylor coefficients (Taylor mode).
#include "../core/rules.h"
#include "../transform/expansion.h"
#include "../transform/linear.h"
#include "loops_internal.h"

#include <algorithm>

namespace tessera::detail {
namespace {

bool batched(const Curves& c, std::size_t k) {
  return c.directions > 0 && static_cast<int>(k) + 1 < c.order;
}

Type tangent_type(const Curves&, const Type& t, std::size_t) { return t; }
std::vector<std::vector<Tensor>> push_tangent(const Curves&, const Graph& g,
                                              std::span<const Tensor> values,
                                              const std::vector<std::vector<Tensor>>& in) {
  std::vector<Tensor> t(g.types.size());
  for (std::size_t k = 0; k < in.size(); ++k)
    if (!in[k].empty()) t[g.inputs[k]] = in[k][0];
  push_tangents(g, values, t);
  std::vector<std::vector<Tensor>> out;
  for (Graph::Id id : g.outputs)
    out.push_back(t[id].defined() ? std::vector<Tensor>{t[id]} : std::vector<Tensor>{});
  return out;
}

Type coefficient_type(const Curves& c, const Type& t, std::size_t k) {
  Type wide = t;
  if (batched(c, k)) wide.shape.insert(0, c.directions);
  return wide;
}
std::vector<std::vector<Tensor>> push_coefficients(const Curves& c, const Graph& g,
                                                   std::span<const Tensor> values,
                                                   const std::vector<std::vector<Tensor>>& in) {
  std::vector<Series> series;
  for (std::size_t k = 0; k < in.size(); ++k)
    series.push_back(series_of(c, values[g.inputs[k]], in[k]));
  std::vector<std::vector<Tensor>> out;
  const std::vector<Series> y = jet_graph(c, g, series, values);
  for (std::size_t k = 0; k < y.size(); ++k)
    out.push_back(tangents_of(c, y[k], g.types[g.outputs[k]]));
  return out;
}

}  // namespace

Tangents first_tangents() { return {1, tangent_type, push_tangent}; }
Tangents taylor_tangents(const Curves& curves) {
  return {static_cast<std::size_t>(curves.order), coefficient_type, push_coefficients, curves};
}

std::vector<Tensor> tangents_of(const Curves& curves, const Series& s, const Type& type) {
  std::vector<Tensor> out;
  if (std::none_of(s.begin() + 1, s.end(), [](const Coefficient& c) { return c.value.defined(); }))
    return out;
  for (std::size_t k = 0; k < static_cast<std::size_t>(curves.order); ++k) {
    const Coefficient c = k + 1 < s.size() ? s[k + 1] : Coefficient{};
    if (!c.value.defined())
      out.push_back(zeros_of(coefficient_type(curves, type, k)));
    else
      out.push_back(batched(curves, k) ? with_batch(c.value, c.batched, curves.directions)
                                       : c.value);
  }
  return out;
}

Series series_of(const Curves& curves, const Tensor& value, const std::vector<Tensor>& tangents) {
  Series s{{value}};
  for (std::size_t k = 0; k < tangents.size(); ++k) s.push_back({tangents[k], batched(curves, k)});
  return s;
}

}  // namespace tessera::detail
