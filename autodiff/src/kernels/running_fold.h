// SPDX-License-Identifier: Apache-2.0
//
// The reductions of reduce.h for elements that come a few rows at a time: m neighbouring sequences,
// row k holds their elements k. Between the rows the state are the lanes, [8, m]: lane l of each
// sequence has taken the elements k = l mod 8 since the begin of its block of 512. Order and bits
// are those of reduce.h.
#pragma once
#include "reduce.h"

namespace tessera {

struct Primitive;

namespace kernels {

struct RunningFold {
  /// The lanes before the first element.
  void (*start)(Index m, void* lanes);
  /// Takes rows k, k + 1, ..., one after the other in x, of one block.
  void (*add)(const void* x, Index k, Index rows, Index m, void* lanes);
  /// The block's m results.
  void (*close)(Index m, const void* lanes, void* out);
  /// Folds those of `blocks` blocks, [blocks, m], into the first m.
  void (*pairs)(Index blocks, Index m, void* x);
  /// `count` sequences of n <= kLongestRow elements, each side by side in x.
  void (*rows)(const void* x, Index count, Index n, void* out);
};
inline constexpr Index kLongestRow = 8 * kBlock;

/// acc[j] <- op(acc[j], x[j + w g]) for g = 0 ... groups - 1, in registers.
template <Index n, class T, class Op>
[[gnu::always_inline]] inline void add_groups(const T* x, Index groups, Index w, T* acc, Op op) {
  if constexpr (std::is_floating_point_v<T>) {
    using V [[gnu::vector_size(32), gnu::aligned(alignof(T)), gnu::may_alias]] = T;
    constexpr Index lanes = 32 / sizeof(T), vectors = n / lanes;
    V v[vectors];
    for (Index i = 0; i < vectors; ++i) v[i] = *reinterpret_cast<const V*>(acc + i * lanes);
    for (Index g = 0; g < groups; ++g, x += w)
      for (Index i = 0; i < vectors; ++i)
        v[i] = op(v[i], *reinterpret_cast<const V*>(x + i * lanes));
    for (Index i = 0; i < vectors; ++i) *reinterpret_cast<V*>(acc + i * lanes) = v[i];
  } else {
    for (Index g = 0; g < groups; ++g, x += w)
      for (Index i = 0; i < n; ++i) acc[i] = op(acc[i], x[i]);
  }
}

template <class T, class Op>
void add_rows(const T* x, Index k, Index rows, Index m, T* lanes, Op op) {
  const auto row = [&] {
    T* const acc = lanes + k % kLanes * m;
#pragma GCC ivdep
    for (Index c = 0; c < m; ++c) acc[c] = op(acc[c], x[c]);
    ++k, --rows, x += m;
  };
  while (rows > 0 && k % kLanes) row();
  if (const Index groups = rows / kLanes, w = kLanes * m; groups > 0) {
    constexpr Index wide = 256 / sizeof(T);
    Index j = 0;
    for (; j + wide <= w; j += wide) add_groups<wide>(x + j, groups, w, lanes + j, op);
    for (; j < w; j += kLanes) add_groups<kLanes>(x + j, groups, w, lanes + j, op);
    k += groups * kLanes, rows -= groups * kLanes, x += groups * w;
  }
  while (rows > 0) row();
}

/// out[c] <- the lanes of sequence c, paired.
template <class T, class Op>
void pair_lanes(Index m, const T* x, T* out, Op op) {
  for (Index c = 0; c < m; ++c, ++x)
    out[c] = op(op(op(x[0], x[m]), op(x[2 * m], x[3 * m])),
                op(op(x[4 * m], x[5 * m]), op(x[6 * m], x[7 * m])));
}

/// `count` sequences of n elements of `parts` numbers, four at a time: the next sum of a lane waits
/// for the one before.
template <Index parts, class T, class Op>
void fold_rows(const T* x, Index count, Index n, T identity, T* out, Op op) {
  constexpr Index together = 4, w = kLanes * parts;
  T lanes[together][w], partial[together][kLongestRow / kBlock * parts];
  for (Index side; count > 0; count -= side, x += side * n * parts, out += side * parts) {
    side = std::min(count, together);
    Index blocks = 0;
    for (Index k = 0; k < n; k += kBlock, ++blocks) {
      const Index here = std::min(kBlock, n - k), groups = here / kLanes;
      const T* from[together];
      for (Index r = 0; r < side; ++r) from[r] = x + (r * n + k) * parts;
      Index taken = 0;
      if constexpr (std::is_floating_point_v<T>) {
        if (side == together) {
          using V [[gnu::vector_size(32), gnu::aligned(alignof(T)), gnu::may_alias]] = T;
          constexpr Index width = 32 / sizeof(T), vectors = w / width;
          V v[together][vectors];
          for (auto& row : v)
            for (V& lane : row) lane = V{} + identity;
          for (Index g = 0; g < groups; ++g)
            for (Index r = 0; r < together; ++r)
              for (Index i = 0; i < vectors; ++i)
                v[r][i] = op(v[r][i], *reinterpret_cast<const V*>(from[r] + g * w + i * width));
          for (Index r = 0; r < together; ++r)
            for (Index i = 0; i < vectors; ++i)
              *reinterpret_cast<V*>(lanes[r] + i * width) = v[r][i];
          taken = groups * kLanes;
        }
      }
      for (Index r = 0; r < side; ++r) {
        if (side < together || !std::is_floating_point_v<T>) std::fill_n(lanes[r], w, identity);
        if (taken < here) add_rows(from[r] + taken * parts, 0, here - taken, parts, lanes[r], op);
        pair_lanes(parts, lanes[r], partial[r] + blocks * parts, op);
      }
    }
    const Fold<T> all{identity, [](T a, T b) { return Op{}(a, b); }, {}, {}, {}};
    for (Index r = 0; r < side; ++r) {
      if (blocks > 1) fold_pairs(all, blocks, parts, partial[r]);
      std::copy_n(partial[r], parts, out + r * parts);
    }
  }
}

/// The loops of `op`, which holds no data and takes vectors of floats, too; a complex element is
/// `parts` = 2 of T.
template <class T, Index parts, class Identity, class Op>
constexpr RunningFold running_fold_of(Identity, Op) {
  return {[](Index m, void* lanes) {
            std::fill_n(static_cast<T*>(lanes), kLanes * m * parts, Identity{}());
          },
          [](const void* x, Index k, Index rows, Index m, void* lanes) {
            add_rows(static_cast<const T*>(x), k, rows, m * parts, static_cast<T*>(lanes), Op{});
          },
          [](Index m, const void* lanes, void* out) {
            pair_lanes(m * parts, static_cast<const T*>(lanes), static_cast<T*>(out), Op{});
          },
          [](Index blocks, Index m, void* x) {
            fold_pairs(Fold<T>{Identity{}(), [](T a, T b) { return Op{}(a, b); }, {}, {}, {}},
                       blocks, m * parts, static_cast<T*>(x));
          },
          [](const void* x, Index count, Index n, void* out) {
            fold_rows<parts>(static_cast<const T*>(x), count, n, T(Identity{}()),
                             static_cast<T*>(out), Op{});
          }};
}

}  // namespace kernels

namespace detail {
/// Of a reduction over axes (AxesAttr) of operands of this type; null: it has none. The sum of a
/// product folds the product.
const kernels::RunningFold* running_fold(const Primitive& p, Dtype t);
}  // namespace detail

}  // namespace tessera
