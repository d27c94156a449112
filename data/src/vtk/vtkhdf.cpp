// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/vtkhdf.h"

#include "tessera/autodiff/error.h"

#include <algorithm>

namespace tessera::data {
namespace {

using Shape = std::vector<std::uint64_t>;

void begin(H5Writer& file, std::string_view type, std::int64_t major) {
  file.group("VTKHDF");
  const std::int64_t version[2] = {major, 0};
  file.attribute("VTKHDF", "Version", std::span<const std::int64_t>(version));
  file.attribute("VTKHDF", "Type", type);
}

/// `shape` is that of one component; further components are the last, fastest index.
void write_fields(H5Writer& file, const char* group, const std::vector<FieldArray>& fields,
                  const Shape& shape) {
  file.group(std::string("VTKHDF/") + group);
  for (const FieldArray& f : fields) {
    Shape s = shape;
    if (f.components > 1) s.push_back(f.components);
    file.write(std::string("VTKHDF/") + group + "/" + f.name, f.values, s, {f.units, f.long_name});
  }
}

void write_count(H5Writer& file, const std::string& name, std::size_t n) {
  file.write(name, std::vector<std::int64_t>{std::int64_t(n)});
}

void write_points(H5Writer& file, const std::vector<double>& points) {
  write_count(file, "VTKHDF/NumberOfPoints", points.size() / 3);
  file.write("VTKHDF/Points", points, {points.size() / 3, 3}, {"m", "point coordinates"});
}

void write_cells(H5Writer& file, const std::string& group,
                 const std::vector<std::int64_t>& connectivity,
                 const std::vector<std::int64_t>& offsets) {
  write_count(file, group + "/NumberOfCells", offsets.size() - 1);
  write_count(file, group + "/NumberOfConnectivityIds", connectivity.size());
  file.write(group + "/Connectivity", connectivity);
  file.write(group + "/Offsets", offsets);
}

/// HDF5 reads "a/b" as a path, so such a field would land in a group that VTK does not look into.
template <class Grid>
void check(const Grid& grid) {
  check_grid(grid);
  for (const auto* fields : {&grid.fields.points, &grid.fields.cells})
    for (const FieldArray& f : *fields)
      if (f.name.find('/') != std::string::npos)
        throw Error("[vtkhdf] field name '" + f.name + "' holds a slash");
}

}  // namespace

void write_vtkhdf(H5Writer& file, const ImageGrid& grid) {
  check(grid);
  if (!grid.fields.cells.empty())
    throw Error("[vtkhdf] an image grid with cell fields ('" + grid.fields.cells[0].name +
                "'): the reader of VTK 9.1 cannot read them; use VTK XML or an unstructured grid");
  if (std::count(grid.n_points.begin(), grid.n_points.end(), 1u))
    throw Error(
        "[vtkhdf] a flat image grid: the reader of VTK 9.1 overruns its memory on it; use VTK XML "
        "or an "
        "unstructured grid");
  begin(file, "ImageData", 1);
  const auto& n = grid.n_points;
  const std::int64_t extent[6] = {0, std::int64_t(n[0]) - 1, 0, std::int64_t(n[1]) - 1,
                                  0, std::int64_t(n[2]) - 1};
  const double direction[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  file.attribute("VTKHDF", "WholeExtent", std::span<const std::int64_t>(extent));
  file.attribute("VTKHDF", "Origin", std::span<const double>(grid.origin));
  file.attribute("VTKHDF", "Spacing", std::span<const double>(grid.spacing));
  file.attribute("VTKHDF", "Direction", std::span<const double>(direction));
  write_fields(file, "PointData", grid.fields.points, {n[2], n[1], n[0]});
  file.group("VTKHDF/CellData");
}

void write_vtkhdf(H5Writer& file, const UnstructuredGrid& grid) {
  check(grid);
  begin(file, "UnstructuredGrid", 1);
  write_points(file, grid.points);
  write_cells(file, "VTKHDF", grid.connectivity, grid.offsets);
  std::vector<std::uint8_t> types;
  for (CellShape s : grid.shapes) types.push_back(static_cast<std::uint8_t>(s));
  file.write("VTKHDF/Types", types);
  write_fields(file, "PointData", grid.fields.points, {grid.points.size() / 3});
  write_fields(file, "CellData", grid.fields.cells, {grid.shapes.size()});
}

void write_vtkhdf(H5Writer& file, const PolyGrid& grid) {
  check(grid);
  begin(file, "PolyData", 2);
  write_points(file, grid.points);
  write_cells(file, "VTKHDF/Vertices", grid.vertices.connectivity, grid.vertices.offsets);
  write_cells(file, "VTKHDF/Lines", grid.lines.connectivity, grid.lines.offsets);
  write_cells(file, "VTKHDF/Polygons", grid.polygons.connectivity, grid.polygons.offsets);
  write_cells(file, "VTKHDF/Strips", {}, {0});
  const std::uint64_t cells =
      grid.vertices.offsets.size() + grid.lines.offsets.size() + grid.polygons.offsets.size() - 3;
  write_fields(file, "PointData", grid.fields.points, {grid.points.size() / 3});
  write_fields(file, "CellData", grid.fields.cells, {cells});
}

}  // namespace tessera::data
