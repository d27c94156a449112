// SPDX-License-Identifier: Apache-2.0
//
// Which medium is where, and what fills a small box.
//
// Structures cover the background. Where several overlap, the one of higher priority is seen; at
// equal priority the later one.
#pragma once
#include "tessera/electromagnetics/geometry.h"
#include "tessera/electromagnetics/yee_grid.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tessera::electromagnetics {

/// Cells of a block's own lines, each of one medium.
struct Pixels {
  std::array<std::vector<double>, 3>
      lines;                         ///< rising, two at least; the outer ones may be infinite
  std::vector<std::int32_t> medium;  ///< x fastest

  int count(int axis) const { return static_cast<int>(lines[axis].size()) - 1; }
  std::int32_t at(const std::array<int, 3>& pixel) const {
    return medium[(static_cast<std::size_t>(pixel[2]) * count(1) + pixel[1]) * count(0) + pixel[0]];
  }
  /// The pixel that holds p, by the rule of geometry.h; the nearest one if p is outside.
  std::array<int, 3> around(const Point& p) const;
};

struct Structure {
  Shape shape;
  int medium = 0;  ///< index into the list of media
  int priority = 0;
  std::string name;
  /// What fills the shape, a box from the first of their lines to the last, instead of `medium`;
  /// null: nothing else. pixels.h makes such structures.
  std::shared_ptr<const Pixels> pixels = {};

  int medium_at(const Point& p) const { return pixels ? pixels->at(pixels->around(p)) : medium; }
};

/// Two media as one: permittivity, conductivity and susceptibilities (1 - density) of `empty` plus
/// density of `full`.
struct Blend {
  int empty = 0, full = 0;
  double density = 0;
};

struct Scene {
  std::vector<Structure> structures;
  int background = 0;
  /// Mixtures that structures are of. Medium first_blend + k is blends[k]; media before it are
  /// those that cases name (pixels.h, with_blends).
  std::vector<Blend> blends = {};
  int first_blend = 0;

  const Blend* blend_of(int medium) const {
    return blends.empty() || medium < first_blend
               ? nullptr
               : &blends[static_cast<std::size_t>(medium - first_blend)];
  }
  /// How many of so many media are no mixtures.
  std::size_t n_unmixed(std::size_t n_media) const {
    return blends.empty() ? n_media : static_cast<std::size_t>(first_blend);
  }
};

/// Throws Error, naming the structure, where the scene speaks of a medium that is not in 0 ...
/// n_media - 1.
void require_media(const Scene& scene, std::size_t n_media);

/// A scene made ready to be asked often: its structures from the top down.
class SceneOrder {
 public:
  explicit SceneOrder(Scene scene);
  const Scene& scene() const { return scene_; }
  /// Indices into scene().structures, the one that is seen first.
  const std::vector<std::size_t>& from_top() const { return from_top_; }
  /// Theirs, in the same order.
  const std::vector<Bounds>& bounds_from_top() const { return bounds_; }

 private:
  Scene scene_;
  std::vector<std::size_t> from_top_;
  std::vector<Bounds> bounds_;
};

/// The medium at a point; one on a surface by the rule of geometry.h.
int medium_at(const SceneOrder& scene, const Point& p);
int medium_at(const Scene& scene, const Point& p);

/// The part of a box that one medium fills.
struct Share {
  int medium;
  double fraction;
};

/// Where two media meet in a box. Areas are per volume of the box (1/m).
struct Interface {
  int inside, outside;
  Point area;  ///< sum of areas times normals that point from inside to outside
  std::array<double, 6> orientation;  ///< sum of areas times n n^T: xx, yy, zz, xy, xz, yz
};

/// What fills a box. Fractions sum to one; the medium of the topmost structure comes first.
struct Fill {
  std::vector<Share> media;
  std::vector<Interface> interfaces;
  bool simple = true;  ///< one medium, or two on the two sides of one face
};

/// What fills the box of `size` about `centre`. A side may be zero (an axis that is not resolved):
/// the box is then a rectangle, a line or a point, and normals lie in it.
///
/// One face in the box: its tangent plane nearest to the centre cuts the box exactly (a sum of
/// three uniform variables), so fractions are smooth in all parameters of the shape and, summed
/// over a grid, have an error of second order in the size of the box. Parallel faces, and faces
/// along the axes of any number of boxes: exact. Other edges, corners and faces too curved for the
/// box: the box is halved three times along each side; in a part that is still cut by several
/// faces, what lies behind each of them counts as independent of the others.
Fill fill(const SceneOrder& scene, const Point& centre, const std::array<double, 3>& size);

/// The same as two media across one face.
struct Mix {
  int inside, outside;  ///< equal where one medium fills the box
  double fraction;      ///< filled by `inside`, the medium of the topmost structure
  Point normal;  ///< from inside to outside, of length 1; zero where one medium fills the box
  bool simple;   ///< false where this leaves something out: edges, corners, three media
};
Mix mix(const SceneOrder& scene, const Point& centre, const std::array<double, 3>& size);
Mix mix(const Scene& scene, const Point& centre, const std::array<double, 3>& size);

/// One number per cell of the planes that are asked for, across y or z: the medium that fills the
/// cell and its neighbours (26 of them, those that exist), or -1 where a face may cross them. What
/// is computed for boxes about edges and nodes is needed in the cells with -1 only: a share of the
/// surfaces, not of the volume. An axis that is not resolved counts as a section at its middle;
/// cells at the two ends of a periodic axis are neighbours. A cell near a sheet without thickness
/// has -1.
struct UniformMedia {
  std::array<int, 3> cells;  ///< of the grid
  Planes planes;
  std::vector<std::int32_t> medium;  ///< of their cells, x fastest

  bool holds(const std::array<int, 3>& cell) const {
    const auto d = static_cast<std::size_t>(planes.axis);
    return planes.axis < 0 || planes.number(cell[d], cells[d]) >= 0;
  }
  std::int32_t at(int i, int j, int k) const { return medium[place(i, j, k)]; }
  std::size_t place(int i, int j, int k) const;
};
/// A cell's number does not depend on the planes that are asked for.
UniformMedia uniform_media(const SceneOrder& scene, const YeeGrid& grid,
                           const std::array<bool, 3>& periodic = {}, const Planes& planes = {});

/// Two structures of equal priority and different media that have points in common; `at` is one.
/// The later one is seen there.
struct Overlap {
  std::size_t first, second;  ///< first < second
  Point at;
};
/// Found within `domain` by halving boxes that may hold a common point, 18 times. An overlap
/// thinner than 1/64 of the common bounds of the two may be missed; shapes that only share a face
/// are not named.
std::vector<Overlap> overlaps(const Scene& scene, const Bounds& domain);
/// "structures 'a' and 'b' overlap near (...) m at equal priority; 'b', the later one, is seen
/// there"
std::string describe(const Overlap& overlap, const Scene& scene);

/// Structures without a point inside `domain`, found the same way.
std::vector<std::size_t> structures_outside(const Scene& scene, const Bounds& domain);

}  // namespace tessera::electromagnetics
