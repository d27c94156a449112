// SPDX-License-Identifier: Apache-2.0
//
// What lies outside of a surface on which fields are known, for near_to_far.h: the homogeneous
// medium that carries the waves on, and mirrors. A domain has mirrors of two kinds at its faces of
// perfect conductors. At a symmetry the structure goes on as its image: what the face cuts is half
// of a whole. A wall is there: waves are sent back, and only the open half is outside.
#pragma once
#include "tessera/electromagnetics/geometry.h"
#include "tessera/electromagnetics/medium.h"
#include "tessera/electromagnetics/yee_grid.h"

#include <array>
#include <span>
#include <string>
#include <vector>

namespace tessera::electromagnetics {

/// A perfectly conducting plane across `axis`; the surface lies wholly on one side of it, and
/// results hold on that side.
struct Mirror {
  int axis = 2;
  double position = 0;    ///< m
  bool magnetic = false;  ///< a perfect magnetic conductor (H x n = 0), else an electric one
};

struct Exterior {
  int dimensions = 3;             ///< 3 or 2
  double eps = 1, mu = 1;         ///< relative, of the homogeneous medium outside
  std::vector<Mirror> mirrors{};  ///< across different axes
  /// Cells and time step, in m and s, of the grid whose waves these are; 0: waves of the continuum.
  std::array<double, 3> cell_m{};
  double dt_s = 0;
};

/// A mirror at a face of the domain.
struct DomainMirror {
  Mirror plane;
  bool high = false;      ///< at the end of the axis, else at its beginning
  bool symmetry = false;  ///< else a wall
};
/// "x_low"
std::string name_of(const DomainMirror& m);

/// Whether a box of `size` about `middle` reaches the mirror (to 1e-9 of the domain), which then
/// cuts it; one without extent across the mirror does not.
bool reaches(const YeeGrid& grid, const DomainMirror& m, const Point& middle, const Point& size);
/// How many times the box is there in the whole: twice for each symmetry that it reaches.
double images_of(const YeeGrid& grid, std::span<const DomainMirror> mirrors, const Point& middle,
                 const Point& size);
/// The same of what radiates with all its images: twice for each symmetry.
double images_of_all(std::span<const DomainMirror> mirrors);

/// Those in which the waves of a box are mirrored: all symmetries, and the walls that it stands on.
std::vector<DomainMirror> mirrors_of_box(const YeeGrid& grid, std::span<const DomainMirror> mirrors,
                                         const Point& middle, const Point& size);
/// Whether two mirrors are the same plane, to 1e-9 of the domain.
bool same_plane(const YeeGrid& grid, const Mirror& a, const Mirror& b);
/// Those of the domain, and of `more` those that are none of these.
std::vector<Mirror> joined_mirrors(const YeeGrid& grid, std::span<const DomainMirror> domain,
                                   std::span<const Mirror> more);

/// What is wrong with the mirrors of a box before its waves are carried on outside of it.
struct MirrorFault {
  enum class Kind {
    not_resolved,   ///< a named mirror lies across an axis that is not resolved
    through_box,    ///< a named mirror runs through the box, which has to lie on one side of it
    two_faces,      ///< the box stands between two mirrors of the domain: infinitely many images
    another_plane,  ///< a named mirror lies across the same axis as one of the domain, elsewhere
    other_kind      ///< a named mirror is one of the domain, but a conductor of the other kind
  } kind;
  std::size_t named = 0;   ///< its number
  std::size_t domain = 0;  ///< its number; of two_faces the second one, `domain` - 1 is the first
};
/// Of a box of `size` about `middle`, whose mirrors are `domain` (mirrors_of_box, in the order of
/// the axes) and those that are `named`: first what speaks of named ones alone.
std::vector<MirrorFault> mirror_faults(const YeeGrid& grid, std::span<const DomainMirror> domain,
                                       std::span<const Mirror> named, const Point& middle,
                                       const Point& size);

/// Whether a medium is linear, the same along all axes and has no conductivity: the only one that
/// can be outside.
bool is_linear_isotropic_without_conduction(const Medium& m);
/// Whether waves run through it at f: Re eps > 0, and |Im eps| at most 1e-4 of it, which takes
/// 0.3 % of the amplitude over 10 wavelengths.
bool is_transparent(const Medium& m, double f_hz);

/// One for all frequencies where the medium has no poles, else one for each, with its Re eps there.
/// Throws Error where the medium cannot be outside at one of them. Perfect conductors count
/// as vacuum.
std::vector<Exterior> exteriors(const Medium& around, int dimensions, std::vector<Mirror> mirrors,
                                std::span<const double> frequencies_hz);

}  // namespace tessera::electromagnetics
