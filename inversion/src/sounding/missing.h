// SPDX-License-Identifier: Apache-2.0
// What stands in for a number that a file does not give.
#pragma once
#include "tessera/inversion/sounding.h"

#include <limits>

namespace tessera::inversion {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr Complex kMissing{kNaN, kNaN};

}  // namespace tessera::inversion
