// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/forall.h"

#include "context.h"
#include "tessera/autodiff/shares.h"
#include "tessera/autodiff/thread_count.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
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
thread_local int own_threads = 0;  ///< 0: as all
thread_local bool inside = false;

/// A thread within run_chunks.
struct Inside {
  Inside() : before(inside) { inside = true; }
  ~Inside() { inside = before; }
  bool before;
};

}  // namespace

ThreadCount::ThreadCount(int n) : before_(own_threads) { own_threads = std::max(1, n); }
ThreadCount::~ThreadCount() { own_threads = before_; }

void set_num_threads(int n) { threads = std::max(1, n); }
int num_threads() {
  return own_threads > 0 ? own_threads : threads.load(std::memory_order_relaxed);
}

namespace detail {

bool in_parallel() { return inside; }

namespace {
/// work(t) on threads t = 0 ... n-1; fewer may come.
template <class F>
void on_threads(int n, F&& work) {
#ifdef TESSERA_STD_THREADS
  // Plain threads for the thread sanitizer, which cannot see libgomp's synchronisation.
  std::vector<std::jthread> pool;
  for (int t = 1; t < n; ++t) pool.emplace_back([&work, t] { work(t); });
  work(0);
#else
#pragma omp parallel num_threads(n)
  work(omp_get_thread_num());
#endif
}
}  // namespace

void run_chunks(std::int64_t n_chunks, void (*task)(void*, std::int64_t), void* context) {
  std::exception_ptr failure;
  std::atomic<bool> failed{false};
  const int n = static_cast<int>(std::min<std::int64_t>(num_threads(), n_chunks));
  Shares shares(n_chunks, n);
  Workspace* const workspace = detail::context().workspace;
  on_threads(n, [&](int t) {
    const Inside scope;
    const WithWorkspace same(detail::context(), workspace);
    shares.take(t, [&](std::int64_t c) {
      if (failed) return false;
      try {
        task(context, c);
      } catch (...) {
        if (!failed.exchange(true)) failure = std::current_exception();
      }
      return true;
    });
  });
  if (failure) std::rethrow_exception(failure);
}

}  // namespace detail
}  // namespace tessera
