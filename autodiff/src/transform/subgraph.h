// SPDX-License-Identifier: Apache-2.0
//
// What primitives that hold graphs share.
#pragma once
#include "tessera/autodiff/grad.h"

namespace tessera::detail {

/// A graph whose traced captures were turned into inputs: inputs, then those captures.
struct Closed {
  Graph graph;
  std::vector<Tensor> captured;
};
Closed close(Graph g);

/// The function of an equation that is a call of one with a rule of its own: its graph, whose
/// inputs are the first operands; null if the equation is none.
const Graph* called_by(const Graph::Equation& e);
/// g for running alone, where rules of derivatives have done their work: in place of each such call
/// the operations of its function.
Graph with_calls_opened(const Graph& g);

Types types_of(std::span<const Tensor> x);
Types output_types(const Graph& g);

/// `g` over a batch, recorded anew: its inputs, of types `in`, are those of `g`, batched where
/// flagged; all outputs are batched.
Graph batched_graph(const Graph& g, const Types& in, const std::vector<bool>& flags, Index size);

}  // namespace tessera::detail
