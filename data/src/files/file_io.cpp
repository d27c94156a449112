// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/file_io.h"

#include "files/regular_file.h"
#include "tessera/data/diagnostic.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

namespace tessera::data {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void refuse(const fs::path& path, int number, std::string message,
                         std::string hint = "") {
  throw InputError(Diagnostic{.number = number,
                              .place = {path.string()},
                              .message = std::move(message),
                              .hint = std::move(hint)});
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

void sync_folder(const fs::path& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) throw_io_error(folder, "open folder", errno);
  const int failed = ::fsync(fd) != 0 ? errno : 0;
  ::close(fd);
  // Some file systems cannot sync a folder and say EINVAL; there is nothing better to do then.
  if (failed && failed != EINVAL) throw_io_error(folder, "sync folder", failed);
}

void sync_and_close(int fd, const fs::path& path) {
  const int sync_failed = ::fsync(fd) != 0 ? errno : 0;
  const int close_failed = ::close(fd) != 0 ? errno : 0;
  if (sync_failed || close_failed)
    throw_io_error(path, "write", sync_failed ? sync_failed : close_failed);
}

}  // namespace

int open_to_read(const fs::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  rlimit most{};
  if (fd >= 0 && ::getrlimit(RLIMIT_NOFILE, &most) == 0 &&
      static_cast<rlim_t>(fd) > most.rlim_cur / 2) {
    most.rlim_cur = most.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &most);
  }
  return fd;
}

RegularFile::RegularFile(const fs::path& path) : path_(path), fd_(open_to_read(path)) {
  if (fd_ < 0) refuse(path, 401, std::string("cannot open: ") + std::strerror(errno));
  if (::fstat(fd_, &status_) != 0 || !S_ISREG(status_.st_mode)) {
    ::close(fd_);
    refuse(path, 402, "expected a regular file, found a folder, pipe or device");
  }
}

RegularFile::RegularFile(fs::path path, int fd, const struct stat& status)
    : path_(std::move(path)), fd_(fd), status_(status) {}

RegularFile::~RegularFile() { ::close(fd_); }

std::uint64_t RegularFile::size_now() const {
  struct stat s;
  return ::fstat(fd_, &s) == 0 ? static_cast<std::uint64_t>(s.st_size) : size();
}

std::size_t RegularFile::read(std::uint64_t offset, void* to, std::size_t n) const {
  std::size_t have = 0;
  while (have < n) {
    const ssize_t got =
        ::pread(fd_, static_cast<char*>(to) + have, n - have, static_cast<off_t>(offset + have));
    if (got == 0) break;
    if (got > 0)
      have += static_cast<std::size_t>(got);
    else if (errno != EINTR)
      refuse(path_, 401, std::string("cannot read: ") + std::strerror(errno));
  }
  return have;
}

std::string read_file(const fs::path& path, std::uint64_t max_bytes) {
  const RegularFile file(path);
  if (file.size() > max_bytes)
    refuse(path, 403,
           "has " + std::to_string(file.size()) + " bytes; at most " + std::to_string(max_bytes) +
               " are read here");
  std::string out;
  try {
    out.resize(static_cast<std::size_t>(file.size()));
  } catch (const std::bad_alloc&) {
    refuse(path, 403, "has " + std::to_string(file.size()) + " bytes, more than the memory holds");
  }
  out.resize(file.read(0, out.data(), out.size()));  // less where the file shrank meanwhile
  return out;
}

void make_folder(const fs::path& path) {
  std::error_code failed;
  fs::create_directories(path, failed);
  if (failed) throw_io_error(path, "create folder", failed.value());
}

void throw_io_error(const fs::path& path, std::string_view action, int error_number) {
  Diagnostic d{.place = {path.string()},
               .message = std::string(action) + " failed: " + std::strerror(error_number)};
  ExitCode code = ExitCode::internal_fault;
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      d.number = 501, code = ExitCode::would_not_fit;
      d.hint = "free some space (or raise the quota or file size limit), then `tessera resume`";
      break;
    case EACCES:
    case EPERM:
    case EROFS:
    case ENOENT:
    case ENOTDIR:
    case ELOOP:
    case ENAMETOOLONG:
    case EISDIR:
      d.number = 502, code = ExitCode::usage;
      d.hint = "choose a folder that exists and may be written to";
      break;
    default:
      d.number = 503;
  }
  throw InputError(std::move(d), code);
}

AtomicFile::AtomicFile(fs::path path)
    : path_(std::move(path)), temporary_(path_.string() + ".tmp-" + std::to_string(::getpid())) {
  const auto make = [&] {
    return ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  };
  fd_ = make();
  if (fd_ < 0 && errno == EEXIST) {  // left by a killed process that had our pid
    ::unlink(temporary_.c_str());
    fd_ = make();
  }
  if (fd_ < 0) throw_io_error(temporary_, "create", errno);
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(const void* bytes, std::size_t n) {
  const char* p = static_cast<const char*>(bytes);
  while (n > 0) {
    const ssize_t done = ::write(fd_, p, std::min<std::size_t>(n, std::size_t{1} << 30));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0 && errno == EINVAL && past_cache_) {  // it cannot, after all
      write_past_cache(false);
      continue;
    }
    if (done <= 0) throw_io_error(path_, "write", done < 0 ? errno : ENOSPC);
    p += done, n -= static_cast<std::size_t>(done);
    written_ += done;
  }
#ifdef __linux__
  // The disk begins while more is made: a sync at the end waits for the last of it only.
  constexpr std::int64_t piece = 8 << 20;
  if (written_ - begun_ >= piece && !past_cache_) {
    ::sync_file_range(fd_, begun_, written_ - begun_, SYNC_FILE_RANGE_WRITE);
    begun_ = written_;
  }
#endif
}

void AtomicFile::write_past_cache([[maybe_unused]] bool past) {
#ifdef O_DIRECT
  const int flags = ::fcntl(fd_, F_GETFL);
  past_cache_ =
      flags >= 0 && ::fcntl(fd_, F_SETFL, past ? flags | O_DIRECT : flags & ~O_DIRECT) == 0 && past;
#endif
}

void AtomicFile::commit() {
  const int fd = fd_;
  fd_ = -1;
  sync_and_close(fd, path_);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0)
    throw_io_error(path_, "rename into place", errno);
  temporary_.clear();
  sync_folder(folder_of(path_));
}

void AtomicFile::commit_as(fs::path path) {
  path_ = std::move(path);
  commit();
}

void AtomicFile::commit_without_sync() {
  const int fd = fd_;
  fd_ = -1;
  if (::close(fd) != 0) throw_io_error(path_, "write", errno);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0)
    throw_io_error(path_, "rename into place", errno);
  temporary_.clear();
}

void replace_file(const fs::path& path, std::string_view content) {
  AtomicFile file(path);
  file.write(content.data(), content.size());
  file.commit_without_sync();
}

void write_file_atomically(const fs::path& path, std::string_view content) {
  AtomicFile file(path);
  file.write(content.data(), content.size());
  file.commit();
}

void commit_file(const fs::path& from, const fs::path& to) {
  const int fd = ::open(from.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw_io_error(from, "open", errno);
  sync_and_close(fd, from);
  if (::rename(from.c_str(), to.c_str()) != 0) throw_io_error(to, "rename into place", errno);
  sync_folder(folder_of(to));
}

}  // namespace tessera::data
