// SPDX-License-Identifier: Apache-2.0
// Compiled in place of vtk_xml.cpp where the configure step found no VTK.
#include "tessera/autodiff/error.h"
#include "tessera/data/vtk_xml.h"

namespace tessera::data {
namespace {
constexpr const char* kMissing =
    "VTK XML files need VTK, which was not there when Tessera was built: install libvtk9-dev and "
    "build again";
[[noreturn]] void refuse() { throw Error(std::string("[vtk] ") + kMissing); }
}  // namespace

void write_vtk_xml(const std::filesystem::path&, const ImageGrid&) { refuse(); }
void write_vtk_xml(const std::filesystem::path&, const RectilinearGrid&) { refuse(); }
void write_vtk_xml(const std::filesystem::path&, const UnstructuredGrid&) { refuse(); }
void write_vtk_xml(const std::filesystem::path&, const PolyGrid&) { refuse(); }

bool vtk_xml_available(std::string* why_not) {
  if (why_not) *why_not = kMissing;
  return false;
}

}  // namespace tessera::data
