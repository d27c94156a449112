// SPDX-License-Identifier: Apache-2.0
//
// A site's place is a formula of displacements from its first parent, on any number type: on jets it gives the derivatives by which a
// force on the site is spread.
#include "tessera/molecular/virtual_sites.h"

#include "bonded/geometry.h"
#include "jet.h"

#include <cmath>

namespace tessera::molecular {
namespace {

using Kind = VirtualSite::Kind;

int parents_of(Kind kind) { return kind == Kind::linear2 || kind == Kind::fixed2 ? 2 : kind == Kind::normal4 ? 4 : 3; }

template <class T>
Vec<T> sum(const Vec<T>& a, const Vec<T>& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
template <class T>
Vec<T> unit(const Vec<T>& a) {
  using std::sqrt;
  return scaled(a, T(1.0) / sqrt(dot(a, a)));
}

/// The site from the first parent, by the displacements r[k] of the parents from it (r[0] = 0).
template <class T>
Vec<T> offset(const VirtualSite& v, const std::array<Vec<T>, 4>& r) {
  const auto& w = v.weights;
  switch (v.kind) {
    case Kind::linear2: return scaled(r[1], T(w[0]));
    case Kind::linear3: return sum(scaled(r[1], T(w[0])), scaled(r[2], T(w[1])));
    case Kind::fixed2: return scaled(unit(r[1]), T(w[0]));
    case Kind::fixed3: return scaled(unit(sum(r[1], scaled(difference(r[2], r[1]), T(w[1])))), T(w[0]));
    case Kind::angle3: {
      const Vec<T> along = unit(r[1]), jk = difference(r[2], r[1]), across = difference(jk, scaled(along, dot(along, jk)));
      return sum(scaled(along, T(w[0] * std::cos(w[1]))), scaled(unit(across), T(w[0] * std::sin(w[1]))));
    }
    case Kind::cross3: return sum(sum(scaled(r[1], T(w[0])), scaled(r[2], T(w[1]))), scaled(cross(r[1], r[2]), T(w[2])));
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
      const Vec<T> ja = difference(scaled(r[2], T(w[0])), r[1]), jb = difference(scaled(r[3], T(w[1])), r[1]);
      return scaled(unit(cross(ja, jb)), T(w[2]));
    }
  }
  return {};
}

std::array<Vec3, 4> displacements(const VirtualSite& v, const std::vector<Vec3>& x, const Box& box) {
  std::array<Vec3, 4> r{};
  const Vec3& from = x[static_cast<std::size_t>(v.parents[0])];
  for (std::size_t k = 1; k < static_cast<std::size_t>(parents_of(v.kind)); ++k)
    r[k] = wrapped(box, difference(x[static_cast<std::size_t>(v.parents[k])], from));
  return r;
}

}  // namespace

void place_virtual_sites(const System& system, std::vector<Vec3>& x, const Box& box) {
  for (const VirtualSite& v : system.virtual_sites)
    x[static_cast<std::size_t>(v.site)] = sum(x[static_cast<std::size_t>(v.parents[0])], offset(v, displacements(v, x, box)));
}

void spread_virtual_forces(const System& system, const std::vector<Vec3>& x, const Box& box, std::vector<Vec3>& f, std::array<Vec3, 3>& virial) {
  using J = Jet<double, 9>;
  for (auto v = system.virtual_sites.rbegin(); v != system.virtual_sites.rend(); ++v) {  // sites may be parents of later ones
    const std::array<Vec3, 4> r = displacements(*v, x, box);
    std::array<Vec<J>, 4> moving;
    for (std::size_t k = 0; k < 4; ++k)
      for (std::size_t c = 0; c < 3; ++c) moving[k][c] = k == 0 ? J(0.0) : J::variable(r[k][c], static_cast<int>(3 * (k - 1) + c));
    const Vec<J> place = offset(*v, moving);
    Vec3& site = f[static_cast<std::size_t>(v->site)];
    Vec3 rest = site;
    for (std::size_t k = 1; k < static_cast<std::size_t>(parents_of(v->kind)); ++k) {
      Vec3 given{};
      for (std::size_t c = 0; c < 3; ++c) {
        for (std::size_t a = 0; a < 3; ++a) given[c] += site[a] * place[a].d[3 * (k - 1) + c];
        rest[c] -= given[c];
        f[static_cast<std::size_t>(v->parents[k])][c] += given[c];
      }
      for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t b = 0; b < 3; ++b) virial[a][b] += r[k][a] * given[b];
    }
    for (std::size_t a = 0; a < 3; ++a) {
      f[static_cast<std::size_t>(v->parents[0])][a] += rest[a];
      for (std::size_t b = 0; b < 3; ++b) virial[a][b] -= place[a].v * site[b];
    }
    site = {};
  }
}

}  // namespace tessera::molecular
