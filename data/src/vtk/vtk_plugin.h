// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/data/grid.h"

#include <variant>

namespace tessera::data {

/// What crosses from us to the plug-in that holds VTK: the grid by pointer; back comes 0 or an
/// errno value. Both sides are built together; the number in the symbol changes when this does.
using AnyGrid = std::variant<const ImageGrid*, const RectilinearGrid*, const UnstructuredGrid*,
                             const PolyGrid*>;
using WriteVtkXml = int (*)(const char* path, const AnyGrid* grid);
constexpr const char* kWriteVtkXml = "tessera_write_vtk_xml_1";

}  // namespace tessera::data
