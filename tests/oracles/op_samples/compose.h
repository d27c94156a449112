// SPDX-License-Identifier: Apache-2.0
//
// What several rows are made of.
#pragma once
#include "table.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace tessera::oracle {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kPi = std::numbers::pi;

inline Tensor is_nan(const Tensor& x) { return not_equal(x, x); }
inline Tensor truth(const Tensor& x) {
  return x.dtype() == Dtype::boolean ? x : not_equal(x, like(0, x));
}
/// -1 below zero and at -0: what a sign bit says.
inline Tensor negative(const Tensor& x) {
  if (!is_inexact(x.dtype()))
    return x.dtype() == Dtype::boolean ? cast(zeros(x.shape(), Dtype::i64), Dtype::boolean)
                                       : less(x, like(0, x));
  return logical_or(less(x, 0.0), logical_and(equal(x, 0.0), less(1.0 / x, 0.0)));
}
inline Tensor trunc(const Tensor& x) {
  return is_inexact(x.dtype()) ? where(less(x, 0.0), ceil(x), floor(x)) : x;
}
inline Tensor relu(const Tensor& x) { return where(less_equal(x, like(0, x)), like(0, x), x); }
/// Bools have no order and no sums of their own: as integers.
inline Tensor number(const Tensor& x) {
  return x.dtype() == Dtype::boolean ? cast(x, Dtype::i32) : x;
}
/// f of numbers, its result as a bool again where the arguments are.
template <class F>
Tensor of_numbers(F f, const Tensor& x) {
  return x.dtype() == Dtype::boolean ? cast(f(number(x)), Dtype::boolean) : f(x);
}
template <class F>
Tensor of_numbers(F f, const Tensor& x, const Tensor& y) {
  return x.dtype() == Dtype::boolean ? cast(f(number(x), number(y)), Dtype::boolean) : f(x, y);
}
/// Products of integers, exact below 2^53, by those of floats.
template <class F>
Tensor through_f64(F f, const std::vector<Tensor>& x) {
  if (is_inexact(x[0].dtype())) return f(x);
  std::vector<Tensor> wide;
  for (const Tensor& t : x) wide.push_back(cast(t, Dtype::f64));
  return cast(f(wide), x[0].dtype());
}
inline Tensor log_sigmoid(const Tensor& x) { return -softplus(-x); }

/// log sum e^x, complex numbers by the largest real part.
Tensor log_of_sum(const Tensor& x, const Shape& axes, bool keep);
/// Re z + e^{i Im z}: what of a complex logarithm does not depend on the branch.
Tensor without_turns(const Tensor& z);
/// (sum |x|^p)^(1/p) along axes, 0 and infinite p as torch has them.
Tensor p_norm(const Tensor& x, double p, const Shape& axes, bool keep = false);
/// "mean", "sum" or "none".
Tensor reduced(const Tensor& x, const Call& c);
Tensor remainder(const Tensor& a, const Tensor& b);  ///< with the sign of b
Tensor floor_divide(const Tensor& a, const Tensor& b);
Tensor moved_last(const Tensor& x, int axis);  ///< the axis as the last one
/// Windows of the last `size.size()` axes: [..., window, element].
Tensor windows(const Tensor& x, const Shape& size, const Shape& stride, const Shape& dilation);
/// Sums over i as torch's matmul has them, for integers too.
Tensor product(const Tensor& a, const Tensor& b);
Tensor take_each(const Tensor& x, const Tensor& indices,
                 int axis);  ///< torch.gather: indices may be smaller than x elsewhere

}  // namespace tessera::oracle
