// SPDX-License-Identifier: Apache-2.0
//
// Reductions with one order of operations, given by the length alone. A sequence x_0 ... x_{K-1} is cut into
// blocks of 512; inside a block, lane l of 8 takes the elements k = l mod 8 in turn, and the lanes are paired;
// the blocks' results are paired like the digits of a binary counter. Rows and columns of memory follow the
// same order, so that neither layout nor threads change a bit.
#pragma once
#include <vector>

#include "map.h"

namespace tessera::kernels {

inline constexpr Index kBlock = 512, kLanes = 8;

/// Folds block results in the counter's order; `width` values side by side.
template <class T, class Op>
class Counter {
 public:
  explicit Counter(Index width, T identity) : width_(width), identity_(identity) {}
  void push(const T* block, Op op) {
    Index level = 0;
    carry_.assign(block, block + width_);
    for (Index n = count_++; n & 1; n >>= 1, ++level)
      for (Index c = 0; c < width_; ++c) carry_[c] = op(levels_[level * width_ + c], carry_[c]);
    if (static_cast<Index>(levels_.size()) < (level + 1) * width_) levels_.resize((level + 1) * width_);
    std::copy(carry_.begin(), carry_.end(), levels_.begin() + level * width_);
  }
  void result(T* out, Op op) const {
    for (Index c = 0; c < width_; ++c) out[c] = identity_;
    bool first = true;
    for (Index level = 0; count_ >> level; ++level) {
      if (!(count_ >> level & 1)) continue;
      for (Index c = 0; c < width_; ++c) out[c] = first ? levels_[level * width_ + c] : op(levels_[level * width_ + c], out[c]);
      first = false;
    }
  }

 private:
  Index width_, count_ = 0;
  T identity_;
  std::vector<T> levels_, carry_;
};

template <class T, class Op>
T fold_block(const T* x, Index stride, Index n, T identity, Op op) {
  T lane[kLanes];
  for (T& l : lane) l = identity;
  Index k = 0;
  for (; k + kLanes <= n; k += kLanes)
    for (Index l = 0; l < kLanes; ++l) lane[l] = op(lane[l], x[(k + l) * stride]);
  for (Index l = 0; k + l < n; ++l) lane[l] = op(lane[l], x[(k + l) * stride]);
  return op(op(op(lane[0], lane[1]), op(lane[2], lane[3])), op(op(lane[4], lane[5]), op(lane[6], lane[7])));
}

/// One sequence of n elements.
template <class T, class Op>
T fold(const T* x, Index stride, Index n, T identity, Op op) {
  if (n <= kBlock) return fold_block(x, stride, n, identity, op);
  const Index blocks = (n + kBlock - 1) / kBlock;
  std::vector<T> partial(blocks);
  constexpr Index per_chunk = 64;
  parallel_chunks((blocks + per_chunk - 1) / per_chunk, [&](Index c) {
    for (Index b = c * per_chunk; b < std::min(blocks, (c + 1) * per_chunk); ++b)
      partial[b] = fold_block(x + b * kBlock * stride, stride, std::min(kBlock, n - b * kBlock), identity, op);
  });
  Counter<T, Op> counter(1, identity);
  for (const T& p : partial) counter.push(&p, op);
  T out;
  counter.result(&out, op);
  return out;
}

/// `width` <= 64 neighbouring sequences at once; term(k, c) is element k of sequence c.
template <class T, class Op, class Term>
void fold_columns(Term term, Index n, Index width, T identity, Op op, T* out) {
  constexpr Index kWidth = 64;
  T lane[kLanes][kWidth], block[kWidth];
  Counter<T, Op> counter(width, identity);
  for (Index begin = 0; begin < std::max<Index>(n, 1); begin += kBlock) {
    const Index len = std::min(kBlock, n - begin);
    for (auto& l : lane) std::fill(l, l + width, identity);
    for (Index k = 0; k < len; ++k) {
      T* acc = lane[k % kLanes];
      for (Index c = 0; c < width; ++c) acc[c] = op(acc[c], term(begin + k, c));
    }
    for (Index c = 0; c < width; ++c)
      block[c] = op(op(op(lane[0][c], lane[1][c]), op(lane[2][c], lane[3][c])),
                    op(op(lane[4][c], lane[5][c]), op(lane[6][c], lane[7][c])));
    counter.push(block, op);
  }
  counter.result(out, op);
}

/// Reduces the last `n_reduced` axes of `v`, whose kept axes come first; out is contiguous.
/// Returns false if the reduced axes do not merge into one stride (the caller copies then).
template <class T, class Op>
bool reduce(const View& v, int n_reduced, T* out, T identity, Op op) {
  const int kept = v.shape.size() - n_reduced;
  Index n = 1, stride = 1;
  for (int d = kept; d < v.shape.size(); ++d) {
    if (v.shape[d] == 1) continue;
    if (n > 1 && stride != v.strides[d] * v.shape[d]) return false;
    n *= v.shape[d];
    stride = v.strides[d];
  }
  View outer = v;
  outer.shape = outer.strides = {};
  for (int d = 0; d < kept; ++d) {
    outer.shape.push_back(v.shape[d]);
    outer.strides.push_back(v.strides[d]);
  }
  const Index m = outer.count();
  if (m == 0) return true;
  const T* x = static_cast<const T*>(v.data);
  const Rows<1> rows(outer.shape, {&outer});
  const bool columns = n > 1 && rows.inner_stride[0] == 1 && rows.inner > 1 && stride != 1;
  if (!columns) {
    for_rows(rows.rows(), rows.inner * n, [&](Index r) {
      const T* base = x + rows.offset(0, r);
      for (Index i = 0; i < rows.inner; ++i) out[r * rows.inner + i] = fold(base + i * rows.inner_stride[0], stride, n, identity, op);
    });
    return true;
  }
  constexpr Index kWidth = 64;
  const Index strips = (rows.inner + kWidth - 1) / kWidth;
  for_rows(rows.rows() * strips, kWidth * n, [&](Index i) {
    const Index r = i / strips, c = i % strips * kWidth;
    const T* first = x + rows.offset(0, r) + c;
    fold_columns([first, stride](Index k, Index j) TESSERA_INLINE { return first[k * stride + j]; }, n, std::min(kWidth, rows.inner - c), identity, op, out + r * rows.inner + c);
  });
  return true;
}

/// sum_k a_k b_k over the leading axis of two arrays [n, m], of which a row is contiguous.
template <class T, class Op>
void sum_products(const T* a, Index stride_a, const T* b, Index stride_b, Index n, Index m, T* out, Op op) {
  constexpr Index kWidth = 64;
  const Index strips = (m + kWidth - 1) / kWidth;
  for_rows(strips, kWidth * n, [&](Index i) {
    const T *pa = a + i * kWidth, *pb = b + i * kWidth;
    fold_columns([pa, pb, stride_a, stride_b](Index k, Index j) TESSERA_INLINE { return multiply(pa[k * stride_a + j], pb[k * stride_b + j]); }, n,
                 std::min(kWidth, m - i * kWidth), T(0), op, out + i * kWidth);
  });
}

}  // namespace tessera::kernels
