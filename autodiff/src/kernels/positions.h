// SPDX-License-Identifier: Apache-2.0
//
// Indices that are data: checked before anything is read or written through them.
#pragma once
#include "../base/scratch.h"
#include "tessera/autodiff/kernel.h"

namespace tessera::kernels {

/// The geometry of gather and scatter: batch x (n or count) x rest.
struct Positions {
  Index batch, n, count, rest;
  detail::Scratch<Index> at;  ///< [batch, count], each in 0 ... n-1

  /// x [B..., n, rest...], indices [B..., K...]; throws for an index outside of its axis.
  Positions(const char* op, const View& x, const View& indices, int batch_dims)
      : batch(1), count(1), rest(1), at(static_cast<std::size_t>(indices.count())) {
    for (int d = 0; d < batch_dims; ++d) batch *= x.shape[d];
    for (int d = batch_dims; d < indices.shape.size(); ++d) count *= indices.shape[d];
    for (int d = batch_dims + 1; d < x.shape.size(); ++d) rest *= x.shape[d];
    n = x.shape[batch_dims];
    if (indices.dtype == Dtype::i32)
      load(static_cast<const std::int32_t*>(indices.data));
    else
      load(static_cast<const std::int64_t*>(indices.data));
    for (std::size_t k = 0; k < at.size(); ++k)
      if (at[k] < 0 || at[k] >= n)
        fail(op, "index " + std::to_string(at[k]) + " (number " + std::to_string(k) + " of " +
                     to_string(indices.type()) + ") is outside of 0 ... " + std::to_string(n - 1) +
                     " on axis " + std::to_string(batch_dims) + " of " + to_string(x.type()));
  }

  /// Bytes of it.
  static std::size_t workspace(const View& indices) {
    return detail::scratch_bytes<Index>(indices.count());
  }

 private:
  template <class I>
  void load(const I* p) {
    for (std::size_t k = 0; k < at.size(); ++k) at[k] = p[k];
  }
};

/// Those who write to each target, in rising order: writers[begin[t]] ... writers[begin[t+1]-1]
/// (counting sort).
struct ByTarget {
  detail::Scratch<Index> begin, writers;
  ByTarget(const Index* at, Index count, Index n)
      : begin(static_cast<std::size_t>(n + 1), 0), writers(static_cast<std::size_t>(count)) {
    for (Index k = 0; k < count; ++k) ++begin[at[k] + 1];
    for (Index t = 0; t < n; ++t) begin[t + 1] += begin[t];
    detail::Scratch<Index> next(begin.begin(), begin.end() - 1);
    for (Index k = 0; k < count; ++k) writers[next[at[k]]++] = k;
  }
  static std::size_t workspace(Index count, Index n) {
    return detail::scratch_bytes<Index>(n + 1) + detail::scratch_bytes<Index>(n) +
           detail::scratch_bytes<Index>(count);
  }
};

}  // namespace tessera::kernels
