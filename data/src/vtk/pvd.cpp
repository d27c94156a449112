// SPDX-License-Identifier: Apache-2.0
#include "files/xml_text.h"
#include "tessera/data/csv.h"
#include "tessera/data/file_io.h"
#include "tessera/data/vtk_xml.h"

#include <fmt/format.h>

namespace tessera::data {

void write_pvd(const std::filesystem::path& path, const std::vector<PvdFile>& files) {
  std::string xml =
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n<Collection>\n";
  for (const PvdFile& f : files)
    xml += fmt::format("<DataSet timestep=\"{}\" part=\"{}\" file=\"{}\"/>\n", number_text(f.time),
                       f.part, xml_text(f.name));
  write_file_atomically(path, xml + "</Collection>\n</VTKFile>\n");
}

}  // namespace tessera::data
