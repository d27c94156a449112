// SPDX-License-Identifier: Apache-2.0
//
// What is done with one dense front of a factorisation A = L D L^T, A = A^T (not conjugated),
// without pivots, and with the rows of right-hand sides that it eliminates. In the widest vectors
// that the processor has (vectors.h); the bits are the same in all widths:
//
//   w_ij = c_ij - (sum over earlier blocks of 4 complex or 8 real columns, in order, one fused
//          rounding a term and part) - (the terms of its own block, in order),   l_ij = w_ij / d_j
//
// A panel is stored by columns: `pivots` rows of L's unit triangle, zeros up to a whole block of 64
// bytes, then the rows below, filled up with zeros as well. Above the triangle stands what is never
// read.
#pragma once
#include "tessera/autodiff/dtype.h"

#include <complex>

namespace tessera::solvers::ldlt_detail {

using Index = std::int64_t;

template <class T>
struct PartsOf {
  using Real = T;
  static constexpr bool complex = false;
};
template <class R>
struct PartsOf<std::complex<R>> {
  using Real = R;
  static constexpr bool complex = true;
};
template <class T>
using RealOf = typename PartsOf<T>::Real;
template <class T>
inline constexpr bool kIsComplex = PartsOf<T>::complex;

/// Elements of 64 bytes: lengths of columns are multiples of it.
template <class T>
inline constexpr Index kBlock = 64 / Index{sizeof(T)};
template <class T>
constexpr Index padded(Index n) {
  return (n + kBlock<T> - 1) / kBlock<T> * kBlock<T>;
}

template <class T>
struct Panel {
  Index pivots, below;  ///< columns; rows below the triangle
  T* data;              ///< columns `stride()` apart
  Index stride() const { return padded<T>(pivots) + padded<T>(below); }
  T* lower() const { return data + padded<T>(pivots); }  ///< of the rows below
};

/// What was met on the diagonal.
struct Pivots {
  bool zero = false, finite = true;
  /// Largest sum_j |l_ij|^2 |d_j| / |a_ii|, the diagonal's not counted: what rounding errors of the
  /// factors are multiplied by. Below 3 where no pivots are needed.
  double growth = 0;
};

/// Factors a panel whose columns hold the assembled front: L in its place, 1 / d in `inverse`, and
/// W = L D of the rows below, in blocks of kBlock rows by all columns, in `scaled`, which has
/// stride() x pivots elements. `given` are the |a_ii| of the pivots. `grown` holds, for each row of
/// the panel, the sum of |l_ij|^2 |d_j| so far, for complex numbers in two parts; its own columns
/// are added.
template <class T>
Pivots factor_panel(const Panel<T>& p, const RealOf<T>* given, T* inverse, T* scaled, T* grown);

/// Columns [begin, end) of the front that is left: C = - L W^T, its lower triangle, by columns
/// padded(below) apart. `begin` is a multiple of kBlock.
template <class T>
void left_over(const Panel<T>& p, const T* scaled, T* c, Index begin, Index end);

/// Right-hand sides: row-major, rows `width` elements apart, a multiple of kBlock. `x` is the row
/// of the front's first pivot; row k below stands at all + rows[k] width.
/// y of L y = b, taken out of the rows below.
template <class T>
void eliminate(const Panel<T>& p, T* x, T* all, const std::int32_t* rows, Index width);
/// x of D L^T x = y, given x of the rows below.
template <class T>
void substitute(const Panel<T>& p, const T* inverse, T* x, const T* all, const std::int32_t* rows,
                Index width);

/// The same of one right-hand side, whose rows follow each other: the bits are those of a column
/// among others. `desk` has 3 stride() elements.
template <class T>
void eliminate_column(const Panel<T>& p, T* x, T* all, const std::int32_t* rows, T* desk);
template <class T>
void substitute_column(const Panel<T>& p, const T* inverse, T* x, const T* all,
                       const std::int32_t* rows, T* desk);

}  // namespace tessera::solvers::ldlt_detail
