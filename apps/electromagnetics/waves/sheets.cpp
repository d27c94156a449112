// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/waves/sheets.h"

#include "electromagnetics/waves/case_parts.h"
#include "electromagnetics/waves/even_cells.h"
#include "electromagnetics/waves/loads.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::apps::waves {
namespace {

namespace em = electromagnetics;

std::string at_sheet(std::size_t k, const char* key = "") {
  return fmt::format("sheet[{}]{}", k, key);
}

/// The solid without ends along the normal whose section it is; nothing where it is the whole
/// plane.
std::optional<em::Shape> outline_of(const Case& c, const SheetOptions& s) {
  const auto normal = static_cast<std::size_t>(s.axis());
  switch (s.shape) {
    case SheetShape::rectangle: {
      if (!s.size) return {};
      Point low, high;
      for (std::size_t d = 0; d < 3; ++d) {
        const bool endless = d == normal || !c.grid.resolved(static_cast<int>(d));
        low[d] = endless ? -INFINITY : s.position[d] - (*s.size)[d] / 2;
        high[d] = endless ? INFINITY : s.position[d] + (*s.size)[d] / 2;
      }
      return em::box(low, high);
    }
    case SheetShape::disc: {
      Point axis{};
      axis[normal] = 1;
      return em::cylinder(s.position, s.radius, INFINITY, axis);
    }
    case SheetShape::polygon:
      return em::prism(s.corners, -INFINITY, INFINITY, s.axis());
  }
  return {};
}

/// Why the line has to stay where it is; empty: it may move.
std::string bound_by(const Case& c, int axis, int line, const std::vector<int>& taken) {
  const auto u = static_cast<std::size_t>(axis);
  if (line == 0 || line == c.grid.cells(axis)) return "that line is an end of the domain";
  if (std::string need = need_of_even_cells(c, axis, line); !need.empty()) return need;
  if (std::find(taken.begin(), taken.end(), line) != taken.end())
    return "another sheet lies on that line";
  const double x = c.grid.lines[u][static_cast<std::size_t>(line)],
               near = 1e-6 * c.grid.smallest_length(axis);
  for (const em::Structure& s : c.scene.structures) {
    const em::Bounds& b = s.shape.bounds();
    if (c.media[static_cast<std::size_t>(s.medium)].pec &&
        (std::abs(b.low[u] - x) < near || std::abs(b.high[u] - x) < near))
      return "a conductor ends on that line";
  }
  for (const WireOptions& w : c.options.wires)
    for (std::size_t k = 0; k + 1 < w.points.size(); ++k)
      if (std::abs(w.points[k][u] - x) < near && std::abs(w.points[k + 1][u] - x) < near)
        return "a [[wire]] runs on that line";
  return {};
}

/// Lines of the grid on sheets.
void move_lines(Case& c, const data::Config& config) {
  std::array<std::vector<int>, 3> taken;
  const auto nearest = [&](const SheetOptions& s) {
    const em::SheetPlace p =
        em::sheet_place(c.grid, s.axis(), s.position[static_cast<std::size_t>(s.axis())]);
    return std::pair(p.above > 0.5 ? p.line + 1 : p.line, p.above);
  };
  for (const SheetOptions& s : c.options.sheets)
    if (const auto [line, above] = nearest(s); above == 0)
      taken[static_cast<std::size_t>(s.axis())].push_back(line);
  for (std::size_t k = 0; k < c.options.sheets.size(); ++k) {
    const SheetOptions& s = c.options.sheets[k];
    const auto u = static_cast<std::size_t>(s.axis());
    const auto [line, above] = nearest(s);
    if (above == 0) continue;
    double& x = c.grid.lines[u][static_cast<std::size_t>(line)];
    const std::string bound = bound_by(c, s.axis(), line, taken[u]);
    if (!bound.empty()) {
      c.warnings.push_back(warning(
          config, 632, at_sheet(k, ".position"),
          fmt::format("the sheet lies {:.3g} m beside a line of the grid, and {}: it is shared "
                      "between two lines, which makes an error of first order in the cell",
                      std::abs(x - s.position[u]), bound),
          "put a line of the grid on it, or use smaller cells"));
      continue;
    }
    data::Diagnostic note = warning(
        config, 632, at_sheet(k, ".position"),
        fmt::format("the line of the grid at {} = {:.6g} m is put on the sheet, {:.3g} m away",
                    s.normal, x, std::abs(x - s.position[u])),
        "");
    note.severity = data::Severity::note;
    c.warnings.push_back(std::move(note));
    x = s.position[u];
    taken[u].push_back(line);
  }
}

/// Thicker than a cell it is a body; in a layer, no sheet.
void check_places(const Case& c, const data::Config& config) {
  for (std::size_t k = 0; k < c.options.sheets.size(); ++k) {
    const SheetOptions& s = c.options.sheets[k];
    const int axis = s.axis(), n = c.grid.cells(axis);
    const double x = s.position[static_cast<std::size_t>(axis)];
    const em::SheetPlace place = em::sheet_place(c.grid, axis, x);
    const int low = layer_cells(c, axis, false), high = n - layer_cells(c, axis, true);
    if (place.line < low || place.line > high || (place.line == high && place.above > 0))
      refuse({config.error(631, at_sheet(k, ".position"), "lies in an absorbing layer",
                           "move it inwards, or the layer outwards")});
    double shortest = INFINITY;
    for (int m = place.above > 0 ? place.line : place.line - 1; m <= place.line; ++m)
      if (m >= 0 && m < n) shortest = std::min(shortest, c.grid.length(axis, m));
    if (s.thickness && *s.thickness > shortest * (1 + 1e-9))
      refuse({config.error(631, at_sheet(k, ".thickness"),
                           fmt::format("the film is {:.3g} m thick, thicker than a cell there, "
                                       "{:.3g} m: a sheet is thinner",
                                       *s.thickness, shortest),
                           "take a [[structure]], or larger cells")});
  }
}

}  // namespace

void put_lines_on_sheets(Case& c, const data::Config& config) {
  move_lines(c, config);
  check_places(c, config);
}

std::vector<std::array<int, 2>> follow_sheets(Case& moved, const Case& at) {
  std::vector<std::array<int, 2>> out;
  const std::vector<SheetOptions>&from = at.options.sheets, &to = moved.options.sheets;
  for (std::size_t k = 0; k < from.size(); ++k) {
    const int axis = from[k].axis();
    const auto u = static_cast<std::size_t>(axis);
    const double x = from[k].position[u];
    if (to[k].position[u] == x) continue;
    const em::SheetPlace place = em::sheet_place(at.grid, axis, x);
    bool alone = place.above == 0 && bound_by(at, axis, place.line, {}).empty();
    for (std::size_t other = 0; other < from.size(); ++other)
      alone = alone && (from[other].axis() != axis || from[other].position[u] != x ||
                        to[other].position[u] == to[k].position[u]);
    if (!alone) continue;
    moved.grid.lines[u][static_cast<std::size_t>(place.line)] = to[k].position[u];
    out.push_back({axis, place.line});
  }
  if (out.empty()) return out;
  moved.open = make_open(moved);
  moved.sheets = make_sheet_edges(moved);
  place_surface_losses(moved);
  return out;
}

std::vector<em::Sheet> sheets_of(const Case& c) {
  std::vector<em::Sheet> sheets;
  for (std::size_t k = 0; k < c.options.sheets.size(); ++k) {
    const SheetOptions& s = c.options.sheets[k];
    em::Sheet sheet{.axis = s.axis(),
                    .position = s.position[static_cast<std::size_t>(s.axis())],
                    .resistance_ohm = s.resistance,
                    .thickness_m = s.thickness.value_or(0),
                    .outline = outline_of(c, s)};
    if (s.material) sheet.medium = c.sheet_media[k];
    sheets.push_back(std::move(sheet));
  }
  return sheets;
}

em::AddedMedia make_sheet_edges(const Case& c) {
  const std::vector<em::Sheet> sheets = sheets_of(c);
  if (sheets.empty()) return {};
  return em::sheet_edges(sheets, c.grid, c.faces, em::SceneOrder(c.scene), c.stepped,
                         c.options.grid.averaging, *c.open, symmetry_of(c));
}

em::Bounds bounds_of_sheet(const Case& c, const SheetOptions& sheet) {
  em::Bounds out;
  const std::optional<em::Shape> outline = outline_of(c, sheet);
  for (std::size_t d = 0; d < 3; ++d) {
    out.low[d] = c.grid.lines[d].front(), out.high[d] = c.grid.lines[d].back();
    if (static_cast<int>(d) == sheet.axis())
      out.low[d] = out.high[d] = sheet.position[d];
    else if (outline)
      out.low[d] = std::max(out.low[d], outline->bounds().low[d]),
      out.high[d] = std::min(out.high[d], outline->bounds().high[d]);
  }
  return out;
}

void make_sheets(Case& c, const data::Config& config) {
  try {
    c.sheets = make_sheet_edges(c);
  } catch (const Error& e) {
    refuse({config.error(631, "sheet", e.what(), "the message says what is expected")});
  }
}

}  // namespace tessera::apps::waves
