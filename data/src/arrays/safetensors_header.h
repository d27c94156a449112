// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "arrays/elements.h"
#include "tessera/data/binary_file.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace tessera::data {

inline constexpr std::uint64_t kMaxSafetensorsHeader = 100'000'000;  ///< bytes

struct SafetensorsEntry {
  std::string name, dtype;
  Stored type = Stored::f32;
  std::vector<std::uint64_t> shape;
  std::uint64_t begin = 0, end = 0;  ///< in the buffer
  std::uint64_t byte = 0;            ///< of the file, where the header names it
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;
  std::map<std::string, std::string> metadata;
  std::uint64_t buffer = 0;  ///< byte of the file where it begins
};

/// "F32", null for a type that the format does not have.
const char* safetensors_dtype(Stored type);

/// All that can be told without the buffer's content is checked. Throws InputError E0438.
SafetensorsHeader read_safetensors_header(const BinaryInput& file);

/// A file that has been opened, and its header read.
struct SafetensorsInput {
  explicit SafetensorsInput(const std::filesystem::path& path);

  BinaryInput file;
  SafetensorsHeader header;
  std::vector<std::string> names;

  /// The tensors at these places.
  std::vector<NamedTensor> read(std::span<const std::size_t> places) const;
};

}  // namespace tessera::data
