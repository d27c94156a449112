// SPDX-License-Identifier: Apache-2.0
// Layouts in GDSII stream files (Calma, GDS II Stream Format Manual, release 6.0, 1987).
//
// Boundaries, boxes and paths are read, with the references that repeat them; texts, nodes and
// properties are passed over. Coordinates are whole numbers of the file's database unit.
#pragma once
#include "tessera/data/diagnostic.h"
#include "tessera/data/outlines.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace tessera::data {

using GdsPoint = std::array<std::int32_t, 2>;

struct GdsElement {
  bool is_path = false;  ///< else its points run round an area
  int layer = 0;
  int type = 0;                  ///< datatype, of a box its box type
  std::vector<GdsPoint> points;  ///< of an area without the last one, which is the first again
  /// Of a path; negative: of that width whatever the magnification.
  std::int32_t width = 0;
  int path_type = 0;  ///< ends: 0 flush, 1 round, 2 half a width further, 4 by `begin` and `end`
  std::int32_t begin = 0, end = 0;
};

/// A cell, once or in rows and columns: p -> at + magnification R(angle) M p, M: y -> -y if
/// mirrored.
struct GdsReference {
  std::string cell;
  GdsPoint at{};
  int columns = 1, rows = 1;
  std::array<double, 2> column_step{}, row_step{};
  bool mirrored = false;
  double magnification = 1, angle_deg = 0;
  bool absolute_magnification = false, absolute_angle = false;
  std::uint64_t byte = 0;  ///< of its record
};

struct GdsCell {
  std::string name;
  std::vector<GdsElement> elements;
  std::vector<GdsReference> references;
  std::uint64_t byte = 0;
};

struct GdsLibrary {
  std::string file, name;
  double unit_m = 1e-9;     ///< database unit
  double user_unit = 1e-3;  ///< a database unit in user units
  std::vector<GdsCell> cells;
};

/// Most polygons, and most corners of all of them, that references may make.
inline constexpr std::size_t kMostPolygons = 1'000'000, kMostCorners = 8'000'000;

/// Throws InputError (exit 4) at the byte of a record: E0377 a record that is damaged or not due,
/// E0378 a reference to a cell that is not there, or that leads back to itself, E0379 two cells of
/// one name; and what BinaryInput throws.
GdsLibrary read_gds(const std::filesystem::path& path);
GdsLibrary parse_gds(std::string name, const std::string& bytes);

/// Cells that no other one refers to.
std::vector<std::string> top_cells(const GdsLibrary& library);

/// Layers and types that a cell has, its references included; rising.
std::vector<std::array<int, 2>> layers_of(const GdsLibrary& library, const std::string& cell);

/// All polygons of a layer in a cell, paths as their outlines, in database units: one
/// beside the other, whether they overlap or not. `type`: -1 for all. Throws InputError E0380 where
/// there are more than kMostPolygons or kMostCorners, or references are nested deeper than 64.
std::vector<Outline> gds_polygons(const GdsLibrary& library, const std::string& cell, int layer,
                                  int type);

}  // namespace tessera::data
