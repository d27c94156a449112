// SPDX-License-Identifier: Apache-2.0
#include "info/info_formats.h"
#include "tessera/data/diagnostic.h"
#include "tessera/data/file_io.h"

#include <pugixml.hpp>

namespace tessera::data {
namespace {

constexpr std::size_t kMaxArrays = 1000;

void put_arrays(InfoNode& parent, const char* name, const pugi::xml_node& group) {
  if (!group.first_child()) return;
  InfoNode& node = parent.add(name);
  for (const pugi::xml_node& a : group.children("DataArray")) {
    if (node.children.size() == kMaxArrays) return;
    const std::string components = a.attribute("NumberOfComponents").as_string("1");
    node.add(a.attribute("Name").as_string("(no name)"),
             std::string(a.attribute("type").as_string("?")) +
                 (components == "1" ? "" : " x " + components));
  }
}

}  // namespace

InfoNode vtk_xml_info(const std::filesystem::path& path) {
  std::string text = read_file(path, std::uint64_t{1} << 30);
  const std::size_t file_bytes = text.size();
  // Appended data may be raw bytes, which are no XML: the tree ends where they begin.
  if (const std::size_t at = text.find("<AppendedData"); at != std::string::npos) {
    if (text.find("</VTKFile>", at) == std::string::npos)
      throw InputError(Diagnostic{.number = 432,
                                  .place = {.file = path.string(), .byte = file_bytes},
                                  .message = "truncated: the end of VTKFile is not there"});
    text.resize(at);
    text += "</VTKFile>";
  }
  pugi::xml_document doc;  // pugixml knows no DTD and expands no entities but the five of XML
  const pugi::xml_parse_result parsed =
      doc.load_buffer_inplace(text.data(), text.size(), pugi::parse_default, pugi::encoding_utf8);
  if (!parsed)
    throw InputError(
        Diagnostic{.number = 432,
                   .place = {.file = path.string(), .byte = std::uint64_t(parsed.offset)},
                   .message = std::string("malformed XML: ") + parsed.description()});
  const pugi::xml_node root = doc.child("VTKFile");
  const std::string type = root.attribute("type").as_string();
  const pugi::xml_node grid = root.child(type.c_str());
  if (!root || type.empty() || !grid)
    throw InputError(
        Diagnostic{.number = 432,
                   .place = {.file = path.string(), .byte = 0},
                   .message = "expected <VTKFile type=\"...\"> with an element of that type"});
  InfoNode node{path.filename().string(), {}, {}};
  node.add("bytes", static_cast<std::int64_t>(file_bytes));
  node.add("type", type);
  for (const char* name : {"WholeExtent", "Origin", "Spacing"})
    if (const pugi::xml_attribute a = grid.attribute(name))
      node.add(name, std::string(a.as_string()));
  std::size_t pieces = 0;
  for (const pugi::xml_node& piece : grid.children("Piece")) {
    if (++pieces > kMaxArrays) break;
    InfoNode& child = node.add("piece");
    for (const pugi::xml_attribute& a : piece.attributes())
      child.add(a.name(), std::string(a.as_string()));
    put_arrays(child, "PointData", piece.child("PointData"));
    put_arrays(child, "CellData", piece.child("CellData"));
  }
  return node;
}

}  // namespace tessera::data
