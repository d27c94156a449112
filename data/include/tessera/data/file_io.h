// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace tessera::data {

/// The whole of a regular file. Directories, FIFOs, devices and files above `max_bytes` are refused
/// before reading. Throws InputError E0401 (cannot be read), E0402 (not a regular file), E0403 (too
/// large); exit code 4.
std::string read_file(const std::filesystem::path& path,
                      std::uint64_t max_bytes = std::uint64_t{1} << 32);

/// A file that appears whole or not at all: bytes go to `PATH.tmp-PID` (O_EXCL), and `commit` does
/// fsync, rename over PATH and fsync of the folder. Without `commit` the destructor removes the
/// temporary file. Every failure throws InputError: E0501 no space (exit 3), E0502 not permitted or
/// no such folder (exit 2), E0503 any other input/output error (exit 1).
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  void write(const void* bytes, std::size_t n);
  /// Whether what is written goes to the disk past the cache of the system, where the file system
  /// can: then bytes, their number and the place in the file are multiples of `disk_block`.
  void write_past_cache(bool past);
  static constexpr std::size_t disk_block = 4096;
  void commit();
  /// Commits under a name in the same folder that follows from what was written.
  void commit_as(std::filesystem::path path);
  /// Renames without fsync: a power failure may lose the content.
  void commit_without_sync();
  /// Where the bytes lie until `commit`.
  const std::filesystem::path& temporary() const { return temporary_; }

 private:
  std::filesystem::path path_, temporary_;
  int fd_ = -1;
  bool past_cache_ = false;
  std::int64_t written_ = 0, begun_ = 0;  ///< bytes; of these on their way to the disk
};

/// Replaces the file by `content` in one step; see AtomicFile for the errors.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

/// Replaces the file so that a reader sees the old or the new content, but without waiting for the
/// disk (status files).
void replace_file(const std::filesystem::path& path, std::string_view content);

/// Moves a finished file into place: fsync of `from`, rename to `to`, fsync of the folder. Errors
/// as AtomicFile.
void commit_file(const std::filesystem::path& from, const std::filesystem::path& to);

/// Makes the folder and those above it, where they are not there yet; errors as AtomicFile.
void make_folder(const std::filesystem::path& path);

/// Throws the InputError that fits `error_number` (an errno value) for a failed `action` on `path`.
[[noreturn]] void throw_io_error(const std::filesystem::path& path, std::string_view action,
                                 int error_number);

}  // namespace tessera::data
