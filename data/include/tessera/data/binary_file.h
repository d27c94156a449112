// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace tessera::data {

class RegularFile;

/// A regular file, or bytes in memory that stand for one, read at any place. Memory does not grow
/// with its size.
class BinaryInput {
 public:
  /// Throws InputError E0401 (cannot be opened), E0402 (not a regular file).
  explicit BinaryInput(const std::filesystem::path& path);
  BinaryInput(std::string name, std::string bytes);

  const std::string& name() const { return name_; }
  std::uint64_t size() const { return size_; }
  /// Copies bytes [offset, offset + n); false where the file ends before. Throws InputError E0401.
  bool read(std::uint64_t offset, void* to, std::size_t n) const;

 private:
  std::string name_, bytes_;
  std::uint64_t size_ = 0;
  std::shared_ptr<const RegularFile> file_;  ///< none: the bytes are in memory
};

/// A file that grows at its end. What `append` took has reached the system: a killed process loses
/// none of it, a power failure what came after the last `sync`. Errors as AtomicFile's.
class AppendFile {
 public:
  /// A new file in place of any that is there.
  explicit AppendFile(std::filesystem::path path);
  /// Goes on with a file after its first `keep` bytes; the rest is cut off. Throws Error where it
  /// is shorter.
  AppendFile(std::filesystem::path path, std::uint64_t keep);
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  std::uint64_t size() const { return size_; }
  void append(std::string_view bytes);
  /// Replaces bytes that are there.
  void overwrite(std::uint64_t offset, std::string_view bytes);
  void sync();

 private:
  AppendFile(int flags, std::filesystem::path path);
  std::filesystem::path path_;
  std::uint64_t size_ = 0;
  int fd_ = -1;
};

}  // namespace tessera::data
