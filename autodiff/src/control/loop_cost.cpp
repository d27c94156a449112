// SPDX-License-Identifier: Apache-2.0
//
// What a loop takes: steps taken, taken again and undone as the checkpoint policy says, tapes and
// snapshots held at once.
#include "../core/cost.h"
#include "loops_internal.h"
#include "schedule.h"

#include <algorithm>
#include <set>

namespace tessera::detail {
namespace {

double bytes_of(const Graph& g, std::size_t first, std::size_t n) {
  double bytes = 0;
  for (std::size_t k = first; k < first + n; ++k) {
    const Type& t = g.types[g.outputs[k]];
    bytes += count(t) * static_cast<double>(size_of(t.dtype));
  }
  return bytes;
}

/// Steps run by a reverse sweep and what is held while it goes: snapshots, tapes.
struct Held {
  double taped = 0, advanced = 0, inverted = 0, snapshots = 0, tapes = 0;
};
Held held_by(const std::vector<CheckpointAction>& actions) {
  using Kind = CheckpointAction::Kind;
  Held h;
  std::set<int> slots;
  std::set<Index> on_tape;
  for (const CheckpointAction& a : actions) {
    if (a.kind == Kind::advance) h.advanced += static_cast<double>(a.to - a.from);
    if (a.kind == Kind::invert) h.inverted += static_cast<double>(a.from - a.to);
    if (a.kind == Kind::store) slots.insert(a.slot);
    if (a.kind == Kind::tape)
      for (Index t = a.from; t < a.to; ++t) on_tape.insert(t), ++h.taped;
    if (a.kind == Kind::adjoint && on_tape.erase(a.from) == 0) ++h.taped;
    h.snapshots = std::max(h.snapshots, static_cast<double>(slots.size()));
    h.tapes = std::max(h.tapes, static_cast<double>(on_tape.size()));
  }
  h.tapes = std::max(h.tapes, 1.0);
  return h;
}

}  // namespace

Cost cost_of_loop(const Loop& l) {
  const Index n = l.condition ? 1 : l.length;
  const auto& s = l.sweeps;
  // A list that is given for a while reverses all the steps that it will have.
  const bool listed = l.condition && l.checkpoint.kind == Checkpoint::Kind::schedule;
  const bool reversed = s.size() == 2 && s[0].reverse != s[1].reverse && s[0].n_kept > 0 &&
                        l.checkpoint.kind != Checkpoint::Kind::all && !listed;
  Held h{.taped = static_cast<double>(n), .tapes = static_cast<double>(n)};
  if (reversed) h = held_by(checkpoint_schedule(l.checkpoint, n));
  Cost all;
  double body = 0;
  for (std::size_t i = 0; i < s.size(); ++i) {
    const Graph& g = s[i].body->graph();
    const Cost c = cost_of(g);
    const double steps = i == 0 ? h.taped + h.advanced : static_cast<double>(n);
    all.flops += steps * c.flops, all.bytes += steps * c.bytes;
    body = std::max(body, c.workspace);
    const double carry = bytes_of(g, 0, s[i].n_carry);
    all.workspace += 2 * carry + h.tapes * bytes_of(g, s[i].n_carry, s[i].n_kept);
    if (i == 0 && l.checkpoint.kind != Checkpoint::Kind::disk) all.workspace += h.snapshots * carry;
  }
  if (l.inverse) all.flops += h.inverted * cost_of(l.inverse->graph()).flops;
  if (l.condition) all.flops += cost_of(l.condition->graph()).flops;
  all.workspace += body;
  return all;
}

}  // namespace tessera::detail
