// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace tessera::detail {

/// Memory that is counted (memory.h); uninitialised. Some room behind it is for LAPACK kernels that
/// read on.
class Block {
 public:
  explicit Block(std::size_t bytes = 0);
  Block(Block&& o) noexcept : data_(o.data_), bytes_(o.bytes_) { o.data_ = nullptr; }
  Block& operator=(Block&& o) noexcept;
  ~Block();
  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Numbered copies of one state, in memory or in a file that vanishes with its owner, however the
/// program ends.
class Snapshots {
 public:
  Snapshots(std::size_t state_bytes, bool on_disk, const std::string& folder);
  ~Snapshots();
  Snapshots(const Snapshots&) = delete;
  void store(int slot, const std::byte* state);
  void restore(int slot, std::byte* state) const;
  std::size_t held() const { return held_; }

 private:
  std::size_t bytes_, held_ = 0;
  int file_ = -1;
  std::vector<bool> used_;
  std::vector<Block> memory_;
};

}  // namespace tessera::detail
