// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/binary_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "tessera/autodiff/error.h"
#include "tessera/data/diagnostic.h"
#include "tessera/data/file_io.h"

namespace tessera::data {
namespace {

[[noreturn]] void refuse(const std::string& name, int number, std::string message) {
  throw InputError(Diagnostic{.number = number, .place = {name}, .message = std::move(message)});
}

void write_all(int fd, const std::filesystem::path& path, std::uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) throw_io_error(path, "write", n < 0 ? errno : ENOSPC);
    offset += static_cast<std::uint64_t>(n);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

}  // namespace

BinaryInput::BinaryInput(const std::filesystem::path& path) : name_(path.string()) {
  fd_ = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);  // never waits on a FIFO
  if (fd_ < 0) refuse(name_, 401, std::string("cannot open: ") + std::strerror(errno));
  struct stat s;
  if (::fstat(fd_, &s) != 0 || !S_ISREG(s.st_mode)) {
    ::close(std::exchange(fd_, -1));
    refuse(name_, 402, "expected a regular file, found a folder, pipe or device");
  }
  size_ = static_cast<std::uint64_t>(s.st_size);
}

BinaryInput::BinaryInput(std::string name, std::string bytes) : name_(std::move(name)), bytes_(std::move(bytes)), size_(bytes_.size()) {}

BinaryInput::~BinaryInput() {
  if (fd_ >= 0) ::close(fd_);
}

BinaryInput::BinaryInput(BinaryInput&& o) noexcept
    : name_(std::move(o.name_)), bytes_(std::move(o.bytes_)), size_(o.size_), fd_(std::exchange(o.fd_, -1)) {}

BinaryInput& BinaryInput::operator=(BinaryInput&& o) noexcept {
  std::swap(name_, o.name_);
  std::swap(bytes_, o.bytes_);
  std::swap(size_, o.size_);
  std::swap(fd_, o.fd_);
  return *this;
}

bool BinaryInput::read(std::uint64_t offset, void* to, std::size_t n) const {
  if (offset > size_ || n > size_ - offset) return false;
  if (fd_ < 0) {
    if (n > 0) std::memcpy(to, bytes_.data() + offset, n);
    return true;
  }
  for (char* p = static_cast<char*>(to); n > 0;) {
    const ssize_t got = ::pread(fd_, p, n, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse(name_, 401, std::string("cannot read: ") + std::strerror(errno));
    if (got == 0) return false;  // the file shrank meanwhile
    p += got, offset += static_cast<std::uint64_t>(got), n -= static_cast<std::size_t>(got);
  }
  return true;
}

AppendFile::AppendFile(int flags, std::filesystem::path path)
    : path_(std::move(path)), fd_(::open(path_.c_str(), O_WRONLY | O_CLOEXEC | flags, 0666)) {
  if (fd_ < 0) throw_io_error(path_, "open for writing", errno);
}

AppendFile::AppendFile(std::filesystem::path path) : AppendFile(O_CREAT | O_TRUNC, std::move(path)) {}

AppendFile::AppendFile(std::filesystem::path path, std::uint64_t keep) : AppendFile(0, std::move(path)) {
  struct stat s;
  if (::fstat(fd_, &s) != 0) throw_io_error(path_, "look at", errno);
  if (static_cast<std::uint64_t>(s.st_size) < keep)
    throw Error("[append] " + path_.string() + ": expected at least " + std::to_string(keep) + " bytes to go on after, found " +
                std::to_string(s.st_size));
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
  if (offset > size_ || bytes.size() > size_ - offset) throw Error("[append] " + path_.string() + ": there are no such bytes to replace");
  write_all(fd_, path_, offset, bytes);
}

void AppendFile::sync() {
  if (::fsync(fd_) != 0) throw_io_error(path_, "sync", errno);
}

}  // namespace tessera::data
