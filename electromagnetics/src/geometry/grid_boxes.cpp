// SPDX-License-Identifier: Apache-2.0
#include "geometry/grid_boxes.h"

#include <algorithm>
#include <cmath>

namespace tessera::electromagnetics::detail {
namespace {

/// The mean of a part of a box and of its image: across the mirror normals cancel.
void add_image(Fill& fill, int axis) {
  constexpr int products[3][2] = {{3, 4}, {3, 5}, {4, 5}};  // of n_axis with another
  for (Interface& f : fill.interfaces) {
    f.area[axis] = 0;
    for (const int k : products[axis]) f.orientation[k] = 0;
  }
}

Fill fill_along(const SceneOrder& scene, const Spans& spans, Box box, int axis) {
  if (axis == 3) {
    return fill(scene, box);
  }
  std::vector<Fill> parts;
  for (const Span& s : spans[axis]) {
    box.centre[axis] = (s.box_low + s.box_high) / 2;
    box.size[axis] = s.box_high - s.box_low;
    box.from[axis] = s.low > s.box_low ? s.low : -INFINITY;
    box.to[axis] = s.high < s.box_high ? s.high : INFINITY;
    box.mirrored[static_cast<std::size_t>(axis)] = s.mirrored;
    parts.push_back(fill_along(scene, spans, box, axis + 1));
  }
  if (parts.size() == 1) {
    if (spans[axis][0].mirrored) add_image(parts[0], axis);
    return std::move(parts[0]);
  }
  const Span &before = spans[axis][0], &behind = spans[axis][1];
  return joined(parts[0], before.high - before.low, parts[1], behind.high - behind.low, axis);
}

}  // namespace

std::vector<Span> around_line(const YeeGrid& grid, int axis, int line, const Periodic& periodic) {
  const int n = grid.cells(axis);
  if (!grid.resolved(axis)) return {{grid.middle(axis, 0), grid.middle(axis, 0)}};
  Span first{grid.lines[axis].front(), grid.middle(axis, 0)};
  Span last{grid.middle(axis, n - 1), grid.lines[axis].back()};
  if (line > 0 && line < n) return {{grid.middle(axis, line - 1), grid.middle(axis, line)}};
  const double before = last.high - last.low, behind = first.high - first.low;
  first.box_low -= periodic[axis] ? before : behind;
  last.box_high += periodic[axis] ? behind : before;
  first.mirrored = last.mirrored = !periodic[axis];
  if (periodic[axis]) return {last, first};
  return {line == 0 ? first : last};
}

Spans spans_at(const YeeGrid& grid, const std::array<int, 3>& index,
               const std::array<bool, 3>& middle, const Periodic& periodic) {
  Spans spans;
  for (int k = 0; k < 3; ++k)
    spans[k] = middle[k] && grid.resolved(k)
                   ? std::vector<Span>{{grid.lines[k][index[k]], grid.lines[k][index[k] + 1]}}
                   : around_line(grid, k, index[k], periodic);
  return spans;
}

std::vector<Twin> twins_of(const YeeGrid& grid, const Edge& edge, const Periodic& periodic) {
  std::vector<Twin> out{{}};
  const std::array<int, 3> at{edge.i, edge.j, edge.k};
  for (std::size_t d = 0; d < 3; ++d) {
    const int axis = static_cast<int>(d);
    if (!periodic[d] || !grid.resolved(axis) || at[d] != 0 || at_middle(edge.component, axis))
      continue;
    const auto& lines = grid.lines[d];
    std::vector<Twin> both;
    for (Twin t : out) {
      t.inwards[d] = 1;
      both.push_back(t);
      t.moved[d] = lines.back() - lines.front();
      t.inwards[d] = -1;
      both.push_back(t);
    }
    out = std::move(both);
  }
  return out;
}

Fill fill_spans(const SceneOrder& scene, const Spans& spans) {
  return fill_along(scene, spans, {}, 0);
}

std::vector<Point> values_of(const std::vector<Medium>& media, Point Medium::*value) {
  std::vector<Point> out;
  for (const Medium& m : media) out.push_back(m.*value);
  return out;
}

ValuedFill valued(Fill fill, const std::vector<Medium>& media, Point Medium::*value) {
  ValuedFill out;
  std::vector<int> known;
  const auto number = [&](int medium) {
    const auto at = std::find(known.begin(), known.end(), medium);
    const auto n = static_cast<int>(at - known.begin());
    if (at == known.end()) {
      known.push_back(medium);
      out.values.push_back(media[static_cast<std::size_t>(medium)].*value);
    }
    return n;
  };
  for (Share& s : fill.media) s.medium = number(s.medium);
  for (Interface& f : fill.interfaces) f.inside = number(f.inside), f.outside = number(f.outside);
  out.fill = std::move(fill);
  return out;
}

}  // namespace tessera::electromagnetics::detail
