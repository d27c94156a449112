// SPDX-License-Identifier: Apache-2.0
// How benchmarks time and print: README.md in this folder.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

namespace tessera::benchmarks {

inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Seconds of one call.
template <class F>
double seconds_of(F&& f) {
  const double start = seconds_now();
  f();
  return seconds_now() - start;
}

/// Repeated measurements of one thing.
struct Samples {
  std::vector<double> values;
  void add(double v) { values.push_back(v); }
  double best() const { return *std::min_element(values.begin(), values.end()); }
  double median() const {
    std::vector<double> v = values;
    std::sort(v.begin(), v.end());
    const std::size_t n = v.size();
    return n % 2 != 0 ? v[n / 2] : 0.5 * (v[n / 2 - 1] + v[n / 2]);
  }
  /// (max - min) / median.
  double spread() const {
    return (*std::max_element(values.begin(), values.end()) - best()) / median();
  }
};

/// Times `ours` and `peer` in turn, so that both meet the same disturbances.
template <class F, class G>
void alternate(int repeats, Samples& ours, Samples& peer, F&& f, G&& g) {
  f();
  g();
  for (int r = 0; r < repeats; ++r) {
    ours.add(seconds_of(f));
    peer.add(seconds_of(g));
  }
}

inline void print_figure(const std::string& name, double value, const char* unit) {
  std::printf("%s %.6g %s\n", name.c_str(), value, unit);
  std::fflush(stdout);
}

}  // namespace tessera::benchmarks
