// SPDX-License-Identifier: Apache-2.0
#include "read_ahead.h"

#include "tessera/autodiff/thread_count.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace tessera::solvers::detail {

ReadAhead::ReadAhead(std::size_t count, Read read, int loaders)
    : count_(count), read_(std::move(read)), ring_(2 * static_cast<std::size_t>(loaders)) {
  const auto n = std::min(count, static_cast<std::size_t>(loaders));
  threads_.reserve(n);
  try {
    while (threads_.size() < n) threads_.emplace_back([this] { load(); });
  } catch (const std::system_error&) {  // no more threads: those that are there do it
    if (threads_.empty()) ring_.clear();
  }
}

ReadAhead::~ReadAhead() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  emptied_.notify_all();
  for (std::thread& t : threads_) t.join();
}

void ReadAhead::load() {
  const ThreadCount alone(1);
  std::unique_lock lock(mutex_);
  for (;;) {
    emptied_.wait(lock,
                  [this] { return over_ || begun_ == count_ || begun_ < given_ + ring_.size(); });
    if (over_ || begun_ == count_) return;
    const std::size_t k = begun_++;
    lock.unlock();
    Place found{.full = true};
    try {
      found.batch = read_(k);
    } catch (...) {
      found.failure = std::current_exception();
    }
    lock.lock();
    place(k) = std::move(found);
    filled_.notify_one();
  }
}

ReadAhead::Batch ReadAhead::next() {
  if (ring_.empty()) return read_(given_++);
  Place found;
  {
    std::unique_lock lock(mutex_);
    Place& mine = place(given_);
    filled_.wait(lock, [&mine] { return mine.full; });
    found = std::exchange(mine, {});
    ++given_;
  }
  emptied_.notify_one();
  if (found.failure) std::rethrow_exception(found.failure);
  return std::move(found.batch);
}

}  // namespace tessera::solvers::detail
