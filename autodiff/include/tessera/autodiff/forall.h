// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <type_traits>

#if defined(__CUDACC__)
#define TESSERA_HD __host__ __device__
#else
#define TESSERA_HD
#endif

namespace tessera {

/// Threads that kernels may use; the default is OMP_NUM_THREADS or the number of cores. Results do
/// not depend on it.
void set_num_threads(int n);
int num_threads();

namespace detail {
/// Runs `task(context, chunk)` for chunk = 0 ... n_chunks-1, spread over the threads.
void run_chunks(std::int64_t n_chunks, void (*task)(void*, std::int64_t), void* context);
/// Whether the caller already runs inside `run_chunks`; then everything below is serial.
bool in_parallel();
}  // namespace detail

/// `f(chunk)` for chunk in [0, n), in parallel, each chunk on one thread. What a chunk is must
/// depend on the problem's shape alone, never on the number of threads: that keeps results bitwise
/// reproducible.
template <class F>
void parallel_chunks(std::int64_t n, F&& f) {
  if (n <= 1 || num_threads() == 1 || detail::in_parallel()) {
    for (std::int64_t c = 0; c < n; ++c) f(c);
    return;
  }
  detail::run_chunks(
      n, [](void* ctx, std::int64_t c) { (*static_cast<std::remove_reference_t<F>*>(ctx))(c); },
      const_cast<void*>(static_cast<const void*>(&f)));
}

/// `body(i)` for i in [0, n), in parallel when there is much to do. The body is host and device
/// code; its result for one i must not depend on others. Small n runs inline: the branch comes
/// before any thread.
template <class F>
inline void forall(std::int64_t n, F body) {
  constexpr std::int64_t grain = 1 << 15;
  // One copy of the loop for both ways in: loops of long bodies dominate compile time.
  const auto range = [body](std::int64_t begin, std::int64_t end) __attribute__((noinline)) {
#pragma GCC ivdep
    for (std::int64_t i = begin; i < end; ++i) body(i);
  };
  if (n <= grain) return range(0, n);
  parallel_chunks((n + grain - 1) / grain, [&](std::int64_t c) {
    range(c * grain, (c + 1) * grain < n ? (c + 1) * grain : n);
  });
}

}  // namespace tessera
