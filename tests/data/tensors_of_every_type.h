// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/ops.h"
#include "tessera/data/arrays.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace tessera::testing {

/// What formats of arrays have to give back: extreme numbers of each type that all of them have, a
/// tensor that is not row-major, one without axes, one without elements.
inline std::vector<data::NamedTensor> tensors_of_every_type() {
  const Tensor f64 = tensor({1.0, -0.0, 1e-320, 1e308, HUGE_VAL, -1.5}, {2, 3});
  return {{"flags", tensor<bool>({true, false, true})},
          {"f64", f64},
          {"turned", transpose(f64, {1, 0})},
          {"u8", tensor<std::uint8_t>({0, 255})},
          {"i32", tensor<std::int32_t>({-5})},
          {"i64", tensor<std::int64_t>({std::numeric_limits<std::int64_t>::min()})},
          {"u32", tensor<std::uint32_t>({4294967295U})},
          {"f32", tensor<float>({0.1F})},
          {"c64", tensor<c64>({{1, -2}})},
          {"scalar", tensor(3.25)},
          {"none", zeros({3, 0, 2}, Dtype::f32)}};
}

/// Names, types and values.
inline void expect_same_tensors(const std::vector<data::NamedTensor>& got,
                                const std::vector<data::NamedTensor>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Tensor &a = expected[i].values, &b = got[i].values;
    EXPECT_EQ(got[i].name, expected[i].name);
    ASSERT_EQ(b.type(), a.type()) << expected[i].name;
    visit_dtype(a.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      EXPECT_EQ(b.to_vector<T>(), a.to_vector<T>()) << expected[i].name;
    });
  }
}

}  // namespace tessera::testing
