// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/vtk_xml.h"

#include "tessera/autodiff/error.h"
#include "tessera/autodiff/plugin.h"
#include "tessera/data/file_io.h"
#include "vtk/vtk_plugin.h"

#include <unistd.h>

namespace tessera::data {
namespace fs = std::filesystem;
namespace {

template <class Grid>
void write(const fs::path& path, const Grid& grid) {
  check_grid(grid);
  static const auto write_xml = reinterpret_cast<WriteVtkXml>(plugin_function("vtk", kWriteVtkXml));
  const fs::path temporary = path.string() + ".tmp-" + std::to_string(::getpid());
  const AnyGrid any = &grid;
  try {
    if (const int failed = write_xml(temporary.c_str(), &any))
      throw_io_error(path, "VTK: write", failed);
    commit_file(temporary, path);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
}

}  // namespace

void write_vtk_xml(const fs::path& path, const ImageGrid& grid) { write(path, grid); }
void write_vtk_xml(const fs::path& path, const RectilinearGrid& grid) { write(path, grid); }
void write_vtk_xml(const fs::path& path, const UnstructuredGrid& grid) { write(path, grid); }
void write_vtk_xml(const fs::path& path, const PolyGrid& grid) { write(path, grid); }

bool vtk_xml_available(std::string* why_not) { return plugin_available("vtk", why_not); }

}  // namespace tessera::data
