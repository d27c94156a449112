// SPDX-License-Identifier: Apache-2.0
// Surfaces of triangles in files of other programs: STL (3D Systems, StereoLithography Interface
// Specification, 1989), both forms of it, and OBJ (Wavefront, Object Files, version 3.0).
//
// Numbers are in the file's own unit, which neither format tells. Normals, colours, materials and
// textures are passed over: the corners of a face run counterclockwise as seen from outside.
#pragma once
#include "tessera/data/diagnostic.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace tessera::data {

struct TriangleFile {
  std::vector<std::array<double, 3>> points;
  std::vector<std::array<std::uint32_t, 3>> triangles;  ///< three of the points each
};

/// Coordinates beyond this, in the file's unit, are damage.
inline constexpr double kFurthestPoint = 1e12;
/// Most triangles, and most points, of a file.
inline constexpr std::size_t kMostTriangles = std::size_t{1} << 23;

/// By the ending, .stl or .obj. Throws InputError (exit 4) at line and column, or at a byte: E0371
/// text that is not due, E0372 another size than the number of triangles tells, E0373 a coordinate
/// that is not finite or too far off, E0374 nothing in it, or more than is read, E0375 an index or
/// a face, E0303 a number, E0430 another ending; and what read_text_file and BinaryInput throw.
TriangleFile read_triangles(const std::filesystem::path& path);

/// The same from memory; `name` is told in messages. An STL file whose size fits the number of
/// triangles at byte 80 is binary, whatever it begins with.
TriangleFile parse_stl(std::string name, std::string bytes);
TriangleFile parse_obj(std::string name, std::string text);

}  // namespace tessera::data
