// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/ops.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tessera::testing {

/// max |t| over all elements; 0 without elements.
inline double largest(const Tensor& t) { return t.size() ? max(abs(t)).item() : 0; }

/// max |a - b|; both must be of one shape and type.
inline double difference(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.type(), b.type());
  return largest(a - b);
}

/// max |a - b| / max(1, max |b|).
inline double relative_difference(const Tensor& a, const Tensor& b) {
  return difference(a, b) / std::max(1.0, largest(b));
}

}  // namespace tessera::testing
