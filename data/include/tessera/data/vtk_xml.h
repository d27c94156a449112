// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/data/grid.h"

#include <filesystem>
#include <string>
#include <vector>

namespace tessera::data {

/// Writes VTK XML (.vti, .vtr, .vtu, .vtp) through VTK's own writers, compressed binary. The units
/// of a field stand in its name: "resistivity [ohm*m]". VTK is loaded on the first call, from
/// `tessera/libtessera_vtk.so` beside our libraries (docs/decisions/0020-vtk-plugin.md). Throws
/// Error when VTK was not there at configure time or the plug-in is not found (naming the package
/// or the folders looked in), InputError E0501..E0503 when writing fails.
void write_vtk_xml(const std::filesystem::path& path, const ImageGrid& grid);
void write_vtk_xml(const std::filesystem::path& path, const RectilinearGrid& grid);
void write_vtk_xml(const std::filesystem::path& path, const UnstructuredGrid& grid);
void write_vtk_xml(const std::filesystem::path& path, const PolyGrid& grid);

/// Whether this build can write VTK XML, without loading VTK; `why_not` (if given) says what is
/// missing.
bool vtk_xml_available(std::string* why_not = nullptr);

/// One of the files that a list names, seen from the list's folder.
struct PvdFile {
  double time = 0;  ///< what ParaView's time is: seconds, frequencies, steps
  int part = 0;     ///< of those of one time, which are shown together
  std::string name;
};
/// Writes a list of VTK XML files (.pvd) that ParaView opens as one, in one move.
void write_pvd(const std::filesystem::path& path, const std::vector<PvdFile>& files);

}  // namespace tessera::data
