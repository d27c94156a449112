// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/electromagnetics/yee_grid.h"

#include <array>

namespace tessera::electromagnetics::circuits {

inline Edge edge_at(int component, const std::array<int, 3>& at) {
  return {static_cast<std::uint8_t>(component), at[0], at[1], at[2]};
}

}  // namespace tessera::electromagnetics::circuits
