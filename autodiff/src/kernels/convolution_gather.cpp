// SPDX-License-Identifier: Apache-2.0
//
// y and x: each result sums over the positions of one operand that its window meets, and over that
// operand's channels. Results are cut into boxes whose windows meet alike (convolution_plan.h); in
// a box the rows of a tile are neighbours along one axis, or along the batch, and the window is a
// list of segments of the operand, read where it is, and of w, which is packed once. So no element
// is padded, and none is copied but those of w.
#include "convolution_channels.h"
#include "convolution_tiles.h"
#include "gemm_blocked.h"
#include "tessera/autodiff/forall.h"

#include <algorithm>
#include <complex>

namespace tessera::kernels {
namespace {

using Index = std::int64_t;

/// w of one group by panels of its columns: rows (window position, channel), filled up with zeros.
template <class T, int lanes>
void pack(const GatherShape& s, const T* w, Index panel, const Panels<lanes>& panels, T* out) {
  const Index width = panels.width(panel), first = panel * 2 * lanes,
              columns = std::min(width, panels.columns - first);
  T* to = out + first * s.window() * s.in_channels;
  for (Index i = 0; i < s.axis[0].window; ++i)
    for (Index j = 0; j < s.axis[1].window; ++j)
      for (Index k = 0; k < s.axis[2].window; ++k) {
        const T* const from =
            w + i * s.w_axis[0] + j * s.w_axis[1] + k * s.w_axis[2] + first * s.w_out;
        for (Index c = 0; c < s.in_channels; ++c, to += width) {
          for (Index n = 0; n < columns; ++n) to[n] = from[c * s.w_in + n * s.w_out];
          std::fill(to + columns, to + width, T(0));
        }
      }
}

/// Tiles [first, last) of `places` by the panels of one block, for one run.
template <class T, int width>
void run_tiles(const Panels<Tiles<T, width>::lanes>& panels, Index block, Index block_end,
               SegmentTile<T> t, Index rows_of_w, const T* in, const T* packed, T* out, bool add,
               Index ldc, const Place* first, const Place* last) {
  using K = Tiles<T, width>;
  using Table = TileTable<T, width, true>;
  for (Index p = block; p < block_end; ++p) {
    const Index here = panels.width(p), column = p * 2 * K::lanes;
    t.b = packed + column * rows_of_w;
    t.unit = t.ldb = here;
    for (const Place* place = first; place < last; ++place) {
      const auto tile = Table::tile(here > K::lanes, place->rows);
      T* const to = out + place->out + column;
      t.a = in + place->in;
      if (column + here <= panels.columns) {
        t.add = add, t.c = to, t.ldc = ldc;
        tile(t);
        continue;
      }
      T part[K::max_rows * 2 * K::lanes];
      t.add = false, t.c = part, t.ldc = here;
      tile(t);
      for (int row = 0; row < place->rows; ++row)
        for (Index n = 0; n < panels.columns - column; ++n) {
          T& o = to[row * ldc + n];
          o = add ? o + part[row * here + n] : part[row * here + n];
        }
    }
  }
}

/// Of the window's segments those that a line of tiles meets first: the next line, `ahead` elements
/// on, meets all others of its own.
void list_fresh(const Runs& runs, Index ahead, detail::List<Segment>& fresh) {
  fresh.clear();
  constexpr std::size_t kMost = 64;
  for (const Segment& s : runs.segments)
    if (runs.segments.size() > kMost ||
        std::none_of(runs.segments.begin(), runs.segments.end(),
                     [&](const Segment& t) { return t.a == s.a + ahead; }))
      fresh.push_back(s);
  if (runs.segments.size() > kMost) fresh.clear();
}

/// One unit of one group.
template <class T, int width>
void run_unit(const GatherShape& s, const Box& box, const Unit& unit, const T* in, const T* packed,
              T* out) {
  using K = Tiles<T, width>;
  constexpr Index kBlock = 256 / (2 * K::lanes);  // panels that stay in the second-level cache
  thread_local Runs runs;
  thread_local detail::List<Place> places;
  list_window(s, box, s.in_channels, kDepth<T>, runs);
  list_places(s, box, unit, places);
  const Index ldc = box.out_row(s);
  if (runs.segments.empty()) {
    for (const Place& p : places)
      for (int i = 0; i < p.rows; ++i) std::fill_n(out + p.out + i * ldc, s.out_channels, T(0));
    return;
  }
  const Panels<K::lanes> panels(s.out_channels);
  const Place *const first = places.data(), *const last = first + places.size();
  SegmentTile<T> t{};
  t.row = box.in_row(s), t.step = 1;
  // What comes from further off comes while sums are made: of the line of tiles after this one what
  // no line has met yet, and the results of the next tile.
  thread_local detail::List<Segment> fresh;
  const Index line = box.along == 3 ? box.tiles_per_line : 1;
  fresh.clear();
  if (line < last - first) list_fresh(runs, first[line].in - first->in, fresh);
  const auto fetch = [&](const Place* p) {
    if (p + 1 < last)
      for (int i = 0; i < p[1].rows; ++i)
        fetch_lines<true>(out + p[1].out + i * ldc, s.out_channels);
    if (p + line < last)
      for (const Segment& f : fresh)
        fetch_lines<false>(in + p[line].in + f.a, (p[line].rows - 1) * t.row + f.terms);
  };
  for (Index r = 0; r < runs.count(); ++r) {
    const Index begin = runs.begin[static_cast<std::size_t>(r)];
    t.segments = runs.segments.data() + begin;
    t.count = runs.begin[static_cast<std::size_t>(r) + 1] - begin;
    for (Index block = 0; block < panels.count(); block += kBlock)
      for (const Place* p = first; p < last; p += K::in_turn) {
        for (const Place* q = p; r == 0 && block == 0 && q < std::min(last, p + K::in_turn); ++q)
          fetch(q);
        run_tiles<T, width>(panels, block, std::min(panels.count(), block + kBlock), t,
                            s.window() * s.in_channels, in, packed, out, r > 0, ldc, p,
                            std::min(last, p + K::in_turn));
      }
  }
}

/// Numbers of w in panels, of all groups.
template <class T, int width>
Index packed_numbers(const GatherShape& s) {
  return s.groups * Panels<Tiles<T, width>::lanes>(s.out_channels).padded() * s.window() *
         s.in_channels;
}

template <class T, int width>
void run(const GatherShape& s, const T* in, const T* w, T* out) {
  using K = Tiles<T, width>;
  const Panels<K::lanes> panels(s.out_channels);
  const bool narrow = panels.padded() <= K::lanes;
  const GatherPlan plan(s, narrow ? K::narrow_rows : K::max_rows, panels.padded(), s.in_channels);
  const Index all = packed_numbers<T, width>(s), group_size = all / s.groups;
  detail::Scratch<T> memory(static_cast<std::size_t>(all));
  T* const packed = memory.data();
  const auto pack_one = [&](Index i) {
    const Index g = i / panels.count();
    pack<T, K::lanes>(s, w + g * s.w_group, i % panels.count(), panels, packed + g * group_size);
  };
  in_chunks(s.groups * panels.count(), static_cast<double>(all), pack_one);

  const Index n_units = static_cast<Index>(plan.units().size());
  in_chunks(n_units * s.groups, plan.work() * static_cast<double>(s.groups), [&](Index i) {
    const Index g = i / n_units;
    const Unit& unit = plan.units()[static_cast<std::size_t>(i % n_units)];
    run_unit<T, width>(s, plan.boxes()[unit.box], unit, in + g * s.in_channels,
                       packed + g * group_size, out + g * s.out_channels);
  });
}

}  // namespace

template <class T>
void gather_windows(int width, const GatherShape& s, const T* in, const T* w, T* out) {
  if (s.groups > 1 && s.in_channels == 1 && s.out_channels == 1)
    return gather_channels(width, s, in, w, out);
  if constexpr (!is_cplx<T>) {
    if (width == 64) return run<T, 64>(s, in, w, out);
    if (width == 32) return run<T, 32>(s, in, w, out);
  }
  run<T, 0>(s, in, w, out);
}
template <class T>
std::size_t gather_workspace(int width, const GatherShape& s) {
  const auto bytes = [](Index numbers) { return detail::scratch_bytes<T>(numbers); };
  if (s.groups > 1 && s.in_channels == 1 && s.out_channels == 1)
    return bytes(s.window() * s.groups);
  if constexpr (!is_cplx<T>) {
    if (width == 64) return bytes(packed_numbers<T, 64>(s));
    if (width == 32) return bytes(packed_numbers<T, 32>(s));
  }
  return bytes(packed_numbers<T, 0>(s));
}
template std::size_t gather_workspace<float>(int, const GatherShape&);
template std::size_t gather_workspace<double>(int, const GatherShape&);
template std::size_t gather_workspace<c64>(int, const GatherShape&);
template std::size_t gather_workspace<c128>(int, const GatherShape&);
template void gather_windows<float>(int, const GatherShape&, const float*, const float*, float*);
template void gather_windows<double>(int, const GatherShape&, const double*, const double*,
                                     double*);
template void gather_windows<c64>(int, const GatherShape&, const c64*, const c64*, c64*);
template void gather_windows<c128>(int, const GatherShape&, const c128*, const c128*, c128*);

}  // namespace tessera::kernels
