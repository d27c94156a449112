// SPDX-License-Identifier: Apache-2.0
#include "geometry/grid_boxes.h"

#include <algorithm>

namespace tessera::electromagnetics::detail {
namespace {

Fill fill_along(const SceneOrder& scene, const Spans& spans, Bounds chosen, int axis) {
  if (axis == 3) {
    Point centre, size;
    for (int k = 0; k < 3; ++k) {
      centre[k] = (chosen.low[k] + chosen.high[k]) / 2;
      size[k] = chosen.high[k] - chosen.low[k];
    }
    return fill(scene, centre, size);
  }
  std::vector<Fill> parts;
  for (const Span& s : spans[axis]) {
    chosen.low[axis] = s.low;
    chosen.high[axis] = s.high;
    parts.push_back(fill_along(scene, spans, chosen, axis + 1));
  }
  if (parts.size() == 1) return std::move(parts[0]);
  const Span &before = spans[axis][0], &behind = spans[axis][1];
  return joined(parts[0], before.high - before.low, parts[1], behind.high - behind.low, axis);
}

}  // namespace

std::vector<Span> around_line(const YeeGrid& grid, int axis, int line, const Periodic& periodic) {
  const int n = grid.cells(axis);
  if (!grid.resolved(axis)) return {{grid.middle(axis, 0), grid.middle(axis, 0)}};
  const Span first{grid.lines[axis].front(), grid.middle(axis, 0)};
  const Span last{grid.middle(axis, n - 1), grid.lines[axis].back()};
  if (line > 0 && line < n) return {{grid.middle(axis, line - 1), grid.middle(axis, line)}};
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
