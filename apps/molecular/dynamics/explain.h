// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "molecular/dynamics/case.h"

#include <string>
#include <vector>

namespace tessera::apps::dynamics {

/// Two atoms that repel each other beyond what forces can be kept in (2e9 kJ/mol/nm), unless the
/// force field leaves them out: the closest such pair.
struct Overlap {
  std::int32_t a = 0, b = 0;
  double distance_nm = 0;
};
std::optional<Overlap> find_overlap(const mol::System& system, const mol::Frame& frame);

/// Lines on what pulls at an atom: its terms, the largest forces first, and its neighbours with
/// their distances and energies.
std::vector<std::string> explain_atom(const mol::System& system, const mol::Frame& frame,
                                      std::int32_t atom);

/// How many times too long bonds are, between heavy atoms if there are such, where their median
/// looks like a unit: 10 or 0.1; 1 else.
double wrong_unit(const mol::System& system, const mol::Frame& frame);

/// The atom that lies farthest from where it was, and how far; one without a position goes first.
std::pair<std::int32_t, double> farthest_moved(const mol::Frame& from, const mol::Frame& to);

/// The atom with the largest force.
std::int32_t most_pulled(const mol::Forces& forces);

}  // namespace tessera::apps::dynamics
