// SPDX-License-Identifier: Apache-2.0
//
// Wires as nodes and segments among the cells of a grid.
#pragma once
#include "tessera/electromagnetics/free_wire.h"
#include "wires/matrices.h"

#include <span>
#include <utility>
#include <vector>

namespace tessera::electromagnetics::wires {

struct Laid {
  Layout layout;
  /// [elements] segments and how much of the element each has.
  std::vector<std::vector<std::pair<std::int32_t, double>>> elements;
};
/// Throws WireFault, ElementFault.
Laid lay_out(const YeeModel& model, std::span<const ThinWire> wires,
             std::span<const WireElement> elements,
             const std::array<std::array<int, 2>, 3>& layers);

/// Whether points are the same to `near`, m.
bool same(const Point& a, const Point& b, double near);

}  // namespace tessera::electromagnetics::wires
