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

}  // namespace

Parts parts_of(const Shape& result, const Tiling& t) {
  const auto refuse = [&](const std::string& why) { throw Error("[tiled] " + why); };
  constexpr Index kPart = 512;
  Shape part = t.part.empty() ? Shape::filled(result.size(), kPart) : t.part;
  if (part.size() != result.size())
    refuse("parts of " + to_string(part) + " do not fit a result of " + to_string(result) +
           ": a number for each axis, 0 for all of it");
  if (t.tile < 1 || (t.tile & (t.tile - 1)))
    refuse("a tile has 1, 2, 4, ... parts along an axis, not " + std::to_string(t.tile));
  Shape grid;
  for (int d = 0; d < part.size(); ++d) {
    if (part[d] < 0) refuse("parts of " + to_string(part));
    if (part[d] == 0 || part[d] > result[d]) part[d] = std::max<Index>(result[d], 1);
    grid.push_back(std::max<Index>((result[d] + part[d] - 1) / part[d], 1));
  }
  std::vector<Shape> places;
  const Index n = grid.count();
  for (Index k = 0; k < n; ++k) {
    Shape at = grid;
    Index rest = k;
    for (int d = grid.size(); d-- > 0; rest /= grid[d]) at[d] = rest % grid[d];
    places.push_back(at);
  }
  std::sort(places.begin(), places.end(), lies_before);
  Parts p;
  Shape tile;
  for (const Shape& at : places) {
    Box b{at, at};
    Shape of_tile = at;
    for (int d = 0; d < at.size(); ++d) {
      b.begin[d] = at[d] * part[d];
      b.end[d] = std::min(b.begin[d] + part[d], result[d]);
      of_tile[d] /= t.tile;
    }
    if (p.boxes.empty() || of_tile != tile) p.tiles.push_back(static_cast<Index>(p.boxes.size()));
    tile = of_tile;
    p.boxes.push_back(b);
  }
  p.tiles.push_back(static_cast<Index>(p.boxes.size()));
  return p;
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
