// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/box.h"

#include "base/units.h"
#include "base/vec.h"
#include "system/reach.h"
#include "tessera/autodiff/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tessera::molecular {
namespace {

/// What the roundings of files may take a ratio of edges beyond 1/2: 5e-6 nm of .gro, 1e-4 nm and
/// 0.005 degrees of CRYST1.
constexpr double limit_rounding = 1e-4;

double norm(const Vec3& a) { return std::sqrt(dot(a, a)); }
void subtract(Vec3& a, double n, const Vec3& b) {
  for (std::size_t k = 0; k < 3; ++k) a[k] -= n * b[k];
}
/// Of an edge the part along an edge before it, which a whole number of these may be taken from.
double ratio_of(const Box& box, std::size_t i, std::size_t k) {
  return box.edge[i][k] / box.edge[k][k];
}
/// `multiples(i, k, ratio)` of edge k taken from edge i.
Box with_multiples_off(Box box, auto&& multiples) {
  if (!is_periodic(box)) return box;
  for (const auto& [i, k] : {std::pair<std::size_t, std::size_t>{2, 1}, {2, 0}, {1, 0}})
    subtract(box.edge[i], multiples(i, k, ratio_of(box, i, k)), box.edge[k]);
  return box;
}

}  // namespace

bool is_periodic(const Box& box) { return box.edge[0][0] != 0; }

Box rectangular_box(const Vec3& lengths_nm) {
  return {{{{lengths_nm[0], 0, 0}, {0, lengths_nm[1], 0}, {0, 0, lengths_nm[2]}}}};
}

Box box_of_angles(const Vec3& l, const Vec3& angles) {
  const auto cosine = [](double deg) { return deg == 90 ? 0.0 : std::cos(deg * degree); };
  const double ca = cosine(angles[0]), cb = cosine(angles[1]), cg = cosine(angles[2]),
               sg = std::sqrt(1 - cg * cg);
  const double cy = (ca - cb * cg) / sg, cz2 = 1 - cb * cb - cy * cy;
  if (!(l[0] > 0 && l[1] > 0 && l[2] > 0 && std::max({l[0], l[1], l[2]}) <= farthest_nm && sg > 0 &&
        cz2 > 0))
    throw Error(fmt::format(
        "[box] no cell has edges {:g}, {:g}, {:g} nm and angles {:g}, {:g}, {:g} degrees: lengths "
        "must be "
        "positive and at most a millimetre, every angle less than the sum of the other two",
        l[0], l[1], l[2], angles[0], angles[1], angles[2]));
  return reduced(
      {{{{l[0], 0, 0}, {l[1] * cg, l[1] * sg, 0}, {l[2] * cb, l[2] * cy, l[2] * std::sqrt(cz2)}}}});
}

Box box_of_vectors(const std::array<Vec3, 3>& e, std::array<Vec3, 3>* rotation) {
  // Gram-Schmidt: the rows of q are the new axes.
  std::array<Vec3, 3> q{};
  Box box;
  for (std::size_t i = 0; i < 3; ++i) {
    Vec3 v = e[i];
    for (std::size_t j = 0; j < i; ++j) {
      box.edge[i][j] = dot(e[i], q[j]);
      subtract(v, dot(v, q[j]), q[j]);
    }
    const double length = norm(v);
    if (!(length > 1e-10 * norm(e[i])))
      throw Error("[box] the three edge vectors do not span space");
    for (std::size_t k = 0; k < 3; ++k) q[i][k] = v[k] / length;
    box.edge[i][i] = length;
  }
  const Vec3 cross = {q[0][1] * q[1][2] - q[0][2] * q[1][1], q[0][2] * q[1][0] - q[0][0] * q[1][2],
                      q[0][0] * q[1][1] - q[0][1] * q[1][0]};
  if (dot(cross, q[2]) < 0)
    throw Error("[box] the edge vectors are left-handed: exchange two of them");
  if (rotation) *rotation = q;
  return reduced(box);
}

Box reduced(const Box& box) {
  return with_multiples_off(box, [](std::size_t, std::size_t, double ratio) {
    return std::copysign(std::max(std::ceil(std::abs(ratio) - 0.5 - limit_rounding), 0.0), ratio);
  });
}

Box reduced_like(const Box& box, const Box& other) {
  return with_multiples_off(box, [&](std::size_t i, std::size_t k, double ratio) {
    return std::round(ratio - ratio_of(other, i, k));
  });
}

Vec3 lengths_nm(const Box& box) {
  return {norm(box.edge[0]), norm(box.edge[1]), norm(box.edge[2])};
}
Vec3 angles_deg(const Box& box) {
  const auto angle = [&](std::size_t i, std::size_t j) {
    const double c = dot(box.edge[i], box.edge[j]) / (norm(box.edge[i]) * norm(box.edge[j]));
    return c == 0 ? 90.0 : std::acos(std::clamp(c, -1.0, 1.0)) / degree;
  };
  return {angle(1, 2), angle(0, 2), angle(0, 1)};
}
double volume_nm3(const Box& box) { return box.edge[0][0] * box.edge[1][1] * box.edge[2][2]; }

Vec3 widths_nm(const Box& box) {
  // Volume over the area of the face; the face opposite to c is |a x b| = ax by.
  const auto& [a, b, c] = box.edge;
  const Vec3 bc = {b[1] * c[2], -b[0] * c[2], b[0] * c[1] - b[1] * c[0]},
             ac = {0, -a[0] * c[2], a[0] * c[1]};
  const double v = volume_nm3(box);
  return {v / norm(bc), v / norm(ac), c[2]};
}

Vec3 fractions(const Box& box, const Vec3& x) {
  const auto& h = box.edge;
  Vec3 s;
  s[2] = x[2] / h[2][2];
  s[1] = (x[1] - s[2] * h[2][1]) / h[1][1];
  s[0] = (x[0] - s[1] * h[1][0] - s[2] * h[2][0]) / h[0][0];
  return s;
}
Vec3 from_fractions(const Box& box, const Vec3& s) {
  const auto& h = box.edge;
  return {s[0] * h[0][0] + s[1] * h[1][0] + s[2] * h[2][0], s[1] * h[1][1] + s[2] * h[2][1],
          s[2] * h[2][2]};
}

Vec3 wrapped(const Box& box, const Vec3& d) {
  if (!is_periodic(box)) return d;
  Vec3 r = d;
  const Vec3 s = fractions(box, d);
  for (std::size_t k = 0; k < 3; ++k) subtract(r, std::floor(s[k] + 0.5), box.edge[k]);
  return r;
}

Vec3 shortest(const Box& box, const Vec3& d) {
  if (!is_periodic(box)) return d;
  const Vec3 w = wrapped(box, d);
  Vec3 best = w;
  for (int i = -1; i <= 1; ++i)
    for (int j = -1; j <= 1; ++j)
      for (int k = -1; k <= 1; ++k) {
        Vec3 r = w;
        subtract(r, i, box.edge[0]);
        subtract(r, j, box.edge[1]);
        subtract(r, k, box.edge[2]);
        if (dot(r, r) < dot(best, best)) best = r;
      }
  return best;
}

}  // namespace tessera::molecular
