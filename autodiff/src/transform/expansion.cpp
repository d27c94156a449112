// SPDX-License-Identifier: Apache-2.0
#include "expansion.h"

#include "../base/context.h"
#include "../base/small_array.h"
#include "../core/graph_passes.h"
#include "../core/rules.h"
#include "../ops/forms.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"

#include <algorithm>
#include <cstring>

namespace tessera::detail {

Tensor sum_over_directions(const Curves& curves, const Tensor& c) {
  if (!curves.weights.defined()) return sum(c, {0});
  const Index n = curves.directions;
  Shape rest = c.shape();
  rest.erase(0);
  const Tensor w = reshape(cast(curves.weights, c.dtype()), {1, n});
  return reshape(matmul(w, reshape(c, {n, c.size() / std::max<Index>(n, 1)})), rest);
}

namespace {

/// The same element of the same type: constants that rules make anew every time are one node.
bool same_constant(const Tensor& a, const Tensor& b) {
  if (a.impl() == b.impl()) return true;
  if (a.is_traced() || b.is_traced() || a.type() != b.type()) return false;
  const bool one =
      std::all_of(a.view().strides.begin(), a.view().strides.end(),
                  [](Index s) { return s == 0; }) &&
      std::all_of(b.view().strides.begin(), b.view().strides.end(), [](Index s) { return s == 0; });
  return (one || a.size() == 1) && a.size() > 0 &&
         std::memcmp(a.view().data, b.view().data, size_of(a.dtype())) == 0;
}

}  // namespace

Expansion::Id Expansion::add(Node n) {
  n.known.resize(static_cast<std::size_t>(curves_.order) + 1);
  n.scaled.resize(n.known.size());
  nodes_.push_back(std::move(n));
  return static_cast<Id>(nodes_.size()) - 1;
}

Expansion::Id Expansion::constant(const Tensor& t) {
  for (const auto& [known, id] : constants_)
    if (same_constant(known, t)) return id;
  const Id id = add({.kind = Node::Kind::given, .type = t.type()});
  nodes_[id].known[0] = Coefficient{t};
  constants_.emplace_back(t, id);
  return id;
}

Expansion::Id Expansion::velocity_of(Id x) {
  for (Id n = 0; n < static_cast<Id>(nodes_.size()); ++n)
    if (nodes_[n].kind == Node::Kind::velocity && nodes_[n].of == x) return n;
  return add({.kind = Node::Kind::velocity,
              .type = nodes_[x].type,
              .of = x,
              .lead = nodes_[x].lead + 1,
              .moves = true});
}

Expansion::Id Expansion::call(const Primitive& p, const AttributesPtr& attr,
                              const std::vector<Id>& in, std::span<const Type> out_types) {
  for (const Call& c : calls_)
    if (c.primitive == &p && p.order(attr.get()) != Ordering::every && c.in == in &&
        !c.attr == !attr && (!attr || c.attr->equal(*attr)))
      return c.out[0];
  Call c{&p, attr, in, {}};
  int lead = 0;
  for (Id n : in) {
    if (!nodes_[n].moves) continue;
    c.moves = c.moves || p.rule != RuleClass::zero;
    const int mine = nodes_[n].lead;
    if (collapse_ && curves_.directions > 0 && p.rule == RuleClass::hand && lead * mine > 0 &&
        lead != mine)
      throw Mixed{};
    lead = p.rule == RuleClass::bilinear ? lead + mine : std::max(lead, mine);
  }
  for (std::size_t k = 0; k < out_types.size(); ++k)
    c.out.push_back(add({.kind = Node::Kind::result,
                         .type = out_types[k],
                         .of = static_cast<Id>(calls_.size()),
                         .out = static_cast<int>(k),
                         .lead = c.moves ? lead : 0,
                         .moves = c.moves}));
  calls_.push_back(std::move(c));
  return calls_.back().out[0];
}

Types Expansion::types_of(const Call& c) const {
  Types t;
  for (Id n : c.in) t.push_back(nodes_[n].type);
  return t;
}

const Coefficient& Expansion::coefficient(Id n, int k) {
  fill(n, k);
  Node& node = nodes_[n];
  if (!node.known[k])
    node.known[k] = Coefficient{node.scaled[k]->base * node.scaled[k]->factor, true};
  return *node.known[k];
}

std::optional<Expansion::Scaled> Expansion::factored(Id n, int k) {
  fill(n, k);
  const Node& node = nodes_[n];
  if (node.scaled[k]) return node.scaled[k];
  if (node.known[k]->batched) return Scaled{node.known[k]->value, {}};
  return {};
}

void Expansion::fill(Id n, int k) {
  Node& node = nodes_[n];
  if (node.known[k] || node.scaled[k]) return;
  if (node.kind == Node::Kind::given || (k > 0 && !node.moves)) {
    node.known[k].emplace();
  } else if (node.kind == Node::Kind::velocity) {
    const Coefficient& c = coefficient(node.of, k + 1);
    node.known[k] = c.value.defined() && k > 0
                        ? Coefficient{c.value * static_cast<double>(k + 1), c.batched}
                        : c;
  } else {
    compute(node.of, k);
  }
}

/// A product of one batched value with one that is not, at its lowest order.
std::optional<Expansion::Scaled> Expansion::scale(const Call& c, int k) {
  if (k > 0 || c.primitive != &mul_primitive()) return {};
  for (int i : {0, 1}) {
    const std::optional<Scaled> x = factored(c.in[i], 0);
    if (!x || (nodes_[c.in[1 - i]].moves && factored(c.in[1 - i], 0))) continue;
    const Tensor& a = coefficient(c.in[1 - i], 0).value;
    if (!a.defined()) continue;
    return Scaled{x->base, x->factor.defined() ? x->factor * a : a};
  }
  return {};
}

void Expansion::compute(Id id, int k) {
  const Call& c = calls_[id];
  const Primitive& p = *c.primitive;
  std::vector<Coefficient> y;
  // What is linear in so many velocities that its zeroth coefficient is the one that is summed over
  // the directions.
  const bool at_once = k == 0 && summed(c, 0);
  if (const std::optional<Scaled> product = at_once ? std::nullopt : scale(c, k)) {
    nodes_[c.out[0]].scaled[k] = product;
    return;
  }
  if (k == 0 && !(at_once && (p.rule == RuleClass::linear || p.rule == RuleClass::bilinear))) {
    std::vector<Coefficient> in;
    for (Id n : c.in) in.push_back(coefficient(n, 0));
    for (std::size_t i = 0; i < in.size(); ++i)
      if (!in[i].value.defined()) in[i].value = zeros_of(nodes_[c.in[i]].type);
    y = apply_to(p, c.attr, in, types_of(c), c.out.size());
  } else if (p.rule == RuleClass::linear) {
    y = linear(c, k);
  } else if (p.rule == RuleClass::bilinear) {
    y = bilinear(c, k);
  } else if (std::optional<std::vector<Coefficient>> solved = p.undo ? solve(c, k) : std::nullopt) {
    y = std::move(*solved);
  } else {
    return by_velocity(id, k);
  }
  for (std::size_t i = 0; i < c.out.size(); ++i)
    if (!nodes_[c.out[i]].known[k]) nodes_[c.out[i]].known[k] = std::move(y[i]);
}

std::vector<Coefficient> Expansion::apply_to(const Primitive& p, const AttributesPtr& attr,
                                             std::span<const Coefficient> in,
                                             std::span<const Type> types, std::size_t n_out) const {
  SmallArray<bool> flags(in.size());
  bool any = false;
  std::vector<Tensor> x, y(n_out);
  for (std::size_t i = 0; i < in.size(); ++i) {
    x.push_back(in[i].value);
    any |= flags[i] = in[i].batched;
  }
  if (any) {
    p.batch({x, {}, types, attr}, flags.span(), curves_.directions, y);
  } else {
    std::vector<const Tensor*> operands;
    for (const Tensor& t : x) operands.push_back(&t);
    dispatch(p, operands, attr, context_line(), y);
  }
  std::vector<Coefficient> out;
  for (Tensor& t : y) out.push_back({std::move(t), any});
  return out;
}

void Expansion::accumulate(Sum& s, const Coefficient& c) const {
  Tensor& to = c.batched ? s.batched : s.alone;
  to = add_tangents(to, c.value);
}
Coefficient Expansion::total(Sum s, bool collapsed) const {
  if (!s.batched.defined()) return {s.alone};
  if (collapsed) return {add_tangents(s.alone, sum_over_directions(curves_, s.batched))};
  return {add_tangents(s.batched, s.alone), true};
}

/// An operand in which a linear primitive is not linear has no influence on its derivative, or the
/// jvp throws.
void Expansion::ask_for_influence(const Call& c, std::size_t operand) {
  std::vector<Tensor> x, t(c.in.size()), y(c.out.size());
  for (Id n : c.in) x.push_back(coefficient(n, 0).value);
  t[operand] = zeros_of(nodes_[c.in[operand]].type);
  const Types types = types_of(c);
  c.primitive->jvp({x, {}, types, c.attr}, t, y);
}

std::vector<Coefficient> Expansion::linear(const Call& c, int k) {
  const Primitive& p = *c.primitive;
  const bool collapsed = summed(c, k);
  std::vector<Coefficient> in;
  std::vector<std::size_t> here;  // operands that contribute
  for (std::size_t i = 0; i < c.in.size(); ++i) {
    const bool linear = p.linear_in(i, c.attr.get());
    if (!linear) {
      if (nodes_[c.in[i]].moves && is_inexact(nodes_[c.in[i]].type.dtype)) ask_for_influence(c, i);
      in.push_back(coefficient(c.in[i], 0));
      continue;
    }
    Coefficient x = coefficient(c.in[i], k);
    if (x.value.defined()) {
      if (collapsed && x.batched) x = {sum_over_directions(curves_, x.value)};
      here.push_back(i);
    }
    in.push_back(std::move(x));
  }
  if (here.empty()) return std::vector<Coefficient>(c.out.size());
  const Types types = types_of(c);
  for (std::size_t i = 0; i < in.size(); ++i)
    if (!in[i].value.defined()) in[i].value = zeros_of(types[i]);
  if (here.size() == 1 && p.elementwise) {
    // A sum with one term is that term: its own rule knows.
    const bool batched = in[here[0]].batched;
    bool alone = true;
    std::vector<Tensor> x, t(in.size()), y(1);
    Types at = types;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const bool zero = i == here[0] || p.linear_in(i, c.attr.get());
      if (batched) at[i].shape.insert(0, curves_.directions);
      x.push_back(zero ? zeros_of(at[i]) : in[i].value);
      alone = alone && (zero || (!batched && !in[i].batched));
    }
    t[here[0]] = in[here[0]].value;
    if (alone) {
      p.jvp({x, {}, at, c.attr}, t, y);
      return {{y[0], batched}};
    }
  }
  return apply_to(p, c.attr, in, types, c.out.size());
}

std::vector<Coefficient> Expansion::bilinear(const Call& c, int k) {
  const Types types = types_of(c);
  const bool collapsed = summed(c, k);
  const bool square = c.in[0] == c.in[1] && c.primitive->elementwise;  // x_j x_{k-j} = x_{k-j} x_j
  Sum s, twice;
  for (int j = 0; j <= k; ++j) {
    if (square && 2 * j > k) break;
    if (collapsed && !curves_.weights.defined() && c.primitive == &mul_primitive()) {
      const std::optional<Scaled> a = factored(c.in[0], j), b = factored(c.in[1], k - j);
      if (a && b) {
        Tensor term = sum_product(a->base, b->base, {0});
        for (const Tensor& factor : {a->factor, b->factor})
          if (factor.defined()) term = term * factor;
        accumulate(square && 2 * j < k ? twice : s, {term});
        continue;
      }
    }
    const Coefficient pair[] = {coefficient(c.in[0], j), coefficient(c.in[1], k - j)};
    if (!pair[0].value.defined() || !pair[1].value.defined()) continue;
    accumulate(square && 2 * j < k ? twice : s, apply_to(*c.primitive, c.attr, pair, types, 1)[0]);
  }
  if (twice.alone.defined()) accumulate(s, {twice.alone * 2.0});
  if (twice.batched.defined()) accumulate(s, {twice.batched * 2.0, true});
  return {total(std::move(s), collapsed)};
}

/// f(a, b), over the directions of those that have some. Empty where f gives nothing.
std::optional<Coefficient> Expansion::apply_map(
    const std::function<Tensor(const Tensor&, const Tensor&)>& f, const Coefficient& a,
    const Coefficient& b, const Type& a_type, const Type& b_type) const {
  if (!a.batched && !b.batched) {
    const Tensor y = f(a.value, b.value);
    return y.defined() ? std::optional(Coefficient{y}) : std::nullopt;
  }
  const Type types[] = {a_type, b_type};
  const Recording r = record_abstract(
      "jet",
      [&](const std::vector<Tensor>& v) {
        const Tensor y = f(v[0], v[1]);
        return y.defined() ? std::vector<Tensor>{y} : std::vector<Tensor>{};
      },
      types);
  if (r.graph.outputs.empty()) return {};
  std::vector<bool> out;
  const Tensor in[] = {a.value, b.value};
  const std::vector<Tensor> y =
      batch_graph(r.graph, in, {a.batched, b.batched}, curves_.directions, out);
  return Coefficient{y[0], out[0]};
}

std::optional<std::vector<Coefficient>> Expansion::solve(const Call& c, int k) {
  const Primitive& p = *c.primitive;
  if (c.in.size() != 2) return {};
  const Id a = c.in[p.numerator], b = c.in[1 - p.numerator];
  const Types types = types_of(c);
  const bool collapsed = summed(c, k);
  Sum moved;
  for (int j = 1; j <= k && nodes_[b].moves; ++j) {
    const Coefficient &bj = coefficient(b, j), &y = coefficient(c.out[0], k - j);
    if (!bj.value.defined() || !y.value.defined()) continue;
    const auto undo = [&](const Tensor& u, const Tensor& v) {
      return p.undo({{}, {}, types, c.attr}, u, v);
    };
    const std::optional<Coefficient> product =
        apply_map(undo, bj, y, nodes_[b].type, nodes_[c.out[0]].type);
    if (!product) return {};
    accumulate(moved, *product);
  }
  const Coefficient& ak = coefficient(a, k);
  Sum s;
  if (moved.alone.defined()) s.alone = neg(moved.alone);
  if (moved.batched.defined()) s.batched = neg(moved.batched);
  if (ak.value.defined()) {
    Tensor& to = ak.batched ? s.batched : s.alone;
    const Tensor& minus = ak.batched ? moved.batched : moved.alone;
    to = minus.defined() ? ak.value - minus : ak.value;
  }
  const Coefficient right = total(std::move(s), collapsed);
  std::vector<Coefficient> y(c.out.size());
  if (!right.value.defined()) return y;
  if (p.elementwise) {
    Coefficient operands[2];
    operands[p.numerator] = right;
    operands[1 - p.numerator] = coefficient(b, 0);
    return apply_to(p, c.attr, operands, types, 1);
  }
  // A solve is the tangent along its right-hand side, by the rule that knows what a derivative that
  // fails gives.
  const auto along = [&](const Tensor& u, const Tensor& v) {
    std::vector<Tensor> x(2), t(2), dy(c.out.size());
    x[1 - p.numerator] = v, t[p.numerator] = u;
    p.jvp({x, {}, types, c.attr}, t, dy);
    return dy[0];
  };
  y[0] = *apply_map(along, right, coefficient(b, 0), nodes_[a].type, nodes_[b].type);
  return y;
}

void Expansion::find_velocity(Id id) {
  const Types in_types = types_of(calls_[id]);
  const std::vector<Id> in = calls_[id].in, out = calls_[id].out;
  const Primitive& p = *calls_[id].primitive;
  const AttributesPtr attr = calls_[id].attr;
  Types types = in_types;
  for (Id n : out) types.push_back(nodes_[n].type);
  std::vector<Id> arguments = in;
  arguments.insert(arguments.end(), out.begin(), out.end());
  std::vector<std::size_t> moving;
  for (std::size_t i = 0; i < in.size(); ++i)
    if (nodes_[in[i]].moves && is_inexact(in_types[i].dtype)) {
      moving.push_back(i);
      types.push_back(in_types[i]);
      arguments.push_back(velocity_of(in[i]));
    }
  std::vector<std::size_t> live;  // results with a velocity
  const Graph g =
      record_abstract(
          "jet",
          [&](const std::vector<Tensor>& v) {
            const auto at = [&](std::size_t n) {
              return v.begin() + static_cast<std::ptrdiff_t>(n);
            };
            const std::vector<Tensor> x(at(0), at(in.size())),
                y(at(in.size()), at(in.size() + out.size()));
            std::vector<Tensor> t(in.size()), dy(out.size()), results;
            for (std::size_t i = 0; i < moving.size(); ++i)
              t[moving[i]] = v[in.size() + out.size() + i];
            p.jvp({x, y, in_types, attr}, t, dy);
            for (std::size_t i = 0; i < out.size(); ++i) {
              if (!dy[i].defined()) continue;
              const Type& want = nodes_[out[i]].type;
              live.push_back(i);
              results.push_back(
                  dy[i].type() == want ? dy[i] : broadcast_to(cast(dy[i], want.dtype), want.shape));
            }
            return results;
          },
          types)
          .graph;
  std::vector<Id> node(g.types.size(), kZero);
  for (std::size_t i = 0; i < g.inputs.size(); ++i) node[g.inputs[i]] = arguments[i];
  for (const auto& [value, t] : g.captures) node[value] = constant(t);
  for (const Graph::Equation& e : g.equations) {
    if (e.out_count == 0) continue;
    std::vector<Id> operands;
    for (Graph::Id v : g.in(e)) operands.push_back(node[v]);
    const Id first =
        call(*e.primitive, e.attr, operands, {g.types.data() + e.out_begin, e.out_count});
    for (Graph::Id i = 0; i < e.out_count; ++i)
      node[e.out_begin + i] = calls_[nodes_[first].of].out[i];
  }
  std::vector<Id> velocity(out.size(), kZero);
  for (std::size_t i = 0; i < live.size(); ++i) velocity[live[i]] = node[g.outputs[i]];
  calls_[id].velocity = std::move(velocity);
}

void Expansion::by_velocity(Id id, int k) {
  if (!calls_[id].velocity) find_velocity(id);
  for (std::size_t i = 0; i < calls_[id].out.size(); ++i) {
    const Id v = (*calls_[id].velocity)[i];
    Node& y = nodes_[calls_[id].out[i]];
    if (v == kZero) {
      y.known[k].emplace();
    } else if (const std::optional<Scaled> product = factored(v, k - 1);
               product && product->factor.defined()) {
      y.scaled[k] = k == 1 ? *product : Scaled{product->base, product->factor * (1.0 / k)};
    } else {
      y.known[k] = coefficient(v, k - 1);
      if (Tensor& c = y.known[k]->value; c.defined() && k > 1) c = c * (1.0 / k);
    }
  }
}

std::vector<Series> Expansion::of(const Primitive& p, const AttributesPtr& attr,
                                  std::span<const Graph::Id> names, std::span<const Series> in,
                                  std::span<const Type> in_types, std::span<const Type> out_types,
                                  std::span<const Tensor> values) {
  std::vector<Id> operands;
  for (std::size_t i = 0; i < in.size(); ++i) {
    // One value of the graph given twice is one node, so that x * x is known to be a square. Two
    // values may begin at the same point and move apart: neither tensors nor numbers tell.
    const auto first = static_cast<std::size_t>(
        std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) -
        names.begin());
    if (first < i) {
      operands.push_back(operands[first]);
      continue;
    }
    Node n{.kind = Node::Kind::given, .type = in_types[i]};
    const Id id = add(std::move(n));
    for (std::size_t k = 0; k < in[i].size(); ++k) {
      nodes_[id].known[k] = in[i][k];
      nodes_[id].moves = nodes_[id].moves || (k > 0 && in[i][k].value.defined());
    }
    operands.push_back(id);
  }
  const Id first = call(p, attr, operands, out_types);
  const std::vector<Id> out = calls_[nodes_[first].of].out;
  for (std::size_t i = 0; i < out.size(); ++i) nodes_[out[i]].known[0] = Coefficient{values[i]};
  std::vector<Series> result(out.size());
  for (std::size_t i = 0; i < out.size(); ++i)
    for (int k = 0; k <= curves_.order; ++k) {
      const Coefficient& c = coefficient(out[i], k);
      result[i].push_back(c);
    }
  return result;
}

namespace {

/// The same without collapse: y_K = sum_r y_K(x(t) without x_K) + J sum_r x_K.
std::vector<Series> by_directions(const Curves& curves, const Primitive& p,
                                  const AttributesPtr& attr, std::span<const Graph::Id> names,
                                  std::span<const Series> in, std::span<const Type> in_types,
                                  std::span<const Type> out_types, std::span<const Tensor> values) {
  const std::size_t order = static_cast<std::size_t>(curves.order);
  std::vector<Series> lower(in.begin(), in.end());
  std::vector<Tensor> x, t, dy(values.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    x.push_back(in[i][0].value), t.push_back(in[i].size() > order ? in[i][order].value : Tensor());
    if (lower[i].size() > order) lower[i].resize(order);
  }
  std::vector<Series> y =
      Expansion(curves, false).of(p, attr, names, lower, in_types, out_types, values);
  p.jvp({x, values, in_types, attr}, t, dy);
  for (std::size_t i = 0; i < y.size(); ++i) {
    Coefficient& last = y[i][order];
    last = {
        add_tangents(last.batched ? sum_over_directions(curves, last.value) : last.value, dy[i])};
  }
  return y;
}

}  // namespace

std::vector<Series> jet_graph(const Curves& curves, const Graph& g, std::span<const Series> inputs,
                              std::span<const Tensor> values) {
  std::vector<Series> series(g.types.size());
  for (std::size_t i = 0; i < g.inputs.size(); ++i) series[g.inputs[i]] = inputs[i];
  for (const auto& [id, t] : g.captures) series[id] = {{t}};
  std::vector<std::uint32_t> last_use(g.types.size(), 0);
  const std::vector<bool> used = needed(g, {}, g.outputs);
  for (std::size_t e = 0; e < g.equations.size(); ++e)
    if (is_used(g.equations[e], used))
      for (Graph::Id id : g.in(g.equations[e])) last_use[id] = static_cast<std::uint32_t>(e);
  for (Graph::Id id : g.outputs) last_use[id] = ~0u;
  const auto moves = [](const Series& s) {
    return std::any_of(s.begin() + 1, s.end(),
                       [](const Coefficient& c) { return c.value.defined(); });
  };
  for (std::size_t n = 0; n < g.equations.size(); ++n) {
    const Graph::Equation& e = g.equations[n];
    if (!is_used(e, used)) continue;
    std::vector<Series> in;
    Types types;
    bool any = false;
    for (Graph::Id id : g.in(e)) {
      in.push_back(series[id]);
      types.push_back(g.types[id]);
      any |= moves(series[id]);
    }
    for (Graph::Id id : g.in(e))
      if (last_use[id] == n) series[id].clear();
    const InRule rule(context(), e.line);
    const std::span<const Type> out_types{g.types.data() + e.out_begin, e.out_count};
    const std::span<const Tensor> out = values.subspan(e.out_begin, e.out_count);
    std::vector<Series> y(e.out_count);
    if (any && e.primitive->jet) {
      std::vector<Tensor> x;
      for (const Series& s : in) x.push_back(s[0].value);
      e.primitive->jet(curves, {x, out, types, e.attr}, in, y);
    } else if (any && e.primitive->rule != RuleClass::zero) {
      try {
        y = Expansion(curves).of(*e.primitive, e.attr, g.in(e), in, types, out_types, out);
      } catch (const Expansion::Mixed&) {
        y = by_directions(curves, *e.primitive, e.attr, g.in(e), in, types, out_types, out);
      }
    } else {
      for (Graph::Id k = 0; k < e.out_count; ++k) y[k] = {{out[k]}};
    }
    for (Graph::Id k = 0; k < e.out_count; ++k) series[e.out_begin + k] = std::move(y[k]);
  }
  std::vector<Series> out;
  for (Graph::Id id : g.outputs) out.push_back(series[id]);
  return out;
}

}  // namespace tessera::detail
