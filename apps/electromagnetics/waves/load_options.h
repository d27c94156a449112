// SPDX-License-Identifier: Apache-2.0
// What a case may say of lumped elements, [[load]]. SI units. The keys and their documentation are
// in options_loads.cpp.
#pragma once
#include <array>
#include <optional>
#include <string>

namespace tessera::apps::waves {

enum class CircuitChoice { series, parallel };
/// R, L and C between two terminals; what is not given is not there.
struct CircuitOptions {
  std::optional<double> resistance, inductance, capacitance;
  CircuitChoice circuit = CircuitChoice::series;
};

struct LoadOptions {
  std::string name;
  std::array<double, 3> position{}, size{};
  std::string axis;  ///< of the current
  CircuitOptions circuit;
};

}  // namespace tessera::apps::waves
