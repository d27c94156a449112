// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/grid.h"

#include "tessera/autodiff/error.h"

#include <algorithm>

namespace tessera::data {
namespace {

[[noreturn]] void misfit(const std::string& what) { throw Error("[grid] " + what); }

void check_fields(const std::vector<FieldArray>& fields, std::size_t rows, const char* where) {
  for (const FieldArray& f : fields) {
    if (f.name.empty()) misfit(std::string("a field on the ") + where + " has no name");
    if (f.components == 0 || f.values.size() != rows * f.components)
      misfit("field '" + f.name + "' has " + std::to_string(f.values.size()) + " values for " +
             std::to_string(rows) + " " + where + " of " + std::to_string(f.components) +
             " components");
    if (std::count_if(fields.begin(), fields.end(),
                      [&](const FieldArray& g) { return g.name == f.name; }) > 1)
      misfit("two fields on the " + std::string(where) + " are named '" + f.name + "'");
  }
}

void check_cells(const std::vector<std::int64_t>& connectivity,
                 const std::vector<std::int64_t>& offsets, std::size_t n_points) {
  if (offsets.empty() || offsets.front() != 0 ||
      offsets.back() != std::int64_t(connectivity.size()) ||
      !std::is_sorted(offsets.begin(), offsets.end()))
    misfit("cell offsets must rise from 0 to the number of connectivity entries, " +
           std::to_string(connectivity.size()));
  for (std::int64_t p : connectivity)
    if (p < 0 || p >= std::int64_t(n_points))
      misfit("a cell names point " + std::to_string(p) + " of " + std::to_string(n_points));
}

std::size_t n_points_of(const std::vector<double>& points) {
  if (points.size() % 3)
    misfit("points are [n][3], got " + std::to_string(points.size()) + " numbers");
  return points.size() / 3;
}

}  // namespace

void check_grid(const ImageGrid& g) {
  std::size_t points = 1, cells = 1;
  for (std::size_t n : g.n_points) {
    if (n == 0) misfit("an image grid has at least one point along each axis");
    points *= n;
    cells *= n > 1 ? n - 1 : 1;
  }
  check_fields(g.fields.points, points, "points");
  check_fields(g.fields.cells, cells, "cells");
}

void check_grid(const RectilinearGrid& g) {
  std::size_t points = 1, cells = 1;
  for (const auto* axis : {&g.x, &g.y, &g.z}) {
    if (axis->empty() || std::adjacent_find(axis->begin(), axis->end(), [](double a, double b) {
                           return !(a < b);
                         }) != axis->end())
      misfit("coordinates of a rectilinear grid must rise");
    points *= axis->size();
    cells *= axis->size() > 1 ? axis->size() - 1 : 1;
  }
  check_fields(g.fields.points, points, "points");
  check_fields(g.fields.cells, cells, "cells");
}

void check_grid(const UnstructuredGrid& g) {
  const std::size_t n = n_points_of(g.points);
  check_cells(g.connectivity, g.offsets, n);
  if (g.shapes.size() + 1 != g.offsets.size())
    misfit(std::to_string(g.shapes.size()) + " cell shapes for " +
           std::to_string(g.offsets.size() - 1) + " cells");
  check_fields(g.fields.points, n, "points");
  check_fields(g.fields.cells, g.shapes.size(), "cells");
}

void check_grid(const PolyGrid& g) {
  const std::size_t n = n_points_of(g.points);
  std::size_t cells = 0;
  for (const CellList* list : {&g.vertices, &g.lines, &g.polygons}) {
    check_cells(list->connectivity, list->offsets, n);
    cells += list->offsets.size() - 1;
  }
  check_fields(g.fields.points, n, "points");
  check_fields(g.fields.cells, cells, "cells");
}

}  // namespace tessera::data
