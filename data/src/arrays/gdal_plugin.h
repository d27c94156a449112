// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/dtype.h"

#include <cstddef>
#include <cstdint>

namespace tessera::data {

/// What crosses from us to the plug-in that holds GDAL, which reads GeoTIFF. Both sides are built
/// together; the number in the symbols changes when this does.
struct Raster {
  std::int64_t bands = 0, rows = 0, columns = 0;
  Dtype type = Dtype::u8;
};
/// Why it cannot be done; empty where it was.
struct RasterFailure {
  char text[400] = "";
};
using DescribeRaster = void (*)(const char* path, Raster* raster, RasterFailure* failure);
/// Elements [bands, rows, columns] of a box, row-major.
using ReadRaster = void (*)(const char* path, const std::int64_t* begin,
                            const std::int64_t* extents, Dtype type, void* to,
                            RasterFailure* failure);
constexpr const char* kDescribeRaster = "tessera_describe_raster_1";
constexpr const char* kReadRaster = "tessera_read_raster_1";

}  // namespace tessera::data
