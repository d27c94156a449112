// SPDX-License-Identifier: Apache-2.0
#include "arrays/place_writer.h"

#include "tessera/data/file_io.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

namespace tessera::data {
namespace {

constexpr std::size_t kBlock = AtomicFile::disk_block, kPiece = std::size_t{4} << 20,
                      kLong = std::size_t{1} << 20;

struct Aligned {
  void operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t{kBlock}); }
};

}  // namespace

PlaceWriter::PlaceWriter(std::filesystem::path path) : path_(std::move(path)) {
  cached_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  if (cached_ < 0) throw_io_error(path_, "open for writing", errno);
#ifdef O_DIRECT
  direct_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_DIRECT);  // -1: then nothing goes past
#endif
}
PlaceWriter::~PlaceWriter() {
  ::close(cached_);
  if (direct_ >= 0) ::close(direct_);
}

void PlaceWriter::write(std::uint64_t at, const std::byte* bytes, std::size_t n) {
  const std::uint64_t begin = (at + kBlock - 1) / kBlock * kBlock, end = (at + n) / kBlock * kBlock;
  if (n < kLong || direct_ < 0) return write_cached(at, bytes, n);
  const auto head = static_cast<std::size_t>(begin - at),
             middle = static_cast<std::size_t>(end - begin);
  if (!write_past_cache(begin, bytes + head, middle)) return write_cached(at, bytes, n);
  write_cached(at, bytes, head);
  write_cached(end, bytes + head + middle, n - head - middle);
}

void PlaceWriter::write_cached(std::uint64_t at, const std::byte* bytes, std::size_t n) {
  while (n > 0) {
    const ssize_t done = ::pwrite(cached_, bytes, n, static_cast<off_t>(at));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) throw_io_error(path_, "write", done < 0 ? errno : ENOSPC);
    bytes += done, at += static_cast<std::uint64_t>(done), n -= static_cast<std::size_t>(done);
  }
}

bool PlaceWriter::write_past_cache(std::uint64_t at, const std::byte* bytes, std::size_t n) {
  const std::unique_ptr<std::byte[], Aligned> piece(new (std::align_val_t{kBlock})
                                                        std::byte[std::min(n, kPiece)]);
  for (std::size_t written = 0; written < n;) {
    const std::size_t now = std::min(n - written, kPiece);
    std::memcpy(piece.get(), bytes + written, now);
    ssize_t done = 0;
    do done = ::pwrite(direct_, piece.get(), now, static_cast<off_t>(at + written));
    while (done < 0 && errno == EINTR);
    if (done < 0 && errno == EINVAL && written == 0) return false;
    if (done <= 0) throw_io_error(path_, "write", done < 0 ? errno : ENOSPC);
    const auto whole = static_cast<std::size_t>(done);
    if (whole < now)  // a part of it, as on a disk that is nearly full
      write_cached(at + written + whole, bytes + written + whole, now - whole);
    written += now;
  }
  return true;
}

void PlaceWriter::sync() {
  if (::fsync(cached_) != 0) throw_io_error(path_, "write", errno);
}

}  // namespace tessera::data
