// SPDX-License-Identifier: Apache-2.0
//
// The table of element-wise operations. It stands below the bodies, in arithmetic.h and
// functions.h, one row for each primitive:
//
//   ROW(kind, scalar, type, name, function, types)
//
// `name` is the primitive's, `function` its body in kernels::fn, `types` those of its elements, and
// kernels::body::type is the row as a type, from which the operation takes all of this (ops/maps.h,
// ops/function.h). src/cuda instantiates every row for the device. Rows that say `scalar`, not
// `kernel`, are instructions of scalar loops as well (control/scalar_program.cpp). Kinds:
//
//   unary             f(x)
//   periodic          the same with a sine inside: f<true>(x) vectorises where is_near(x)
//   complex_periodic  the same with a sine inside of complex arguments alone
//   binary            f(x, y)
//   with_int          f(n, x)
//   with_orders       f(i, j, x, y)
//   select            f(condition, x, y)
//   cast              f<To>(x)
#pragma once
#include "host_device.h"
#include "scalar.h"
#include "tessera/autodiff/kernel.h"

/// A row as a type.
#define TESSERA_BODY(KIND, SCALAR, TYPE, NAME, FUNCTION, TYPES) \
  struct TYPE {                                                 \
    static constexpr const char* name = NAME;                   \
    static constexpr DtypeSet dtypes = TYPES;                   \
    TESSERA_BODY_##KIND(FUNCTION)                               \
  };

#define TESSERA_BODY_unary(FUNCTION)        \
  template <class T>                        \
  TESSERA_HD_INLINE static auto eval(T x) { \
    return fn::FUNCTION(x);                 \
  }
#define TESSERA_BODY_periodic(FUNCTION)        \
  template <class T>                           \
  TESSERA_HD_INLINE static T near(T x) {       \
    return fn::FUNCTION<true>(x);              \
  }                                            \
  template <class T>                           \
  TESSERA_HD_INLINE static bool is_near(T x) { \
    return fn::is_near(x);                     \
  }                                            \
  TESSERA_BODY_unary(FUNCTION)
#define TESSERA_BODY_complex_periodic(FUNCTION)                                               \
  template <class T>                                                                          \
  requires(is_cplx<T>) TESSERA_HD_INLINE static T near(T x) { return fn::FUNCTION<true>(x); } \
  template <class T>                                                                          \
  TESSERA_HD_INLINE static bool is_near(T x) {                                                \
    return fn::is_near(x);                                                                    \
  }                                                                                           \
  TESSERA_BODY_unary(FUNCTION)
#define TESSERA_BODY_binary(FUNCTION)            \
  template <class T>                             \
  TESSERA_HD_INLINE static auto eval(T x, T y) { \
    return fn::FUNCTION(x, y);                   \
  }
#define TESSERA_BODY_with_int(FUNCTION)            \
  template <class T>                               \
  TESSERA_HD_INLINE static auto eval(int n, T x) { \
    return fn::FUNCTION(n, x);                     \
  }
#define TESSERA_BODY_with_orders(FUNCTION)                     \
  template <class T>                                           \
  TESSERA_HD_INLINE static auto eval(int i, int j, T x, T y) { \
    return fn::FUNCTION(i, j, x, y);                           \
  }
#define TESSERA_BODY_select(FUNCTION)                    \
  template <class T>                                     \
  TESSERA_HD_INLINE static auto eval(bool c, T x, T y) { \
    return fn::FUNCTION(c, x, y);                        \
  }
#define TESSERA_BODY_cast(FUNCTION)          \
  template <class To, class From>            \
  TESSERA_HD_INLINE static To eval(From x) { \
    return fn::FUNCTION<To>(x);              \
  }
