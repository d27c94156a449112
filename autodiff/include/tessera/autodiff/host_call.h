// SPDX-License-Identifier: Apache-2.0
//
// A function of the host (a table, a solver, a library) as one operation: it sees values alone,
// also inside jit, vmap and loops, and its derivatives are written by its user.
//
//   HostFunction f{
//       .name = "table", .run = [](auto& x) { return std::vector{look_up(x[0])}; },
//       .jvp = [](auto& x, auto&, auto& t) { return std::vector{derivative(x[0]) * t[0]}; }};
//   Tensor y = host_call(f)({x})[0];
//
// `run` must depend on its operands alone: a call may be shared, dropped or repeated, unless it
// `exchanges` messages with others.
#pragma once
#include "tessera/autodiff/graph.h"

#include <functional>
#include <string>
#include <vector>

namespace tessera {

/// Lists: x operands, y results, t tangents of x, ct cotangents of y (zeros for integers; entries
/// returned for them are not used). The derivatives are written in tensor operations, which may be
/// host calls: those of x and y are the second derivative. Each one gives both modes if the other
/// is missing: by transposing it, which needs operations that can be transposed. With both, each
/// mode calls its own. With neither, differentiating throws.
struct HostFunction {
  using List = std::vector<Tensor>;
  std::string name;                        ///< for messages
  std::function<List(const List& x)> run;  ///< on values, contiguous
  std::function<List(const List& x, const List& y, const List& t)> jvp =
      {};  ///< tangents of y, linear in t
  std::function<List(const List& x, const List& y, const List& ct)> vjp =
      {};  ///< cotangents of x, linear in ct
  std::function<Types(const Types& x)> types =
      {};  ///< of the results; missing: one result like the first operand
  /// It sends or waits: each call runs, in the order of the program (Ordering::every, primitive.h).
  bool exchanges = false;
};
/// Under vmap `run` is called for every sample in turn.
FlatFunction host_call(HostFunction f);

}  // namespace tessera
