// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tessera {

/// Element types. Nothing is narrowed silently; f64 is the default, c128 is first class.
enum class Dtype : std::uint8_t { boolean, u8, i32, i64, u32, f32, f64, c64, c128 };
inline constexpr int kDtypes = 9;

using c64 = std::complex<float>;
using c128 = std::complex<double>;

constexpr std::size_t size_of(Dtype t) {
  constexpr std::size_t sizes[kDtypes] = {1, 1, 4, 8, 4, 4, 8, 8, 16};
  return sizes[static_cast<int>(t)];
}
constexpr const char* name_of(Dtype t) {
  constexpr const char* names[kDtypes] = {"bool", "u8",  "i32", "i64", "u32",
                                          "f32",  "f64", "c64", "c128"};
  return names[static_cast<int>(t)];
}
constexpr bool is_complex(Dtype t) { return t >= Dtype::c64; }
constexpr bool is_float(Dtype t) { return t == Dtype::f32 || t == Dtype::f64; }
constexpr bool is_inexact(Dtype t) { return t >= Dtype::f32; }  ///< has derivatives
constexpr bool is_integer(Dtype t) { return t > Dtype::boolean && t < Dtype::f32; }
/// The type of the real part: c128 -> f64, c64 -> f32, others themselves.
constexpr Dtype real_of(Dtype t) {
  return t == Dtype::c128 ? Dtype::f64 : t == Dtype::c64 ? Dtype::f32 : t;
}
/// f64 -> c128, f32 -> c64, complex types themselves.
constexpr Dtype complex_of(Dtype t) {
  return t == Dtype::f64 ? Dtype::c128 : t == Dtype::f32 ? Dtype::c64 : t;
}

template <class T>
constexpr Dtype dtype_of() {
  if constexpr (std::is_same_v<T, bool>)
    return Dtype::boolean;
  else if constexpr (std::is_same_v<T, std::uint8_t>)
    return Dtype::u8;
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return Dtype::i32;
  else if constexpr (std::is_same_v<T, std::uint32_t>)
    return Dtype::u32;
  else if constexpr (std::is_integral_v<T> && sizeof(T) == 8 && std::is_signed_v<T>)
    return Dtype::i64;
  else if constexpr (std::is_same_v<T, float>)
    return Dtype::f32;
  else if constexpr (std::is_same_v<T, double>)
    return Dtype::f64;
  else if constexpr (std::is_same_v<T, c64>)
    return Dtype::c64;
  else {
    static_assert(std::is_same_v<T, c128>, "not an element type of tessera::Tensor");
    return Dtype::c128;
  }
}

template <class T>
struct type_tag {
  using type = T;
};

/// Calls `f(type_tag<T>{})` with the C++ type of `t`.
template <class F>
decltype(auto) visit_dtype(Dtype t, F&& f) {
  switch (t) {
    case Dtype::boolean:
      return f(type_tag<bool>{});
    case Dtype::u8:
      return f(type_tag<std::uint8_t>{});
    case Dtype::i32:
      return f(type_tag<std::int32_t>{});
    case Dtype::i64:
      return f(type_tag<std::int64_t>{});
    case Dtype::u32:
      return f(type_tag<std::uint32_t>{});
    case Dtype::f32:
      return f(type_tag<float>{});
    case Dtype::f64:
      return f(type_tag<double>{});
    case Dtype::c64:
      return f(type_tag<c64>{});
    default:
      return f(type_tag<c128>{});
  }
}

/// Whether an implicit promotion exists; then `promote` gives it. Widening only: f32 with f64, real
/// with complex, narrower with wider integers of the same signedness (u8 widens to all). Mixing
/// integers with floats, or bool with numbers, has none.
constexpr bool can_promote(Dtype a, Dtype b) {
  if (a == b) return true;
  if (is_inexact(a) && is_inexact(b)) return true;
  if (is_integer(a) && is_integer(b))
    return a == Dtype::u8 || b == Dtype::u8 || a == Dtype::i64 || b == Dtype::i64;
  return false;
}
constexpr Dtype promote(Dtype a, Dtype b) {
  if (a == b) return a;
  if (is_inexact(a) && is_inexact(b)) {
    const bool wide = size_of(real_of(a)) == 8 || size_of(real_of(b)) == 8;
    if (is_complex(a) || is_complex(b)) return wide ? Dtype::c128 : Dtype::c64;
    return wide ? Dtype::f64 : Dtype::f32;
  }
  return size_of(a) > size_of(b) ? a : b;
}

}  // namespace tessera
