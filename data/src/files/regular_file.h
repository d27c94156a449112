// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

namespace tessera::data {

/// A regular file opened for reading; anything else at that path (directory, FIFO, device) is
/// refused without waiting on it. Throws InputError E0401, E0402.
class RegularFile {
 public:
  explicit RegularFile(const std::filesystem::path& path);
  /// Takes over what `open_to_read` has opened; `status` is its own.
  RegularFile(std::filesystem::path path, int fd, const struct stat& status);
  ~RegularFile();
  RegularFile(const RegularFile&) = delete;
  RegularFile& operator=(const RegularFile&) = delete;
  const std::filesystem::path& path() const { return path_; }
  int descriptor() const { return fd_; }
  /// When it was opened.
  std::uint64_t size() const { return static_cast<std::uint64_t>(status_.st_size); }
  std::uint64_t size_now() const;
  /// Whether a name leads to this file.
  bool is(const struct stat& other) const {
    return status_.st_dev == other.st_dev && status_.st_ino == other.st_ino;
  }
  /// Bytes from `offset` on, at most `n`; fewer only at the end. Throws InputError E0401.
  std::size_t read(std::uint64_t offset, void* to, std::size_t n) const;

 private:
  std::filesystem::path path_;
  int fd_ = -1;
  struct stat status_ {};
};

/// A descriptor, or -1 with errno; never waits on a FIFO. Inputs stay open: a process that holds
/// half of the files that it may takes the right to as many as the machine allows, before something
/// else of it needs one.
int open_to_read(const std::filesystem::path& path);

/// What readers have to do with the InputFiles of this thread.
struct OpenInputs {
  /// The file that is open already; none: it is to be opened.
  static std::shared_ptr<const RegularFile> find(const struct stat& status);
  static void add(std::shared_ptr<const RegularFile> file);
  /// `bytes` are all of it, and what is parsed.
  static void parsed(const RegularFile& file, std::string_view bytes);
};

/// The file, opened now if it is not open already. Throws InputError E0401, E0402.
std::shared_ptr<const RegularFile> open_regular(const std::filesystem::path& path);

}  // namespace tessera::data
