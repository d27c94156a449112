// SPDX-License-Identifier: Apache-2.0
//
// y and x: each result sums over the positions p of one operand P that its window meets, and over
// P's channels. Results are cut into boxes whose windows meet alike (convolution_boxes.h); in a box
// the rows of a tile are neighbours along one axis, or along the batch, and the window is a list of
// segments of P, read where it is, and of w, which is packed once. So no element is padded, and
// none is copied but those of w.
#include "convolution_gather.h"

#include "convolution.h"
#include "convolution_boxes.h"
#include "convolution_tiles.h"
#include "gemm_blocked.h"
#include "tessera/autodiff/forall.h"

#include <algorithm>
#include <complex>
#include <memory>
#include <vector>

namespace tessera::kernels {
namespace {

using Index = std::int64_t;

/// Results whose windows meet alike along every axis, and how they are dealt to tiles: rows lie
/// along axis `along` (0: the batch, 1 + a: axis a).
struct Box {
  std::array<const MeetingClass*, 3> axis;
  int along;
  Index tiles_per_line, tiles;
  Index taps() const { return axis[0]->taps * axis[1]->taps * axis[2]->taps; }
  Index extent(const GatherShape& s, int d) const { return d == 0 ? s.batch : axis[d - 1]->count; }
};
/// Tiles first ... last - 1 of a box.
struct Unit {
  std::size_t box;
  Index first, last;
};
struct Place {
  Index in, out;
  int rows;
};
/// Start of each run of kDepth terms in a list of segments.
struct Runs {
  std::vector<Segment> segments;
  std::vector<Index> begin;
  Index count() const { return static_cast<Index>(begin.size()) - 1; }
};

Box make_box(const GatherShape& s, std::array<const MeetingClass*, 3> axis, Index max_rows) {
  Box box{axis, 3, 1, 0};
  // The last axis where it fills tiles or nothing does so better.
  double best = 0;
  for (const int d : {3, 2, 1, 0}) {
    const Index n = box.extent(s, d), tiles = (n + max_rows - 1) / max_rows;
    const double rows = static_cast<double>(n) / static_cast<double>(tiles);
    if (rows > 1.25 * best) best = rows, box.along = d, box.tiles_per_line = tiles;
    if (best >= 0.6 * static_cast<double>(max_rows)) break;
  }
  box.tiles = box.tiles_per_line;
  for (int d = 0; d < 4; ++d)
    if (d != box.along) box.tiles *= box.extent(s, d);
  return box;
}

Place place_of(const GatherShape& s, const Box& box, Index tile) {
  const Index n = box.extent(s, box.along), q = tile % box.tiles_per_line,
              each = n / box.tiles_per_line, more = n % box.tiles_per_line;
  Index line = tile / box.tiles_per_line, at[4];
  for (int d = 3; d >= 0; --d) {
    if (d == box.along) continue;
    at[d] = line % box.extent(s, d);
    line /= box.extent(s, d);
  }
  at[box.along] = q * each + std::min(q, more);  // rows are dealt out evenly
  Place p{at[0] * s.in_lead, at[0] * s.out_lead, static_cast<int>(each + (q < more))};
  for (int a = 0; a < 3; ++a) {
    const MeetingClass& c = *box.axis[static_cast<std::size_t>(a)];
    p.in += (c.at + c.q_moves * at[a + 1]) * s.in_axis[a];
    p.out += (c.first + c.step * at[a + 1]) * s.out_axis[a];
  }
  return p;
}

/// The window of a box in terms of `channels` each, cut into runs.
template <class T>
void list_segments(const GatherShape& s, const Box& box, Runs& runs) {
  runs.segments.clear(), runs.begin.assign(1, 0);
  Index room = kDepth<T>;
  const auto add = [&](Index a, Index b, Index terms) {
    while (terms > 0) {
      if (room == 0) {
        runs.begin.push_back(static_cast<Index>(runs.segments.size()));
        room = kDepth<T>;
      }
      const Index here = std::min(terms, room);
      const bool begins = runs.begin.back() == static_cast<Index>(runs.segments.size());
      if (Segment* const last = begins ? nullptr : &runs.segments.back();
          last && last->a + last->terms == a && last->b + last->terms == b)
        last->terms += here;
      else
        runs.segments.push_back({a, b, here});
      a += here, b += here, terms -= here, room -= here;
    }
  };
  const auto& [x, y, z] = box.axis;
  for (Index i = 0; i < x->taps; ++i)
    for (Index j = 0; j < y->taps; ++j)
      for (Index k = 0; k < z->taps; ++k) {
        const Index tap =
            ((x->tap + x->tap_step * i) * s.axis[1].window + y->tap + y->tap_step * j) *
                s.axis[2].window +
            z->tap + z->tap_step * k;
        add(x->t_moves * i * s.in_axis[0] + y->t_moves * j * s.in_axis[1] +
                z->t_moves * k * s.in_axis[2],
            tap * s.in_channels, s.in_channels);
      }
  runs.begin.push_back(static_cast<Index>(runs.segments.size()));
}

/// w of one group by panels of its columns: rows (tap, input channel), filled up with zeros.
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

/// One unit of one group.
template <class T, int width>
void run_unit(const GatherShape& s, const Box& box, const Unit& unit, const T* in, const T* packed,
              T* out) {
  using K = Tiles<T, width>;
  using Table = TileTable<T, width, true>;
  constexpr Index kBlock = 256 / (2 * K::lanes);  // panels that stay in the second-level cache
  thread_local Runs runs;
  thread_local std::vector<Place> places;
  list_segments<T>(s, box, runs);
  places.clear();
  for (Index tile = unit.first; tile < unit.last; ++tile) places.push_back(place_of(s, box, tile));
  const int a = box.along - 1;
  const MeetingClass* const c = a < 0 ? nullptr : box.axis[static_cast<std::size_t>(a)];
  SegmentTile<T> t{};
  t.row = c ? c->q_moves * s.in_axis[a] : s.in_lead;
  t.step = 1;
  const Index ldc = c ? c->step * s.out_axis[a] : s.out_lead;
  const Panels<K::lanes> panels(s.out_channels);
  const Index rows_of_w = s.window() * s.in_channels, n_places = static_cast<Index>(places.size());

  if (runs.segments.empty()) {
    for (const Place& p : places)
      for (int i = 0; i < p.rows; ++i) std::fill_n(out + p.out + i * ldc, s.out_channels, T(0));
    return;
  }
  for (Index r = 0; r < runs.count(); ++r) {
    t.segments = runs.segments.data() + runs.begin[static_cast<std::size_t>(r)];
    t.count = runs.begin[static_cast<std::size_t>(r) + 1] - runs.begin[static_cast<std::size_t>(r)];
    for (Index block = 0; block < panels.count(); block += kBlock)
      for (Index first = 0; first < n_places; first += K::in_turn)
        for (Index p = block; p < std::min(panels.count(), block + kBlock); ++p) {
          const Index here = panels.width(p), column = p * 2 * K::lanes;
          t.b = packed + column * rows_of_w;
          t.unit = t.ldb = here;
          for (Index i = first; i < std::min(n_places, first + K::in_turn); ++i) {
            const Place& place = places[static_cast<std::size_t>(i)];
            const auto& tile =
                Table::tile[here > K::lanes][static_cast<std::size_t>(place.rows - 1)];
            T* const to = out + place.out + column;
            t.a = in + place.in;
            if (column + here <= s.out_channels) {
              t.add = r > 0, t.c = to, t.ldc = ldc;
              tile(t);
              continue;
            }
            T part[K::max_rows * 2 * K::lanes];
            t.add = false, t.c = part, t.ldc = here;
            tile(t);
            for (int row = 0; row < place.rows; ++row)
              for (Index n = 0; n < s.out_channels - column; ++n) {
                T& o = to[row * ldc + n];
                o = r > 0 ? o + part[row * here + n] : part[row * here + n];
              }
          }
        }
  }
}

template <class T, int width>
void run(const GatherShape& s, const T* in, const T* w, T* out) {
  using K = Tiles<T, width>;
  std::array<std::vector<MeetingClass>, 3> classes;
  for (std::size_t a = 0; a < 3; ++a) classes[a] = meeting_classes(s.axis[a]);
  std::vector<Box> boxes;
  double work = 0;
  for (const MeetingClass& i : classes[0])
    for (const MeetingClass& j : classes[1])
      for (const MeetingClass& k : classes[2]) {
        boxes.push_back(make_box(s, {&i, &j, &k}, K::max_rows));
        work += static_cast<double>(s.batch * i.count * j.count * k.count) *
                static_cast<double>(boxes.back().taps() * s.in_channels + 1);
      }
  const Panels<K::lanes> panels(s.out_channels);
  work *= static_cast<double>(panels.padded());

  // Units of a quarter of a thread's share, of 2^16 to 2^22 products; bits do not depend on them.
  const double per_unit = std::clamp(work / (4.0 * num_threads()), 0x1p16, 0x1p22);
  std::vector<Unit> units;
  for (std::size_t b = 0; b < boxes.size(); ++b) {
    const double tile = static_cast<double>(K::max_rows * panels.padded()) *
                        static_cast<double>(boxes[b].taps() * s.in_channels + 1);
    const Index least = panels.padded() * s.window() * s.in_channels > (1 << 16) ? 16 : 1;
    const Index tiles = std::max<Index>(least, static_cast<Index>(per_unit / tile));
    for (Index first = 0; first < boxes[b].tiles; first += tiles)
      units.push_back({b, first, std::min(boxes[b].tiles, first + tiles)});
  }

  const Index group_size = panels.padded() * s.window() * s.in_channels;
  const std::unique_ptr<T[]> memory(new T[static_cast<std::size_t>(s.groups * group_size) + 16]);
  T* const packed =
      memory.get() + (64 - reinterpret_cast<std::uintptr_t>(memory.get()) % 64) % 64 / sizeof(T);
  const Index packs = s.groups * panels.count();
  const auto pack_one = [&](Index i) {
    const Index g = i / panels.count();
    pack<T, K::lanes>(s, w + g * s.w_group, i % panels.count(), panels, packed + g * group_size);
  };
  if (group_size * s.groups < (1 << 16))
    for (Index i = 0; i < packs; ++i) pack_one(i);
  else
    parallel_chunks(packs, pack_one);

  const Index n_units = static_cast<Index>(units.size());
  const auto unit_of = [&](Index i) {
    const Index g = i / n_units;
    const Unit& unit = units[static_cast<std::size_t>(i % n_units)];
    run_unit<T, width>(s, boxes[unit.box], unit, in + g * s.in_channels, packed + g * group_size,
                       out + g * s.out_channels);
  };
  if (work * static_cast<double>(s.groups) < 0x1p17)
    for (Index i = 0; i < n_units * s.groups; ++i) unit_of(i);
  else
    parallel_chunks(n_units * s.groups, unit_of);
}

}  // namespace

template <class T>
void gather_windows(int width, const GatherShape& s, const T* in, const T* w, T* out) {
  if constexpr (!is_cplx<T>) {
    if (width == 64) return run<T, 64>(s, in, w, out);
    if (width == 32) return run<T, 32>(s, in, w, out);
  }
  run<T, 0>(s, in, w, out);
}
template void gather_windows<float>(int, const GatherShape&, const float*, const float*, float*);
template void gather_windows<double>(int, const GatherShape&, const double*, const double*,
                                     double*);
template void gather_windows<c64>(int, const GatherShape&, const c64*, const c64*, c64*);
template void gather_windows<c128>(int, const GatherShape&, const c128*, const c128*, c128*);

}  // namespace tessera::kernels
