// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ldlt/kernels/fronts.h"

namespace tessera::solvers::ldlt_detail {

/// The functions of fronts.h in vectors of one width.
template <class T>
struct FrontKernels {
  Pivots (*factor)(const Panel<T>&, const RealOf<T>* given, T* inverse, T* scaled, T* grown);
  void (*left_over)(const Panel<T>&, const T* scaled, T* c, Index begin, Index end);
  void (*eliminate)(const Panel<T>&, T* x, T* all, const std::int32_t* rows, Index width);
  void (*substitute)(const Panel<T>&, const T* inverse, T* x, const T* all,
                     const std::int32_t* rows, Index width);
  void (*eliminate_column)(const Panel<T>&, T* x, T* all, const std::int32_t* rows, T* desk);
  void (*substitute_column)(const Panel<T>&, const T* inverse, T* x, const T* all,
                            const std::int32_t* rows, T* desk);
};
/// In vectors of 64 bytes; null: not compiled.
template <class T>
const FrontKernels<T>* wide_front_kernels();

}  // namespace tessera::solvers::ldlt_detail
