// SPDX-License-Identifier: Apache-2.0
#include "ldlt/kernels/front_kernels.h"

#if defined(__x86_64__) && \
    (!defined(__clang__) || defined(__AVX512F__))  // clang knows no `#pragma GCC target`
#include <algorithm>
#include <cmath>
#include <complex>
#include <type_traits>
#include <utility>
#pragma GCC push_options
#pragma GCC target("arch=x86-64-v4,prefer-vector-width=512")
#include "ldlt/kernels/column_bodies.h"

namespace tessera::solvers::ldlt_detail {
template <class T>
const FrontKernels<T>* wide_front_kernels() {
  static const FrontKernels<T> k = front_kernels_of<64, T>();
  return &k;
}
template const FrontKernels<float>* wide_front_kernels<float>();
template const FrontKernels<double>* wide_front_kernels<double>();
template const FrontKernels<c64>* wide_front_kernels<c64>();
template const FrontKernels<c128>* wide_front_kernels<c128>();
}  // namespace tessera::solvers::ldlt_detail
#pragma GCC pop_options
#else
namespace tessera::solvers::ldlt_detail {
template <class T>
const FrontKernels<T>* wide_front_kernels() {
  return nullptr;
}
template const FrontKernels<float>* wide_front_kernels<float>();
template const FrontKernels<double>* wide_front_kernels<double>();
template const FrontKernels<c64>* wide_front_kernels<c64>();
template const FrontKernels<c128>* wide_front_kernels<c128>();
}  // namespace tessera::solvers::ldlt_detail
#endif
