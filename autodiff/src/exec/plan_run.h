// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/jit.h"

namespace tessera {

/// Runs of one plan, one after the other, on memory of the caller: contiguous inputs and outputs,
/// which must not overlap.
class Plan::Run {
 public:
  explicit Run(const Plan& plan);
  ~Run();
  Run(const Run&) = delete;
  void operator()(const std::byte* const* in, std::byte* const* out);

 private:
  struct Memory;
  const Body& body_;
  std::unique_ptr<Memory> memory_;
};

}  // namespace tessera
