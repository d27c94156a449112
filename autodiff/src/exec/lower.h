// SPDX-License-Identifier: Apache-2.0
//
// From a graph to steps on memory. Every value is a view of a *root*: an argument, a constant, a
// block of the arena, or fresh memory for a result. Views (reshape, slice, ...) cost nothing at run
// time; layout.h says in what order the steps run and where in memory.
#pragma once
#include "layout.h"
#include "tessera/autodiff/graph.h"

namespace tessera::plan {

struct Lowered {
  std::vector<Step> steps;
  std::vector<Root> roots;
  std::vector<Tensor> constants;          ///< contiguous, or one element for all
  std::vector<AttributesPtr> attributes;  ///< keeps those of the steps alive
  std::vector<Type> argument_types;
  std::vector<Placed> outputs;
  std::size_t arena = 0, naive = 0;  ///< bytes, with and without reuse
};

/// `priced`: the steps say what they are made of and what it costs.
Lowered lower(const Graph& g, Index join_from, bool priced = false);

}  // namespace tessera::plan
