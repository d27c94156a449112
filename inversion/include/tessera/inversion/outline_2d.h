// SPDX-License-Identifier: Apache-2.0
//
// Sections given by their outlines: points, straight segments between them (the ground, a sea
// floor, faults, bodies), and what fills the regions they bound. Triangles of them are made by
// CGAL's Mesh_2 (L. Rineau's Delaunay refinement after J. Ruppert 1995,
// doi:10.1006/jagm.1995.1021), which is under the GNU GPL and so lives in a plug-in of its own.
//
//   const Outline2d o = read_poly(text);                     // Triangle's and MARE2DEM's .poly
//   Mesh2d m = triangles_of(o, {media of the regions}, {.size = [](double y, double z) { ... }});
//   m.lines = {line_between(m, [&](Index c) { return m.medium[c].is_air(); })};   // the ground
#pragma once
#include "tessera/inversion/mesh_2d.h"

#include <array>
#include <functional>
#include <string>
#include <vector>

namespace tessera::inversion {

struct Outline2d {
  std::vector<double> y, z;                    ///< points, m, z down
  std::vector<std::array<Index, 2>> segments;  ///< points; they may meet at points only
  struct Seed {
    double y, z;
    Index region;
  };
  std::vector<Seed> seeds;  ///< a point inside of each region, and the region's number from 0
};
/// Triangle's .poly: points, segments, holes (refused), regions, whose attribute is their number
/// from 1. `name` is for messages. Throws data::InputError E0365, with line and column, for what it
/// cannot read and for a segment without length.
Outline2d read_poly(const std::string& text, const std::string& name = ".poly");
/// The same file; numbers are the shortest that read back to the same bits. Markers of points and
/// segments are not kept.
std::string poly_text(const Outline2d& outline);

struct OutlineMeshOptions {
  /// Longest edge wanted at (y, z), m; nullptr: angles alone.
  std::function<double(double y, double z)> size = nullptr;
  double least_angle_deg = 25;  ///< at most 33; angles between segments may be smaller
};
/// Every segment becomes edges. Throws Error where the plug-in is not there, all points lie on one
/// line, a segment has no length, a seed lies outside, a region has no seed or two of different
/// numbers, or a number has no medium.
Mesh2d triangles_of(const Outline2d& outline, const std::vector<Medium2d>& of_region,
                    const OutlineMeshOptions& options = {});
/// Whether triangles of outlines can be made here; otherwise why not.
bool outlines_available(std::string* why_not = nullptr);

/// Vertices along the edges between cells that are `above` and cells that are not, from the left
/// side to the right one. Throws Error where these edges are not one such line.
std::vector<Index> line_between(const Mesh2d& mesh, const std::function<bool(Index cell)>& above);

}  // namespace tessera::inversion
