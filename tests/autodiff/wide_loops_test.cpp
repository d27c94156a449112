// SPDX-License-Identifier: Apache-2.0
//
// Functions of reals have a loop for neighbouring elements, in vectors of 512 bits where there are
// some, and one for any stride, element by element: both give the same bits.
#include "autodiff/src/kernels/functions.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/primitive.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string_view>
#include <vector>

namespace tessera {
namespace {

/// The functions of one real number, as the table of bodies lists them.
std::vector<const Primitive*> real_functions() {
  struct Entry {
    std::string_view kind, name;
    DtypeSet types;
  };
#define ENTRY(KIND, SCALAR, TYPE, NAME, FUNCTION, TYPES) {#KIND, NAME, TYPES},
  const Entry table[] = {TESSERA_FUNCTION_ROWS(ENTRY)};
#undef ENTRY
  std::vector<const Primitive*> found;
  for (const Entry& e : table)
    if ((e.kind == "unary" || e.kind.ends_with("periodic")) && contains(e.types, Dtype::f64))
      for (const Primitive* p : registered_primitives())
        if (p->name == e.name) found.push_back(p);
  return found;
}

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
  const auto n = static_cast<Index>(x.size());
  const Tensor packed = tensor(x, {n}), strided = slice(tensor(spread, {2 * n}), 0, 0, 2 * n, 2);
  ASSERT_FALSE(strided.view().contiguous());
  const std::vector<const Primitive*> functions = real_functions();
  EXPECT_GE(functions.size(), 28u);
  for (const Primitive* f : functions) {
    const std::vector<T> a = apply(*f, {}, {}, packed).template to_vector<T>(),
                         b = apply(*f, {}, {}, strided).template to_vector<T>();
    for (std::size_t i = 0; i < x.size(); ++i) {
      const bool same = std::isnan(a[i]) ? std::isnan(b[i])
                                         : a[i] == b[i] && std::signbit(a[i]) == std::signbit(b[i]);
      ASSERT_TRUE(same) << f->name << "(" << x[i] << ") is " << a[i] << " and " << b[i];
    }
  }
}

TEST(WideLoops, HaveTheBitsOfSingleElements) {
  expect_same_bits<double>();
  expect_same_bits<float>();
}

}  // namespace
}  // namespace tessera
