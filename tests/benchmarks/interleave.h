// SPDX-License-Identifier: Apache-2.0
//
// Times two ways of doing one thing in turn, so that whatever else the machine does meets both
// alike.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

namespace bench {

inline double seconds_of(auto&& f) {
  const auto begin = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

inline double quantile(std::vector<double> v, double q) {
  std::sort(v.begin(), v.end());
  return v[static_cast<std::size_t>(q * static_cast<double>(v.size() - 1) + 0.5)];
}
inline double median(const std::vector<double>& v) { return quantile(v, 0.5); }
/// (max - min) / median.
inline double spread(const std::vector<double>& v) {
  const auto [low, high] = std::minmax_element(v.begin(), v.end());
  return (*high - *low) / median(v);
}

struct Versus {
  double ours, peer;             ///< medians, seconds
  double ratio;                  ///< median over the rounds of peer / ours: above 1 ours is faster
  double ratio_low, ratio_high;  ///< quartiles of that ratio
};

/// `rounds` times: ours, then the peer, after two rounds that are not counted.
inline Versus alternate(int rounds, auto&& ours, auto&& peer) {
  std::vector<double> a, b, ratio;
  for (int k = 0; k < rounds + 2; ++k) {
    const double ta = seconds_of(ours), tb = seconds_of(peer);
    if (k < 2) continue;
    a.push_back(ta), b.push_back(tb), ratio.push_back(tb / ta);
  }
  return {median(a), median(b), median(ratio), quantile(ratio, 0.25), quantile(ratio, 0.75)};
}

inline void print(const std::string& name, double value, const char* unit) {
  std::printf("%s %.6g %s\n", name.c_str(), value, unit);
  std::fflush(stdout);
}
inline void print(const std::string& name, const Versus& v, const char* peer) {
  print(name + "_seconds", v.ours, "s");
  print(name + "_" + peer + "_seconds", v.peer, "s");
  print(name + "_ratio_low_quartile", v.ratio_low, "x");
  print(name + "_ratio_high_quartile", v.ratio_high, "x");
}
inline void print_machine() {
  std::printf(
      "# %u hardware threads; medians over alternating rounds; a loaded machine widens the "
      "quartiles\n",
      std::thread::hardware_concurrency());
}

}  // namespace bench
