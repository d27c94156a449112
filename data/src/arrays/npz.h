// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "arrays/npy.h"

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace tessera::data {

/// An archive that has been opened, and its directory read.
struct NpzInput {
  explicit NpzInput(const std::filesystem::path& path);

  BinaryInput file;
  std::vector<ZipMember> members;
  std::vector<std::string> names;  ///< without `.npy`

  /// The members at these places.
  std::vector<NamedTensor> read(std::span<const std::size_t> places) const;
};

/// Throws InputError E0437 unless a member's name ends in `.npy`.
void check_npy_member(const BinaryInput& file, const ZipMember& member);

}  // namespace tessera::data
