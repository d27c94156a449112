// SPDX-License-Identifier: Apache-2.0
//
// Which states a reverse sweep stores and which steps it runs again (checkpoint.h).
#include "schedule.h"

#include "tessera/autodiff/primitive.h"

#include <algorithm>
#include <limits>
#include <map>

namespace tessera {
namespace {

using Action = CheckpointAction;
using ActionKind = Action::Kind;
using Actions = std::vector<Action>;

/// Steps to advance before the next snapshot when `steps` > 1 are to be reversed with `snapshots` >
/// 1, the one at their start included. With beta(s, r) = binomial(s+r, s) and beta(s, r-1) < steps
/// <= beta(s, r), any split with at most beta(s, r-1) steps in front and at most beta(s-1, r)
/// behind is optimal (Griewank & Walther 2000).
Index split(Index steps, Index s) {
  Index before = 0, last = 1, beta = s + 1;  // beta(s, r-2), beta(s, r-1), beta(s, r)
  for (Index r = 2; beta < steps; ++r) {
    before = last;
    last = beta;
    beta = beta * (s + r) / r;
  }
  return std::max(
      {Index{1}, before, steps - (beta - last)});  // beta(s-1, r) = beta(s, r) - beta(s, r-1)
}

/// Reverses steps begin ... end-1; the state is `begin`, which lies in `slot`. Slots after it are
/// free. Stretches begun, up to one for each snapshot, lie in a list.
void revolve(Index begin, Index end, Index snapshots, int slot, Actions& out) {
  struct Open {
    Index begin, end, snapshots;
    int slot;
  };
  std::vector<Open> open{{begin, end, snapshots, slot}};
  while (!open.empty()) {
    const Open now = open.back();
    const Index steps = now.end - now.begin;
    if (steps > 1 && now.snapshots > 1) {
      const Index middle = now.begin + split(steps, std::min(now.snapshots, steps));
      out.push_back({ActionKind::advance, now.begin, middle});
      out.push_back({ActionKind::store, middle, middle, now.slot + 1});
      open.back().end = middle;
      open.push_back({middle, now.end, now.snapshots - 1, now.slot + 1});
      continue;
    }
    for (Index k = now.end - 1; k > now.begin; --k) {
      out.push_back({ActionKind::advance, now.begin, k});
      out.push_back({ActionKind::adjoint, k, k});
      out.push_back({ActionKind::restore, now.begin, now.begin, now.slot});
    }
    if (steps > 0) out.push_back({ActionKind::adjoint, now.begin, now.begin});
    open.pop_back();
    if (!open.empty()) {
      const Open& before = open.back();
      out.push_back({ActionKind::restore, before.begin, before.begin, before.slot});
    }
  }
}

void need_positive(const char* policy, Index value) {
  if (value < 1)
    fail("checkpoint",
         std::string(policy) + " takes a positive number, got " + std::to_string(value));
}

Actions disk(Index n) {
  Actions out;
  for (Index k = 0; k < n; ++k) {
    out.push_back({ActionKind::store, k, k, static_cast<int>(k)});
    if (k + 1 < n) out.push_back({ActionKind::advance, k, k + 1});
  }
  for (Index k = n; k-- > 0;) {
    if (k + 1 < n) out.push_back({ActionKind::restore, k, k, static_cast<int>(k)});
    out.push_back({ActionKind::adjoint, k, k});
  }
  return out;
}

/// Snapshots at multiples of k; each stretch between two is taped as a whole.
Actions every(Index n, Index k) {
  Actions out;
  const Index last = (n - 1) / k;
  for (Index j = 0; j <= last; ++j) {
    out.push_back({ActionKind::store, j * k, j * k, static_cast<int>(j)});
    if (j < last) out.push_back({ActionKind::advance, j * k, (j + 1) * k});
  }
  for (Index j = last + 1; j-- > 0;) {
    const Index end = std::min(n, (j + 1) * k);
    if (j < last) out.push_back({ActionKind::restore, j * k, j * k, static_cast<int>(j)});
    out.push_back({ActionKind::tape, j * k, end});
    for (Index i = end; i-- > j * k;) out.push_back({ActionKind::adjoint, i, i});
  }
  return out;
}

Actions online(Index n, Index snapshots) {
  Actions out;
  detail::OnlinePlacement placement(snapshots);
  Index at = 0;
  for (Index k = 0; k < n; ++k) {
    const int slot = placement.place(k);
    if (slot < 0) continue;
    if (at < k) out.push_back({ActionKind::advance, at, k});
    at = k;
    out.push_back({ActionKind::store, k, k, slot});
  }
  placement.reverse(n, out);
  return out;
}

Actions reversible(Index n) {
  Actions out;
  if (n > 1) out.push_back({ActionKind::advance, 0, n - 1});
  for (Index k = n; k-- > 0;) {
    out.push_back({ActionKind::adjoint, k, k});
    if (k > 0) out.push_back({ActionKind::invert, k, k - 1});
  }
  return out;
}

}  // namespace

namespace detail {

int OnlinePlacement::place(Index k) {
  int slot = static_cast<int>(kept_.size());
  Index level = k == 0 ? std::numeric_limits<Index>::max() : 0;
  if (static_cast<Index>(kept_.size()) >= limit_) {
    if (limit_ == 1) return -1;
    // A snapshot is dispensable where a later one has a higher level: find the last such.
    Index highest = -1;
    std::size_t dispensable = kept_.size();
    for (std::size_t i = kept_.size(); i-- > 1;) {
      if (kept_[i].level < highest) {
        dispensable = i;
        break;
      }
      highest = std::max(highest, kept_[i].level);
    }
    if (dispensable == kept_.size()) {
      dispensable = kept_.size() - 1;
      level = kept_.back().level + 1;
    }
    slot = kept_[dispensable].slot;
    kept_.erase(kept_.begin() + static_cast<std::ptrdiff_t>(dispensable));
  }
  kept_.push_back({k, level, slot});
  return slot;
}

void OnlinePlacement::reverse(Index n, Actions& out) const {
  // From the last stretch to the first; the slots of later stretches are free.
  std::vector<Kept> kept = kept_;
  Index end = n;
  while (!kept.empty()) {
    const Kept from = kept.back();
    Actions stretch;
    revolve(from.state, end, limit_ - static_cast<Index>(kept.size()) + 1, 0, stretch);
    // Within a stretch, slot 0 is that of its start, and the others are those that nothing holds.
    int most = 0;
    for (const Action& a : stretch) most = std::max(most, a.slot);
    std::vector<int> names = {from.slot};
    for (int s = 0; static_cast<int>(names.size()) <= most; ++s)
      if (std::none_of(kept.begin(), kept.end(), [&](const Kept& k) { return k.slot == s; }))
        names.push_back(s);
    out.push_back({ActionKind::restore, from.state, from.state, from.slot});
    for (Action& a : stretch) {
      if (a.slot >= 0) a.slot = names[static_cast<std::size_t>(a.slot)];
      out.push_back(a);
    }
    end = from.state;
    kept.pop_back();
  }
}

void check_schedule(const Actions& actions, Index n) {
  const auto wrong = [](std::size_t k, const std::string& why) {
    fail("checkpoint", "action " + std::to_string(k) + " of the schedule " + why);
  };
  std::map<int, Index> slots;
  std::vector<bool> taped(static_cast<std::size_t>(n), false);
  Index state = 0, next = n - 1;
  for (std::size_t k = 0; k < actions.size(); ++k) {
    const Action& a = actions[k];
    switch (a.kind) {
      case ActionKind::advance:
      case ActionKind::tape:
        if (a.from != state || a.to <= a.from || a.to > n)
          wrong(k, "runs steps " + std::to_string(a.from) + " ... " + std::to_string(a.to) +
                       " of " + std::to_string(n) + " on state " + std::to_string(state));
        if (a.kind == ActionKind::tape)
          for (Index i = a.from; i < a.to; ++i) taped[static_cast<std::size_t>(i)] = true;
        state = a.to;
        break;
      case ActionKind::invert:
        wrong(k, "inverts steps; a schedule has no inverse body, the policy `reversible` does");
        break;
      case ActionKind::store:
        if (a.slot < 0) wrong(k, "stores in slot " + std::to_string(a.slot));
        slots[a.slot] = state;
        break;
      case ActionKind::restore: {
        const auto it = slots.find(a.slot);
        if (it == slots.end())
          wrong(k, "restores slot " + std::to_string(a.slot) + ", where nothing is stored");
        state = it->second;
        break;
      }
      case ActionKind::adjoint:
        if (a.from != next)
          wrong(k, "reverses step " + std::to_string(a.from) + " where step " +
                       std::to_string(next) + " is due");
        if (!taped[static_cast<std::size_t>(a.from)] && state != a.from)
          wrong(k, "reverses step " + std::to_string(a.from) + ", which is not taped, on state " +
                       std::to_string(state));
        --next;
        break;
    }
  }
  if (next != -1)
    fail("checkpoint", "the schedule leaves steps 0 ... " + std::to_string(next) +
                           " without their reverse steps");
}

}  // namespace detail

Actions checkpoint_schedule(const Checkpoint& p, Index n) {
  Actions out;
  if (n < 0) fail("checkpoint", "a negative number of steps: " + std::to_string(n));
  if (p.kind == Checkpoint::Kind::every) need_positive("every", p.parameter);
  if (p.kind == Checkpoint::Kind::revolve) need_positive("revolve", p.parameter);
  if (p.kind == Checkpoint::Kind::online) need_positive("online", p.parameter);
  if (p.kind == Checkpoint::Kind::schedule) {
    detail::check_schedule(p.actions, n);
    return p.actions;
  }
  if (n == 0) return out;
  switch (p.kind) {
    case Checkpoint::Kind::all:
      out.push_back({ActionKind::tape, 0, n});
      for (Index k = n; k-- > 0;) out.push_back({ActionKind::adjoint, k, k});
      return out;
    case Checkpoint::Kind::every:
      return every(n, p.parameter);
    case Checkpoint::Kind::online:
      return online(n, p.parameter);
    case Checkpoint::Kind::reversible:
      return reversible(n);
    case Checkpoint::Kind::disk:
      return disk(n);
    default:
      out.push_back({ActionKind::store, 0, 0, 0});
      revolve(0, n, p.kind == Checkpoint::Kind::none ? 1 : p.parameter, 0, out);
      return out;
  }
}

Index recomputed_steps(const Checkpoint& p, Index n) {
  Index steps = 0;
  for (const Action& a : checkpoint_schedule(p, n))
    if (a.kind == ActionKind::advance) steps += a.to - a.from;
  return steps;
}

}  // namespace tessera
