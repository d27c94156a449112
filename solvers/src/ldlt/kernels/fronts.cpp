// SPDX-License-Identifier: Apache-2.0
//
// The bodies in the vectors of the build, and the choice between them and those of 64 bytes.
#include "ldlt/kernels/column_bodies.h"
#include "tessera/autodiff/vectors.h"

namespace tessera::solvers::ldlt_detail {
namespace {

#if defined(__AVX2__)
constexpr int kBuild = 32;
#else
constexpr int kBuild = 16;
#endif

template <class T>
const FrontKernels<T>& kernels() {
  static const FrontKernels<T> chosen = vector_bits() == 512 && wide_front_kernels<T>()
                                            ? *wide_front_kernels<T>()
                                            : front_kernels_of<kBuild, T>();
  return chosen;
}

}  // namespace

template <class T>
Pivots factor_panel(const Panel<T>& p, const RealOf<T>* given, T* inverse, T* scaled, T* grown) {
  return kernels<T>().factor(p, given, inverse, scaled, grown);
}
template <class T>
void left_over(const Panel<T>& p, const T* scaled, T* c, Index begin, Index end) {
  kernels<T>().left_over(p, scaled, c, begin, end);
}
template <class T>
void eliminate(const Panel<T>& p, T* x, T* all, const std::int32_t* rows, Index width) {
  kernels<T>().eliminate(p, x, all, rows, width);
}
template <class T>
void substitute(const Panel<T>& p, const T* inverse, T* x, const T* all, const std::int32_t* rows,
                Index width) {
  kernels<T>().substitute(p, inverse, x, all, rows, width);
}
template <class T>
void eliminate_column(const Panel<T>& p, T* x, T* all, const std::int32_t* rows, T* desk) {
  kernels<T>().eliminate_column(p, x, all, rows, desk);
}
template <class T>
void substitute_column(const Panel<T>& p, const T* inverse, T* x, const T* all,
                       const std::int32_t* rows, T* desk) {
  kernels<T>().substitute_column(p, inverse, x, all, rows, desk);
}

#define TESSERA_INSTANTIATE(T)                                                                     \
  template Pivots factor_panel<T>(const Panel<T>&, const RealOf<T>*, T*, T*, T*);                  \
  template void left_over<T>(const Panel<T>&, const T*, T*, Index, Index);                         \
  template void eliminate<T>(const Panel<T>&, T*, T*, const std::int32_t*, Index);                 \
  template void substitute<T>(const Panel<T>&, const T*, T*, const T*, const std::int32_t*,        \
                              Index);                                                              \
  template void eliminate_column<T>(const Panel<T>&, T*, T*, const std::int32_t*, T*);             \
  template void substitute_column<T>(const Panel<T>&, const T*, T*, const T*, const std::int32_t*, \
                                     T*);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(c64)
TESSERA_INSTANTIATE(c128)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::solvers::ldlt_detail
