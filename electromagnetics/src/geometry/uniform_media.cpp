// SPDX-License-Identifier: Apache-2.0
//
// By descent: a block of cells that no surface comes near is settled at once, any other is halved.
#include "geometry/fill.h"
#include "geometry/pixel_range.h"
#include "geometry/vector.h"
#include "tessera/autodiff/forall.h"

#include <algorithm>

namespace tessera::electromagnetics {
using namespace detail;
namespace {

/// Whether a part of the shape has no thickness, so that it fills nothing and still conducts.
bool has_sheet(const ShapeNode& node) {
  if (node.kind != ShapeKind::primitive)
    return std::any_of(node.parts.begin(), node.parts.end(),
                       [](const auto& part) { return has_sheet(*part); });
  const auto* block = std::get_if<Block>(&node.solid);
  if (!block) return false;
  for (int k = 0; k < 3; ++k)
    if (block->low[k] == block->high[k]) return true;
  return false;
}

/// Cells [low, high) of a grid.
struct Cells {
  std::array<int, 3> low, high;
};

struct Descent {
  const YeeGrid& grid;
  UniformMedia& out;

  /// The cells and their neighbours.
  Box around(const Cells& cells) const {
    Box box;
    for (int k = 0; k < 3; ++k) {
      const auto& lines = grid.lines[k];
      const double low = lines[std::max(cells.low[k] - 1, 0)];
      const double high = lines[std::min(cells.high[k] + 1, grid.cells(k))];
      box.centre[k] = (low + high) / 2;
      box.size[k] = grid.resolved(k) ? high - low : 0;
    }
    return box;
  }

  bool wanted(const Cells& cells) const {
    const int axis = out.planes.axis;
    for (int i = axis < 0 ? 0 : cells.low[axis]; axis >= 0; ++i) {
      if (i == cells.high[axis]) return false;
      if (out.planes.number(i, grid.cells(axis)) >= 0) return true;
    }
    return true;
  }

  void set(const Cells& cells, std::int32_t value) {
    for (int k = cells.low[2]; k < cells.high[2]; ++k)
      for (int j = cells.low[1]; j < cells.high[1]; ++j)
        if (out.holds({0, j, k}))
          std::fill_n(&out.medium[out.place(cells.low[0], j, k)], cells.high[0] - cells.low[0],
                      value);
  }

  void visit(const Cells& cells, const Structures& from_top, int background) {
    if (!wanted(cells)) return;
    const Box box = around(cells);
    const double radius = 1.2 * box.radius();  // faces stand back a little (local.cpp)
    Structures near;
    for (const Structure* s : from_top) {
      const double clear = clearance(s->shape.node(), box.centre);
      if (clear > radius) continue;
      if (clear < -radius) {  // nothing below it is seen
        const std::optional<int> one = s->pixels
                                           ? only_medium(*s->pixels, pixels_in(*s->pixels, box))
                                           : std::optional<int>(s->medium);
        background = one.value_or(s->medium);
        if (!one) near.push_back(s);
        break;
      }
      near.push_back(s);
    }
    while (!near.empty() && !near.back()->pixels && near.back()->medium == background)
      near.pop_back();
    if (near.empty()) return set(cells, background);
    int longest = 0;
    for (int k = 1; k < 3; ++k)
      if (cells.high[k] - cells.low[k] > cells.high[longest] - cells.low[longest]) longest = k;
    if (cells.high[longest] - cells.low[longest] == 1) {
      const bool sheet = std::any_of(near.begin(), near.end(),
                                     [](const Structure* s) { return has_sheet(s->shape.node()); });
      return set(cells, sheet ? -1 : only_medium(near, background, box).value_or(-1));
    }
    Cells half = cells;
    half.high[longest] = (cells.low[longest] + cells.high[longest]) / 2;
    visit(half, near, background);
    half.low[longest] = half.high[longest];
    half.high[longest] = cells.high[longest];
    visit(half, near, background);
  }
};

/// What the descent says of the cells in some planes.
UniformMedia descend(const SceneOrder& scene, const YeeGrid& grid, const Planes& planes) {
  UniformMedia out{{grid.cells(0), grid.cells(1), grid.cells(2)}, planes, {}};
  std::int64_t count = 1;
  for (int d = 0; d < 3; ++d) count *= d == planes.axis ? planes.count : grid.cells(d);
  out.medium.resize(static_cast<std::size_t>(count));
  Descent descent{grid, out};
  Structures from_top;
  for (std::size_t i : scene.from_top()) from_top.push_back(&scene.scene().structures[i]);

  constexpr int side = 16;  // of the blocks that threads take
  std::array<int, 3> blocks;
  for (int k = 0; k < 3; ++k) blocks[k] = (grid.cells(k) + side - 1) / side;
  parallel_chunks(std::int64_t{1} * blocks[0] * blocks[1] * blocks[2], [&](std::int64_t chunk) {
    const std::array<int, 3> block{static_cast<int>(chunk % blocks[0]),
                                   static_cast<int>(chunk / blocks[0] % blocks[1]),
                                   static_cast<int>(chunk / blocks[0] / blocks[1])};
    Cells cells;
    for (int k = 0; k < 3; ++k) {
      cells.low[k] = block[k] * side;
      cells.high[k] = std::min(cells.low[k] + side, grid.cells(k));
    }
    descent.visit(cells, from_top, scene.scene().background);
  });
  return out;
}

/// Cells at the two ends of an axis are neighbours: `low` has those of the first plane, `high`
/// those of the last.
void close(int axis, UniformMedia& low, UniformMedia& high) {
  const int u = (axis + 1) % 3, v = (axis + 2) % 3;
  for (int a = 0; a < low.cells[u]; ++a)
    for (int b = 0; b < low.cells[v]; ++b) {
      std::array<int, 3> c;
      c[axis] = 0, c[u] = a, c[v] = b;
      if (!low.holds(c)) continue;
      std::int32_t& first = low.medium[low.place(c[0], c[1], c[2])];
      c[axis] = low.cells[axis] - 1;
      std::int32_t& last = high.medium[high.place(c[0], c[1], c[2])];
      if (first != last) first = last = -1;
    }
}

}  // namespace

std::size_t UniformMedia::place(int i, int j, int k) const {
  int at[3] = {i, j, k}, n[3] = {cells[0], cells[1], cells[2]};
  if (const int d = planes.axis; d >= 0) at[d] = planes.number(at[d], n[d]), n[d] = planes.count;
  return (std::size_t(at[2]) * n[1] + at[1]) * n[0] + at[0];
}

UniformMedia uniform_media(const SceneOrder& scene, const YeeGrid& grid,
                           const std::array<bool, 3>& periodic, const Planes& planes) {
  UniformMedia out = descend(scene, grid, planes);
  for (int d = 0; d < 3; ++d) {
    if (!periodic[d]) continue;
    const int last = grid.cells(d) - 1;
    const bool cut = d == planes.axis, has_first = !cut || planes.number(0, last + 1) >= 0,
               has_last = !cut || planes.number(last, last + 1) >= 0;
    if (has_first && has_last) close(d, out, out);
    if (has_first == has_last) continue;
    UniformMedia other = descend(scene, grid, {d, has_first ? last : 0, 1});
    for (int before = 0; before < d; ++before)
      if (periodic[before]) close(before, other, other);
    if (has_first)
      close(d, out, other);
    else
      close(d, other, out);
  }
  return out;
}

}  // namespace tessera::electromagnetics
