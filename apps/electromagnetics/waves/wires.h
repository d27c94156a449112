// SPDX-License-Identifier: Apache-2.0
// Thin wires of a case.
#pragma once
#include "electromagnetics/waves/case.h"
#include "tessera/electromagnetics/free_wire.h"

#include <vector>

namespace tessera::apps::waves {

/// Wires of one kind, and their numbers in the case.
struct Wires {
  std::vector<electromagnetics::ThinWire> wires;
  std::vector<std::size_t> numbers;
};
/// Those on lines of the grid, which are metal there.
Wires wires_on_lines(const Case& c);
/// Those that run between lines, with currents of their own (free_wire.h).
Wires wires_between_lines(const Case& c);
/// Whether a port or load lies on one of these.
bool on_free_wire(const Case& c, const Point& position);
/// The number among the elements of Case::wires of a lumped port that lies on one.
std::size_t wire_element_of_port(const Case& c, std::size_t port);
/// Throws Error where a wire that lies on lines of the grid moves across itself: of metal on lines
/// there is no derivative in that, and off them it is of another kind.
void refuse_wires_off_lines(const Case& from, const Case& to);
/// Whether coordinates of a wire are the same whatever the grid: to 1e-9 of its extent, which is
/// beyond what rounding leaves of expressions.
bool same_coordinate(const WireOptions& wire, double a, double b);
/// Of the wire between lines that is nearest.
Point wire_direction(const Case& c, const Point& position);
/// Refuses a wire at its key.
[[noreturn]] void refuse_wire(const Case& c, const data::Config& config, std::size_t number,
                              const electromagnetics::WireFault& fault);
/// Edges of ports and loads that are lines: where one goes on from a wire it carries its current.
std::vector<electromagnetics::Edge> edges_of_elements(const Case& c);
/// Whether a lumped port is in line with a wire that it takes a piece of, or that begins at it.
bool lies_in_wire(const Case& c, const PortOptions& port);

}  // namespace tessera::apps::waves
