// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/ops.h"

#include <gtest/gtest.h>

namespace tessera::solvers {

/// |a - b| / |b| in the Euclidean norm; both must be of one type.
inline double norm_error(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.type(), b.type());
  return (norm(a - b) / norm(b)).item();
}

}  // namespace tessera::solvers
