// SPDX-License-Identifier: Apache-2.0
//
// Triangles in a tree of boxes: which is nearest, which lie in a box or on a line, how often a
// closed surface is wound about a point.
#pragma once
#include "tessera/electromagnetics/geometry.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera::electromagnetics::detail {

/// Corners, counterclockwise as seen from outside.
using Triangle = std::array<Point, 3>;

/// Twice the area along the outward normal.
Point area_vector(const Triangle& t);
/// The point of the triangle that is nearest to q.
Point nearest_point(const Triangle& t, const Point& q);

class TriangleTree {
 public:
  TriangleTree() = default;
  explicit TriangleTree(const std::vector<Triangle>& triangles);

  bool empty() const { return triangles_.empty(); }
  std::size_t size() const { return triangles_.size(); }
  /// In the order of the tree.
  const std::vector<Triangle>& triangles() const { return triangles_; }
  /// The number that triangles()[at] had when the tree was made.
  std::size_t number(std::size_t at) const { return number_[at]; }
  const Bounds& bounds() const { return nodes_.front().box; }

  struct Nearest {
    std::size_t at;
    Point foot;
    double d2;
  };
  /// Of one triangle or more.
  Nearest nearest(const Point& q) const;

  /// No triangle is nearer than this, and one is within sqrt(2) of it.
  double at_least(const Point& q) const;

  /// The winding number of the triangles, which are to be closed, about q: 1 inside of one shell.
  /// Crossings of a ray along +x are counted with their signs, from (x + e, y + e^2, z + e^3) for
  /// an infinitesimal e, which is the surface rule of geometry.h: an integer, without tolerances.
  /// `skip`: a number for each triangle, with which those of `skipped` are left out.
  int winding(const Point& q, const std::vector<int>* skip = nullptr, int skipped = 0) const;

  /// Calls `visit(at)` for each triangle whose own box meets [low, high].
  template <class Visit>
  void in_box(const Point& low, const Point& high, const Visit& visit) const {
    if (empty()) return;
    walk([&](const Bounds& b) { return meets(b, low, high); },
         [&](std::size_t at) {
           if (meets(box_of(triangles_[at]), low, high)) visit(at);
         });
  }

  /// Adds every t of [from, to] at which p + t v meets a triangle, or passes it by rounding.
  void add_crossings(const Point& p, const Point& v, double from, double to,
                     std::vector<double>& out) const;

 private:
  struct Node {
    Bounds box;
    std::uint32_t first;  ///< triangle of a leaf; else the second child, the other one comes next
    std::uint32_t count;  ///< of a leaf; else 0
  };
  static Bounds box_of(const Triangle& t);
  static bool meets(const Bounds& b, const Point& low, const Point& high) {
    for (int k = 0; k < 3; ++k)
      if (b.low[k] > high[k] || b.high[k] < low[k]) return false;
    return true;
  }
  template <class Enter, class Visit>
  void walk(const Enter& enter, const Visit& visit) const {
    std::uint32_t stack[64];
    int n = 0;
    stack[n++] = 0;
    while (n > 0) {
      const std::uint32_t here = stack[--n];
      const Node& node = nodes_[here];
      if (!enter(node.box)) continue;
      if (node.count == 0) {
        stack[n++] = node.first;
        stack[n++] = here + 1;
        continue;
      }
      for (std::uint32_t k = 0; k < node.count; ++k) visit(std::size_t{node.first} + k);
    }
  }
  template <class Skip>
  Nearest search(const Point& q, const Skip& skip) const;
  std::uint32_t build(std::size_t first, std::size_t last, const std::vector<Triangle>& given);

  std::vector<Node> nodes_;
  std::vector<Triangle> triangles_;
  std::vector<std::size_t> number_;
};

}  // namespace tessera::electromagnetics::detail
