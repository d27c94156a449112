// SPDX-License-Identifier: Apache-2.0
// Thin wires of a case.
#pragma once
#include "electromagnetics/waves/case.h"
#include "tessera/electromagnetics/thin_wire.h"

#include <vector>

namespace tessera::apps::waves {

/// Those of the case, in its order.
std::vector<electromagnetics::ThinWire> wires_of(const Case& c);
/// Edges of ports and loads that are lines: where one goes on from a wire it carries its current.
std::vector<electromagnetics::Edge> edges_of_elements(const Case& c);
/// Whether a lumped port is in line with a wire that it takes a piece of, or that begins at it.
bool lies_in_wire(const Case& c, const PortOptions& port);

}  // namespace tessera::apps::waves
