// SPDX-License-Identifier: Apache-2.0
//
// What rows of dispersive and of nonlinear media make of fields and of the state.
#pragma once
#include "time_domain/tables.h"

#include <cstdint>

namespace tessera::electromagnetics::time_domain {

/// The part of the new field in Q.
template <class T>
void polarize(const Special<T>& special, const T* e, T* state) {
  for (const Polarized<T>& p : special.polarized)
    for (std::size_t m = 0; m < p.alpha.size(); ++m) {
      T *re = state + p.state + 2 * static_cast<std::int64_t>(m) * p.length, *im = re + p.length;
      const T br = p.beta[m].real(), bi = p.beta[m].imag();
      for (int i = 0; i < p.length; ++i) {
        re[i] += br * e[p.first + i];
        im[i] += bi * e[p.first + i];
      }
    }
}

/// |E|^2 of the two components across edge q, in (V/m)^2.
template <class T>
T across(const Nonlinear<T>& p, int q, const T* state) {
  const auto u = static_cast<std::size_t>(q);
  T sum = 0;
  for (int other = 0; other < 2; ++other) {
    T mean = 0;
    for (int m = p.begin[other][u]; m < p.begin[other][u + 1]; ++m) {
      const auto& neighbour = p.around[other][static_cast<std::size_t>(m)];
      mean += neighbour.weight * state[neighbour.offset];
    }
    sum += mean * mean;
  }
  return sum;
}

}  // namespace tessera::electromagnetics::time_domain
