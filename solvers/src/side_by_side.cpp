// SPDX-License-Identifier: Apache-2.0
#include "side_by_side.h"

#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/thread_count.h"

#include <algorithm>
#include <system_error>

namespace tessera::solvers::detail {

SideBySide::SideBySide(int workers) : threads_each_(num_threads() / std::max(1, workers)) {
  threads_.reserve(static_cast<std::size_t>(workers));
  try {
    while (static_cast<int>(threads_.size()) + 1 < workers)
      threads_.emplace_back([this] { wait_for_work(); });
  } catch (const std::system_error&) {  // no more threads: those that are there do it
  }
}

SideBySide::~SideBySide() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  begun_.notify_all();
  for (std::thread& t : threads_) t.join();
}

void SideBySide::take_pieces(std::unique_lock<std::mutex>& lock) {
  while (next_ < count_) {
    const std::size_t k = next_++;
    ++busy_;
    lock.unlock();
    std::exception_ptr failure;
    try {
      (*work_)(k);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    failures_[k] = failure;
    if (--busy_ == 0 && next_ == count_) done_.notify_one();
  }
}

void SideBySide::wait_for_work() {
  const ThreadCount share(threads_each_);
  std::unique_lock lock(mutex_);
  for (;;) {
    begun_.wait(lock, [this] { return over_ || next_ < count_; });
    if (over_) return;
    take_pieces(lock);
  }
}

void SideBySide::run(std::size_t n, const std::function<void(std::size_t)>& work) {
  if (threads_.empty() || n < 2) {
    for (std::size_t k = 0; k < n; ++k) work(k);
    return;
  }
  const ThreadCount share(threads_each_);
  std::unique_lock lock(mutex_);
  work_ = &work, next_ = 0, count_ = n;
  failures_.assign(n, nullptr);
  begun_.notify_all();
  take_pieces(lock);
  done_.wait(lock, [this] { return busy_ == 0; });
  for (const std::exception_ptr& failure : failures_)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace tessera::solvers::detail
