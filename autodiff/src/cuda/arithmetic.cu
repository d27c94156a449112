// SPDX-License-Identifier: Apache-2.0
#include "../kernels/arithmetic.h"
#include "table.cuh"

namespace tessera::device {
namespace {

TESSERA_BINARY(add);
TESSERA_BINARY(sub);
TESSERA_BINARY(mul);
struct Body_div : Binary {
  template <class T>
  TESSERA_HD_INLINE static auto eval(T x, T y) {
    return kernels::divide(x, y);
  }
};
TESSERA_BINARY(rem);
TESSERA_BINARY(maximum);
TESSERA_BINARY(minimum);
TESSERA_BINARY(equal);
TESSERA_BINARY(not_equal);
TESSERA_BINARY(less);
TESSERA_BINARY(less_equal);
TESSERA_BINARY(bit_and);
TESSERA_BINARY(bit_or);
TESSERA_BINARY(bit_xor);
TESSERA_BINARY(shift_left);
TESSERA_BINARY(shift_right);
TESSERA_BINARY(complex);
TESSERA_UNARY(neg);
TESSERA_UNARY(bit_not);
TESSERA_UNARY(floor);
TESSERA_UNARY(ceil);
TESSERA_UNARY(round);
TESSERA_UNARY(sign);
TESSERA_UNARY(is_finite);
TESSERA_UNARY(real);
TESSERA_UNARY(imag);
TESSERA_UNARY(conj);
TESSERA_UNARY(same);
TESSERA_WITH_INT(pow_int);

struct Select {
  template <class Body, class T>
  static void launch(std::int64_t n, const void* const* in, void* out, int, void* stream) {
    const bool* c = static_cast<const bool*>(in[0]);
    const T *x = static_cast<const T*>(in[1]), *y = static_cast<const T*>(in[2]);
    T* z = static_cast<T*>(out);
    forall(
        n,
        [=] __device__(std::int64_t i) {
          store(z + i, kernels::fn::select(c[i], load(x + i), load(y + i)));
        },
        static_cast<cudaStream_t>(stream));
  }
};

template <class From, class To>
void convert(std::int64_t n, const void* const* in, void* out, void* stream) {
  const From* x = static_cast<const From*>(in[0]);
  To* y = static_cast<To*>(out);
  forall(
      n, [=] __device__(std::int64_t i) { store(y + i, kernels::fn::convert<To>(load(x + i))); },
      static_cast<cudaStream_t>(stream));
}
struct Cast {
  template <class Body, class From>
  static void launch(std::int64_t n, const void* const* in, void* out, int to, void* stream) {
    visit_dtype(static_cast<Dtype>(to),
                [&](auto tag) { convert<From, typename decltype(tag)::type>(n, in, out, stream); });
  }
};

}  // namespace

std::span<const Row> arithmetic_rows() {
  static const Row rows[] = {
      row<Body_add>("add", Integer{}, Real{}, Complex{}),
      row<Body_sub>("sub", Integer{}, Real{}, Complex{}),
      row<Body_mul>("mul", Integer{}, Real{}, Complex{}),
      row<Body_div>("div", Integer{}, Real{}, Complex{}),
      row<Body_neg>("neg", Integer{}, Real{}, Complex{}),
      row<Body_pow_int>("pow_int", Integer{}, Real{}, Complex{}),
      row<Body_rem>("rem", Integer{}, Real{}),
      row<Body_maximum>("maximum", Integer{}, Real{}),
      row<Body_minimum>("minimum", Integer{}, Real{}),
      row<Select>("select", Bool{}, Integer{}, Real{}, Complex{}),
      row<Body_equal>("equal", Bool{}, Integer{}, Real{}, Complex{}),
      row<Body_not_equal>("not_equal", Bool{}, Integer{}, Real{}, Complex{}),
      row<Body_less>("less", Integer{}, Real{}),
      row<Body_less_equal>("less_equal", Integer{}, Real{}),
      row<Body_bit_and>("and", Bool{}, Integer{}),
      row<Body_bit_or>("or", Bool{}, Integer{}),
      row<Body_bit_xor>("xor", Bool{}, Integer{}),
      row<Body_bit_not>("not", Bool{}, Integer{}),
      row<Body_shift_left>("shift_left", Integer{}),
      row<Body_shift_right>("shift_right", Integer{}),
      row<Body_floor>("floor", Real{}),
      row<Body_ceil>("ceil", Real{}),
      row<Body_round>("round", Real{}),
      row<Body_sign>("sign", Integer{}, Real{}),
      row<Body_is_finite>("is_finite", Real{}, Complex{}),
      row<Body_complex>("complex", Real{}),
      row<Body_real>("real", Complex{}),
      row<Body_imag>("imag", Complex{}),
      row<Body_conj>("conj", Complex{}),
      row<Body_same>("stop_gradient", Bool{}, Integer{}, Real{}, Complex{}),
      row<Body_same>("copy", Bool{}, Integer{}, Real{}, Complex{}),
      row<Cast>("cast", Bool{}, Integer{}, Real{}, Complex{}),
  };
  return rows;
}

}  // namespace tessera::device
