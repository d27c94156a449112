// SPDX-License-Identifier: Apache-2.0
//
// Metal that is thinner than any lattice of points: where it crosses a rectangle, found by going
// downhill on its signed distance from several places, and whether it leads from one point to
// another.
#pragma once
#include "geometry/metal.h"

#include <vector>

namespace tessera::electromagnetics::detail {

/// A point of each piece of metal in the parallelogram corner, corner + u, corner + u + v, corner +
/// v: the middle of the piece as far as it is convex. Several pieces nearer to each other than they
/// are to the five places of the search may count as one.
std::vector<Point> pieces_of_metal(const Metal& metal, const Point& corner, const Point& u,
                                   const Point& v);

/// Those of them that metal on the rim does not lead to.
std::vector<Point> islands_of_metal(const Metal& metal, const Point& corner, const Point& u,
                                    const Point& v);

/// Whether metal runs from p to q, both in it, within the box from `low` to `high`. Two bodies with
/// a gap are never joined; a path that bends very often may not be found.
bool metal_leads(const Metal& metal, const Point& p, const Point& q, const Point& low,
                 const Point& high);

}  // namespace tessera::electromagnetics::detail
