// SPDX-License-Identifier: Apache-2.0
// What a case may say of thin wires, [[wire]]. SI units. The keys and their documentation are in
// options_wires.cpp.
#pragma once
#include <array>
#include <string>
#include <vector>

namespace tessera::apps::waves {

/// A round wire of perfect conductor, thinner than a cell.
struct WireOptions {
  std::string name;
  std::vector<std::array<double, 3>> points;  ///< m
  double radius = 0;                          ///< m
};

}  // namespace tessera::apps::waves
