// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::data {

/// A named field on the points or cells of a grid: `values` is [n][components].
struct FieldArray {
  std::string name, units, long_name;
  std::vector<double> values;
  std::size_t components = 1;
};

/// Fields on a grid; each has as many rows as the grid has points or cells.
struct GridFields {
  std::vector<FieldArray> points, cells;
};

/// Evenly spaced points; the first index (x) runs fastest in the fields. Lengths in m.
struct ImageGrid {
  std::array<std::size_t, 3> n_points{1, 1, 1};
  std::array<double, 3> origin{0, 0, 0}, spacing{1, 1, 1};
  GridFields fields;
};

/// Points at the crossings of three rising coordinate lists; x runs fastest.
struct RectilinearGrid {
  std::vector<double> x{0}, y{0}, z{0};
  GridFields fields;
};

/// VTK's numbers of the cell shapes in use.
enum class CellShape : std::uint8_t {
  vertex = 1,
  line = 3,
  triangle = 5,
  polygon = 7,
  quad = 9,
  tetrahedron = 10,
  hexahedron = 12
};

/// Cells of any shape: cell c has the points connectivity[offsets[c] .. offsets[c+1]).
struct UnstructuredGrid {
  std::vector<double> points;  ///< [n][3]
  std::vector<std::int64_t> connectivity;
  std::vector<std::int64_t> offsets{0};  ///< [n_cells + 1]
  std::vector<CellShape> shapes;         ///< [n_cells]
  GridFields fields;
};

/// A list of cells of one kind, laid out as in UnstructuredGrid.
struct CellList {
  std::vector<std::int64_t> connectivity;
  std::vector<std::int64_t> offsets{0};
};

/// Points, lines and faces in space. Cell fields go through vertices, then lines, then polygons.
struct PolyGrid {
  std::vector<double> points;  ///< [n][3]
  CellList vertices, lines, polygons;
  GridFields fields;
};

/// Throws Error naming what does not fit: lengths of fields, offsets, indices out of range,
/// unordered coordinates.
void check_grid(const ImageGrid&);
void check_grid(const RectilinearGrid&);
void check_grid(const UnstructuredGrid&);
void check_grid(const PolyGrid&);

}  // namespace tessera::data
