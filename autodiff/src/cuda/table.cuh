// SPDX-License-Identifier: Apache-2.0
//
// From a body of kernels/ and its element types to a row of the device table.
#pragma once
#include "../kernels/scalar.h"
#include "elementwise.h"
#include "forall.cuh"

#include <array>
#include <span>
#include <string_view>

namespace tessera::device {

template <class... T>
struct Elements {};
using Bool = Elements<bool>;
using Real = Elements<float, double>;
using Complex = Elements<c64, c128>;
using Integer = Elements<std::uint8_t, std::int32_t, std::int64_t, std::uint32_t>;

struct Row {
  std::string_view primitive;
  std::array<Elementwise, kDtypes> launch{};
};
std::span<const Row> arithmetic_rows();
std::span<const Row> real_function_rows();
std::span<const Row> complex_function_rows();

using kernels::load;
using kernels::store;

template <class Body, class T>
void launch_unary(std::int64_t n, const void* const* in, void* out, int, void* stream) {
  using R = decltype(Body::eval(T{}));
  const T* x = static_cast<const T*>(in[0]);
  R* y = static_cast<R*>(out);
  forall(
      n, [=] __device__(std::int64_t i) { store(y + i, Body::eval(load(x + i))); },
      static_cast<cudaStream_t>(stream));
}
template <class Body, class T>
void launch_binary(std::int64_t n, const void* const* in, void* out, int, void* stream) {
  using R = decltype(Body::eval(T{}, T{}));
  const T *x = static_cast<const T*>(in[0]), *y = static_cast<const T*>(in[1]);
  R* z = static_cast<R*>(out);
  forall(
      n, [=] __device__(std::int64_t i) { store(z + i, Body::eval(load(x + i), load(y + i))); },
      static_cast<cudaStream_t>(stream));
}
template <class Body, class T>
void launch_with_int(std::int64_t n, const void* const* in, void* out, int parameter,
                     void* stream) {
  const T* x = static_cast<const T*>(in[0]);
  T* y = static_cast<T*>(out);
  forall(
      n, [=] __device__(std::int64_t i) { store(y + i, Body::eval(parameter, load(x + i))); },
      static_cast<cudaStream_t>(stream));
}

template <class Body, class T>
void launch_binary_with_int(std::int64_t n, const void* const* in, void* out, int parameter,
                            void* stream) {
  const T *x = static_cast<const T*>(in[0]), *y = static_cast<const T*>(in[1]);
  T* z = static_cast<T*>(out);
  forall(
      n,
      [=] __device__(std::int64_t i) {
        store(z + i, Body::eval(parameter, load(x + i), load(y + i)));
      },
      static_cast<cudaStream_t>(stream));
}

/// The functions of kernels/ as types.
struct Unary {
  template <class Body, class T>
  static constexpr Elementwise launch = launch_unary<Body, T>;
};
struct Binary {
  template <class Body, class T>
  static constexpr Elementwise launch = launch_binary<Body, T>;
};
struct WithInt {
  template <class Body, class T>
  static constexpr Elementwise launch = launch_with_int<Body, T>;
};
struct BinaryWithInt {
  template <class Body, class T>
  static constexpr Elementwise launch = launch_binary_with_int<Body, T>;
};
#define TESSERA_UNARY(F)                      \
  struct Body_##F : Unary {                   \
    template <class T>                        \
    TESSERA_HD_INLINE static auto eval(T x) { \
      return kernels::fn::F(x);               \
    }                                         \
  }
#define TESSERA_BINARY(F)                          \
  struct Body_##F : Binary {                       \
    template <class T>                             \
    TESSERA_HD_INLINE static auto eval(T x, T y) { \
      return kernels::fn::F(x, y);                 \
    }                                              \
  }
#define TESSERA_WITH_INT(F)                          \
  struct Body_##F : WithInt {                        \
    template <class T>                               \
    TESSERA_HD_INLINE static auto eval(int n, T x) { \
      return kernels::fn::F(n, x);                   \
    }                                                \
  }

template <class Body, class... T>
void fill(Row& row, Elements<T...>) {
  ((row.launch[static_cast<int>(dtype_of<T>())] = Body::template launch<Body, T>), ...);
}
template <class Body, class... Sets>
Row row(std::string_view primitive, Sets... sets) {
  Row r{primitive};
  (fill<Body>(r, sets), ...);
  return r;
}

}  // namespace tessera::device
