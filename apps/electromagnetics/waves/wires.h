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
