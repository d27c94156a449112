// SPDX-License-Identifier: Apache-2.0
// What `tessera info FILE` says of arrays. Their values are not read.
#include "arrays/safetensors_header.h"
#include "info/info_formats.h"

#include <algorithm>

namespace tessera::data {

InfoNode safetensors_info(const std::filesystem::path& path) {
  const SafetensorsHeader header = read_safetensors_header(BinaryInput(path));
  InfoNode node = file_node(path);
  InfoNode& metadata = node.add("metadata", static_cast<std::int64_t>(header.metadata.size()));
  for (const auto& [key, value] : header.metadata) {
    if (metadata.children.size() == kMaxListed) break;
    metadata.add(key, value);
  }
  InfoNode& tensors = node.add("tensors", static_cast<std::int64_t>(header.entries.size()));
  for (std::size_t i = 0; i < std::min(header.entries.size(), kMaxListed); ++i) {
    const SafetensorsEntry& e = header.entries[i];
    tensors.add(e.name, e.dtype + ", " + shape_text(e.shape));
  }
  return node;
}

bool is_safetensors(std::string_view head, const std::filesystem::path&) {
  constexpr std::string_view kBelow4GiB("\0\0\0\0", 4);  // the upper half of the header's length
  return head.size() > 8 && head.substr(4, 4) == kBelow4GiB && head[8] == '{';
}

}  // namespace tessera::data
