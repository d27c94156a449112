// SPDX-License-Identifier: Apache-2.0
#include "convolution_channels.h"

#include "convolution_tiles.h"
#include "gemm_blocked.h"

#include <algorithm>
#include <complex>
#include <memory>

namespace tessera::kernels {
namespace {

using Index = std::int64_t;
constexpr int kRows = 8;  ///< sums side by side: enough for the latency of a fused step

/// The channels of a vector, of `rows` results: term l of a segment is a[i * row] b. With `add` C +
/// the sum, or the sum that C begins.
template <class T, class V, int rows, bool continues>
[[gnu::always_inline]] inline void channel_tile(const SegmentTile<T>& t) {
  V sum[rows] = {};
  for (int i = 0; i < rows && continues && t.add; ++i)
    sum[i] = *reinterpret_cast<const V*>(t.c + i * t.ldc);
  for (const Segment *s = t.segments, *end = s + t.count; s < end; ++s) {
    const T *a = t.a + s->a, *b = t.b + s->b * t.unit;
    for (Index l = s->terms; l > 0; --l, a += t.step, b += t.ldb) {
      const V y = *reinterpret_cast<const V*>(b);
#pragma GCC unroll 16
      for (int i = 0; i < rows; ++i) {
        const V x = *reinterpret_cast<const V*>(a + i * t.row);
        if constexpr (std::is_same_v<T, V>)
          add_term(sum[i], x, y);
        else
          add_product<T>(sum[i], x, y);
      }
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    V* const c = reinterpret_cast<V*>(t.c + i * t.ldc);
    *c = !continues && t.add ? *c + sum[i] : sum[i];
  }
}

/// Tiles of one channel (width 0) or of a vector of channels.
template <class T, int width>
struct Channels {
  static constexpr int lanes = width ? width / static_cast<int>(sizeof(T)) : 1;
  template <int rows, bool continues>
  static void run(const SegmentTile<T>& t) {
    channel_tile<T, T, rows, continues>(t);
  }
};
template <class T>
struct Channels<T, 32> {
  static constexpr int lanes = 32 / sizeof(T);
  template <int rows, bool continues>
  [[gnu::target("avx2,fma")]] static void run(const SegmentTile<T>& t) {
    channel_tile<T, typename Vector<32, T>::type, rows, continues>(t);
  }
};
template <class T>
struct Channels<T, 64> {
  static constexpr int lanes = 64 / sizeof(T);
  template <int rows, bool continues>
  [[gnu::target("avx2,fma,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]] static void run(
      const SegmentTile<T>& t) {
    channel_tile<T, typename Vector<64, T>::type, rows, continues>(t);
  }
};
template <class T, int width>
constexpr std::array<SegmentTileFn<T>, kRows> kTiles = [
]<int... i>(std::integer_sequence<int, i...>) {
  return std::array<SegmentTileFn<T>, kRows>{&Channels<T, width>::template run<i + 1, false>...};
}
(std::make_integer_sequence<int, kRows>{});

/// All channels of a tile, or with rows = 0 of one result whose sum goes on: whole vectors, then
/// narrower ones.
template <class T, int width>
void all_channels(SegmentTile<T> t, std::size_t rows, Index channels) {
  constexpr int lanes = Channels<T, width>::lanes;
  Index done = 0;
  for (; done + lanes <= channels; done += lanes) {
    rows > 0 ? kTiles<T, width>[rows - 1](t) : Channels<T, width>::template run<1, true>(t);
    t.a += lanes, t.b += lanes, t.c += lanes;
  }
  if constexpr (width > 0)
    if (done < channels) all_channels<T, width == 64 ? 32 : 0>(t, rows, channels - done);
}

template <class T, int width>
void run(const GatherShape& s, const T* in, const T* w, T* out) {
  const GatherPlan plan(s, kRows, s.groups, 1);
  // w as [window, channels].
  const auto packed =
      std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(s.window() * s.groups));
  T* to = packed.get();
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
    thread_local std::vector<Place> places;
    list_places(s, box, unit, places);
    for (const Place& p : places) {
      t.a = in + p.in, t.b = packed.get(), t.c = out + p.out;
      for (Index r = 0; r < std::max<Index>(1, runs.count()); ++r) {
        const Index begin = runs.begin[static_cast<std::size_t>(r)];
        t.segments = runs.segments.data() + begin;
        t.count = runs.begin[static_cast<std::size_t>(r) + 1] - begin;
        t.add = r > 0;
        all_channels<T, width>(t, static_cast<std::size_t>(p.rows), s.groups);
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
void add_channels(int width, const Segment* segments, Index count, const T* a, Index a_step,
                  const T* b, Index b_step, Index channels, bool add, T* c) {
  SegmentTile<T> t{segments, count, a, 0, a_step, b, 1, b_step, add, c, 0};
  if constexpr (!is_cplx<T>) {
    if (width == 64) return all_channels<T, 64>(t, 0, channels);
    if (width == 32) return all_channels<T, 32>(t, 0, channels);
  }
  all_channels<T, 0>(t, 0, channels);
}

#define TESSERA_INSTANTIATE(T)                                                                \
  template void gather_channels<T>(int, const GatherShape&, const T*, const T*, T*);          \
  template void add_channels<T>(int, const Segment*, Index, const T*, Index, const T*, Index, \
                                Index, bool, T*);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(c64)
TESSERA_INSTANTIATE(c128)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::kernels
