// SPDX-License-Identifier: Apache-2.0
//
// A site's position as a formula of displacements from its first parent, on any number type:
// doubles give the position, dual numbers the derivatives by which a force on the site is spread,
// tensors both for all sites at once.
#pragma once
#include "base/vec.h"
#include "tessera/molecular/system.h"

#include <array>
#include <cmath>

namespace tessera::molecular {

inline std::size_t parents_of(VirtualSite::Kind kind) {
  using enum VirtualSite::Kind;
  return kind == linear2 || kind == fixed2 ? 2 : kind == normal4 ? 4 : 3;
}

template <class T>
Vec<T> unit(const Vec<T>& a) {
  using std::sqrt;
  return scaled(a, T(1.0) / sqrt(dot(a, a)));
}

/// The site from the first parent, by the displacements r[k] of the parents from it (r[0] = 0) and
/// its weights.
template <class T, class W>
Vec<T> site_offset(VirtualSite::Kind kind, const std::array<W, 12>& w,
                   const std::array<Vec<T>, 4>& r) {
  using Kind = VirtualSite::Kind;
  using std::cos, std::sin;
  switch (kind) {
    case Kind::linear2:
      return scaled(r[1], T(w[0]));
    case Kind::linear3:
      return sum(scaled(r[1], T(w[0])), scaled(r[2], T(w[1])));
    case Kind::fixed2:
      return scaled(unit(r[1]), T(w[0]));
    case Kind::fixed3:
      return scaled(unit(sum(r[1], scaled(difference(r[2], r[1]), T(w[1])))), T(w[0]));
    case Kind::angle3: {
      const Vec<T> along = unit(r[1]), jk = difference(r[2], r[1]),
                   across = difference(jk, scaled(along, dot(along, jk)));
      return sum(scaled(along, T(w[0] * cos(w[1]))), scaled(unit(across), T(w[0] * sin(w[1]))));
    }
    case Kind::cross3:
      return sum(sum(scaled(r[1], T(w[0])), scaled(r[2], T(w[1]))),
                 scaled(cross(r[1], r[2]), T(w[2])));
    case Kind::frame3: {
      Vec<T> origin = {T(0.0), T(0.0), T(0.0)}, x = origin, y = origin;
      for (std::size_t k = 0; k < 3; ++k) {
        origin = sum(origin, scaled(r[k], T(w[k])));
        x = sum(x, scaled(r[k], T(w[3 + k])));
        y = sum(y, scaled(r[k], T(w[6 + k])));
      }
      const Vec<T> ex = unit(x), ez = unit(cross(x, y)), ey = cross(ez, ex);
      return sum(origin, sum(scaled(ex, T(w[9])), sum(scaled(ey, T(w[10])), scaled(ez, T(w[11])))));
    }
    case Kind::normal4: {
      const Vec<T> ja = difference(scaled(r[2], T(w[0])), r[1]),
                   jb = difference(scaled(r[3], T(w[1])), r[1]);
      return scaled(unit(cross(ja, jb)), T(w[2]));
    }
  }
  return {};
}

}  // namespace tessera::molecular
