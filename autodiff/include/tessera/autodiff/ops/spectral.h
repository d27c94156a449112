// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/tensor.h"

// Functions of Hermitian matrices with derivatives of any order, equal eigenvalues included. A
// decomposition cannot pass those on: neither equal eigenvalues nor their vectors have derivatives
// one by one, only what is symmetric in them has
// (`eigh` gives first derivatives of such functions and NaN for second ones).

namespace tessera {

/// A scalar function of the eigenvalues: exp, log or a power.
struct SpectralFunction {
  enum class Kind : std::uint8_t { exp, log, power } kind = Kind::exp;
  double p = 1;  ///< exponent of a power
  static SpectralFunction exp() { return {Kind::exp}; }
  static SpectralFunction log() { return {Kind::log}; }
  static SpectralFunction power(double p) { return {Kind::power, p}; }
};
/// V diag(g(w)) V^H of (A + A^H)/2 for A [..., n, n], f32 to c128, computed in double, by divided
/// differences of g that keep their digits where eigenvalues are equal or near. `trace` of it is
/// the sum of g(w). log and powers need positive eigenvalues; where there is another, it throws and
/// names the matrix. The k-th derivative costs n^(k+1) operations for k > 1. R. Bhatia 1997, Matrix
/// Analysis, V.3.
Tensor hermitian_function(Arg a, SpectralFunction g);

}  // namespace tessera
