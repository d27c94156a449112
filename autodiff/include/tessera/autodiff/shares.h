// SPDX-License-Identifier: Apache-2.0
//
// Which thread does which chunk of a loop: neighbours stay with one thread from loop to loop, so
// that what it wrote in one lies in its cache in the next, and nobody waits while there is work
// (docs/decisions/0120-shares.md).
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <vector>

namespace tessera {

/// Chunks [0, n) for T threads: thread t has the share [n t/T, n (t+1)/T) and takes it from the
/// front; who has finished helps the next from the back. T >= 1; shares of fewer than 2^32 chunks.
class Shares {
 public:
  Shares(std::int64_t n, int threads) {
    Share* place = reinterpret_cast<Share*>(here_);
    if (static_cast<std::size_t>(threads) > kHere) {
      more_.resize(static_cast<std::size_t>(threads));
      place = reinterpret_cast<Share*>(more_.data());
    }
    shares_ = {place, static_cast<std::size_t>(threads)};
    for (int t = 0; t < threads; ++t) {
      Share& s = *::new (static_cast<void*>(place + t)) Share;
      s.first = n * t / threads;
      s.left.store(static_cast<std::uint64_t>(n * (t + 1) / threads - s.first) << 32,
                   std::memory_order_relaxed);
    }
  }
  Shares(const Shares&) = delete;
  /// f(chunk) on thread t until nothing is left, or until f returns false. Each chunk is some
  /// thread's; not to be called twice for t.
  template <class F>
  void take(std::int64_t t, F&& f) {
    std::int64_t chunk;
    for (std::size_t k = 0; k < shares_.size(); ++k)
      while (shares_[(static_cast<std::size_t>(t) + k) % shares_.size()].take(k == 0, chunk))
        if (!f(chunk)) return;
  }

 private:
  struct alignas(64) Share {
    std::int64_t first = 0;
    std::atomic<std::uint64_t> left{
        0};  ///< front in the low half, end in the high one, from `first`

    bool take(bool from_front, std::int64_t& chunk) {
      constexpr std::uint64_t of_end = std::uint64_t{1} << 32;
      std::uint64_t now = left.load(std::memory_order_relaxed);
      while ((now & (of_end - 1)) < now >> 32)
        if (left.compare_exchange_weak(now, from_front ? now + 1 : now - of_end,
                                       std::memory_order_relaxed)) {
          chunk =
              first + static_cast<std::int64_t>(from_front ? now & (of_end - 1) : (now >> 32) - 1);
          return true;
        }
      return false;
    }
  };
  static constexpr std::size_t kHere = 64;  // without asking for memory
  struct alignas(Share) Place {
    std::byte bytes[sizeof(Share)];
  };
  Place here_[kHere];
  std::vector<Place> more_;
  std::span<Share> shares_;
};

}  // namespace tessera
