// SPDX-License-Identifier: Apache-2.0
//
// Round wires of perfect conductor that are thinner than a cell and run anywhere: straight pieces
// in any direction, with currents I of their segments and charges Q of their nodes beside the
// fields (R. Holland, L. Simpson, IEEE Trans. EMC 23 (1981) 88):
//
//   M dI/dt = integral of E along each segment - grad(S Q) - R I + V,    dQ/dt = -div I.
//
// E comes from the edges about a wire by quadratic splines, and the same weights give I back to
// them. As d B2/dx is a difference of B1, the charge that the currents leave on the grid is that of
// the nodes, spread by B2. What the grid carries of a wire is then known exactly: on an even grid
// the potential of a charge, and that of each component of a current, is the lattice's own. The
// matrices
//
//   M = M_wires - M_grid,   S = S_wires - S_grid
//
// are what is missing to those that the method of moments has for round wires (pulses of current on
// segments, of charge about nodes): the near field is that method's, whatever the direction and
// the place among cells, and the far field is the grid's (docs/decisions/0217).
//
// R. F. Harrington, Field Computation by Moment Methods (1968); wires in any direction: F. Edelvik,
// IEEE Trans. EMC 45 (2003) 416; with junctions: C. Guiffaut, A. Reineix, B. Pecqueux, IEEE Trans.
// Antennas Propag. 60 (2012) 1458.
//
// Both are positive definite for wires thinner than a third of a cell, so that the energy
// I M I / 2 + Q S Q / 2 and that of the fields are kept together.
#pragma once
#include "tessera/electromagnetics/thin_wire.h"
#include "tessera/electromagnetics/wire_network.h"
#include "tessera/electromagnetics/yee_scheme.h"

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tessera::electromagnetics {

/// Whether all pieces of a wire run along lines of the grid and bend at its nodes, as thin_wire.h
/// wants them.
bool runs_on_lines(const ThinWire& wire, const YeeGrid& grid);
/// The wires, by their numbers, that run freely, and all that are joined to one of them: of wires
/// that meet in a point of either all are of one kind.
std::vector<std::size_t> free_wires(std::span<const ThinWire> wires, const YeeGrid& grid);

/// Where an element lies, with the direction of the wire there.
struct WirePlace {
  std::size_t wire = 0, piece = 0;
  double share = 0;  ///< of the piece, from its first point on
  double distance_m = 0;
  Point direction{};
};
/// Within so much of a cell an element lies on a wire.
inline constexpr double on_free_wire = 0.05;
/// The point of the wires that is nearest to `p`.
WirePlace place_on_wires(std::span<const ThinWire> wires, const Point& p);

/// What is wrong with an element.
struct ElementFault : Error {
  ElementFault(std::size_t of, const std::string& message) : Error(message), element(of) {}
  std::size_t element;  ///< its number
};

/// Of wires on an even stretch of a model's grid, in one medium without loss; at walls and mirrors
/// they end or go by as their images want it. `layers`: cells of absorbing layers at the low and
/// the high face of each axis. Throws WireFault, or ElementFault for an element off the wires.
std::shared_ptr<const WireNetwork> wire_network(const YeeModel& model,
                                                std::span<const ThinWire> wires,
                                                std::span<const WireElement> elements,
                                                const std::array<std::array<int, 2>, 3>& layers);

}  // namespace tessera::electromagnetics
