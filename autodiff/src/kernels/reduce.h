// SPDX-License-Identifier: Apache-2.0
//
// Reductions with one order of operations, given by the length alone. A sequence x_0 ... x_{K-1} is
// cut into blocks of 512; inside a block, lane l of 8 takes the elements k = l mod 8 in turn, and
// the lanes are paired; the blocks' results are paired, neighbours first, until one is left. Rows
// and columns of memory follow the same order, so that neither layout nor threads change a bit.
#pragma once
#include "../base/scratch.h"
#include "copy.h"
#include "map.h"

#include <algorithm>

namespace tessera::kernels {

inline constexpr Index kBlock = 512, kLanes = 8;

/// One operation of a reduction over elements of type T: its loops over elements. All else is
/// shared by the operations of a type.
template <class T>
struct Fold {
  T identity;
  T (*combine)(T, T);
  /// The blocks of n elements, `stride` apart.
  void (*blocks)(const Fold& op, const T* x, Index stride, Index n, T* out);
  /// `count` sequences of n elements, `apart` from one to the next: each a block where n is at most
  /// that, or else `fold_long`.
  void (*rows)(const Fold& op, const T* x, Index apart, Index count, Index stride, Index n, T* out);
  /// `width` <= kColumns neighbouring sequences of n elements, `stride` apart, side by side.
  void (*columns)(const Fold& op, const T* x, Index stride, Index n, Index width, T* out);
};

/// Folds the results of `blocks` blocks, `width` values side by side, into the first.
template <class T>
void fold_pairs(const Fold<T>& op, Index blocks, Index width, T* x) {
  for (Index pairs; blocks > 1; blocks -= pairs) {
    pairs = blocks / 2;
    for (Index b = 0; b < pairs; ++b)
      for (Index c = 0; c < width; ++c)
        x[b * width + c] = op.combine(x[2 * b * width + c], x[(2 * b + 1) * width + c]);
    if (blocks % 2) std::copy_n(x + (blocks - 1) * width, width, x + pairs * width);
  }
}

/// One sequence of more than one block.
template <class T>
T fold_long(const Fold<T>& op, const T* x, Index stride, Index n) {
  const Index blocks = (n + kBlock - 1) / kBlock;
  detail::ScratchArray<T> partial(static_cast<std::size_t>(blocks));
  constexpr Index chunk = 64 * kBlock;
  parallel_chunks((n + chunk - 1) / chunk, [&](Index c) {
    op.blocks(op, x + c * chunk * stride, stride, std::min(chunk, n - c * chunk),
              partial.data() + c * 64);
  });
  fold_pairs(op, blocks, 1, partial.data());
  return partial[0];
}

template <class T, class Op>
T fold_block(const T* x, Index stride, Index n, T identity, Op op) {
  T lane[kLanes];
  for (T& l : lane) l = identity;
  Index k = 0;
  for (; k + kLanes <= n; k += kLanes)
    for (Index l = 0; l < kLanes; ++l) lane[l] = op(lane[l], x[(k + l) * stride]);
  for (Index l = 0; k + l < n; ++l) lane[l] = op(lane[l], x[(k + l) * stride]);
  return op(op(op(lane[0], lane[1]), op(lane[2], lane[3])),
            op(op(lane[4], lane[5]), op(lane[6], lane[7])));
}

/// Neighbouring sequences that are walked side by side. Their next element is far off in memory: it
/// is fetched kAhead before.
inline constexpr Index kColumns = 256, kAhead = 4;

/// Of m sequences, so many that every thread has some.
inline Index strip_of(Index m) {
  return std::clamp<Index>((m / (2 * num_threads()) + 63) / 64 * 64, 64, kColumns);
}

/// Element k of sequence c.
template <class T>
struct Columns {
  const T* x;
  Index stride;
  T operator()(Index k, Index c) const { return x[k * stride + c]; }
  void fetch(Index k, Index width) const {
    for (Index c = 0; c < width; c += Index{64 / sizeof(T)}) __builtin_prefetch(x + k * stride + c);
  }
};
template <class T>
struct Products {
  Columns<T> a, b;
  T operator()(Index k, Index c) const { return multiply(a(k, c), b(k, c)); }
  void fetch(Index k, Index width) const { a.fetch(k, width), b.fetch(k, width); }
};
template <class T>
struct Squares {
  Columns<T> a;
  T operator()(Index k, Index c) const { return multiply(a(k, c), a(k, c)); }
  void fetch(Index k, Index width) const { a.fetch(k, width); }
};

/// `width` <= kColumns neighbouring sequences at once; `combine` is the operation of `all`.
template <class T, class Op, class Term>
void fold_columns(const Fold<T>& all, Op combine, Term term, Index n, Index width, T* out) {
  T lane[kLanes][kColumns];
  const Index blocks = std::max<Index>((n + kBlock - 1) / kBlock, 1);
  detail::ScratchArray<T> partial(blocks > 1 ? static_cast<std::size_t>(blocks * width) : 0);
  T* block = partial.empty() ? out : partial.data();
  for (Index b = 0; b < blocks; ++b, block += width) {
    const Index end = std::min((b + 1) * kBlock, n);
    for (auto& l : lane) std::fill(l, l + width, all.identity);
    for (Index k = b * kBlock; k < end; ++k) {
      if (k + kAhead < n) term.fetch(k + kAhead, width);
      T* acc = lane[k % kLanes];
      for (Index c = 0; c < width; ++c) acc[c] = combine(acc[c], term(k, c));
    }
    for (Index c = 0; c < width; ++c)
      block[c] = combine(combine(combine(lane[0][c], lane[1][c]), combine(lane[2][c], lane[3][c])),
                         combine(combine(lane[4][c], lane[5][c]), combine(lane[6][c], lane[7][c])));
  }
  if (partial.empty()) return;
  fold_pairs(all, blocks, width, partial.data());
  std::copy_n(partial.data(), width, out);
}

/// The loops of `op`, which holds no data.
template <class T, class Op>
constexpr Fold<T> fold_of(T identity, Op op) {
  return {
      identity, op,
      [](const Fold<T>& all, const T* x, Index stride, Index n, T* out) {
        for (Index k = 0; k < n; k += kBlock)
          *out++ = fold_block(x + k * stride, stride, std::min(kBlock, n - k), all.identity, Op{});
      },
      [](const Fold<T>& all, const T* x, Index apart, Index count, Index stride, Index n, T* out) {
        for (Index i = 0; i < count; ++i)
          out[i] = n <= kBlock ? fold_block(x + i * apart, stride, n, all.identity, Op{})
                               : fold_long(all, x + i * apart, stride, n);
      },
      [](const Fold<T>& all, const T* x, Index stride, Index n, Index width, T* out) {
        fold_columns(all, Op{}, Columns<T>{x, stride}, n, width, out);
      }};
}

/// The last `n_reduced` axes of a view, whose kept axes come first, as sequences of n elements
/// `stride` apart, one for each element of `outer`.
struct Sequences {
  bool merge = true;  ///< the axes have one stride
  Index n = 1, stride = 1;
  View outer;
  Sequences(const View& v, int n_reduced) : outer(v) {
    const int kept = v.shape.size() - n_reduced;
    if (v.count() == 0) n = 0;  // its other axes may be of any size
    for (int d = kept; n > 0 && d < v.shape.size(); ++d) {
      if (v.shape[d] == 1) continue;
      if (n > 1 && stride != v.strides[d] * v.shape[d]) merge = false;
      n *= v.shape[d];
      stride = v.strides[d];
    }
    outer.shape = outer.strides = {};
    for (int d = 0; d < kept; ++d) {
      outer.shape.push_back(v.shape[d]);
      outer.strides.push_back(v.strides[d]);
    }
  }
  /// Neighbours are walked side by side.
  bool columns(const Rows<1>& rows) const {
    return n > 1 && rows.inner_stride[0] == 1 && rows.inner > 1 && stride != 1;
  }
};

/// Reduces the last `n_reduced` axes of `v`, whose kept axes come first; out is contiguous.
/// Returns false if the reduced axes do not merge into one stride (the caller copies then).
template <class T>
bool reduce(const Fold<T>& op, const View& v, int n_reduced, T* out) {
  const Sequences s(v, n_reduced);
  if (!s.merge) return false;
  if (s.outer.count() == 0) return true;
  const Index n = s.n, stride = s.stride;
  const T* x = static_cast<const T*>(v.data);
  const Rows<1> rows(s.outer.shape, {&s.outer});
  if (!s.columns(rows)) {
    for_rows(rows.rows(), rows.inner * n, [&](Index r) {
      op.rows(op, x + rows.offset(0, r), rows.inner_stride[0], rows.inner, stride, n,
              out + r * rows.inner);
    });
    return true;
  }
  const Index width = strip_of(rows.rows() * rows.inner), strips = (rows.inner + width - 1) / width;
  for_rows(rows.rows() * strips, std::min(width, rows.inner) * n, [&](Index i) {
    const Index r = i / strips, c = i % strips * width;
    op.columns(op, x + rows.offset(0, r) + c, stride, n, std::min(width, rows.inner - c),
               out + r * rows.inner + c);
  });
  return true;
}

/// Bytes that `fold_columns` takes, of `strips` strips on all threads.
template <class T>
std::size_t columns_workspace(Index n, Index width, Index strips) {
  const Index blocks = (n + kBlock - 1) / kBlock;
  return blocks < 2 ? 0
                    : static_cast<std::size_t>(std::min<Index>(strips, num_threads())) *
                          detail::scratch_bytes<T>(blocks * width);
}
/// Bytes that `reduce` takes, a copy of what does not merge included.
template <class T>
std::size_t reduce_workspace(const View& v, int n_reduced) {
  const Sequences s(v, n_reduced);
  if (!s.merge) {
    const View packed{nullptr, v.dtype, v.shape, row_major(v.shape)};
    return PackedCopy::workspace(v) + reduce_workspace<T>(packed, n_reduced);
  }
  if (s.outer.count() == 0 || s.n <= kBlock) return 0;
  const Rows<1> rows(s.outer.shape, {&s.outer});
  if (!s.columns(rows))
    return static_cast<std::size_t>(std::min<Index>(rows.rows(), num_threads())) *
           detail::scratch_bytes<T>((s.n + kBlock - 1) / kBlock);
  const Index width = strip_of(rows.rows() * rows.inner), strips = (rows.inner + width - 1) / width;
  return columns_workspace<T>(s.n, std::min(width, rows.inner), rows.rows() * strips);
}

/// Bytes that `sum_products` takes.
template <class T>
std::size_t sum_products_workspace(Index n, Index m) {
  const Index width = strip_of(m);
  return columns_workspace<T>(n, std::min(width, m), (m + width - 1) / width);
}

/// sum_k a_k b_k over the leading axis of two arrays [n, m], of which a row is contiguous.
template <class T, class Op>
void sum_products(const T* a, Index stride_a, const T* b, Index stride_b, Index n, Index m, T* out,
                  Op op) {
  const Index width = strip_of(m), strips = (m + width - 1) / width;
  const Fold<T> sum = fold_of(T(0), op);
  for_rows(strips, std::min(width, m) * n, [&](Index i) {
    const Index c = i * width, here = std::min(width, m - c);
    const Columns<T> x{a + c, stride_a}, y{b + c, stride_b};
    if (a == b && stride_a == stride_b)
      fold_columns(sum, op, Squares<T>{x}, n, here, out + c);
    else
      fold_columns(sum, op, Products<T>{x, y}, n, here, out + c);
  });
}

}  // namespace tessera::kernels
