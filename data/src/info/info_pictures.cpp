// SPDX-License-Identifier: Apache-2.0
// What `tessera info FILE` says of plots: PNG (W3C, Portable Network Graphics, 3rd edition) and
// SVG.
#include "info/info_formats.h"
#include "tessera/data/diagnostic.h"
#include "tessera/data/file_io.h"

#include <pugixml.hpp>
#include <zlib.h>

#include <string_view>

namespace tessera::data {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;
constexpr std::string_view kPngSignature = "\x89PNG\r\n\x1a\n";
constexpr std::size_t kFrame = 12;  // of a chunk: length, name, checksum

std::uint32_t big_endian(const std::string& bytes, std::size_t at) {
  std::uint32_t v = 0;
  for (std::size_t k = 0; k < 4; ++k) v = v << 8 | static_cast<unsigned char>(bytes[at + k]);
  return v;
}

InputError damaged(const std::filesystem::path& path, std::size_t at, std::string what) {
  return InputError(Diagnostic{
      .number = 434, .place = {.file = path.string(), .byte = at}, .message = std::move(what)});
}

}  // namespace

InfoNode png_info(const std::filesystem::path& path) {
  const std::string bytes = read_file(path, kMostBytes);
  if (!std::string_view(bytes).starts_with(kPngSignature))
    throw damaged(path, 0, "expected the signature of a PNG");
  InfoNode node = file_node(path);
  for (std::size_t at = kPngSignature.size();;) {
    if (bytes.size() - at < kFrame)
      throw damaged(path, bytes.size(), "truncated: the end of the picture (IEND) is not there");
    const std::uint32_t length = big_endian(bytes, at);
    const std::string_view name(bytes.data() + at + 4, 4);
    if (bytes.size() - at - kFrame < length)
      throw damaged(
          path, at,
          "truncated: a chunk of " + std::to_string(length) + " bytes is not there whole");
    if (::crc32(0, reinterpret_cast<const Bytef*>(bytes.data()) + at + 4, length + 4) !=
        big_endian(bytes, at + 8 + length))
      throw damaged(path, at, "damaged: the checksum of a chunk is another");
    if (at == kPngSignature.size()) {
      if (name != "IHDR" || length != 13)
        throw damaged(path, at, "expected the picture's header (IHDR) of 13 bytes");
      node.add("width", std::int64_t{big_endian(bytes, at + 8)});
      node.add("height", std::int64_t{big_endian(bytes, at + 12)});
      node.add("bits of a channel",
               static_cast<std::int64_t>(static_cast<unsigned char>(bytes[at + 16])));
    } else if (name == "tEXt") {
      const std::string_view text(bytes.data() + at + 8, length);
      const std::size_t end = text.find('\0');
      if (end != std::string_view::npos)
        node.add(std::string(text.substr(0, end)), std::string(text.substr(end + 1)));
    } else if (name == "IEND") {
      return node;
    }
    at += kFrame + length;
  }
}

InfoNode svg_info(const std::filesystem::path& path) {
  std::string text = read_file(path, kMostBytes);
  InfoNode node = file_node(path);
  pugi::xml_document doc;
  const pugi::xml_parse_result parsed =
      doc.load_buffer_inplace(text.data(), text.size(), pugi::parse_default, pugi::encoding_utf8);
  if (!parsed)
    throw damaged(path, static_cast<std::size_t>(parsed.offset),
                  std::string("malformed XML: ") + parsed.description());
  const pugi::xml_node root = doc.child("svg");
  if (!root) throw damaged(path, 0, "expected the element svg");
  if (const pugi::xml_node title = root.child("title"))
    node.add("title", std::string(title.text().as_string()));
  for (const char* name : {"width", "height", "viewBox"})
    if (const pugi::xml_attribute a = root.attribute(name))
      node.add(name, std::string(a.as_string()));
  return node;
}

}  // namespace tessera::data
