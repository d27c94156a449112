// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace tessera::data {

/// A regular file opened for reading; anything else at that path (directory, FIFO, device) is refused without
/// waiting on it. Throws InputError E0401, E0402.
class RegularFile {
 public:
  explicit RegularFile(const std::filesystem::path& path);
  ~RegularFile();
  RegularFile(const RegularFile&) = delete;
  RegularFile& operator=(const RegularFile&) = delete;
  std::uint64_t size() const { return size_; }
  /// Up to `n` further bytes; 0 at the end. Throws InputError E0401.
  std::size_t read_some(void* to, std::size_t n) const;

 private:
  std::filesystem::path path_;
  int fd_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace tessera::data
