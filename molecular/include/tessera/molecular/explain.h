// SPDX-License-Identifier: Apache-2.0
//
// Why a system does not move as it should: what is wrong with positions, and what pulls at an atom.
// Slow passes, for messages.
#pragma once
#include "tessera/molecular/forces.h"
#include "tessera/molecular/system.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tessera::molecular {

/// Two atoms that repel each other beyond what forces can be kept in (2e9 kJ/mol/nm), unless the
/// force field leaves them out: the closest such pair.
struct Overlap {
  std::int32_t a = 0, b = 0;
  double distance_nm = 0;
};
std::optional<Overlap> find_overlap(const System& system, const Frame& frame);

/// Lines on what pulls at an atom: its terms, the largest forces first, and its neighbours with
/// their distances and energies.
std::vector<std::string> explain_atom(const System& system, const Frame& frame, std::int32_t atom);

/// How many times too long bonds are, between heavy atoms if there are such, where their median
/// looks like a unit: 10 or 0.1; 1 else.
double wrong_unit(const System& system, const Frame& frame);

/// The atom that lies farthest from where it was, and how far; one without a position goes first.
std::pair<std::int32_t, double> farthest_moved(const Frame& from, const Frame& to);

/// The atom with the largest force.
std::int32_t most_pulled(const Forces& forces);

}  // namespace tessera::molecular
