// SPDX-License-Identifier: Apache-2.0
//
// What the programs of this folder share: random input with a fixed seed, derivatives of a plain
// function by complex steps, and the comparison of GradBench's validators.
#pragma once
#include "tessera/autodiff/ops.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

namespace gradbench {

using Doubles = std::vector<double>;

/// n numbers, uniform in [low, high): the same on every machine.
inline Doubles uniform(std::size_t n, std::mt19937_64& rng, double low = 0, double high = 1) {
  Doubles v(n);
  for (double& x : v) x = low + (high - low) * static_cast<double>(rng() >> 11) * 0x1p-53;
  return v;
}

/// Gradient of a plain real function f(vector<T>) -> T by complex steps, Im f(x + ih) / h: no
/// difference is taken, so h may be as small as 1e-30 and the result is right to rounding. (W.
/// Squire & G. Trapp, SIAM Rev. 40 (1998) 110.)
template <class F>
Doubles complex_step_gradient(const F& f, const Doubles& x) {
  std::vector<std::complex<double>> z(x.begin(), x.end());
  Doubles g;
  for (std::size_t k = 0; k < x.size(); ++k) {
    z[k] = {x[k], 1e-30};
    g.push_back(f(z).imag() / 1e-30);
    z[k] = x[k];
  }
  return g;
}

/// |got - want| <= atol + rtol |want| for all elements, by default with numpy.isclose's 1e-5 and
/// 1e-8, which the validators use. Prints the worst element.
inline bool close(const std::string& what, const Doubles& got, const Doubles& want,
                  double rtol = 1e-5, double atol = 1e-8) {
  if (got.size() != want.size()) {
    std::printf("%s: %zu numbers for %zu\n", what.c_str(), got.size(), want.size());
    return false;
  }
  double worst = 0;
  for (std::size_t k = 0; k < got.size(); ++k) {
    const double d = std::abs(got[k] - want[k]) / (atol + rtol * std::abs(want[k]));
    worst = std::isnan(d) ? INFINITY : std::max(worst, d);
  }
  std::printf("%-28s %6zu numbers, worst at %.2g of the tolerance\n", what.c_str(), got.size(),
              worst);
  return worst <= 1;
}

/// Milliseconds of the fastest of some calls.
template <class F>
double milliseconds(F&& f, int repeats = 5) {
  double best = INFINITY;
  for (int k = 0; k < repeats; ++k) {
    const auto begin = std::chrono::steady_clock::now();
    f();
    best = std::min(
        best, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
                  .count());
  }
  return best;
}

}  // namespace gradbench
