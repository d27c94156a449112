// SPDX-License-Identifier: Apache-2.0
//
// Currents and charges of wires that a TimeDomain steps beside the fields (free_wire.h makes them):
// I of segments at the times of h, Q of nodes at those of e.
//
//   M (I' - I)/dt = v - grad(S Q) - sum over elements of (R (I' + I)/2 + q/C - V),
//   Q' = Q - dt div I',   q' = q + dt I',   v = sum of shares times e,
//
// and then I' is injected into the edges by the same shares. All that a step takes from the wires
// the fields get, to rounding.
#pragma once
#include "tessera/electromagnetics/geometry.h"
#include "tessera/electromagnetics/time_domain.h"
#include "tessera/electromagnetics/waveform.h"
#include "tessera/electromagnetics/yee_grid.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tessera::electromagnetics {

/// R, L and C in series at a point of a wire, and the source that may drive them.
struct WireElement {
  Point position{};
  double resistance_ohm = 0, inductance_h = 0;
  std::optional<double> capacitance_f = {};
};

struct WireNetwork {
  std::vector<Edge> edges;  ///< of the grid, that the wires see
  /// Of an edge in the voltage of a segment, and of the segment's current in it; of a segment in an
  /// element.
  struct Share {
    std::int32_t of;
    double weight;
  };
  std::vector<std::vector<Share>> shares;         ///< [segments] of edges
  std::vector<std::array<std::int32_t, 2>> ends;  ///< [segments] nodes; -1: held by a wall
  std::int32_t n_nodes = 0;
  std::vector<double> inductance;  ///< [segments, segments] M, H, with L of elements
  std::vector<double> elastance;   ///< [nodes, nodes] S, 1/F
  struct Element {
    std::vector<Share> shares;  ///< of segments
    WireElement values;
  };
  std::vector<Element> elements;
};

/// What of a network is recorded, and what drives it, goes by edges of no grid, of which i is the
/// number of the element: currents, of the times of h; voltages between an element's ends, source
/// and all, of the times of e before that.
enum WireUnknown : std::uint8_t { wire_current = 6, wire_voltage = 7 };
constexpr bool is_of_wire(const Edge& e) { return e.component >= wire_current; }

/// The source of an element, with R, L and C behind it.
Injection wire_source(std::size_t element, const Waveform& volts, double dt_s);

}  // namespace tessera::electromagnetics
