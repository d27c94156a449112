// SPDX-License-Identifier: Apache-2.0
//
// How the reverse sweep of a loop gets the states of the forward sweep back: stored, recomputed, or
// in between.
//
// Reverse mode visits the steps n-1 ... 0; step k needs the state before it. A *snapshot* is a kept
// state; *taping* a step runs it and keeps what its derivative needs; *advancing* runs a step and
// keeps nothing. Every policy tapes each step once; they differ in memory and in the number of
// steps advanced again. All but `reversible` give the same bits: the same steps of the same states.
//
//   policy        memory beside the loop's data              recomputed steps
//   all           n tapes                                    0
//   none          1 snapshot (the initial state), 1 tape      n (n-1) / 2
//   every(k)      ceil(n/k) snapshots, k tapes               k floor((n-1)/k)
//   revolve(s)    s snapshots, 1 tape                        r n - binomial(s+r, r-1), the fewest
//   online(s)     s snapshots, 1 tape; n need not be known   near revolve(s)
//   reversible    1 state, 1 tape                            n-1, and n-1 steps of the inverse
//   disk          n snapshots in a file, 1 tape              n-1
//   schedule      as the list of actions says
//
// In revolve, s counts the snapshot of the initial state, and r is the least number with
// binomial(s+r, s) >= n: A. Griewank, A. Walther, ACM Trans. Math. Softw. 26 (2000) 19-45,
// Algorithm 799. 10,000 steps and s = 16 make 44,015. `online` places snapshots while the end is
// unknown: Q. Wang, P. Moin, G. Iaccarino, SIAM J. Sci. Comput. 31 (2009) 2549-2567; P. Stumm, A.
// Walther, SIAM J. Sci. Comput. 32 (2010) 836-854.
#pragma once
#include "tessera/autodiff/graph.h"
#include "tessera/autodiff/tree.h"

#include <string>
#include <vector>

namespace tessera {

/// One action of a reverse sweep over steps 0 ... n-1. State k is the state before step k.
struct CheckpointAction {
  enum class Kind : std::uint8_t {
    advance,  ///< runs steps from ... to-1 on state `from`
    tape,     ///< the same, keeping the tape of each
    invert,   ///< from state `from` back to state `to` by the inverse body
    store,    ///< keeps the current state in `slot`
    restore,  ///< makes the state of `slot` the current one
    adjoint,  ///< the reverse step of step `from`; taped on the current state unless its tape is
              ///< kept
  };
  Kind kind;
  Index from = 0, to = 0;
  int slot = -1;
  bool operator==(const CheckpointAction&) const = default;
};

/// A policy; made by its functions of the same names.
struct Checkpoint {
  enum class Kind : std::uint8_t { all, none, every, revolve, online, reversible, disk, schedule };
  Kind kind = Kind::all;
  Index parameter = 0;  ///< k of every, s of revolve and online
  std::string folder;   ///< of disk; empty: the system's folder for temporary files
  std::vector<CheckpointAction> actions;  ///< of schedule
  FlatFunction
      inverse;  ///< of reversible: leaves of (carry after, x) -> leaves of the carry before

  static Checkpoint all() { return {}; }
  static Checkpoint none() { return {.kind = Kind::none}; }
  static Checkpoint every(Index steps) { return {.kind = Kind::every, .parameter = steps}; }
  static Checkpoint revolve(Index snapshots) {
    return {.kind = Kind::revolve, .parameter = snapshots};
  }
  static Checkpoint online(Index snapshots) {
    return {.kind = Kind::online, .parameter = snapshots};
  }
  static Checkpoint disk(std::string folder = {}) {
    return {.kind = Kind::disk, .folder = std::move(folder)};
  }
  static Checkpoint schedule(std::vector<CheckpointAction> actions) {
    return {.kind = Kind::schedule, .actions = std::move(actions)};
  }
  /// The body undone: inverse(carry after, x) = carry before; for loops without xs, inverse(carry
  /// after). The trees given are examples of their structure. States come back with the rounding of
  /// the inverse.
  static Checkpoint reversible(FlatFunction inverse_of_leaves) {
    return {.kind = Kind::reversible, .inverse = std::move(inverse_of_leaves)};
  }
  template <class F, IsTree C>
  static Checkpoint reversible(F inverse, const C& carry) {
    return reversible([=](const std::vector<Tensor>& leaves) {
      return flatten_tree(inverse(unflatten_tree(carry, leaves)));
    });
  }
  template <class F, IsTree C, IsTree X>
  static Checkpoint reversible(F inverse, const C& carry, const X& x) {
    return reversible([=](const std::vector<Tensor>& leaves) {
      const Tensor* next = leaves.data();
      C c = unflatten_tree(carry, next);
      return flatten_tree(inverse(std::move(c), unflatten_tree(x, next)));
    });
  }
};

/// The actions of the reverse sweep over n steps; it begins with state 0 as the current one. Throws
/// where the policy's parameter is not positive, or where a given schedule does not reverse n
/// steps.
std::vector<CheckpointAction> checkpoint_schedule(const Checkpoint& policy, Index n_steps);
/// Steps that the schedule advances: those run beside the n taped ones.
Index recomputed_steps(const Checkpoint& policy, Index n_steps);

/// What the last reverse sweep of a loop on this thread did.
struct ReverseSweep {
  Index advanced = 0;              ///< steps run without tape
  Index taped = 0;                 ///< steps run with it
  Index inverted = 0;              ///< steps of the inverse body
  Index snapshots = 0;             ///< most snapshots held at once
  std::size_t snapshot_bytes = 0;  ///< their memory, in RAM or in the file
  std::size_t tape_bytes = 0;      ///< most bytes of tapes held at once
};
ReverseSweep last_reverse_sweep();

}  // namespace tessera
