// SPDX-License-Identifier: Apache-2.0
//
// The other ranks that hold a part of what this one adds up, compares and decides. What goes over
// them does not depend on who holds what: sums are of whole numbers. All ranks make the same calls
// in the same order; where one of them has failed (`give_up`), the call that the others are at, or
// come to next, throws what it said.
#pragma once
#include "tessera/autodiff/error.h"

#include <cstdint>
#include <span>
#include <string>

namespace tessera::parallel {
class Communicator;
}

namespace tessera::molecular {

/// What all ranks throw when one of them has given up.
struct OneGaveUp : Error {
  using Error::Error;
};

class Others {
 public:
  __extension__ using Wide = __int128;

  Others() = default;  ///< there are none
  explicit Others(parallel::Communicator& c) : c_(&c) {}
  bool none() const { return c_ == nullptr; }

  /// Whether it is so on every rank.
  bool all(bool mine) const;
  double largest(double mine) const;
  /// In place of each value its sum over all ranks.
  void add(std::span<Wide> values) const;
  /// This rank cannot go on. Throws OneGaveUp on all ranks.
  [[noreturn]] void give_up(const std::string& why) const;

 private:
  template <class F>
  void each(std::span<const std::byte> mine, F&& f) const;
  parallel::Communicator* c_ = nullptr;
};

}  // namespace tessera::molecular
