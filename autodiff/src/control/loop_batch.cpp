// SPDX-License-Identifier: Apache-2.0
//
// A loop over a batch: each body over the batch; every carry whose new value is batched is batched
// from the start. Where the condition differs between the elements, the steps go on until the last
// is done. Those that are done hold their carry c, and the body computes for them on what it last
// computed on, s; those that never step lend operands of one that does:
//     lanes = condition(c)   s' = where(lanes, c, s)   c' = where(lanes, body(s'), c)
#include "../core/rules.h"
#include "loop_groups.h"
#include "tessera/autodiff/ops.h"

#include <algorithm>
#include <optional>

namespace tessera::detail {
namespace {

Types batched_types(const Graph& g, const Flags& flags, Index size) {
  Types t;
  for (std::size_t k = 0; k < g.inputs.size(); ++k) {
    t.push_back(g.types[g.inputs[k]]);
    if (flags[k]) t.back().shape.insert(0, size);
  }
  return t;
}

class Batching {
 public:
  Batching(const Application& a, std::span<const bool> batched, Index size)
      : a_(a),
        l_(loop_of(a.attr.get())),
        batched_(batched),
        size_(size),
        nc_(l_.n_condition_consts),
        wide_(std::make_shared<Loop>()),
        operands_(a.in.begin(), a.in.begin() + static_cast<std::ptrdiff_t>(nc_)) {
    wide_->length = l_.length;
    wide_->condition_carry = l_.condition_carry;
    wide_->checkpoint = l_.checkpoint;
    wide_->n_condition_consts = nc_;
  }

  /// All results, the batch first.
  void operator()(std::span<Tensor> o) {
    batch_condition();
    std::size_t at = nc_;
    for (std::size_t i = 0; i < l_.sweeps.size(); at += l_.sweeps[i].operands(), ++i)
      batch_sweep(i, at);
    const LoopPtr attr = wide_;
    const std::vector<Tensor> y = apply_loop(attr, operands_, context_line());
    std::size_t r = 0, from = 0;
    for (std::size_t i = 0; i < l_.sweeps.size(); ++i) {
      const Sweep& s = l_.sweeps[i];
      for (std::size_t k = 0; k < s.n_carry; ++k)
        o[r++] = with_batch(y[from + k], out_[i][k], size_);
      from += wide_->sweeps[i].n_carry;
      for (std::size_t k = 0; k < s.n_ys; ++k) {
        const Tensor& t = y[from++];
        o[r++] =
            out_[i][s.n_carry + s.n_kept + k] ? moveaxis(t, 1, 0) : with_batch(t, false, size_);
      }
    }
  }

 private:
  /// Does the condition differ between the elements? Then all that sweep 0 carries does.
  void batch_condition() {
    wide_->condition = l_.condition;
    if (!l_.condition) return;
    const Sweep& first = l_.sweeps[0];
    const auto begin = batched_.begin();
    Flags in(begin + static_cast<std::ptrdiff_t>(nc_),
             begin + static_cast<std::ptrdiff_t>(nc_ + first.operands()));
    settle(first, in, Follow::values);
    condition_in_.assign(begin, begin + static_cast<std::ptrdiff_t>(nc_));
    for (std::size_t k : l_.condition_carry) condition_in_.push_back(in[first.n_consts + k]);
    const Graph& g = l_.condition->graph();
    masked_ = reached(g, condition_in_, Follow::values)[g.outputs[0]];
    if (!masked_) return;
    std::fill(condition_in_.begin() + static_cast<std::ptrdiff_t>(nc_), condition_in_.end(), true);
    wide_->condition = body_of(
        record_branch(
            "vmap",
            [&](const std::vector<Tensor>& x) { return std::vector<Tensor>{any(lanes(x))}; },
            batched_types(g, condition_in_, size_))
            .graph);
    // Who steps at all lends operands to the others.
    std::vector<Tensor> asked(a_.in.begin(), a_.in.begin() + static_cast<std::ptrdiff_t>(nc_));
    for (std::size_t k : l_.condition_carry) {
      const std::size_t n = nc_ + first.n_consts + k;
      asked.push_back(with_batch(a_.in[n], batched_[n], size_));
    }
    lend_.emplace(lanes(asked));
  }

  /// The condition of each element [size].
  Tensor lanes(const std::vector<Tensor>& x) const {
    Flags flags;
    const Tensor answer = batch_graph(l_.condition->graph(), x, condition_in_, size_, flags)[0];
    return reshape(answer, {answer.dim(0)});
  }

  /// Sweep i, whose operands begin at `at`. Where the condition differs, the body of sweep 0 asks
  /// it again: it takes the condition's constants before its carries, what it last computed on
  /// behind them, and keeps the answer for the other sweeps.
  void batch_sweep(std::size_t i, std::size_t at) {
    const Sweep& s = l_.sweeps[i];
    const Graph& g = s.body->graph();
    Flags in(batched_.begin() + static_cast<std::ptrdiff_t>(at),
             batched_.begin() + static_cast<std::ptrdiff_t>(at + s.operands()));
    if (masked_) std::fill_n(in.begin() + static_cast<std::ptrdiff_t>(s.n_consts), s.n_carry, true);
    flag_sources(s, kept_, in);
    const Flags v = settle(s, in, Follow::values);
    Flags out;
    for (Graph::Id id : g.outputs) out.push_back(v[id]);
    for (std::size_t k = 0; k < s.n_carry; ++k) out[k] = in[s.n_consts + k];

    Sweep w = s;
    Types types = batched_types(g, in, size_);
    if (asks(i)) {
      const Types last(types.begin() + carries(s), types.begin() + carries_end(s)),
          asked = batched_types(l_.condition->graph(), condition_in_, size_);
      types.insert(types.begin() + carries_end(s), last.begin(), last.end());
      types.insert(types.begin() + carries(s), asked.begin(),
                   asked.begin() + static_cast<std::ptrdiff_t>(nc_));
      w.n_consts += nc_;
      w.n_carry += s.n_carry;
      w.n_kept += 1;
    } else if (masked_) {
      w.from.push_back({0, l_.sweeps[0].n_kept});
      types.push_back({Dtype::boolean, {size_}});
    }
    w.body = body_of(
        record_branch(
            "vmap", [&](const std::vector<Tensor>& x) { return step(i, in, out, x); }, types)
            .graph);
    if (l_.inverse && i == 0) batch_inverse(in, out);
    wide_->sweeps.push_back(std::move(w));
    add_operands(i, at, in);
    kept_.emplace_back(out.begin() + static_cast<std::ptrdiff_t>(s.n_carry),
                       out.begin() + static_cast<std::ptrdiff_t>(s.n_carry + s.n_kept));
    out_.push_back(std::move(out));
  }

  /// One step of sweep i, of the elements that go on.
  std::vector<Tensor> step(std::size_t i, const Flags& in, const Flags& out,
                           const std::vector<Tensor>& x) const {
    const Sweep& s = l_.sweeps[i];
    std::vector<Tensor> own = x;
    Tensor lanes;
    if (asks(i)) {
      const auto begin = own.begin() + carries(s), end = begin + static_cast<std::ptrdiff_t>(nc_);
      std::vector<Tensor> asked(begin, end);
      own.erase(begin, end);
      for (std::size_t k : l_.condition_carry) asked.push_back(own[s.n_consts + k]);
      lanes = this->lanes(asked);
    } else if (masked_) {
      lanes = own.back();
      own.pop_back();
    }
    const std::vector<Tensor> carry(own.begin() + carries(s), own.begin() + carries_end(s));
    std::vector<Tensor> last;
    if (asks(i)) {
      for (std::size_t k = 0; k < s.n_carry; ++k) {
        Tensor& used = own[s.n_consts + k];
        used = choose(lanes, used, own[s.xs_begin() + k]);
        last.push_back(stop_gradient(used));
      }
      own.erase(own.begin() + carries_end(s),
                own.begin() + carries_end(s) + static_cast<std::ptrdiff_t>(s.n_carry));
    }
    std::vector<Tensor> y = batch_body(s.body->graph(), own, in, out);
    if (masked_)
      for (std::size_t k = 0; k < s.n_carry; ++k) y[k] = choose(lanes, y[k], carry[k]);
    if (asks(i)) {
      y.insert(y.begin() + static_cast<std::ptrdiff_t>(s.n_carry + s.n_kept), lanes);
      y.insert(y.begin() + static_cast<std::ptrdiff_t>(s.n_carry), last.begin(), last.end());
    }
    return y;
  }

  /// The policy `reversible`; what is done is not undone, so that where elements stop at different
  /// steps they are kept as usual.
  void batch_inverse(const Flags& in, const Flags& out) {
    if (masked_) {
      wide_->checkpoint = WhileOptions{}.checkpoint;
      return;
    }
    const Graph& back = l_.inverse->graph();
    wide_->inverse = body_of(
        record_branch(
            "vmap", [&](const std::vector<Tensor>& x) { return batch_body(back, x, in, out); },
            batched_types(back, in, size_))
            .graph);
  }

  std::vector<Tensor> batch_body(const Graph& g, const std::vector<Tensor>& x, const Flags& in,
                                 const Flags& out) const {
    Flags flags;
    std::vector<Tensor> y = batch_graph(g, x, in, size_, flags);
    for (std::size_t k = 0; k < y.size(); ++k)
      if (out[k]) y[k] = with_batch(y[k], flags[k], size_);
    return y;
  }

  void add_operands(std::size_t i, std::size_t at, const Flags& in) {
    const Sweep& s = l_.sweeps[i];
    std::vector<Tensor> x;
    for (std::size_t k = 0; k < s.operands(); ++k) {
      const Tensor& t = a_.in[at + k];
      if (k >= s.xs_begin())
        x.push_back(batched_[at + k] ? moveaxis(t, 0, 1) : t);
      else
        x.push_back(in[k] ? with_batch(t, batched_[at + k], size_) : t);
    }
    for (std::size_t k = 0; masked_ && k < s.n_consts; ++k)
      if (in[k]) x[k] = (*lend_)(x[k]);
    if (asks(i)) {
      std::vector<Tensor> last;
      for (std::size_t k = s.n_consts; k < s.xs_begin(); ++k) last.push_back((*lend_)(x[k]));
      x.insert(x.begin() + carries_end(s), last.begin(), last.end());
      x.insert(x.begin() + carries(s), a_.in.begin(),
               a_.in.begin() + static_cast<std::ptrdiff_t>(nc_));
    }
    append(operands_, x);
  }

  bool asks(std::size_t i) const { return masked_ && i == 0; }
  static std::ptrdiff_t carries(const Sweep& s) { return static_cast<std::ptrdiff_t>(s.n_consts); }
  static std::ptrdiff_t carries_end(const Sweep& s) {
    return static_cast<std::ptrdiff_t>(s.xs_begin());
  }

  const Application& a_;
  const Loop& l_;
  std::span<const bool> batched_;
  Index size_;
  std::size_t nc_;  ///< constants of the condition
  std::shared_ptr<Loop> wide_;
  std::vector<Tensor> operands_;
  Flags condition_in_;
  bool masked_ = false;  ///< whether the condition differs between the elements
  std::optional<Lender> lend_;
  std::vector<Flags> kept_, out_;  ///< of each sweep: what it keeps; all results of its body
};

}  // namespace

void batch_loop(const Application& a, std::span<const bool> batched, Index size,
                std::span<Tensor> o) {
  Batching(a, batched, size)(o);
}

}  // namespace tessera::detail
