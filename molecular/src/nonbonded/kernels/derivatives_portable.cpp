// SPDX-License-Identifier: Apache-2.0
#include "nonbonded/kernels/lanes_portable.h"
#include "nonbonded/kernels/pair_derivative_body.h"

#include <cstring>

namespace tessera::molecular::pairs {
namespace {

/// What derivatives need besides what forces do.
template <class Real>
struct PlainDerivatives : Plain<Real> {
  using typename Plain<Real>::V;
  using typename Plain<Real>::M;

  TESSERA_LANE std::uint32_t bits(const M& m) {
    Real lane[8];
    const V one = Plain<Real>::only(m, Plain<Real>::set(Real(1)));
    std::memcpy(lane, static_cast<const void*>(&one), sizeof lane);
    std::uint32_t all = 0;
    for (int k = 0; k < 8; ++k) all |= static_cast<std::uint32_t>(lane[k] != 0) << k;
    return all;
  }
  struct Long {
    double sum[8];
  };
  TESSERA_LANE void lengthen(Long& to, const V& v) {
    Real lane[8];
    std::memcpy(lane, static_cast<const void*>(&v), sizeof lane);
    for (int k = 0; k < 8; ++k) to.sum[k] += static_cast<double>(lane[k]);
  }
  TESSERA_LANE double total(const Long& s) {
    double all = 0;
    for (const double v : s.sum) all += v;
    return all;
  }
  TESSERA_LANE void put(Real* p, const V& v) {
    Real lane[8];
    std::memcpy(lane, static_cast<const void*>(&v), sizeof lane);
    for (int k = 0; k < 8; ++k) p[k] += lane[k];
  }
  TESSERA_LANE void sums(const V* v, Real (*to)[4]) {
    for (int c = 0; c < 4; ++c) {
      Real lane[8];
      std::memcpy(lane, static_cast<const void*>(v + c), sizeof lane);
      to[0][c] = 0;
      for (const Real x : lane) to[0][c] += x;
    }
  }
};

}  // namespace

const DerivativeKernels* portable_derivatives() {
  static constexpr DerivativeKernels k =
      derivative_kernels_of<PlainDerivatives<float>, PlainDerivatives<double>>();
  return &k;
}

std::span<const DerivativeKernels* const> derivative_kernels() {
  static const std::array<const DerivativeKernels*, 3> all = {
      portable_derivatives(), avx2_derivatives(), avx512_derivatives()};
  return {all.data(), kernels().size()};
}

}  // namespace tessera::molecular::pairs
