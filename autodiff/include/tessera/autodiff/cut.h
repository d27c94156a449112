// SPDX-License-Identifier: Apache-2.0
//
// The part of a function that a box of its result needs. A function of arrays is traced once at its
// whole size, without memory; what a box of its result takes follows operation by operation from
// the result back to the inputs: windows with their strides, dilations and borders, slices,
// padding, reshapes, fixed positions. What comes is a graph on boxes of the inputs, whose borders
// are those of the whole wherever these are met, and which is differentiated as any other.
//
//   const Graph g = trace(f, {{Dtype::f32, {4, 30000, 30000}}});
//   const Cut c = cut(g, {{0, 512, 1024}, {4, 1024, 1536}}, {true});
//   evaluate(c.graph, {image from c.inputs[0].begin to .end});     // f(image) in that box
//
// Results are those of the whole call in this box up to the order of sums, which some kernels
// choose by sizes (docs/reference/bits.md).
#pragma once
#include "tessera/autodiff/box.h"
#include "tessera/autodiff/graph.h"

namespace tessera {

struct Cut {
  /// Inputs: those of the whole graph, then `captures`, each as its box is; one output.
  Graph graph;
  std::vector<Box> inputs;       ///< of the inputs of the whole graph
  std::vector<Box> constants;    ///< of `captures`
  std::vector<Tensor> captures;  ///< whole, with one position of an axis along which they repeat
  /// Operations that take all of an axis of what is cut, "sum, net.cpp:31": why a box may be wide.
  std::vector<std::string> sweeps;
  /// Cuts `inputs` (boxes already) and the captures to what `graph` takes.
  std::vector<Tensor> operands(const std::vector<Tensor>& boxes) const;
};

/// What computes box `wanted` of the only result of g. Inputs that are not `cut` stay whole, and so
/// does what is computed of these alone by operations without a rule. Throws Error, naming the
/// operation and its line, where one that depends on a cut input has no rule for boxes; and for
/// captures that are traced.
Cut cut(const Graph& g, const Box& wanted, const std::vector<bool>& cut_inputs);

}  // namespace tessera
