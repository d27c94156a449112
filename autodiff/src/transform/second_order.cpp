// SPDX-License-Identifier: Apache-2.0
//
// First and second derivatives along all coordinates together. For each step y = p(x) of a function, with its rule
// y_t = r(x, y; x_t) linear in x_t,
//
//   y_i  = r(x, y; x_i)
//   y_ij = r(x, y; x_ij) + d/dt r(x + t x_j, y + t y_j; x_i)
//
// for i <= j alone: 1 + n + n (n + 1) / 2 vectors, where curves along e_i + e_j carry 1 + n (n + 1) and nested forward
// mode 1 + 2 n + n^2. The second term is nothing for linear steps and for products of which one factor moves.
#include "../context.h"
#include "../transform_internal.h"
#include "tessera/autodiff/jet.h"
#include "tessera/autodiff/ops.h"

namespace tessera::detail {
namespace {

/// One equation of a recording with the derivatives of its operands.
class Step {
 public:
  Step(const Graph& g, const Graph::Equation& e, std::span<const Tensor> values) : g_(g), e_(e) {
    for (Graph::Id id : g.in(e)) in_.push_back(values[id]), types_.push_back(g.types[id]);
    for (Graph::Id k = 0; k < e.out_count; ++k) out_.push_back(values[e.out_begin + k]);
  }
  std::size_t operands() const { return in_.size(); }
  std::size_t results() const { return out_.size(); }

  /// r(x, y; t); undefined is zero.
  std::vector<Tensor> rule(const std::vector<Tensor>& x, const std::vector<Tensor>& y, const std::vector<Tensor>& t) const {
    std::vector<Tensor> out(results());
    context().where = e_.where;
    e_.primitive->jvp({x, y, types_, e_.attr}, t, out);
    for (std::size_t k = 0; k < out.size(); ++k) {
      const Type& type = g_.types[e_.out_begin + k];
      if (out[k].defined() && out[k].type() != type) out[k] = broadcast_to(cast(out[k], type.dtype), type.shape);
    }
    return out;
  }
  /// f for each entry along the leading axis of `in`; undefined entries stay so, on both sides.
  static std::vector<Tensor> each(const std::vector<Tensor>& in, std::size_t n_out, const FlatFunction& f) {
    std::vector<Tensor> given;
    for (const Tensor& t : in)
      if (t.defined()) given.push_back(t);
    std::vector<bool> there(n_out);
    const std::vector<Tensor> y = vmap_flat([&](const std::vector<Tensor>& one) {
      std::vector<Tensor> all(in.size()), out;
      for (std::size_t k = 0, next = 0; k < in.size(); ++k)
        if (in[k].defined()) all[k] = one[next++];
      const std::vector<Tensor> r = f(all);
      for (std::size_t k = 0; k < n_out; ++k) {
        there[k] = r[k].defined();
        if (there[k]) out.push_back(r[k]);
      }
      return out;
    }, given, std::vector<std::optional<int>>(given.size(), 0), 0);
    std::vector<Tensor> all(n_out);
    for (std::size_t k = 0, next = 0; k < n_out; ++k)
      if (there[k]) all[k] = y[next++];
    return all;
  }
  std::vector<Tensor> first(const std::vector<Tensor>& t) const {
    return each(t, results(), [&](const std::vector<Tensor>& one) { return rule(in_, out_, one); });
  }
  /// Along pairs: x_i of the operands, then x_j, then y_j of the results.
  std::vector<Tensor> bend(const std::vector<Tensor>& pairs) const {
    return each(pairs, results(), [&](const std::vector<Tensor>& p) {
      const auto begin = p.begin();
      const std::size_t n = operands();
      const std::vector<Tensor> xi(begin, begin + static_cast<std::ptrdiff_t>(n)), along(begin + static_cast<std::ptrdiff_t>(n), p.end());
      std::vector<Tensor> at = in_;
      at.insert(at.end(), out_.begin(), out_.end());
      std::vector<Tensor> moving, t;
      for (std::size_t k = 0; k < at.size(); ++k)
        if (along[k].defined()) moving.push_back(at[k]), t.push_back(along[k]);
      std::vector<bool> there(results());
      const auto slopes = jvp_flat([&](const std::vector<Tensor>& m) {
        std::vector<Tensor> all = at, out;
        for (std::size_t k = 0, next = 0; k < at.size(); ++k)
          if (along[k].defined()) all[k] = m[next++];
        const std::vector<Tensor> r = rule({all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n)}, {all.begin() + static_cast<std::ptrdiff_t>(n), all.end()}, xi);
        for (std::size_t k = 0; k < r.size(); ++k) {
          there[k] = r[k].defined();
          if (there[k]) out.push_back(r[k]);
        }
        return out;
      }, moving, t).second;
      std::vector<Tensor> out(results());
      for (std::size_t k = 0, next = 0; k < out.size(); ++k)
        if (there[k]) out[k] = slopes[next++];
      return out;
    });
  }
  /// Whether the rule is the same at every x that the moving operands reach.
  bool straight(const std::vector<Tensor>& t) const {
    if (e_.primitive->rule == RuleClass::linear) return true;
    if (e_.primitive->rule != RuleClass::bilinear) return false;
    std::size_t moving = 0;
    for (const Tensor& x : t) moving += x.defined();
    return moving <= 1;
  }

 private:
  const Graph& g_;
  const Graph::Equation& e_;
  std::vector<Tensor> in_, out_;
  std::vector<Type> types_;
};

}  // namespace

PointDerivatives derivatives_flat(const FlatFunction& f, const Tensor& x) {
  const Tensor coordinates = coordinate_directions("derivatives", x);
  const Index n = x.dim(-1);
  const Recording r = record_live("derivatives", f, std::span(&x, 1));
  const Graph& g = r.graph;
  if (g.outputs.size() != 1) fail("derivatives", "the function must return one tensor");
  InTransform scope("derivatives");
  std::vector<std::int64_t> of_i, of_j;
  for (Index i = 0; i < n; ++i)
    for (Index j = i; j < n; ++j) of_i.push_back(i), of_j.push_back(j);
  const Tensor at_i = tensor(of_i), at_j = tensor(of_j);
  std::vector<Tensor> first(g.types.size()), second(g.types.size()), along_i(g.types.size()), along_j(g.types.size());
  first[g.inputs[0]] = coordinates;
  const auto spread = [&](std::vector<Tensor>& to, Graph::Id id, const Tensor& at) {
    if (first[id].defined() && !to[id].defined()) to[id] = take(first[id], at, 0);
    return to[id];
  };
  for (const Graph::Equation& e : g.equations) {
    if (e.primitive->rule == RuleClass::zero) continue;
    std::vector<Tensor> t, s;
    bool reached = false, bent = false;
    for (Graph::Id id : g.in(e)) {
      t.push_back(first[id]), s.push_back(second[id]);
      reached |= t.back().defined();
      bent |= s.back().defined();
    }
    if (!reached) continue;
    const Step step(g, e, r.values);
    const std::vector<Tensor> y = step.first(t);
    for (Graph::Id k = 0; k < e.out_count; ++k) first[e.out_begin + k] = y[k];
    std::vector<Tensor> yy(e.out_count);
    if (bent) yy = step.first(s);
    if (!step.straight(t)) {
      std::vector<Tensor> pairs;
      for (Graph::Id id : g.in(e)) pairs.push_back(spread(along_i, id, at_i));
      for (Graph::Id id : g.in(e)) pairs.push_back(spread(along_j, id, at_j));
      for (Graph::Id k = 0; k < e.out_count; ++k) pairs.push_back(spread(along_j, e.out_begin + k, at_j));
      const std::vector<Tensor> more = step.bend(pairs);
      for (std::size_t k = 0; k < yy.size(); ++k) yy[k] = add_tangents(yy[k], more[k]);
    }
    for (Graph::Id k = 0; k < e.out_count; ++k) second[e.out_begin + k] = yy[k];
  }
  const Graph::Id out = g.outputs[0];
  const auto all = [&](const Tensor& t, Index count) {
    if (t.defined()) return t;
    Shape shape = g.types[out].shape;
    shape.insert(0, count);
    return zeros_of({g.types[out].dtype, shape});
  };
  return {r.values[out], all(first[out], n), all(second[out], n * (n + 1) / 2)};
}

}  // namespace tessera::detail
