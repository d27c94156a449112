// SPDX-License-Identifier: Apache-2.0
//
// Functions of reals have a loop for neighbouring elements, in vectors of 512 bits where there are
// some, and one for any stride, element by element: both give the same bits.
#include "tessera/autodiff/ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace {

using tessera::Tensor;

const std::vector<std::pair<std::string, Tensor (*)(tessera::Arg)>> kFunctions = {
    {"sqrt", tessera::sqrt},         {"cbrt", tessera::cbrt},         {"exp", tessera::exp},
    {"expm1", tessera::expm1},       {"log", tessera::log},           {"log1p", tessera::log1p},
    {"sin", tessera::sin},           {"cos", tessera::cos},           {"tan", tessera::tan},
    {"asin", tessera::asin},         {"acos", tessera::acos},         {"atan", tessera::atan},
    {"sinh", tessera::sinh},         {"cosh", tessera::cosh},         {"tanh", tessera::tanh},
    {"asinh", tessera::asinh},       {"acosh", tessera::acosh},       {"atanh", tessera::atanh},
    {"sech2", tessera::sech2},       {"logistic", tessera::logistic}, {"erf", tessera::erf},
    {"softplus", tessera::softplus}, {"erfc", tessera::erfc},         {"erfinv", tessera::erfinv},
    {"lgamma", tessera::lgamma},     {"digamma", tessera::digamma},   {"rsqrt", tessera::rsqrt}};

/// Ordinary numbers of all sizes, limits, and beyond the range of sines' quick reduction; an odd
/// number of them, so that vectors of any width leave a rest.
template <class T>
std::vector<T> arguments() {
  using Limits = std::numeric_limits<T>;
  std::mt19937_64 engine(1);
  std::uniform_real_distribution<double> exponent(-30, 4), unit(-1, 1);
  std::vector<T> x = {T(0),
                      -T(0),
                      T(1),
                      T(-1),
                      T(0.5),
                      Limits::infinity(),
                      -Limits::infinity(),
                      Limits::quiet_NaN(),
                      Limits::max(),
                      Limits::lowest(),
                      Limits::min(),
                      Limits::denorm_min(),
                      -Limits::denorm_min()};
  while (x.size() < 1200) x.push_back(static_cast<T>(unit(engine)));
  while (x.size() < 2400) x.push_back(static_cast<T>(unit(engine) * std::exp(exponent(engine))));
  while (x.size() < 2900) x.push_back(static_cast<T>(unit(engine) * 1e9));
  while (x.size() < 4001) x.push_back(static_cast<T>(20 * unit(engine)));
  return x;
}

template <class T>
void expect_same_bits() {
  const std::vector<T> x = arguments<T>();
  std::vector<T> spread;
  for (const T v : x) spread.insert(spread.end(), {v, T(0)});
  const auto n = static_cast<tessera::Index>(x.size());
  const Tensor packed = tessera::tensor(x, {n}),
               strided = slice(tessera::tensor(spread, {2 * n}), 0, 0, 2 * n, 2);
  ASSERT_FALSE(strided.view().contiguous());
  for (const auto& [name, f] : kFunctions) {
    const std::vector<T> a = f(packed).template to_vector<T>(),
                         b = f(strided).template to_vector<T>();
    for (std::size_t i = 0; i < x.size(); ++i) {
      const bool same = std::isnan(a[i]) ? std::isnan(b[i])
                                         : a[i] == b[i] && std::signbit(a[i]) == std::signbit(b[i]);
      ASSERT_TRUE(same) << name << "(" << x[i] << ") is " << a[i] << " and " << b[i];
    }
  }
}

TEST(WideLoops, HaveTheBitsOfSingleElements) {
  expect_same_bits<double>();
  expect_same_bits<float>();
}

}  // namespace
