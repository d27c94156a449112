// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/binary_file.h"

#include "files/regular_file.h"
#include "tessera/autodiff/error.h"
#include "tessera/data/file_io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace tessera::data {
namespace {

void write_all(int fd, const std::filesystem::path& path, std::uint64_t offset,
               std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) throw_io_error(path, "write", n < 0 ? errno : ENOSPC);
    offset += static_cast<std::uint64_t>(n);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

}  // namespace

BinaryInput::BinaryInput(const std::filesystem::path& path)
    : name_(path.string()), file_(open_regular(path)) {
  size_ = file_->size();
}

BinaryInput::BinaryInput(std::string name, std::string bytes)
    : name_(std::move(name)), bytes_(std::move(bytes)), size_(bytes_.size()) {}

bool BinaryInput::read(std::uint64_t offset, void* to, std::size_t n) const {
  if (offset > size_ || n > size_ - offset) return false;
  if (file_) return file_->read(offset, to, n) == n;  // less: the file shrank meanwhile
  if (n > 0) std::memcpy(to, bytes_.data() + offset, n);
  return true;
}

AppendFile::AppendFile(int flags, std::filesystem::path path)
    : path_(std::move(path)), fd_(::open(path_.c_str(), O_WRONLY | O_CLOEXEC | flags, 0666)) {
  if (fd_ < 0) throw_io_error(path_, "open for writing", errno);
}

AppendFile::AppendFile(std::filesystem::path path)
    : AppendFile(O_CREAT | O_TRUNC, std::move(path)) {}

AppendFile::AppendFile(std::filesystem::path path, std::uint64_t keep)
    : AppendFile(0, std::move(path)) {
  struct stat s;
  if (::fstat(fd_, &s) != 0) throw_io_error(path_, "look at", errno);
  if (static_cast<std::uint64_t>(s.st_size) < keep)
    throw Error("[append] " + path_.string() + ": expected at least " + std::to_string(keep) +
                " bytes to go on after, found " + std::to_string(s.st_size));
  if (::ftruncate(fd_, static_cast<off_t>(keep)) != 0) throw_io_error(path_, "cut back", errno);
  size_ = keep;
}

AppendFile::~AppendFile() {
  if (fd_ >= 0) ::close(fd_);
}

void AppendFile::append(std::string_view bytes) {
  write_all(fd_, path_, size_, bytes);
  size_ += bytes.size();
}

void AppendFile::overwrite(std::uint64_t offset, std::string_view bytes) {
  if (offset > size_ || bytes.size() > size_ - offset)
    throw Error("[append] " + path_.string() + ": there are no such bytes to replace");
  write_all(fd_, path_, offset, bytes);
}

void AppendFile::sync() {
  if (::fsync(fd_) != 0) throw_io_error(path_, "sync", errno);
}

}  // namespace tessera::data
