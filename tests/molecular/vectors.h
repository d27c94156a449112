// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/molecular/box.h"

#include <cmath>

namespace tessera::molecular::testing {

inline Vec3 plus(const Vec3& a, const Vec3& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
inline Vec3 minus(const Vec3& a, const Vec3& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
inline double norm(const Vec3& a) { return std::sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]); }

}  // namespace tessera::molecular::testing
