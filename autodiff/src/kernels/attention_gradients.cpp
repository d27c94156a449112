// SPDX-License-Identifier: Apache-2.0
//
// Gradients. A pair of a block of queries and one of keys gives its parts of all three. Where there
// are heads for all threads, a thread takes a head: block of keys after block of keys, each with
// all queries, so that five products make a pair. Else threads take blocks, of queries for gq and
// of keys for gk and gv, and scores are made twice: the sums are the same.
#include "attention.h"
#include "attention_blocks.h"
#include "gemm_blocked.h"
#include "tessera/autodiff/forall.h"

namespace tessera::kernels {
namespace {

constexpr Index kQueries = 128;  ///< of a block; divides kDepth

/// What is known of one head, and where its gradients go: row i at i * row.
template <class T>
struct Pull {
  AttentionHead<T> head;
  Strided<T> y, l, u, w;
  struct Rows {
    T* data;
    Index row;
  } gq, gk, gv;
};

template <class T, int width>
class Blocks {
  using K = Tiles<T, width>;
  using Loops = CompiledRows<T, width>;
  using Block = PackedBlock<T, width>;
  static constexpr Index kKeys = kAttentionKeys<T>;

 public:
  explicit Blocks(const Pull<T>& pull)
      : g_(pull),
        a_(pull.head),
        d_(filled<T>(pull.head.d)),
        e_(filled<T>(pull.head.e)),
        keys_(std::min(kKeys, a_.m)),
        queries_(std::min(kQueries, a_.n)),
        memory_(room(a_, keys_, queries_)) {
    const auto block = [&](Index terms, Index columns) {
      return Block{memory_.take(Block::room(terms, columns))};
    };
    q_ = memory_.take(queries_ * a_.d), u_ = memory_.take(queries_ * a_.e);
    shift_ = memory_.take(queries_), minus_ = memory_.take(queries_);
    p_ = memory_.take(queries_ * kScoreRow<T>), r_ = memory_.take(queries_ * kScoreRow<T>);
    k_run_ = memory_.take(keys_ * d_), k_total_ = memory_.take(keys_ * d_);
    v_run_ = memory_.take(keys_ * e_), v_total_ = memory_.take(keys_ * e_);
    part_ = memory_.take(K::max_rows * d_);
    q_rows_ = block(queries_, a_.d), u_rows_ = block(queries_, a_.e);
    k_columns_ = block(a_.d, keys_), v_columns_ = block(a_.e, keys_), k_rows_ = block(keys_, a_.d);
  }

  /// gk and gv of keys j ...; with `all` also their part of gq, which begins as zeros.
  void of_keys(Index j, bool all) {
    const Index here = std::min(kKeys, a_.m - j);
    take_keys(j, here, all && g_.gq.data);
    clear(k_run_, k_total_, d_), clear(v_run_, v_total_, e_);
    for (Index i = 0; i < a_.n; i += kQueries) {
      const Index queries = std::min(kQueries, a_.n - i);
      if (a_.taken(i + queries - 1) > j) {
        take_queries(i, queries);
        scores(i, queries, j, here, all && g_.gq.data);
        if (g_.gk.data) add_to_keys(i, queries, j, here, r_, q_rows_, k_run_, d_);
        if (g_.gv.data) add_to_keys(i, queries, j, here, p_, u_rows_, v_run_, e_);
      }
      if ((i + kQueries) % kDepth<T> == 0 || i + kQueries >= a_.n) {
        close_run(here * d_, k_run_, k_total_), close_run(here * e_, v_run_, v_total_);
      }
    }
    put(g_.gk, j, here, a_.d, k_total_, d_), put(g_.gv, j, here, a_.e, v_total_, e_);
  }
  /// gq of queries i ..., which begins as zeros.
  void of_queries(Index i) {
    const Index queries = std::min(kQueries, a_.n - i), end = a_.taken(i + queries - 1);
    take_queries(i, queries);
    for (Index j = 0; j < end; j += kKeys) {
      const Index here = std::min(kKeys, end - j);
      take_keys(j, here, true);
      scores(i, queries, j, here, true);
    }
  }

 private:
  static Index room(const AttentionHead<T>& a, Index keys, Index queries) {
    const auto room = [](Index n) { return AttentionMemory<T>::room(n); };
    return room(queries * a.d) + room(queries * a.e) + 2 * room(queries) +
           2 * room(queries * kScoreRow<T>) + 2 * room(keys * filled<T>(a.d)) +
           2 * room(keys * filled<T>(a.e)) + Block::room(queries, a.d) + Block::room(queries, a.e) +
           room(K::max_rows * filled<T>(a.d)) + Block::room(a.d, keys) + Block::room(a.e, keys) +
           Block::room(keys, a.d);
  }
  void clear(T* run, T* total, Index row) const {
    std::fill_n(run, keys_ * row, T(0)), std::fill_n(total, keys_ * row, T(0));
  }
  static void close_run(Index n, T* run, T* total) {
    for (Index i = 0; i < n; ++i) total[i] += run[i], run[i] = T(0);
  }
  static void put(const typename Pull<T>::Rows& to, Index first, Index rows, Index columns,
                  const T* from, Index row) {
    for (Index j = 0; to.data && j < rows; ++j)
      std::copy_n(from + j * row, columns, to.data + (first + j) * to.row);
  }

  void take_keys(Index j, Index here, bool for_queries) {
    k_columns_.pack_columns(a_.d, here, a_.k.from(j));
    v_columns_.pack_columns(a_.e, here, a_.v.from(j));
    if (for_queries) k_rows_.pack_rows(here, a_.d, a_.k.from(j));
  }
  void take_queries(Index i, Index here) {
    const Strided<T> q = a_.q.from(i), u = g_.u.from(i), y = g_.y.from(i);
    for (Index r = 0; r < here; ++r) {
      for (Index f = 0; f < a_.d; ++f) q_[r * a_.d + f] = a_.scale * q(r, f);
      T sum = -g_.w(i + r, 0);
      for (Index f = 0; f < a_.e; ++f) {
        u_[r * a_.e + f] = u(r, f);
        sum = std::fma(u(r, f), y(r, f), sum);
      }
      minus_[r] = sum;
      const T l = g_.l(i + r, 0);
      shift_[r] = l == -std::numeric_limits<T>::infinity() ? T(0) : l;
    }
    if (g_.gk.data) q_rows_.pack_rows(here, a_.d, {q_, a_.d, 1});
    if (g_.gv.data) u_rows_.pack_rows(here, a_.e, {u_, a_.e, 1});
  }

  /// p and r of queries i ... against keys j ...; with `to_queries` what they add to gq.
  void scores(Index i, Index queries, Index j, Index keys, bool to_queries) {
    for_strips<K::max_rows>(a_, i, queries, j, keys, [&](Index row, Index count, Index taken) {
      T *const p = p_ + row * kScoreRow<T>, *const r = r_ + row * kScoreRow<T>;
      multiply_block<T, width, true>(count, a_.d, q_ + row * a_.d, a_.d, k_columns_, 0, taken,
                                     false, p, kScoreRow<T>);
      multiply_block<T, width, true>(count, a_.e, u_ + row * a_.e, a_.e, v_columns_, 0, taken,
                                     false, r, kScoreRow<T>);
      for (Index k = 0; k < count; ++k) {
        T *const pk = p + k * kScoreRow<T>, *const rk = r + k * kScoreRow<T>;
        hide_unseen(a_, i + row + k, j, taken, pk);
        std::fill(rk + taken, rk + filled<T>(taken), T(0));
        Loops::exps_times(pk, rk, filled<T>(taken), shift_[row + k], minus_[row + k]);
      }
      if (!to_queries) return;
      multiply_block<T, width, true>(count, taken, r, kScoreRow<T>, k_rows_, 0, a_.d, false, part_,
                                     d_);
      for (Index k = 0; k < count; ++k) {
        T* const to = g_.gq.data + (i + row + k) * g_.gq.row;
        for (Index f = 0; f < a_.d; ++f) to[f] = std::fma(a_.scale, part_[k * d_ + f], to[f]);
      }
    });
  }
  /// run [keys, row] += s^T b over the queries, in groups of which some see some.
  void add_to_keys(Index i, Index queries, Index j, Index keys, const T* s, const Block& b, T* run,
                   Index row) {
    const auto first_of = [&](Index key) {
      Index first = 0;
      while (first < queries &&
             a_.taken(i + std::min(first + kAttentionGroup, queries) - 1) <= j + key)
        first += kAttentionGroup;
      return first;
    };
    for (Index key = 0, end; key < keys; key = end) {
      const Index first = first_of(key);
      end = std::min(key + kAttentionGroup, keys);
      while (end < keys && first_of(end) == first) end = std::min(end + kAttentionGroup, keys);
      if (first >= queries) return;  // nor do later keys
      multiply_block<T, width, false>(end - key, queries - first, s + first * kScoreRow<T> + key,
                                      kScoreRow<T>, b, first, b.columns, true, run + key * row,
                                      row);
    }
  }

  const Pull<T>& g_;
  const AttentionHead<T>& a_;
  Index d_, e_, keys_, queries_;  ///< features filled up; sizes of blocks
  AttentionMemory<T> memory_;
  T *q_, *u_, *shift_, *minus_, *p_, *r_, *k_run_, *k_total_, *v_run_, *v_total_, *part_;
  Block q_rows_, u_rows_, k_columns_, v_columns_, k_rows_;
};

/// gq of some queries: zeros.
template <class T>
void clear_queries(const Pull<T>& g, Index first, Index end) {
  for (Index i = first; g.gq.data && i < end; ++i)
    std::fill_n(g.gq.data + i * g.gq.row, g.head.d, T(0));
}
template <class T, int width>
void whole_head(const Pull<T>& g) {
  clear_queries(g, 0, g.head.n);
  Blocks<T, width> blocks(g);
  for (Index j = 0; j < g.head.m; j += kAttentionKeys<T>) blocks.of_keys(j, true);
}
/// Block by block: first those of queries, then those of keys.
template <class T, int width>
void part_of_head(const Pull<T>& g, Index block) {
  const Index of_queries = (g.head.n + kQueries - 1) / kQueries;
  if (block < of_queries) {
    if (!g.gq.data) return;
    const Index i = block * kQueries;
    clear_queries(g, i, std::min(i + kQueries, g.head.n));
    Blocks<T, width>(g).of_queries(i);
  } else if (g.gk.data || g.gv.data) {
    Blocks<T, width>(g).of_keys((block - of_queries) * kAttentionKeys<T>, false);
  }
}

}  // namespace

template <class T>
void attention_gradients(int width, const AttentionOperands& in, const View& y, const View& l,
                         const View& u, const View& w, const std::array<T*, 3>& gradients) {
  const int nd = in.q->shape.size();
  const Index n = in.q->shape[nd - 3], m = in.k->shape[nd - 3], heads = in.q->shape[nd - 2],
              d = in.q->shape.back(), e = in.v->shape.back(), all = heads_of(in);
  const auto pull = [&](Index c) {
    const Index b = c / heads, h = c % heads;
    const auto rows = [&](T* to, Index tokens, Index features) {
      return typename Pull<T>::Rows{to ? to + (b * tokens * heads + h) * features : nullptr,
                                    heads * features};
    };
    return Pull<T>{AttentionHead<T>(in, b, h), head_of<T>(y, b, h),     numbers_of<T>(l, b, h),
                   head_of<T>(u, b, h),        numbers_of<T>(w, b, h),  rows(gradients[0], n, d),
                   rows(gradients[1], m, d),   rows(gradients[2], m, e)};
  };
  const Index threads = detail::in_parallel() ? 1 : num_threads(),
              parts =
                  (n + kQueries - 1) / kQueries + (m + kAttentionKeys<T> - 1) / kAttentionKeys<T>,
              rounds = (all + threads - 1) / threads;
  const double work = static_cast<double>(n * m) * static_cast<double>(d + e);
  if (work < 0x1p19 || 5 * rounds * threads <= 7 * all) {
    const auto run = width == 64   ? whole_head<T, 64>
                     : width == 32 ? whole_head<T, 32>
                                   : whole_head<T, 0>;
    const Index per_task = static_cast<Index>(0x1p17 / std::max(work, 64.0)) + 1;
    parallel_chunks((all + per_task - 1) / per_task, [&](Index t) {
      for (Index c = t * per_task; c < std::min(all, (t + 1) * per_task); ++c) run(pull(c));
    });
  } else {
    const auto run = width == 64   ? part_of_head<T, 64>
                     : width == 32 ? part_of_head<T, 32>
                                   : part_of_head<T, 0>;
    parallel_chunks(all * parts, [&](Index c) { run(pull(c / parts), c % parts); });
  }
}
template void attention_gradients<float>(int, const AttentionOperands&, const View&, const View&,
                                         const View&, const View&, const std::array<float*, 3>&);
template void attention_gradients<double>(int, const AttentionOperands&, const View&, const View&,
                                          const View&, const View&, const std::array<double*, 3>&);

}  // namespace tessera::kernels
