// SPDX-License-Identifier: Apache-2.0
//
// Wires beside a scheme: each step of theirs is followed by one of the fields.
#pragma once
#include "time_domain/wire_currents.h"

#include <cstdint>
#include <vector>

namespace tessera::electromagnetics::time_domain {

class WireRun {
 public:
  /// Takes the wires out of a model, and what is of them out of the lists; their edges are injected
  /// after all others.
  WireRun(YeeModel& model, std::vector<Injection>& sources, std::vector<Edge>& recorded);

  std::int64_t columns() const { return static_cast<std::int64_t>(recorded_.size()); }
  double sources_end_s() const;
  WireCurrents& currents() { return currents_; }
  const WireCurrents& currents() const { return currents_; }

  /// `given` [n, injected] of the other sources, or empty; `values` [n, columns()] of all that is
  /// recorded.
  template <class T>
  void advance(const YeeScheme& scheme, T* state, std::int64_t first, std::int64_t n,
               const std::vector<double>& given, double* values);

 private:
  std::vector<double> volts_of_sources(std::int64_t first, std::int64_t n) const;
  double dt_;
  WireCurrents currents_;
  std::vector<Injection> sources_;
  std::vector<Edge> recorded_;  ///< of the grid and of wires
};

}  // namespace tessera::electromagnetics::time_domain
