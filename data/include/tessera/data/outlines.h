// SPDX-License-Identifier: Apache-2.0
// Areas in a plane by the lines around them.
#pragma once
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera::data {

using Place2 = std::array<double, 2>;
/// Corners one after the other; the last is joined to the first.
using Outline = std::vector<Place2>;

/// A directed line.
struct Side {
  Place2 from, to;
};

/// The rim of what one outline or more go round, as sides with the area on their left: each area
/// counts once. An outline may touch or cross itself, holes may be joined to it by lines there and
/// back, and it may run either way round. Corners are taken to a grid of 2^-45 of the whole extent,
/// or finer, on which whole numbers below 2^45 stay what they are; on it the rim is exact and
/// closed. Throws Error where a corner is not finite, or more than 10^8 pairs of sides come near
/// each other.
std::vector<Side> united(const std::vector<Outline>& outlines);

/// Of what a closed rim holds; positive where it runs counterclockwise.
double area_of(const std::vector<Side>& rim);

/// Sides in a tree of boxes.
class SideTree {
 public:
  SideTree() = default;
  explicit SideTree(std::vector<Side> sides);

  /// In the order of the tree.
  const std::vector<Side>& sides() const { return sides_; }
  const Place2& low() const { return nodes_.front().low; }
  const Place2& high() const { return nodes_.front().high; }

  /// Calls visit(k) for sides, k from `from` on, whose own boxes meet [low, high].
  template <class Visit>
  void in_box(const Place2& low, const Place2& high, const Visit& visit,
              std::size_t from = 0) const {
    if (sides_.empty()) return;
    std::uint32_t stack[64];
    int n = 0;
    stack[n++] = 0;
    while (n > 0) {
      const std::uint32_t here = stack[--n];
      const Node& node = nodes_[here];
      if (!meets(node.low, node.high, low, high)) continue;
      if (node.count == 0) {
        stack[n++] = node.first;
        stack[n++] = here + 1;
        continue;
      }
      for (std::size_t k = node.first < from ? from : node.first;
           k < std::size_t{node.first} + node.count; ++k) {
        const Side& s = sides_[k];
        const Place2 a{s.from[0] < s.to[0] ? s.from[0] : s.to[0],
                       s.from[1] < s.to[1] ? s.from[1] : s.to[1]},
            b{s.from[0] < s.to[0] ? s.to[0] : s.from[0], s.from[1] < s.to[1] ? s.to[1] : s.from[1]};
        if (meets(a, b, low, high)) visit(k);
      }
    }
  }

  /// Walks to sides near p, nearer boxes first: `visit(k)` returns the square of the distance
  /// beyond which nothing matters any more.
  template <class Visit>
  void near(const Place2& p, const Visit& visit) const {
    if (sides_.empty()) return;
    struct Waiting {
      std::uint32_t node;
      double d2;
    } stack[64];
    int n = 0;
    double most = HUGE_VAL;
    stack[n++] = {0, square_to(nodes_[0], p)};
    while (n > 0) {
      const Waiting here = stack[--n];
      if (here.d2 > most) continue;
      const Node& node = nodes_[here.node];
      if (node.count == 0) {
        const Waiting a{here.node + 1, square_to(nodes_[here.node + 1], p)},
            b{node.first, square_to(nodes_[node.first], p)};
        stack[n++] = a.d2 < b.d2 ? b : a;
        stack[n++] = a.d2 < b.d2 ? a : b;
        continue;
      }
      for (std::size_t k = node.first; k < std::size_t{node.first} + node.count; ++k)
        most = visit(k);
    }
  }

 private:
  struct Node {
    Place2 low, high;
    std::uint32_t first, count;  ///< sides of a leaf; else the second child and 0
  };
  static bool meets(const Place2& a, const Place2& b, const Place2& low, const Place2& high) {
    return a[0] <= high[0] && b[0] >= low[0] && a[1] <= high[1] && b[1] >= low[1];
  }
  static double square_to(const Node& n, const Place2& p) {
    double sum = 0;
    for (std::size_t k = 0; k < 2; ++k) {
      const double below = n.low[k] - p[k], above = p[k] - n.high[k];
      const double off = below > above ? below : above;
      if (off > 0) sum += off * off;
    }
    return sum;
  }
  std::uint32_t build(std::size_t first, std::size_t last);

  std::vector<Node> nodes_;
  std::vector<Side> sides_;
};

}  // namespace tessera::data
