// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/vtk_xml.h"

#include <dlfcn.h>
#include <unistd.h>

#include "tessera/autodiff/error.h"
#include "tessera/data/file_io.h"
#include "vtk_plugin.h"

namespace tessera::data {
namespace fs = std::filesystem;
namespace {

constexpr const char* kPlugin = "tessera/libtessera_vtk.so";

/// Beside the library (or program) that holds this code, and beside its neighbour `lib` folder.
fs::path plugin_path() {
  Dl_info here{};
  if (!::dladdr(reinterpret_cast<const void*>(&plugin_path), &here) || !here.dli_fname) return {};
  std::error_code ignored;
  const fs::path folder = fs::absolute(here.dli_fname, ignored).parent_path();
  for (const fs::path& candidate : {folder / kPlugin, folder / "../lib" / kPlugin})
    if (fs::is_regular_file(candidate, ignored)) return candidate;
  return {};
}

WriteVtkXml load() {
  const fs::path path = plugin_path();
  if (path.empty()) throw Error(std::string("[vtk] the plug-in ") + kPlugin + " is not beside Tessera's libraries");
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw Error("[vtk] cannot load the plug-in: " + std::string(::dlerror()));
  auto* write = reinterpret_cast<WriteVtkXml>(::dlsym(library, kWriteVtkXml));
  if (!write) throw Error("[vtk] " + path.string() + " is of another version of Tessera");
  return write;
}

template <class Grid>
void write(const fs::path& path, const Grid& grid) {
  check_grid(grid);
  static const WriteVtkXml write_xml = load();
  const fs::path temporary = path.string() + ".tmp-" + std::to_string(::getpid());
  const AnyGrid any = &grid;
  try {
    if (const int failed = write_xml(temporary.c_str(), &any)) throw_io_error(path, "VTK: write", failed);
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

bool vtk_xml_available(std::string* why_not) {
  if (!plugin_path().empty()) return true;
  if (why_not) *why_not = std::string("the plug-in ") + kPlugin + " is not beside Tessera's libraries";
  return false;
}

}  // namespace tessera::data
