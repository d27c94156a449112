// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <numbers>

namespace tessera::electromagnetics {
inline constexpr double two_pi = 2 * std::numbers::pi;                // omega = two_pi f
inline constexpr double kHzPerEv = 1.602176634e-19 / 6.62607015e-34;  // e/h, exact in the SI
}  // namespace tessera::electromagnetics
