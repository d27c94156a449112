// SPDX-License-Identifier: Apache-2.0
// What an expression comes to: one body over doubles, values with slopes, and tensors.
#include "tessera/autodiff/ops.h"
#include "tessera/data/expression.h"

#include <algorithm>
#include <cmath>

namespace tessera::data {
namespace {

/// f(x) with its slope df: the chain rule.
Slopes chained(const Slopes& x, double value, double df) {
  Slopes out{value, x.by};
  for (double& s : out.by) s *= df;
  return out;
}
/// f(x, y) with its slopes.
Slopes chained(const Slopes& x, const Slopes& y, double value, double dx, double dy) {
  Slopes out{value, {}};
  out.by.resize(std::max(x.by.size(), y.by.size()));
  for (std::size_t k = 0; k < x.by.size(); ++k) out.by[k] += dx * x.by[k];
  for (std::size_t k = 0; k < y.by.size(); ++k) out.by[k] += dy * y.by[k];
  return out;
}

struct OfDoubles {
  using T = double;
  static T constant(double c) { return c; }
  static T add(T x, T y) { return x + y; }
  static T subtract(T x, T y) { return x - y; }
  static T multiply(T x, T y) { return x * y; }
  static T divide(T x, T y) { return x / y; }
  static T negate(T x) { return -x; }
  static T power(T x, T y) { return std::pow(x, y); }
  static T fixed_power(T x, double n) { return std::pow(x, n); }
  static T sqrt(T x) { return std::sqrt(x); }
  static T exp(T x) { return std::exp(x); }
  static T log(T x) { return std::log(x); }
  static T sin(T x) { return std::sin(x); }
  static T cos(T x) { return std::cos(x); }
  static T tan(T x) { return std::tan(x); }
  static T asin(T x) { return std::asin(x); }
  static T acos(T x) { return std::acos(x); }
  static T atan(T x) { return std::atan(x); }
  static T atan2(T y, T x) { return std::atan2(y, x); }
  static T abs(T x) { return std::abs(x); }
  static T min(T x, T y) { return std::min(x, y); }
  static T max(T x, T y) { return std::max(x, y); }
};

struct OfSlopes {
  using T = Slopes;
  static T constant(double c) { return {c, {}}; }
  static T add(const T& x, const T& y) { return chained(x, y, x.value + y.value, 1, 1); }
  static T subtract(const T& x, const T& y) { return chained(x, y, x.value - y.value, 1, -1); }
  static T multiply(const T& x, const T& y) {
    return chained(x, y, x.value * y.value, y.value, x.value);
  }
  static T divide(const T& x, const T& y) {
    const double q = x.value / y.value;
    return chained(x, y, q, 1 / y.value, -q / y.value);
  }
  static T negate(const T& x) { return chained(x, -x.value, -1); }
  static T power(const T& x, const T& y) {
    const double p = std::pow(x.value, y.value);
    return chained(x, y, p, y.value * std::pow(x.value, y.value - 1), p * std::log(x.value));
  }
  static T fixed_power(const T& x, double n) {
    return chained(x, std::pow(x.value, n), n == 0 ? 0 : n * std::pow(x.value, n - 1));
  }
  static T sqrt(const T& x) {
    const double r = std::sqrt(x.value);
    return chained(x, r, 0.5 / r);
  }
  static T exp(const T& x) {
    const double e = std::exp(x.value);
    return chained(x, e, e);
  }
  static T log(const T& x) { return chained(x, std::log(x.value), 1 / x.value); }
  static T sin(const T& x) { return chained(x, std::sin(x.value), std::cos(x.value)); }
  static T cos(const T& x) { return chained(x, std::cos(x.value), -std::sin(x.value)); }
  static T tan(const T& x) {
    const double t = std::tan(x.value);
    return chained(x, t, 1 + t * t);
  }
  static T asin(const T& x) {
    return chained(x, std::asin(x.value), 1 / std::sqrt((1 - x.value) * (1 + x.value)));
  }
  static T acos(const T& x) {
    return chained(x, std::acos(x.value), -1 / std::sqrt((1 - x.value) * (1 + x.value)));
  }
  static T atan(const T& x) { return chained(x, std::atan(x.value), 1 / (1 + x.value * x.value)); }
  static T atan2(const T& y, const T& x) {
    const double r2 = x.value * x.value + y.value * y.value;
    return chained(y, x, std::atan2(y.value, x.value), x.value / r2, -y.value / r2);
  }
  static T abs(const T& x) {
    return chained(x, std::abs(x.value), x.value > 0 ? 1 : x.value < 0 ? -1 : 0);
  }
  // Of equal values half of each slope, as the engine has it.
  static T min(const T& x, const T& y) {
    const double share = x.value < y.value ? 1 : x.value > y.value ? 0 : 0.5;
    return chained(x, y, std::min(x.value, y.value), share, 1 - share);
  }
  static T max(const T& x, const T& y) {
    const double share = x.value > y.value ? 1 : x.value < y.value ? 0 : 0.5;
    return chained(x, y, std::max(x.value, y.value), share, 1 - share);
  }
};

struct OfTensors {
  using T = Tensor;
  static T constant(double c) { return full({}, c); }
  static T add(const T& x, const T& y) { return x + y; }
  static T subtract(const T& x, const T& y) { return x - y; }
  static T multiply(const T& x, const T& y) { return x * y; }
  static T divide(const T& x, const T& y) { return x / y; }
  static T negate(const T& x) { return -x; }
  static T power(const T& x, const T& y) { return pow(x, y); }
  static T fixed_power(const T& x, double n) {
    return n == std::round(n) && std::abs(n) < 100 ? pow(x, static_cast<int>(n)) : pow(x, n);
  }
  static T sqrt(const T& x) { return tessera::sqrt(x); }
  static T exp(const T& x) { return tessera::exp(x); }
  static T log(const T& x) { return tessera::log(x); }
  static T sin(const T& x) { return tessera::sin(x); }
  static T cos(const T& x) { return tessera::cos(x); }
  static T tan(const T& x) { return tessera::tan(x); }
  static T asin(const T& x) { return tessera::asin(x); }
  static T acos(const T& x) { return tessera::acos(x); }
  static T atan(const T& x) { return tessera::atan(x); }
  static T atan2(const T& y, const T& x) { return tessera::atan2(y, x); }
  static T abs(const T& x) { return tessera::abs(x); }
  static T min(const T& x, const T& y) { return minimum(x, y); }
  static T max(const T& x, const T& y) { return maximum(x, y); }
};

template <class Numbers>
typename Numbers::T evaluated(const std::vector<Expression::Step>& steps,
                              const std::vector<typename Numbers::T>& names) {
  using T = typename Numbers::T;
  using Op = Expression::Op;
  std::vector<T> stack;
  const auto one = [&](auto f) { stack.back() = f(stack.back()); };
  const auto two = [&](auto f) {
    const T y = std::move(stack.back());
    stack.pop_back();
    stack.back() = f(stack.back(), y);
  };
  for (const Expression::Step& s : steps) switch (s.op) {
      case Op::constant:
        stack.push_back(Numbers::constant(s.constant));
        break;
      case Op::name:
        stack.push_back(names.at(s.name));
        break;
      case Op::add:
        two(Numbers::add);
        break;
      case Op::subtract:
        two(Numbers::subtract);
        break;
      case Op::multiply:
        two(Numbers::multiply);
        break;
      case Op::divide:
        two(Numbers::divide);
        break;
      case Op::negate:
        one(Numbers::negate);
        break;
      case Op::power:
        two(Numbers::power);
        break;
      case Op::fixed_power:
        one([&](const T& x) { return Numbers::fixed_power(x, s.constant); });
        break;
      case Op::sqrt:
        one(Numbers::sqrt);
        break;
      case Op::exp:
        one(Numbers::exp);
        break;
      case Op::log:
        one(Numbers::log);
        break;
      case Op::sin:
        one(Numbers::sin);
        break;
      case Op::cos:
        one(Numbers::cos);
        break;
      case Op::tan:
        one(Numbers::tan);
        break;
      case Op::asin:
        one(Numbers::asin);
        break;
      case Op::acos:
        one(Numbers::acos);
        break;
      case Op::atan:
        one(Numbers::atan);
        break;
      case Op::atan2:
        two(Numbers::atan2);
        break;
      case Op::abs:
        one(Numbers::abs);
        break;
      case Op::min:
        two(Numbers::min);
        break;
      case Op::max:
        two(Numbers::max);
        break;
    }
  return stack.back();
}

}  // namespace

double Expression::value(const std::vector<double>& values) const {
  return evaluated<OfDoubles>(steps_, values);
}
Slopes Expression::value(const std::vector<Slopes>& values) const {
  return evaluated<OfSlopes>(steps_, values);
}
Tensor Expression::value(const std::vector<Tensor>& values) const {
  return evaluated<OfTensors>(steps_, values);
}

}  // namespace tessera::data
