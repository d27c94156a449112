// SPDX-License-Identifier: Apache-2.0
// What is read for a loop before it asks.
#pragma once
#include "tessera/autodiff/tensor.h"

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tessera::solvers::detail {

/// read(0), ..., read(count - 1), in order. With loaders so many threads read, each on its own, at
/// most twice as many ahead of the loop; without, the loop's own thread reads when it asks. What a
/// reader throws reaches the loop in place of the result. The end of this object ends and joins the
/// threads.
class ReadAhead {
 public:
  using Batch = std::vector<Tensor>;
  using Read = std::function<Batch(std::size_t)>;
  ReadAhead(std::size_t count, Read read, int loaders);
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  /// The next one; not to be called more than `count` times.
  Batch next();

 private:
  struct Place {
    bool full = false;
    Batch batch;
    std::exception_ptr failure;
  };
  void load();
  Place& place(std::size_t k) { return ring_[k % ring_.size()]; }

  const std::size_t count_;
  const Read read_;
  std::mutex mutex_;  ///< of all below
  std::condition_variable filled_, emptied_;
  std::vector<Place> ring_;  ///< of result k: at k modulo its size
  std::size_t begun_ = 0, given_ = 0;
  bool over_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace tessera::solvers::detail
