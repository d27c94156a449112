// SPDX-License-Identifier: Apache-2.0
//
// Runs a loop: sweep after sweep with everything kept in between, or, for two sweeps of which the
// second goes back, as the checkpoint policy says.
#include "../core/tensor_internal.h"
#include "loops_internal.h"
#include "schedule.h"
#include "snapshots.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace tessera::detail {
namespace {

ReverseSweep& last_sweep() {
  static thread_local ReverseSweep s;
  return s;
}

/// Values side by side in one block whose size is a multiple of 16.
struct Layout {
  std::vector<std::size_t> offset, size;
  std::size_t bytes = 0;
  Layout(const Graph& g, std::span<const Graph::Id> ids) {
    for (Graph::Id id : ids) {
      size.push_back(static_cast<std::size_t>(g.types[id].shape.count()) *
                     size_of(g.types[id].dtype));
      const std::size_t align = size.back() > 8 ? 16 : 8;
      offset.push_back(bytes = (bytes + align - 1) / align * align);
      bytes += (size.back() + 7) / 8 * 8;
    }
    bytes = (bytes + 15) / 16 * 16;
  }
};

/// What a sweep keeps of each step: records of `bytes`, in chunks, for the number of steps may be
/// unknown.
class Tape {
 public:
  void reset(std::size_t bytes, Index steps_at_once) {
    bytes_ = bytes, per_chunk_ = std::max<Index>(1, steps_at_once), chunks_.clear();
  }
  std::byte* record(Index k) {
    const auto c = static_cast<std::size_t>(k / per_chunk_);
    while (chunks_.size() <= c) chunks_.emplace_back(bytes_ * static_cast<std::size_t>(per_chunk_));
    return chunks_[c].data() + bytes_ * static_cast<std::size_t>(k % per_chunk_);
  }
  std::size_t total() const {
    return chunks_.size() * static_cast<std::size_t>(per_chunk_) * bytes_;
  }

 private:
  std::size_t bytes_ = 0;
  Index per_chunk_ = 1;
  std::vector<Block> chunks_;
};

/// One sweep's state, and the pointers its body is called with.
class SweepState {
 public:
  SweepState(const Sweep& s, Inputs operands, Outputs results)
      : s_(s),
        g_(s.body->graph()),
        carry_(g_, std::span(g_.outputs).first(s.n_carry)),
        kept_(g_, std::span(g_.outputs).subspan(s.n_carry, s.n_kept)),
        results_(results),
        operands_(operands),
        now_(carry_.bytes),
        next_(carry_.bytes) {
    in_.resize(g_.inputs.size());
    out_.resize(g_.outputs.size());
    for (std::size_t k = 0; k < s.n_consts; ++k)
      in_[k] = static_cast<const std::byte*>(operands[k]->data);
    for (std::size_t k = 0; k < s.n_xs; ++k)
      x_bytes_.push_back(step_bytes(*operands[s.xs_begin() + k]));
    for (std::size_t k = 0; k < s.n_ys; ++k)
      y_bytes_.push_back(step_bytes(*results[s.n_carry + k]));
    reset();
  }
  /// Back to the first carry.
  void reset() {
    for (std::size_t k = 0; k < s_.n_carry; ++k)
      if (carry_.size[k])
        std::memcpy(now_.data() + carry_.offset[k], operands_[s_.n_consts + k]->data,
                    carry_.size[k]);
    point();
  }
  const Layout& carry() const { return carry_; }
  const Layout& kept() const { return kept_; }
  std::byte* state() { return now_.data(); }
  const std::byte* carry_at(std::size_t k) const { return now_.data() + carry_.offset[k]; }
  void set_source(std::size_t k, const std::byte* at) { in_[s_.operands() + k] = at; }

  /// Slice `k`: from the state, leaves the new one in the other block. `record` takes what is kept.
  void run(Index k, std::byte* record) {
    slice(k);
    for (std::size_t i = 0; i < s_.n_kept; ++i) out_[s_.n_carry + i] = record + kept_.offset[i];
    for (std::size_t i = 0; i < s_.n_ys; ++i)
      out_[s_.n_carry + s_.n_kept + i] =
          static_cast<std::byte*>(results_[s_.n_carry + i]->data) + k * y_bytes_[i];
    if (!full_) full_ = s_.body->program().start();
    (*full_)(in_.data(), out_.data());
  }
  /// The same for the carries alone.
  void advance(Index k) {
    slice(k);
    if (!carry_only_) carry_only_ = s_.body->first_outputs(s_.n_carry).program().start();
    (*carry_only_)(in_.data(), out_.data());
    turn();
  }
  /// The state before slice k by the inverse body.
  void invert(Program::Run& inverse, Index k) {
    slice(k);
    inverse(in_.data(), out_.data());
    turn();
  }
  /// The new state becomes the state.
  void turn() {
    std::swap(now_, next_);
    point();
  }
  /// The new state, or the state, is the last one.
  void finish(bool of_next) {
    const std::byte* from = of_next ? next_.data() : now_.data();
    for (std::size_t k = 0; k < s_.n_carry; ++k)
      if (carry_.size[k]) std::memcpy(results_[k]->data, from + carry_.offset[k], carry_.size[k]);
  }

 private:
  static Index step_bytes(const View& v) {
    return v.shape[0] ? v.count() / v.shape[0] * static_cast<Index>(size_of(v.dtype)) : 0;
  }
  void slice(Index k) {
    for (std::size_t i = 0; i < s_.n_xs; ++i)
      in_[s_.xs_begin() + i] =
          static_cast<const std::byte*>(operands_[s_.xs_begin() + i]->data) + k * x_bytes_[i];
  }
  void point() {
    for (std::size_t k = 0; k < s_.n_carry; ++k) {
      in_[s_.n_consts + k] = now_.data() + carry_.offset[k];
      out_[k] = next_.data() + carry_.offset[k];
    }
  }

  const Sweep& s_;
  const Graph& g_;
  Layout carry_, kept_;
  Outputs results_;
  Inputs operands_;
  std::vector<Index> x_bytes_, y_bytes_;
  std::vector<const std::byte*> in_;
  std::vector<std::byte*> out_;
  Block now_, next_;
  std::unique_ptr<Program::Run> full_, carry_only_;
};

/// The condition of a while, asked of the state of sweep 0.
class Condition {
 public:
  Condition(const Loop& l, Inputs in, const SweepState& first) : l_(l), first_(first) {
    if (!l.condition) return;
    in_.resize(l.n_condition_consts + l.condition_carry.size());
    for (std::size_t k = 0; k < l.n_condition_consts; ++k)
      in_[k] = static_cast<const std::byte*>(in[k]->data);
    run_ = l.condition->program().start();
  }
  bool operator()() {
    for (std::size_t k = 0; k < l_.condition_carry.size(); ++k)
      in_[l_.n_condition_consts + k] = first_.carry_at(l_.condition_carry[k]);
    bool yes = false;
    std::byte* out = reinterpret_cast<std::byte*>(&yes);
    (*run_)(in_.data(), &out);
    return yes;
  }

 private:
  const Loop& l_;
  const SweepState& first_;
  std::vector<const std::byte*> in_;
  std::unique_ptr<Program::Run> run_;
};

/// Everything is kept between the sweeps.
void run_all(const Loop& l, std::vector<std::unique_ptr<SweepState>>& step, Condition& holds) {
  const std::size_t m = l.sweeps.size();
  std::vector<Tape> tapes(m);
  std::vector<std::byte*> record(m, nullptr);
  Index n = l.length;
  std::size_t tape_bytes = 0;
  for (std::size_t i = 0; i < m; ++i) {
    const Sweep& s = l.sweeps[i];
    SweepState& at = *step[i];
    const bool open = l.condition && i == 0;
    const std::size_t bytes = at.kept().bytes;
    tapes[i].reset(bytes,
                   open ? static_cast<Index>((1u << 16) / std::max<std::size_t>(bytes, 64)) : n);
    for (Index t = 0; open ? holds() : t < n; ++t) {
      const Index k = s.reverse ? n - 1 - t : t;
      for (std::size_t f = 0; f < s.from.size(); ++f) {
        const Source& from = s.from[f];
        at.set_source(f, tapes[from.sweep].record(k) + step[from.sweep]->kept().offset[from.kept]);
      }
      at.run(k, bytes ? tapes[i].record(k) : nullptr);
      at.turn();
      if (open) n = t + 1;
    }
    at.finish(false);
    tape_bytes += tapes[i].total();
  }
  if (m > 1) last_sweep() = {.taped = n, .tape_bytes = tape_bytes};
}

/// A sweep and the one back, by the actions of a schedule.
class Reversal {
 public:
  Reversal(const Loop& l, SweepState& forth, SweepState& back)
      : l_(l),
        forth_(forth),
        back_(back),
        n_(l.length),
        snapshots_(forth.carry().bytes, l.checkpoint.kind == Checkpoint::Kind::disk,
                   l.checkpoint.folder) {
    single_.reset(forth.kept().bytes, 1);
    if (l.inverse) inverse_ = l.inverse->program().start();
  }
  void steps(Index n) { n_ = n; }
  const ReverseSweep& done() {
    done_.snapshots = static_cast<Index>(snapshots_.held());
    done_.snapshot_bytes = snapshots_.held() * forth_.carry().bytes;
    done_.tape_bytes = std::max(done_.tape_bytes, single_.total());
    return done_;
  }
  void store(int slot) { snapshots_.store(slot, forth_.state()); }
  void advance(Index t) {
    forth_.advance(slice(t));
    ++done_.advanced;
  }
  void perform(const CheckpointAction& a) {
    switch (a.kind) {
      case CheckpointAction::Kind::advance:
        for (Index t = a.from; t < a.to; ++t) advance(t);
        if (a.to == n_) forth_.finish(false);
        return;
      case CheckpointAction::Kind::tape:
        kept_.push_back({a.from, a.to, {}});
        kept_.back().tape.reset(forth_.kept().bytes, a.to - a.from);
        for (Index t = a.from; t < a.to; ++t)
          taped(t, kept_.back().tape.record(t - a.from)), forth_.turn();
        done_.tape_bytes = std::max(done_.tape_bytes, held());
        return;
      case CheckpointAction::Kind::store:
        return store(a.slot);
      case CheckpointAction::Kind::restore:
        return snapshots_.restore(a.slot, forth_.state());
      case CheckpointAction::Kind::invert:
        for (Index t = a.from; t > a.to; --t, ++done_.inverted)
          forth_.invert(*inverse_, slice(t - 1));
        return;
      case CheckpointAction::Kind::adjoint: {
        const auto holds = [&](const Stretch& s) { return a.from >= s.begin && a.from < s.end; };
        const auto kept = std::find_if(kept_.begin(), kept_.end(), holds);
        std::byte* const record =
            kept != kept_.end() ? kept->tape.record(a.from - kept->begin) : single_.record(0);
        if (kept == kept_.end()) taped(a.from, record);
        const std::vector<Source>& from = l_.sweeps[1].from;
        for (std::size_t f = 0; f < from.size(); ++f)
          back_.set_source(f, record + forth_.kept().offset[from[f].kept]);
        back_.run(slice(a.from), nullptr);
        back_.turn();
        std::erase_if(kept_, [&](const Stretch& s) { return s.begin >= a.from; });
        return;
      }
    }
  }

 private:
  /// Steps begin ... end-1 on tape, until the first of them is reversed.
  struct Stretch {
    Index begin, end;
    Tape tape;
  };

  std::size_t held() const {
    std::size_t bytes = 0;
    for (const Stretch& s : kept_) bytes += s.tape.total();
    return bytes;
  }
  Index slice(Index t) const { return l_.sweeps[0].reverse ? n_ - 1 - t : t; }
  void taped(Index t, std::byte* record) {
    forth_.run(slice(t), record);
    if (t + 1 == n_) forth_.finish(true);
    ++done_.taped;
  }

  const Loop& l_;
  SweepState &forth_, &back_;
  Index n_;
  Snapshots snapshots_;
  Tape single_;
  std::vector<Stretch> kept_;
  std::unique_ptr<Program::Run> inverse_;
  ReverseSweep done_;
};

void run_checkpointed(const Loop& l, SweepState& forth, SweepState& back, Condition& holds) {
  Reversal run(l, forth, back);
  Index n = l.length;
  std::vector<CheckpointAction> actions;
  if (l.condition && l.checkpoint.kind == Checkpoint::Kind::online) {
    OnlinePlacement placement(l.checkpoint.parameter);
    for (n = 0; holds(); ++n) {
      if (const int slot = placement.place(n); slot >= 0) run.store(slot);
      run.advance(n);
    }
    forth.finish(false);
    placement.reverse(n, actions);
    run.steps(n);
  } else {
    if (l.condition) {  // the other policies want to know the number of steps
      for (n = 0; holds(); ++n) run.advance(n);
      forth.finish(false);
      forth.reset();
    } else if (n == 0) {
      forth.finish(false);
    }
    run.steps(n);
    actions = checkpoint_schedule(l.checkpoint, n);
  }
  for (const CheckpointAction& a : actions) run.perform(a);
  back.finish(false);
  last_sweep() = run.done();
}

}  // namespace

void run_loop(const Loop& l, Inputs in, Outputs out) {
  std::vector<std::unique_ptr<SweepState>> step;
  std::size_t at = l.n_condition_consts, to = 0;
  for (const Sweep& s : l.sweeps) {
    step.push_back(std::make_unique<SweepState>(s, in.subspan(at, s.operands()),
                                                out.subspan(to, s.results())));
    at += s.operands(), to += s.results();
  }
  Condition holds(l, in, *step[0]);
  const bool there_and_back =
      step.size() == 2 && l.sweeps[0].reverse != l.sweeps[1].reverse && l.sweeps[0].n_kept > 0;
  if (there_and_back && l.checkpoint.kind != Checkpoint::Kind::all)
    run_checkpointed(l, *step[0], *step[1], holds);
  else
    run_all(l, step, holds);
}

}  // namespace tessera::detail

tessera::ReverseSweep tessera::last_reverse_sweep() { return detail::last_sweep(); }
