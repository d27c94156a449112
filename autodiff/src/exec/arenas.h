// SPDX-License-Identifier: Apache-2.0
//
// The memory of what lies between the arguments and results of plans. Plans of one function take
// turns in it: a run takes a block and gives it back, so that the largest plan's serves all. As
// many blocks are there as runs were in flight at once, each at most as large as the largest plan
// needs.
#pragma once
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

namespace tessera::plan {

class Arenas {
 public:
  struct Block {
    std::byte* data = nullptr;
    std::size_t bytes = 0;
  };
  Arenas() = default;
  Arenas(const Arenas&) = delete;
  ~Arenas();
  /// The smallest idle block that has as many bytes, or a new one in place of the largest.
  Block take(std::size_t bytes);
  void give(Block b);
  /// From now on no plan needs more: larger blocks go as they become idle.
  void set_largest(std::size_t bytes);

 private:
  std::mutex mutex_;
  std::vector<Block> idle_;
  std::size_t largest_ = ~std::size_t{0};
};

/// A block for one run. Without `arenas` it is the engine's, which keeps what was freed last.
class Lease {
 public:
  Lease() = default;
  Lease(Arenas* arenas, std::size_t bytes);
  Lease(Lease&& o) noexcept : arenas_(o.arenas_), block_(std::exchange(o.block_, {})) {}
  Lease& operator=(Lease&& o) noexcept {
    std::swap(arenas_, o.arenas_), std::swap(block_, o.block_);
    return *this;
  }
  ~Lease();
  std::byte* data() const { return block_.data; }

 private:
  Arenas* arenas_ = nullptr;
  Arenas::Block block_;
};

}  // namespace tessera::plan
