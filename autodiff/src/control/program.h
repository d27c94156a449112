// SPDX-License-Identifier: Apache-2.0
//
// A graph made ready to run many times on memory of the caller: as register code where every value
// is one element, as a plan otherwise.
#pragma once
#include "tessera/autodiff/graph.h"

#include <memory>

namespace tessera::detail {

class Program {
 public:
  /// One run in flight: own memory for intermediate results. Inputs and outputs are contiguous, in
  /// the order of the graph; no output may overlap an input.
  class Run {
   public:
    virtual ~Run() = default;
    virtual void operator()(const std::byte* const* in, std::byte* const* out) = 0;
  };
  virtual ~Program() = default;
  virtual std::unique_ptr<Run> start() const = 0;
};

std::unique_ptr<const Program> compile(const Graph& g);
/// Null unless every value of g is one element of a real type.
std::unique_ptr<const Program> compile_scalar(const Graph& g);

}  // namespace tessera::detail
