// SPDX-License-Identifier: Apache-2.0
//
// The steps of pme_kernels.h for every set of instructions, and the choice among these.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "nonbonded/kernels/pme_kernels.cpp"
#define HWY_DISABLE_PCLMUL_AES
#define HWY_DISABLED_TARGETS (HWY_AVX3_DL)
// This file is compiled once for each target by the first include; the others hold one idea
// each, in the order in which they need each other.
// clang-format off
#include <hwy/foreach_target.h>

#include "nonbonded/kernels/line_fft.inl"
#include "nonbonded/kernels/pme_splines.inl"
#include "nonbonded/kernels/pme_spread.inl"
#include "nonbonded/kernels/pme_gather.inl"
#include "nonbonded/kernels/pme_lines.inl"
#include "nonbonded/kernels/pme_moments.inl"
#include "nonbonded/kernels/pme_planes.inl"

#include "tessera/autodiff/vectors.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace tessera::molecular::HWY_NAMESPACE {

/// f(std::integral_constant of the order).
template <class F>
void with_order(std::size_t order, F&& f) {
  switch (order) {
    case 4:
      return f(std::integral_constant<int, 4>());
    case 5:
      return f(std::integral_constant<int, 5>());
    case 6:
      return f(std::integral_constant<int, 6>());
    case 7:
      return f(std::integral_constant<int, 7>());
    default:
      return f(std::integral_constant<int, 8>());
  }
}
template <class T>
void spread(PmeGrid<T>& g, std::size_t slab) {
  with_order(g.order, [&](auto p) { spread_slab<T, p>(g, slab); });
}
template <class T>
void gather(PmeGrid<T>& g, std::size_t slab) {
  with_order(g.order, [&](auto p) { gather_slab<T, p>(g, slab); });
}
template <class T>
void spread_tangent(const PmeGrid<T>& g, PmeTangent<T>& t, std::size_t slab) {
  with_order(g.order, [&](auto p) { spread_tangent_slab<T, p>(g, t, slab); });
}
template <class T>
void gather_tangent(const PmeGrid<T>& g, PmeTangent<T>& t, std::size_t slab) {
  with_order(g.order, [&](auto p) { gather_tangent_slab<T, p>(g, t, slab); });
}

template <class T>
PmeKernels<T> kernels_of() {
  return {spread<T>, forward_pair<T>,   convolve_plane<T>,         backward_pair<T>,
          gather<T>, spread_tangent<T>, convolve_tangent_plane<T>, gather_tangent<T>};
}
PmeKernels<float> kernels_f32() { return kernels_of<float>(); }
PmeKernels<double> kernels_f64() { return kernels_of<double>(); }

}  // namespace tessera::molecular::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::molecular {

HWY_EXPORT(kernels_f32);
HWY_EXPORT(kernels_f64);

namespace {
/// Highway's better targets have lower bits: those above what vectors.h allows are taken out, once.
void limit_targets() {
  static const int bits = [] {
    if (vector_bits() < 512) hwy::DisableTargets((vector_bits() < 256 ? HWY_SSE4 : HWY_AVX2) - 1);
    return vector_bits();
  }();
  static_cast<void>(bits);
}
}  // namespace

template <>
PmeKernels<float> pme_kernels<float>() {
  return limit_targets(), HWY_DYNAMIC_DISPATCH(kernels_f32)();
}
template <>
PmeKernels<double> pme_kernels<double>() {
  return limit_targets(), HWY_DYNAMIC_DISPATCH(kernels_f64)();
}

}  // namespace tessera::molecular
#endif
