// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/forall.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#ifndef TESSERA_STD_THREADS
#include <omp.h>
#endif

namespace tessera {
namespace {

int default_threads() {
  if (const char* s = std::getenv("OMP_NUM_THREADS"))
    if (const int n = std::atoi(s); n > 0) return n;
  return std::max(1u, std::thread::hardware_concurrency());
}
std::atomic<int> threads{default_threads()};
thread_local bool inside = false;

struct Inside {
  bool before = inside;
  Inside() { inside = true; }
  ~Inside() { inside = before; }
};

}  // namespace

void set_num_threads(int n) { threads = std::max(1, n); }
int num_threads() { return threads.load(std::memory_order_relaxed); }

namespace detail {

bool in_parallel() { return inside; }

#ifdef TESSERA_STD_THREADS
// Plain threads for the thread sanitizer, which cannot see libgomp's synchronisation.
void run_chunks(std::int64_t n_chunks, void (*task)(void*, std::int64_t), void* context) {
  std::atomic<std::int64_t> next{0};
  std::exception_ptr failure;
  std::atomic<bool> failed{false};
  auto work = [&] {
    Inside scope;
    for (std::int64_t c; !failed && (c = next++) < n_chunks;) {
      try {
        task(context, c);
      } catch (...) {
        if (!failed.exchange(true)) failure = std::current_exception();
      }
    }
  };
  std::vector<std::thread> pool;
  for (int t = 1; t < std::min<std::int64_t>(num_threads(), n_chunks); ++t) pool.emplace_back(work);
  work();
  for (std::thread& t : pool) t.join();
  if (failure) std::rethrow_exception(failure);
}
#else
void run_chunks(std::int64_t n_chunks, void (*task)(void*, std::int64_t), void* context) {
  std::exception_ptr failure;
  std::atomic<bool> failed{false};
  const int n = static_cast<int>(std::min<std::int64_t>(num_threads(), n_chunks));
#pragma omp parallel for num_threads(n) schedule(dynamic, 1)
  for (std::int64_t c = 0; c < n_chunks; ++c) {
    Inside scope;
    if (failed) continue;
    try {
      task(context, c);
    } catch (...) {
      if (!failed.exchange(true)) failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}
#endif

}  // namespace detail
}  // namespace tessera
