// SPDX-License-Identifier: Apache-2.0
// The basis of a fit at given poles, with real coefficients:
//   real pole a:              1/(s - a), coefficient c
//   pair a, conj(a):          1/(s - a) + 1/(s - a*) and i/(s - a) - i/(s - a*), Re c and Im c
//   pair on the axis, lossless: the second of these alone
#pragma once
#include <complex>
#include <vector>

namespace tessera::electromagnetics {

/// Each pole once; Im a > 0 stands for the pair. In units of some scale.
using Poles = std::vector<std::complex<double>>;

inline bool is_pair(std::complex<double> a) { return a.imag() != 0; }
inline bool is_lossless(std::complex<double> a) { return is_pair(a) && a.real() == 0; }

/// Calls put(value) for each basis function at s. `both`: lossless pairs have both functions too.
template <class Put>
void for_each_basis(const Poles& poles, std::complex<double> s, bool both, Put&& put) {
  for (const std::complex<double>& a : poles) {
    const std::complex<double> own = 1.0 / (s - a);
    if (!is_pair(a)) {
      put(own);
      continue;
    }
    const std::complex<double> other = 1.0 / (s - std::conj(a));
    if (both || !is_lossless(a)) put(own + other);
    put(std::complex<double>(0, 1) * (own - other));
  }
}

/// How many basis functions there are.
inline int basis_size(const Poles& poles, bool both) {
  int n = 0;
  for (const std::complex<double>& a : poles) n += is_pair(a) && (both || !is_lossless(a)) ? 2 : 1;
  return n;
}

}  // namespace tessera::electromagnetics
