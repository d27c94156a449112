// SPDX-License-Identifier: Apache-2.0
// What `tessera info FILE` says of arrays. Their values are not read.
#include "arrays/npz.h"
#include "arrays/safetensors_header.h"
#include "info/info_formats.h"
#include "tessera/data/diagnostic.h"

#include <algorithm>

namespace tessera::data {
namespace {

/// "<f8, 2 x 3", and of a Fortran array its order.
std::string npy_text(const NpyInput& npy) {
  return npy.header().dtype + ", " + shape_text(npy.shape()) +
         (npy.header().fortran_order ? ", Fortran order" : "");
}

/// The same of a member; why it cannot be read, where it is not an array of plain elements.
std::string member_text(const BinaryInput& file, const ZipMember& member) {
  try {
    check_npy_member(file, member);
    ZipStream stream(file, member);
    return npy_text(npy_input(file, member, stream, NpyTypes::plain));
  } catch (const InputError& e) {
    return "not read: " + e.findings().front().message;
  }
}

}  // namespace

InfoNode npy_info(const std::filesystem::path& path) {
  const BinaryInput file(path);
  const NpyInput npy = npy_input(file, NpyTypes::plain);
  InfoNode node = file_node(path);
  node.add("type", npy.header().dtype);
  node.add("shape", shape_text(npy.shape()));
  node.add("order", std::string(npy.header().fortran_order ? "Fortran" : "C"));
  return node;
}

InfoNode npz_info(const std::filesystem::path& path) {
  const NpzInput npz(path);
  InfoNode node = file_node(path);
  InfoNode& arrays = node.add("arrays", static_cast<std::int64_t>(npz.members.size()));
  for (std::size_t i = 0; i < std::min(npz.members.size(), kMaxListed); ++i)
    arrays.add(npz.names[i], member_text(npz.file, npz.members[i]));
  return node;
}

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

/// An archive whose first member is called so.
bool is_npz(std::string_view head, const std::filesystem::path&) {
  if (!head.starts_with("PK\x03\x04") || head.size() < kZipLocalBytes) return false;
  const std::size_t n_name =
      static_cast<unsigned char>(head[26]) + 256U * static_cast<unsigned char>(head[27]);
  return head.substr(kZipLocalBytes, n_name).ends_with(".npy");
}

bool is_safetensors(std::string_view head, const std::filesystem::path&) {
  constexpr std::string_view kBelow4GiB("\0\0\0\0", 4);  // the upper half of the header's length
  return head.size() > 8 && head.substr(4, 4) == kBelow4GiB && head[8] == '{';
}

}  // namespace tessera::data
