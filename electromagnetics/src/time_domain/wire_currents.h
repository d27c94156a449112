// SPDX-License-Identifier: Apache-2.0
//
// The state of a WireNetwork, and its step.
#pragma once
#include "tessera/electromagnetics/wire_network.h"

#include <memory>
#include <span>
#include <vector>

namespace tessera::electromagnetics::time_domain {

class WireCurrents {
 public:
  WireCurrents(std::shared_ptr<const WireNetwork> network, double dt_s);
  ~WireCurrents();
  WireCurrents(WireCurrents&&) noexcept;
  WireCurrents& operator=(WireCurrents&&) noexcept;

  const WireNetwork& network() const { return *network_; }
  /// Takes a step: `volts` [edges] E ds, V; `sources` [elements] V.
  void step(std::span<const double> volts, std::span<const double> sources);
  /// [edges] A, after a step.
  void currents(std::span<double> edges) const;
  /// Of an element, of the last step.
  double current(std::size_t element) const;
  double voltage(std::size_t element) const;
  double energy_j() const;

  /// All that a run goes on from.
  std::vector<double> state() const;
  /// Throws Error where it is of another network.
  void restore(const std::vector<double>& state);

 private:
  struct Impl;
  std::shared_ptr<const WireNetwork> network_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera::electromagnetics::time_domain
