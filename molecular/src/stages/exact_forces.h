// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/molecular/forces.h"

namespace tessera::molecular {

/// Energies, forces and virial in sums of doubles, for single points and reruns: many times slower
/// than what runs take, whose contributions are rounded to 2^-32 kJ/mol each.
ForceFunction exact_forces(const System& system, const Nonbonded& options, const Box& box);

}  // namespace tessera::molecular
