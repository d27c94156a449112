// SPDX-License-Identifier: Apache-2.0
//
// The primitives `scan` (a known number of steps) and `while` (steps as long as a condition holds): lists of sweeps,
// as loops_internal.h describes them.
//
// jvp: each body is joined by its tangents, which ride along in further carries; jet: by Taylor coefficients.
// transpose: with c' = N(c) the nonlinear part of a sweep's body, which keeps the values r that the linear part
//   t' = L(r) t reads, the cotangents run backwards through the transpose R of L:
//     forwards   c_{k+1}, r_k = N(c_k)        (one sweep for each sweep)
//     backwards  w_k = L(r_k)^T w_{k+1}       (one for each, in reverse order)
//   Residuals that no step changes are computed once, before the loop; xs are read again, not kept.
// batch: each body over the batch; every carry whose new value is batched is batched from the start. Where the condition
// differs between the elements, the steps go on until the last is done. Those that are done hold their carry c, and
// the body computes for them on what it last computed on, s; those that never step lend operands of one that does:
//     lanes = condition(c)   s' = where(lanes, c, s)   c' = where(lanes, body(s'), c)
#include <algorithm>
#include <optional>

#include "../transform_internal.h"
#include "loops_internal.h"
#include "tessera/autodiff/ops.h"

namespace tessera::detail {
namespace {

/// Walks operands (or anything parallel to them) in groups.
template <class T>
class Cursor {
 public:
  explicit Cursor(std::span<const T> all) : rest_(all) {}
  std::span<const T> take(std::size_t n) {
    const auto head = rest_.first(n);
    rest_ = rest_.subspan(n);
    return head;
  }

 private:
  std::span<const T> rest_;
};

Types infer_loop(const char* name, std::span<const Type> in, const Loop& l) {
  std::size_t count = l.n_condition_consts;
  for (const Sweep& s : l.sweeps) count += s.operands();
  if (in.size() != count) fail(name, "takes " + std::to_string(count) + " operands, got " + std::to_string(in.size()));
  Cursor<Type> at(in);
  at.take(l.n_condition_consts);
  Types out;
  for (const Sweep& s : l.sweeps) {
    const Graph& g = s.body->graph();
    const auto types = at.take(s.operands());
    for (std::size_t k = 0; k < s.operands(); ++k) {
      Type want = g.types[g.inputs[k]];
      if (k >= s.xs_begin()) want.shape.insert(0, l.length);
      if (types[k] != want) fail(name, "operand " + std::to_string(k) + " of a sweep is " + to_string(types[k]) + ", its body takes " + to_string(want));
    }
    for (std::size_t k = 0; k < s.n_carry; ++k) out.push_back(g.types[g.outputs[k]]);
    for (std::size_t k = 0; k < s.n_ys; ++k) {
      Type y = g.types[g.outputs[s.n_carry + s.n_kept + k]];
      y.shape.insert(0, l.length);
      out.push_back(y);
    }
  }
  return out;
}

/// Members of `x` whose flag is `wanted`.
template <class T>
std::vector<T> picked(std::span<const T> x, const Flags& flags, std::size_t begin, std::size_t count, bool wanted = true) {
  std::vector<T> out;
  for (std::size_t k = 0; k < count; ++k)
    if (flags[begin + k] == wanted) out.push_back(x[begin + k]);
  return out;
}
std::size_t counted(const Flags& f, std::size_t begin, std::size_t count) {
  return static_cast<std::size_t>(std::count(f.begin() + static_cast<std::ptrdiff_t>(begin), f.begin() + static_cast<std::ptrdiff_t>(begin + count), true));
}
/// Number of flagged (or unflagged) members before `k`.
std::size_t rank(const Flags& f, std::size_t k, bool wanted = true) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < k; ++i) n += f[i] == wanted;
  return n;
}
template <class T>
void append(std::vector<T>& a, const std::vector<T>& b) {
  a.insert(a.end(), b.begin(), b.end());
}

/// Inputs of a sweep's body in their groups, and the flags of those that come from earlier sweeps.
void flag_sources(const Sweep& s, const std::vector<Flags>& kept, Flags& in) {
  for (const Source& f : s.from) in.push_back(kept[f.sweep][f.kept]);
}

// ---- forward mode -----------------------------------------------------------------------------------------------

/// What of a sweep moves: inputs of its body; carries, what it keeps, ys.
struct Moving {
  Flags in, out;
};
std::vector<Moving> moving_of(const Loop& l, const Flags& operands) {
  std::vector<Moving> all;
  std::vector<Flags> kept;
  auto at = operands.begin() + static_cast<std::ptrdiff_t>(l.n_condition_consts);
  for (const Sweep& s : l.sweeps) {
    Moving m{Flags(at, at + static_cast<std::ptrdiff_t>(s.operands())), {}};
    at += static_cast<std::ptrdiff_t>(s.operands());
    flag_sources(s, kept, m.in);
    const Flags v = settle(s, m.in, Follow::tangents);
    for (Graph::Id id : s.body->graph().outputs) m.out.push_back(v[id]);
    for (std::size_t k = 0; k < s.n_carry; ++k) m.out[k] = m.in[s.n_consts + k];
    const auto keeps = m.out.begin() + static_cast<std::ptrdiff_t>(s.n_carry);
    kept.emplace_back(keeps, keeps + static_cast<std::ptrdiff_t>(s.n_kept));
    all.push_back(std::move(m));
  }
  return all;
}

/// Riders of the results of the loop whose values carry riders along; those of operands are given, empty for none.
/// Those of slices and of stacked results have the axis of the steps first.
std::vector<std::vector<Tensor>> ride(const Application& a, const Riders& riders, const std::vector<std::vector<Tensor>>& t) {
  const Loop& l = loop_of(a.attr.get());
  const std::size_t n = riders.count;
  auto joined = std::make_shared<Loop>();
  joined->length = l.length;
  joined->condition = l.condition;
  joined->n_condition_consts = l.n_condition_consts;
  joined->condition_carry = l.condition_carry;
  joined->checkpoint = l.checkpoint;
  std::vector<Tensor> operands(a.in.begin(), a.in.begin() + static_cast<std::ptrdiff_t>(l.n_condition_consts));
  Flags given;
  for (const std::vector<Tensor>& x : t) given.push_back(!x.empty());
  const std::vector<Moving> flags = moving_of(l, given);
  std::vector<Flags> kept, moving;  // of each sweep: flags of what it keeps; of carries, then ys
  std::size_t at = l.n_condition_consts;
  for (const Sweep& s : l.sweeps) {
    const Graph& g = s.body->graph();
    const auto& [in, out] = flags[moving.size()];
    const std::vector<Group> in_groups = {{s.n_consts}, {s.n_carry}, {s.n_xs}, {s.from.size()}};
    const std::vector<Group> out_groups = {{s.n_carry}, {s.n_kept}, {s.n_ys, false}};
    Closed joint = joint_graph(g, riders, in_groups, in, out_groups, out);

    Sweep j;
    j.reverse = s.reverse;
    j.n_consts = s.n_consts + n * counted(in, 0, s.n_consts) + joint.captured.size();
    j.n_carry = s.n_carry + n * counted(in, s.n_consts, s.n_carry);
    j.n_xs = s.n_xs + n * counted(in, s.xs_begin(), s.n_xs);
    j.n_kept = s.n_kept + n * counted(out, s.n_carry, s.n_kept);
    j.n_ys = n * counted(out, s.n_carry + s.n_kept, s.n_ys);
    for (const Source& f : s.from) j.from.push_back(f);
    for (const Source& f : s.from)
      for (std::size_t r = 0; kept[f.sweep][f.kept] && r < n; ++r) j.from.push_back({f.sweep, l.sweeps[f.sweep].n_kept + n * rank(kept[f.sweep], f.kept) + r});
    // What rules brought along are further constants.
    std::rotate(joint.graph.inputs.begin() + static_cast<std::ptrdiff_t>(j.n_consts - joint.captured.size()),
                joint.graph.inputs.end() - static_cast<std::ptrdiff_t>(joint.captured.size()), joint.graph.inputs.end());
    if (l.inverse && &s == &l.sweeps[0]) {
      Closed back = joint_graph(l.inverse->graph(), riders, {in_groups[0], in_groups[1], in_groups[2]}, in, {{s.n_carry}},
                                Flags(in.begin() + static_cast<std::ptrdiff_t>(s.n_consts), in.begin() + static_cast<std::ptrdiff_t>(s.xs_begin())));
      if (back.captured.empty() && joint.captured.empty()) joined->inverse = body_of(std::move(back.graph));
      else joined->checkpoint = Checkpoint::all();
    }
    j.body = body_of(std::move(joint.graph));
    joined->sweeps.push_back(std::move(j));

    const auto x = a.in.subspan(at, s.operands());
    const auto group = [&](std::size_t begin, std::size_t count) {
      operands.insert(operands.end(), x.begin() + static_cast<std::ptrdiff_t>(begin), x.begin() + static_cast<std::ptrdiff_t>(begin + count));
      for (std::size_t k = begin; k < begin + count; ++k)
        for (std::size_t r = 0; in[k] && r < n; ++r) {
          Type want = riders.type(riders.curves, g.types[g.inputs[k]], r);
          if (k >= s.xs_begin()) want.shape.insert(0, l.length);
          operands.push_back(t[at + k].empty() ? zeros_of(want) : t[at + k][r]);
        }
    };
    group(0, s.n_consts);
    append(operands, joint.captured);
    group(s.n_consts, s.n_carry);
    group(s.xs_begin(), s.n_xs);
    at += s.operands();

    kept.emplace_back(out.begin() + static_cast<std::ptrdiff_t>(s.n_carry), out.begin() + static_cast<std::ptrdiff_t>(s.n_carry + s.n_kept));
    Flags results(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(s.n_carry));
    results.insert(results.end(), out.begin() + static_cast<std::ptrdiff_t>(s.n_carry + s.n_kept), out.end());
    moving.push_back(std::move(results));
  }
  const bool moves = std::any_of(moving.begin(), moving.end(), [](const Flags& f) { return std::find(f.begin(), f.end(), true) != f.end(); });
  const LoopPtr attr = joined;
  const std::vector<Tensor> y = moves ? apply_loop(attr, operands, context_where()) : std::vector<Tensor>{};
  std::vector<std::vector<Tensor>> out;
  std::size_t from = 0;
  for (std::size_t i = 0; i < l.sweeps.size(); ++i) {
    from += l.sweeps[i].n_carry;
    for (std::size_t k = 0; k < l.sweeps[i].results(); ++k) {
      out.emplace_back();
      for (std::size_t r = 0; moving[i][k] && r < n; ++r) out.back().push_back(y[from++]);
    }
  }
  return out;
}

}  // namespace

Flags moved(const Loop& l, const Flags& operands) {
  Flags out;
  const std::vector<Moving> flags = moving_of(l, operands);
  for (std::size_t i = 0; i < flags.size(); ++i) {
    const Sweep& s = l.sweeps[i];
    const auto begin = flags[i].out.begin();
    out.insert(out.end(), begin, begin + static_cast<std::ptrdiff_t>(s.n_carry));
    out.insert(out.end(), begin + static_cast<std::ptrdiff_t>(s.n_carry + s.n_kept), flags[i].out.end());
  }
  return out;
}

namespace {

void jvp_loop(const Application& a, std::span<const Tensor> t, std::span<Tensor> o) {
  std::vector<std::vector<Tensor>> beside;
  for (const Tensor& x : t) beside.push_back(x.defined() ? std::vector<Tensor>{x} : std::vector<Tensor>{});
  const std::vector<std::vector<Tensor>> y = ride(a, tangents(), beside);
  for (std::size_t k = 0; k < o.size(); ++k)
    if (!y[k].empty()) o[k] = y[k][0];
}

/// Taylor mode: directions come before the axis of the steps outside of the loop, behind it inside.
void jet_loop(const Curves& curves, const Application& a, std::span<const Series> x, std::span<Series> o) {
  const Loop& l = loop_of(a.attr.get());
  const auto turn = [&](std::vector<Tensor>& riders, int from, int to) {
    for (std::size_t k = 0; curves.directions > 0 && k + 1 < riders.size(); ++k) riders[k] = moveaxis(riders[k], from, to);
  };
  std::vector<std::vector<Tensor>> beside(l.n_condition_consts);
  for (const Sweep& s : l.sweeps)
    for (std::size_t k = 0; k < s.operands(); ++k) {
      const std::size_t at = beside.size();
      beside.push_back(is_inexact(a.in_types[at].dtype) ? riders_of(curves, x[at], a.in_types[at]) : std::vector<Tensor>{});
      if (k >= s.xs_begin()) turn(beside.back(), 0, 1);
    }
  std::vector<std::vector<Tensor>> y = ride(a, coefficients(curves), beside);
  std::size_t at = 0;
  for (const Sweep& s : l.sweeps)
    for (std::size_t k = 0; k < s.results(); ++k, ++at) {
      if (k >= s.n_carry) turn(y[at], 1, 0);
      o[at] = series_of(curves, a.out[at], y[at]);
    }
}

// ---- transpose --------------------------------------------------------------------------------------------------

/// A sweep's body with its values divided.
struct Divided {
  Flags in, linear;                     ///< inputs, all values
  std::vector<Graph::Id> once, x, from, kept;  ///< residuals: computed before the loop, xs, kept by others, kept by this
  std::vector<std::size_t> kept_at;     ///< where the nonlinear part keeps what the sweep keeps
  std::size_t forward = 0, backward = 0;  ///< numbers of its two sweeps
  std::size_t n_kept = 0;
};

/// Position of the input `id` of g, or the number of inputs.
std::size_t input_number(const Graph& g, Graph::Id id) {
  return static_cast<std::size_t>(std::find(g.inputs.begin(), g.inputs.end(), id) - g.inputs.begin());
}

/// Whether t was made by zeros_of: the cotangent of a result that nobody uses.
bool is_zeros(const Tensor& t) {
  if (t.is_traced() || t.size() < 2) return false;
  for (Index step : t.view().strides)
    if (step != 0) return false;
  return visit_dtype(t.dtype(), [&](auto tag) { return *static_cast<const typename decltype(tag)::type*>(t.view().data) == typename decltype(tag)::type(0); });
}

/// What no step changes, computed before the steps of the loop `a`; zeros where there is no step, which alone would ask for it.
std::vector<Tensor> before_the_steps(const Application& a, const Graph& g, const std::vector<Tensor>& x) {
  const Loop& l = loop_of(a.attr.get());
  if (!l.condition && l.length == 0) return zeros_of_all(output_types(g));
  if (!l.condition || g.equations.empty()) return evaluate(g, x);
  const Sweep& first = l.sweeps[0];
  return if_it_steps(first_answer(l, a.in.first(l.n_condition_consts), a.in.subspan(l.n_condition_consts + first.n_consts, first.n_carry)), g, x);
}

void transpose_loop(const Application& a, std::span<const bool> linear, std::span<const Tensor> ct, std::span<Tensor> o) {
  const Loop& l = loop_of(a.attr.get());
  const std::size_t m = l.sweeps.size();
  std::vector<Divided> part(m);
  std::vector<Flags> kept_linear;
  auto turned = std::make_shared<Loop>();
  turned->length = l.length;
  turned->checkpoint = l.checkpoint;
  turned->condition = l.condition;
  turned->n_condition_consts = l.n_condition_consts;
  std::vector<Tensor> operands(a.in.begin(), a.in.begin() + static_cast<std::ptrdiff_t>(l.n_condition_consts));

  // The nonlinear parts, forwards.
  for (std::size_t i = 0, at = l.n_condition_consts; i < m; at += l.sweeps[i].operands(), ++i) {
    const Sweep& s = l.sweeps[i];
    const Graph& g = s.body->graph();
    Divided& p = part[i];
    p.in.assign(linear.begin() + static_cast<std::ptrdiff_t>(at), linear.begin() + static_cast<std::ptrdiff_t>(at + s.operands()));
    flag_sources(s, kept_linear, p.in);
    p.linear = settle(s, p.in, Follow::unknown);
    Flags changing(g.inputs.size(), true);
    std::fill_n(changing.begin(), s.n_consts, false);
    const Flags varies = reached(g, changing, Follow::values);
    for (Graph::Id id : residuals(g, p.linear)) {
      const std::size_t n = input_number(g, id);
      if (!varies[id]) p.once.push_back(id);
      else if (n >= s.operands() && n < g.inputs.size()) p.from.push_back(id);
      else if (n >= s.xs_begin() && n < g.inputs.size()) p.x.push_back(id);
      else p.kept.push_back(id);
    }
    kept_linear.emplace_back();
    for (std::size_t k = 0; k < s.n_kept; ++k) kept_linear[i].push_back(p.linear[g.outputs[s.n_carry + k]]);

    std::vector<Graph::Id> out = picked<Graph::Id>(g.outputs, Flags(p.in.begin() + static_cast<std::ptrdiff_t>(s.n_consts), p.in.end()), 0, s.n_carry, false);
    Sweep n;
    n.reverse = s.reverse;
    n.n_carry = out.size();
    p.kept_at.assign(s.n_kept, 0);
    for (std::size_t k = 0; k < s.n_kept; ++k)
      if (!kept_linear[i][k]) {
        p.kept_at[k] = n.n_kept++;
        out.push_back(g.outputs[s.n_carry + k]);
      }
    p.n_kept = n.n_kept;
    n.n_kept += p.kept.size();
    append(out, p.kept);
    p.forward = turned->sweeps.size();
    if (n.n_kept == 0 && !(l.condition && i == 0)) continue;
    n.n_consts = s.n_consts - counted(p.in, 0, s.n_consts);
    n.n_xs = s.n_xs - counted(p.in, s.xs_begin(), s.n_xs);
    for (std::size_t k = 0; k < s.from.size(); ++k)
      if (!p.in[s.operands() + k]) n.from.push_back({part[s.from[k].sweep].forward, part[s.from[k].sweep].kept_at[s.from[k].kept]});
    const std::vector<Graph::Id> in = picked<Graph::Id>(g.inputs, p.in, 0, g.inputs.size(), false);
    n.body = body_of(extract(g, in, out));
    append(operands, picked<Tensor>(a.in.subspan(at, s.operands()), p.in, 0, s.operands(), false));
    if (l.inverse && i == 0) {
      const Graph& back = l.inverse->graph();
      turned->inverse = body_of(extract(back, picked<Graph::Id>(back.inputs, p.in, 0, s.operands(), false),
                                     picked<Graph::Id>(back.outputs, Flags(p.in.begin() + static_cast<std::ptrdiff_t>(s.n_consts), p.in.end()), 0, s.n_carry, false)));
    }
    turned->sweeps.push_back(std::move(n));
  }
  // The condition stays what it was: asked of values, which the steps forwards still carry.
  const auto must_stay = [&](bool is_linear, const std::string& what) {
    if (is_linear) fail("while", "cannot be transposed in " + what + ", which its condition reads: the number of steps would not be linear in it");
  };
  const Flags linear_carry(part[0].in.begin() + static_cast<std::ptrdiff_t>(l.sweeps[0].n_consts), part[0].in.end());
  for (std::size_t k = 0; k < l.n_condition_consts; ++k) must_stay(linear[k], "a value");
  for (std::size_t k : l.condition_carry) {
    must_stay(linear_carry[k], "number " + std::to_string(k) + " of its carry");
    turned->condition_carry.push_back(rank(linear_carry, k, false));
  }

  // The transposes of the linear parts, backwards.
  std::size_t end = a.in_types.size(), result = ct.size();
  std::vector<std::size_t> first_operand(m), first_result(m);
  for (std::size_t i = m; i-- > 0;) {
    first_operand[i] = end -= l.sweeps[i].operands();
    first_result[i] = result -= l.sweeps[i].results();
  }
  for (std::size_t i = m; i-- > 0;) {
    const Sweep& s = l.sweeps[i];
    const Graph& g = s.body->graph();
    Divided& p = part[i];
    const auto x = a.in.subspan(first_operand[i], s.operands());
    const auto c = ct.subspan(first_result[i], s.results());
    p.backward = turned->sweeps.size();
    Sweep r;
    r.reverse = !s.reverse;
    const std::size_t n_linear_consts = counted(p.in, 0, s.n_consts);
    std::vector<Graph::Id> in, residual, out;
    append(residual, p.once), append(residual, p.x), append(residual, p.from), append(residual, p.kept);
    Types types;
    const auto add = [&](Graph::Id id) { types.push_back(g.types[id]); };

    // Constants: residuals that no step changes.
    r.n_consts = p.once.size();
    if (!p.once.empty()) {
      const std::vector<Graph::Id> known = picked<Graph::Id>(g.inputs, p.in, 0, s.n_consts, false);
      append(operands, before_the_steps(a, extract(g, known, p.once), picked<Tensor>(x, p.in, 0, s.n_consts, false)));
      for (Graph::Id id : p.once) add(id);
    }
    // Carries: cotangents of the linear carries, then sums over the steps for the linear constants.
    for (std::size_t k = 0; k < s.n_carry; ++k)
      if (p.in[s.n_consts + k]) {
        operands.push_back(c[k]);
        add(g.inputs[s.n_consts + k]);
        ++r.n_carry;
      }
    for (std::size_t k = 0; k < s.n_consts; ++k)
      if (p.in[k]) {
        operands.push_back(zeros_of(g.types[g.inputs[k]]));
        add(g.inputs[k]);
        ++r.n_carry;
      }
    // Slices: xs that are residuals, cotangents of linear ys.
    for (Graph::Id id : p.x) {
      operands.push_back(x[input_number(g, id)]);
      add(id);
      ++r.n_xs;
    }
    const std::size_t ys = s.n_carry + s.n_kept;
    Flags heard;  // ys that are linear and whose cotangent is not zero throughout
    for (std::size_t k = 0; k < s.n_ys; ++k) heard.push_back(p.linear[g.outputs[ys + k]] && !is_zeros(c[s.n_carry + k]));
    for (std::size_t k = 0; k < s.n_ys; ++k)
      if (heard[k]) {
        operands.push_back(c[s.n_carry + k]);
        add(g.outputs[ys + k]);
        ++r.n_xs;
      }
    // From other sweeps: residuals, and the cotangents of what this sweep kept for later ones.
    for (Graph::Id id : p.from) {
      const Source& f = s.from[input_number(g, id) - s.operands()];
      r.from.push_back({part[f.sweep].forward, part[f.sweep].kept_at[f.kept]});
      add(id);
    }
    for (std::size_t k = 0; k < p.kept.size(); ++k) {
      r.from.push_back({p.forward, p.n_kept + k});
      add(p.kept[k]);
    }
    std::vector<std::size_t> reader;  // of each such cotangent: the number of what was kept
    for (std::size_t j = i + 1; j < m; ++j)
      for (std::size_t k = 0; k < l.sweeps[j].from.size(); ++k) {
        const Source& f = l.sweeps[j].from[k];
        if (f.sweep != i || !kept_linear[i][f.kept]) continue;
        const Flags sources(part[j].in.begin() + static_cast<std::ptrdiff_t>(l.sweeps[j].operands()), part[j].in.end());
        r.from.push_back({part[j].backward, rank(sources, k)});
        add(g.outputs[s.n_carry + f.kept]);
        reader.push_back(f.kept);
      }

    in = picked<Graph::Id>(g.inputs, p.in, 0, g.inputs.size());
    r.n_kept = counted(p.in, s.operands(), s.from.size());
    r.n_ys = counted(p.in, s.xs_begin(), s.n_xs);
    r.body = body_of(record_branch("vjp", [&](const std::vector<Tensor>& v) {
      Cursor<Tensor> next(v);
      std::vector<Tensor> values, cts, y;
      const auto once = next.take(p.once.size());
      values.assign(once.begin(), once.end());
      const auto carry = next.take(r.n_carry - n_linear_consts), sums = next.take(n_linear_consts);
      const auto xs = next.take(p.x.size());
      values.insert(values.end(), xs.begin(), xs.end());
      const auto cy = next.take(r.n_xs - p.x.size());
      const auto from = next.take(p.from.size() + p.kept.size()), kept = next.take(reader.size());
      values.insert(values.end(), from.begin(), from.end());
      std::vector<Graph::Id> out;
      const auto ask = [&](std::size_t output, const Tensor& w) {
        if (!p.linear[g.outputs[output]]) return;
        out.push_back(g.outputs[output]);
        cts.push_back(w);
      };
      for (std::size_t k = 0, n = 0; k < s.n_carry; ++k)
        if (p.in[s.n_consts + k]) ask(k, carry[n++]);
      for (std::size_t n = 0; n < reader.size(); ++n) ask(s.n_carry + reader[n], kept[n]);
      for (std::size_t k = 0, n = 0; k < s.n_ys; ++k)
        if (heard[k]) ask(ys + k, cy[n++]);
      const std::vector<Tensor> w = pull_back(g, in, out, residual, values, cts);
      Cursor<Tensor> back(w);
      const auto w_consts = back.take(n_linear_consts), w_carry = back.take(carry.size()), w_xs = back.take(r.n_ys), w_from = back.take(r.n_kept);
      y.assign(w_carry.begin(), w_carry.end());
      for (std::size_t k = 0; k < n_linear_consts; ++k) y.push_back(sums[k] + w_consts[k]);
      y.insert(y.end(), w_from.begin(), w_from.end());
      y.insert(y.end(), w_xs.begin(), w_xs.end());
      return y;
    }, types).graph);
    turned->sweeps.push_back(std::move(r));
  }

  const LoopPtr attr = turned;
  const std::vector<Tensor> y = apply_loop(attr, operands, context_where());
  std::size_t at = 0;
  for (std::size_t n = 0; n < turned->sweeps.size() - m; ++n) at += turned->sweeps[n].results();
  for (std::size_t i = m; i-- > 0;) {
    const Sweep& s = l.sweeps[i];
    const auto give = [&](std::size_t begin, std::size_t count) {
      for (std::size_t k = begin; k < begin + count; ++k)
        if (part[i].in[k]) {
          if (linear[first_operand[i] + k]) o[first_operand[i] + k] = y[at];
          ++at;
        }
    };
    give(s.n_consts, s.n_carry);
    give(0, s.n_consts);
    give(s.xs_begin(), s.n_xs);
  }
}

// ---- batch ------------------------------------------------------------------------------------------------------

Types batched_types(const Graph& g, const Flags& flags, Index size) {
  Types t;
  for (std::size_t k = 0; k < g.inputs.size(); ++k) {
    t.push_back(g.types[g.inputs[k]]);
    if (flags[k]) t.back().shape.insert(0, size);
  }
  return t;
}
Tensor lanes_of(const Tensor& predicate) { return reshape(predicate, {predicate.dim(0)}); }

void batch_loop(const Application& a, std::span<const bool> batched, Index size, std::span<Tensor> o) {
  const Loop& l = loop_of(a.attr.get());
  auto wide = std::make_shared<Loop>();
  wide->length = l.length;
  wide->condition_carry = l.condition_carry;
  wide->checkpoint = l.checkpoint;
  const std::size_t nc = l.n_condition_consts;
  std::vector<Tensor> operands(a.in.begin(), a.in.begin() + static_cast<std::ptrdiff_t>(nc));

  // Does the condition differ between the elements? Then all that sweep 0 carries does.
  Flags in0(batched.begin() + static_cast<std::ptrdiff_t>(nc), batched.begin() + static_cast<std::ptrdiff_t>(nc + l.sweeps[0].operands()));
  settle(l.sweeps[0], in0, Follow::values);
  bool masked = false;
  Flags condition_in(batched.begin(), batched.begin() + static_cast<std::ptrdiff_t>(nc));
  if (l.condition) {
    for (std::size_t k : l.condition_carry) condition_in.push_back(in0[l.sweeps[0].n_consts + k]);
    const Graph& g = l.condition->graph();
    masked = reached(g, condition_in, Follow::values)[g.outputs[0]];
    if (masked) std::fill(condition_in.begin() + static_cast<std::ptrdiff_t>(nc), condition_in.end(), true);
  }
  const auto predicate = [&](const std::vector<Tensor>& x) {
    Flags flags;
    return lanes_of(batch_graph(l.condition->graph(), x, condition_in, size, flags)[0]);
  };
  if (masked) {
    wide->condition = body_of(record_branch("vmap", [&](const std::vector<Tensor>& x) { return std::vector<Tensor>{any(predicate(x))}; },
                                           batched_types(l.condition->graph(), condition_in, size)).graph);
  } else {
    wide->condition = l.condition;
  }
  wide->n_condition_consts = nc;

  // Who steps at all, and operands for the others.
  std::optional<Lender> lend;
  if (masked) {
    std::vector<Tensor> asked(a.in.begin(), a.in.begin() + static_cast<std::ptrdiff_t>(nc));
    for (std::size_t k : l.condition_carry) {
      const std::size_t n = nc + l.sweeps[0].n_consts + k;
      asked.push_back(with_batch(a.in[n], batched[n], size));
    }
    lend.emplace(predicate(asked));
  }

  std::vector<Flags> kept, out_flags;
  std::size_t at = nc;
  for (std::size_t i = 0; i < l.sweeps.size(); ++i) {
    const Sweep& s = l.sweeps[i];
    const Graph& g = s.body->graph();
    Flags in(batched.begin() + static_cast<std::ptrdiff_t>(at), batched.begin() + static_cast<std::ptrdiff_t>(at + s.operands()));
    if (masked) std::fill_n(in.begin() + static_cast<std::ptrdiff_t>(s.n_consts), s.n_carry, true);
    flag_sources(s, kept, in);
    const Flags v = settle(s, in, Follow::values);
    Flags out;
    for (Graph::Id id : g.outputs) out.push_back(v[id]);
    for (std::size_t k = 0; k < s.n_carry; ++k) out[k] = in[s.n_consts + k];

    Sweep w = s;
    Types types = batched_types(g, in, size);
    const bool head = masked && i == 0, tail = masked && i > 0;
    const auto carries = static_cast<std::ptrdiff_t>(s.n_consts), carries_end = static_cast<std::ptrdiff_t>(s.xs_begin());
    if (head) {  // the body asks the condition again, to hold what is done
      const Types shadows(types.begin() + carries, types.begin() + carries_end), more = batched_types(l.condition->graph(), condition_in, size);
      types.insert(types.begin() + carries_end, shadows.begin(), shadows.end());
      types.insert(types.begin() + carries, more.begin(), more.begin() + static_cast<std::ptrdiff_t>(nc));
      w.n_consts += nc;
      w.n_carry += s.n_carry;
      w.n_kept += 1;
    }
    if (tail) {
      w.from.push_back({0, l.sweeps[0].n_kept});
      types.push_back({Dtype::boolean, {size}});
    }
    w.body = body_of(record_branch("vmap", [&](const std::vector<Tensor>& x) {
      std::vector<Tensor> own = x;
      Tensor lanes;
      if (head) {
        std::vector<Tensor> asked(own.begin() + carries, own.begin() + carries + static_cast<std::ptrdiff_t>(nc));
        own.erase(own.begin() + carries, own.begin() + carries + static_cast<std::ptrdiff_t>(nc));
        for (std::size_t k : l.condition_carry) asked.push_back(own[s.n_consts + k]);
        lanes = predicate(asked);
      } else if (tail) {
        lanes = own.back();
        own.pop_back();
      }
      const std::vector<Tensor> carry(own.begin() + carries, own.begin() + carries_end);
      std::vector<Tensor> shadow;
      if (head) {
        for (std::size_t k = 0; k < s.n_carry; ++k) {
          Tensor& used = own[s.n_consts + k];
          used = choose(lanes, used, own[s.xs_begin() + k]);
          shadow.push_back(stop_gradient(used));
        }
        own.erase(own.begin() + carries_end, own.begin() + carries_end + static_cast<std::ptrdiff_t>(s.n_carry));
      }
      Flags flags;
      std::vector<Tensor> y = batch_graph(g, own, in, size, flags);
      for (std::size_t k = 0; k < y.size(); ++k)
        if (out[k]) y[k] = with_batch(y[k], flags[k], size);
      if (masked)
        for (std::size_t k = 0; k < s.n_carry; ++k) y[k] = choose(lanes, y[k], carry[k]);
      if (head) {
        y.insert(y.begin() + static_cast<std::ptrdiff_t>(s.n_carry + s.n_kept), lanes);
        y.insert(y.begin() + static_cast<std::ptrdiff_t>(s.n_carry), shadow.begin(), shadow.end());
      }
      return y;
    }, types).graph);
    if (l.inverse && i == 0 && masked) wide->checkpoint = WhileOptions{}.checkpoint;  // what is done is not undone
    if (l.inverse && i == 0 && !masked) {
      const Graph& back = l.inverse->graph();
      wide->inverse = body_of(record_branch("vmap", [&](const std::vector<Tensor>& x) {
        Flags flags;
        std::vector<Tensor> y = batch_graph(back, x, in, size, flags);
        for (std::size_t k = 0; k < y.size(); ++k)
          if (out[k]) y[k] = with_batch(y[k], flags[k], size);
        return y;
      }, batched_types(back, in, size)).graph);
    }
    wide->sweeps.push_back(std::move(w));

    std::vector<Tensor> wide_in;
    for (std::size_t k = 0; k < s.operands(); ++k) {
      const Tensor& x = a.in[at + k];
      const bool is = batched[at + k];
      if (k >= s.xs_begin()) wide_in.push_back(is ? moveaxis(x, 0, 1) : x);
      else wide_in.push_back(in[k] ? with_batch(x, is, size) : x);
    }
    for (std::size_t k = 0; masked && k < s.n_consts; ++k)
      if (in[k]) wide_in[k] = (*lend)(wide_in[k]);
    if (head) {
      std::vector<Tensor> shadows;
      for (std::size_t k = s.n_consts; k < s.xs_begin(); ++k) shadows.push_back((*lend)(wide_in[k]));
      wide_in.insert(wide_in.begin() + carries_end, shadows.begin(), shadows.end());
      wide_in.insert(wide_in.begin() + carries, a.in.begin(), a.in.begin() + static_cast<std::ptrdiff_t>(nc));
    }
    append(operands, wide_in);
    at += s.operands();
    kept.emplace_back(out.begin() + static_cast<std::ptrdiff_t>(s.n_carry), out.begin() + static_cast<std::ptrdiff_t>(s.n_carry + s.n_kept));
    out_flags.push_back(std::move(out));
  }
  const LoopPtr attr = wide;
  const std::vector<Tensor> y = apply_loop(attr, operands, context_where());
  std::size_t r = 0, from = 0;
  for (std::size_t i = 0; i < l.sweeps.size(); ++i) {
    const Sweep& s = l.sweeps[i];
    for (std::size_t k = 0; k < s.n_carry; ++k) o[r++] = with_batch(y[from + k], out_flags[i][k], size);
    from += wide->sweeps[i].n_carry;
    for (std::size_t k = 0; k < s.n_ys; ++k) {
      const Tensor& t = y[from++];
      o[r++] = out_flags[i][s.n_carry + s.n_kept + k] ? moveaxis(t, 1, 0) : with_batch(t, false, size);
    }
  }
}

// ---- the primitives -----------------------------------------------------------------------------------------------

template <class P>
struct LoopRules : Hand<P> {
  static constexpr bool runs_programs = true;
  static Types infer(std::span<const Type> in, const Attributes* a) { return infer_loop(P::name, in, loop_of(a)); }
  static KernelFn kernel(std::span<const Dtype>, const Attributes*) {
    return [](Inputs in, Outputs out, const Attributes* a) { run_loop(loop_of(a), in, out); };
  }
  static void jvp(const Application& a, std::span<const Tensor> t, std::span<Tensor> o) { jvp_loop(a, t, o); }
  static void jet(const Curves& c, const Application& a, std::span<const Series> in, std::span<Series> out) { jet_loop(c, a, in, out); }
  static void transpose(const Application& a, std::span<const bool> linear, std::span<const Tensor> ct, std::span<Tensor> o) {
    transpose_loop(a, linear, ct, o);
  }
  static void batch(const Application& a, std::span<const bool> batched, Index size, std::span<Tensor> o) { batch_loop(a, batched, size, o); }
};
struct Scan : LoopRules<Scan> {
  static constexpr const char* name = "scan";
};
struct While : LoopRules<While> {
  static constexpr const char* name = "while";
};
TESSERA_REGISTER(Scan);
TESSERA_REGISTER(While);

}  // namespace

bool is_loop(const Primitive& p) { return &p == &primitive<Scan>() || &p == &primitive<While>(); }

Tensor first_answer(const Loop& loop, std::span<const Tensor> condition_consts, std::span<const Tensor> carry) {
  std::vector<Tensor> asked(condition_consts.begin(), condition_consts.end());
  for (std::size_t k : loop.condition_carry) asked.push_back(carry[k]);
  return evaluate(loop.condition->graph(), asked)[0];
}

std::vector<Tensor> if_it_steps(const Tensor& steps, const Graph& g, const std::vector<Tensor>& x) {
  return cond_flat(Arg(steps, context_where()), [&](const std::vector<Tensor>& v) { return evaluate(g, v); },
                   [&](const std::vector<Tensor>&) { return zeros_of_all(output_types(g)); }, x);
}

bool LoopAttributes::equal(const Attributes& o) const {
  const auto* other = dynamic_cast<const LoopAttributes*>(&o);
  return other && other->loop == loop;
}

std::string LoopAttributes::text() const {
  std::string s = loop->condition ? "while a condition of " + std::to_string(loop->condition_carry.size()) + " carries holds" : std::to_string(loop->length) + " steps";
  for (const Sweep& w : loop->sweeps) {
    s += std::string("; ") + (w.reverse ? "backwards" : "forwards") + ": consts " + std::to_string(w.n_consts) + " carry " + std::to_string(w.n_carry) + " xs " + std::to_string(w.n_xs);
    if (!w.from.empty()) s += " from " + std::to_string(w.from.size());
    if (w.n_kept) s += " kept " + std::to_string(w.n_kept);
    if (w.n_ys) s += " ys " + std::to_string(w.n_ys);
    s += ", " + std::to_string(w.body->graph().equations.size()) + " equations";
  }
  return s;
}

std::vector<Tensor> apply_loop(LoopPtr loop, const std::vector<Tensor>& operands, Where where) {
  std::size_t results = 0;
  for (const Sweep& s : loop->sweeps) results += s.results();
  const Primitive& p = loop->condition ? primitive<While>() : primitive<Scan>();
  std::vector<const Tensor*> in;
  for (const Tensor& t : operands) in.push_back(&t);
  std::vector<Tensor> out(results);
  dispatch(p, in, std::make_shared<LoopAttributes>(std::move(loop)), where, out);
  return out;
}

}  // namespace tessera::detail
