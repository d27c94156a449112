// SPDX-License-Identifier: Apache-2.0
//
// Batching: the function is recorded once on the types of a single example, then every equation is
// replaced by its batched self. The batch is always axis 0 inside.
#include "../base/context.h"
#include "../base/small_array.h"
#include "../core/rules.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"

namespace tessera::detail {

std::vector<Tensor> batch_graph(const Graph& g, std::span<const Tensor> inputs,
                                const std::vector<bool>& batched, Index size,
                                std::vector<bool>& out_batched) {
  std::vector<Tensor> values(g.types.size());
  std::vector<bool> is_batched(g.types.size(), false);
  std::vector<std::uint32_t> last_use(g.types.size(), 0);
  for (std::size_t e = 0; e < g.equations.size(); ++e)
    for (Graph::Id id : g.in(g.equations[e])) last_use[id] = static_cast<std::uint32_t>(e);
  for (Graph::Id id : g.outputs) last_use[id] = ~0u;
  for (std::size_t k = 0; k < g.inputs.size(); ++k) {
    values[g.inputs[k]] = inputs[k];
    is_batched[g.inputs[k]] = batched[k];
  }
  for (const auto& [id, t] : g.captures) values[id] = t;
  std::vector<Tensor> in, out;
  std::vector<const Tensor*> operands;
  std::vector<Type> types;
  for (std::size_t n = 0; n < g.equations.size(); ++n) {
    const Graph::Equation& e = g.equations[n];
    SmallArray<bool> flags(e.in_count);
    bool any = false;
    std::size_t count = 0;
    in.clear(), operands.clear(), types.clear();
    for (Graph::Id id : g.in(e)) {
      in.push_back(values[id]);
      types.push_back(g.types[id]);
      any |= flags[count++] = is_batched[id];
    }
    out.assign(e.out_count, Tensor());
    const InRule rule(context(), e.line);
    if (any) {
      e.primitive->batch({in, {}, types, e.attr}, flags.span(), size, out);
    } else {
      for (const Tensor& t : in) operands.push_back(&t);
      dispatch(*e.primitive, operands, e.attr, e.line, out);
    }
    for (Graph::Id k = 0; k < e.out_count; ++k) {
      values[e.out_begin + k] = std::move(out[k]);
      is_batched[e.out_begin + k] = any;
    }
    for (Graph::Id id : g.in(e))
      if (last_use[id] == n) values[id] = Tensor();
  }
  std::vector<Tensor> results;
  out_batched.clear();
  for (Graph::Id id : g.outputs) {
    results.push_back(values[id]);
    out_batched.push_back(is_batched[id]);
  }
  return results;
}

std::vector<Tensor> vmap_flat(const FlatFunction& f, const std::vector<Tensor>& x,
                              const std::vector<std::optional<int>>& in_axes, int out_axis) {
  std::vector<Tensor> in;
  std::vector<Type> types;
  std::vector<bool> batched;
  std::optional<Index> size;
  for (std::size_t k = 0; k < x.size(); ++k) {
    batched.push_back(in_axes[k].has_value());
    if (!in_axes[k]) {
      in.push_back(x[k]);
      types.push_back(x[k].type());
      continue;
    }
    if (x[k].ndim() == 0)
      fail("vmap", "argument " + std::to_string(k) +
                       " is a scalar and has no axis to map over; pass `not_mapped` for it");
    in.push_back(moveaxis(x[k], *in_axes[k], 0));
    const Index n = in.back().dim(0);
    if (size && *size != n)
      fail("vmap", "arguments disagree on the size of the mapped axis: " + std::to_string(*size) +
                       " and " + std::to_string(n));
    size = n;
    Type t = in.back().type();
    t.shape.erase(0);
    types.push_back(t);
  }
  if (!size) fail("vmap", "no argument has a mapped axis");
  const Recording r = record_abstract("vmap", f, types);
  InTransform scope("vmap");
  std::vector<bool> out_batched;
  std::vector<Tensor> y = batch_graph(r.graph, in, batched, *size, out_batched);
  for (std::size_t k = 0; k < y.size(); ++k)
    y[k] = moveaxis(with_batch(y[k], out_batched[k], *size), 0, out_axis);
  return y;
}

}  // namespace tessera::detail
