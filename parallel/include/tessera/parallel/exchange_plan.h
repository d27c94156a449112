// SPDX-License-Identifier: Apache-2.0
//
// From owners to copies. Values have global indices; each index is owned by one rank, any rank may
// want copies of any of them:
//
//   copies[j] = owned[of the index that copy j is wanted of]           push       y = A x
//   owned[i]  = sum over the copies of i, on all ranks                 pull_add   x = A^T y
//
// A plan says what goes where. It is made once, by all ranks together and outside of functions that
// are compiled, and used again and again (exchanges.h). Grids with ghosts: ghosts.h.
//
//   const auto plan = ExchangePlan::make(c, {.owned = rows_of_me, .wanted = columns_that_I_read});
//   const Tensor read = push(plan, x);          // x [owned, ...] -> [wanted, ...]
//
// Two ranks send each other one message at most. `push` sends a value that is wanted on a rank
// once, however often it is wanted there. `pull_add` sends each copy for itself, so that the owner
// may add them in an order that knows nothing of ranks: by keys (below).
#pragma once
#include "tessera/parallel/communicator.h"

#include <memory>
#include <span>
#include <vector>

namespace tessera::parallel {

class ExchangePlan;
using ExchangePlanPtr = std::shared_ptr<const ExchangePlan>;

/// What this rank has and wants.
struct OwnedAndWanted {
  std::span<const Index> owned;   ///< not negative; in the order of its values, any
  std::span<const Index> wanted;  ///< in the order of the copies; with repeats, own ones too
  /// One for each wanted copy, or none. `pull_add` adds the copies of an index in the order of
  /// their keys, from the smallest; copies with equal keys in the order of ranks, then of their
  /// positions. Where keys are numbers that the problem gives its copies (the number of the element
  /// that reads the value, say), all different for one index, the sums have the same bits whoever
  /// holds what. None: a copy's number among all copies, first those of rank 0.
  std::span<const Index> keys = {};
};

class ExchangePlan {
 public:
  /// Made by all ranks; takes memory for index sets, no array over all indices. The communicator
  /// must outlive the plan, in its place. Throws Error, on all ranks: an index that is negative,
  /// that two ranks own or one owns twice (with both ranks), that nobody owns (with the rank that
  /// wants it); keys that are not as many as the wanted.
  static ExchangePlanPtr make(Communicator& c, const OwnedAndWanted& mine,
                              SourceLine line = SourceLine::here());

  Communicator& communicator() const { return *communicator_; }
  Index owned() const { return owned_; }    ///< how many this rank owns
  Index copies() const { return copies_; }  ///< how many copies it wants
  /// Values that this rank sends to others: in `push`, in `pull_add`.
  Index pushed() const { return pushes_.values; }
  Index pulled() const { return pulls_.values; }

  // ---- what the kernels read (exchanges.cpp) ----
  /// `count` values from `from` on go to `to` and after.
  struct Run {
    Index to, from, count;
  };
  using Runs = std::vector<Run>;
  /// The values that go to or come from a rank; runs count from the beginning of its message.
  struct Peer {
    int rank;
    Index count;
    Runs runs;
  };
  /// One way through the plan.
  struct Packing {
    std::vector<Peer> peers;  ///< by rank; what is packed
    Index values = 0;
  };
  /// Values that are written at once: of no two copies of one index.
  struct Layer {
    Runs own;                 ///< from this rank's own values
    std::vector<Peer> peers;  ///< from messages
  };
  struct Unpacking {
    std::vector<Peer> peers;  ///< by rank, without runs: what comes
    std::vector<Layer> layers;
  };
  const Packing& pushes() const { return pushes_; }
  const Unpacking& pushed_to() const { return pushed_to_; }  ///< one layer
  const Packing& pulls() const { return pulls_; }
  /// Layer k holds the copies with the k-th smallest key of each index: the first are written, the
  /// others added in turn.
  const Unpacking& pulled_to() const { return pulled_to_; }

 private:
  struct Maker;  // src/exchange_plan.cpp
  ExchangePlan() = default;
  Communicator* communicator_ = nullptr;
  Index owned_ = 0, copies_ = 0;
  Packing pushes_, pulls_;
  Unpacking pushed_to_, pulled_to_;
};

}  // namespace tessera::parallel
