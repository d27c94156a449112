// SPDX-License-Identifier: Apache-2.0
#include "snapshots.h"

#include "../base/memory_internal.h"
#include "tessera/autodiff/primitive.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

namespace tessera::detail {
namespace {
constexpr std::size_t kRoom = 64;
}

Block::Block(std::size_t bytes) : bytes_(bytes ? bytes + kRoom : 0) {
  if (bytes_) data_ = static_cast<std::byte*>(allocate(bytes_));
}
Block& Block::operator=(Block&& o) noexcept {
  std::swap(data_, o.data_);
  std::swap(bytes_, o.bytes_);
  return *this;
}
Block::~Block() {
  if (data_) deallocate(data_, bytes_);
}

Snapshots::Snapshots(std::size_t state_bytes, bool on_disk, const std::string& folder)
    : bytes_(state_bytes) {
  if (!on_disk) return;
  std::error_code missing;
  const std::filesystem::path place = folder.empty() ? std::filesystem::temp_directory_path(missing)
                                                     : std::filesystem::path(folder);
  if (missing)
    fail("checkpoint",
         "the system's folder for temporary files (TMPDIR) cannot be used: " + missing.message());
  std::string name = (place / "tessera-snapshots-XXXXXX").string();
  file_ = mkostemp(name.data(), O_CLOEXEC);
  if (file_ < 0)
    fail("checkpoint",
         "cannot make a file for snapshots in " + place.string() + ": " + std::strerror(errno));
  unlink(name.c_str());
}
Snapshots::~Snapshots() {
  if (file_ >= 0) ::close(file_);
}

void Snapshots::store(int slot, const std::byte* state) {
  const auto n = static_cast<std::size_t>(slot);
  if (n >= used_.size()) used_.resize(n + 1, false);
  if (!used_[n]) ++held_;
  used_[n] = true;
  if (file_ < 0) {
    if (n >= memory_.size()) memory_.resize(n + 1);
    if (!memory_[n].data()) memory_[n] = Block(bytes_);
    if (bytes_) std::memcpy(memory_[n].data(), state, bytes_);
    return;
  }
  for (std::size_t done = 0; done < bytes_;) {
    const ssize_t k =
        pwrite(file_, state + done, bytes_ - done, static_cast<off_t>(n * bytes_ + done));
    if (k < 0 && errno == EINTR) continue;
    if (k <= 0) fail("checkpoint", std::string("cannot write a snapshot: ") + std::strerror(errno));
    done += static_cast<std::size_t>(k);
  }
}

void Snapshots::restore(int slot, std::byte* state) const {
  const auto n = static_cast<std::size_t>(slot);
  if (file_ < 0) {
    if (bytes_) std::memcpy(state, memory_[n].data(), bytes_);
    return;
  }
  for (std::size_t done = 0; done < bytes_;) {
    const ssize_t k =
        pread(file_, state + done, bytes_ - done, static_cast<off_t>(n * bytes_ + done));
    if (k < 0 && errno == EINTR) continue;
    if (k <= 0)
      fail("checkpoint", std::string("cannot read a snapshot back: ") + std::strerror(errno));
    done += static_cast<std::size_t>(k);
  }
}

}  // namespace tessera::detail
