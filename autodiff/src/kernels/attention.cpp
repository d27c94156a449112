// SPDX-License-Identifier: Apache-2.0
//
// Values and tangents: a chunk of queries takes block after block of keys, packed for it.
#include "attention.h"

#include "attention_blocks.h"
#include "tessera/autodiff/forall.h"
#include "vmath_log.h"

namespace tessera::kernels {
namespace {

constexpr Index kChunk = 256;  ///< queries that take a packed block of keys in turn

/// f(head, first query of a chunk) for all, on all threads where there is much to do.
template <class T, class F>
void for_chunks(const AttentionOperands& in, F f) {
  const int nd = in.q->shape.size();
  const Index n = in.q->shape[nd - 3], heads = in.q->shape[nd - 2], m = in.k->shape[nd - 3],
              features = in.q->shape.back() + in.v->shape.back();
  const Index chunks = (n + kChunk - 1) / kChunk, all = heads_of(in) * chunks;
  const auto one = [&](Index c) {
    const Index head = c / chunks;
    f(AttentionHead<T>(in, head / heads, head % heads), head / heads, head % heads,
      c % chunks * kChunk);
  };
  // Small ones go to a thread many at a time.
  const Index work = std::min(n, kChunk) * (m + 1) * (features + 8),
              per_task = std::max<Index>(1, (Index{1} << 17) / std::max<Index>(work, 1));
  parallel_chunks((all + per_task - 1) / per_task, [&](Index t) {
    for (Index c = t * per_task; c < std::min(all, (t + 1) * per_task); ++c) one(c);
  });
}

/// to[i, l] = factor x(i, l), rows `columns` apart.
template <class T>
void copy_scaled(Index rows, Index columns, Strided<T> x, T factor, T* to) {
  for (Index i = 0; i < rows; ++i)
    for (Index l = 0; l < columns; ++l) to[i * columns + l] = factor * x(i, l);
}

template <class T, int width>
void values(const AttentionHead<T>& head, Index first, Index queries, T* y, Index y_row, T* l) {
  using K = Tiles<T, width>;
  using Rows = CompiledRows<T, width>;
  using Block = PackedBlock<T, width>;
  constexpr T never = -std::numeric_limits<T>::infinity();
  constexpr Index kKeys = kAttentionKeys<T>;
  const Index d = head.d, e = filled<T>(head.e), most = std::min(kKeys, head.m);
  const auto room = [](Index n) { return AttentionMemory<T>::room(n); };
  AttentionMemory<T> memory(room(queries * d) + room(queries * e) + 2 * room(queries) +
                            room(K::max_rows * kScoreRow<T>) + Block::room(d, most) +
                            Block::room(most, head.e));
  T* const q = memory.take(queries * d);
  T* const sums = memory.take(queries * e);  // of exp(s - largest) v
  T* const largest = memory.take(queries);
  T* const total = memory.take(queries);
  T* const s = memory.take(K::max_rows * kScoreRow<T>);
  Block keys{memory.take(Block::room(d, most))}, of_v{memory.take(Block::room(most, head.e))};
  copy_scaled(queries, d, head.q.from(first), head.scale, q);
  std::fill_n(sums, queries * e, T(0));
  std::fill_n(largest, queries, never);
  std::fill_n(total, queries, T(0));

  const Index end = head.taken(first + queries - 1);
  for (Index j = 0; j < end; j += kKeys) {
    const Index here = std::min(kKeys, end - j);
    keys.pack_columns(d, here, head.k.from(j));
    of_v.pack_rows(here, head.e, head.v.from(j));
    for_strips<K::max_rows>(
        head, first, queries, j, here, [&](Index row, Index count, Index taken) {
          multiply_block<T, width, true>(count, d, q + row * d, d, keys, 0, taken, false, s,
                                         kScoreRow<T>);
          for (Index i = 0; i < count; ++i) {
            T* const si = s + i * kScoreRow<T>;
            T &most = largest[row + i], &sum = total[row + i];
            hide_unseen(head, first + row + i, j, taken, si);
            const T now = Rows::largest(si, filled<T>(taken)), before = most;
            most = now > most ? now : most;
            const T added = Rows::exps(si, filled<T>(taken), most == never ? T(0) : most);
            if (most != before && before != never) {
              const T factor = exp_of_score(before - most);
              sum *= factor;
              Rows::times(sums + (row + i) * e, e, factor);
            }
            sum += added;
          }
          multiply_block<T, width, true>(count, taken, s, kScoreRow<T>, of_v, 0, head.e, true,
                                         sums + row * e, e);
        });
  }
  for (Index i = 0; i < queries; ++i) {
    const T sum = total[i];
    for (Index f = 0; f < head.e; ++f) y[i * y_row + f] = sum == 0 ? T(0) : sums[i * e + f] / sum;
    l[i] = sum == 0 ? never : largest[i] + vm::log(sum);
  }
}

/// The tangents of q, k, v of one head; without data: zero.
template <class T>
using Tangents = std::array<Strided<T>, 3>;

template <class T, int width>
void tangents(const AttentionHead<T>& head, Index first, Index queries, Strided<T> y, Strided<T> l,
              const Tangents<T>& t, T* ty, Index ty_row, T* tl) {
  using K = Tiles<T, width>;
  using Rows = CompiledRows<T, width>;
  using Block = PackedBlock<T, width>;
  constexpr T never = -std::numeric_limits<T>::infinity();
  constexpr Index kKeys = kAttentionKeys<T>;
  const Index d = head.d, e = filled<T>(head.e), most = std::min(kKeys, head.m);
  const auto room = [](Index n) { return AttentionMemory<T>::room(n); };
  AttentionMemory<T> memory(2 * room(queries * d) + room(queries * e) + room(queries) +
                            2 * room(K::max_rows * kScoreRow<T>) + 2 * Block::room(d, most) +
                            2 * Block::room(most, head.e));
  T* const q = memory.take(queries * d);
  T* const tq = memory.take(queries * d);
  T* const sums = memory.take(queries * e);  // of p s' v + p v'
  T* const of_l = memory.take(queries);      // L'
  T* const s = memory.take(K::max_rows * kScoreRow<T>);
  T* const ts = memory.take(K::max_rows * kScoreRow<T>);
  Block keys{memory.take(Block::room(d, most))}, t_keys{memory.take(Block::room(d, most))},
      of_v{memory.take(Block::room(most, head.e))}, of_tv{memory.take(Block::room(most, head.e))};
  const Strided<T>&dq = t[0], &dk = t[1], &dv = t[2];
  const bool scores_move = dq.data || dk.data;
  copy_scaled(queries, d, head.q.from(first), head.scale, q);
  if (dq.data) copy_scaled(queries, d, dq.from(first), head.scale, tq);
  std::fill_n(sums, queries * e, T(0));
  std::fill_n(of_l, queries, T(0));

  const Index end = head.taken(first + queries - 1);
  for (Index j = 0; j < end; j += kKeys) {
    const Index here = std::min(kKeys, end - j);
    keys.pack_columns(d, here, head.k.from(j));
    if (scores_move) of_v.pack_rows(here, head.e, head.v.from(j));
    if (dk.data) t_keys.pack_columns(d, here, dk.from(j));
    if (dv.data) of_tv.pack_rows(here, head.e, dv.from(j));
    for_strips<K::max_rows>(
        head, first, queries, j, here, [&](Index row, Index count, Index taken) {
          const auto scores = [&](const T* a, const Block& b, bool add, T* c) {
            multiply_block<T, width, true>(count, d, a + row * d, d, b, 0, taken, add, c,
                                           kScoreRow<T>);
          };
          scores(q, keys, false, s);
          if (dq.data) scores(tq, keys, false, ts);
          if (dk.data) scores(q, t_keys, dq.data != nullptr, ts);
          for (Index i = 0; i < count; ++i) {
            T *const si = s + i * kScoreRow<T>, *const ti = ts + i * kScoreRow<T>;
            const T li = l(first + row + i, 0), shift = li == never ? T(0) : li;
            hide_unseen(head, first + row + i, j, taken, si);
            if (!scores_move) {
              Rows::exps(si, filled<T>(taken), shift);
              continue;
            }
            std::fill(ti + taken, ti + filled<T>(taken), T(0));
            of_l[row + i] += Rows::exps_times(si, ti, filled<T>(taken), shift, T(0));
          }
          const auto add = [&](const T* a, const Block& b) {
            multiply_block<T, width, true>(count, taken, a, kScoreRow<T>, b, 0, head.e, true,
                                           sums + row * e, e);
          };
          if (scores_move) add(ts, of_v);
          if (dv.data) add(s, of_tv);
        });
  }
  for (Index i = 0; i < queries; ++i) {
    tl[i] = of_l[i];
    for (Index f = 0; f < head.e; ++f)
      ty[i * ty_row + f] = std::fma(-of_l[i], y(first + i, f), sums[i * e + f]);
  }
}

/// y's part of a head: row i at `i * row`.
template <class T>
T* rows_of(const AttentionOperands& in, T* y, Index b, Index h, Index first) {
  const int nd = in.q->shape.size();
  const Index n = in.q->shape[nd - 3], heads = in.q->shape[nd - 2], e = in.v->shape.back();
  return y + ((b * n + first) * heads + h) * e;
}

}  // namespace

template <class T>
void attention_values(int width, const AttentionOperands& in, T* y, T* l) {
  const int nd = in.q->shape.size();
  const Index n = in.q->shape[nd - 3], heads = in.q->shape[nd - 2];
  const auto run = width == 64 ? values<T, 64> : width == 32 ? values<T, 32> : values<T, 0>;
  for_chunks<T>(in, [&](const AttentionHead<T>& head, Index b, Index h, Index first) {
    run(head, first, std::min(kChunk, n - first), rows_of(in, y, b, h, first), heads * head.e,
        l + (b * heads + h) * n + first);
  });
}

template <class T>
void attention_tangents(int width, const AttentionOperands& in, const View& y, const View& l,
                        const std::array<const View*, 3>& t, T* ty, T* tl) {
  const int nd = in.q->shape.size();
  const Index n = in.q->shape[nd - 3], heads = in.q->shape[nd - 2];
  const auto run = width == 64 ? tangents<T, 64> : width == 32 ? tangents<T, 32> : tangents<T, 0>;
  for_chunks<T>(in, [&](const AttentionHead<T>& head, Index b, Index h, Index first) {
    Tangents<T> of_head{};
    for (std::size_t k = 0; k < 3; ++k)
      if (t[k]) of_head[k] = head_of<T>(*t[k], b, h);
    run(head, first, std::min(kChunk, n - first), head_of<T>(y, b, h), numbers_of<T>(l, b, h),
        of_head, rows_of(in, ty, b, h, first), heads * head.e, tl + (b * heads + h) * n + first);
  });
}

#define TESSERA_INSTANTIATE(T)                                                                 \
  template void attention_values<T>(int, const AttentionOperands&, T*, T*);                    \
  template void attention_tangents<T>(int, const AttentionOperands&, const View&, const View&, \
                                      const std::array<const View*, 3>&, T*, T*);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::kernels
