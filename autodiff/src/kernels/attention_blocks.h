// SPDX-License-Identifier: Apache-2.0
//
// What the kernels of attention are made of: operands of one head, packed blocks of them, products
// of blocks by the tile of convolution_tiles.h, and loops over a row of scores.
#pragma once
#include "attention.h"
#include "convolution_tiles.h"
#include "fused_vectors.h"
#include "vmath_exp.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>

namespace tessera::kernels {

/// A matrix anywhere.
template <class T>
struct Strided {
  const T* data;
  Index row, column;
  const T& operator()(Index i, Index j) const { return data[i * row + j * column]; }
  Strided from(Index i) const { return {data + i * row, row, column}; }
};

/// Offset of member `b` of the leading axes of v, all but the last three.
inline Index stack_offset(const View& v, Index b) {
  Index at = 0;
  for (int d = v.shape.size() - 4; d >= 0; --d) {
    at += b % v.shape[d] * v.strides[d];
    b /= v.shape[d];
  }
  return at;
}
/// Tokens by features of head h in x [B..., tokens, heads, features].
template <class T>
Strided<T> head_of(const View& x, Index b, Index h) {
  const int n = x.shape.size();
  return {static_cast<const T*>(x.data) + stack_offset(x, b) + h * x.strides[n - 2],
          x.strides[n - 3], x.strides[n - 1]};
}
/// Queries by keys of head h in the mask [B..., heads, queries, keys].
inline Strided<bool> mask_of(const View* x, Index b, Index h) {
  if (!x) return {};
  const int n = x->shape.size();
  return {static_cast<const bool*>(x->data) + stack_offset(*x, b) + h * x->strides[n - 3],
          x->strides[n - 2], x->strides[n - 1]};
}
/// The numbers of head h in x [B..., heads, tokens], as a column.
template <class T>
Strided<T> numbers_of(const View& x, Index b, Index h) {
  const int n = x.shape.size();
  Index at = 0;
  for (int d = n - 3; d >= 0; --d) {
    at += b % x.shape[d] * x.strides[d];
    b /= x.shape[d];
  }
  return {static_cast<const T*>(x.data) + at + h * x.strides[n - 2], x.strides[n - 1], 0};
}

constexpr Index kAttentionGroup = 64;  ///< queries, and keys, that are multiplied together

/// One head of one member of the stack.
template <class T>
struct AttentionHead {
  Strided<T> q, k, v;
  Strided<bool> mask;
  Index n, m, d, e;
  bool causal;
  T scale;

  AttentionHead(const AttentionOperands& in, Index b, Index h)
      : q(head_of<T>(*in.q, b, h)),
        k(head_of<T>(*in.k, b, h)),
        v(head_of<T>(*in.v, b, h)),
        mask(mask_of(in.mask, b, h)),
        n(in.q->shape[in.q->shape.size() - 3]),
        m(in.k->shape[in.k->shape.size() - 3]),
        d(in.q->shape.back()),
        e(in.v->shape.back()),
        causal(in.causal),
        scale(static_cast<T>(1 / std::sqrt(static_cast<double>(d)))) {}
  /// Keys 0 ... that query i sees, but for the mask.
  Index sees(Index i) const { return causal ? std::clamp<Index>(i + m - n + 1, 0, m) : m; }
  /// Keys 0 ... that take part for queries up to `last`: in whole groups.
  Index taken(Index last) const {
    return std::min(m, (sees(last) + kAttentionGroup - 1) / kAttentionGroup * kAttentionGroup);
  }
};

/// Heads of all members of the stack.
inline Index heads_of(const AttentionOperands& in) {
  Index count = 1;
  for (int k = 0; k + 3 < in.q->shape.size(); ++k) count *= in.q->shape[k];
  return count * in.q->shape[in.q->shape.size() - 2];
}

/// Memory of the calling thread that stays for its next call.
template <class T>
class AttentionMemory {
 public:
  explicit AttentionMemory(Index numbers) {
    const std::size_t bytes = static_cast<std::size_t>(numbers) * sizeof(T);
    thread_local std::unique_ptr<std::byte[]> memory;
    thread_local std::size_t size = 0;
    if (size < bytes) {
      memory.reset(new std::byte[bytes + 64]);
      size = bytes;
    }
    const std::size_t off = reinterpret_cast<std::uintptr_t>(memory.get()) % 64;
    next_ = reinterpret_cast<T*>(memory.get() + (64 - off) % 64);
  }
  /// In whole lines.
  static constexpr Index room(Index numbers) {
    constexpr Index line = 64 / sizeof(T);
    return (numbers + line - 1) / line * line;
  }
  T* take(Index numbers) {
    T* const at = next_;
    next_ += room(numbers);
    return at;
  }

 private:
  T* next_;
};

// ---- rows of scores ----

/// Numbers that loops over rows take at a time: rows are filled up to them.
template <class T>
inline constexpr Index kRowStep = 128 / sizeof(T);
template <class T>
constexpr Index filled(Index n) {
  return (n + kRowStep<T> - 1) / kRowStep<T> * kRowStep<T>;
}

/// e^x for x <= 0 (and a rounding above), 0 where that is below the normal numbers. Error about 1
/// ulp.
template <class T>
TESSERA_HD_INLINE T exp_of_score(T x) {
  using C = vm::detail::ExpConstants<T>;
  using F = vm::Format<T>;
  constexpr T kOffset = F::kMagic + T(F::kBias), kSmallest = sizeof(T) == 8 ? T(-708) : T(-87);
  const T t = vm::fma(x, C::kLog2e, kOffset);  // its low bits: the exponent of 2^n
  const T n = t - kOffset;
  const T r = vm::fma(-n, C::kLn2Low, vm::fma(-n, C::kLn2High, x));
  const T y = vm::fma(r * r, vm::detail::exp_rest(r), r) + 1;
  const T power = vm::from_bits<T>(vm::to_bits(t) << F::kFraction);
  return x < kSmallest ? T(0) : y * power;
}

/// Loops over `n` numbers, a multiple of kRowStep.
template <class T, int width>
struct RowLoops {
  static constexpr int bytes = width ? width : 16, lanes = bytes / sizeof(T);
  static constexpr int vectors = 128 / bytes;
  using V = typename Vector<bytes, T>::type;

  /// kRowStep numbers to one: the second half to the first, and again.
  template <class F>
  [[gnu::always_inline]] static inline T in_halves(V* x, F join) {
#pragma GCC unroll 4
    for (int c = vectors / 2; c > 0; c /= 2)
#pragma GCC unroll 8
      for (int k = 0; k < c; ++k) join(x[k], x[k + c]);
    T all[lanes];
    *reinterpret_cast<V*>(all) = x[0];
#pragma GCC unroll 4
    for (int h = lanes / 2; h > 0; h /= 2)
#pragma GCC unroll 8
      for (int i = 0; i < h; ++i) join(all[i], all[i + h]);
    return all[0];
  }
  [[gnu::always_inline]] static inline T largest(const T* s, Index n) {
    V m[vectors];
    for (int k = 0; k < vectors; ++k) m[k] = V{} - std::numeric_limits<T>::infinity();
    for (Index j = 0; j < n; j += kRowStep<T>)
#pragma GCC unroll 8
      for (int k = 0; k < vectors; ++k) {
        const V x = *reinterpret_cast<const V*>(s + j + k * lanes);
        m[k] = x > m[k] ? x : m[k];
      }
    return in_halves(m, [](auto& x, const auto& y) TESSERA_INLINE { x = y > x ? y : x; });
  }
  /// kRowStep sums, added in halves.
  [[gnu::always_inline]] static inline T sum(const T* s, Index n) {
    V a[vectors] = {};
    for (Index j = 0; j < n; j += kRowStep<T>)
#pragma GCC unroll 8
      for (int k = 0; k < vectors; ++k) a[k] += *reinterpret_cast<const V*>(s + j + k * lanes);
    return in_halves(a, [](auto& x, const auto& y) TESSERA_INLINE { x += y; });
  }
  /// s <- exp(s - shift).
  [[gnu::always_inline]] static inline void exps(T* s, Index n, T shift) {
#pragma GCC ivdep
    for (Index j = 0; j < n; ++j) s[j] = exp_of_score(s[j] - shift);
  }
  /// s <- exp(s - shift), t <- exp(s - shift) (t - minus).
  [[gnu::always_inline]] static inline void exps_times(T* s, T* t, Index n, T shift, T minus) {
#pragma GCC ivdep
    for (Index j = 0; j < n; ++j) {
      const T p = exp_of_score(s[j] - shift);
      s[j] = p;
      t[j] = p * (t[j] - minus);
    }
  }
  [[gnu::always_inline]] static inline void times(T* s, Index n, T factor) {
#pragma GCC ivdep
    for (Index j = 0; j < n; ++j) s[j] *= factor;
  }
  /// One panel of B, `columns` wide, from its transposed of `rows` rows: out[l, j] = b(j, l).
  [[gnu::always_inline]] static inline void turn(Index terms, const T* b, Index ld, Index rows,
                                                 T* out, Index columns) {
    Index l = 0;
    if constexpr (width > 0)
      for (; l + lanes <= terms; l += lanes)
        for (Index j = 0; j < columns; j += lanes) {
          V x[lanes];
#pragma GCC unroll 16
          for (int i = 0; i < lanes; ++i)
            x[i] = j + i < rows ? *reinterpret_cast<const V*>(b + (j + i) * ld + l) : V{};
          exchange<T, bytes, 1>(x, std::make_index_sequence<static_cast<std::size_t>(lanes)>{});
#pragma GCC unroll 16
          for (int i = 0; i < lanes; ++i) *reinterpret_cast<V*>(out + (l + i) * columns + j) = x[i];
        }
    for (; l < terms; ++l)
      for (Index j = 0; j < columns; ++j) out[l * columns + j] = j < rows ? b[j * ld + l] : T(0);
  }
};

// The loops compiled for each width.
#define TESSERA_ROW_LOOPS(WIDTH, TARGET)                                           \
  template <class T>                                                               \
  struct CompiledRows<T, WIDTH> {                                                  \
    using L = RowLoops<T, WIDTH>;                                                  \
    TARGET static T largest(const T* s, Index n) { return L::largest(s, n); }      \
    TARGET static T exps(T* s, Index n, T shift) {                                 \
      L::exps(s, n, shift);                                                        \
      return L::sum(s, n);                                                         \
    }                                                                              \
    TARGET static T exps_times(T* s, T* t, Index n, T shift, T minus) {            \
      L::exps_times(s, t, n, shift, minus);                                        \
      return L::sum(t, n);                                                         \
    }                                                                              \
    TARGET static void times(T* s, Index n, T factor) { L::times(s, n, factor); }  \
    TARGET static void turn(Index terms, const T* b, Index ld, Index rows, T* out, \
                            Index columns) {                                       \
      L::turn(terms, b, ld, rows, out, columns);                                   \
    }                                                                              \
  };
template <class T, int width>
struct CompiledRows;
TESSERA_ROW_LOOPS(0, )
TESSERA_ROW_LOOPS(32, [[gnu::target("avx2,fma")]])
TESSERA_ROW_LOOPS(64, [[gnu::target("avx2,fma,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]])
#undef TESSERA_ROW_LOOPS

// ---- blocks and their products ----

/// B [terms, columns] in panels as tiles take them: rows of two vectors, the last panel of one
/// where that is enough, filled up with zeros.
template <class T, int width>
struct PackedBlock {
  using K = Tiles<T, width>;
  static constexpr Index wide = 2 * K::lanes;
  T* data = nullptr;
  Index terms = 0, columns = 0;

  static Index room(Index terms, Index columns) {
    return AttentionMemory<T>::room(terms * Panels<K::lanes>(columns).padded());
  }
  /// Of rows of x.
  void pack_rows(Index of_terms, Index of_columns, Strided<T> x) {
    terms = of_terms, columns = of_columns;
    const Panels<K::lanes> panels(columns);
    for (Index p = 0; p < panels.count(); ++p) {
      const Index w = panels.width(p), here = std::min(w, columns - p * wide);
      T* to = data + p * wide * terms;
      for (Index l = 0; l < terms; ++l, to += w) {
        const T* const from = &x(l, p * wide);
        if (x.column == 1)
          std::copy_n(from, here, to);
        else
          for (Index j = 0; j < here; ++j) to[j] = from[j * x.column];
        std::fill(to + here, to + w, T(0));
      }
    }
  }
  /// Of x transposed: its rows are columns.
  void pack_columns(Index of_terms, Index of_columns, Strided<T> x) {
    terms = of_terms, columns = of_columns;
    const Panels<K::lanes> panels(columns);
    for (Index p = 0; p < panels.count(); ++p) {
      const Index w = panels.width(p), here = std::min(w, columns - p * wide);
      T* const to = data + p * wide * terms;
      if (x.column == 1) {
        CompiledRows<T, width>::turn(terms, x.data + p * wide * x.row, x.row, here, to, w);
        continue;
      }
      for (Index l = 0; l < terms; ++l)
        for (Index j = 0; j < w; ++j) to[l * w + j] = j < here ? x(p * wide + j, l) : T(0);
    }
  }
};

/// C [rows, columns of B] = A B, or with `add` C + A B, over the first `terms` terms of B and
/// `columns` of its columns, rounded up to whole vectors. by_rows: A's element (i, l) at a[i ld +
/// l]; else at a[i + l ld], and with `add` the chain that C begins goes on.
template <class T, int width, bool by_rows>
void multiply_block(Index rows, Index terms, const T* a, Index ld, const PackedBlock<T, width>& b,
                    Index first_term, Index columns, bool add, T* c, Index ldc) {
  using K = Tiles<T, width>;
  using Table = TileTable<T, width, by_rows>;
  const Panels<K::lanes> panels(b.columns);
  const Segment all{0, 0, terms};
  SegmentTile<T> t{};
  t.segments = &all, t.count = 1;
  t.row = by_rows ? ld : 1, t.step = by_rows ? 1 : ld;
  t.unit = 1, t.add = add, t.ldc = ldc;
  const Index count = (rows + K::max_rows - 1) / K::max_rows;
  for (Index i = 0, row = 0; i < count; ++i) {  // rows are dealt out evenly
    const Index here = rows / count + (i < rows % count);
    t.a = a + row * (by_rows ? ld : 1);
    for (Index p = 0; p * 2 * K::lanes < columns; ++p) {
      t.ldb = panels.width(p);
      t.b = b.data + p * 2 * K::lanes * b.terms + first_term * t.ldb;
      t.c = c + row * ldc + p * 2 * K::lanes;
      Table::tile(t.ldb > K::lanes, here)(t);
    }
    row += here;
  }
}

/// Queries in groups, and of a group in strips of at most `rows`: f(first, count, keys of the block
/// that take part).
template <int rows, class T, class F>
void for_strips(const AttentionHead<T>& head, Index first_query, Index queries, Index first_key,
                Index keys, F f) {
  for (Index g = 0; g < queries; g += kAttentionGroup) {
    const Index here = std::min(kAttentionGroup, queries - g),
                taken = std::min(keys, head.taken(first_query + g + here - 1) - first_key);
    if (taken <= 0) continue;
    const Index strips = (here + rows - 1) / rows;
    for (Index s = 0, row = 0; s < strips; ++s) {
      const Index count = here / strips + (s < here % strips);
      f(g + row, count, taken);
      row += count;
    }
  }
}

/// Columns of a block of scores, one row behind the other: not a power of two apart.
template <class T>
inline constexpr Index kScoreRow = kAttentionKeys<T> + 64 / sizeof(T);

/// Row i of scores against keys first ... first + n - 1: -inf where it does not see them, and up to
/// filled(n).
template <class T>
void hide_unseen(const AttentionHead<T>& head, Index i, Index first, Index n, T* s) {
  constexpr T never = -std::numeric_limits<T>::infinity();
  const Index seen = std::clamp<Index>(head.sees(i) - first, 0, n);
  if (head.mask.data)
    for (Index j = 0; j < seen; ++j)
      if (!head.mask(i, first + j)) s[j] = never;
  std::fill(s + seen, s + filled<T>(n), never);
}

}  // namespace tessera::kernels
