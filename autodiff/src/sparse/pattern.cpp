// SPDX-License-Identifier: Apache-2.0
//
// Which elements of the input each element of the output depends on, by pushing sets of input
// numbers through the graph of a live recording. How an operation moves elements is asked of the
// operation itself: it is run on the numbers of its operands' elements in place of their values;
// for sums its transpose is, which moves where the sum gathers.
#include "../core/own_primitive.h"
#include "../ops/csr_attr.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/sparse.h"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace tessera::detail {
namespace {

/// Sorted numbers of input elements, shared between the elements that have the same; null is empty.
using Set = std::shared_ptr<const std::vector<Index>>;
/// One set an element; empty where the whole value is constant.
using Sets = std::vector<Set>;

Set united(const Set& a, const Set& b) {
  if (!a || a == b) return b;
  if (!b) return a;
  if (std::includes(a->begin(), a->end(), b->begin(), b->end())) return a;
  std::vector<Index> all;
  std::set_union(a->begin(), a->end(), b->begin(), b->end(), std::back_inserter(all));
  return std::make_shared<const std::vector<Index>>(std::move(all));
}
Set united(std::vector<Set> parts) {
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  std::vector<Index> all;
  for (const Set& s : parts)
    if (s) all.insert(all.end(), s->begin(), s->end());
  if (all.empty()) return {};
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return std::make_shared<const std::vector<Index>>(std::move(all));
}

enum class How {
  passes,   ///< the result is the first operand, whatever the others are
  moves,    ///< each element of the result is an element of an operand, or constant
  gathers,  ///< each element of an operand goes to one element of the result, and several may meet
            ///< there
  multiplies,      ///< matmul
  multiplies_csr,  ///< csr_matmul and csr_sddmm
  mixes            ///< anything
};
/// Of an operation that is not element-wise; for `gathers` the linear primitive whose transpose
/// tells where.
std::pair<How, const char*> how(const Primitive& p) {
  using Said = std::pair<How, const char*>;
  static const std::pair<const char*, Said> names[] = {
      {"reshape", {How::moves, ""}},
      {"transpose", {How::moves, ""}},
      {"broadcast", {How::moves, ""}},
      {"slice", {How::moves, ""}},
      {"reverse", {How::moves, ""}},
      {"pad", {How::moves, ""}},
      {"concatenate", {How::moves, ""}},
      {"copy", {How::moves, ""}},
      {"gather", {How::moves, ""}},
      {"scatter_set", {How::moves, ""}},
      {"matmul", {How::multiplies, ""}},
      {"reduce_sum", {How::gathers, "reduce_sum"}},
      {"reduce_max", {How::gathers, "reduce_sum"}},
      {"reduce_min", {How::gathers, "reduce_sum"}},
      {"scatter_add", {How::gathers, "scatter_add"}},
      {"check", {How::passes, ""}},
      {"barrier", {How::passes, ""}},
      {"csr_matmul", {How::multiplies_csr, ""}},
      {"csr_sddmm", {How::multiplies_csr, ""}},
      {"scatter_max", {How::gathers, "scatter_add"}},
      {"scatter_min", {How::gathers, "scatter_add"}}};
  static const std::unordered_map<const Primitive*, Said> known = [] {
    std::unordered_map<const Primitive*, Said> by_primitive;
    for (const auto& [name, said] : names) by_primitive.emplace(&own_primitive(name), said);
    return by_primitive;
  }();
  const auto it = known.find(&p);
  return it == known.end() ? Said{How::mixes, ""} : it->second;
}

/// One equation with the sets of its operands.
struct Call {
  const Graph& g;
  const Graph::Equation& e;
  const std::vector<Tensor>& values;
  const std::vector<Sets>& sets;
  const std::vector<bool>& varies;  ///< whether a value may change with x, by whatever operation
  Graph::Id in(std::size_t k) const { return g.operands[e.in_begin + k]; }
  const Type& type(std::size_t k) const { return g.types[in(k)]; }
  const Type& out_type() const { return g.types[e.out_begin]; }
  Index count() const { return out_type().shape.count(); }
};

Sets elementwise(const Call& c) {
  Sets out(static_cast<std::size_t>(c.count()));
  for (std::size_t k = 0; k < c.e.in_count; ++k) {
    const Sets& s = c.sets[c.in(k)];
    for (std::size_t i = 0; i < s.size(); ++i) out[i] = united(out[i], s[i]);
  }
  return out;
}

/// first, first + 1, ... as many as the type has elements.
Tensor numbered(const Type& t, Index first, Dtype dtype) {
  return reshape(cast(arange(t.shape.count()) + first, dtype), t.shape);
}

// Every element that may move carries a number; run twice with different numbers, those that stay
// the same are constants of the operation, as the filling of pad.
Sets moved(const Call& c) {
  std::vector<Index> first;
  Index total = 0;
  for (std::size_t k = 0; k < c.e.in_count; ++k)
    first.push_back(total), total += c.type(k).shape.count();
  std::vector<std::int64_t> runs[2];
  for (int run = 0; run < 2; ++run) {
    std::vector<Tensor> codes;
    std::vector<const Tensor*> operands;
    for (std::size_t k = 0; k < c.e.in_count; ++k) {
      const bool index = !is_inexact(c.type(k).dtype) && is_inexact(c.out_type().dtype);
      codes.push_back(index ? c.values[c.in(k)]
                            : numbered(c.type(k), first[k] + run * total, Dtype::i64));
    }
    for (const Tensor& t : codes) operands.push_back(&t);
    runs[run] = dispatch1(*c.e.primitive, operands, c.e.attr, c.e.line).to_vector<std::int64_t>();
  }
  Sets out(runs[0].size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (runs[1][i] - runs[0][i] != total) continue;
    std::size_t k = first.size() - 1;
    while (first[k] > runs[0][i]) --k;
    const Sets& s = c.sets[c.in(k)];
    if (!s.empty()) out[i] = s[static_cast<std::size_t>(runs[0][i] - first[k])];
  }
  return out;
}

Sets gathered(const Call& c, const Primitive& linear) {
  std::vector<Tensor> in;
  std::vector<Type> types;
  std::vector<Tensor> ct_in(c.e.in_count);
  std::unique_ptr<bool[]> flags(new bool[c.e.in_count]);
  for (std::size_t k = 0; k < c.e.in_count; ++k) {
    flags[k] = is_inexact(c.type(k).dtype);
    in.push_back(flags[k] ? Tensor() : c.values[c.in(k)]);
    types.push_back(flags[k] ? Type{Dtype::f64, c.type(k).shape} : c.type(k));
  }
  const Tensor ct = numbered(c.out_type(), 1, Dtype::f64);
  linear.transpose({in, {}, types, c.e.attr}, {flags.get(), c.e.in_count}, {&ct, 1}, ct_in);
  std::vector<std::vector<Set>> parts(static_cast<std::size_t>(c.count()));
  for (std::size_t k = 0; k < c.e.in_count; ++k) {
    const Sets& s = c.sets[c.in(k)];
    if (s.empty() || !ct_in[k].defined()) continue;
    const std::vector<double> to = broadcast_to(ct_in[k], c.type(k).shape).to_vector();
    for (std::size_t i = 0; i < s.size(); ++i)
      if (s[i] && to[i] > 0) parts[static_cast<std::size_t>(to[i]) - 1].push_back(s[i]);
  }
  Sets out;
  for (auto& p : parts) out.push_back(united(std::move(p)));
  return out;
}

/// y_ij = sum_k a_ik b_kj: a_ik counts unless b_kj is a constant zero, and the other way round.
Sets multiplied(const Call& c) {
  const Shape &a = c.type(0).shape, &b = c.type(1).shape;
  const auto m = static_cast<std::size_t>(a[a.size() - 2]), n = static_cast<std::size_t>(a.back()),
             q = static_cast<std::size_t>(b.back());
  const std::size_t stack = m * n == 0 ? 0 : static_cast<std::size_t>(a.count()) / (m * n);
  const auto not_zero = [&](std::size_t k) {
    if (c.varies[c.in(k)])
      return std::vector<std::uint8_t>(static_cast<std::size_t>(c.type(k).shape.count()), 1);
    const Tensor& t = c.values[c.in(k)];
    return cast(not_equal(t, zeros({}, t.dtype())), Dtype::u8).to_vector<std::uint8_t>();
  };
  const auto a_counts = not_zero(0), b_counts = not_zero(1);
  const Sets &sa = c.sets[c.in(0)], &sb = c.sets[c.in(1)];
  const auto set_at = [](const Sets& s, std::size_t i) { return s.empty() ? Set() : s[i]; };
  Sets out;
  for (std::size_t s = 0; s < stack; ++s)
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = 0; j < q; ++j) {
        std::vector<Set> parts;
        for (std::size_t k = 0; k < n; ++k) {
          const std::size_t ia = (s * m + i) * n + k, ib = (s * n + k) * q + j;
          const Set x = set_at(sa, ia), y = set_at(sb, ib);
          if (x && (y || b_counts[ib])) parts.push_back(x);
          if (y && (x || a_counts[ia])) parts.push_back(y);
        }
        out.push_back(united(std::move(parts)));
      }
  return out;
}

/// Entry e in row r and column j takes values[e] and x_j to y_r, or x_r and y_j to its place e in
/// the result.
Sets multiplied_csr(const Call& c) {
  const auto& f = tessera::get<CsrAttr>(c.e.attr.get());
  const CsrPattern& p = *f.pattern;
  const bool product = std::string(c.e.primitive->name) == "csr_matmul";
  const Shape &x = c.type(product ? 1 : 0).shape, &out = c.out_type().shape;
  const Index q = x.back(), n = x[x.size() - 2], entries = p.entries(),
              stacks = n * q == 0 ? 0 : x.count() / (n * q);
  const Index m = product ? out[out.size() - 2] : p.cols();  // rows of the other matrix
  const std::vector<Index> row = p.row_of_entries();
  std::vector<std::vector<Set>> parts(static_cast<std::size_t>(c.count()));
  const auto at = [&](std::size_t operand, Index i) {
    return c.sets[c.in(operand)].empty() ? Set()
                                         : c.sets[c.in(operand)][static_cast<std::size_t>(i)];
  };
  const auto add = [&](Index to, const Set& s) {
    if (s) parts[static_cast<std::size_t>(to)].push_back(s);
  };
  for (Index s = 0; s < stacks; ++s)
    for (Index e = 0; e < entries; ++e) {
      const Index r = row[static_cast<std::size_t>(e)], j = p.column()[static_cast<std::size_t>(e)];
      for (Index k = 0; k < q; ++k) {
        if (product) {
          const Index to = (s * m + (f.transposed ? j : r)) * q + k;
          add(to, at(0, s * entries + e)), add(to, at(1, (s * n + (f.transposed ? r : j)) * q + k));
        } else {
          add(s * entries + e, at(0, (s * n + r) * q + k)),
              add(s * entries + e, at(1, (s * m + j) * q + k));
        }
      }
    }
  Sets result;
  for (auto& v : parts) result.push_back(united(std::move(v)));
  return result;
}

Set all_of(const Call& c) {
  std::vector<Set> parts;
  for (std::size_t k = 0; k < c.e.in_count; ++k)
    parts.insert(parts.end(), c.sets[c.in(k)].begin(), c.sets[c.in(k)].end());
  return united(std::move(parts));
}

/// Of the first input; other inputs vary and are not asked for. `values` are those of what does not
/// vary at least.
CsrPatternPtr pattern_of(const Graph& g, const std::vector<Tensor>& values) {
  if (!is_float(g.types[g.outputs[0]].dtype))
    fail("sparsity", "the function must return real numbers, it returned a " +
                         to_string(g.types[g.outputs[0]]) + "; use as_real for complex ones");
  std::vector<Sets> sets(g.types.size());
  const Index columns = g.types[g.inputs[0]].shape.count();
  for (Index i = 0; i < columns; ++i)
    sets[g.inputs[0]].push_back(std::make_shared<const std::vector<Index>>(1, i));
  std::vector<bool> varies(g.types.size(), false);
  for (const Graph::Id id : g.inputs) varies[id] = true;
  for (const auto& [id, t] : g.captures) varies[id] = t.is_traced() && is_inexact(t.dtype());
  std::vector<std::size_t> last_use(g.types.size(), 0);
  for (std::size_t n = 0; n < g.equations.size(); ++n)
    for (Graph::Id id : g.in(g.equations[n])) last_use[id] = n;
  last_use[g.outputs[0]] = g.equations.size();
  for (std::size_t n = 0; n < g.equations.size(); ++n) {
    const Graph::Equation& e = g.equations[n];
    bool reached = false, changes = false, index_changes = false;
    for (Graph::Id id : g.in(e)) {
      reached |= !sets[id].empty();
      changes |= varies[id];
      index_changes |= varies[id] && !is_inexact(g.types[id].dtype);
    }
    for (Graph::Id k = e.out_begin; k < e.out_begin + e.out_count; ++k)
      varies[k] = changes || !values[k].defined();
    if (!reached || e.primitive->rule == RuleClass::zero) continue;
    const Call c{g, e, values, sets, varies};
    const auto [kind, linear] = how(*e.primitive);
    if (kind == How::passes) {
      sets[e.out_begin] = sets[c.in(0)];
    } else if (e.primitive->elementwise) {
      if (is_inexact(c.out_type().dtype)) sets[e.out_begin] = elementwise(c);
    } else if (kind == How::mixes || index_changes) {
      const Set all = all_of(c);
      for (Graph::Id k = e.out_begin; k < e.out_begin + e.out_count; ++k)
        if (is_inexact(g.types[k].dtype))
          sets[k].assign(static_cast<std::size_t>(g.types[k].shape.count()), all);
    } else {
      sets[e.out_begin] = kind == How::moves        ? moved(c)
                          : kind == How::gathers    ? gathered(c, own_primitive(linear))
                          : kind == How::multiplies ? multiplied(c)
                                                    : multiplied_csr(c);
    }
    for (Graph::Id id : g.in(e))
      if (last_use[id] == n) sets[id] = {};
  }
  const Sets& out = sets[g.outputs[0]];
  const Index rows = g.types[g.outputs[0]].shape.count();
  std::vector<Index> begin{0}, column;
  for (Index i = 0; i < rows; ++i) {
    if (!out.empty() && out[static_cast<std::size_t>(i)])
      column.insert(column.end(), out[static_cast<std::size_t>(i)]->begin(),
                    out[static_cast<std::size_t>(i)]->end());
    begin.push_back(static_cast<Index>(column.size()));
  }
  return csr_pattern(rows, columns, std::move(begin), std::move(column));
}

void check_real(const Type& x) {
  if (!is_float(x.dtype))
    fail("sparsity",
         "needs a real argument, got a " + to_string(x) + "; use as_real for complex numbers");
}

}  // namespace

CsrPatternPtr sparsity(const FlatFunction& f, const Tensor& x) {
  check_real(x.type());
  const Recording r = record_live("sparsity", f, std::span(&x, 1));
  return pattern_of(r.graph, r.values);
}

CsrPatternPtr sparsity_anywhere(const FlatFunction& f, const std::vector<Type>& in) {
  check_real(in.at(0));
  const Graph g = record_abstract("sparsity", f, in).graph;
  std::vector<Tensor> values(g.types.size());
  for (const auto& [id, t] : g.captures) values[id] = t;
  return pattern_of(g, values);
}

}  // namespace tessera::detail
