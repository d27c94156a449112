// SPDX-License-Identifier: Apache-2.0
#include "convolution_channels.h"

#include "convolution_tiles.h"
#include "gemm_blocked.h"

#include <algorithm>
#include <complex>

namespace tessera::kernels {
namespace {

using Index = std::int64_t;
constexpr int kRows = 8;  ///< sums side by side: enough for the latency of a fused step

template <class T, class V>
[[gnu::always_inline]] inline void add_to(V& sum, V x, V y) {
  if constexpr (std::is_same_v<T, V>)
    add_term(sum, x, y);
  else
    add_product<T>(sum, x, y);
}

/// The channels of a vector, of `rows` results: term l of a segment is a[i * row] b.
template <class T, class V, int rows>
[[gnu::always_inline]] inline void channel_tile(const SegmentTile<T>& t) {
  V sum[rows] = {};
  for (const Segment *s = t.segments, *end = s + t.count; s < end; ++s) {
    const T *a = t.a + s->a, *b = t.b + s->b * t.unit;
    for (Index l = s->terms; l > 0; --l, a += t.step, b += t.ldb) {
      const V y = *reinterpret_cast<const V*>(b);
#pragma GCC unroll 16
      for (int i = 0; i < rows; ++i) {
        const V x = *reinterpret_cast<const V*>(a + i * t.row);
        add_to<T>(sum[i], x, y);
      }
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    V* const c = reinterpret_cast<V*>(t.c + i * t.ldc);
    *c = t.add ? *c + sum[i] : sum[i];
  }
}

/// Where a sum stands.
template <class T>
struct Chain {
  const Segment *segment, *end;
  Index left;
  const T *a, *b;
};
template <class T, class V, int... k>
[[gnu::always_inline]] inline void side_by_side(V* sum, const Chain<T>* chain, Index terms,
                                                Index a_step, Index b_step,
                                                std::integer_sequence<int, k...>) {
  V here[] = {sum[k]...};  // in registers, as their numbers are constants
  const T *const a[] = {chain[k].a...}, *const b[] = {chain[k].b...};
  for (Index l = 0, i = 0, j = 0; l < terms; ++l, i += a_step, j += b_step)
    (add_to<T>(here[k], *reinterpret_cast<const V*>(a[k] + i),
               *reinterpret_cast<const V*>(b[k] + j)),
     ...);
  ((sum[k] = here[k]), ...);
}

/// `n` sums side by side as far as all have terms, which hides the latency of one; then one by one.
template <class T, class V, int n>
[[gnu::always_inline]] inline void channel_sums(const ChannelSum<T>* sums, const T* a, Index a_step,
                                                const T* b, Index b_step, bool add) {
  Chain<T> chain[n];
  V sum[n];
  const auto begin_segment = [&](Chain<T> & c) __attribute__((always_inline)) {
    c.left = c.segment < c.end ? c.segment->terms : 0;
    if (c.left) c.a = a + c.segment->a, c.b = b + c.segment->b;
  };
  const auto next = [&](Chain<T> & c, Index terms) __attribute__((always_inline)) {
    c.a += terms * a_step, c.b += terms * b_step;
    if ((c.left -= terms) == 0) ++c.segment, begin_segment(c);
  };
  for (int k = 0; k < n; ++k) {
    chain[k] = {sums[k].segments, sums[k].segments + sums[k].count, 0, nullptr, nullptr};
    sum[k] = add ? *reinterpret_cast<const V*>(sums[k].c) : V{};
    begin_segment(chain[k]);
  }
  for (;;) {
    Index terms = chain[0].left;
    for (int k = 1; k < n; ++k) terms = std::min(terms, chain[k].left);
    if (terms == 0) break;
    side_by_side<T, V>(sum, chain, terms, a_step, b_step, std::make_integer_sequence<int, n>{});
    for (Chain<T>& c : chain) next(c, terms);
  }
  for (int k = 0; k < n; ++k) {
    for (Chain<T>& c = chain[k]; c.left; next(c, c.left))
      side_by_side<T, V>(sum + k, &c, c.left, a_step, b_step, std::integer_sequence<int, 0>{});
    *reinterpret_cast<V*>(sums[k].c) = sum[k];
  }
}

/// Tiles of one channel (width 0) or of a vector of channels.
template <class T, int width>
struct Channels {
  static constexpr int lanes = 1;
  template <int rows>
  static void run(const SegmentTile<T>& t) {
    channel_tile<T, T, rows>(t);
  }
  template <int n>
  static void sum(const ChannelSum<T>* sums, const T* a, Index a_step, const T* b, Index b_step,
                  bool add) {
    channel_sums<T, T, n>(sums, a, a_step, b, b_step, add);
  }
};
template <class T>
struct Channels<T, 32> {
  static constexpr int lanes = 32 / sizeof(T);
  using V = typename Vector<32, T>::type;
  template <int rows>
  [[gnu::target("avx2,fma")]] static void run(const SegmentTile<T>& t) {
    channel_tile<T, V, rows>(t);
  }
  template <int n>
  [[gnu::target("avx2,fma")]] static void sum(const ChannelSum<T>* sums, const T* a, Index a_step,
                                              const T* b, Index b_step, bool add) {
    channel_sums<T, V, n>(sums, a, a_step, b, b_step, add);
  }
};
template <class T>
struct Channels<T, 64> {
  static constexpr int lanes = 64 / sizeof(T);
  using V = typename Vector<64, T>::type;
  template <int rows>
  [[gnu::target("avx2,fma,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]] static void run(
      const SegmentTile<T>& t) {
    channel_tile<T, V, rows>(t);
  }
  template <int n>
  [[gnu::target("avx2,fma,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]] static void sum(
      const ChannelSum<T>* sums, const T* a, Index a_step, const T* b, Index b_step, bool add) {
    channel_sums<T, V, n>(sums, a, a_step, b, b_step, add);
  }
};
template <class T, int width>
constexpr std::array<SegmentTileFn<T>, kRows> kTiles = [
]<int... i>(std::integer_sequence<int, i...>) {
  return std::array<SegmentTileFn<T>, kRows>{&Channels<T, width>::template run<i + 1>...};
}
(std::make_integer_sequence<int, kRows>{});

template <class T>
using ChannelSumsFn = void (*)(const ChannelSum<T>*, const T*, Index, const T*, Index, bool);
template <class T, int width>
constexpr std::array<ChannelSumsFn<T>, kChannelSums> kSums = [
]<int... i>(std::integer_sequence<int, i...>) {
  return std::array<ChannelSumsFn<T>, kChannelSums>{&Channels<T, width>::template sum<i + 1>...};
}
(std::make_integer_sequence<int, kChannelSums>{});

/// f<width>(first) for all channels: whole vectors, then narrower ones, then one by one.
template <class T, int width, class F>
void over_channels(Index first, Index channels, const F& f) {
  for (; first + Channels<T, width>::lanes <= channels; first += Channels<T, width>::lanes)
    f.template operator()<width>(first);
  if constexpr (width > 0)
    if (first < channels) over_channels<T, width == 64 ? 32 : 0>(first, channels, f);
}

template <class T, int width>
void run(const GatherShape& s, const T* in, const T* w, T* out) {
  const GatherPlan plan(s, kRows, s.groups, 1);
  // w as [window, channels].
  detail::Scratch<T> packed(static_cast<std::size_t>(s.window() * s.groups));
  T* to = packed.data();
  for (Index i = 0; i < s.axis[0].window; ++i)
    for (Index j = 0; j < s.axis[1].window; ++j)
      for (Index k = 0; k < s.axis[2].window; ++k)
        for (Index g = 0; g < s.groups; ++g)
          *to++ = w[i * s.w_axis[0] + j * s.w_axis[1] + k * s.w_axis[2] + g * s.w_group];

  in_chunks(static_cast<Index>(plan.units().size()), plan.work(), [&](Index u) {
    const Unit& unit = plan.units()[static_cast<std::size_t>(u)];
    const Box& box = plan.boxes()[unit.box];
    thread_local Runs runs;
    list_window(s, box, 1, kDepth<T>, runs);
    SegmentTile<T> t{};
    t.row = box.in_row(s), t.step = 1, t.unit = t.ldb = s.groups, t.ldc = box.out_row(s);
    thread_local detail::List<Place> places;
    list_places(s, box, unit, places);
    for (const Place& p : places) {
      t.a = in + p.in, t.b = packed.data(), t.c = out + p.out;
      for (Index r = 0; r < std::max<Index>(1, runs.count()); ++r) {
        const Index begin = runs.begin[static_cast<std::size_t>(r)];
        t.segments = runs.segments.data() + begin;
        t.count = runs.begin[static_cast<std::size_t>(r) + 1] - begin;
        t.add = r > 0;
        over_channels<T, width>(0, s.groups, [&]<int w>(Index first) {
          SegmentTile<T> here = t;
          here.a += first, here.b += first, here.c += first;
          kTiles<T, w>[static_cast<std::size_t>(p.rows - 1)](here);
        });
      }
    }
  });
}

}  // namespace

template <class T>
void gather_channels(int width, const GatherShape& s, const T* in, const T* w, T* out) {
  if constexpr (!is_cplx<T>) {
    if (width == 64) return run<T, 64>(s, in, w, out);
    if (width == 32) return run<T, 32>(s, in, w, out);
  }
  run<T, 0>(s, in, w, out);
}

template <class T>
void add_channels(int width, std::span<const ChannelSum<T>> sums, const T* a, Index a_step,
                  const T* b, Index b_step, Index channels, bool add) {
  const auto part = [&]<int w>(Index first) {
    ChannelSum<T> here[kChannelSums];
    for (std::size_t k = 0; k < sums.size(); ++k) here[k] = sums[k], here[k].c += first;
    kSums<T, w>[sums.size() - 1](here, a + first, a_step, b + first, b_step, add);
  };
  if constexpr (!is_cplx<T>) {
    if (width == 64) return over_channels<T, 64>(0, channels, part);
    if (width == 32) return over_channels<T, 32>(0, channels, part);
  }
  over_channels<T, 0>(0, channels, part);
}

#define TESSERA_INSTANTIATE(T)                                                                  \
  template void gather_channels<T>(int, const GatherShape&, const T*, const T*, T*);            \
  template void add_channels<T>(int, std::span<const ChannelSum<T>>, const T*, Index, const T*, \
                                Index, Index, bool);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(c64)
TESSERA_INSTANTIATE(c128)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::kernels
