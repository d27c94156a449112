// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/electromagnetics/geometry.h"

namespace tessera::electromagnetics::detail {

/// Of length one; components that are rounding errors become zero. Throws Error for a vector
/// without length.
Point normalised(const Point& a, const char* operation, const char* what);
/// The part of the polarization across the unit vector u, of length one. Throws Error where there
/// is none.
Point transverse(const Point& polarization, const Point& u, const char* operation);

}  // namespace tessera::electromagnetics::detail
