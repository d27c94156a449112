// SPDX-License-Identifier: Apache-2.0
// A case at other values of a parameter that moves R, L and C of its elements and nothing else.
#pragma once
#include "electromagnetics/waves/case.h"

#include <string>
#include <vector>

namespace tessera::apps::waves {

/// Free parameters that move circuits, and at most what waves refer to beside them.
std::vector<std::string> circuit_parameters(const Case& c);

/// The case at another value. Refers to what it is made of.
Case with_circuits_at(const Case& c, const data::Parameter& parameter, double value,
                      const data::Config& config);

/// Factors times what drives the same edges.
electromagnetics::Injection sum_of(std::vector<electromagnetics::Injection> terms,
                                   std::vector<double> factors);

/// The case about its own value, to second order.
struct CircuitMoves {
  electromagnetics::MediumDerivatives media;
  /// Of the first run's source: what it gains, to first order and to second; none where it stays.
  std::vector<electromagnetics::Injection> gained;
};
CircuitMoves circuit_moves(const Case& c, const data::Parameter& parameter,
                           const data::Config& config);

}  // namespace tessera::apps::waves
