// SPDX-License-Identifier: Apache-2.0
//
// How results that sum over windows are dealt to tiles and threads, whatever sums them.
#pragma once
#include "convolution_boxes.h"
#include "tessera/autodiff/forall.h"

#include <array>
#include <cstdint>

namespace tessera::kernels {

/// out[b, r, g N + n] = sum over j, then k, of in[b, p, g K + k] w_g[j, k, n], where r and j meet p
/// along each axis; K and N are `in_channels` and `out_channels`. Distances are in elements; those
/// of the last axes of in and out are 1.
struct GatherShape {
  std::int64_t batch, groups, in_channels, out_channels;
  std::array<Meeting, 3> axis;
  std::int64_t in_lead, out_lead;
  std::array<std::int64_t, 3> in_axis, out_axis, w_axis;
  std::int64_t w_in, w_out, w_group;
  std::int64_t window() const { return axis[0].window * axis[1].window * axis[2].window; }
};

/// Results whose windows meet alike along every axis, and how they are dealt to tiles: rows lie
/// along axis `along` (0: the batch, 1 + a: axis a).
struct Box {
  std::array<const MeetingClass*, 3> axis;
  int along;
  std::int64_t tiles_per_line, tiles;
  std::int64_t taps() const { return axis[0]->taps * axis[1]->taps * axis[2]->taps; }
  std::int64_t extent(const GatherShape& s, int d) const {
    return d == 0 ? s.batch : axis[static_cast<std::size_t>(d - 1)]->count;
  }
  /// Distance of neighbouring rows of a tile.
  std::int64_t in_row(const GatherShape& s) const;
  std::int64_t out_row(const GatherShape& s) const;
};
/// Where a tile begins.
struct Place {
  std::int64_t in, out;
  int rows;
};
/// Tiles first ... last - 1 of a box, for one thread.
struct Unit {
  std::size_t box;
  std::int64_t first, last;
};
void list_places(const GatherShape& s, const Box& box, const Unit& unit, detail::List<Place>& out);

class GatherPlan {
 public:
  /// Tiles of up to `max_rows` by `columns`; `terms` of each window position.
  GatherPlan(const GatherShape& s, std::int64_t max_rows, std::int64_t columns, std::int64_t terms);
  GatherPlan(const GatherPlan&) = delete;
  const detail::List<Box>& boxes() const { return boxes_; }
  const detail::List<Unit>& units() const { return units_; }
  double work() const { return work_; }  ///< products, about

 private:
  std::array<detail::List<MeetingClass>, 3> classes_;
  detail::List<Box> boxes_;
  detail::List<Unit> units_;
  double work_ = 0;
};

/// f(i) for i < n, on all threads where there are products enough.
template <class F>
void in_chunks(std::int64_t n, double products, F&& f) {
  if (products >= 0x1p17) return parallel_chunks(n, f);
  for (std::int64_t i = 0; i < n; ++i) f(i);
}

/// `terms` of a sum that follow each other: A's from `a`, B's from row or element `b` on.
struct Segment {
  std::int64_t a, b, terms;
};
/// A list of segments and where in it each run of `depth` terms begins.
struct Runs {
  detail::List<Segment> segments;
  detail::List<std::int64_t> begin;
  std::int64_t count() const { return static_cast<std::int64_t>(begin.size()) - 1; }
};
/// The window of a box: of each position `terms` neighbours in memory, from row `terms` times its
/// number of B on.
void list_window(const GatherShape& s, const Box& box, std::int64_t terms, std::int64_t depth,
                 Runs& runs);

/// Fetches n elements of an operand or, before they are written, of a result.
template <bool write, class T>
void fetch_lines(const T* from, std::int64_t n) {
  for (std::int64_t i = 0; i < n; i += 64 / static_cast<std::int64_t>(sizeof(T)))
    __builtin_prefetch(from + i, write, 2);
}

template <class T>
void gather_windows(int width, const GatherShape& s, const T* in, const T* w, T* out);
/// Bytes that it takes beside its operands and result.
template <class T>
std::size_t gather_workspace(int width, const GatherShape& s);

}  // namespace tessera::kernels
