// SPDX-License-Identifier: Apache-2.0
//
// The periodic cell. Rows of `edge` are its vectors a, b, c [nm], a along x and b in the xy plane:
//
//       | ax  0   0  |
//   h = | bx  by  0  |      x = s h   (s: fractions, a row)
//       | cx  cy  cz |
//
// reduced so that |bx| <= ax/2, |cx| <= ax/2, |cy| <= by/2 (GROMACS reference manual, "Periodic
// boundary conditions"), to 1e-4 of ax and by: edges at the limit, of hexagonal cells, rhombic
// dodecahedra and truncated octahedra, stay those of the file, however it rounds. Of all images of
// a point the one with every fraction in [-1/2, 1/2) is within a distance r of the origin if any
// is, as long as r is at most half of the smallest width: pair forces need no list of images.
#pragma once
#include <array>

namespace tessera::molecular {

using Vec3 = std::array<double, 3>;

struct Box {
  std::array<Vec3, 3> edge{};  ///< all zero: no periodicity
  bool operator==(const Box&) const = default;
};

bool is_periodic(const Box& box);
/// A box with right angles, of edge lengths [nm].
Box rectangular_box(const Vec3& lengths_nm);
/// From edge lengths [nm] and the angles alpha = (b, c), beta = (a, c), gamma = (a, b) [degree],
/// reduced. Throws Error where no cell has these angles.
Box box_of_angles(const Vec3& lengths_nm, const Vec3& angles_deg);
/// From any three vectors, turned so that they are lower triangular; `rotation` (if given) takes
/// the rows of the old frame into the new one: x' = rotation x. Throws Error where they do not span
/// space.
Box box_of_vectors(const std::array<Vec3, 3>& edge_nm, std::array<Vec3, 3>* rotation = nullptr);
/// The same lattice with edges as short as the triangular form allows.
Box reduced(const Box& box);
/// The same lattice with edges as near to those of another box: of frames of one run those edges
/// that belong together, where a ratio passes the limit of the reduced form.
Box reduced_like(const Box& box, const Box& other);

Vec3 lengths_nm(const Box& box);
Vec3 angles_deg(const Box& box);
double volume_nm3(const Box& box);
/// Distance of opposite faces, along a, b, c; a cut-off may be at most half of the smallest.
Vec3 widths_nm(const Box& box);

/// s with x = s h.
Vec3 fractions(const Box& box, const Vec3& x);
Vec3 from_fractions(const Box& box, const Vec3& s);
/// The image of the displacement d whose fractions lie in [-1/2, 1/2); d itself in a box without
/// periodicity.
Vec3 wrapped(const Box& box, const Vec3& d);
/// The shortest image of the displacement d, for any lattice.
Vec3 shortest(const Box& box, const Vec3& d);

}  // namespace tessera::molecular
