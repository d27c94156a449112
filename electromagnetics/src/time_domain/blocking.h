// SPDX-License-Identifier: Apache-2.0
//
// How many steps and rows a tile takes together (advance.cpp): as much as the caches hold.
#pragma once
#include "tessera/autodiff/forall.h"
#include "time_domain/tables.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace tessera::electromagnetics::time_domain {

/// What Linux tells of a cache of the first processor; nothing elsewhere.
inline std::string told_of_cache(int index, const char* what) {
  std::string text;
  std::ifstream("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/" + what) >>
      text;
  return text;
}
/// "1024K" in bytes.
inline std::int64_t bytes_of(const std::string& size) {
  return size.empty() ? 0 : std::atoll(size.c_str()) * (size.back() == 'M' ? 1 << 20 : 1 << 10);
}
/// Number of processors in "0-3,8".
inline int count_of(const std::string& list) {
  std::istringstream ranges(list);
  int n = 0;
  for (std::string range; std::getline(ranges, range, ',');) {
    const std::size_t dash = range.find('-');
    n += dash == std::string::npos
             ? 1
             : std::atoi(range.c_str() + dash + 1) - std::atoi(range.c_str()) + 1;
  }
  return std::max(n, 1);
}

/// Bytes of the outer caches that a thread may count as its own: its second level or its share of
/// the third; at least 1 MiB.
inline std::int64_t cache_of_a_thread(int threads) {
  static const std::int64_t second = bytes_of(told_of_cache(2, "size")),
                            third = bytes_of(told_of_cache(3, "size"));
  static const int sharers = count_of(told_of_cache(3, "shared_cpu_list"));
  return std::max({second, third / std::min(sharers, threads), std::int64_t{1} << 20});
}

/// Of a cell, in the rows of coefficients that are kept.
template <class T>
double coefficient_words(const Tables<T>& t) {
  const double cells = static_cast<double>(t.n[0]) * t.n[1] * t.n[2];
  return std::min(static_cast<double>(t.pool.size()) / cells, 6.0);
}

/// Fills in what is 0. A tile of R rows and T steps goes over (R + T) rows of T + 1 planes before
/// it leaves them: T = 20 and R = 32, or less until that is 0.7 of the cache (then the next tile
/// finds the common rows there), and at least four tiles for each of several threads, which start
/// and end one after another. A single step has nothing to keep. A slab has one thread.
template <class T>
Blocking choose_blocking(const Tables<T>& t, std::int64_t n_steps, Blocking wanted, bool of_slab) {
  const int threads = of_slab ? 1 : num_threads();
  const double cache =
      0.7 * static_cast<double>(t.cut >= 0 ? t.agreed.cache : cache_of_a_thread(threads));
  const double words = t.cut >= 0 ? t.agreed.coefficient_words : coefficient_words(t);
  const double row = (6 + words) * static_cast<double>(t.row) * sizeof(T);
  const auto rows_of_all = [&](int steps) { return t.n[1] + steps; };
  Blocking b = wanted;
  if (b.steps == 0) b.steps = static_cast<int>(std::clamp<std::int64_t>(n_steps, 1, 20));
  if (b.rows == 0) b.rows = b.steps == 1 ? rows_of_all(1) : 32;
  while (b.steps > 1 && (b.rows + b.steps) * (b.steps + 1) * row > cache) {
    const bool fewer_rows =
        wanted.rows == 0 && b.rows > 4 && (b.rows > b.steps || wanted.steps != 0);
    if (fewer_rows)
      b.rows = b.rows / 2;
    else if (wanted.steps == 0)
      b.steps = b.steps / 2;
    else
      break;
  }
  if (wanted.rows == 0 && threads > 1) {
    const int all = rows_of_all(b.steps),
              tiles = std::max((all + b.rows - 1) / b.rows, 4 * threads);
    b.rows = std::max(1, (all + tiles - 1) / tiles);
  }
  return b;
}

}  // namespace tessera::electromagnetics::time_domain
