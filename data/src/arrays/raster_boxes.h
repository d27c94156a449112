// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/box.h"

#include <filesystem>

namespace tessera::data {

/// [bands, rows, columns] of a GeoTIFF, by GDAL in a guarded child for each box. Throws InputError
/// E0401, E0402, E0429, E0444, Error without the plug-in.
BoxSource raster_boxes(const std::filesystem::path& path);

}  // namespace tessera::data
