// SPDX-License-Identifier: Apache-2.0
//
// The primitives in their own axes. Each answers the same five questions:
//   contains(q)         with the surface rule of geometry.h
//   distance(q)         signed distance and its gradient
//   faces(q, out)       the smooth faces near q, as planes; the solid is what lies behind all of
//   them support(v)          the largest v . q in the solid
#pragma once
#include "tessera/data/outlines.h"
#include "tessera/electromagnetics/geometry.h"

#include <variant>

namespace tessera::electromagnetics::detail {

struct Distance {
  double value;
  Point gradient;
};

/// The plane that touches a face where it is nearest to q: q is `distance` in front of it. It
/// stands for the face within the ball of radius `reach` about q. `curvature`: the second
/// derivatives of the distance there, by rows, sum of curvature t t^T over the two principal
/// directions; not of flat faces.
struct Face {
  Point normal;
  double distance;
  double reach;
  bool flat = true;
  Rotation curvature{};  // only as a 3x3 matrix
};

/// Room for the faces of one primitive near a point.
struct SolidFaces {
  std::array<Face, 6> at;
  int n = 0;
  void add(const Face& face) { at[n++] = face; }
};

struct HalfSpace {  // normal . q < offset
  Point normal;
  double offset;
};

struct Block {
  Point low, high;
};

struct Ball {  // about the origin
  double radius;
};

struct Ellipsoid {  // about the origin
  Point semi_axes;
};

/// About the z axis, |z| < half_height, radius linear in z.
struct Frustum {
  double radius_low, radius_high, half_height;
};

/// About the z axis: a tube of radius `tube` whose middle is the circle of radius `ring`.
struct Torus {
  double ring, tube;
};

/// The area is on the left of the sides in (x, y).
struct Prism {
  std::shared_ptr<const data::SideTree> sides;
  double low, high;
  double slope;  // tan of the sidewall angle: how fast the outline shrinks with z
};

struct MeshBody;
/// Within triangles. It has no smooth faces: mesh_fill.h has what takes their place.
struct Mesh {
  std::shared_ptr<const MeshBody> body;
};

using Solid = std::variant<HalfSpace, Block, Ball, Ellipsoid, Frustum, Torus, Prism, Mesh>;

bool contains(const HalfSpace&, const Point& q);
bool contains(const Block&, const Point& q);
bool contains(const Ball&, const Point& q);
bool contains(const Ellipsoid&, const Point& q);
bool contains(const Frustum&, const Point& q);
bool contains(const Torus&, const Point& q);
bool contains(const Prism&, const Point& q);
bool contains(const Mesh&, const Point& q);

Distance distance(const HalfSpace&, const Point& q);
Distance distance(const Block&, const Point& q);
Distance distance(const Ball&, const Point& q);
Distance distance(const Ellipsoid&, const Point& q);
Distance distance(const Frustum&, const Point& q);
Distance distance(const Torus&, const Point& q);
Distance distance(const Prism&, const Point& q);
Distance distance(const Mesh&, const Point& q);

void faces(const HalfSpace&, const Point& q, SolidFaces& out);
void faces(const Block&, const Point& q, SolidFaces& out);
void faces(const Ball&, const Point& q, SolidFaces& out);
void faces(const Ellipsoid&, const Point& q, SolidFaces& out);
void faces(const Frustum&, const Point& q, SolidFaces& out);
void faces(const Torus&, const Point& q, SolidFaces& out);
void faces(const Prism&, const Point& q, SolidFaces& out);

double support(const HalfSpace&, const Point& v);
double support(const Block&, const Point& v);
double support(const Ball&, const Point& v);
double support(const Ellipsoid&, const Point& v);
double support(const Frustum&, const Point& v);
double support(const Torus&, const Point& v);
double support(const Prism&, const Point& v);
double support(const Mesh&, const Point& v);
/// Has the sign of the distance, and sqrt(1/2) of its size at least, never more.
double clearance(const Mesh&, const Point& q);

/// A copy whose points are turn p + by: meshes lie along the axes of space.
Mesh moved(const Mesh& mesh, const Rotation& turn, const Point& by);

}  // namespace tessera::electromagnetics::detail
