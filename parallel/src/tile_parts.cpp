// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/error.h"
#include "tessera/parallel/tiles.h"

#include <algorithm>

namespace tessera::parallel {
namespace {

/// Bits of the coordinates by turns, the highest first: the order of the curve.
bool lies_before(const Shape& a, const Shape& b) {
  int axis = 0;
  std::uint64_t most =
      0;  // the axis whose coordinates differ in the highest bit; of equals the first
  for (int d = 0; d < a.size(); ++d) {
    const std::uint64_t differs =
        static_cast<std::uint64_t>(a[d]) ^ static_cast<std::uint64_t>(b[d]);
    if (most < differs && most < (most ^ differs)) most = differs, axis = d;
  }
  return a.empty() ? false : a[axis] < b[axis];
}

/// Parts of a result by their places on a grid.
struct Grid {
  Shape result, part, extents;  ///< parts along each axis
  std::vector<Shape> places;    ///< in the order of memory

  Box box(const Shape& at) const {
    Box b{at, at};
    for (int d = 0; d < at.size(); ++d) {
      b.begin[d] = at[d] * part[d];
      b.end[d] = std::min(b.begin[d] + part[d], result[d]);
    }
    return b;
  }
};
Grid grid_of(const Shape& result, const Tiling& t) {
  const auto refuse = [&](const std::string& why) { throw Error("[tiled] " + why); };
  constexpr Index kPart = 512;
  Grid g{result, t.part.empty() ? Shape::filled(result.size(), kPart) : t.part, {}, {}};
  if (g.part.size() != result.size())
    refuse("parts of " + to_string(g.part) + " do not fit a result of " + to_string(result) +
           ": a number for each axis, 0 for all of it");
  if (t.tile < 1 || (t.tile & (t.tile - 1)))
    refuse("a tile has 1, 2, 4, ... parts along an axis, not " + std::to_string(t.tile));
  for (int d = 0; d < g.part.size(); ++d) {
    if (g.part[d] < 0) refuse("parts of " + to_string(g.part));
    if (g.part[d] == 0 || g.part[d] > result[d]) g.part[d] = std::max<Index>(result[d], 1);
    g.extents.push_back(std::max<Index>((result[d] + g.part[d] - 1) / g.part[d], 1));
  }
  const Index n = g.extents.count();
  for (Index k = 0; k < n; ++k) {
    Shape at = g.extents;
    Index rest = k;
    for (int d = at.size(); d-- > 0; rest /= g.extents[d]) at[d] = rest % g.extents[d];
    g.places.push_back(at);
  }
  return g;
}

/// Parts in the order of `places`, a tile wherever `tile_of` changes.
template <class F>
Parts listed(const Grid& g, const F& tile_of) {
  Parts p;
  Shape tile;
  for (const Shape& at : g.places) {
    const Shape now = tile_of(at);
    if (p.boxes.empty() || now != tile) p.tiles.push_back(static_cast<Index>(p.boxes.size()));
    tile = now;
    p.boxes.push_back(g.box(at));
  }
  p.tiles.push_back(static_cast<Index>(p.boxes.size()));
  return p;
}
Shape divided(Shape at, const Shape& by) {
  for (int d = 0; d < at.size(); ++d) at[d] /= by[d];
  return at;
}

}  // namespace

Parts parts_of(const Shape& result, const Tiling& t) {
  Grid g = grid_of(result, t);
  std::sort(g.places.begin(), g.places.end(), lies_before);
  const Shape tile = Shape::filled(g.extents.size(), t.tile);
  return listed(g, [&](const Shape& at) { return divided(at, tile); });
}

Parts strips_of(const Shape& result, const Tiling& t) {
  Grid g = grid_of(result, t);
  Index most = 1;
  for (const Index n : g.extents)
    if (n > 1) most *= t.tile;
  Shape strip = g.extents;
  for (int d = strip.size(); d-- > 0; most = std::max<Index>(most / strip[d], 1))
    strip[d] = std::min(g.extents[d], most);
  std::stable_sort(g.places.begin(), g.places.end(), [&](const Shape& a, const Shape& b) {
    const Shape x = divided(a, strip), y = divided(b, strip);
    return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
  });
  return listed(g, [&](const Shape& at) { return divided(at, strip); });
}

PartsOfRanks deal_tiles(const Parts& parts, int ranks) {
  const auto tiles = static_cast<Index>(parts.tiles.size()) - 1;
  if (tiles < ranks) return deal_parts(static_cast<Index>(parts.boxes.size()), ranks);
  PartsOfRanks begin;
  for (const Index tile : deal_parts(tiles, ranks))
    begin.push_back(parts.tiles[static_cast<std::size_t>(tile)]);
  return begin;
}

}  // namespace tessera::parallel
