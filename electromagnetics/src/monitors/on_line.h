// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tessera::electromagnetics::detail {

/// A side this near to a line of the grid, in cells or domains, lies on it: the rest is rounding.
inline constexpr double on_line = 1e-9;

}  // namespace tessera::electromagnetics::detail
