// SPDX-License-Identifier: Apache-2.0
//
// The few LAPACK and BLAS routines the decompositions call, by element type. LAPACK stores by
// columns: a row-major matrix handed over as it lies is its transpose there; each caller says how
// it copes.
#pragma once
#include "../base/scratch.h"
#include "map.h"
#include "scalar.h"
#include "serial_blas.h"
#include "tessera/autodiff/kernel.h"

#include <algorithm>
#include <string>
#include <vector>

extern "C" {
#define TESSERA_LAPACK_COMMON(T, P)                                                                \
  void P##potrf_(const char*, const int*, T*, const int*, int*);                                   \
  void P##trsm_(const char*, const char*, const char*, const char*, const int*, const int*,        \
                const T*, const T*, const int*, T*, const int*);                                   \
  void P##getrf_(const int*, const int*, T*, const int*, int*, int*);                              \
  void P##gtsv_(const int*, const int*, T*, T*, T*, T*, const int*, int*);                         \
  void P##getrs_(const char*, const int*, const int*, const T*, const int*, const int*, T*,        \
                 const int*, int*);                                                                \
  void P##potrs_(const char*, const int*, const int*, const T*, const int*, T*, const int*, int*); \
  void P##geqrf_(const int*, const int*, T*, const int*, T*, T*, const int*, int*);
#define TESSERA_LAPACK_REAL(T, P)                                                                 \
  TESSERA_LAPACK_COMMON(T, P)                                                                     \
  void P##orgqr_(const int*, const int*, const int*, T*, const int*, const T*, T*, const int*,    \
                 int*);                                                                           \
  void P##syevd_(const char*, const char*, const int*, T*, const int*, T*, T*, const int*, int*,  \
                 const int*, int*);                                                               \
  void P##gesdd_(const char*, const int*, const int*, T*, const int*, T*, T*, const int*, T*,     \
                 const int*, T*, const int*, int*, int*);                                         \
  void P##geev_(const char*, const char*, const int*, T*, const int*, T*, T*, T*, const int*, T*, \
                const int*, T*, const int*, int*);
#define TESSERA_LAPACK_COMPLEX(T, R, P)                                                        \
  TESSERA_LAPACK_COMMON(T, P)                                                                  \
  void P##ungqr_(const int*, const int*, const int*, T*, const int*, const T*, T*, const int*, \
                 int*);                                                                        \
  void P##heevd_(const char*, const char*, const int*, T*, const int*, R*, T*, const int*, R*, \
                 const int*, int*, const int*, int*);                                          \
  void P##gesdd_(const char*, const int*, const int*, T*, const int*, R*, T*, const int*, T*,  \
                 const int*, T*, const int*, R*, int*, int*);                                  \
  void P##geev_(const char*, const char*, const int*, T*, const int*, T*, T*, const int*, T*,  \
                const int*, T*, const int*, R*, int*);
TESSERA_LAPACK_REAL(float, s)
TESSERA_LAPACK_REAL(double, d)
TESSERA_LAPACK_COMPLEX(tessera::c64, float, c)
TESSERA_LAPACK_COMPLEX(tessera::c128, double, z)
}

namespace tessera::kernels {

/// Calls the routine `NAME` of the element type: by(type_tag<T>{}, s, d, c, z).
template <class T, class S, class D, class C, class Z>
constexpr auto by_type(S s, D d, C c, Z z) {
  if constexpr (std::is_same_v<T, float>)
    return s;
  else if constexpr (std::is_same_v<T, double>)
    return d;
  else if constexpr (std::is_same_v<T, c64>)
    return c;
  else
    return z;
}
#define TESSERA_LAPACK(T, NAME) \
  ::tessera::kernels::by_type<T>(s##NAME##_, d##NAME##_, c##NAME##_, z##NAME##_)

template <class T>
struct real_part {
  using type = T;
};
template <class R>
struct real_part<std::complex<R>> {
  using type = R;
};
template <class T>
using real_t = typename real_part<T>::type;

/// Elements to spare behind a matrix handed to LAPACK: OpenBLAS 0.3.21's cgemv and zgemv for AVX2
/// read (and drop) up to two vectors beyond its end.
template <class T>
inline constexpr Index kSlack = 64 / static_cast<Index>(sizeof(T));

template <class T>
T conjugate(T x) {
  if constexpr (is_cplx<T>)
    return {x.real(), -x.imag()};
  else
    return x;
}

/// The size of a workspace that LAPACK asks for in an element of it, and no less than its pages
/// say: single precision does not hold those beyond 2^24, and LAPACK 3.11's ssyevd and cheevd round
/// down.
template <class T>
int lapack_size(T asked, Index least) {
  return static_cast<int>(std::max(static_cast<Index>(std::real(asked)), least));
}

/// Sizes of a stack of matrices [B..., m, n].
struct Matrices {
  Index batch, m, n;
  Matrices(const char* op, const View& v)
      : m(v.shape[v.shape.size() - 2]), n(v.shape[v.shape.size() - 1]) {
    batch = 1;
    for (int d = 0; d + 2 < v.shape.size(); ++d) batch *= v.shape[d];
    if (m > (Index{1} << 30) || n > (Index{1} << 30))
      fail(op, "a matrix of " + to_string(v.type()) + " is larger than LAPACK takes");
  }
};

/// `work(b)` for every matrix, each on one thread; it returns LAPACK's info. Afterwards `failed(b,
/// info)` for the first that is positive, whatever the number of threads.
template <class F, class G>
void for_matrices(Index batch, Index cost, F&& work, G&& failed) {
  detail::Scratch<int> info(static_cast<std::size_t>(batch), 0);
  for_rows(batch, cost, [&](Index b) {
    const SerialBlas serial;
    info[b] = work(b);
  });
  for (Index b = 0; b < batch; ++b)
    if (info[b] != 0) failed(b, info[b]);
}

/// Bytes that it takes where each matrix takes `each`.
inline std::size_t matrices_workspace(Index batch, std::size_t each) {
  return detail::scratch_bytes<int>(batch) +
         static_cast<std::size_t>(std::min<Index>(batch, num_threads())) * each;
}

/// The same of the matrices `v`, each of which takes each(type_tag<T>{}, sizes).
template <class F>
std::size_t matrices_workspace(const char* op, const View& v, F each) {
  const Matrices s(op, v);
  return matrices_workspace(
      s.batch, with_type<kInexact>(v.dtype, [&](auto tag) -> std::size_t { return each(tag, s); }));
}

/// out[j, i] = in[i, j]: rows x cols row-major to its transpose, in squares that stay in cache.
template <class T>
void transpose_into(const T* in, Index rows, Index cols, T* out) {
  constexpr Index kTile = 16;
  for (Index i0 = 0; i0 < rows; i0 += kTile)
    for (Index j0 = 0; j0 < cols; j0 += kTile)
      for (Index i = i0; i < std::min(rows, i0 + kTile); ++i)
        for (Index j = j0; j < std::min(cols, j0 + kTile); ++j)
          out[j * rows + i] = in[i * cols + j];
}

inline std::string matrix_name(Index b, Index batch) {
  return batch == 1 ? std::string("the matrix")
                    : "matrix " + std::to_string(b) + " of the batch of " + std::to_string(batch);
}

/// Checks for [B..., m, n] of an inexact type; `square` asks for m = n.
inline void need_matrices(const char* op, const Type& t, bool square) {
  const int n = t.shape.size();
  if (n < 2 || !contains(kInexact, t.dtype) || (square && t.shape[n - 1] != t.shape[n - 2]))
    fail(op, std::string("needs ") +
                 (square ? "square matrices [..., n, n]" : "matrices [..., m, n]") +
                 " of f32, f64, c64 or c128, got " + to_string(t));
}
/// The leading axes of `t` followed by `last`.
inline Shape with_last(const Type& t, std::initializer_list<Index> last) {
  Shape s;
  for (int d = 0; d + 2 < t.shape.size(); ++d) s.push_back(t.shape[d]);
  for (Index n : last) s.push_back(n);
  return s;
}

}  // namespace tessera::kernels
