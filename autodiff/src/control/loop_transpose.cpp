// SPDX-License-Identifier: Apache-2.0
//
// A loop transposed. With c' = N(c) the nonlinear part of a sweep's body, which keeps the values r
// that the linear part t' = L(r) t reads, the cotangents run backwards through the transpose R of
// L:
//     forwards   c_{k+1}, r_k = N(c_k)        (one sweep for each sweep)
//     backwards  w_k = L(r_k)^T w_{k+1}       (one for each, in reverse order)
// Residuals that no step changes are computed once, before the loop; xs are read again, not kept.
#include "../core/graph_passes.h"
#include "../core/rules.h"
#include "../exec/layout.h"
#include "loop_groups.h"
#include "tessera/autodiff/ops.h"

#include <algorithm>

namespace tessera::detail {
namespace {

/// A sweep's body with its values divided.
struct Divided {
  std::size_t first_operand = 0, first_result = 0;  ///< of the sweep, among those of the loop
  Flags in, linear, kept_linear;                    ///< inputs, all values, what the sweep keeps
  std::vector<Graph::Id> residuals;                 ///< what the linear part reads; made of
  std::vector<Graph::Id> once, x, from,
      kept;  ///< values computed before the loop, xs, kept by others, kept by this
  std::vector<std::size_t> kept_at;       ///< where the nonlinear part keeps what the sweep keeps
  std::size_t forward = 0, backward = 0;  ///< numbers of its two sweeps
  std::size_t n_kept = 0;

  Flags carries(const Sweep& s) const {
    return {in.begin() + static_cast<std::ptrdiff_t>(s.n_consts), in.end()};
  }
  Flags sources(const Sweep& s) const {
    return {in.begin() + static_cast<std::ptrdiff_t>(s.operands()), in.end()};
  }
};

/// A sweep that runs backwards, while it is put together. Inputs of its body, in order: residuals
/// computed once; cotangents of the carries, sums of those of constants; residuals that are xs,
/// cotangents of ys; residuals kept, cotangents of what later sweeps read.
struct Backward {
  Sweep sweep;
  Types types = {};  ///< of its body's inputs
  std::size_t n_sums = 0;
  Flags heard = {};  ///< ys that are linear and whose cotangent is not zero throughout
  std::vector<std::size_t> read =
      {};  ///< of each cotangent from a later sweep: the number of what was kept
};

/// Position of the input `id` of g, or the number of inputs.
std::size_t input_number(const Graph& g, Graph::Id id) {
  return static_cast<std::size_t>(std::find(g.inputs.begin(), g.inputs.end(), id) -
                                  g.inputs.begin());
}

/// Whether t was made by zeros_of: the cotangent of a result that nobody uses.
bool is_zeros(const Tensor& t) {
  if (t.is_traced() || t.size() < 2) return false;
  for (Index step : t.view().strides)
    if (step != 0) return false;
  return visit_dtype(t.dtype(), [&](auto tag) {
    return *static_cast<const typename decltype(tag)::type*>(t.view().data) ==
           typename decltype(tag)::type(0);
  });
}

/// What no step changes, computed before the steps of the loop `a`; zeros where there is no step,
/// which alone would ask for it.
std::vector<Tensor> before_the_steps(const Application& a, const Graph& g,
                                     const std::vector<Tensor>& x) {
  const Loop& l = loop_of(a.attr.get());
  if (!l.condition && l.length == 0) return zeros_of_all(output_types(g));
  if (!l.condition || g.equations.empty()) return evaluate(g, x);
  const Sweep& first = l.sweeps[0];
  return if_it_steps(
      first_answer(l, a.in.first(l.n_condition_consts),
                   a.in.subspan(l.n_condition_consts + first.n_consts, first.n_carry)),
      g, x);
}

class Transposition {
 public:
  Transposition(const Application& a, std::span<const bool> linear, std::span<const Tensor> ct)
      : a_(a),
        l_(loop_of(a.attr.get())),
        linear_(linear),
        ct_(ct),
        part_(l_.sweeps.size()),
        turned_(std::make_shared<Loop>()),
        operands_(a.in.begin(), a.in.begin() + static_cast<std::ptrdiff_t>(l_.n_condition_consts)) {
    turned_->length = l_.length;
    turned_->checkpoint = l_.checkpoint;
    turned_->condition = l_.condition;
    turned_->n_condition_consts = l_.n_condition_consts;
    std::size_t operand = l_.n_condition_consts, result = 0;
    for (std::size_t i = 0; i < part_.size(); ++i) {
      part_[i].first_operand = operand, part_[i].first_result = result;
      operand += l_.sweeps[i].operands(), result += l_.sweeps[i].results();
    }
  }

  /// The cotangents of the linear operands.
  void operator()(std::span<Tensor> o) {
    for (std::size_t i = 0; i < part_.size(); ++i) forwards(i);
    ask_the_condition();
    const std::size_t n_forward = turned_->sweeps.size();
    for (std::size_t i = part_.size(); i-- > 0;) backwards(i);
    const LoopPtr attr = turned_;
    const std::vector<Tensor> y = apply_loop(attr, operands_, context_line());
    std::size_t at = 0;
    for (std::size_t n = 0; n < n_forward; ++n) at += turned_->sweeps[n].results();
    for (std::size_t i = part_.size(); i-- > 0;) {
      const Sweep& s = l_.sweeps[i];
      const auto give = [&](std::size_t begin, std::size_t count) {
        for (std::size_t k = begin; k < begin + count; ++k) {
          if (!part_[i].in[k]) continue;
          const std::size_t operand = part_[i].first_operand + k;
          if (linear_[operand]) o[operand] = y[at];
          ++at;
        }
      };
      give(s.n_consts, s.n_carry);
      give(0, s.n_consts);
      give(s.xs_begin(), s.n_xs);
    }
  }

 private:
  std::span<const Tensor> operands_of(std::size_t i) const {
    return a_.in.subspan(part_[i].first_operand, l_.sweeps[i].operands());
  }
  std::span<const Tensor> cotangents_of(std::size_t i) const {
    return ct_.subspan(part_[i].first_result, l_.sweeps[i].results());
  }

  /// Which values of sweep i are linear, and where its residuals come from.
  void divide(std::size_t i) {
    const Sweep& s = l_.sweeps[i];
    const Graph& g = s.body->graph();
    Divided& p = part_[i];
    const auto first = linear_.begin() + static_cast<std::ptrdiff_t>(p.first_operand);
    p.in.assign(first, first + static_cast<std::ptrdiff_t>(s.operands()));
    for (const Source& f : s.from) p.in.push_back(part_[f.sweep].kept_linear[f.kept]);
    p.linear = settle(s, p.in, Follow::unknown);
    for (std::size_t k = 0; k < s.n_kept; ++k)
      p.kept_linear.push_back(p.linear[g.outputs[s.n_carry + k]]);
    Flags changing(g.inputs.size(), true);
    std::fill_n(changing.begin(), s.n_consts, false);
    const Flags varies = reached(g, changing, Follow::changes);
    p.residuals = residuals(g, p.linear);
    for (Graph::Id id : to_have(s, p.residuals, varies)) {
      const std::size_t n = input_number(g, id);
      if (!varies[id])
        p.once.push_back(id);
      else if (n >= s.operands() && n < g.inputs.size())
        p.from.push_back(id);
      else if (n >= s.xs_begin() && n < g.inputs.size())
        p.x.push_back(id);
      else
        p.kept.push_back(id);
    }
  }

  /// Values that the residuals are made of: themselves, or others of at least 1 MiB a step less,
  /// which sizes must not decide where others wait for what is run.
  std::vector<Graph::Id> to_have(const Sweep& s, const std::vector<Graph::Id>& residuals,
                                 const Flags& varies) const {
    if (order_of(l_) == Ordering::every) return residuals;
    const Graph& g = s.body->graph();
    Flags free(g.types.size(), false);
    for (const auto& [id, t] : g.captures) free[id] = true;
    for (Graph::Id id : residuals) free[id] = !varies[id];
    for (std::size_t k = 0; k < g.inputs.size(); ++k)
      if (k < s.n_consts || k >= s.xs_begin()) free[g.inputs[k]] = true;
    const auto bytes_a_step = [&](const std::vector<Graph::Id>& ids) {
      std::size_t bytes = 0;
      for (Graph::Id id : ids)
        if (!free[id]) bytes += plan::bytes_of(g.types[id]);
      return bytes;
    };
    constexpr std::size_t kLeast = std::size_t{1} << 20;
    const std::size_t all = bytes_a_step(residuals);
    if (all < kLeast) return residuals;
    std::vector<Graph::Id> cut = cheapest_to_keep(g, residuals, free);
    std::erase_if(cut,
                  [captured = flagged(g, captured_by(g))](Graph::Id id) { return captured[id]; });
    return bytes_a_step(cut) + kLeast <= all ? cut : residuals;
  }
  static std::vector<Graph::Id> captured_by(const Graph& g) {
    std::vector<Graph::Id> ids;
    for (const auto& [id, t] : g.captures) ids.push_back(id);
    return ids;
  }

  /// The nonlinear part of sweep i, which keeps what the sweep kept of it and the residuals; left
  /// out where nobody needs it.
  void forwards(std::size_t i) {
    divide(i);
    const Sweep& s = l_.sweeps[i];
    const Graph& g = s.body->graph();
    Divided& p = part_[i];
    std::vector<Graph::Id> out = picked<Graph::Id>(g.outputs, p.carries(s), 0, s.n_carry, false);
    Sweep n;
    n.reverse = s.reverse;
    n.n_carry = out.size();
    p.kept_at.assign(s.n_kept, 0);
    for (std::size_t k = 0; k < s.n_kept; ++k)
      if (!p.kept_linear[k]) {
        p.kept_at[k] = n.n_kept++;
        out.push_back(g.outputs[s.n_carry + k]);
      }
    p.n_kept = n.n_kept;
    n.n_kept += p.kept.size();
    append(out, p.kept);
    p.forward = turned_->sweeps.size();
    if (n.n_kept == 0 && !(l_.condition && i == 0)) return;
    n.n_consts = s.n_consts - counted(p.in, 0, s.n_consts);
    n.n_xs = s.n_xs - counted(p.in, s.xs_begin(), s.n_xs);
    for (std::size_t k = 0; k < s.from.size(); ++k)
      if (!p.in[s.operands() + k])
        n.from.push_back(
            {part_[s.from[k].sweep].forward, part_[s.from[k].sweep].kept_at[s.from[k].kept]});
    n.body = body_of(extract(g, picked<Graph::Id>(g.inputs, p.in, 0, g.inputs.size(), false), out));
    append(operands_, picked<Tensor>(operands_of(i), p.in, 0, s.operands(), false));
    if (l_.inverse && i == 0) {
      const Graph& back = l_.inverse->graph();
      turned_->inverse =
          body_of(extract(back, picked<Graph::Id>(back.inputs, p.in, 0, s.operands(), false),
                          picked<Graph::Id>(back.outputs, p.carries(s), 0, s.n_carry, false)));
    }
    turned_->sweeps.push_back(std::move(n));
  }

  /// The condition stays what it was: asked of values, which the steps forwards still carry.
  void ask_the_condition() {
    const auto must_stay = [](bool is_linear, const std::string& what) {
      if (is_linear)
        fail("while",
             "cannot be transposed in " + what +
                 ", which its condition reads: the number of steps would not be linear in it");
    };
    const Flags linear_carry = part_[0].carries(l_.sweeps[0]);
    for (std::size_t k = 0; k < l_.n_condition_consts; ++k) must_stay(linear_[k], "a value");
    for (std::size_t k : l_.condition_carry) {
      must_stay(linear_carry[k], "number " + std::to_string(k) + " of its carry");
      turned_->condition_carry.push_back(rank(linear_carry, k, false));
    }
  }

  /// The transpose of the linear part of sweep i.
  void backwards(std::size_t i) {
    const Sweep& s = l_.sweeps[i];
    Divided& p = part_[i];
    p.backward = turned_->sweeps.size();
    Backward b{{.reverse = !s.reverse}};
    add_constants(i, b);
    add_carries(i, b);
    add_slices(i, b);
    add_sources(i, b);
    b.sweep.n_kept = counted(p.in, s.operands(), s.from.size());
    b.sweep.n_ys = counted(p.in, s.xs_begin(), s.n_xs);
    b.sweep.body = body_of(
        record_branch(
            "vjp", [&](const std::vector<Tensor>& x) { return step_back(i, b, x); }, b.types)
            .graph);
    turned_->sweeps.push_back(std::move(b.sweep));
  }

  /// Residuals that no step changes.
  void add_constants(std::size_t i, Backward& b) {
    const Sweep& s = l_.sweeps[i];
    const Graph& g = s.body->graph();
    const Divided& p = part_[i];
    b.sweep.n_consts = p.once.size();
    if (p.once.empty()) return;
    const std::vector<Graph::Id> known = picked<Graph::Id>(g.inputs, p.in, 0, s.n_consts, false);
    append(operands_, before_the_steps(a_, extract(g, known, p.once),
                                       picked<Tensor>(operands_of(i), p.in, 0, s.n_consts, false)));
    for (Graph::Id id : p.once) b.types.push_back(g.types[id]);
  }

  /// Cotangents of the linear carries, then sums over the steps for the linear constants.
  void add_carries(std::size_t i, Backward& b) {
    const Sweep& s = l_.sweeps[i];
    const Graph& g = s.body->graph();
    const Divided& p = part_[i];
    const auto add = [&](std::size_t input, const Tensor& first) {
      operands_.push_back(first);
      b.types.push_back(g.types[g.inputs[input]]);
      ++b.sweep.n_carry;
    };
    for (std::size_t k = 0; k < s.n_carry; ++k)
      if (p.in[s.n_consts + k]) add(s.n_consts + k, cotangents_of(i)[k]);
    b.n_sums = counted(p.in, 0, s.n_consts);
    for (std::size_t k = 0; k < s.n_consts; ++k)
      if (p.in[k]) add(k, zeros_of(g.types[g.inputs[k]]));
  }

  /// Xs that are residuals, cotangents of linear ys.
  void add_slices(std::size_t i, Backward& b) {
    const Sweep& s = l_.sweeps[i];
    const Graph& g = s.body->graph();
    const Divided& p = part_[i];
    const auto add = [&](Graph::Id id, const Tensor& x) {
      operands_.push_back(x);
      b.types.push_back(g.types[id]);
      ++b.sweep.n_xs;
    };
    for (Graph::Id id : p.x) add(id, operands_of(i)[input_number(g, id)]);
    for (std::size_t k = 0; k < s.n_ys; ++k) {
      const Graph::Id y = g.outputs[s.n_carry + s.n_kept + k];
      const Tensor& w = cotangents_of(i)[s.n_carry + k];
      b.heard.push_back(p.linear[y] && (order_of(l_) == Ordering::every || !is_zeros(w)));
      if (b.heard[k]) add(y, w);
    }
  }

  /// Residuals that sweeps kept, and the cotangents of what this sweep kept for later ones.
  void add_sources(std::size_t i, Backward& b) {
    const Sweep& s = l_.sweeps[i];
    const Graph& g = s.body->graph();
    const Divided& p = part_[i];
    const auto add = [&](Source from, Graph::Id id) {
      b.sweep.from.push_back(from);
      b.types.push_back(g.types[id]);
    };
    for (Graph::Id id : p.from) {
      const Source& f = s.from[input_number(g, id) - s.operands()];
      add({part_[f.sweep].forward, part_[f.sweep].kept_at[f.kept]}, id);
    }
    for (std::size_t k = 0; k < p.kept.size(); ++k) add({p.forward, p.n_kept + k}, p.kept[k]);
    for (std::size_t j = i + 1; j < part_.size(); ++j) {
      const Flags sources = part_[j].sources(l_.sweeps[j]);
      for (std::size_t k = 0; k < sources.size(); ++k) {
        const Source& f = l_.sweeps[j].from[k];
        if (f.sweep != i || !p.kept_linear[f.kept]) continue;
        add({part_[j].backward, rank(sources, k)}, g.outputs[s.n_carry + f.kept]);
        b.read.push_back(f.kept);
      }
    }
  }

  /// One step backwards: the cotangents of the linear inputs of sweep i's body, those of constants
  /// added to their sums.
  std::vector<Tensor> step_back(std::size_t i, const Backward& b,
                                const std::vector<Tensor>& x) const {
    const Sweep& s = l_.sweeps[i];
    const Graph& g = s.body->graph();
    const Divided& p = part_[i];
    Cursor<Tensor> next(x);
    std::vector<Tensor> residual;
    const auto add_residuals = [&](std::span<const Tensor> r) {
      residual.insert(residual.end(), r.begin(), r.end());
    };
    add_residuals(next.take(p.once.size()));
    const auto carry = next.take(b.sweep.n_carry - b.n_sums), sums = next.take(b.n_sums);
    add_residuals(next.take(p.x.size()));
    const auto ys = next.take(b.sweep.n_xs - p.x.size());
    add_residuals(next.take(p.from.size() + p.kept.size()));
    const auto kept = next.take(b.read.size());
    std::vector<Graph::Id> residual_id;
    append(residual_id, p.once), append(residual_id, p.x), append(residual_id, p.from),
        append(residual_id, p.kept);

    std::vector<Graph::Id> out;
    std::vector<Tensor> w_out;
    const auto ask = [&](std::size_t output, const Tensor& w) {
      if (!p.linear[g.outputs[output]]) return;
      out.push_back(g.outputs[output]);
      w_out.push_back(w);
    };
    for (std::size_t k = 0, n = 0; k < s.n_carry; ++k)
      if (p.in[s.n_consts + k]) ask(k, carry[n++]);
    for (std::size_t n = 0; n < b.read.size(); ++n) ask(s.n_carry + b.read[n], kept[n]);
    for (std::size_t k = 0, n = 0; k < s.n_ys; ++k)
      if (b.heard[k]) ask(s.n_carry + s.n_kept + k, ys[n++]);

    // What is not there is made again.
    const Flags there = flagged(g, residual_id);
    std::vector<Graph::Id> missing;
    for (Graph::Id id : p.residuals)
      if (!there[id]) missing.push_back(id);
    if (!missing.empty()) {
      append(residual, evaluate(extract(g, residual_id, missing), residual));
      append(residual_id, missing);
    }
    const std::vector<Tensor> w =
        pull_back(g, picked<Graph::Id>(g.inputs, p.in, 0, g.inputs.size()), out, residual_id,
                  residual, w_out);
    Cursor<Tensor> back(w);
    const auto w_consts = back.take(b.n_sums), w_carry = back.take(carry.size()),
               w_xs = back.take(b.sweep.n_ys), w_from = back.take(b.sweep.n_kept);
    std::vector<Tensor> y(w_carry.begin(), w_carry.end());
    for (std::size_t k = 0; k < b.n_sums; ++k) y.push_back(sums[k] + w_consts[k]);
    y.insert(y.end(), w_from.begin(), w_from.end());
    y.insert(y.end(), w_xs.begin(), w_xs.end());
    return y;
  }

  const Application& a_;
  const Loop& l_;
  std::span<const bool> linear_;
  std::span<const Tensor> ct_;
  std::vector<Divided> part_;
  std::shared_ptr<Loop> turned_;
  std::vector<Tensor> operands_;
};

}  // namespace

void transpose_loop(const Application& a, std::span<const bool> linear, std::span<const Tensor> ct,
                    std::span<Tensor> o) {
  Transposition(a, linear, ct)(o);
}

}  // namespace tessera::detail
