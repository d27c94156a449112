// SPDX-License-Identifier: Apache-2.0
//
// A section through the earth: the (y, z) plane, y along the profile and z down, in m, cut into
// triangles or quadrilaterals. Corners of a cell turn from y towards z. Cells say which resistivity
// they have: a number of the model, or one that is given; air is what is infinitely resistive.
//
//   Mesh2d m = tensor_mesh(y, z, {0}, [](double, double z) {
//     return z < 0 ? air() : Medium2d{.parameter = 0};
//   });
//   m = bent(m, {{-1e5, nullptr}, {0, ground}, {1e5, nullptr}});   // the ground where z was 0
//   m = refined(triangles_of(m), wanted);                          // nested bisection
#pragma once
#include "tessera/autodiff/tensor.h"

#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace tessera::inversion {

/// What fills a cell: resistivity number `parameter` of a model or, where that is -1, `ohm_m`.
struct Medium2d {
  Index parameter = -1;
  double ohm_m = std::numeric_limits<double>::infinity();
  bool is_air() const { return parameter < 0 && ohm_m == std::numeric_limits<double>::infinity(); }
  bool operator==(const Medium2d&) const = default;
};
inline Medium2d air() { return {}; }

struct Mesh2d {
  int corners = 4;               ///< of a cell: 3 or 4
  std::vector<double> y, z;      ///< of the vertices, m
  std::vector<Index> cell;       ///< [cells, corners]: vertices
  std::vector<Medium2d> medium;  ///< [cells]
  /// Vertices along lines of edges, from the left side to the right one with y rising: the ground,
  /// the sea floor, whatever else sensors stand on.
  std::vector<std::vector<Index>> lines;

  Index cells() const { return static_cast<Index>(medium.size()); }
  Index vertices() const { return static_cast<Index>(y.size()); }
  /// Resistivities a model has: the largest parameter and one.
  Index parameters() const;
  std::pair<double, double> middle(Index c) const;  ///< mean of the corners
};
/// Throws Error, naming cell, vertex or line, where a mesh is not what this page says: numbers out
/// of range, a cell that turns the other way or has no area, a side that is not upright, a line
/// that leaves the edges or does not go from side to side.
void require_mesh(const Mesh2d& mesh);

using MediumAt = std::function<Medium2d(double y, double z)>;
/// Quadrilaterals between rising `y` and rising `z`, row by row from the top, y fastest; each has
/// the medium at its middle. `lines` are values of z; each must be one of `z` (to 1e-9 of their
/// range).
Mesh2d tensor_mesh(std::span<const double> y, std::span<const double> z,
                   std::span<const double> lines, const MediumAt& medium);

/// Depth below which a level of a mesh that was flat comes to lie.
struct Level2d {
  double z = 0;                                     ///< where it was
  std::function<double(double y)> depth = nullptr;  ///< where it goes; nullptr: it stays
};
/// Moves vertices up and down so that each level lies where it says, linear between levels (given
/// from the top down, the first and last at or beyond the mesh). Parameters stay with their cells.
Mesh2d bent(Mesh2d mesh, const std::vector<Level2d>& levels);

/// The depth of a line through points with rising y, linear between them and level beyond, for a
/// Level2d: heights of a survey, columns of a CSV file (data/csv_numbers.h).
std::function<double(double y)> depth_through(std::vector<double> y, std::vector<double> depth);

/// Each quadrilateral cut along its shorter diagonal.
Mesh2d triangles_of(const Mesh2d& mesh);

/// Triangles halved through their longest edge until no cell is `wanted`, neighbours with them
/// where the mesh would not fit otherwise (Rivara 1984, doi:10.1002/nme.1620200412). New cells lie
/// inside of old ones, with their medium; `parent`, where given, gets the old cell of each new one.
Mesh2d refined(const Mesh2d& mesh, const std::vector<bool>& wanted,
               std::vector<Index>* parent = nullptr);
/// The same again and again until every cell's longest edge is at most size(y, z) at its middle.
/// Throws Error beyond `most` cells.
Mesh2d refined_to(Mesh2d mesh, const std::function<double(double y, double z)>& size,
                  Index most = 1'000'000);

/// Rising values from the first of `through` to the last by all of them, with steps of about
/// size(x), never longer but for its changes within a step. Throws Error beyond `most` values.
std::vector<double> graded_axis(const std::vector<double>& through,
                                const std::function<double(double x)>& size,
                                std::size_t most = 1'000'000);

}  // namespace tessera::inversion
