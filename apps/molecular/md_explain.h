// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "molecular/md_case.h"

#include <string>
#include <vector>

namespace tessera::apps::md {

/// Two atoms that lie closer than any force can part, unless the force field leaves them out: the closest such pair.
struct Overlap {
  std::int32_t a = 0, b = 0;
  double distance_nm = 0;
};
std::optional<Overlap> find_overlap(const mol::System& system, const mol::Frame& frame);

/// Lines on what pulls at an atom: its terms, the largest forces first, and its neighbours with their distances and energies.
std::vector<std::string> explain_atom(const mol::System& system, const mol::Frame& frame, std::int32_t atom);

/// The atom with the largest force.
std::int32_t most_pulled(const mol::Forces& forces);

}  // namespace tessera::apps::md
