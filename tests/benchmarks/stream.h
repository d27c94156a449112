// SPDX-License-Identifier: Apache-2.0
// What the memory of this machine gives: copy and triad as STREAM defines them (J. McCalpin, 1995),
// to be printed beside every figure that bandwidth bounds.
#pragma once
#include "measure.h"

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <vector>

namespace tessera::benchmarks {

struct StreamRates {
  double copy;   ///< GB/s of c = a, 16 bytes an element
  double triad;  ///< GB/s of a = b + s c, 24 bytes an element
};

/// Best of `repeats` passes over arrays of n doubles on `threads` threads. As in STREAM, the read
/// of a line that is about to be written is not counted. n should be four times the last cache.
inline StreamRates measure_stream(int threads, std::size_t n = std::size_t(1) << 25,
                                  int repeats = 12) {
  struct Free {
    void operator()(double* p) const { std::free(p); }
  };
  using Array = std::unique_ptr<double[], Free>;
  auto allocate = [&] {
    return Array(static_cast<double*>(std::aligned_alloc(64, (n * sizeof(double) + 63) / 64 * 64)));
  };
  const Array a_owner = allocate(), b_owner = allocate(), c_owner = allocate();
  double* a = a_owner.get();
  double* b = b_owner.get();
  double* c = c_owner.get();
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::size_t i = 0; i < n; ++i) {  // pages land where they are used
    a[i] = 1;
    b[i] = 2;
    c[i] = 0;
  }
  Samples copy, triad;
  for (int r = 0; r < repeats; ++r) {
    copy.add(seconds_of([&] {
#pragma omp parallel for simd num_threads(threads) schedule(static)
      for (std::size_t i = 0; i < n; ++i) c[i] = a[i];
    }));
    triad.add(seconds_of([&] {
#pragma omp parallel for simd num_threads(threads) schedule(static)
      for (std::size_t i = 0; i < n; ++i) a[i] = b[i] + 3.0 * c[i];
    }));
  }
  const double bytes = static_cast<double>(n * sizeof(double)) * 1e-9;
  return {2 * bytes / copy.best(), 3 * bytes / triad.best()};
}

/// Prints stream_copy_1, stream_triad_1, stream_copy_2, ... in GB/s and returns the rates at
/// `threads`.
inline StreamRates print_stream(int threads) {
  StreamRates rates{};
  for (int t : threads > 1 ? std::vector<int>{1, threads} : std::vector<int>{1}) {
    rates = measure_stream(t);
    print_figure("stream_copy_" + std::to_string(t), rates.copy, "GB/s");
    print_figure("stream_triad_" + std::to_string(t), rates.triad, "GB/s");
  }
  return rates;
}

}  // namespace tessera::benchmarks
