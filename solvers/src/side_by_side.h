// SPDX-License-Identifier: Apache-2.0
// Pieces of work on threads of their own.
#pragma once
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tessera::solvers::detail {

/// Threads that wait for work: the caller and `workers` - 1 more. With one worker the caller does
/// all in turn, and its kernels use the threads that it has; with more these are shared out among
/// them.
class SideBySide {
 public:
  explicit SideBySide(int workers);
  ~SideBySide();
  SideBySide(const SideBySide&) = delete;
  SideBySide& operator=(const SideBySide&) = delete;

  /// work(0), ..., work(n - 1), all done when it returns; throws what the first of them threw.
  void run(std::size_t n, const std::function<void(std::size_t)>& work);

 private:
  void wait_for_work();
  void take_pieces(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;  ///< of all below
  std::condition_variable begun_, done_;
  const std::function<void(std::size_t)>* work_ = nullptr;
  std::size_t next_ = 0, count_ = 0, busy_ = 0;
  std::vector<std::exception_ptr> failures_;
  bool over_ = false;
  const int threads_each_;
  std::vector<std::thread> threads_;
};

}  // namespace tessera::solvers::detail
