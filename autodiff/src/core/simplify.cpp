// SPDX-License-Identifier: Apache-2.0
#include "../ops/forms.h"
#include "graph_passes.h"

#include <unordered_map>

namespace tessera {
namespace {

std::size_t hash_of(const Graph& g, const Graph::Equation& e,
                    const std::vector<Graph::Id>& number) {
  std::size_t h = reinterpret_cast<std::size_t>(e.primitive);
  for (Graph::Id id : g.in(e)) h = h * 1099511628211u ^ number[id];
  return h;
}

bool same(const Graph& g, const Graph::Equation& a, const Graph::Equation& b,
          const std::vector<Graph::Id>& number) {
  if (a.primitive != b.primitive || a.in_count != b.in_count || !a.attr != !b.attr) return false;
  for (Graph::Id k = 0; k < a.in_count; ++k)
    if (number[g.operands[a.in_begin + k]] != number[g.operands[b.in_begin + k]]) return false;
  return !a.attr || a.attr->equal(*b.attr);
}

/// Sums of products that nobody else reads, as one operation.
Graph with_sums_of_products(Graph g) {
  std::vector<std::uint32_t> uses(g.types.size(), 0), maker(g.types.size(), ~0u);
  for (Graph::Id id : g.operands) ++uses[id];
  for (Graph::Id id : g.outputs) ++uses[id];
  for (std::uint32_t n = 0; n < g.equations.size(); ++n) {
    Graph::Equation& e = g.equations[n];
    for (Graph::Id k = 0; k < e.out_count; ++k) maker[e.out_begin + k] = n;
    const Graph::Id x = e.in_count == 1 ? g.operands[e.in_begin] : 0;
    if (e.in_count != 1 || maker[x] == ~0u || uses[x] != 1) continue;
    const Graph::Equation& product = g.equations[maker[x]];
    const Primitive* form = product.primitive == &detail::mul_primitive()
                                ? detail::product_form(*e.primitive, e.attr.get(), g.types[x])
                                : nullptr;
    if (!form) continue;
    const Graph::Id factors[] = {g.operands[product.in_begin], g.operands[product.in_begin + 1]};
    e.primitive = form;
    e.in_begin = static_cast<Graph::Id>(g.operands.size());
    e.in_count = 2;
    g.operands.insert(g.operands.end(), factors, factors + 2);
  }
  return g;
}

/// What remains of a graph: values that equal an earlier one take its number, equations that nobody
/// needs go. Each of Ordering::every stays.
struct Remains {
  std::vector<Graph::Id> number;
  std::vector<bool> used, keep;  ///< of values, of equations
};
Remains remains_of(const Graph& g) {
  Remains r{std::vector<Graph::Id>(g.types.size()), std::vector<bool>(g.types.size(), false),
            std::vector<bool>(g.equations.size(), false)};
  auto& [number, used, keep] = r;
  for (Graph::Id id = 0; id < number.size(); ++id) number[id] = id;
  std::unordered_map<const void*, Graph::Id> constants;
  for (const auto& [id, t] : g.captures)
    number[id] = constants.try_emplace(t.impl(), id).first->second;
  std::unordered_multimap<std::size_t, std::size_t> seen;
  for (std::size_t n = 0; n < g.equations.size(); ++n) {
    const Graph::Equation& e = g.equations[n];
    keep[n] = detail::order_of(e) == Ordering::every;
    if (keep[n]) continue;
    const std::size_t h = hash_of(g, e, number);
    bool repeated = false;
    for (auto [it, end] = seen.equal_range(h); it != end && !repeated; ++it) {
      const Graph::Equation& first = g.equations[it->second];
      if (!same(g, e, first, number)) continue;
      for (Graph::Id k = 0; k < e.out_count; ++k)
        number[e.out_begin + k] = number[first.out_begin + k];
      repeated = true;
    }
    if (!repeated) seen.emplace(h, n);
  }
  for (Graph::Id id : g.outputs) used[number[id]] = true;
  for (std::size_t n = g.equations.size(); n-- > 0;) {
    const Graph::Equation& e = g.equations[n];
    for (Graph::Id k = 0; k < e.out_count; ++k)
      keep[n] = keep[n] || (used[e.out_begin + k] && number[e.out_begin + k] == e.out_begin + k);
    if (keep[n])
      for (Graph::Id id : g.in(e)) used[number[id]] = true;
  }
  return r;
}

}  // namespace

namespace detail {

void share_repeated_work(Graph& g) {
  const Remains r = remains_of(g);
  std::size_t kept = 0;
  for (std::size_t n = 0; n < g.equations.size(); ++n)
    if (r.keep[n]) g.equations[kept++] = std::move(g.equations[n]);
  g.equations.resize(kept);
  for (Graph::Id& id : g.operands) id = r.number[id];
  for (Graph::Id& id : g.outputs) id = r.number[id];
}

}  // namespace detail

Graph simplify(const Graph& original) {
  const Graph g = with_sums_of_products(original);
  const auto [number, used, keep] = remains_of(g);
  Graph out;
  std::vector<Graph::Id> renamed(g.types.size(), 0);
  auto add = [&](Graph::Id id) { renamed[id] = out.add_value(g.types[id]); };
  for (Graph::Id id : g.inputs) {
    add(id);
    out.inputs.push_back(renamed[id]);
  }
  for (const auto& [id, t] : g.captures) {
    if (number[id] != id || !used[id]) continue;
    add(id);
    out.captures.emplace_back(renamed[id], t);
  }
  for (std::size_t n = 0; n < g.equations.size(); ++n) {
    if (!keep[n]) continue;
    Graph::Equation e = g.equations[n];
    const auto in_begin = static_cast<Graph::Id>(out.operands.size());
    for (Graph::Id id : g.in(e)) out.operands.push_back(renamed[number[id]]);
    const auto out_begin = static_cast<Graph::Id>(out.types.size());
    for (Graph::Id k = 0; k < e.out_count; ++k) add(e.out_begin + k);
    e.in_begin = in_begin;
    e.out_begin = out_begin;
    out.equations.push_back(std::move(e));
  }
  for (Graph::Id id : g.outputs) out.outputs.push_back(renamed[number[id]]);
  return out;
}

}  // namespace tessera
