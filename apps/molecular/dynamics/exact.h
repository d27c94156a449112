// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "molecular/dynamics/case.h"

namespace tessera::apps::dynamics {

/// Energies, forces and virial in sums of doubles, for single points and reruns: many times slower
/// than what runs take, whose contributions are rounded to 2^-32 kJ/mol each.
mol::ForceFunction exact_forces(const mol::System& system, const mol::Nonbonded& options,
                                const mol::Box& box);

}  // namespace tessera::apps::dynamics
