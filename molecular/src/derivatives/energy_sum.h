// SPDX-License-Identifier: Apache-2.0
//
// Energies of common operands as one: gradients of all parts are added up in the same arrays, and
// the engine sees one operation.
#pragma once
#include "tessera/molecular/energy_function.h"

#include <vector>

namespace tessera::molecular {

struct EnergyPart {
  EnergyPtr energy;
  std::vector<std::size_t> operands;  ///< those of the sum that are its own, in its order
};
/// U = sum of parts at operands of the given shapes. A value keeps the gradients that the last
/// gradient asked for, as long as they are asked for.
EnergyPtr energy_sum(std::vector<tessera::Shape> shapes, std::vector<EnergyPart> parts);

}  // namespace tessera::molecular
