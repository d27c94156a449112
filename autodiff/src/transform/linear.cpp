// SPDX-License-Identifier: Apache-2.0
//
// Derivatives. A function is recorded on its values; its derivative is a second recording, made by
// the jvp rules, of a graph that is linear in the tangents (everything nonlinear was computed by
// the first one and is captured). Running that graph is forward mode; walking it backwards with the
// transpose rules is reverse mode. Both emit ordinary operations, so that whoever records around
// them can differentiate again.
#include "linear.h"

#include "../base/context.h"
#include "../base/small_array.h"
#include "../core/graph_passes.h"
#include "../core/rules.h"
#include "../ops/forms.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"

#include <unordered_map>

namespace tessera::detail {

void push_tangents(const Graph& g, std::span<const Tensor> values, std::vector<Tensor>& t) {
  std::vector<Tensor> in, out, t_in, t_out;
  std::vector<Type> types;
  const std::vector<bool> used = needed(g, {}, g.outputs);
  for (const Graph::Equation& e : g.equations) {
    if (e.primitive->rule == RuleClass::zero || !is_used(e, used)) continue;
    bool reached = false;
    for (Graph::Id id : g.in(e)) reached |= t[id].defined();
    if (!reached) continue;
    in.clear(), t_in.clear(), types.clear(), out.clear();
    for (Graph::Id id : g.in(e)) {
      in.push_back(values[id]);
      t_in.push_back(t[id]);
      types.push_back(g.types[id]);
    }
    for (Graph::Id k = 0; k < e.out_count; ++k) out.push_back(values[e.out_begin + k]);
    t_out.assign(e.out_count, Tensor());
    const InRule rule(context(), e.line);
    e.primitive->jvp({in, out, types, e.attr}, t_in, t_out);
    for (Graph::Id k = 0; k < e.out_count; ++k)
      if (t_out[k].defined()) {
        if (t_out[k].type() != g.types[e.out_begin + k])
          t_out[k] = broadcast_to(cast(t_out[k], g.types[e.out_begin + k].dtype),
                                  g.types[e.out_begin + k].shape);
        t[e.out_begin + k] = t_out[k];
      }
  }
}

namespace {

/// Trees that go beside others have as many tensors.
void check_count(const char* name, const char* what, std::size_t got, std::size_t want) {
  if (got != want)
    fail(name, "the " + std::string(what) + " have " + std::to_string(got) + " tensors, want " +
                   std::to_string(want));
}

void check_tangent(const char* name, const Tensor& x, const Tensor& t) {
  if (t.defined() && t.type() != x.type())
    fail(name, "the tangent of a " + to_string(x.type()) + " is a " + to_string(t.type()));
}

}  // namespace

std::pair<std::vector<Tensor>, std::vector<Tensor>> jvp_flat(const FlatFunction& f,
                                                             const std::vector<Tensor>& x,
                                                             const std::vector<Tensor>& tangents) {
  check_count("jvp", "tangents", tangents.size(), x.size());
  const Recording r = record_live("jvp", f, x);
  InTransform scope("jvp");
  std::vector<Tensor> t(r.graph.types.size());
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (!is_inexact(x[k].dtype())) continue;
    check_tangent("jvp", x[k], tangents[k]);
    t[r.graph.inputs[k]] = tangents[k];
  }
  push_tangents(r.graph, r.values, t);
  std::vector<Tensor> values, out;
  for (Graph::Id id : r.graph.outputs) {
    values.push_back(r.values[id]);
    out.push_back(t[id].defined() ? t[id] : zeros_of(r.graph.types[id]));
  }
  return {values, out};
}

Linearized linearize_flat(const char* name, const FlatFunction& f, const std::vector<Tensor>& x,
                          std::size_t wanted) {
  Recording r = record_live(name, f, x);
  share_repeated_work(r.graph);  // what is walked backwards once is walked once
  Linearized l;
  std::vector<Type> live_types;
  for (const Tensor& t : x) {
    l.in_types.push_back(t.type());
    l.in_live.push_back(is_inexact(t.dtype()));
    if (l.in_live.back()) live_types.push_back(t.type());
  }
  for (Graph::Id id : r.graph.outputs) {
    l.values.push_back(r.values[id]);
    l.out_types.push_back(r.graph.types[id]);
  }
  r.graph.outputs.resize(std::min(wanted, r.graph.outputs.size()));
  auto rule = [&](const std::vector<Tensor>& tangents) {
    std::vector<Tensor> t(r.graph.types.size());
    std::size_t next = 0;
    for (std::size_t k = 0; k < x.size(); ++k)
      if (l.in_live[k]) t[r.graph.inputs[k]] = tangents[next++];
    push_tangents(r.graph, r.values, t);
    std::vector<Tensor> out;
    for (Graph::Id id : r.graph.outputs) {
      l.out_live.push_back(t[id].defined());
      if (t[id].defined()) out.push_back(t[id]);
    }
    l.out_live.resize(l.values.size());
    return out;
  };
  l.map = std::make_shared<Graph>(record_abstract(name, rule, live_types).graph);
  return l;
}

std::vector<Tensor> push(const Linearized& l, const std::vector<Tensor>& tangents) {
  check_count("linearize", "tangents", tangents.size(), l.in_types.size());
  std::vector<Tensor> live;
  for (std::size_t k = 0; k < l.in_live.size(); ++k) {
    if (!l.in_live[k]) continue;
    if (tangents[k].type() != l.in_types[k])
      fail("linearize", "the tangent of a " + to_string(l.in_types[k]) + " is a " +
                            to_string(tangents[k].type()));
    live.push_back(tangents[k]);
  }
  const std::vector<Tensor> out = evaluate(*l.map, live);
  std::vector<Tensor> all;
  for (std::size_t k = 0, next = 0; k < l.out_types.size(); ++k)
    all.push_back(l.out_live[k] ? out[next++] : zeros_of(l.out_types[k]));
  return all;
}

std::vector<Tensor> transpose_graph(const Graph& g, std::span<const Tensor> cotangents) {
  std::vector<Tensor> ct(g.types.size()), known(g.types.size());
  std::vector<bool> linear(g.types.size(), true);
  for (const auto& [id, t] : g.captures) {
    known[id] = t;
    linear[id] = false;
  }
  for (std::size_t k = 0; k < g.outputs.size(); ++k)
    if (linear[g.outputs[k]]) ct[g.outputs[k]] = add_tangents(ct[g.outputs[k]], cotangents[k]);
  // Cotangents of slices wait for each other until something else is asked of that of their array.
  std::unordered_map<Graph::Id, std::vector<OfSlice>> slices;
  const auto known_of = [&](Graph::Id id) -> Tensor& {
    if (const auto found = slices.find(id); found != slices.end()) {
      ct[id] = add_tangents(ct[id], sum_of_slices(g.types[id], found->second));
      slices.erase(found);
    }
    return ct[id];
  };
  std::vector<Tensor> in, c_out, c_in;
  std::vector<Type> types;
  for (std::size_t n = g.equations.size(); n-- > 0;) {
    const Graph::Equation& e = g.equations[n];
    bool reached = false;
    c_out.clear();
    for (Graph::Id k = 0; k < e.out_count; ++k) {
      c_out.push_back(std::move(known_of(e.out_begin + k)));
      reached |= c_out.back().defined();
    }
    if (!reached) continue;
    if (e.primitive == &slice_primitive()) {
      slices[g.in(e)[0]].push_back({c_out[0], e.attr, e.line});
      continue;
    }
    for (Graph::Id k = 0; k < e.out_count; ++k)
      if (!c_out[k].defined()) c_out[k] = zeros_of(g.types[e.out_begin + k]);
    in.clear(), types.clear();
    SmallArray<bool> flags(e.in_count);
    std::size_t count = 0;
    for (Graph::Id id : g.in(e)) {
      in.push_back(known[id]);
      types.push_back(g.types[id]);
      flags[count++] = linear[id];
    }
    c_in.assign(count, Tensor());
    const InRule rule(context(), {e.line.file, e.line.number, true});
    e.primitive->transpose({in, {}, types, e.attr}, flags.span(), c_out, c_in);
    for (std::size_t k = 0; k < count; ++k) {
      const Graph::Id id = g.operands[e.in_begin + k];
      if (!flags[k] || !c_in[k].defined()) continue;
      if (c_in[k].type() != g.types[id])
        c_in[k] = broadcast_to(cast(c_in[k], g.types[id].dtype), g.types[id].shape);
      Tensor& sum = known_of(id);
      sum = add_tangents(sum, c_in[k]);
    }
  }
  std::vector<Tensor> out;
  for (Graph::Id id : g.inputs) {
    const Tensor& c = known_of(id);
    out.push_back(c.defined() ? c : zeros_of(g.types[id]));
  }
  return out;
}

std::vector<Tensor> pull(const Linearized& l, const std::vector<Tensor>& cotangents) {
  InTransform scope("vjp");
  check_count("vjp", "cotangents", cotangents.size(), l.out_types.size());
  std::vector<Tensor> live;
  for (std::size_t k = 0; k < l.out_types.size(); ++k) {
    if (cotangents[k].defined() && cotangents[k].type() != l.out_types[k])
      fail("vjp", "the cotangent of a " + to_string(l.out_types[k]) + " is a " +
                      to_string(cotangents[k].type()));
    if (l.out_live[k]) live.push_back(cotangents[k]);
  }
  const std::vector<Tensor> ct = transpose_graph(*l.map, live);
  std::vector<Tensor> all;
  for (std::size_t k = 0, next = 0; k < l.in_types.size(); ++k)
    all.push_back(l.in_live[k] ? ct[next++] : zeros_of(l.in_types[k]));
  return all;
}

std::pair<std::vector<Tensor>, std::vector<Tensor>> grad_flat(const FlatFunction& f,
                                                              const std::vector<Tensor>& x,
                                                              std::size_t n, bool auxiliary) {
  for (std::size_t k = 0; k < n; ++k)
    if (!is_inexact(x[k].dtype()))
      fail("grad", "no derivative with respect to a " + to_string(x[k].type()) +
                       "; cast it to a floating type");
  Linearized l = linearize_flat(
      "grad",
      [&](const std::vector<Tensor>& first) {
        std::vector<Tensor> all = first;
        all.insert(all.end(), x.begin() + static_cast<std::ptrdiff_t>(n), x.end());
        return f(all);
      },
      {x.begin(), x.begin() + static_cast<std::ptrdiff_t>(n)}, 1);
  if (l.values.empty() || (l.values.size() != 1 && !auxiliary) ||
      l.out_types[0].shape.size() != 0 || !is_float(l.out_types[0].dtype))
    fail("grad", "the function must return one real scalar, it returned " +
                     (l.values.size() == 1 ? to_string(l.out_types[0])
                      : auxiliary          ? to_string(l.out_types[0]) + " first"
                                           : std::to_string(l.values.size()) + " tensors") +
                     "; use vjp or jacrev for others" +
                     (auxiliary || l.values.empty()
                          ? ""
                          : ", and std::pair(value, rest) for what comes beside a value"));
  InTransform scope("grad");
  std::vector<Tensor> cotangents(l.values.size());
  cotangents[0] = ones({}, l.out_types[0].dtype);
  return {l.values, pull(l, cotangents)};
}

std::vector<Tensor> jacobian_flat(const FlatFunction& f, const std::vector<Tensor>& x, bool forward,
                                  Holomorphic h) {
  const char* name = forward ? "jacfwd" : "jacrev";
  const Linearized l = linearize_flat(name, f, x);
  InTransform scope(name);
  bool complex_in = false, complex_out = false;
  for (const Type& t : l.in_types) {
    if (!is_inexact(t.dtype)) fail(name, "no derivative with respect to a " + to_string(t));
    complex_in |= is_complex(t.dtype);
  }
  for (const Type& t : l.out_types) complex_out |= is_complex(t.dtype);
  if (h == Holomorphic::no && (forward ? complex_in : complex_out || complex_in))
    fail(name,
         "the Jacobian of a complex map is a complex matrix only for holomorphic functions: pass "
         "Holomorphic::yes if it is one, "
         "or give the function real arguments and results through as_real / as_complex");
  if (h == Holomorphic::yes && !(complex_in && complex_out))
    fail(name, "Holomorphic::yes asks for complex arguments and results");
  std::vector<Tensor> out;
  auto unit = [](const Type& t) {
    Shape s = t.shape;
    s.insert(0, t.shape.count());
    return reshape(eye(t.shape.count(), t.dtype), s);
  };
  if (forward) {
    if (x.size() != 1) fail(name, "takes one tensor argument");
    const Index n = x[0].size();
    std::vector<bool> batched_out;
    const Tensor basis[] = {unit(l.in_types[0])};
    const std::vector<Tensor> y = batch_graph(*l.map, basis, {true}, n, batched_out);
    for (std::size_t k = 0, next = 0; k < l.out_types.size(); ++k) {
      Shape s = l.out_types[k].shape;
      for (Index d : l.in_types[0].shape) s.push_back(d);
      if (!l.out_live[k]) {
        out.push_back(zeros_of({l.out_types[k].dtype, s}));
        continue;
      }
      const Tensor wide = with_batch(y[next], batched_out[next], n);
      ++next;
      out.push_back(reshape(moveaxis(wide, 0, -1), s));
    }
    return out;
  }
  for (std::size_t k = 0, next = 0; k < l.out_types.size(); ++k) {
    const Type& ot = l.out_types[k];
    for (std::size_t i = 0; i < l.in_types.size(); ++i) {
      Shape s = ot.shape;
      for (Index d : l.in_types[i].shape) s.push_back(d);
      if (!l.out_live[k]) {
        out.push_back(zeros_of({ot.dtype, s}));
        continue;
      }
      const Type types[] = {ot};
      const Graph t = record_abstract(
                          name,
                          [&](const std::vector<Tensor>& c) {
                            std::vector<Tensor> ct(l.map->outputs.size());
                            ct[next] = c[0];
                            return std::vector<Tensor>{transpose_graph(*l.map, ct)[i]};
                          },
                          types)
                          .graph;
      std::vector<bool> batched_out;
      const Tensor basis[] = {unit(ot)};
      const std::vector<Tensor> rows = batch_graph(t, basis, {true}, ot.shape.count(), batched_out);
      const Tensor j = reshape(with_batch(rows[0], batched_out[0], ot.shape.count()), s);
      out.push_back(h == Holomorphic::yes ? conj(j) : j);
    }
    if (l.out_live[k]) ++next;
  }
  return out;
}

}  // namespace tessera::detail
