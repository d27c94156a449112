// SPDX-License-Identifier: Apache-2.0
#include "stretches.h"

#include <algorithm>
#include <complex>

namespace tessera::blocks {
namespace {

template <class T>
void side_by_side_of(const View& v, T* to) {
  const int last = v.shape.size() - 1;
  const Index n = v.shape[last], stride = v.strides[last];
  const T* from = static_cast<const T*>(v.data);
  Index at[kMaxDims] = {};
  for (Index rows = v.count() / n; rows > 0; --rows, to += n) {
    if (stride == 1)
      for (Index i = 0; i < n; ++i) to[i] = from[i];
    else
      for (Index i = 0; i < n; ++i) to[i] = from[i * stride];
    for (int d = last; d-- > 0;) {
      from += v.strides[d];
      if (++at[d] < v.shape[d]) break;
      from -= v.strides[d] * v.shape[d];
      at[d] = 0;
    }
  }
}
template <class T>
void spread_of(const T* from, Index stride, Index rows, Index row, T* to) {
  for (; rows > 0; --rows, from += stride, to += row) std::fill_n(to, row, *from);
}
}  // namespace

void side_by_side(const View& v, void* to) {
  switch (size_of(v.dtype)) {
    case 1:
      return side_by_side_of(v, static_cast<std::uint8_t*>(to));
    case 4:
      return side_by_side_of(v, static_cast<std::uint32_t*>(to));
    case 8:
      return side_by_side_of(v, static_cast<std::uint64_t*>(to));
    default:
      return side_by_side_of(v, static_cast<c128*>(to));
  }
}

void spread(const View& v, Index rows, Index row, void* to) {
  const Index stride = v.strides.empty() ? 0 : v.strides[0];
  switch (size_of(v.dtype)) {
    case 1:
      return spread_of(static_cast<const std::uint8_t*>(v.data), stride, rows, row,
                       static_cast<std::uint8_t*>(to));
    case 4:
      return spread_of(static_cast<const std::uint32_t*>(v.data), stride, rows, row,
                       static_cast<std::uint32_t*>(to));
    case 8:
      return spread_of(static_cast<const std::uint64_t*>(v.data), stride, rows, row,
                       static_cast<std::uint64_t*>(to));
    default:
      return spread_of(static_cast<const c128*>(v.data), stride, rows, row, static_cast<c128*>(to));
  }
}

}  // namespace tessera::blocks
