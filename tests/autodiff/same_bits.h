// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/ops.h"

#include <cstring>

namespace tessera {

/// One type and the same bytes, NaNs and the signs of zeros included.
inline bool same_bits(const Tensor& a, const Tensor& b) {
  if (a.type() != b.type()) return false;
  const Tensor x = contiguous(a), y = contiguous(b);
  return a.size() == 0 || std::memcmp(x.view().data, y.view().data,
                                      static_cast<std::size_t>(a.size()) * size_of(a.dtype())) == 0;
}

}  // namespace tessera
