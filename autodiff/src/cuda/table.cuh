// SPDX-License-Identifier: Apache-2.0
//
// From a row of kernels/body.h to a row of the device table: one launcher for each kind.
#pragma once
#include "../kernels/body.h"
#include "elementwise.h"
#include "forall.cuh"

#include <array>
#include <span>
#include <string_view>

namespace tessera::device {

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
void launch_periodic(std::int64_t n, const void* const* in, void* out, int parameter,
                     void* stream) {
  launch_unary<Body, T>(n, in, out, parameter, stream);
}
template <class Body, class T>
void launch_complex_periodic(std::int64_t n, const void* const* in, void* out, int parameter,
                             void* stream) {
  launch_unary<Body, T>(n, in, out, parameter, stream);
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
void launch_with_orders(std::int64_t n, const void* const* in, void* out, int parameter,
                        void* stream) {
  const T *x = static_cast<const T*>(in[0]), *y = static_cast<const T*>(in[1]);
  T* z = static_cast<T*>(out);
  const int i = parameter % 1000, j = parameter / 1000;
  forall(
      n,
      [=] __device__(std::int64_t k) { store(z + k, Body::eval(i, j, load(x + k), load(y + k))); },
      static_cast<cudaStream_t>(stream));
}
template <class Body, class T>
void launch_select(std::int64_t n, const void* const* in, void* out, int, void* stream) {
  const bool* c = static_cast<const bool*>(in[0]);
  const T *x = static_cast<const T*>(in[1]), *y = static_cast<const T*>(in[2]);
  T* z = static_cast<T*>(out);
  forall(
      n,
      [=] __device__(std::int64_t i) { store(z + i, Body::eval(c[i], load(x + i), load(y + i))); },
      static_cast<cudaStream_t>(stream));
}
template <class Body, class From, class To>
void convert(std::int64_t n, const void* const* in, void* out, void* stream) {
  const From* x = static_cast<const From*>(in[0]);
  To* y = static_cast<To*>(out);
  forall(
      n, [=] __device__(std::int64_t i) { store(y + i, Body::template eval<To>(load(x + i))); },
      static_cast<cudaStream_t>(stream));
}
template <class Body, class From>
void launch_cast(std::int64_t n, const void* const* in, void* out, int to, void* stream) {
  visit_dtype(static_cast<Dtype>(to), [&](auto tag) {
    convert<Body, From, typename decltype(tag)::type>(n, in, out, stream);
  });
}

/// A row for those element types of Body that are in `set`; `launch(tag<T>)` gives the launcher.
template <class Body, DtypeSet set, class Launch>
Row row(Launch launch) {
  Row r{Body::name};
  const auto add = [&]<class T>(type_tag<T> tag) {
    (void)tag;
    if constexpr (contains(DtypeSet(Body::dtypes & set), dtype_of<T>()))
      r.launch[static_cast<int>(dtype_of<T>())] = launch(tag);
  };
  for (int k = 0; k < kDtypes; ++k) visit_dtype(static_cast<Dtype>(k), add);
  return r;
}
#define TESSERA_DEVICE_ROW_OF(SET, KIND, TYPE) \
  row<kernels::body::TYPE, SET>(               \
      []<class T>(type_tag<T>) { return Elementwise(launch_##KIND<kernels::body::TYPE, T>); }),

}  // namespace tessera::device
